"""`make_receipt`: a file that proves quotes to anyone."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.answer.quote import clip
from citewell.core.text import counted
from citewell.tools.receipts import MAX_CITATIONS, RECEIPT_SCHEME, receipt_for
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageText, PageUrl

MAX_SHOWN_CHARACTERS = 600

CitationId = Annotated[str, Field(min_length=1, max_length=100)]


class MakeReceiptInput(ToolInput):
    """Arguments of `make_receipt`."""

    citation_ids: Annotated[list[CitationId], Field(min_length=1, max_length=MAX_CITATIONS)]


class ProvedQuote(ToolOutput):
    """A quote that the receipt proves; a long one is cut here, not in the file."""

    id: OwnText
    quote: PageText
    url: PageUrl
    fetched_at: OwnText


class MakeReceiptOutput(ToolOutput):
    """Where the file is read, and what it proves."""

    uri: OwnText
    file_name: OwnText
    bytes: int
    key: OwnText
    """The fingerprint of the library's key."""
    quotes: list[ProvedQuote]


async def run(arguments: MakeReceiptInput, call: Call) -> MakeReceiptOutput:
    """Make the receipt once, so that whoever reads the resource gets one that verifies."""
    receipt = await receipt_for(arguments.citation_ids, call)
    opened = receipt.verification.receipt
    pages = opened.pages
    return MakeReceiptOutput(
        uri=RECEIPT_SCHEME + ",".join(citation.citation_id for citation in opened.citations),
        file_name=f"{opened.citations[0].citation_id}.wacz",
        bytes=len(receipt.data),
        key=receipt.fingerprint,
        quotes=[
            ProvedQuote(
                id=citation.citation_id,
                quote=clip(citation.quote, MAX_SHOWN_CHARACTERS),
                url=pages[citation.page].url,
                fetched_at=pages[citation.page].response.fetched_at,
            )
            for citation in opened.citations
        ],
    )


def render(output: MakeReceiptOutput, call: Call) -> str:
    """Return where to read the file and how to check it."""
    lines = [
        f"A receipt for {counted(len(output.quotes), 'quote')} ({output.bytes:,} bytes): "
        f"read the resource {output.uri} and save it as {output.file_name}.",
        f"To check it: citewell verify {output.file_name} --key {output.key}",
    ]
    lines += [f"- {quote.quote} — {quote.url}, {quote.fetched_at}" for quote in output.quotes]
    return "\n".join(lines)


TOOL = Tool(
    name="make_receipt",
    toolset="evidence",
    title="Prove quotes",
    description=f"""
        Make one signed file (WACZ) that proves quotes: what the site sent, the text made of it,
            and the quotes in it.
        Use when a reader must be able to check a citation without this server.
        Do not use when you only doubt a quote: call kb_verify_quote.
        Returns at most one resource URI, read with resources/read.
        If you need more, call again with other citations.
        Defaults: none. Max: {MAX_CITATIONS} citations.
    """,
    needs=("store", "secret"),
    run=run,
    render=render,
    example={"citation_ids": ["c12-0a1b2c3d-310-388"]},
)
