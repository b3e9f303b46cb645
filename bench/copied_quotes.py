"""Whether quotes that are copied from a browser are found on the page that they were copied from.

    python -m bench.copied_quotes FOLDER:PAGE … [--seed N]

Serves each folder on loopback, opens its page in Chromium, selects a paragraph, an item, a cell, a
row, a table, a program, a heading, a menu … and some that go from one into the next, and checks
what the browser would copy as `kb_verify_quote` does. All should be exact.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from bench.fragments import fetched_page
from bench.site_labels import served
from playwright.sync_api import sync_playwright

from citewell.answer.verify import are_on_screen, verify_quote
from citewell.core.records import ExtractedPage, FetchedPage
from citewell.ingest.extract.extract import extract_page
from citewell.ingest.extract.whole_text import extract_whole_text

_SELECT = r"""(seed) => {
  const copied = [], selection = getSelection();
  let state = seed;
  const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  const isShown = element => element.innerText && element.innerText.trim().length > 25
    && element.getClientRects().length && getComputedStyle(element).visibility !== "hidden";
  const copy = (kind, range) => {
    selection.removeAllRanges();
    selection.addRange(range);
    const text = selection.toString().slice(0, 1500);
    if (text.trim().length >= 20) copied.push([kind, text]);
  };
  for (const kind of ["p", "li", "td", "tr", "dt", "dd", "pre", "h2", "h3",
      "nav a, .related a, .navheader", "footer, .footer, .navfooter", "table",
      "blockquote, .admonition, .note"]) {
    const elements = [...document.querySelectorAll(kind)].filter(isShown);
    if (!elements.length) continue;
    const range = document.createRange();
    range.selectNodeContents(elements[Math.floor(random() * elements.length)]);
    copy(kind, range);
  }
  for (const kind of ["p", "li", "td", "dd", "pre"]) {
    const elements = [...document.querySelectorAll(kind)].filter(isShown);
    if (elements.length < 2) continue;
    const first = Math.floor(random() * (elements.length - 1));
    const range = document.createRange();
    range.setStartBefore(elements[first]);
    range.setEndAfter(elements[first + 1]);
    if (range.toString().length < 1500) copy(`${kind} and the next`, range);
  }
  return copied;
}"""
_SHOWN = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="+", metavar="FOLDER:PAGE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    verdicts: Counter[str] = Counter()
    with ExitStack() as stack:
        driver = stack.enter_context(sync_playwright())
        browser = driver.chromium.launch(
            executable_path=arguments.browser, args=["--no-sandbox", "--disable-gpu"]
        )
        stack.callback(browser.close)
        tab = browser.new_page()
        tab.route(re.compile(r"https?://(?!127\.0\.0\.1)"), lambda route: route.abort())
        for name in arguments.pages:
            folder, _, path = name.partition(":")
            url = stack.enter_context(served(Path(folder))) + path
            tab.goto(url)
            fetched = fetched_page(url, (Path(folder) / path).read_bytes())
            page = extract_page(fetched)
            for kind, quote in tab.evaluate(_SELECT, arguments.seed):
                verdict = _verdict(quote, page, fetched)
                verdicts[verdict] += 1
                if verdict != "exact":
                    print(f"{verdict} {path} {kind}: {quote[:_SHOWN]!r}", flush=True)
    print(f"{verdicts['exact']} of {verdicts.total()} exact, {dict(verdicts)}")


def _verdict(quote: str, page: ExtractedPage, fetched: FetchedPage) -> str:
    verdict = verify_quote(quote, page.text).verdict
    if verdict == "exact" or are_on_screen([quote], page.screen)[0]:
        return "exact"
    outside = verify_quote(quote, extract_whole_text(fetched)).verdict
    return "exact" if outside == "exact" else verdict


if __name__ == "__main__":
    main()
