"""Markdown of several dialects comes out as the HTML that its author meant."""

from __future__ import annotations

import re

import pytest
from inline_snapshot import snapshot

from citewell.docsite.site.links import PageAddresses
from citewell.docsite.site.render import OutlineEntry, RenderedMarkdown, render_markdown

PAGES = ("index.md", "guide/README.md", "guide/install.md", "guide/deep/more.md")


def rendered(text: str, *, path: str = "guide/install.md") -> RenderedMarkdown:
    return render_markdown(text, PageAddresses(path=path, pages=PAGES))


def html(text: str, *, path: str = "guide/install.md") -> str:
    return rendered(text, path=path).html


def test_tables_keep_their_alignment_without_inline_styles() -> None:
    assert html("| a | b |\n|:-:|--:|\n| 1 | 2 |") == snapshot("""\
<div class="table-scroll" tabindex="0"><table>
<thead>
<tr>
<th class="align-center">a</th>
<th class="align-right">b</th>
</tr>
</thead>
<tbody>
<tr>
<td class="align-center">1</td>
<td class="align-right">2</td>
</tr>
</tbody>
</table></div>
""")


def test_long_code_in_a_table_can_be_broken_between_its_parts() -> None:
    table = html("| a |\n|---|\n| `a_b` `SITE_FETCH_TIMEOUT/<x>` |\n\n`SITE_FETCH_TIMEOUT`")

    long_code = "SITE_<wbr>FETCH_<wbr>TIMEOUT/&lt;x&gt;"
    assert f'<code>a_b</code> <code class="long-code">{long_code}</code>' in table
    assert "<code>SITE_FETCH_TIMEOUT</code>" in table


def test_task_lists_have_boxes_that_cannot_be_ticked() -> None:
    boxes = re.findall("<input[^>]*>", html("- [ ] open\n- [x] done"))

    assert boxes == [
        '<input class="task-list-item-checkbox" type="checkbox" aria-label="open" disabled>',
        '<input class="task-list-item-checkbox" type="checkbox" aria-label="done" checked disabled>',
    ]


def test_footnotes_lead_there_and_back() -> None:
    page = html("Said[^1].\n\n[^1]: By whom.")

    assert '<a href="#fn1" id="fnref1">' in page
    assert '<li id="fn1" class="footnote-item"><p>By whom. <a href="#fnref1"' in page


def test_strikethrough_definition_lists_and_bare_addresses() -> None:
    assert html("~~old~~ https://example.org/a?b=1.\n\nTerm\n: meaning") == snapshot("""\
<p><s>old</s> <a href="https://example.org/a?b=1">https://example.org/a?b=1</a>.</p>
<dl>
<dt>Term</dt>
<dd>meaning</dd>
</dl>
""")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('!!! tip "Do *this*"\n    It helps.', id="mkdocs"),
        pytest.param(":::tip[Do *this*]\nIt helps.\n:::", id="docusaurus"),
        pytest.param(":::tip Do *this*\n\nIt helps.\n\n:::", id="docusaurus-old"),
        pytest.param("> [!TIP] Do *this*\n> It helps.", id="github"),
        pytest.param("/// tip | Do *this*\n\nIt helps.\n\n///", id="pymdown"),
    ],
)
def test_every_dialect_writes_the_same_call_out(text: str) -> None:
    assert html(text) == snapshot("""\
<div class="callout tip">
<p class="callout-title">Do <em>this</em></p>
<p>It helps.</p>
</div>
""")


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("??? warning\n    Body", '<details class="callout warning">'),
        ("???+ warning\n    Body", '<details class="callout warning" open="">'),
        ("> [!WARNING]- \n> Body", '<details class="callout warning">'),
    ],
    ids=["closed", "open", "github-closed"],
)
def test_call_outs_fold_without_scripts(text: str, opening: str) -> None:
    expected = f'{opening}\n<summary class="callout-title">Warning</summary>\n<p>Body</p>'

    assert html(text) == f"{expected}\n</details>\n"


