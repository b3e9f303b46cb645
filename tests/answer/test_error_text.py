"""Errors as text."""

from inline_snapshot import snapshot

from citewell.answer.error_text import format_error, format_research_error
from citewell.core.errors import BudgetExceeded, InvalidArgument, PageNotFound, ToolTimeout


def test_a_failure_names_its_type_and_asks_not_to_answer_from_memory() -> None:
    assert format_research_error(PageNotFound("https://example.org/x answered 404.")) == snapshot("""\
[ERROR]
Citewell encountered an error during retrieval.

Error type: PageNotFound
Code: NOT_FOUND
Details: https://example.org/x answered 404.

The knowledge retrieval service was unable to complete this query. Possible causes:
- The URL may be unreachable or return an error.

Suggestion: Check the URL; the page may have moved.

Please inform the user of this error. Do not attempt to answer from memory — the tool was called because specific source material was needed.\
""")


def test_a_timeout_suggests_what_to_leave_out() -> None:
    assert format_research_error(ToolTimeout("Citewell timed out after 120s.")) == snapshot("""\
[ERROR]
Citewell timed out after 120s.

The orchestration pipeline did not complete within the allowed time. This may indicate:
- A very large page requiring extensive indexing.
- Many expansion iterations with slow external APIs.
- Network latency to external services.

Suggestion: Retry with expansion_budget=0 to skip expansion, or try a more specific URL.\
""")


def test_a_wrong_argument_is_told_briefly() -> None:
    text = format_research_error(InvalidArgument("Invalid arguments: query: Field required"))

    assert text == snapshot("""\
[ERROR]
Invalid arguments: query: Field required

Code: INVALID_ARGUMENT
Suggestion: Correct the named argument and call again.\
""")


def test_a_failure_of_another_tool_is_told_briefly() -> None:
    assert format_error(PageNotFound("https://example.org/x answered 404.")) == snapshot("""\
[ERROR]
https://example.org/x answered 404.

Code: NOT_FOUND
Suggestion: Check the URL; the page may have moved.\
""")


def test_arguments_that_are_too_long_are_blamed_on_nothing_else() -> None:
    error = BudgetExceeded("The arguments are 600,000 bytes; at most 500,000 are taken.")

    assert format_research_error(error) == format_error(error)
