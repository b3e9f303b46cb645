"""Whether the link of a citation highlights its quote: opened in Chromium, read off the screen.

    python -m bench.fragments [FOLDER …] [--sites DIR] [--count N] [--seed N] [--show-misses]

Serves ten documentation sites, or the folders that are named, on loopback, quotes pages as the
picker does, opens each citation's link and reads which words the browser has painted with the
colour of `::target-text`. Lines of a quote that the page does not show when it is opened, such as
sources that are hidden until they are clicked, are not asked for; a quote that has no other lines
is `hidden`, and right when nothing else is highlighted. A citation is `equal` when these are
exactly the letters and digits of the quote, and `right` when the stretch begins and ends where the
quote does: between the two a page may show what canonical text leaves out or writes otherwise, such
as a link to the source or a formula. `whole` also counts a highlight of all of the quote with the
line before or after it, `inside` also one of half of the quote or more, and nothing else.
"""

from __future__ import annotations

import argparse
import difflib
import io
import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from bench.question_sites import DEFAULT_SITES, SITES
from bench.site_labels import served
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from citewell.answer.quote import QuoteLimits, choose_quotes
from citewell.answer.spans import PassageText
from citewell.core.errors import CitewellError
from citewell.core.question import parse_query
from citewell.core.records import ExtractedPage, FetchedPage
from citewell.core.text_fragment import DIRECTIVE, link_to_quote
from citewell.core.tokens import count_tokens
from citewell.core.visible_text import extract_visible_text
from citewell.core.words import content_words
from citewell.ingest.chunk import chunk_page
from citewell.ingest.extract.extract import extract_page
from citewell.web.charset import decode_body

