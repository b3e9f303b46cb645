"""Websites, jobs and change reports as the commands print them."""

from __future__ import annotations

import json
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

_NUMBERS_SHOWN = 3
_SECONDS = {"day": 86_400, "hour": 3_600, "minute": 60}
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
    result = None if job.result is None else json.loads(job.result)
    shape = asdict(job) | {"payload": dict(job.payload), "result": result}
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
            _numbers(group),
            state,
            kind,
            names.get(website, website)
            or (group[0].key if len(group) == 1 else counted(len(group), "page")),
            progress_text(group[0]),
            str(tries) if (tries := max(job.attempts for job in group)) > 1 else "-",
            f"{group[0].updated_at:%Y-%m-%d %H:%M:%S}",
            group[0].error or "",
        )
        for (kind, website, state), group in groups.items()
    ]
    heads = ("job", "state", "kind", "website", "progress", "tries", "updated", "error")
    return text_table(heads, rows)


def _numbers(jobs: Sequence[Job]) -> str:
    shown = ", ".join(str(job.job_id) for job in jobs[:_NUMBERS_SHOWN])
    more = len(jobs) - _NUMBERS_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def progress_text(job: Job) -> str:
    """Return how far a job is or came, in a few words."""
    progress = job.progress
    if job.state == "done" or progress.stage == "queued":
        return "-"
    if progress.stage == "embedding" and progress.chunks:
        return f"embedding {progress.chunks_done}/{progress.chunks} chunks"
    total = "?" if progress.pages_total is None else str(progress.pages_total)
    return f"{progress.stage} {progress.pages_done}/{total} pages"


def job_text(job: Job, url: str | None) -> str:
    """Return everything about a job that a person can use; `url` is that of its website."""
    lines = {
        "job": str(job.job_id),
        "state": job.state,
        "kind": job.kind,
        "website": url,
        "progress": progress_text(job),
        "tries": str(job.attempts),
        "added": _day(job.created_at),
        "updated": _day(job.updated_at),
        "error": job.error,
    }
    return _named_lines(lines)


def _named_lines(lines: Mapping[str, str | None]) -> str:
    width = max(map(len, lines))
    return "\n".join(f"{name:<{width}}  {value}" for name, value in lines.items() if value)


def website_text(view: WebsiteView) -> str:
    """Return everything about a website."""
    website, job = view.website, view.job
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
        "refreshes": _every(website.refresh_seconds),
        "work": None if job is None else f"job {job.job_id}, {job.state}, {progress_text(job)}",
    }
    shown = _named_lines(lines)
    if website.last_change is not None:
        shown += f"\n\n{report_text(website.last_change)}"
    return shown


def _every(seconds: float | None) -> str:
    """Return how often something happens, in the largest unit that fits."""
    if seconds is None:
        return "not by itself"
    unit = next((unit for unit in _SECONDS if seconds % _SECONDS[unit] == 0), "second")
    count = seconds / _SECONDS.get(unit, 1)
    return f"every {unit}" if count == 1 else f"every {count:g} {unit}s"


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
