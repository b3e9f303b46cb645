"""Finding entities: what a page names, by rules that give the same answer every time."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.fetched import extracted

from citewell.core.graph import EntityMention
from citewell.ingest.entities import MAX_ENTITIES, MAX_MENTIONS, find_entities


def mentions(markdown: str) -> tuple[EntityMention, ...]:
    return find_entities(extracted(markdown, "markdown"))


def names(markdown: str, kind: str) -> set[str]:
    return {mention.name for mention in mentions(markdown) if mention.kind == kind}


def test_a_heading_is_a_topic_that_its_section_defines() -> None:
    found = mentions("# Herons\n\nThey wade.\n\n## Nest building\n\nHigh in trees.\n")

    assert found == (
        EntityMention(name="Herons", kind="topic", section=0, count=1, defines=True),
        EntityMention(name="Nest building", kind="topic", section=1, count=1, defines=True),
    )


def test_headings_that_every_site_has_name_nothing() -> None:
    page = (
        "# Herons\n\n## Introduction\n\nx\n\n## See also\n\ny\n\n## 概要\n\nz\n\n## Examples\n\nw\n"
    )

    assert names(page, "topic") == {"Herons"}


def test_numbers_before_a_heading_are_no_part_of_its_name() -> None:
    page = "# 3.1. Wading birds\n\na\n\n## Chapter 4: Feeding\n\nb\n\n## 第2章 サギの巣\n\nc\n"

    assert names(page, "topic") == {"Wading birds", "Feeding", "サギの巣"}


def test_a_module_heading_names_the_module_and_what_it_is() -> None:
    page = "# wader — Birds that wade\n\nText.\n"

    assert names(page, "symbol") == {"wader"}
    assert names(page, "topic") == {"Birds that wade"}


def test_inline_code_is_a_symbol_and_fenced_code_is_not() -> None:
    page = "# Birds\n\nCall `heron.wade()` or `--slow`.\n\n```python\n`egret.fly()`\n```\n"

    assert names(page, "symbol") == {"heron.wade"}


def test_a_symbol_is_called_by_the_full_name_that_its_link_leads_to() -> None:
    page = "# Birds\n\nUse [`wade()`](https://example.org/api.html#heron.Heron.wade) here.\n"

    assert names(page, "symbol") == {"heron.Heron.wade"}


def test_a_short_name_means_the_symbol_that_the_page_itself_defines() -> None:
    page = "# Birds\n\n## heron.wade\n\nWades.\n\n## Notes\n\nSee `wade()` above.\n"

    found = [mention for mention in mentions(page) if mention.kind == "symbol"]

    assert [(each.name, each.section, each.defines) for each in found] == [
        ("heron.wade", 1, True),
        ("heron.wade", 2, False),
    ]


def test_definitions_and_links_into_a_glossary_are_terms() -> None:
    page = (
        "# Birds\n\n**heronry**: where herons nest.\n\n**Note**: not a term.\n\n"
        "See the [white feathers](https://example.org/glossary.html#term-egret-plume).\n"
    )

    assert names(page, "term") == {"heronry", "egret plume"}


def test_a_proper_phrase_counts_once_it_is_repeated() -> None:
    page = (
        "# Birds\n\nThe Grey Heron wades. Young birds of the Grey Heron follow RFC 9309.\n"
        "It is not the Little Egret. They heed RFC 9309.\n"
    )

    assert names(page, "phrase") == {"Grey Heron", "RFC 9309"}


def test_japanese_pages_name_katakana_words_and_quoted_terms_they_repeat() -> None:
    page = (
        "# 水辺の鳥\n\nアオサギは魚を食べる。アオサギは「集団繁殖地」で巣を作る。"
        "「集団繁殖地」は高い木の上にある。シラサギは白い。\n"
    )

    assert names(page, "phrase") == {"アオサギ", "集団繁殖地"}
    assert names(page, "topic") == {"水辺の鳥"}


def test_two_spellings_of_a_name_are_one_entity() -> None:
    page = "# Task groups\n\nA Task Group waits. Every Task Group ends. `TaskGroup` is its class.\n"

    found = {(mention.name, mention.kind, mention.count) for mention in mentions(page)}

    assert found == {("Task groups", "topic", 3), ("TaskGroup", "symbol", 1)}


def test_a_page_of_very_many_names_gives_a_bounded_number() -> None:
    page = "# Index\n\n" + "\n\n".join(
        f"## name_{at}\n\n`other_{at}.call()`" for at in range(3_000)
    )

    found = mentions(page)

    assert len({mention.name for mention in found}) == MAX_ENTITIES
    assert len(found) <= MAX_MENTIONS


@settings(max_examples=60)
@given(st.text(alphabet="# *`[](){}:.-_ABCdef・アイウ「」。\n", max_size=300))
def test_any_text_gives_the_same_mentions_twice_each_of_a_section_it_has(text: str) -> None:
    page = extracted(f"# Birds\n\n{text}\n\nwade", "markdown")

    found = find_entities(page)

    assert found == find_entities(page)
    assert {mention.section for mention in found} <= {section.ordinal for section in page.sections}
    assert all(mention.count > 0 for mention in found)


def test_words_of_samples_are_no_entities() -> None:
    page = extracted(
        "# Forms\n\nPass `initial` and `my_field` to `self.clean()`, or `del obj.attr`, in `elif`.\n\n"
        "Set `max_length` on `CharField`, or run `loaddata`.\n\n## `loaddata` {#loaddata}\n\nLoads.\n",
        "markdown",
    )

    names = {each.name for each in find_entities(page) if each.kind == "symbol"}

    assert names >= {"max_length", "CharField", "loaddata"}
    assert not names & {"initial", "my_field", "self.clean", "obj.attr", "del obj.attr", "elif"}


def test_shouting_dates_and_exclamations_name_nothing() -> None:
    page = extracted(
        "# Licence\n\nTHE SOFTWARE IS PROVIDED AS IS. THE SOFTWARE IS PROVIDED. See HTTP and HTTP.\n\n"
        "## Jul 23, 2016\n\nText.\n\n## That is it!\n\nText.\n",
        "markdown",
    )

    assert {each.name for each in find_entities(page)} == {"Licence", "HTTP"}
