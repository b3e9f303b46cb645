"""The records of library and jobs that a database keeps as JSON, to and fro."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from citewell.core.jobs import JobProgress
from citewell.core.library import ChangeReport, CrawlOptions, PageChange, SectionChange
from citewell.store.session import refuses_nonsense

if TYPE_CHECKING:
    from citewell.core.library import Fields


def options_to_json(options: CrawlOptions) -> str:
    """Return the options as a JSON object."""
    return _dump(asdict(options))


@refuses_nonsense
def options_from_json(text: str) -> CrawlOptions:
    """Return the options that `options_to_json` wrote."""
    values = json.loads(text)
    for name in ("include", "exclude"):
        values[name] = tuple(values.get(name, ()))
    return CrawlOptions(**values)


def progress_to_json(progress: JobProgress) -> str:
    """Return the progress as a JSON object."""
    return _dump(asdict(progress))


@refuses_nonsense
def progress_from_json(text: str) -> JobProgress:
    """Return the progress that `progress_to_json` wrote."""
    return JobProgress(**json.loads(text))


def report_to_json(report: ChangeReport) -> str:
    """Return the report as a JSON object."""
    values = asdict(report)
    values["checked_at"] = report.checked_at.isoformat()
    return _dump(values)


@refuses_nonsense
def report_from_json(text: str) -> ChangeReport:
    """Return the report that `report_to_json` wrote."""
    values = json.loads(text)
    values["checked_at"] = datetime.fromisoformat(values["checked_at"])
    values["pages"] = tuple(_page_change(page) for page in values["pages"])
    return ChangeReport(**values)


def change_to_json(change: PageChange) -> str:
    """Return the change of a page as a JSON object."""
    return _dump(asdict(change))


@refuses_nonsense
def change_from_json(text: str) -> PageChange:
    """Return the change that `change_to_json` wrote."""
    return _page_change(json.loads(text))


def fields_to_json(fields: Fields) -> str:
    """Return the fields as a JSON object."""
    return _dump(dict(fields))


@refuses_nonsense
def fields_from_json(text: str) -> Fields:
    """Return the fields that `fields_to_json` wrote."""
    return cast("Fields", json.loads(text))


def _page_change(values: dict[str, Any]) -> PageChange:
    sections = tuple(
        SectionChange(**{**section, "heading_path": tuple(section["heading_path"])})
        for section in values["sections"]
    )
    return PageChange(**{**values, "sections": sections})


def _dump(values: dict[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))
