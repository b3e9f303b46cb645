"""Ages in words, as the pages show them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from citewell.server.console.ages import age_of
from citewell.server.console.texts import Texts

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2026-03-14T12:00:00Z", "now"),
        ("2026-03-14T11:59:59Z", "1 second ago"),
        ("2026-03-14T11:58:00Z", "2 minutes ago"),
        ("2026-03-14T15:00:00Z", "in 3 hours"),
        ("2026-03-14T12:00:14Z", "in 14 seconds"),
        ("2026-03-21T11:59:50Z", "in 7 days"),
        ("2026-03-13T11:00:00Z", "yesterday"),
        ("2026-03-15T13:00:00Z", "tomorrow"),
        ("2026-03-04T12:00:00Z", "10 days ago"),
        ("2025-12-24T18:00:00Z", "2025-12-24"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(moment: str, words: str) -> None:
    assert age_of(moment, Texts(), now=NOON) == words
