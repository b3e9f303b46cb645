"""Verify a receipt: the checks of `open_receipt`, then extraction and slices again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from citewell.core.errors import CitewellError, ExtractionError
from citewell.core.frozen import frozen
from citewell.core.records import FetchedPage
from citewell.core.text import one_line
from citewell.ingest.extract.version import EXTRACTOR_VERSION
from citewell.ingest.reading import PageReader
from citewell.ingest.receipt.container import refused
from citewell.ingest.receipt.open import Step, from_plain_data, open_as_plain_data
from citewell.web.body import OpenedBody, open_body

if TYPE_CHECKING:
    from collections.abc import Collection

    from citewell.ingest.receipt.open import OpenedReceipt, ReceiptPage
    from citewell.web.sandbox import Sandbox

_SHOWN_CHARACTERS = 120


@frozen
class Verification:
    """The outcome of every step, in order."""

    receipt: OpenedReceipt
    steps: tuple[Step, ...]

    @property
    def has_failed(self) -> bool:
        """Whether a step failed."""
        return any(step.outcome == "failed" for step in self.steps)

    @property
    def is_proved(self) -> bool:
        """Whether every step passed; with a key that is not known, none is."""
        return all(step.outcome == "passed" for step in self.steps)


async def verify_receipt(
    data: bytes, *, sandbox: Sandbox, known_keys: Collection[str], must_be_known: bool = False
) -> Verification:
    """Replay a receipt: signature, hashes, extraction again and slices; nothing is fetched.

    `known_keys` are the fingerprints of libraries that are trusted.

    Raises:
        ArchiveRefused: it is cut, huge, of a newer version, or not a receipt.
    """
    try:
        receipt = from_plain_data(await sandbox.run(open_as_plain_data, data))
    except ExtractionError as error:
        raise refused("opening it takes too much time or memory, or breaks") from error
    steps = [*receipt.steps, _check_key(receipt, known_keys, must_be_known=must_be_known)]
    steps += [await _extract_again(page, sandbox) for page in receipt.pages]
    steps += _check_slices(receipt)
    return Verification(receipt=receipt, steps=tuple(steps))


def _check_key(receipt: OpenedReceipt, known: Collection[str], *, must_be_known: bool) -> Step:
    if receipt.fingerprint in known:
        return Step(name="key", outcome="passed", explanation="The key is one that you trust.")
    if must_be_known:
        explanation = "It was signed with another key than the one that you named."
        return Step(name="key", outcome="failed", explanation=explanation)
    return Step(
        name="key",
        outcome="unsure",
        explanation="The key is unknown here: that the site sent these bytes is only the word of "
        "whoever holds it. Compare the fingerprint with one that you obtained another way.",
    )


async def _extract_again(page: ReceiptPage, sandbox: Sandbox) -> Step:
    """Extract the canonical text of the archived response and compare it with the receipt's."""
    response = page.response
    try:
        opened = OpenedBody(
            *await sandbox.run(open_body, response.body, page.content_type, response.url)
        )
        fetched = FetchedPage(
            url=page.url,
            final_url=response.url,
            status=response.status,
            kind=opened.kind,
            body=response.body,
            text=opened.text,
            encoding=opened.encoding,
            fetched_at=datetime.now(UTC),
            rendered=response.header("citewell-rendered") == "true",
            robots_tag=response.header("x-robots-tag"),
            headers=response.headers,
        )
        text = (await PageReader(sandbox).extract(fetched)).text
    except CitewellError as error:
        return Step(
            name="extraction",
            outcome="failed",
            explanation=f"{page.url} cannot be read again: {error.message}",
        )
    if text == page.text:
        said = f"The response of {page.url} gives the same {len(text):,} characters of text again."
        return Step(name="extraction", outcome="passed", explanation=said)
    if page.extractor != EXTRACTOR_VERSION:
        said = (
            f"{page.url} was read by version {page.extractor} of the extractor and reads otherwise "
            f"by version {EXTRACTOR_VERSION}; use the Citewell that made the receipt to repeat it."
        )
        return Step(name="extraction", outcome="unsure", explanation=said)
    said = f"The response of {page.url} gives another text than the receipt has."
    return Step(name="extraction", outcome="failed", explanation=said)


def _check_slices(receipt: OpenedReceipt) -> list[Step]:
    steps: list[Step] = []
    for citation in receipt.citations:
        is_there = (
            0 <= citation.page < len(receipt.pages)
            and 0 <= citation.start < citation.end
            and receipt.pages[citation.page].text[citation.start : citation.end] == citation.quote
        )
        said = "stands" if is_there else "does not stand"
        quote = one_line(citation.quote, limit=_SHOWN_CHARACTERS)
        steps.append(
            Step(
                name="quote",
                outcome="passed" if is_there else "failed",
                explanation=f"“{quote}” {said} at characters {citation.start} to {citation.end}.",
            )
        )
    return steps
