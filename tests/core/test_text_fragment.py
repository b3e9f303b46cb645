"""The link of a quote names its words, and no others that stand before it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.core.screen import BLOCK, pack_screen
from citewell.core.text_fragment import link_to_quote, text_fragment

PAGE = """# Herons

Herons wade in shallow water. The grey heron stands still for a long time, and then strikes.

## Food

| bird | eats |
| --- | --- |
| grey heron | fish, frogs |
| [cattle egret](https://example.org/egret) | insects |

```
print("stands still")
```

The grey heron stands still in the *evening*, too.
"""


def fragment_of(quote: str, page: str = PAGE) -> str | None:
    start = page.index(quote)
    return text_fragment(page, start, start + len(quote))


def test_a_short_quote_is_its_own_term() -> None:
    assert fragment_of("Herons wade in shallow water.") == "Herons%20wade%20in%20shallow%20water"


def test_a_long_quote_is_named_by_its_first_and_last_words() -> None:
    quote = "Herons wade in shallow water. The grey heron stands still for a long time"

    assert fragment_of(quote) == "Herons%20wade%20in,a%20long%20time"


def test_words_that_stand_on_the_page_before_are_told_apart() -> None:
    assert fragment_of("The grey heron stands still in the *evening*, too.") == (
        "The%20grey%20heron%20stands%20still%20in%20the%20evening,too"
    )
    assert fragment_of('print("stands still")\n```\n\nThe grey heron') == (
        "print%28%22stands%20still,The%20grey%20heron"
    )


def test_a_quote_that_cannot_grow_gets_the_words_before_it() -> None:
    page = "One bird.\n\nSee below.\n\nAnother bird.\n\nSee below.\n"
    start = page.rindex("See below")

    assert text_fragment(page, start, start + 10) == "Another%20bird.-,See%20below"


def test_each_cell_of_a_table_is_a_block() -> None:
    assert fragment_of("| grey heron | fish, frogs |") == ("eats-,grey%20heron,fish%2C%20frogs")


def test_a_padded_cell_that_repeats_is_told_apart() -> None:
    padding = " " * 60
    page = (
        f"| Status: | Base{padding} |\n| Module Identifier: | mime |\n\n# Directives\n\n"
        f"| Status: | Base{padding} |\n| Module: | mod_mime |\n\nIt removes handlers of files.\n"
    )

    fragment = text_fragment(page, page.index("| Module: |"), len(page) - 1)

    assert fragment is not None
    assert not fragment.startswith("Base-,Module")


def test_a_bar_in_the_code_of_a_cell_is_the_page_s_own() -> None:
    page = "| sign | means |\n| --- | --- |\n| `one \\|\\| two` | either |\n"

    assert fragment_of("| `one \\|\\| two` |", page) == "one%20%7C%7C%20two"


def test_a_short_cell_is_named_whole() -> None:
    page = "| Object Name | Description of the object |\n| --- | --- |\n| index | A property |\n"

    assert text_fragment(page, 0, len(page) - 1) == "Object%20Name,A%20property"


def test_a_quote_within_japanese_words_is_cut_where_the_script_changes() -> None:
    page = "鷺は浅いネットワークで魚を待ちながら動かない。\n"

    assert text_fragment(page, page.index("ネット"), page.index("で魚")) == "ネットワーク"
    assert text_fragment(page, page.index("ネット"), page.index("ち")) == (
        "ネットワークで魚を待ちながら動かない"
    )


def test_the_text_of_a_link_may_have_brackets() -> None:
    page = "RFC 2060, [[1]](https://example.org/a), [[12]](https://example.org/b) and more.\n"

    assert text_fragment(page, 0, page.index(" and")) == "RFC%202060%2C%20%5B1%5D%2C%20%5B12"


def test_separators_of_the_directive_are_encoded() -> None:
    assert fragment_of("a-b, c & d", "Write a-b, c & d here.") == "a%2Db%2C%20c%20%26%20d"


def test_a_term_and_its_definition_are_two_blocks() -> None:
    page = "**--all**: Pack everything that is there.\n"

    assert text_fragment(page, 0, len(page)) == "all,that%20is%20there"


def test_a_star_of_the_page_is_kept_and_one_of_markdown_is_not() -> None:
    page = "**msg(text, *args)**\n\nPrints *the text* and more of the arguments.\n"

    assert text_fragment(page, page.index("Prints"), len(page)) == (
        "Prints%20the%20text,of%20the%20arguments"
    )
    assert text_fragment(page, 0, 20) == "msg%28text%2C%20%2Aargs"


def test_japanese_is_cut_only_where_words_surely_end() -> None:
    page = "鷺は浅い水辺で魚を待ち、長いあいだ動かない。夕方になると、群れで森へ帰っていく。\n"

    assert text_fragment(page, 0, len(page) - 1) == ("鷺は浅い水辺で魚を待ち,群れで森へ帰っていく")


def test_a_quote_without_words_leads_to_its_section() -> None:
    page = "# Signs\n\n***\n\n---\n"

    assert (
        link_to_quote("https://example.org/", "signs", page, 9, 12) == "https://example.org/#signs"
    )
    assert link_to_quote("https://example.org/", None, page, 9, 12) == "https://example.org/"


def test_the_anchor_comes_before_the_words() -> None:
    start = PAGE.index("Herons wade")
    link = link_to_quote("https://example.org/h", "herons", PAGE, start, start + 11)

    assert link == "https://example.org/h#herons:~:text=Herons%20wade"


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab *`|[]()\n-#.鷺、_\\", max_size=200), st.data())
def test_any_slice_of_any_text_has_a_well_formed_fragment_or_none(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    fragment = text_fragment(text, start, end)

    assert fragment is None or not set(fragment.replace("&text=", "")) & set(" \n()[]*`|&#\\")


@pytest.mark.parametrize("mark", ["[", "*", "`", "![", "](", "**", "| "])
def test_a_page_of_marks_takes_no_time(mark: str) -> None:
    page = mark * 100_000

    assert text_fragment(page, 0, len(page)) is None


def test_formulas_and_arguments_are_not_taken_for_markup() -> None:
    page = "**fit(x, *args, **kwds)**\n\nFor $x > 0$ the integral is understood as a value of its own.\n"

    assert text_fragment(page, 0, 24) == "fit%28x%2C%20%2Aargs%2C%20%2A%2Akwds"
    assert text_fragment(page, page.index("For"), len(page)) == "For,of%20its%20own"


def test_a_star_in_code_is_the_page_s_own() -> None:
    page = "**`git rm \\*.txt`**: Removes the files of all folders below this one.\n"

    assert text_fragment(page, 0, 20) == "git%20rm%20%5C%2A.txt"


def test_a_line_of_dashes_below_a_title_is_not_skipped_by_a_suffix() -> None:
    page = (
        "Options\n\nOptions\n\n\\-\\-\\-\n\nExtra arguments of the function and of its jacobian.\n"
    )
    start = page.rindex("Options")

    fragment = text_fragment(page, start, page.index("jacobian") + 8)

    assert fragment is not None
    assert "Options,-Extra" not in fragment


def test_code_inside_of_a_block_quote_is_named_without_its_marks() -> None:
    page = "A main.cf.\n\n> ```\n> main.cf:\n>     restrictions = none\n> ```\n\nThe end.\n"

    assert fragment_of("> main.cf:\n>     restrictions = none", page) == (
        "main.cf:,restrictions%20=%20none"
    )


def test_a_row_below_the_same_header_as_before_is_told_apart_by_what_follows() -> None:
    table = "| type | legacy |\n|------|------|\n| word | none |\n"
    page = f"# a\n\n{table}\nThe name.\n\n# b\n\n{table}\nThe address.\n"
    start = page.rindex("| word")

    fragment = text_fragment(page, start, page.rindex(".") + 1)

    assert fragment is not None
    assert not fragment.startswith("legacy-,word")


def test_code_that_opens_an_item_is_left_where_it_ends() -> None:
    page = (
        "- ```\n  wade(heron)\n  ```\n\n**Heron** wades slowly through *shallow* water and mud.\n"
    )
    quote = page[page.index("**") :].strip()

    assert fragment_of(quote, page) == "Heron%20wades%20slowly,water%20and%20mud"


def test_emphasis_at_the_start_of_a_bold_term_leaves_no_star() -> None:
    page = "***z* = not (*x*)**: Return the logical NOT of *x* in all of its elements.\n"

    assert fragment_of(page.strip(), page) == "z%20=%20not%20%28x,of%20its%20elements"


def test_a_dollar_inside_of_a_word_begins_no_formula() -> None:
    page = "Try M$Windows with two axes. The first M$Windows stick.\n"

    assert fragment_of("M$Windows with two axes. The first M$Windows", page) == (
        "M$Windows%20with%20two,The%20first%20M$Windows"
    )


def test_what_repeats_with_its_neighbours_is_named_with_the_nearest_words_that_do_not() -> None:
    rows = "| name | about |\n| --- | --- |\n| bird | A bird. |\n| {} | A number. |\n\nReturns 0."
    page = "\n\n".join(
        f"Sets the {what} of a bird.\n\nParameters\n\n{rows.format(what)}\n\nWaits."
        for what in ("age", "weight")
    )

    start = page.rindex("| bird")
    assert text_fragment(page, start, page.rindex("\n\nReturns")) == "weight%20of%20a,A%20number"


def test_the_sign_of_a_call_out_is_no_word_of_its_further_paragraphs() -> None:
    shown = "See also", "iv", "of the first kind", "i1e", "Scaled function of the order 1"
    screen = pack_screen(BLOCK.join(shown))
    page = "ℹ️ SEE ALSO: **iv**: of the first kind\n\nℹ️ **i1e**: Scaled function of the order 1\n"
    start = page.rindex("ℹ️")

    fragment = text_fragment(page, start, len(page) - 1, screen=screen)

    assert fragment is not None
    assert fragment.startswith("i1e")