def test_call_outs_nest_and_hold_code_and_lists() -> None:
    text = """\
::::note
- one

```text
:::
```

:::danger
inner
:::
::::

!!! note
    - item

        !!! danger
            deep

after
"""
    page = html(text)

    assert page.count('<div class="callout note">') == 2
    assert page.count('<div class="callout danger">') == 2
    assert "<code>:::\n</code>" in page
    assert page.endswith("</div>\n<p>after</p>\n")


def test_a_call_out_may_have_no_title_and_an_unknown_kind() -> None:
    page = html('!!! note ""\n    bare\n\n!!! custom-kind\n    own')

    assert page == snapshot("""\
<div class="callout note">
<p>bare</p>
</div>
<div class="callout note">
<p class="callout-title">Custom kind</p>
<p>own</p>
</div>
""")


@pytest.mark.parametrize(
    "text",
    ['=== "Linux"\n\n    run\n', "/// tab | Linux\n\nrun\n\n///\n"],
    ids=["mkdocs", "pymdown"],
)
def test_tabs_are_shown_below_each_other(text: str) -> None:
    assert html(text) == snapshot("""\
<div class="tabs">
<div class="tab">
<p class="callout-title">Linux</p>
<p>run</p>
</div>
</div>
""")


def tab_sets(text: str) -> list[list[str]]:
    """Return the titles of the tabs of each set."""
    page = html(text)
    sets = page.split('<div class="tabs">\n')[1:]
    return [
        re.findall(r'<div class="tab[^"]*">\n<p class="callout-title">(.*)</p>', s) for s in sets
    ]


LINUX, MAC = '=== "Linux"\n\n    a\n', '=== "macOS"\n\n    b\n'
ONE, TWO = "/// tab | One\n\na\n///\n", "/// tab | Two\n\nb\n///\n"
GROUP = "::: code-group\n```js\na\n```\n```ts [b.ts]\nb\n```\n:::\n"


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        (f"{LINUX}\n{MAC}", [["Linux", "macOS"]]),
        (f"{LINUX}\n\n\n{MAC}", [["Linux", "macOS"]]),
        (f"{LINUX}\nText\n\n{MAC}", [["Linux"], ["macOS"]]),
        (f"{LINUX}\n{MAC.replace('===', '===!')}", [["Linux"], ["macOS"]]),
        (f"{ONE}{TWO}", [["One", "Two"]]),
        (ONE + TWO.replace("Two\n", "Two\n    new: true\n"), [["One"], ["Two"]]),
        (f"{LINUX}\n{ONE}\n{GROUP}", [["Linux"], ["One"], ["js", "b.ts"]]),
        (f"{GROUP}\n{GROUP}", [["js", "b.ts"], ["js", "b.ts"]]),
        ("::: box A\nx\n:::\n\n::: box B\ny\n:::\n", []),
    ],
    ids="tabs blank-lines text-between new pymdown new-option syntaxes groups boxes".split(),
)
def test_each_set_of_tabs_is_one_of_its_own(text: str, sets: list[list[str]]) -> None:
    assert tab_sets(text) == sets


def test_tabs_in_a_tab_are_a_set_inside_of_it() -> None:
    inner = LINUX.replace("\n", "\n    ").rstrip(" ")
    page = html(f'=== "Outer"\n\n    {inner}\n{MAC}')

    assert page.count('<div class="tabs">') == 2
    assert page.index("Outer") < page.index("Linux") < page.index("macOS")
    assert page.endswith("<p>b</p>\n</div>\n</div>\n")


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ('===+ "Linux"\n\n    a\n', '<div class="tab chosen">'),
        ("/// tab | Linux\n    select: true\n\na\n///\n", '<div class="tab chosen">'),
        ("/// details | More\n    type: tip\n    open: True\n\na\n///", 'callout tip" open="">'),
        ("/// admonition | More\n    type: warning\n\na\n///", '<div class="callout warning">'),
    ],
    ids=["chosen", "select", "details", "admonition"],
)
def test_blocks_take_their_options(text: str, opening: str) -> None:
    page = html(text)

    assert opening in page
    assert ": t" not in page.casefold()
    assert "<p>a</p>" in page


