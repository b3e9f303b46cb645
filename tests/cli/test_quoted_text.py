"""How quotes are set on a terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from citewell.cli.citations import _quoted_lines
from citewell.cli.comparison_view import print_comparison
from citewell.cli.quoted_text import as_markdown, shorten
from citewell.core.page_slice import opening_of

SCRIPT = """Run it daily:

```bash
borg prune \\
    --keep-daily 7 \\
    --keep-weekly 4
if true; then
    echo done
fi
```

After that it rests.
"""


def shown(text: str, opening: str = "") -> list[str]:
    console = Console(file=StringIO(), width=60)
    console.print(as_markdown(text, opening))
    assert isinstance(console.file, StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def shown_slice(text: str, first: str, last: str) -> list[str]:
    start, end = text.index(first), text.index(last) + len(last)
    return shown(text[start:end], opening_of(text, start))


def test_a_part_of_code_is_shown_as_code() -> None:
    lines = [line.strip() for line in shown_slice(SCRIPT, "    --keep-daily", "\nfi")]

    assert lines == ["--keep-daily 7 \\", "--keep-weekly 4", "if true; then", "echo done", "fi"]


def test_prose_after_a_part_of_code_is_prose() -> None:
    lines = shown_slice(SCRIPT, "fi\n", "rests.")

    assert lines == [" fi", "", "After that it rests."]


def test_code_in_an_item_keeps_its_own_indentation() -> None:
    text = "1. Do:\n\n     ```\n     if x:\n         go()\n     ```\n\n     Then rest.\n"

    assert shown_slice(text, "     if x", "go()") == [" if x:", "     go()"]


QUOTED_CODE = """> Run:
>
> ```bash
> cat <file> \\
>    [a](b)
> if x; then
>    go
> fi
> ```
>
> Then rest.
"""


def test_code_in_a_block_quote_is_shown_as_it_is() -> None:
    lines = ["▌ Run:", "▌  cat <file> \\", "▌     [a](b)", "▌  if x; then", "▌     go", "▌  fi"]

    assert shown(QUOTED_CODE) == [*lines, "▌ Then rest."]


def test_a_part_of_code_in_a_block_quote_is_shown_as_code() -> None:
    code = [" if x; then", "    go", " fi"]

    assert shown_slice(QUOTED_CODE, "> if x", "> fi") == code
    assert shown_slice(QUOTED_CODE, "if x", "> fi") == code
    assert shown_slice(QUOTED_CODE, "if x", "rest.") == [*code, "", "▌ Then rest."]


def test_brackets_in_code_are_no_link() -> None:
    assert shown("```\nhandlers[0](event)\n```") == [" handlers[0](event)"]


def test_one_blank_line_parts_code_from_text() -> None:
    assert shown("Say:\n\n```\ngo\n```\n\nThen:\n") == ["Say:", "", " go", "", "Then:"]


def test_rows_are_shown_below_the_names_of_their_columns() -> None:
    text = "| Name | Use |\n| --- | --- |\n| port | 8080 |\n| host | any |\n"
    lines = [line.split() for line in shown_slice(text, "| port", "any |") if line]

    assert lines[0] == ["Name", "Use"]
    assert lines[-2:] == [["port", "8080"], ["host", "any"]]


def test_rows_without_a_header_stand_below_each_other() -> None:
    lines = ["port  8080", "host  any"]

    assert shown("| port | 8080 |\n| host | any |") == lines
    assert shown("|  |  |\n| --- | --- |\n| port | 8080 |\n| host | any |") == lines


def test_a_cut_shows_code_with_what_leads_in_to_it() -> None:
    prose = "\n\n".join(f"Sentence {number}." for number in range(13))
    code = "\n".join(f"line {number}" for number in range(10))
    text = f"{prose}\n\nRemove it using:\n\n```\n{code}\n```\n\nMore.\n\nAnd more.\n"

    kept, omitted = shorten(text)

    assert "line 9" in kept
    assert omitted == 2


def test_blank_lines_do_not_count_as_lines() -> None:
    text = "\n\n".join(f"Sentence {number}." for number in range(16))

    assert shorten(text) == (text, 0)


def test_a_cut_part_of_long_code_says_how_many_lines_follow() -> None:
    kept, omitted = shorten("\n".join(f"line {number}" for number in range(40)), "```\n")

    assert kept.count("\n") == 13
    assert omitted == 26


def test_citations_of_code_keep_its_lines() -> None:
    assert _quoted_lines("Run:\n\n```sh\nborg prune \\\n    --keep 7\n```") == [
        "Run:",
        "borg prune \\",
        "    --keep 7",
    ]


def test_a_comparison_has_no_marks_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    quote = {"section": "wade", "url": "pypi:herons@1.2.0/herons", "text": "**wade(depth: int)**"}
    difference = "**wade(depth: [-int-]{+float+})**\n\n```\nif x:\n    go()\n```"
    print_comparison(
        {
            "product": "herons",
            "old_version": "1.2.0",
            "new_version": "2.0.0",
            "pairs": [{"old": quote, "new": quote, "difference": difference}],
            "release_notes": [],
        }
    )

    shown = capsys.readouterr().out
    assert "wade(depth: [-int-]{+float+})\n\nif x:\n    go()\n" in shown
    assert "**" not in shown
