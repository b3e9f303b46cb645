"""Websites, jobs and change reports as the commands print them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from citewell.cli.table import text_table
from citewell.core.text import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from citewell.app.websites import WebsiteView
    from citewell.core.jobs import Job
    from citewell.core.library import ChangeReport, Website

_MARKS = {"added": "+", "removed": "-", "edited": "~", "changed": "~", "failed": "!"}


def website_shape(view: WebsiteView) -> dict[str, Any]:
    """Return a website as plain values."""
    website = view.website
    shape = asdict(website)
    for name in ("fetched_at", "refresh_due_at", "created_at", "updated_at"):
        shape[name] = _iso(getattr(website, name))
    shape["last_change"] = (
        None if website.last_change is None else report_shape(website.last_change)
    )
    return shape | {"is_stale": view.is_stale}


def report_shape(report: ChangeReport) -> dict[str, Any]:
    """Return a change report as plain values."""
    return asdict(report) | {"checked_at": _iso(report.checked_at)}


def job_shape(job: Job) -> dict[str, Any]:
    """Return a job as plain values."""
    shape = asdict(job) | {"payload": dict(job.payload)}
    for name in ("run_at", "leased_until", "created_at", "updated_at"):
        shape[name] = _iso(getattr(job, name))
    return shape


def websites_table(websites: Sequence[Website]) -> str:
    """Return a line for each website."""
    rows = [
        (
            str(website.source_id),
            website.status,
            website.kind,
            website.content_type,
            f"{website.pages:,}",
            f"{website.chunks:,}",
            website.language or "-",
            _day(website.fetched_at),
            website.title or "-",
            website.url,
        )
        for website in websites
    ]
    heads = ("id", "status", "kind", "type", "pages", "chunks", "lang", "fetched", "title", "url")
    return text_table(heads, rows)


def jobs_table(jobs: Sequence[Job], names: Mapping[str, str]) -> str:
    """Return a line for the work on each website, and one for vectors of pages by their state.

    `names` are those of the websites, by the key of their jobs.
    """
    groups: dict[tuple[str, str, str], list[Job]] = {}
    for job in jobs:
        website = "" if job.kind == "embed_page" else job.key
        groups.setdefault((job.kind, website, job.state), []).append(job)
    rows = [
        (
            str(group[0].job_id) if len(group) == 1 else f"{group[0].job_id} +{len(group) - 1}",
            state,
            kind,
            names.get(website, website)
            or (group[0].key if len(group) == 1 else f"{len(group)} pages"),
            progress_text(group[0]),
            str(tries) if (tries := max(job.attempts for job in group)) > 1 else "-",
            f"{group[0].updated_at:%Y-%m-%d %H:%M:%S}",
            group[0].error or "",
        )
        for (kind, website, state), group in groups.items()
    ]
    heads = ("job", "state", "kind", "website", "progress", "tries", "updated", "error")
    return text_table(heads, rows)


def progress_text(job: Job) -> str:
    """Return how far a job is, in a few words."""
    progress = job.progress
    if job.is_finished or progress.stage == "queued":
        return "-"
    total = "?" if progress.pages_total is None else str(progress.pages_total)
    percent = "" if progress.percent is None else f" {progress.percent} %"
    return f"{progress.stage} {progress.pages_done}/{total} pages{percent}"


def website_text(view: WebsiteView) -> str:
    """Return everything about a website."""
    website, job = view.website, view.job
    every = "never" if website.refresh_seconds is None else f"every {website.refresh_seconds:g} s"
    lines = {
        "id": str(website.source_id),
        "url": website.url,
        "title": website.title or "-",
        "kind": f"{website.kind}, {website.content_type}",
        "status": website.status,
        "problem": website.error_message,
        "pages": f"{website.pages:,} with {counted(website.chunks, 'chunk')}",
        "language": website.language or "-",
        "fetched": _day(website.fetched_at) + (" (stale)" if view.is_stale else ""),
        "tags": ", ".join(website.tags),
        "refreshed": every,
        "work": None if job is None else f"job {job.job_id}, {job.state}, {progress_text(job)}",
    }
    width = max(map(len, lines))
    shown = [f"{name:<{width}}  {value}" for name, value in lines.items() if value]
    if website.last_change is not None:
        shown += ["", report_text(website.last_change)]
    return "\n".join(shown)


def report_text(report: ChangeReport) -> str:
    """Return what a refresh found, page by page and section by section."""
    head = (
        f"Checked {_day(report.checked_at)}: {report.unchanged} unchanged, {report.changed} "
        f"changed, {report.added} added, {report.removed} removed, {report.failed} failed "
        f"({counted(report.chunks_removed, 'chunk')} removed, {report.chunks_added} added)."
    )
    return "\n".join([head, *_changes(report)])


def _changes(report: ChangeReport) -> Iterator[str]:
    for page in report.pages:
        error = f": {page.error}" if page.error else ""
        yield f"{_MARKS[page.kind]} {page.url} {page.kind}{error}"
        for section in page.sections:
            path = one_line(" › ".join(section.heading_path)) or "(before the first heading)"
            yield f"  {_MARKS[section.kind]} {path}"
            yield from (f"      - {text}" for text in (section.before,) if text)
            yield from (f"      + {text}" for text in (section.after,) if text)


def _day(moment: datetime | None) -> str:
    return "-" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
