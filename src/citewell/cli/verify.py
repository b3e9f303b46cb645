"""`citewell verify`: replay a receipt, offline."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from citewell.cli.main import EXIT_TOOL_ERROR
from citewell.cli.terminal import print_json, print_text
from citewell.cli.work import add_json_option, configure_log
from citewell.core.text import join_lines

if TYPE_CHECKING:
    import argparse

    from citewell.core.settings import Settings
    from citewell.ingest.receipt.verify import Verification

DESCRIPTION = """\
Replay a receipt that `citewell receipt` wrote: its signature, the hash of every file, the text made
again from what the site sent, and the quotes in it. Nothing is fetched and no library is needed.
Each step is printed; the exit code is 1 if one fails, with --key also if another library signed
it."""

EXAMPLES = """\
  citewell verify evidence.wacz
  citewell verify evidence.wacz --key SHA256:pU2Q4R5m2bXa… --json"""

_SIGNS = {"passed": "ok", "failed": "FAILED", "unsure": "unsure"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `verify`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="receipt to verify")
    parser.add_argument(
        "--key",
        action="append",
        dest="keys",
        metavar="FINGERPRINT",
        help="key that must have signed it; repeatable",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Verify the receipt and print each step."""
    configure_log(settings, verbose=getattr(arguments, "verbose", False))
    verification = anyio.run(_verify, arguments)
    if arguments.json:
        print_json(_structure(verification))
    else:
        print_text(_text(verification))
    return EXIT_TOOL_ERROR if verification.has_failed else 0


async def _verify(arguments: argparse.Namespace) -> Verification:
    from citewell.app.receipts import read_receipt_file, verify_data

    data = await read_receipt_file(arguments.file)
    return await verify_data(
        data,
        known_keys=arguments.keys or (),
        must_be_known=bool(arguments.keys),
    )


def _text(verification: Verification) -> str:
    receipt = verification.receipt
    lines = [f"Receipt of {receipt.created}, made by {receipt.software}, key {receipt.fingerprint}"]
    lines += [
        f"  {_SIGNS[step.outcome]:<6}  {step.name}: {step.explanation}"
        for step in verification.steps
    ]
    verdict = "Every step passed." if verification.is_proved else "This receipt proves nothing."
    if not verification.is_proved and not verification.has_failed:
        verdict = "No step failed; see what is unsure."
    return join_lines([*lines, verdict])


def _structure(verification: Verification) -> dict[str, object]:
    receipt = verification.receipt
    return {
        "proved": verification.is_proved,
        "key": receipt.fingerprint,
        "created": receipt.created,
        "software": receipt.software,
        "steps": [asdict(step) for step in verification.steps],
        "citations": [
            asdict(citation) | {"page": receipt.pages[citation.page].url}
            for citation in receipt.citations
            if 0 <= citation.page < len(receipt.pages)
        ],
    }
