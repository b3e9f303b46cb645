"""reStructuredText and AsciiDoc: what their authors wrote, and nothing of the machine they are read on."""

from __future__ import annotations

import time

import pytest
from inline_snapshot import snapshot
from tests.ingest.fetched import extracted

from citewell.core.errors import EmptyPage
from citewell.core.records import PageKind
from citewell.web.content import page_kind

RST = """\
Herons
======

.. note:: They bite.

.. include:: /etc/passwd

.. csv-table:: secrets
   :file: /etc/passwd

.. raw:: html

   <b>raw</b>

.. code-block:: python
   :linenos:

   def wade():
       return 1

.. versionadded:: 3.5
   Wading backwards.

.. py:function:: wade(depth)
   :noindex:

   Wades, see :ref:`the guide <guide>` and :func:`os.open`.

+-------+-------+
| bird  | food  |
+=======+=======+
| heron | fish  |
+-------+-------+

Food
----

- fish

  - eels

See `the site <https://example.org/fish>`_ and ``code``, |unknown|.
"""
ADOC = """\
= Herons
:toc:
:bird: Heron

== Install {bird}

NOTE: Needs *water* and _patience_.

[source,python]
----
def wade():
    return 1
----

[cols="1,2",options="header"]
|===
|Bird |Food

|Heron
|fish, see <<feeding,Feeding>>

|Egret |insects
|===

* one
** two

include::/etc/passwd[]

// a comment
depth:: how deep
See https://example.org/fish[the site] and link:other.adoc[another].
////
hidden
////
"""


def test_restructured_text_keeps_its_structure() -> None:
    page = extracted(RST, "rst", url="https://example.org/docs/herons.rst")

    assert page.text == snapshot("""\
# Herons

ℹ️ NOTE: They bite.

```python
def wade():
    return 1
```

**Added in 3.5**

Wading backwards.

`wade(depth)`

Wades, see the guide and `os.open`.

| bird  | food |
|-------|------|
| heron | fish |

## Food

- fish
  - eels

See [the site](https://example.org/fish) and `code`, |unknown|.
""")
    assert [section.heading for section in page.sections] == ["Herons", "Food"]
    assert [link.url for link in page.links] == ["https://example.org/fish"]
    assert (page.title, page.kind) == ("Herons", "rst")


def test_asciidoc_keeps_its_structure() -> None:
    page = extracted(ADOC, "asciidoc", url="https://example.org/docs/herons.adoc")

    assert page.text == snapshot("""\
# Herons


## Install Heron


ℹ️ NOTE: Needs **water** and *patience*.


```python
def wade():
    return 1
```


| Bird | Food |
| --- | --- |
| Heron | fish, see Feeding |
| Egret | insects |


- one
   - two


**depth**

how deep
See [the site](https://example.org/fish) and [another](https://example.org/docs/other.adoc).
""")
    assert [section.heading for section in page.sections] == ["Herons", "Install Heron"]
    assert [link.url for link in page.links] == [
        "https://example.org/fish",
        "https://example.org/docs/other.adoc",
    ]
    assert (page.title, page.kind) == ("Herons", "asciidoc")


def test_asciidoc_with_underlined_headings_keeps_names_in_angle_brackets() -> None:
    source = """heron(1)
========

NAME
----
heron - Wades in <pond>, not in `<sea>`

[[options]]
Options
-------
Call it:

----
heron <pond>
----
"""

    page = extracted(source, "asciidoc", url="https://example.org/docs/heron.adoc")

    assert [(section.level, section.heading) for section in page.sections] == [
        (1, "heron(1)"),
        (2, "NAME"),
        (2, "Options"),
    ]
    assert r"heron - Wades in \<pond>, not in `<sea>`" in page.text
    assert "```\nheron <pond>\n```" in page.text


