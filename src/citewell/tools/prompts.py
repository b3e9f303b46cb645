"""Prompts, which hosts offer to users as slash commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.errors import InvalidArgument, NotFound
from citewell.core.frozen import frozen
from citewell.tools.toolsets import spell_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_ARGUMENT_CHARACTERS = 5_000


@frozen
class PromptArgument:
    """An argument of a prompt; all are required."""

    name: str
    description: str
    is_url: bool = False


@frozen
class Prompt:
    """A template with placeholders for arguments and for the names of the tools it uses."""

    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...]
    tools: tuple[str, ...]
    """Dotted names; a server that lacks one of them does not offer the prompt."""
    template: str


PROMPTS = (
    Prompt(
        name="research",
        title="Research a question",
        description="Answer a question from a page and those it links to, with citations.",
        arguments=(
            PromptArgument(name="url", description="Page to start from.", is_url=True),
            PromptArgument(name="question", description="What you want to know."),
        ),
        tools=("answer", "search", "kb.verify_quote"),
        template="""\
Answer this question from what web pages say: {question}

1. Call `{answer}` with url "{url}" and the question. It reads the page and follows its links.
2. If part of the question is still open, call `{search}` with that part alone; if nothing is \
found, say so.
3. Before you quote words that are not in the results, check them with `{kb_verify_quote}`.

Write the answer first, in the language of the question. After each statement name its source as \
[n], and end with the list of sources and their URLs. Add nothing that the sources do not say.""",
    ),
    Prompt(
        name="compare",
        title="Compare two pages",
        description="Set side by side what two pages say on one topic.",
        arguments=(
            PromptArgument(name="url_a", description="The first page.", is_url=True),
            PromptArgument(name="url_b", description="The second page.", is_url=True),
            PromptArgument(name="topic", description="What to compare."),
        ),
        tools=("ingest", "search"),
        template="""\
Compare what these two pages say about: {topic}

A: {url_a}
B: {url_b}

1. Call `{ingest}` with both URLs.
2. Call `{search}` twice with the topic as query: once with source_urls ["{url_a}"], once with \
source_urls ["{url_b}"].
3. For a point that only one page seems to cover, call `{search}` with that point as query and \
the other page as source_urls before you say that the other is silent.

Answer with a table of the points, one column for A and one for B, each cell with a short quote. \
Below it say in a few sentences where the pages agree, where they differ and what only one of \
them has. Cite the section of each quote.""",
    ),
    Prompt(
        name="explain_page",
        title="Explain a page",
        description="Say what a page is about, section by section, with quotes.",
        arguments=(PromptArgument(name="url", description="The page.", is_url=True),),
        tools=("answer", "search"),
        template="""\
Explain the page {url} to someone who has not read it.

1. Call `{answer}` with url "{url}", query "What is this page about, and what are its main \
points?" and expansion_budget 0, so that no other page is read.
2. For a section that looks important but has no evidence yet, call `{search}` with the \
section's heading as query and source_urls ["{url}"].

Begin with one sentence on what the page is for. Then go through its main points in the order of \
the page, each with a short quote. End with what a reader should do or remember.""",
    ),
    Prompt(
        name="add_site",
        title="Add a site",
        description="Add a whole site to the library, so that it can be searched.",
        arguments=(
            PromptArgument(
                name="url", description="Home page or table of contents of the site.", is_url=True
            ),
        ),
        tools=("ingest", "status"),
        template="""\
Add the whole site at {url} to the library, so that it can be searched.

1. Call `{ingest}` with url "{url}" and whole_site true.
2. If it goes on in the background, call `{status}` with source_url "{url}" to see how far it is; \
do not call `{ingest}` again.
3. Say how many pages are indexed, and what could not be read, and why.

Do not answer any other question yet.""",
    ),
    Prompt(
        name="check_citation",
        title="Check a citation",
        description="Find out whether a page really says what is quoted from it.",
        arguments=(
            PromptArgument(name="quote", description="The quoted words."),
            PromptArgument(name="url", description="Page they are said to be from.", is_url=True),
        ),
        tools=("kb.verify_quote", "search"),
        template="""\
Check whether the page {url} says this, word for word:

"{quote}"

1. Call `{kb_verify_quote}` with the quote, url "{url}" and live true: it fetches the page.
2. If the verdict is changed or gone, call `{search}` with the quote as query and source_urls \
["{url}"] to find what the page says instead.

Say first whether the citation holds: exact, moved, changed or gone. Then show the words of the \
page beside those of the quote, and say whether the difference changes the meaning.""",
    ),
)


def offered_prompts(tools: Iterable[str]) -> list[Prompt]:
    """Return the prompts that need no other than these tools, given by dotted names."""
    listed = set(tools)
    return [prompt for prompt in PROMPTS if listed.issuperset(prompt.tools)]


def write_prompt(
    prompts: Sequence[Prompt], name: str, *, arguments: Mapping[str, str], dotted: bool
) -> tuple[Prompt, str]:
    """Return a prompt and its text, with tools named as the server lists them.

    Raises:
        NotFound: there is no such prompt.
        InvalidArgument: an argument is missing, unknown, empty or too long.
    """
    named = [prompt for prompt in prompts if prompt.name == name]
    if not named:
        known = ", ".join(prompt.name for prompt in prompts)
        raise NotFound(f"There is no prompt {name[:80]!r}.", suggestion=f"Prompts: {known}.")
    prompt = named[0]
    wanted = [argument.name for argument in prompt.arguments]
    unknown = set(arguments) - set(wanted)
    if unknown:
        listed = ", ".join(wanted)
        raise InvalidArgument(f"{name} has no {min(unknown)[:80]!r}; it takes: {listed}.")
    filled = {argument: arguments.get(argument, "").strip() for argument in wanted}
    for argument, value in filled.items():
        if not value:
            raise InvalidArgument(f"{name} needs the argument {argument}.")
        if len(value) > MAX_ARGUMENT_CHARACTERS:
            limit = MAX_ARGUMENT_CHARACTERS
            raise InvalidArgument(f"{argument} is longer than {limit:,} characters.")
    tools = {
        spell_name(tool, dotted=False): spell_name(tool, dotted=dotted) for tool in prompt.tools
    }
    return prompt, prompt.template.format(**tools, **filled)