def test_a_code_group_is_a_tab_for_each_fence_by_its_name() -> None:
    page = html(
        "::: code-group\n```sh [npm]\nrun\n```\n\n```py [__init__.py]\nx\n```\n:::\n\nAfter"
    )

    tabs = page.split('<div class="tab">\n<p class="callout-title">')
    assert [tab.partition("</p>")[0] for tab in tabs[1:]] == ["npm", "__init__.py"]
    assert 'data-language="sh"' in tabs[1]
    assert tabs[2].endswith("</div>\n</div>\n<p>After</p>\n")


@pytest.mark.parametrize(
    "text",
    ["!!! Wow, marks", "!!! Wow marks", "Is it ???", "> [!WORD] no kind", "Title\n===", ": : :"],
    ids=["comma", "words", "question", "quote", "setext", "colons"],
)
def test_what_only_looks_like_a_call_out_is_none(text: str) -> None:
    page = html(text)

    assert "callout" not in page
    assert "tab" not in page


def test_code_is_highlighted_with_classes_and_marked_lines() -> None:
    page = html('```python title="a.py" hl_lines="2"\nx = 1\ny = 2\n```')

    assert page == snapshot("""\
<div class="code" data-language="python"><div class="code-title">a.py</div><pre tabindex="0"><code><span class="n">x</span> <span class="o">=</span> <span class="mi">1</span>
<span class="hll"><span class="n">y</span> <span class="o">=</span> <span class="mi">2</span>
</span></code></pre></div>

""")


@pytest.mark.parametrize("info", ["ts:line-numbers=7", "ts {2} showLineNumbers", "ts:line-numbers"])
def test_lines_are_numbered_in_the_way_of_other_generators_too(info: str) -> None:
    page = html(f"```{info}\na\nb\n```")

    assert page.count('class="line-number"') == 2
    assert (">8 </span>" in page) == ("=7" in info)
    assert 'data-language="ts"' in page


def test_lines_are_marked_in_the_way_of_docusaurus_too() -> None:
    assert html("```js {1,3-4}\na\nb\nc\nd\n```").count('class="hll"') == 3


def test_lines_are_marked_by_comments_in_the_way_of_vitepress() -> None:
    code = "a\nb # [!code ++]\nc // [!code --]\nd <!-- [!code highlight:2] -->\ne\nf [!code ++]"

    shown = html(f"```nosuchlanguage:line-numbers\n{code}\n```")

    marks = re.findall(r'<span class="hll ?(\w*)"><span [^>]*>\d </span>(.*)\n', shown)
    assert marks == [("gi", "b"), ("gd", "c"), ("", "d"), ("", "e")]
    assert "f [!code ++]" in shown


def test_code_of_an_unknown_language_stays_plain() -> None:
    assert "<code>a &lt; b\n</code>" in html("```nosuchlanguage\na < b\n```")


def test_formulas_become_mathml() -> None:
    page = html("Inline $a^2$.\n\n$$\n\\frac{1}{2}\n$$")

    assert '<span class="math"><math display="inline"' in page
    assert "<msup><mi>a</mi><mn>2</mn></msup>" in page
    assert '<span class="math-block"><math display="block"' in page
    assert "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>" in page


@pytest.mark.parametrize("latex", [r"\frac{a", r"x_1^", r"\left( a", r"\nosuch{x}", "{" * 3_000])
def test_a_formula_that_cannot_be_read_never_breaks_the_page(latex: str) -> None:
    page = html(f"before ${latex}$ after")

    assert page.startswith("<p>before ")
    assert page.endswith(" after</p>\n")


def test_an_unknown_command_stays_as_source() -> None:
    assert r'<code class="tex">$\nosuch{x}$</code>' in html(r"$\nosuch{x}$")


@pytest.mark.parametrize(
    "latex",
    [r"\frac{a", r"\frac{a}", r"\left(a", r"a}", r"\begin{matrix}a", r"\sqrt", "x^", r"\{a{\}"],
)
def test_a_formula_that_does_not_parse_is_shown_as_written(latex: str) -> None:
    page = html(f"${latex}$")

    assert "<math" not in page
    assert f'<code class="tex">${latex}$</code>' in page