CHOSEN = (
    "python3.11-doc", "git-doc", "apache2-doc", "rust-doc", "python-scipy-doc",
    "python-sqlalchemy-doc", "postgresql-doc-15", "python-django-doc", "debian-reference-ja",
    "developers-reference-ja",
)  # fmt: skip
_COLOUR = (1, 254, 3)
_STYLE = (
    "::target-text { background-color: rgb(1,254,3) !important; color: rgb(1,254,3) !important; }"
    # A page that slides its menu in moves while it is read; a faded word has a faded colour.
    "* { transition: none !important; animation: none !important; opacity: 1 !important; }"
    # RDoc folds sources by their height: the words are found there, and seen when it is unfolded.
    "* { max-height: none !important; }"
    # The ends of long lines of code are read only where they can be seen.
    "pre { white-space: pre-wrap !important; overflow: visible !important; }"
)
_ADD_STYLE = """addEventListener("DOMContentLoaded", () => {
  document.head.append(Object.assign(document.createElement("style"), {textContent: %s}));
});"""
# A menu that stays in view can lie over the words of the text.
_HIDE_WHAT_STAYS = """() => {
  for (const element of document.body.querySelectorAll("*")) {
    if (["fixed", "sticky"].includes(getComputedStyle(element).position)) {
      element.style.setProperty("visibility", "hidden", "important");
    }
  }
}"""
_LEAST_PAINTED = 0.5
_SMOOTHING = 12
_EDGE_LETTERS = 12
_LINE_LETTERS = 90
_SHOWN = 150
_SCREEN_WIDTH, _SCREEN_HEIGHT = 2_000, 2_400
_MOST_SCREENS = 30
_MOST_PAGE_BYTES = 1_500_000
# Each word in view, or each character of CJK text, with its box.
_WORDS_IN_VIEW = r"""() => {
  const words = [];
  // A script that adds words to a menu must not move the places of others.
  const places = (window.placesOfNodes ??= new Map());
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    const start = places.get(node) ?? (places.total ?? 0);
    if (!places.has(node)) {
      places.set(node, start);
      places.total = start + node.data.length;
    }
    if (box.bottom < 0 || box.top > innerHeight || box.width === 0) continue;
    // A menu that was hidden can lie over the highlighted words.
    if (getComputedStyle(node.parentElement).visibility !== "visible") continue;
    for (const match of node.data.matchAll(/[\u2e80-\uffef]|[\p{L}\p{N}]+/gu)) {
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const rect = range.getClientRects()[0];
      if (!rect) continue;
      // A menu that is cut off has boxes where other words are seen.
      const seen = document.elementFromPoint(rect.x + rect.width / 2, rect.y + rect.height / 2);
      const own = node.parentElement;
      if (seen && !seen.contains(own) && !own.contains(seen)) continue;
      words.push([start + match.index, match[0], rect.x, rect.y, rect.width, rect.height]);
    }
  }
  return words;
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A quote of a served page, and the link that should highlight it."""

    site: str
    link: str
    words: str
    with_formulas: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=CHOSEN)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--show-misses", action="store_true")
    arguments = parser.parse_args()
    names = [arguments.only] if arguments.only else CHOSEN
    roots = {name: arguments.sites / name / SITES[name].root for name in names}
    if arguments.folders:
        roots = {str(folder): folder for folder in arguments.folders}
    with ExitStack() as stack:
        cited: list[Citation] = []
        for name, root in roots.items():
            base = stack.enter_context(served(root))
            choice = random.Random(f"{arguments.seed} {name}")
            cited += _cite(name, root, base, arguments.count // len(roots), choice)
        driver = stack.enter_context(sync_playwright())
        browser = driver.chromium.launch(
            executable_path=arguments.browser, args=["--no-sandbox", "--disable-gpu"]
        )
        stack.callback(browser.close)
        page = browser.new_page(viewport={"width": _SCREEN_WIDTH, "height": _SCREEN_HEIGHT})
        # A page waits long for fonts and scripts that cannot be reached.
        page.route(re.compile(r"https?://(?!127\.0\.0\.1)"), lambda route: route.abort())
        # Before the browser looks for the words: what is moved or unfolded later is not painted.
        page.add_init_script(_ADD_STYLE % json.dumps(_STYLE))
        _measure(cited, page, arguments)


def _measure(cited: Sequence[Citation], page: Page, arguments: argparse.Namespace) -> None:
    rows: dict[str, list[tuple[bool, ...]]] = {}
    started = time.perf_counter()
    for citation in cited:
        shown, visible = _highlighted(page, citation.link)
        if not shown and DIRECTIVE in citation.link:
            # On a busy machine the browser can look for the words after the page was read.
            shown, visible = _highlighted(page, citation.link)
        spellings = [_shown_lines(s, visible) for s in (citation.words, citation.with_formulas)]
        wanted, got = _letters(spellings[0]), _letters(shown)
        is_hidden = not any(map(_letters, spellings))
        likeness = difflib.SequenceMatcher(None, wanted, got, autojunk=False).ratio()
        is_folded = not _ends_shown(citation.words, visible)
        is_right = not got if is_hidden else _is_same_stretch(spellings, got, is_folded=is_folded)
        is_whole = is_right or _is_whole(spellings, got)
        is_inside = is_right or _is_inside(wanted, got)
        row = wanted == got, is_right, is_whole, is_inside, DIRECTIVE in citation.link, is_hidden
        rows.setdefault(citation.site, []).append(row)
        if arguments.show_misses and not is_right:
            kind = "whole" if is_whole else "inside" if is_inside else "miss"
            print(f"{kind} {citation.site} {likeness:.2f} {citation.link}")
            print(f"   want {_ends(spellings[0])}\n   got  {_ends(shown)}", flush=True)
    shares_of = " ".join(f"{name:>6}" for name in ("equal", "right", "whole", "inside"))
    print(f"{'site':26} {'links':>5} {shares_of} fragment hidden")
    every = [row for site in rows.values() for row in site]
    for name, site in [*rows.items(), ("all", every)]:
        shares = [sum(column) / len(site) for column in zip(*site, strict=True)]
        print(f"{name:26} {len(site):5} " + " ".join(f"{share:6.3f}" for share in shares))
    fragments = [c.link.partition("#")[2] for c in cited]
    tokens = sum(map(count_tokens, fragments)) / len(fragments)
    print(f"mean tokens after the address {tokens:.1f}; {time.perf_counter() - started:.0f} s")


def _shown_lines(text: str, visible: str) -> str:
    """Return the lines that a page whose visible letters are given shows when it is opened."""
    return "\n".join(line for line in text.split("\n") if _is_shown(_letters(line), visible))


def _ends_shown(text: str, visible: str) -> bool:
    lines = [letters for line in text.split("\n") if (letters := _letters(line))]
    return not lines or _is_shown(lines[-1], visible)


def _is_shown(letters: str, visible: str) -> bool:
    """Return whether a line's beginning or end is in view, and half of what it says.

    A line that is hidden can end with a name that the page shows elsewhere.
    """
    edges = letters[:_EDGE_LETTERS], letters[-_EDGE_LETTERS:]
    parts = [letters[at : at + _EDGE_LETTERS] for at in range(0, len(letters), _EDGE_LETTERS)]
    shown = sum(part in visible for part in parts)
    return any(edge in visible for edge in edges) and 2 * shown >= len(parts)


def _ends(text: str) -> str:
    return repr(text if len(text) < 2 * _SHOWN else f"{text[:_SHOWN]} … {text[-_SHOWN:]}")


def _highlighted(page: Page, link: str) -> tuple[str, str]:
    """Return the words that the browser highlights, and the letters that it shows of the page."""
    # Without this, a second link into the same page would only scroll.
    page.goto("about:blank")
    page.goto(link, wait_until="load")
    visible = _letters(page.evaluate("document.body.innerText"))
    painted = _painted_with_and_without_menus(page)
    height = page.evaluate("document.documentElement.scrollHeight")
    # Images that load late, and the style above, move the words out of view.
    tops = range(0, min(height, _MOST_SCREENS * _SCREEN_HEIGHT), _SCREEN_HEIGHT // 2)
    is_in_view = bool(painted)
    for top in tops:
        if is_in_view:
            break
        page.evaluate("top => scrollTo({top, behavior: 'instant'})", top)
        shown = _painted_with_and_without_menus(page)
        # It may go on below the edge of the screen.
        is_in_view = bool(painted) and shown <= painted
        painted |= shown
    return " ".join(word for _, word in sorted(painted)), visible


def _painted_with_and_without_menus(page: Page) -> set[tuple[int, str]]:
    # A menu can be what is highlighted, or it can hide that.
    painted = _painted_words(page)
    page.evaluate(_HIDE_WHAT_STAYS)
    painted |= _painted_words(page)
    # A browser scrolls sideways to the end of a row that is wider than the screen.
    width = page.evaluate("document.documentElement.scrollWidth")
    if painted and width > _SCREEN_WIDTH:
        for left in range(0, min(width, _MOST_SCREENS * _SCREEN_WIDTH), _SCREEN_WIDTH // 2):
            page.evaluate("left => scrollTo({left, behavior: 'instant'})", left)
            painted |= _painted_words(page)
    return painted


def _painted_words(page: Page) -> set[tuple[int, str]]:
    """Return the highlighted words in view, each with its place among all words of the page."""
    words = page.evaluate(_WORDS_IN_VIEW)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return {
        (place, word)
        for place, word, x, y, width, height in words
        if _is_painted(picture, x, y, width, height)
    }


def _is_painted(picture: Image.Image, x: float, y: float, width: float, height: float) -> bool:
    """Return whether a word's box has the colour from top to bottom, in half of its columns.

    The letters of a highlighted word have it, too; those of a menu that stands out over the text
    do not. Smoothing changes a colour a little.
    """
    left, right = max(0, int(x)), min(picture.width, int(x + width) + 1)
    rows = [int(y + height * step) for step in (0.3, 0.4, 0.5, 0.6, 0.7)]
    if not all(0 <= row < picture.height for row in rows) or right <= left:
        return False
    pixels = picture.crop((left, rows[0], right, rows[-1] + 1)).load()
    assert pixels is not None, "a picture in memory has pixels"
    painted = sum(
        all(_is_near(pixels[column, row - rows[0]]) for row in rows)
        for column in range(right - left)
    )
    return painted >= _LEAST_PAINTED * (right - left)


def _is_near(pixel: object) -> bool:
    assert isinstance(pixel, tuple), "it is an RGB picture"
    return all(abs(one - other) <= _SMOOTHING for one, other in zip(pixel, _COLOUR, strict=True))


def _is_same_stretch(spellings: Sequence[str], got: str, *, is_folded: bool) -> bool:
    """Return whether one begins and one ends like `got`, with little more or less in between.

    Of a short first or last block the edge is that block: the page may show something beside it.
    The number of a line without a space behind it is part of its first word. When the end of the
    quote is folded, a word that stands between it and what is shown is highlighted too.
    """
    got = got.lstrip("0123456789") if not any(_letters(s)[:1].isdigit() for s in spellings) else got
    blocks = [[each for line in text.split("\n") if (each := _letters(line))] for text in spellings]
    return (
        any(got.startswith(lines[0][:_EDGE_LETTERS]) for lines in blocks if lines)
        and any(_ends_like(got, lines[-1], is_folded=is_folded) for lines in blocks if lines)
        and len(got) <= 2 * max(len(_letters(text)) for text in spellings) + _EDGE_LETTERS
    )


def _ends_like(got: str, line: str, *, is_folded: bool) -> bool:
    edge = line[-_EDGE_LETTERS:]
    return got.endswith(edge) or (is_folded and edge in got[-len(edge) - _EDGE_LETTERS :])


def _is_whole(spellings: Sequence[str], got: str) -> bool:
    """Return whether the highlight is all of the quote, and a line more at most."""
    whole = [letters for text in spellings if (letters := _letters(text)) and letters in got]
    return bool(whole) and len(got) <= len(max(whole, key=len)) + _LINE_LETTERS


def _is_inside(wanted: str, got: str) -> bool:
    """Return whether the highlight is a part of the quote, half of it at least."""
    return bool(got) and got in wanted and 2 * len(got) >= len(wanted)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def _cite(
    name: str, root: Path, base: str, count: int, choice: random.Random
) -> Iterator[Citation]:
    suffix = f".{name[-2:]}.html" if name.startswith("debian-reference") else ".html"
    files = [file for file in sorted(root.rglob(f"*{suffix}")) if "-edition" not in str(file)]
    choice.shuffle(files)
    made = 0
    for file in files:
        if made == count:
            return
        body = file.read_bytes()
        # A page that only leads on to another is not what the browser would show.
        if len(body) > _MOST_PAGE_BYTES or b'http-equiv="refresh"' in body.lower():
            continue
        url = base + quote(file.relative_to(root).as_posix())
        try:
            page = extract_page(fetched_page(url, body))
        except CitewellError:
            continue
        for citation in _quote_page(name, url, page, choice, limit=min(2, count - made)):
            made += 1
            yield citation


def _quote_page(
    name: str, url: str, page: ExtractedPage, choice: random.Random, *, limit: int
) -> Iterator[Citation]:
    """Give quotes of a page, each the answer to a question in the words of some chunk."""
    chunks = [chunk for chunk in chunk_page(page) if chunk.tokens > 40]
    for chunk in choice.sample(chunks, min(limit, len(chunks))):
        terms = sorted(set(content_words(chunk.text)))
        asked = " ".join([*chunk.heading_path[-1:], *choice.sample(terms, min(5, len(terms)))])
        passage = PassageText(text=chunk.text, path=(page.title, *chunk.heading_path))
        spans = choose_quotes(parse_query(asked), [passage], limits=QuoteLimits())
        if not spans:
            continue
        span = choice.choice(spans)
        start, end = chunk.start + span.start, chunk.start + span.end
        words = extract_visible_text(page.text[start:end]).text
        if not _letters(words):
            # Pictures alone have no words to highlight.
            continue
        yield Citation(
            site=name,
            link=link_to_quote(url, chunk.anchor, page.text, start, end, screen=page.screen),
            words=words,
            # Without a network, pages show the source of their formulas.
            with_formulas=extract_visible_text(page.text[start:end].replace("$", "")).text,
        )


def fetched_page(url: str, body: bytes) -> FetchedPage:
    text = decode_body(body).text
    return FetchedPage(
        url=url, final_url=url, status=200, kind="html", body=body, text=text,
        fetched_at=datetime.now(UTC),
    )  # fmt: skip


if __name__ == "__main__":
    main()