@pytest.mark.parametrize(
    ("url", "content_type", "kind"),
    [
        ("https://example.org/a.rst", "text/plain", "rst"),
        ("https://example.org/a", "text/x-rst; charset=utf-8", "rst"),
        ("https://example.org/_sources/a.rst.txt", "text/plain", "rst"),
        ("https://example.org/a.adoc", "text/plain", "asciidoc"),
        ("https://example.org/a.asciidoc", "", "asciidoc"),
        ("https://example.org/a", "text/asciidoc", "asciidoc"),
        ("https://example.org/rst", "text/plain", "text"),
    ],
)
def test_the_format_is_known_by_type_or_name(url: str, content_type: str, kind: str) -> None:
    assert page_kind(b"Herons\n======\n", content_type=content_type, url=url) == kind


def test_a_key_with_the_suffix_of_asciidoc_is_plain_text() -> None:
    key = b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n"

    assert page_kind(key, content_type="text/plain", url="https://example.org/key.asc") == "text"


@pytest.mark.parametrize("kind", ["rst", "asciidoc"])
def test_files_that_no_parser_expects_are_still_read_in_bounded_time(kind: PageKind) -> None:
    sources = [
        "- " * 3_000 + "x",
        "*a " * 20_000,
        "`" * 50_000 + "x",
        "+---+\n" * 3_000,
        "|a| " * 50_000,
    ]
    sources += ["= a\n" * 5_000, "[[[" * 20_000 + "x", "a:: b\n" * 5_000, "|===\n" * 5_000 + "|x"]
    started = time.process_time()

    for source in sources:
        assert extracted(source, kind).text.strip()

    assert time.process_time() - started < 30


def test_files_without_text_are_empty() -> None:
    with pytest.raises(EmptyPage):
        extracted("// nothing\n", "asciidoc")
    with pytest.raises(EmptyPage):
        extracted(" \n", "rst")


HIDDEN_IN_ASCIIDOC = (
    "[comment]\nHIDDEN one\nand HIDDEN two",
    "[comment]\n--\nHIDDEN one\n\nHIDDEN two\n--",
    "[.small]\n[comment#id]\n====\nHIDDEN\n====",
    "ifdef::never[]\nHIDDEN\n\nifndef::never[]\nHIDDEN\nendif::[]\nHIDDEN\nendif::[]",
    "ifdef::never[HIDDEN]",
    ":seen:\n:seen!:\nifdef::seen[]\nHIDDEN\nendif::[]",
    "ifeval::[1 == 2]\nHIDDEN\nendif::[]",
    'ifeval::["{backend}" != "html5"]\nHIDDEN\nendif::[]',
    "ifeval::[nonsense]\nHIDDEN\nendif::[]",
    '++++\n<p style="display:none">HIDDEN</p>\n\n<p hidden>HIDDEN [a](b)</p>\n++++',
    "{set:HIDDEN:words}{counter2:HIDDEN}",
    "(((HIDDEN, (HIDDEN), HIDDEN)))",
    "(((HIDDEN one\nHIDDEN two)))",
    'indexterm:[HIDDEN "[x\\]"]anchor:HIDDEN[HIDDEN]icon:HIDDEN[HIDDEN]',
    "pass:[<b hidden>HIDDEN</b>]+++<i style='display:none'>HIDDEN</i>+++",
    "[pass]\n<p hidden>HIDDEN</p>",
)


@pytest.mark.parametrize("hidden", HIDDEN_IN_ASCIIDOC)
def test_asciidoc_that_is_not_shown_is_left_out(hidden: str) -> None:
    text = extracted(f"= Herons\n\nBefore.\n\n{hidden}\n\nAfter.\n", "asciidoc").text

    assert text.split() == ["#", "Herons", "Before.", "After."]


@pytest.mark.parametrize(
    "shown",
    [
        "ifdef::backend-html5[]\nShown.\nendif::[]",
        "ifndef::never[Shown.]",
        ":birds: 3\nifeval::[{birds} >= 3]\nShown.\nendif::[]",
        ":seen:\nifdef::never,seen[]\nShown.\nendif::[]",
        "++++\n<p>Shown.</p>\n++++",
    ],
)
def test_asciidoc_under_a_condition_that_holds_is_kept(shown: str) -> None:
    text = extracted(f"= Herons\n\nBefore.\n\n{shown}\n\nAfter.\n", "asciidoc").text

    assert text.split() == ["#", "Herons", "Before.", "Shown.", "After."]


