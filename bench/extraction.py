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

from citewell.core.errors import CitewellError
from citewell.core.records import FetchedPage
from citewell.ingest.chunk import chunk_page
from citewell.ingest.extract.extract import extract_page

_FETCHED_AT = datetime(2025, 1, 1, tzinfo=UTC)
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
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
        measure_shingles(arguments.data / "extraction" / "extract_aeb", arguments.worst)
        measure_segments(arguments.data / "extraction" / "extract_trafilatura", arguments.worst)
    if arguments.docs.is_dir():
        measure_speed(arguments.docs)


def plain_text(markdown: str) -> str:
    """Return canonical Markdown as the words a reader sees."""
    text = _LINK.sub(r"\1", _IMAGE.sub("", markdown))
    text = _TABLE_RULE.sub("", _LINE_MARKS.sub("", text))
    return text.replace("**", "").replace("*", "").replace("|", " ").replace("`", "")


def measure_shingles(folder: Path, worst: int) -> None:
    """Print precision, recall and F1 of four-word shingles, averaged over pages."""
    gold = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
    precisions: list[float] = []
    recalls: list[float] = []
    pages: list[tuple[float, str]] = []
    for key, entry in gold.items():
        found = extract_words(folder / "html" / f"{key}.html.gz", entry.get("url", ""))
        true, predicted = shingles(entry["articleBody"]), shingles(found)
        common = sum((true & predicted).values())
        if predicted:
            precisions.append(common / predicted.total())
        if true:
            recalls.append(common / true.total())
        both = true.total() + predicted.total()
        pages.append(
            (
                2 * common / both if both else 1.0,
                f"{key[:12]} p={common / max(predicted.total(), 1):.2f} r={common / max(true.total(), 1):.2f} {entry.get('url', '')}",
            )
        )
    precision, recall = statistics.mean(precisions), statistics.mean(recalls)
    f1 = 2 * precision * recall / (precision + recall)
    print(
        f"extract_aeb          pages {len(gold):4}  P {precision:.3f}  R {recall:.3f}  F1 {f1:.3f}"
    )
    print_worst(pages, worst)


def measure_segments(folder: Path, worst: int) -> None:
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
    precision, recall = right / (right + wrong), right / (right + missed)
    f1 = 2 * precision * recall / (precision + recall)
    print(
        f"extract_trafilatura  pages {len(gold):4}  P {precision:.3f}  R {recall:.3f}  F1 {f1:.3f}"
    )
    print_worst(pages, worst)


def measure_speed(folder: Path) -> None:
    """Print how many pages of a documentation site are extracted and chunked in a second."""
    sources = [
        path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.rglob("*.html"))
    ]
    chunk_page(extract_page(fetched_html("http://localhost/", sources[0])))
    seconds: list[float] = []
    chunking = 0.0
    chunks = 0
    for source in sources:
        start = time.perf_counter()
        page = extract_page(fetched_html("http://localhost/library/page.html", source))
        middle = time.perf_counter()
        chunks += len(chunk_page(page))
        seconds.append(time.perf_counter() - start)
        chunking += time.perf_counter() - middle
    total = sum(seconds)
    print(
        f"speed                pages {len(seconds):4}  {len(seconds) / total:.0f} pages/s  "
        f"median {statistics.median(seconds) * 1000:.1f} ms  mean {total / len(seconds) * 1000:.1f} ms"
        f"  (chunking {chunking / total:.0%}, {chunks} chunks)"
    )


def extract_words(path: Path, url: str) -> str:
    source = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
    try:
        return plain_text(extract_page(fetched_html(url, source)).text)
    except CitewellError:
        return ""


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
    return " ".join(text.split())


def print_worst(pages: list[tuple[float, str]], count: int) -> None:
    for score, about in sorted(pages)[:count]:
        print(f"  {score:.2f} {about}")


if __name__ == "__main__":
    main()
