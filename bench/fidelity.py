"""How much of documentation pages survives extraction, beside other extractors.

`measure.py` of the fidelity data is the reference: it downloads Debian documentation packages and
labels the blocks of their pages without looking at any extractor. The others are installed into an
environment of their own, so that they neither need nor change this one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

PEERS = ("trafilatura", "readability", "resiliparse", "markdownify", "html2text")
_PACKAGES = (
    "trafilatura", "readability-lxml", "resiliparse", "markdownify", "html2text", "selectolax",
    "lxml_html_clean",
)  # fmt: skip
_COLUMNS = {
    "blocks kept": ("blocks_kept", "blocks"),
    "headings": ("headings_kept", "headings"),
    "sections lost": ("sections_lost", "sections"),
    "code": ("code_kept", "code"),
    "rows": ("rows_kept", "rows"),
    "index": ("index_kept", "index"),
    "links": ("links_kept", "links"),
    "furniture": ("leak", "output"),
    "title": ("titles_right", "titles"),
}
# Sets how many pages of a package are taken before the program starts. The second time, it takes
# out what the reference counts within a line of code and no reader of a listing does: the numbers
# of the lines, and the types that Haddock shows under the pointer.
_RUN = r"""
import re, sys
sys.path.insert(0, sys.argv.pop(1))
import measure
measure.PAGES = int(sys.argv.pop(1))
if sys.argv.pop(1) == "True":
    IN_LINES = re.compile(r'<span class="(?:linenos?|annottext)">.*?</span>', re.DOTALL)
    read = measure.read
    measure.read = lambda path: IN_LINES.sub("", read(path))
if sys.argv.pop(1) == "True":
    from datetime import UTC, datetime
    from citewell.core.errors import CitewellError
    from citewell.core.records import FetchedPage
    from citewell.ingest.extract.extract import extract_page
    from citewell.ingest.site_titles import FolderTitles, folder_of, opening_headings, title_among
    known, label = {}, measure.label
    def extract(source, url):
        return extract_page(FetchedPage(url=url, final_url=url, text=source, status=200,
                            kind="html", body=b"", fetched_at=datetime.now(UTC)))
    def learn(pages):
        label(pages)
        known["titles"] = FolderTitles()
        for page in pages:
            try:
                read = extract(page.source, page.url)
            except CitewellError:
                continue
            known["titles"].add_page(folder_of(page.url), page.url, title=read.title,
                headings=opening_headings(read), window_title=read.window_title)
    def run(source, url):
        page = extract(source, url)
        title = title_among(page, url, known["titles"].shared(folder_of(url)))
        return page.text, title, [link.url for link in page.links]
    measure.label, measure.engine = learn, lambda name: run
measure.main()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/fidelity"))
    parser.add_argument("--packages", type=Path, help="a list of packages; dev.txt of the data")
    parser.add_argument("--cache", type=Path, default=Path("/tmp/fidelity"))
    parser.add_argument("--pages", type=int, default=40, help="of each package at most")
    parser.add_argument(
        "--with-site",
        action="store_true",
        help="title the pages as those of a site that is known, and leave the others out",
    )
    parser.add_argument("--alone", action="store_true", help="leave the other extractors out")
    arguments = parser.parse_args()
    packages = arguments.packages or arguments.data / "dev.txt"
    if not (arguments.data / "measure.py").is_file():
        sys.exit(f"no measure.py in {arguments.data}; give --data")
    measured = [("citewell", sys.executable)]
    if not (arguments.alone or arguments.with_site):
        python = _install_peers(arguments.cache / "peers")
        measured += [(peer, str(python)) for peer in PEERS]
    alone = ("code alone", "blocks alone")
    columns = " ".join(f"{name:>13}" for name in (*_COLUMNS, *alone))
    print(f"{'mean over packages':18} {'pages':>6} {columns}  ms, worst package")
    for name, python_path in measured:
        rows = _measure(name, python_path, packages.resolve(), arguments)
        code_alone = _measure(name, python_path, packages.resolve(), arguments, is_code_alone=True)
        print(_line(name, rows, code_alone), flush=True)


def _install_peers(folder: Path) -> Path:
    """Return the Python of an environment that has the other extractors."""
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        venv.create(folder, with_pip=True)
        install = [str(python), "-m", "pip", "install", "-q", "--no-warn-script-location"]
        # Older versions cannot resolve an extra that two of the packages name.
        subprocess.run([*install, "--upgrade", "pip"], check=True)
        subprocess.run([*install, *_PACKAGES], check=True)
        ready.touch()
    return python


def _measure(
    name: str,
    python: str,
    packages: Path,
    arguments: argparse.Namespace,
    *,
    is_code_alone: bool = False,
) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "rows.json"
        subprocess.run(
            [python, "-c", _RUN, str(arguments.data.resolve()), str(arguments.pages),
             str(is_code_alone), str(arguments.with_site), str(packages),
             "--engine", name, "--cache", str(arguments.cache.resolve()), "--json", str(result)],
            check=True,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        rows: list[dict[str, Any]] = json.loads(result.read_text(encoding="utf-8"))
    return rows


def _line(name: str, rows: list[dict[str, Any]], code_alone: list[dict[str, Any]]) -> str:
    cells = [_mean_share(rows, *column).rjust(13) for column in _COLUMNS.values()]
    cells += [
        _mean_share(code_alone, *_COLUMNS[name]).rjust(13) for name in ("code", "blocks kept")
    ]
    pages = sum(row["pages"] for row in rows)
    milliseconds = 1_000 * sum(row["seconds"] for row in rows) / pages
    worst = f"{_worst(rows)}, alone {_worst(code_alone)}"
    return f"{name:18} {pages:6} {' '.join(cells)}  {milliseconds:.0f}, {worst}"


def _worst(rows: list[dict[str, Any]]) -> str:
    """Return the package that keeps the fewest of its blocks, and how many."""
    kept = {row["package"]: row.get("blocks_kept", 0) / (row.get("blocks") or 1) for row in rows}
    package = min(kept, key=kept.__getitem__)
    return f"{kept[package]:.4f} ({package})"


def _mean_share(rows: list[dict[str, Any]], part: str, of: str) -> str:
    shares = [row.get(part, 0) / row[of] for row in rows if row.get(of)]
    return f"{sum(shares) / len(shares):.4f}" if shares else "-"


if __name__ == "__main__":
    main()
