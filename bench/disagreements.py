"""How often sentences that are shown as a disagreement do give two values for one thing.

    python -m bench.disagreements FOLDER …          sections and pages of one site
    python -m bench.disagreements OLD:NEW …         two versions of a site

A folder holds a documentation site (HTML) or the sources of one (reStructuredText, Markdown). All
statements are compared, not only those that one question finds, so that there is enough to read.
Every pair is printed with a number made of its words; those that a person has read are judged in
disagreements.tsv, and the share of right ones is the precision. FITTED names what was looked at
while the rules were made.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from bench.fragments import fetched_page

from citewell.answer.disagreement import (
    DifferingValue,
    Statement,
    find_difference,
    parse_statement,
)
from citewell.core.errors import CitewellError
from citewell.core.folding import fold
from citewell.core.records import ExtractedPage, PageKind
from citewell.core.text import sentence_spans
from citewell.ingest.extract.extract import extract_page

JUDGED = Path(__file__).with_name("disagreements.tsv")
FITTED = ("Django", "clang", "git-doc", "apache2-doc", "python3.11-doc", "postgresql-doc-15",
          "sqlite3-doc", "python-django-doc", "varnish", "kombu", "exim", "scrapy", "pymongo",
          "slurm", "sqlalchemy")  # fmt: skip
_KINDS: dict[str, PageKind] = {".html": "html", ".rst": "rst", ".txt": "rst", ".md": "markdown"}
_MOST_BYTES = 400_000
# A name that half of a site holds says nothing about a statement.
_MOST_SHARING = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Two statements, where they stand, and what they differ in."""

    place: str
    one: Statement
    other: Statement
    value: DifferingValue

    @property
    def number(self) -> str:
        """What the judgement of a person is kept under."""
        return hashlib.sha256(f"{self.one.text}\n{self.other.text}".encode()).hexdigest()[:12]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", metavar="FOLDER|OLD:NEW")
    parser.add_argument("--pages", type=int, default=10_000, help="most of each folder")
    arguments = parser.parse_args()
    judged = dict(row[:2] for row in csv.reader(JUDGED.open(encoding="utf-8"), delimiter="\t"))
    tally: dict[str, Counter[str]] = defaultdict(Counter)
    for name in arguments.folders:
        group = "fitted" if any(known in name for known in FITTED) else "untouched"
        for found in _find(name, arguments.pages):
            verdict = judged.get(found.number, "unread")
            tally[group][verdict] += 1
            print(
                f"{found.number} {verdict} [{found.value.one} / {found.value.other}] {found.place}"
            )
            print(f"    {found.one.text}\n    {found.other.text}", flush=True)
    for group, counts in tally.items():
        read = counts["right"] + counts["wrong"]
        precision = f"{counts['right'] / read:.2f}" if read else "unknown"
        print(f"{group}: precision {precision} of {read} read; {counts['unread']} unread")


def _find(name: str, most: int) -> Iterator[Found]:
    old, _, new = name.partition(":")
    if new:
        yield from _compare_versions(Path(old), Path(new), most)
    else:
        yield from _compare_sections(Path(old), most)


def _compare_versions(old: Path, new: Path, most: int) -> Iterator[Found]:
    after = dict(_pages(new, most))
    for place, page in _pages(old, most):
        if place not in after:
            continue
        newer = after[place]
        before, now = fold(page.text).text, fold(newer.text).text
        later = [each for each in _statements(newer) if fold(each.text).text.strip() not in before]
        earlier = [each for each in _statements(page) if fold(each.text).text.strip() not in now]
        for one in earlier:
            for other in later:
                if value := find_difference(one, other, same_page=True):
                    yield Found(place=place, one=one, other=other, value=value)


def _compare_sections(folder: Path, most: int) -> Iterator[Found]:
    placed = [(place, each) for place, page in _pages(folder, most) for each in _statements(page)]
    sharing: dict[str, list[int]] = defaultdict(list)
    for number, (_, statement) in enumerate(placed):
        for name in statement.facts.names:
            sharing[name].append(number)
    pairs = {
        pair
        for numbers in sharing.values()
        if len(numbers) <= _MOST_SHARING
        for pair in combinations(numbers, 2)
    }
    for first, second in sorted(pairs):
        (place, one), (other_place, other) = placed[first], placed[second]
        if (place, one.headings) == (other_place, other.headings):
            continue
        if value := find_difference(one, other, same_page=False):
            yield Found(place=f"{place} {other_place}", one=one, other=other, value=value)


def _statements(page: ExtractedPage) -> list[Statement]:
    found: list[Statement] = []
    for start, end in sentence_spans(page.text):
        section = next(s.ordinal for s in reversed(page.sections) if s.start <= start)
        statement = parse_statement(page.text[start:end], page.heading_path(section))
        if statement is not None:
            found.append(statement)
    return found


def _pages(folder: Path, most: int) -> Iterator[tuple[str, ExtractedPage]]:
    files = [file for file in sorted(folder.rglob("*")) if file.suffix in _KINDS and file.is_file()]
    for file in files[:most]:
        place = str(file.relative_to(folder))
        # Release notes speak of many versions at once.
        if file.stat().st_size > _MOST_BYTES or "release" in place or "_sources" in place:
            continue
        fetched = fetched_page(f"http://127.0.0.1/{place}", file.read_bytes())
        try:
            yield place, extract_page(replace(fetched, kind=_KINDS[file.suffix]))
        except CitewellError:
            continue


if __name__ == "__main__":
    main()
