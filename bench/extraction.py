"""Quality and speed of extraction: F1 on two public benchmarks, pages per second on real docs."""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from citewell.core.errors import EmptyPage
from citewell.core.records import FetchedPage
from citewell.ingest.chunk import chunk_page
from citewell.ingest.extract.extract import extract_page

_FETCHED_AT = datetime(2025, 1, 1, tzinfo=UTC)
_IMAGE = re.compile(r"!\[[^\]]*\]\([^()\s]*(?: \"[^\"]*\")?\)")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()\s]*\)")
_LINE_MARKS = re.compile(
    r"^[ \t]*(?:(?:[-*>]|#{1,6}|\d+\.)[ \t]+)+|^[ \t]*(?:```|~~~).*$", re.MULTILINE
)
_TABLE_RULE = re.compile(r"^\|[-|]+\|$", re.MULTILINE)
_WORD = re.compile(r"\w+")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--docs", type=Path, default=Path("/tmp/sites/python3.11-doc"))
    parser.add_argument("--worst", type=int, default=0, help="also list the worst pages")
    arguments = parser.parse_args()
    if not (arguments.data / "extraction").is_dir():
        print(f"no extraction data under {arguments.data}; give --data")
    else:
        measure_shingles(arguments.data / "extraction" / "extract_aeb", worst=arguments.worst)
        measure_segments(
            arguments.data / "extraction" / "extract_trafilatura", worst=arguments.worst
        )
    if arguments.docs.is_dir():
        measure_speed(arguments.docs)


def plain_text(markdown: str) -> str:
    """Return canonical Markdown as the words a reader sees."""
    text = _LINK.sub(r"\1", _IMAGE.sub("", markdown))
    text = _TABLE_RULE.sub("", _LINE_MARKS.sub("", text))
    return text.replace("**", "").replace("*", "").replace("|", " ").replace("`", "")


def measure_shingles(folder: Path, *, worst: int) -> None:
    """Print precision, recall and F1 of four-word shingles, averaged over pages.

    The marked text is an article's body without its headline, so the score is given for the whole
    canonical text and for what is under the title.
    """
    gold = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
    pages: list[tuple[float, str]] = []
    for name, leave_out in (("whole text", ""), ("under the title", "# ")):
        precisions: list[float] = []
        recalls: list[float] = []
        pages.clear()
        for key, entry in gold.items():
            path = folder / "html" / f"{key}.html.gz"
            found = extract_words(path, entry.get("url", ""), leave_out=leave_out)
            true, predicted = shingles(entry["articleBody"]), shingles(found)
            common = (true & predicted).total()
            if predicted:
                precisions.append(common / predicted.total())
            if true:
                recalls.append(common / true.total())
            score = 2 * common / max(true.total() + predicted.total(), 1)
            pages.append((score, f"{key[:12]} {entry.get('url', '')}"))
        print_scores(
            f"extract_aeb, {name}",
            len(gold),
            precision=statistics.mean(precisions),
            recall=statistics.mean(recalls),
        )
    print_worst(pages, worst)


def measure_segments(folder: Path, *, worst: int) -> None:
    """Print precision, recall and F1 of marked segments, pooled over pages."""
    gold = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
    right = missed = wrong = 0
    pages: list[tuple[float, str]] = []
    for url, entry in gold.items():
        path = folder / "html" / f"{entry['file']}.gz"
        found = squeeze(extract_words(path, url))
        kept = [squeeze(segment) in found for segment in entry["with"]]
        stray = [squeeze(segment) in found for segment in entry["without"]]
        right += sum(kept)
        missed += len(kept) - sum(kept)
        wrong += sum(stray)
        faults = [s for s, k in zip(entry["with"], kept, strict=True) if not k]
        extra = [s for s, k in zip(entry["without"], stray, strict=True) if k]
        pages.append((-float(len(faults) + len(extra)), f"{entry['file']} -{faults} +{extra}"))
    print_scores(
        "extract_trafilatura",
        len(gold),
        precision=right / (right + wrong),
        recall=right / (right + missed),
    )
    print_worst(pages, worst)


def measure_speed(folder: Path) -> None:
    """Print how many pages of a documentation site one core extracts and chunks in a second."""
    sources = [
        path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.rglob("*.html"))
    ]
    chunk_page(extract_page(fetched_html("http://localhost/", sources[0])))
    seconds: list[float] = []
    chunking = 0.0
    chunks = 0
    for source in sources:
        start = time.process_time()
        try:
            page = extract_page(fetched_html("http://localhost/library/page.html", source))
        except EmptyPage:
            continue
        middle = time.process_time()
        chunks += len(chunk_page(page))
        seconds.append(time.process_time() - start)
        chunking += time.process_time() - middle
    total = sum(seconds)
    print(
        f"{'speed':30} pages {len(seconds):4}  {len(seconds) / total:.0f} pages/s  "
        f"median {statistics.median(seconds) * 1000:.1f} ms  "
        f"mean {total / len(seconds) * 1000:.1f} ms"
        f"  (chunking {chunking / total:.0%}, {chunks} chunks)"
    )


def extract_words(path: Path, url: str, *, leave_out: str = "") -> str:
    """Return what a reader sees of a page's text; "" when it holds none.

    `leave_out` drops the first line that starts so.
    """
    source = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
    try:
        text = extract_page(fetched_html(url, source)).text
    except EmptyPage:
        return ""
    if leave_out:
        text = re.sub(rf"^{leave_out}.*$", "", text, count=1, flags=re.MULTILINE)
    return plain_text(text)


def fetched_html(url: str, source: str) -> FetchedPage:
    address = url if url.startswith("http") else "http://localhost/"
    return FetchedPage(
        url=address,
        final_url=address,
        status=200,
        kind="html",
        body=b"",
        text=source,
        fetched_at=_FETCHED_AT,
    )


def shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    if not words:
        return Counter()
    return Counter(tuple(words[at : at + 4]) for at in range(max(1, len(words) - 3)))


def squeeze(text: str) -> str:
    return " ".join(text.replace("\xad", "").split())


def print_scores(name: str, pages: int, *, precision: float, recall: float) -> None:
    f1 = 2 * precision * recall / (precision + recall)
    print(f"{name:30} pages {pages:4}  P {precision:.3f}  R {recall:.3f}  F1 {f1:.3f}")


def print_worst(pages: list[tuple[float, str]], count: int) -> None:
    for score, about in sorted(pages)[:count]:
        print(f"  {score:.2f} {about}")


if __name__ == "__main__":
    main()
