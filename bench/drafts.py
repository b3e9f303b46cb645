"""How well the verdicts on a draft's sentences hold: true sentences, changed ones, and others'.

    python -m bench.drafts [FOLDER …] [--sites DIR] [--pages N] [--sentences N]

Ingests pages of documentation sites, by words alone, and checks sentences made from them through
`check_draft`: as they are, reworded without changing a fact, with one fact changed, and sentences
of other sites. FITTED sites were looked at while the rules were made, UNTOUCHED ones never; folders
that are named are judged instead of both.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

import anyio
from bench.fragments import fetched_page
from bench.question_sites import DEFAULT_SITES, SITES, loopback_fetcher

from citewell.answer.claims import claims_of
from citewell.app.draft_check import check_draft
from citewell.core.errors import CitewellError
from citewell.core.folding import fold
from citewell.core.records import SearchFilter
from citewell.ingest.pipeline import Ingester
from citewell.retrieve.pipeline import Models
from citewell.store.open import open_store

FITTED = ("python3.11-doc", "git-doc", "apache2-doc", "postgresql-doc-15", "python-django-doc",
          "python-sqlalchemy-doc", "rust-doc")  # fmt: skip
UNTOUCHED = ("python-scipy-doc", "debian-reference-en")
_ELSEWHERE = "sqlite3-doc"
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)*(?![\w-])")
_CODE = re.compile(r"`([\w.()-]+)`")
_OPPOSITES = {
    "before": "after", "after": "before", "true": "false", "True": "False", "False": "True",
    "enabled": "disabled", "disabled": "enabled", "first": "last", "last": "first",
    "always": "never", "maximum": "minimum", "minimum": "maximum", "must": "may",
    "optional": "required", "required": "optional", "read": "write", "all": "none",
}  # fmt: skip
_UNITS = {
    "seconds": "minutes", "minutes": "hours", "hours": "days", "days": "hours", "bytes": "bits",
    "milliseconds": "seconds", "second": "minute", "day": "week", "KB": "MB", "MB": "GB",
    "GB": "MB", "kilobytes": "megabytes", "megabytes": "gigabytes", "characters": "bytes",
}  # fmt: skip
_DEFAULT = re.compile(r"\bdefaults?(?: \w+)? (?:to|is) `?([\w.-]*\w)")
_REWORDED = (
    (r"\bcannot\b", "can not"), (r"\bis not\b", "isn't"), (r"\bdoes not\b", "doesn't"),
    (r"\bfor example\b", "for instance"), (r"\bThe\b", "This"), (r"\bwhich\b", "that"),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--pages", type=int, default=25, help="of each site")
    parser.add_argument("--sentences", type=int, default=60, help="of each site")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print what was judged wrongly")
    parser.add_argument("--fitted-only", action="store_true")
    arguments = parser.parse_args()
    others = [
        sentence
        for page in list(_pages(_root(arguments.sites, _ELSEWHERE), random.Random(1)))[:20]
        for sentence in _sentences(_text_of(page))
    ]
    groups = {"fitted": FITTED, "untouched": UNTOUCHED}
    if arguments.fitted_only:
        groups = {"fitted": FITTED}
    if arguments.folders:
        groups = {"folders": tuple(map(str, arguments.folders))}
    for group, names in groups.items():
        tally: dict[str, Counter[str]] = defaultdict(Counter)
        for name in names:
            root = Path(name) if arguments.folders else _root(arguments.sites, name)
            anyio.run(partial(_measure_site, root, others, tally, arguments))
        _report(group, tally)


def _root(sites: Path, name: str) -> Path:
    return sites / name / SITES[name].root


def _report(group: str, tally: dict[str, Counter[str]]) -> None:
    print(f"\n{group}\n{'sentences':18} {'n':>5} quoted supported partly contradicted unsupported")
    against = tally.pop("quotes against", Counter[str]())
    for kind, counts in tally.items():
        shares = [counts[v] / counts.total() for v in
                  ("quoted", "supported", "partly", "contradicted", "unsupported")]  # fmt: skip
        print(f"{kind:18} {counts.total():5} " + " ".join(f"{share:8.3f}" for share in shares))
    backed = {kind: counts["quoted"] + counts["supported"] for kind, counts in tally.items()}
    changed = [kind for kind in tally if kind.startswith("changed")]
    right = backed["as it is"] + backed["reworded"]
    made_up = backed["elsewhere"] + sum(backed[kind] for kind in changed)
    alone = {kind: counts["supported"] for kind, counts in tally.items()}
    wrong_alone = alone["elsewhere"] + sum(alone[kind] for kind in changed)
    alone_right = alone["as it is"] + alone["reworded"]
    caught = 1 - sum(backed[kind] for kind in changed) / sum(tally[k].total() for k in changed)
    both = right / max(1, right + made_up)
    supported = alone_right / max(1, alone_right + wrong_alone)
    print(f"precision: quoted or supported {both:.3f}, supported alone {supported:.3f}")
    print(f"changed facts caught: {caught:.3f}")
    print(f"true sentences with a quote against them: {against['shown']} of {against.total()}")


async def _measure_site(
    root: Path, others: list[str], tally: dict[str, Counter[str]], arguments: argparse.Namespace
) -> None:
    choice = random.Random(f"{arguments.seed} {root.name}")
    pages = list(_pages(root, choice))[: arguments.pages]
    store = await open_store("sqlite://")
    try:
        texts: list[str] = []
        async with (
            loopback_fetcher() as fetcher,
            Ingester(store=store, fetcher=fetcher, embedder=None, stale_after_days=999) as ingester,
        ):
            for file in pages:
                url = f"http://127.0.0.1/{quote(file.relative_to(root).as_posix())}"
                try:
                    await ingester.ingest_fetched(
                        fetched_page(url, file.read_bytes()), project="default"
                    )
                    texts.append(_text_of(file))
                except CitewellError:
                    continue
        sentences = [sentence for text in texts for sentence in _sentences(text)]
        choice.shuffle(sentences)
        # Few sentences have a number, a unit or a default: half of the sample should.
        sentences.sort(key=lambda sentence: -_facts_in(sentence))
        half = arguments.sentences // 2
        taken = sentences[:half] + choice.sample(sentences[half:], min(half, len(sentences) - half))
        cases = [("elsewhere", sentence) for sentence in choice.sample(others, arguments.sentences)]
        for sentence in taken:
            cases += _cases(sentence, sentences, choice)
        for kind, sentence in cases:
            claims = await check_draft(
                sentence,
                store=store,
                models=Models(embedder=None, reranker=None),
                where=SearchFilter(project="default"),
            )
            if len(claims) != 1:
                continue
            judged = claims[0]
            tally[kind][judged.verdict] += 1
            if kind == "as it is":
                tally["quotes against"]["shown" if judged.opposing else "none"] += 1
            if arguments.show and (
                _is_wrong(kind, judged.verdict) or (kind == "as it is" and judged.opposing)
            ):
                print(f"{kind} {judged.verdict}: {sentence}")
                for cited in (*judged.supporting, *judged.opposing):
                    print(f"    {cited.place.verdict}: {cited.quote.text}")
    finally:
        await store.aclose()


def _facts_in(sentence: str) -> int:
    """Return how much of a sentence can be changed: the rarer kinds first."""
    has_unit = any(word in _UNITS for word in re.findall(r"\w+", sentence))
    has_default = _DEFAULT.search(sentence) is not None
    return 2 * (has_unit or has_default) + (_NUMBER.search(sentence) is not None)


def _is_wrong(kind: str, verdict: str) -> bool:
    backed = verdict in ("quoted", "supported")
    return backed == (kind.startswith("changed") or kind == "elsewhere")


def _cases(sentence: str, others: list[str], choice: random.Random) -> Iterator[tuple[str, str]]:
    yield "as it is", sentence
    reworded = "According to the documentation, " + sentence[0].lower() + sentence[1:]
    for pattern, other in _REWORDED:
        reworded = re.sub(pattern, other, reworded)
    yield "reworded", reworded
    numbers = list(_NUMBER.finditer(sentence))
    if numbers:
        match = choice.choice(numbers)
        kind = "changed version" if "." in match.group() else "changed number"
        *rest, last = match.group().split(".")
        other = ".".join([*rest, str(int(last) + choice.choice((1, 2, 7)))])
        yield kind, sentence[: match.start()] + other + sentence[match.end() :]
    units = [match for match in re.finditer(r"\w+", sentence) if match.group() in _UNITS]
    if units and numbers:
        match = choice.choice(units)
        other = _UNITS[match.group()]
        yield "changed unit", sentence[: match.start()] + other + sentence[match.end() :]
    names = list(_CODE.finditer(sentence))
    pool = [
        name for other in others for name in _CODE.findall(other) if f"`{name}`" not in sentence
    ]
    default = _DEFAULT.search(sentence)
    if default and pool:
        value = choice.choice([name for name in pool if name != default[1]])
        start, end = default.span(1)
        yield "changed default", sentence[:start] + value.strip("()") + sentence[end:]
    if names and pool:
        match = choice.choice(names)
        yield (
            "changed name",
            f"{sentence[: match.start(1)]}{choice.choice(pool)}{sentence[match.end(1) :]}",
        )
    negated = re.sub(
        r"\b(is|are|can|will|does|must|should)\b(?! not)", r"\1 not", sentence, count=1
    )
    if negated != sentence and " not " not in f" {sentence} ":
        yield "changed negation", negated
    elif " not " in sentence:
        yield "changed negation", sentence.replace(" not ", " ", 1)
    words = [word for word in re.findall(r"\w+", sentence) if word in _OPPOSITES]
    if words:
        word = choice.choice(words)
        yield "changed opposite", re.sub(rf"\b{word}\b", _OPPOSITES[word], sentence, count=1)


def _sentences(text: str) -> list[str]:
    """Return sentences of prose that stand by themselves."""
    found = [text[start:end] for start, end in claims_of(text)]
    return [
        sentence
        for sentence in found
        if sentence[0].isupper() and sentence.endswith(".") and 40 <= len(sentence) <= 300
        and "\n" not in sentence and "://" not in sentence and fold(sentence).text.isascii()
    ]  # fmt: skip


def _pages(root: Path, choice: random.Random) -> Iterator[Path]:
    files = [file for file in sorted(root.rglob("*.html")) if 4_000 < file.stat().st_size < 200_000]
    choice.shuffle(files)
    yield from files


def _text_of(file: Path) -> str:
    from citewell.ingest.extract.extract import extract_page

    try:
        return extract_page(fetched_page("http://127.0.0.1/", file.read_bytes())).text
    except CitewellError:
        return ""


if __name__ == "__main__":
    main()
