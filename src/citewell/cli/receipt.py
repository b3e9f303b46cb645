"""`citewell receipt`: a file that proves quotes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from citewell.cli.overwrite import refuse_to_overwrite
from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.errors import ArchiveRefused
from citewell.core.text import counted

if TYPE_CHECKING:
    import argparse

    from citewell.app.open import App
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
Write one file that proves quotes without trusting this library: what the site sent, with headers,
address and time; the text made of it; the quotes; and the library's signature. `citewell verify`
replays it on any machine, offline, and ReplayWeb.page shows the page. CITATION is the id that
answers give with each quote. The question, cookies and local paths are not in the file."""

EXAMPLES = """\
  citewell receipt c12-0a1b2c3d-310-388
  citewell receipt c12-0a1b2c3d-310-388 c15-99aabbcc-20-140 -o evidence.wacz"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `receipt`."""
    parser.add_argument("citations", nargs="+", metavar="CITATION", help="id of a quote")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="file to write; by default the first id with .wacz",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the receipt and print what it proves."""
    path: Path = arguments.output or Path(f"{arguments.citations[0].strip()}.wacz")
    refuse_to_overwrite(path, kind="a receipt")
    return run_work(partial(_write, path, arguments, settings), arguments, settings)


async def _write(
    path: Path, arguments: argparse.Namespace, settings: Settings, app: App, on_progress: OnProgress
) -> Outcome:
    from citewell.app.receipts import make_receipt

    parts = await app.open("store", "secret")
    receipt = await make_receipt(
        arguments.citations,
        store=parts.store,
        secret=parts.secret,
        may_see=lambda page: page.project == settings.project,
    )
    try:
        await to_thread.run_sync(path.write_bytes, receipt.data)
    except OSError as error:
        raise ArchiveRefused(
            f"{path} cannot be written: {error.strerror}.",
            suggestion="Name another file with --output.",
        ) from error
    quotes = receipt.verification.receipt.citations
    pages = receipt.verification.receipt.pages
    held = f"{counted(len(quotes), 'quote')} of {counted(len(pages), 'page')}"
    return Outcome(
        text=f"Wrote {path} ({len(receipt.data):,} bytes): {held}.\n"
        f"Signed by this library, key {receipt.fingerprint}.\n"
        f"Anyone can check it:\n  citewell verify {path} --key {receipt.fingerprint}",
        structured={
            "file": str(path),
            "bytes": len(receipt.data),
            "key": receipt.fingerprint,
            "quotes": [quote.quote for quote in quotes],
        },
    )
