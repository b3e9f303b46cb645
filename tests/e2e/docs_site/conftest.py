"""Tabs of a real browser on an exported docs site, and the server of the same folder."""

from __future__ import annotations

import mimetypes
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.docsite.site.attacks import ATTACKS
from tests.e2e.browser import running_browser
from tests.e2e.processes import environment, running_server
from tests.site import Response, Site, running_site

from citewell.docsite.folder import DocsFolder
from citewell.docsite.site.export import export_site

ROOT = Path(__file__).resolve().parents[3]
PREFIX = "/manual"
DOCS_AT = re.compile(rb"pages at (http:\S+)")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
DRAWING_HEADERS = {
    "Content-Security-Policy": POLICY.replace(
        "style-src 'self'", "style-src 'self' 'unsafe-inline'"
    )
}
WIDE_PAGE = """\
# Everything that is wide

A_word_without_any_place_to_break_it_which_goes_on_and_on_and_on_and_on_and_on_and_on_and_on_and_on.

| first column | second | third | fourth | fifth | sixth | seventh | eighth | ninth |
|---|---|---|---|---|---|---|---|---|
| `some_long_setting_name` | text | text | text | text | text | text | text | text |

```python title="wide.py"
value = function_with_a_long_name(first_argument=1, second_argument=2, third_argument=3, fourth=4)
```

$$
a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 + b_1 + b_2 + b_3 + b_4 + b_5 + b_6 + b_7 + b_8
$$

!!! note
    https://example.org/an/address/that/is/far/too/long/for/a/narrow/screen/and/goes/on/and/on/and/on

## One

## Two
"""

DIAGRAM_PAGE = """\
# How a survey goes

```mermaid
flowchart LR
  A[Observer] -->|counts| B(Survey)
  B --> C[Publish]
```
"""

_PARAGRAPHS = "A paragraph about herons.\n\n" * 60
FAR_DIAGRAM_PAGE = f"""\
# Far below

{_PARAGRAPHS}

```mermaid
flowchart TD
  A[Observer] -->|counts| B{{Many?}}
  B -->|yes| C[Publish]
  B -->|no| A
```

After the diagram.
"""

BROKEN_DIAGRAM_PAGE = """\
# A slip

```mermaid
flowchart LR
  A --> B(((((
```
"""

TABS_PAGE = """\
# Installing

=== "Linux"

    apt install heron

=== "macOS"

    brew install heron

/// tab | One
The first way
///
/// tab | Two
    select: true

The second way
///

::: code-group
```js
a
```
```ts [b.ts]
b
```
:::
"""

MARKS_PAGE = f"""\
# Marks

> [!CAUTION]
> - [x] A bittern[^1] &amp; [@a[b]](https://birds.example/{"c" * 300}).

!!! tip "Shy"
    [The {"very " * 60}shy stork](stork.md) sat by a [![picture](a.png)](b.md).

[^1]: A note.
"""


@dataclass(kw_only=True)
class Tab:
    """A tab of the browser, and what it complained of."""

    page: Page
    site: Site
    problems: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        self.page.goto(self.site.url(f"{PREFIX}/{path}"))

    @property
    def box(self) -> str:
        return "form[data-search] input"


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> DocsFolder:
    root = tmp_path_factory.mktemp("source") / "docs"
    shutil.copytree(ROOT / "examples" / "docs", root)
    (root / "wide.md").write_text(WIDE_PAGE, encoding="utf-8")
    (root / "diagram.md").write_text(DIAGRAM_PAGE, encoding="utf-8")
    (root / "tabs.md").write_text(TABS_PAGE, encoding="utf-8")
    (root / "marks.md").write_text(MARKS_PAGE, encoding="utf-8")
    (root / "broken").mkdir()
    (root / "far").mkdir()
    (root / "far" / "diagram.md").write_text(FAR_DIAGRAM_PAGE, encoding="utf-8")
    (root / "broken" / "diagram.md").write_text(BROKEN_DIAGRAM_PAGE, encoding="utf-8")
    (root / "hostile.md").write_text("\n\n".join(ATTACKS), encoding="utf-8")
    return DocsFolder.open(root)


@pytest.fixture(scope="package")
def exported(folder: DocsFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "out"
    export_site(folder, out)
    return out


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with running_browser() as running:
        yield running


@pytest.fixture(scope="package")
def server_url(folder: DocsFolder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where `citewell docs` serves the folder."""
    home = tmp_path_factory.mktemp("home")
    env = environment(home, CITEWELL_DOCS_CACHE_ROOT=str(home / "cache"))
    command = [sys.executable, "-m", "citewell", "docs", str(folder.root), "--port", "0"]
    with running_server(command, folder=home, env=env, started=DOCS_AT) as server:
        found = DOCS_AT.search(server.log)
        assert found is not None, server.log.decode()
        yield found[1].decode()
        assert server.stop() == 0


def served(folder: Path, headers: dict[str, str]) -> dict[str, Response]:
    """The files of a folder as pages of a site that has no logic of its own."""
    pages = {}
    for file in folder.rglob("*"):
        if file.is_file():
            kind = mimetypes.guess_type(file.name)[0] or "text/plain"
            kind += "; charset=utf-8" if kind.startswith("text/") else ""
            # Drawings hold styles, so a host with a policy of its own allows them there.
            is_drawn = file.name == "diagram.html"
            named = DRAWING_HEADERS if is_drawn else headers
            path = f"{PREFIX}/{file.relative_to(folder).as_posix()}"
            pages[path] = Response(body=file.read_bytes(), headers={"Content-Type": kind, **named})
    return pages


@pytest.fixture(scope="package")
def site(exported: Path) -> Iterator[Site]:
    with running_site(served(exported, {"Content-Security-Policy": POLICY})) as site:
        yield site


@pytest.fixture
def tab(browser: Browser, site: Site) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme="light")
    tab = Tab(page=context.new_page(), site=site)
    tab.page.on("console", lambda message: tab.problems.append(message.text))
    tab.page.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.page.on(
        "request",
        lambda request: (
            None if request.url.startswith(site.url("/")) else tab.outside.append(request.url)
        ),
    )
    yield tab
    context.close()
    assert tab.problems == []
    assert tab.outside == []
