"""What is kept of a page that could not be read."""

from __future__ import annotations

import pytest

from citewell.core.crawl_failures import CrawlFailure, FailureKind, note_of, parse_note
from citewell.core.errors import (
    CitewellError,
    ExtractionError,
    FetchTimeout,
    HttpStatusError,
    InferenceError,
    PageNeedsLogin,
    PageTooLarge,
    RenderingUnavailable,
)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (HttpStatusError("it answers with status 503", status=503), "busy"),
        (HttpStatusError("it answers with status 429", status=429), "busy"),
        (HttpStatusError("it answers with status 403", status=403), "refused"),
        (FetchTimeout("it did not arrive within 20 seconds"), "busy"),
        (PageNeedsLogin("it asks for a login"), "refused"),
        (PageTooLarge("it is larger than 5 bytes"), "too_large"),
        (RenderingUnavailable("there is no browser"), "browser"),
        (ExtractionError("it is a damaged PDF: no trailer"), "damaged"),
        (InferenceError("the model does not answer"), "other"),
    ],
)
def test_a_failure_is_kept_with_its_kind(error: CitewellError, kind: FailureKind) -> None:
    assert parse_note(note_of(error)) == CrawlFailure(kind=kind, reason=error.message)


def test_a_note_of_an_older_version_is_a_reason() -> None:
    note = "https://docs.example/a answers with status 403: no"

    assert parse_note(note) == CrawlFailure(kind="other", reason=note)
