"""The symbols that pages of documentation generators define."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from citewell.core.records import FetchedPage, PageKind
from citewell.core.symbols import find_symbols
from citewell.ingest.extract.extract import extract_page

SPHINX = """<html><head><title>Birds</title></head><body><main><h1 id="birds">Birds</h1>
<p>All about birds that wade, and how to watch them from the shore.</p>
<dl class="py class"><dt class="sig sig-object py" id="birds.Heron"><em>class </em>
<span class="sig-prename descclassname">birds.</span><span class="sig-name descname">Heron</span>
<span class="sig-paren">(</span>name<span class="sig-paren">)</span></dt>
<dd><p>A grey heron, which stands still until its prey comes near.</p>
<dl class="py method"><dt class="sig sig-object py" id="birds.Heron.wade">
<span class="sig-name descname">wade</span><span class="sig-paren">(</span>depth
<span class="sig-paren">)</span></dt><dd><p>Walk into water.</p></dd></dl></dd></dl>
<h2 id="overview">Overview</h2><p>Herons are found by water.</p></main></body></html>"""
RUSTDOC = """<html><head><title>Heron in birds</title></head><body><main>
<h1>Struct birds::Heron</h1><pre class="rust item-decl"><code>pub struct Heron { }</code></pre>
<p>A grey heron, which stands still until its prey comes near and then strikes.</p>
<h2 id="implementations">Implementations</h2>
<section id="method.wade"><h4 class="code-header" id="method.wade">pub fn wade(&amp;self, depth: f64)</h4></section>
<p>Walks into water of this depth, in metres, without a splash.</p></main></body></html>"""
PACKAGE = """# birds (heron-watch)

Watching birds.

## `birds.Heron` {#Heron}

```python
class Heron(Bird)
```

A grey heron.

### `birds.Heron.wade` {#Heron.wade}

```python
def wade(depth: float) -> None
```

Walk into water.

## Overview {#overview}

Herons are found by water.
"""
GODOC = """<html><head><title>net</title></head><body><main><h1>Package net</h1>
<p>Package net provides a portable interface for network I/O of all sorts.</p>
<h3 id="Dial">func Dial</h3><pre>func Dial(network, address string) (Conn, error)</pre>
<p>Dial connects to the address on the named network.</p>
<h4 id="Dialer.DialContext">func (*Dialer) DialContext</h4>
<pre>func (d *Dialer) DialContext(ctx context.Context) (Conn, error)</pre>
<p>DialContext connects to the address using the provided context.</p></main></body></html>"""

JAVADOC = """<html><head><title>Heron (Birds API)</title></head><body><main>
<h2 title="Class Heron">Class Heron&lt;T&gt;</h2><p>A grey heron, which stands still for long.</p>
<ul class="blockList"><li class="blockList"><a name="method.summary"><!-- --></a>
<h3>Method Summary</h3><table><tr><td>void</td><td>wade()</td></tr></table></li></ul>
<ul class="blockList"><li class="blockList"><a name="method.detail"><!-- --></a>
<h3>Method Detail</h3><a name="wade-int-"><!-- --></a>
<ul class="blockList"><li class="blockList"><h4>wade</h4><pre>public void wade(int depth)</pre>
<div class="block">Walks into water.</div></li></ul></li></ul></main></body></html>"""


LISTINGS = """# birds

## `birds.Heron` {#Heron}

```python
class Heron(Bird)
Heron(name: str)
def wade(depth: float) -> None
async def nest()
```

Grey. Not `def fly()`.

## `birds.*` {#functions}

```python
def count(*ponds) -> int
```

## `Options` {#Options}

```ts
export interface Options {
  range?: number;
  readonly done: (
    at: number
  ) => void
}
```
"""


def symbols(text: str, kind: PageKind = "html") -> list[str]:
    url = "https://docs.example/birds"
    fetched = FetchedPage(
        url=url,
        final_url=url,
        status=200,
        kind=kind,
        body=text.encode(),
        text=text,
        fetched_at=datetime(2026, 3, 14, tzinfo=UTC),
    )
    return [symbol.full_name for symbol in find_symbols(extract_page(fetched))]


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        (SPHINX, "html", ["birds.Heron", "birds.Heron.wade"]),
        (RUSTDOC, "html", ["birds.Heron", "birds.Heron.wade"]),
        (PACKAGE, "markdown", ["birds.Heron", "birds.Heron.wade"]),
        (
            LISTINGS,
            "markdown",
            [
                *("birds.Heron", "birds.Heron.wade", "birds.Heron.nest", "birds.count"),
                *("Options", "Options.range", "Options.done"),
            ],
        ),
        (GODOC, "html", ["Dial", "Dialer.DialContext"]),
        (JAVADOC, "html", ["Heron", "Heron.wade"]),
    ],
    ids=["sphinx", "rustdoc", "package", "listings", "godoc", "javadoc"],
)
def test_every_entry_is_a_symbol_and_no_other_heading_is(
    text: str, kind: PageKind, expected: list[str]
) -> None:
    assert symbols(text, kind) == expected


def test_a_heading_about_classes_is_no_class() -> None:
    assert symbols("# Class based views\n\n## Methods\n\n### How to call\n\nLike this.\n") == []


def test_prose_defines_no_symbols() -> None:
    assert symbols("# Guide\n\n## Use `wade` well\n\nCall it.\n\n## Type safety\n\nGood.\n") == []


def test_a_method_of_rustdoc_is_a_section_however_long_its_signature() -> None:
    where = ", ".join(f"T{number}: Into&lt;Depth{number}&gt;" for number in range(30))
    source = f"""<html><head><title>Heron in birds</title></head><body><main>
<h1>Trait birds::Heron</h1><p>Wades, and stands still until its prey comes near.</p>
<details><summary><div id="method.wade" class="method"><h4 class="code-header">fn
<a href="#method.wade">wade</a>&lt;T&gt;(<br>&nbsp;&nbsp;self, <br>&nbsp;&nbsp;<a href="x.html">depth</a>: T<br>) -&gt;
<a href="y.html">Water</a><span class="notable-traits">Notable traits for Water</span>
<span class="where">where {where}</span></h4></div></summary><p>Walks into water.</p></details>
</main></body></html>"""

    page = extract_page(
        FetchedPage(
            url="https://birds.example/trait.Heron.html",
            final_url="https://birds.example/trait.Heron.html",
            status=200,
            kind="html",
            body=source.encode(),
            text=source,
            fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
    )

    section = page.sections[-1]
    assert (section.heading, section.anchor) == ("fn wade<T>", "method.wade")
    assert "**fn wade<T>(self, depth: T) -> Water where T0: Into<Depth0>," in page.text
    assert "Notable" not in page.text
    assert [symbol.full_name for symbol in find_symbols(page)] == [
        "birds.Heron",
        "birds.Heron.wade",
    ]


def test_every_name_of_a_shared_description_is_a_symbol() -> None:
    terms = "".join(
        f'<dt class="sig sig-object py" id="birds.{name}"><span class="sig-prename descclassname">'
        f'birds.</span><span class="sig-name descname">{name}</span></dt>'
        for name in ("HERON", "EGRET", "BITTERN", "STORK", "IBIS")
    )
    html = (
        '<html><body><main><h1 id="birds">Birds</h1><p>Constants for birds that wade.</p>'
        f'<dl class="py data">{terms}<dd><p>Kinds of birds.</p></dd></dl></main></body></html>'
    )

    assert symbols(html) == [
        "birds.HERON", "birds.EGRET", "birds.BITTERN", "birds.STORK", "birds.IBIS",
    ]  # fmt: skip