@pytest.mark.parametrize(
    "latex", [r"\{a\}", r"\left\{a\right.", r"\frac12", r"x_1^2", r"{}_a b", r"50\% {a}", "x'"]
)
def test_what_looks_unbalanced_to_the_eye_is_a_formula(latex: str) -> None:
    assert "<math" in html(f"${latex}$")


def test_prices_are_no_formulas() -> None:
    assert html("From $5 to $10 in all") == "<p>From $5 to $10 in all</p>\n"


def test_headings_get_unique_anchors_and_an_outline() -> None:
    page = rendered("# One `code`\n\n## Two\n\n## Two\n\n## Own { #given }\n\n> ## Quoted")

    assert page.heading == "One code"
    assert page.outline == (
        OutlineEntry(level=1, text="One code", anchor="one-code"),
        OutlineEntry(level=2, text="Two", anchor="two"),
        OutlineEntry(level=2, text="Two", anchor="two-1"),
        OutlineEntry(level=2, text="Own", anchor="given"),
    )
    assert '<h2 id="given">Own <a class="permalink" href="#given"' in page.html
    assert '<h2 id="quoted">' in page.html


def test_known_anchors_of_headings_are_used() -> None:
    addresses = PageAddresses(path="a.md", pages=("a.md",))

    page = render_markdown("# A\n\n## B", addresses, anchors={1: "first", 3: "second"})

    assert [entry.anchor for entry in page.outline] == ["first", "second"]


@pytest.mark.parametrize(
    ("target", "href"),
    [
        ("deep/more.md", "deep/more.html"),
        ("deep/more.md#part", "deep/more.html#part"),
        ("../index.md", "../"),
        ("README.md?x=1", "./?x=1"),
        ("/guide/deep/more.md", "deep/more.html"),
        ("deep/more", "deep/more.html"),
        ("./img/a%20b.png", "img/a%20b.png"),
        ("/img/logo.svg", "../img/logo.svg"),
        ("#top", "#top"),
        ("https://example.org/x.md", "https://example.org/x.md"),
        ("mailto:a@example.org", "mailto:a@example.org"),
    ],
)
def test_links_lead_to_the_addresses_of_pages(target: str, href: str) -> None:
    assert html(f"[x]({target})") == f'<p><a href="{href}">x</a></p>\n'
    assert html(f'<p><a href="{target}">x</a></p>') == f'<p><a href="{href}">x</a></p>'


@pytest.mark.parametrize(
    "target",
    ["../../secret.md", "/../x", "..%2f..%2fetc/passwd", "%2e%2e/%2e%2e/x", r"..\\..\\x"],
)
def test_links_out_of_the_root_are_inert(target: str) -> None:
    assert "href" not in html(f"[x](<{target}>)")
    assert "src" not in html(f"![x](<{target}>)")
    assert "href" not in html(f'<a href="{target}">x</a>')
    assert "href" not in html(f"<a href={target}>x</a>")


def test_html_that_is_only_shown_is_not_touched() -> None:
    text = '<p>Write <code>href="deep/more.md"</code> here.</p>'

    assert html(text) == text


def test_links_to_pages_that_do_not_exist_are_told() -> None:
    addresses = PageAddresses(path="a.md", pages=("a.md",))

    render_markdown("[x](gone.md) [y](../out.md) [z](https://example.org)", addresses)

    assert addresses.broken == ["gone.md", "../out.md"]


def test_attributes_of_an_image_are_kept_and_others_are_not() -> None:
    assert html("![a](i.png){width=40 .big onclick=x}") == snapshot(
        '<p><img src="i.png" alt="a" width="40" loading="lazy"></p>\n'
    )


def test_japanese_headings_have_readable_anchors() -> None:
    assert rendered("## 設定の方法").outline[0].anchor == "設定の方法"


def test_lines_of_code_are_numbered_where_that_is_asked_for() -> None:
    numbered = html('```python linenums="9"\nx = """\ny"""\n```\n')

    numbers = re.findall(r'<span class="line-number" aria-hidden="true">( ?\d+) </span>', numbered)
    assert numbers == [" 9", "10"]
