"""`citewell sites`: the websites that are kept in the library."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import anyio

from citewell.app.websites import (
    CHANGE_NEEDS,
    READ_NEEDS,
    delete_website,
    find_website,
    list_websites,
    process_website,
    refresh_website,
    view_website,
)
from citewell.cli.confirm import refuse_unless_agreed
from citewell.cli.crawl_options import (
    CONTENT_TYPES,
    add_crawl_options,
    crawl_options,
    parse_duration,
    refuse_crawl_options,
)
from citewell.cli.library_shapes import (
    job_shape,
    report_shape,
    report_text,
    website_shape,
    website_text,
    websites_table,
)
from citewell.cli.parser import number_between
from citewell.cli.work import (
    LEFT_TO_OTHERS,
    Outcome,
    add_background_option,
    add_json_option,
    add_once,
    interrupted,
    run_work,
)
from citewell.core.error_kinds import error_of_kind
from citewell.core.errors import InvalidArgument
from citewell.core.library import WebsiteDraft, WebsiteOrder, WebsiteQuery, WebsiteStatus
from citewell.core.progress import Progress
from citewell.core.text import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from citewell.app.open import App
    from citewell.app.parts import Parts
    from citewell.core.errors import CitewellError
    from citewell.core.library import RemovedWebsite, Website
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings
    from citewell.jobs.library import Processed

DESCRIPTION = """\
Keep a library of websites: single pages or whole sites. `add` reads them now and shows how far it
is, or hands them to a running server or `citewell worker` with --background. A website is named by
its id or its URL."""

EXAMPLES = """\
  citewell sites add https://blog.example/post --type blog_article
  citewell sites add --site https://docs.example/guide/ --max-pages 200 --every 7d
  citewell sites list --status failed
  citewell sites refresh 42
  citewell sites refresh --stale
  citewell sites refresh 42 --failed
  citewell sites show https://blog.example/post
  citewell sites delete 42"""

_CALLER = "citewell sites"

ACTIONS = {
    "list": "list the websites of the library (the default)",
    "add": "read a page or a whole site and keep it in the library",
    "refresh": "fetch websites again and say what changed",
    "show": "show everything about websites",
    "delete": "delete websites with all their pages",
}
DEFAULT_ACTION = "list"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of all actions, for the documentation."""
    parser.add_argument("action", metavar="ACTION", choices=ACTIONS, help=", ".join(ACTIONS))
    parser.add_argument("targets", nargs="*", metavar="WEBSITE", help="id or URL")
    _add_listing_options(parser)
    _add_adding_options(parser)
    _add_refresh_options(parser)
    _add_yes_option(parser)
    add_json_option(parser)


