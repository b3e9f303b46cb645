"""The link of a quote names its words, and no others that stand before it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    assert fragment_of("| grey heron | fish, frogs |") == ("eats-,grey%20heron,frogs")


def test_the_text_of_a_link_is_grown_beyond_it_where_there_are_words() -> None:
    page = "Read [the long guide to wading](https://example.org/) before you wade in deep water.\n"
    start = page.index("[the long")

    assert text_fragment(page, start, len(page)) == (
        "the%20long%20guide%20to%20wading%20before%20you%20wade,in%20deep%20water"
    )


def test_a_padded_cell_that_repeats_is_told_apart() -> None:
    padding = " " * 60
    page = (
        f"| Status: | Base{padding} |\n| Module Identifier: | mime |\n\n# Directives\n\n"
        f"| Status: | Base{padding} |\n| Module: | mod_mime |\n\nIt removes handlers of files.\n"
    )

    fragment = text_fragment(page, page.index("| Module: |"), len(page) - 1)

    assert fragment is not None
    assert not fragment.startswith("Base-,Module")


def test_the_end_of_a_cell_is_one_word_for_it_may_hold_several_blocks() -> None:
    page = "| floor(numeric) Nearest integer below the argument floor(42.8) → 42 floor(1.5) → 7 |\n"

    assert text_fragment(page, 0, len(page) - 1) == "floor%28numeric,7"


def test_a_bar_in_the_code_of_a_cell_is_the_page_s_own() -> None:
    page = "| sign | means |\n| --- | --- |\n| `one \\|\\| two` | either |\n"

    assert fragment_of("| `one \\|\\| two` |", page) == "one%20%7C%7C%20two"


def test_a_short_cell_is_named_whole() -> None:
    page = "| Object Name | Description of the object |\n| --- | --- |\n| index | A property |\n"

    assert text_fragment(page, 0, len(page) - 1) == "Object%20Name,property"


def test_a_last_word_that_may_read_otherwise_has_a_directive_of_its_own() -> None:
    page = "You can say HEAD as often as you like, however you cannot say HEAD^@^2.\n"

    assert text_fragment(page, 0, len(page) - 1) == (
        "You%20can%20say,cannot%20say%20HEAD%5E@%5E2&text=You%20can%20say,you%20cannot%20say"
    )


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


def test_lines_that_the_page_has_above_are_told_apart_by_what_follows() -> None:
    page = "## Set\n\n| Syntax: | Set name |\n\n## Unset\n\n| Syntax: | Unset name, or several |\n"
    start = page.rindex("Syntax")

    assert text_fragment(page, start, len(page)) == (
        "Syntax:,-Unset%20name&text=Unset%20name%2C%20or,several"
    )


def test_a_line_that_a_menu_may_have_is_named_with_the_next() -> None:
    page = "**Notes**\n\nThe window is symmetric, unless told otherwise.\n"

    assert text_fragment(page, 0, len(page)) == (
        "Notes,-The%20window&text=The%20window%20is,unless%20told%20otherwise"
    )


@pytest.mark.parametrize(
    ("page", "quote", "fragment"),
    [
        (
            "It has these fields:\n\n| Index | Attribute |\n| --- | --- |\n| 0 | user_name |\n",
            "| Index | Attribute |\n| --- | --- |\n| 0 | user_name |",
            "these%20fields:-,Index,user_name",
        ),
        (
            "en | fr\n\n| Status: | Base |\n| --- | --- |\n| Module: | mod_mime |\n",
            "| Status: | Base |\n| --- | --- |\n| Module: | mod_mime |",
            "Status,mod_mime",
        ),
        (
            "# Fields\n\n| Index | Attribute |\n| --- | --- |\n| 0 | user_name |\n",
            "| Index | Attribute |\n| --- | --- |\n| 0 | user_name |",
            "Index,-Attribute&text=Index-,Attribute,user_name",
        ),
        (
            "[Tutorial 2.0 for all](t.html)\n\nThis page is a part of the guide to herons.\n",
            "[Tutorial 2.0 for all](t.html)\n\nThis page is a part of the guide to herons.",
            "Tutorial%202.0%20for%20all,-This%20page&text=This%20page%20is,guide%20to%20herons",
        ),
    ],
    ids=["header under a paragraph", "label that no menu has", "header under a heading", "link"],
)
def test_what_a_menu_may_have_is_named_with_its_surroundings(
    page: str, quote: str, fragment: str
) -> None:
    assert fragment_of(quote, page) == fragment


def test_an_end_that_the_quote_has_before_is_reached_from_a_term_in_between() -> None:
    page = "# f\n\nfirst of two\nInput array.\n\nthe_second\nInput array.\n\nReturns a number.\n"
    quote = page[page.index("first") : page.rindex("\n\nReturns")]

    assert fragment_of(quote, page) == "first%20of%20two,the_second&text=the_second,Input%20array"
    # A menu may well have a common word alone.
    assert fragment_of(quote.replace("the_", ""), page.replace("the_", "")) == (
        "first%20of%20two,Input%20array&text=Input%20array,Input%20array"
    )


def test_the_end_of_a_row_is_reached_from_a_cell_that_no_other_row_has() -> None:
    page = (
        "Columns of a view.\n\n| Column Type |\n|---|\n| `first_kind` Not available |\n"
        "| `other_kind` Not available |\n| `third_kind` Not available |\n"
    )
    quote = page[page.index("Columns") : page.index("\n| `third")]

    assert fragment_of(quote, page) == "Columns%20of%20a,other_kind&text=other_kind,available"


def test_a_signature_may_have_a_link_to_its_source_before_the_text() -> None:
    page = "# bird.Heron.wade\n\n**Heron.wade()**\n\nWalk through shallow water with long legs.\n"
    quote = page[page.index("**") :].strip()

    assert fragment_of(quote, page) == (
        "Heron.wade%28%29,-%5Bsource%5D&text=Heron.wade%28%29,-Walk%20through"
        "&text=Walk%20through%20shallow,with%20long%20legs"
    )


def test_a_class_is_not_taken_for_a_title_that_menus_have() -> None:
    page = "# Birds\n\n**class Heron**\n\nA bird that wades through shallow water.\n"
    quote = page[page.index("**") :].strip()

    assert fragment_of(quote, page) == "class%20Heron,through%20shallow%20water"


def test_emphasis_at_the_end_of_a_bold_term_leaves_no_star() -> None:
    page = "**`unit` *number***: Not used by this driver.\n"

    assert fragment_of(page.strip(), page) == (
        "unit%20number,-Not%20used&text=Not%20used%20by%20this%20driver"
    )


def test_code_that_repeats_itself_is_named_over_several_lines() -> None:
    page = "```\nif a {\n  go\n}\nif b {\n  go\n}\n```\n\n```\nif b {\n  stop\n}\n```\n"
    start, end = page.rindex("if b"), page.rindex("}")

    assert (
        text_fragment(page, 0, page.index("}\n```"))
        == "if%20a,go%0A%7D%0Aif%20b%20%7B%0A%20%20go&text=if%20a,go"
    )
    assert text_fragment(page, start, end) == "if%20b%20%7B%0A%20%20stop&text=stop"


def test_a_star_in_code_is_the_page_s_own() -> None:
    page = "**`git rm \\*.txt`**: Removes the files of all folders below this one.\n"

    assert text_fragment(page, 0, 20) == "git%20rm%20%5C%2A.txt"


def test_the_title_of_a_call_out_is_in_no_context() -> None:
    page = (
        "First, take the sum of the weights.\n\nSum of the weights\n\nℹ️ SEE ALSO:\n\n- quadrature\n"
    )

    assert (
        text_fragment(page, 0, page.rindex("weights") + 7)
        == "First%2C%20take%20the,the%20weights&text=the%20weights,of%20the%20weights"
    )


def test_a_line_of_dashes_below_a_title_is_not_skipped_by_a_suffix() -> None:
    page = (
        "Options\n\nOptions\n\n\\-\\-\\-\n\nExtra arguments of the function and of its jacobian.\n"
    )
    start = page.rindex("Options")

    fragment = text_fragment(page, start, page.index("jacobian") + 8)

    assert fragment is not None
    assert "Options,-Extra" not in fragment


def test_a_line_that_programs_repeat_is_named_by_the_lines_before_it() -> None:
    part = "send({})\nopen()\ncheck()\nclose()\n"
    page = "```\n" + part.format("a") + part.format("b") + "```\n"
    start = page.rindex("check")

    assert text_fragment(page, start, start + 7) == "send%28b%29%0Aopen%28%29-,check"


def test_a_term_of_code_does_not_cross_a_block_that_sphinx_begins() -> None:
    page = "```\nx = 1\nreturn x\n\ny = 1\nreturn x\n\n[docs]def wade(self):\n    return y\n```\n"
    start = page.rindex("return x")

    fragment = text_fragment(page, start, page.rindex("y") + 1)

    assert fragment is not None
    assert not any("docs%5D" in term and "return%20x" in term for term in fragment.split(","))


def test_code_inside_of_a_block_quote_is_named_without_its_marks() -> None:
    page = "A main.cf.\n\n> ```\n> main.cf:\n>     restrictions = none\n> ```\n\nThe end.\n"

    assert fragment_of("> main.cf:\n>     restrictions = none", page) == (
        "A%20main.cf.-,main.cf,restrictions%20=%20none"
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

    assert (
        fragment_of(quote, page) == "Heron%20wades%20slowly%20through%20shallow,water%20and%20mud"
    )


def test_emphasis_at_the_start_of_a_bold_term_leaves_no_star() -> None:
    page = "***z* = not (*x*)**: Return the logical NOT of *x* in all of its elements.\n"

    assert fragment_of(page.strip(), page) == "z%20=%20not%20%28x,of%20its%20elements"


def test_a_signature_of_javadoc_is_named_in_two_parts() -> None:
    page = "public void wade(int)\n\nWades.\n\npublic void wade(long ms)\n\nWades for a while.\n"
    quote = page[page.index("public void wade(long") :].strip()

    assert fragment_of(quote, page) == (
        "public%20void%20wade,-%28long&text=public%20void%20wade-,%28long,for%20a%20while"
    )


def test_a_definition_that_stands_above_is_not_taken_for_another() -> None:
    page = (
        "# init\n\n**uint id**: algorithm ID\n\n"
        + "Words.\n\n" * 12
        + "# fill\n\n**uint id**: algorithm ID\n\n**byte mac**: place to fill it\n"
    )
    quote = page[page.rindex("**uint id") :].strip()

    assert "algorithm" not in (fragment_of(quote, page) or "")


def test_the_link_back_before_a_program_is_not_needed_to_find_it() -> None:
    page = "```\n[docs]    def wade(self, depth):\n        return self.pond.enter(depth)\n```\n"
    quote = page[page.index("[docs]") : page.index("\n```")]

    assert (fragment_of(quote, page) or "").split("&text=")[-1].startswith("def%20wade")
