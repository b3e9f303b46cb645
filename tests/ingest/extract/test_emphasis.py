"""Emphasis that every Markdown reader shows as such."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt
from tests.ingest.fetched import body

from citewell.ingest.extract.emphasis import in_bold


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("See <b>f(*args, **kw)</b> and <i>x</i>.", "See f(*args, **kw) and *x*."),
        ("<b><i>Both</i></b> of them.", "**Both** of them."),
        ("<b>One <i>inside</i> another</b>.", "**One *inside* another**."),
        ("<b>Bold</b><i>italic</i> words.", "**Bold**italic words."),
        ("char *<i>data</i>;", "char *data;"),
        ("本章では、<b><code>GnuCash</code></b>を使う。", "本章では、`GnuCash`を使う。"),
        ("本章では<b>利子</b>を払う。", "本章では**利子**を払う。"),
        ("A <b><a href=b.html>link</a></b>s.", "A [link](https://example.org/docs/b.html)s."),
        (
            "A <b><a href=b.html>l<i>in</i>k</a></b>.",
            "A **[l*in*k](https://example.org/docs/b.html)**.",
        ),
        ("<b>Never closed", "**Never closed**"),
        (f"<b>{'Herons wade. ' * 20}<b>Bold</b> too", f"{'Herons wade. ' * 20}**Bold** too"),
        ("Say `<code>if</code>' here.", "Say `if' here."),
        ("<code>a.</code><code>b</code> and <code>c</code>", "`a.b` and `c`"),
        ("<b>Over<br>two lines</b>.", "Over\ntwo lines."),
        ("<b><b>Twice</b></b> and <i></i>nothing.", "**Twice** and nothing."),
        ("<b>`*` in <code>a*b</code></b>", "**`*` in `a*b`**"),
    ],
)
def test_marks_stand_only_where_they_are_read_as_marks(html: str, text: str) -> None:
    assert body(f"<main><p>{html}</p></main>") == text + "\n"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<dt>f(a, *, b)<dd>Wades.", "**`f(a, *, b)`**: Wades."),
        ("<dt>int (*f)(void*)<dd>Wades.", "**`int (*f)(void*)`**: Wades."),
        ("<dt>object.__init__(self)<dd>Wades.", "**`object.__init__(self)`**: Wades."),
        ("<dt>x<span class=classifier>int</span><dd>Wades.", "**x : int**: Wades."),
        ("<dt>snake_case<dd>Wades.", "**snake_case**: Wades."),
        (
            "<dt>Function: <b>poly</b> <i>(<i>a</i>, b)</i><dd>Wades.",
            "**Function: poly (a, b)**: Wades.",
        ),
        (
            "<dt><a href=g_.html>g</a>(*args)<dd>Wades.",
            r"**[g](https://example.org/docs/g_.html)(\*args)**: Wades.",
        ),
    ],
)
def test_the_stars_of_a_term_are_its_own(html: str, text: str) -> None:
    assert body(f"<main><dl>{html}</dl></main>") == text + "\n"


@pytest.mark.parametrize(
    "line",
    [
        "f(a, *, b)",
        "f(*a, **k)",
        "__init__(self)",
        "[g](https://example.org/)(*a, `*b`) _x_",
        "plain",
    ],
)
def test_a_line_in_bold_is_shown_as_it_is_written(line: str) -> None:
    html = MarkdownIt().render(in_bold(line))

    shown = MarkdownIt().renderInline(line.replace("*", r"\*").replace("_", r"\_"))
    plain = html.replace("<code>", "").replace("</code>", "")
    wanted = shown.replace("<code>", "").replace("</code>", "").replace("\\*b", "*b")
    assert plain == f"<p><strong>{wanted}</strong></p>\n"