def add_action_arguments(parser: argparse.ArgumentParser, action: str) -> None:
    """Declare the arguments of one action."""
    if action != "list":
        # `refresh` without a website refreshes every stale one.
        count = "*" if action == "refresh" else "+"
        name = "URL" if action == "add" else "WEBSITE"
        about = "page or site to add" if action == "add" else "id or URL of a website"
        parser.add_argument("targets", nargs=count, metavar=name, help=about)
    declare = {
        "list": _add_listing_options,
        "add": _add_adding_options,
        "refresh": _add_refresh_options,
        "delete": _add_yes_option,
    }
    if action in declare:
        declare[action](parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Do what the action says, and print the outcome."""
    if arguments.action == "refresh" and not (arguments.targets or arguments.stale):
        raise InvalidArgument("sites refresh needs a website, its id or its URL, or --stale")
    if arguments.action == "add":
        if arguments.every is not None:
            parse_duration(arguments.every)
        if not arguments.site:
            refuse_crawl_options(arguments)
    work = {"list": _list, "add": _add, "refresh": _refresh, "delete": _delete, "show": _show}
    return run_work(partial(work[arguments.action], arguments), arguments, settings)


def _add_listing_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--status", choices=get_args(WebsiteStatus), help="only these")
    _add_type_option(parser)
    parser.add_argument(
        "--order", choices=get_args(WebsiteOrder), default="fetch_timestamp", help="sort by"
    )
    parser.add_argument("--ascending", action="store_true", help="lowest first")
    parser.add_argument(
        "--limit", type=number_between(1), default=50, metavar="N", help="maximum rows"
    )
    parser.add_argument(
        "--offset", type=number_between(0), default=0, metavar="N", help="rows to skip"
    )


def _add_adding_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--site", action="store_true", help="the whole site, not one page")
    _add_type_option(parser)
    parser.add_argument("--tag", action="append", metavar="TAG", help="tag of its pages")
    parser.add_argument("--force", action="store_true", help="read again what is there")
    parser.add_argument(
        "--every", metavar="TIME", help="refresh by itself, as 12h or 7d; `never` stops it"
    )
    add_background_option(parser)
    add_crawl_options(parser)


def _add_refresh_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stale", action="store_true", help="all that are too old")
    parser.add_argument(
        "--failed", action="store_true", help="only the pages of a site that could not be read"
    )
    add_background_option(parser)


def _add_type_option(parser: argparse.ArgumentParser) -> None:
    add_once(parser, "--type", choices=CONTENT_TYPES, help="content type")


def _add_yes_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="delete without asking")


async def add_websites(
    parts: Parts,
    drafts: Sequence[WebsiteDraft],
    on_progress: OnProgress,
    *,
    force: bool = False,
    background: bool = False,
) -> Outcome:
    """Add websites and, unless in the background, wait until all of them have been read."""
    begun = [await process_website(parts, draft, caller=_CALLER, force=force) for draft in drafts]
    for number, processed in enumerate(begun, start=1):
        if background or processed.job is None:
            continue
        try:
            await parts.library.wait_for(processed.job.job_id, on_progress=on_progress)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                raise await _stop(parts, begun[number - 1 :]) from None
        if len(begun) > 1:
            done = Progress(phase="waiting", message="Websites done", done=number, total=len(begun))
            await on_progress(done)
    return await _added(parts, begun, background=background)


async def _stop(parts: Parts, begun: Sequence[Processed]) -> CitewellError:
    """Cancel what was begun, lest the next server goes on with it, and say what was kept."""
    kept: list[str] = []
    jobs: list[str] = []
    for processed in begun:
        if processed.job is None:
            continue
        project = processed.website.project
        await parts.library.cancel_job(processed.job.job_id, project=project)
        view = await view_website(parts, processed.website.source_id, project=project)
        if view.website.pages:
            kept.append(f"{counted(view.website.pages, 'page')} of {view.website.url}")
        jobs.append(str(processed.job.job_id))
    return interrupted(
        f"Stopped. Kept: {'; '.join(kept)}." if kept else "Stopped. Nothing was stored yet.",
        suggestion=(
            f"To continue, run the same command again, or `citewell jobs retry {' '.join(jobs)}`.\n"
            "To give up: `citewell sites delete "
            f"{' '.join(processed.website.url for processed in begun)}`."
        ),
    )


async def _added(parts: Parts, begun: Sequence[Processed], *, background: bool) -> Outcome:
    # Imported late: `sites list` does without.
    from citewell.cli.site_failures import failed_pages_of, failure_lines, failure_shapes

    shapes: list[dict[str, Any]] = []
    lines: list[str] = []
    has_failed = False
    for processed in begun:
        website = processed.website
        view = await view_website(parts, website.source_id, project=website.project)
        shape = website_shape(view)
        shape |= {"is_cached": processed.is_cached, "job": view.job and job_shape(view.job)}
        shapes.append(shape)
        state = "kept" if processed.is_cached else view.website.status
        lines.append(_line(view.website, state))
        if state == "failed" and view.job is not None and view.job.error is not None:
            advice = error_of_kind(view.job.error_kind, view.job.error).suggestion
            lines += [f"  try: {advice}"] if advice else []
            if not view.website.pages:
                lines.append(f"  To drop it: `citewell sites delete {website.source_id}`.")
        pages = await failed_pages_of(parts, view.website)
        shape["failures"] = failure_shapes(pages)
        # A cached site was not read this time, so its failures are old.
        if not processed.is_cached and not background:
            lines += failure_lines(view.website, pages)
            has_failed = has_failed or bool(pages)
        has_failed = has_failed or view.website.status == "failed"
    if background:
        lines.append(LEFT_TO_OTHERS)
    text = "\n".join(lines)
    return Outcome(text=text, structured={"websites": shapes}, has_failed=has_failed)


def _line(website: Website, state: str) -> str:
    # Imported late: `sites list` does without.
    from citewell.cli.shell_errors import translated

    problem = f" — {translated(website.error_message)}" if website.error_message else ""
    name = f"{website.title} — {website.url}" if website.title else website.url
    return f"{state}: {name} ({_counts(website)}){problem}"


def _counts(website: Website | RemovedWebsite) -> str:
    pages, chunks = counted(website.pages, "page"), counted(website.chunks, "chunk")
    return f"id {website.source_id}, {pages}, {chunks}"


async def _add(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    every = None if arguments.every is None else parse_duration(arguments.every)
    settings = app.settings
    parts = await app.open(*CHANGE_NEEDS)
    drafts = [
        WebsiteDraft(
            url=url,
            project=settings.project,
            kind="site" if arguments.site else "page",
            content_type=arguments.type or "general",
            tags=(*settings.scope_tags, *(arguments.tag or ())),
            options=crawl_options(arguments),
            refresh_seconds=every,
        )
        for url in arguments.targets
    ]
    outcome = await add_websites(
        parts, drafts, on_progress, force=arguments.force, background=arguments.background
    )
    if arguments.every is not None and every is None:
        for shape in outcome.structured["websites"]:
            await parts.library.schedule(
                shape["source_id"], project=settings.project, every_seconds=None
            )
    return outcome


async def _list(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    query = WebsiteQuery(
        project=app.settings.project,
        content_type=arguments.type,
        status=arguments.status,
        order_by=arguments.order,
        descending=not arguments.ascending,
        limit=arguments.limit,
        offset=arguments.offset,
    )
    parts = await app.open(*READ_NEEDS)
    listing = await list_websites(parts, query)
    text = "No websites. Add one with `citewell sites add URL`."
    if arguments.status or arguments.type or arguments.offset:
        everything = WebsiteQuery(project=query.project, limit=1)
        total = (await list_websites(parts, everything)).total
        text = f"None of {counted(total, 'website')} is listed by these options." if total else text
    if listing.websites:
        shown = query.offset + len(listing.websites)
        table = websites_table([view.website for view in listing.websites])
        text = f"{table}\n\n{shown} of {counted(listing.total, 'website')}"
    shapes = [website_shape(view) for view in listing.websites]
    return Outcome(text=text, structured={"websites": shapes, "total_count": listing.total})


async def _refresh(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    from citewell.cli.site_failures import failed_pages_of, failure_lines, failure_shapes

    parts, project = await app.open(*CHANGE_NEEDS), app.settings.project
    websites = [await find_website(parts, name, project=project) for name in arguments.targets]
    if arguments.stale:
        websites += await parts.library.list_stale(project=project)
    shapes: list[dict[str, Any]] = []
    lines: list[str] = []
    has_failed = False
    for website in websites:
        if arguments.failed and not await failed_pages_of(parts, website):
            lines.append(f"no page failed: {website.url}")
            continue
        wait = 0 if arguments.background else None
        done = await refresh_website(
            parts,
            website.source_id,
            project=project,
            caller=_CALLER,
            only_failed=arguments.failed,
            wait_seconds=wait,
            on_progress=on_progress,
        )
        report = done.report
        pages = [] if report is None else await failed_pages_of(parts, done.website)
        # A page that is gone is removed, which the job succeeds in, and still no longer there.
        is_lost = done.job.state == "failed" or done.website.status == "failed"
        has_failed = has_failed or bool(pages) or is_lost
        shape = website_shape(await view_website(parts, website.source_id, project=project))
        shape |= {"report": report and report_shape(report), "failures": failure_shapes(pages)}
        shapes.append(shape)
        lines.append(_line(done.website, "queued" if arguments.background else done.website.status))
        lines += [report_text(report)] if report is not None else []
        lines += failure_lines(done.website, pages)
    if shapes and arguments.background:
        lines.append(LEFT_TO_OTHERS)
    text = "\n".join(lines) or "Nothing is stale."
    return Outcome(text=text, structured={"websites": shapes}, has_failed=has_failed)


async def _delete(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    parts, project = await app.open(*CHANGE_NEEDS), app.settings.project
    websites = [await find_website(parts, name, project=project) for name in arguments.targets]
    refuse_unless_agreed(
        [
            f"{website.url} (id {website.source_id}, {counted(website.pages, 'page')})"
            for website in websites
        ],
        is_agreed=arguments.yes,
    )
    deleted = [
        await delete_website(parts, website.source_id, project=project, caller=_CALLER)
        for website in websites
    ]
    lines = [f"deleted: {gone.url} ({_counts(gone)})" for gone in deleted]
    shapes = [
        {
            "source_id": gone.source_id,
            "url": gone.url,
            "pages": gone.pages,
            "chunks_deleted": gone.chunks,
        }
        for gone in deleted
    ]
    return Outcome(text="\n".join(lines), structured={"deleted": shapes})


async def _show(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    texts: list[str] = []
    shapes: list[dict[str, Any]] = []
    parts, project = await app.open(*READ_NEEDS), app.settings.project
    for name in arguments.targets:
        website = await find_website(parts, name, project=project)
        view = await view_website(parts, website.source_id, project=project)
        texts.append(website_text(view))
        shapes.append(website_shape(view) | {"job": view.job and job_shape(view.job)})
    return Outcome(text="\n\n".join(texts), structured={"websites": shapes})
