"""Code in HTML: its fences, languages and lines."""

from __future__ import annotations

import pytest
from tests.ingest.fetched import body, extracted


def test_a_fence_is_longer_than_any_run_of_backticks_inside() -> None:
    assert body("<pre>a ````b```` c</pre>") == "`````\na ````b```` c\n`````\n"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<pre><code class="language-rust">x</code></pre>', "rust"),
        (
            '<div class="highlight-python3"><div class="highlight"><pre>x</pre></div></div>',
            "python",
        ),
        ('<div class="highlight-default"><pre>x</pre></div>', ""),
        ('<pre class="src" data-lang="go">x</pre>', "go"),
        ('<div class="highlight highlight-source-shell"><pre>x</pre></div>', "shell"),
        ('<pre><code class="hljs json">x</code></pre>', "json"),
        ('<pre class="brush: php">x</pre>', "php"),
        ('<pre class="code ruby literal-block">x</pre>', "ruby"),
        ('<pre class="code literal-block">x</pre>', ""),
        ("<pre>&gt;&gt;&gt; x</pre>", "python"),
    ],
)
def test_the_language_of_code_is_read_from_the_usual_places(html: str, language: str) -> None:
    assert body(html).startswith(f"```{language}\n")


def test_line_numbers_and_copy_buttons_are_not_code() -> None:
    html = """<table class="highlighttable"><tr><td class="linenos"><pre>1
2</pre></td><td class="code"><pre>a = 1
b = 2</pre></td></tr></table>
<pre><code><span class="line-number">1</span>c = 3<button>Copy</button></code></pre>"""

    assert body(html) == "```\na = 1\nb = 2\n```\n\n```\nc = 3\n```\n"


def test_code_keeps_its_lines_in_boxes_that_are_no_pre_and_under_line_numbers() -> None:
    html = """<pre class="line-numbers"><code class="line-numbers language-basic">Sub One
End Sub</code></pre>
<div class="fragment"><div class="line"><a id="l1"></a>int a;</div><div class="line">int b;</div></div>"""

    assert body(html) == "```basic\nSub One\nEnd Sub\n```\n\n```\nint a;\nint b;\n```\n"


def test_what_a_signature_folds_away_follows_without_the_sign_that_stands_for_it() -> None:
    html = (
        "<pre>proc <a href='#add'>add</a>() {.<span><span class='Other pragmadots'>...</span></span>"
        "<span class='pragmawrap'>raises: [], tags: []</span>.}</pre>"
    )

    assert body(html) == "```\nproc add() {.\n    raises: [], tags: [].}\n```\n"


def test_code_that_a_glossary_defines_a_term_by_begins_on_its_own_line() -> None:
    term = '<dt id="acl"><code>acl</code></dt>'
    html = f'<dl class="glossary">{term}<dd><pre>( a | b )</pre></dd></dl>'

    assert body(html) == "**acl**\n\n```\n( a | b )\n```\n"


def test_links_from_a_source_to_its_documentation_are_no_code() -> None:
    html = """<h1>Source code for fen</h1><pre><span></span>import birds

<div class="viewcode-block" id="nest"><a class="viewcode-back" href="../fen.html#nest">[docs]</a>def nest():
    return birds.all()</div></pre>"""

    assert "\ndef nest():\n    return birds.all()\n" in extracted(html).text


def test_code_with_line_breaks_keeps_its_lines() -> None:
    html = (
        "<main><h1>Crop</h1><p>Set the area.</p><tt>Syntax:<br>\n-crop &lt;x&gt;<br>\n"
        "&nbsp;&nbsp; [<b>reset</b>]<br></tt><p>See <tt>-pan<br>x</tt>.</p></main>"
    )

    assert extracted(html).text == (
        "# Crop\n\nSet the area.\n\n```\nSyntax:\n-crop <x>\n   [reset]\n```\n\nSee `-pan x`.\n"
    )