def test_an_entry_of_the_index_leaves_the_words_beside_it() -> None:
    source = "= Herons\n\n(((HIDDEN)))They wade `(((a)))` in.\n\n|===\n|One (((HIDDEN)))\n// HIDDEN\n|==="

    text = extracted(source, "asciidoc").text

    assert "They wade `(((a)))` in." in text
    assert "| One" in text
    assert "HIDDEN" not in text


@pytest.mark.parametrize(
    "block",
    [
        "ifconfig:: False",
        "todo::",
        "only:: never",
        "Only:: never",
        "comment::",
        "RAW:: html",
        "|x| raw:: html",
        "|x| Raw:: html",
        "testcode::\n   :hide:",
        "doctest::\n   :hide:",
        "role:: own(raw)\n   :format: html\n\n:own:`<b hidden>HIDDEN</b>`\n\n.. only:: x",
    ],
)
def test_what_no_build_or_only_some_show_is_left_out(block: str) -> None:
    source = f"Herons\n======\n\nBefore.\n\n.. {block}\n\n   HIDDEN\n\nAfter.\n"

    text = extracted(source, "rst").text

    assert text.split() == ["#", "Herons", "Before.", "After."]


def test_a_call_out_of_asciidoc_is_marked_to_its_end() -> None:
    source = """\
= Herons

[WARNING]
====
They bite.

----
ouch
----

Hard.
====

After.

[TIP]
Feed them.
"""

    assert extracted(source, "asciidoc").text.split("\n\n\n") == snapshot(
        [
            "# Herons",
            "⚠️ WARNING: They bite.",
            """\
```
ouch
```\
""",
            "⚠️ Hard.",
            """\
After.

ℹ️ TIP: Feed them.
""",
        ]
    )


def test_asciidoc_reads_programs_without_delimiters_attributes_in_attributes_and_pictures() -> None:
    source = (
        "= Fen\n:host: https://fen.example\n:page: {host}/{name}\n:name: heron\n\n"
        'image:{host}/b.svg["Build", link="{host}"] Read link:{page}[this].\n\n'
        "[source, sh, subs=attributes]\nfetch {page} \\\n  --deep\n\nDone.\n"
    )

    assert extracted(source, "asciidoc").text.replace("\n\n\n", "\n\n") == (
        "# Fen\n\n![Build](https://fen.example/b.svg) Read [this](https://fen.example/heron).\n\n"
        "```sh\nfetch https://fen.example/heron \\\n  --deep\n```\n\nDone.\n"
    )


@pytest.mark.parametrize(
    "hidden",
    [
        "[x]: <> (HIDDEN)",
        "<? HIDDEN ?>",
        "<![CDATA[HIDDEN]]>",
        "<!X HIDDEN>",
        "Wading <span hidden>HIDDEN <span>HIDDEN</span> HIDDEN</span>",
        "Wading <b style='font-size:0'>HIDDEN</b>",
        "Wading <font color=white>HIDDEN</font>",
        "| Wading |\n|---|\n| <i style=display:none>HIDDEN</i> |",
    ],
)
def test_what_a_line_of_markdown_hides_is_left_out(hidden: str) -> None:
    text = extracted(f"# Herons\n\nBefore.\n\n{hidden}\n\nAfter.\n", "markdown").text

    assert "HIDDEN" not in text
    assert text.startswith("# Herons\n\nBefore.\n\n")
    assert text.endswith("After.\n")


def test_a_style_that_hides_nothing_keeps_the_words() -> None:
    source = "# Herons\n\nThey <span style='color:red'>wade</span> <b hidden>not</b> <u style='x'>here</u>."

    assert extracted(source, "markdown").text.split()[2:] == ["They", "wade", "here."]
