"""A question that names a symbol gets its definition first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.drafts import draft, draft_of
from tests.store.backends import BACKENDS, empty_store

from citewell.answer.quote import QuoteLimits
from citewell.core.records import RankedChunk, SearchFilter
from citewell.ingest.packages.package_page import PackagePage
from citewell.research.read_path import judge_parts, quote_evidence
from citewell.research.support import absent_words
from citewell.retrieve.pipeline import Models, Options, Retrieval, retrieve
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

ALL = SearchFilter(project="default")
MENTIONS = "Call Heron.wade in shallow water: wade, then wade again, and Heron.wade once more."


@pytest.fixture(params=BACKENDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    async with empty_store(request.param, tmp_path) as opened:
        for number in range(3):
            await opened.put_page(draft(f"https://birds.example/{number}", f"{MENTIONS} {number}."))
        await opened.put_page(
            draft(
                "https://birds.example/api",
                "**wade(depth: float = 0.5)**\n\nWalk into the pond. It is cold there.",
                heading="birds.Heron.wade",
            )
        )
        await opened.put_page(
            draft("https://birds.example/cli", "**--depth**\n\nIn metres.", heading="--depth")
        )
        yield opened


async def first_quote(store: Store, question: str) -> tuple[str, bool]:
    models = Models(embedder=None, reranker=None)
    found = await retrieve(
        question, store=store, models=models, where=ALL, options=Options(limit=9)
    )
    judged = await judge_parts(found, (question,), embedder=None)
    quotes = await quote_evidence(
        found, (question,), judged=judged, limits=QuoteLimits(), embedder=None
    )
    return quotes[0].text, judged[question].judgement.is_supported


@pytest.mark.parametrize(
    "question",
    [
        "birds.Heron.wade",
        "Heron.wade",
        "heron.WADE()",
        "wade",
        "birds wade",
        "wade in heron",
        "What does Heron.wade do?",
        "What is birds::Heron::wade?",
        "What are the parameters of `wade`?",
    ],
)
async def test_the_definition_is_the_first_quote(store: Store, question: str) -> None:
    quote, is_supported = await first_quote(store, question)

    assert quote == "**wade(depth: float = 0.5)**\n\nWalk into the pond."
    assert is_supported


async def test_a_question_beyond_what_a_symbol_is_gets_the_paragraph_of_its_definition(
    store: Store,
) -> None:
    quote, _ = await first_quote(store, "Heron.wade() - is it cold there?")

    assert quote == "**wade(depth: float = 0.5)**\n\nWalk into the pond. It is cold there."


async def test_an_option_is_a_symbol(store: Store) -> None:
    assert (await first_quote(store, "--depth"))[0] == "**--depth**\n\nIn metres."


async def test_a_page_that_is_read_again_keeps_only_its_present_symbols(store: Store) -> None:
    await store.put_page(
        draft("https://birds.example/api", "**fly(height)**\n\nRise.", heading="birds.Heron.fly")
    )

    wading = await store.symbols.symbols_named(["wade"], where=ALL, limit=9)
    [flying] = await store.symbols.symbols_named(["fly"], where=ALL, limit=9)

    assert wading == []
    assert (flying.full_name, flying.start) == ("birds.Heron.fly", 0)


async def test_symbols_outside_the_filter_are_not_found(store: Store) -> None:
    where = SearchFilter(project="default", url_prefix="https://birds.example/cli")

    assert await store.symbols.symbols_named(["wade"], where=where, limit=9) == []


BASE = """## `birds.Bird.fly` {#Bird.fly}

```python
def fly(height)
```

Rise.
"""
DERIVED = """## `birds.Heron` {#Heron}

```python
class Heron(Bird)
```

A grey bird.

Inherits from `birds.Animal`, `birds.Bird`.
"""
LEGACY = """## `birds.v1.Bird.fly` {#Bird.fly}

```python
def fly(metres)
```

Rise as before.
"""


@pytest.fixture
async def package(store: Store) -> Store:
    for name, text in {"base": BASE, "derived": DERIVED, "legacy": LEGACY}.items():
        heading = text.partition("`")[2].partition("`")[0]
        url = f"pypi:birds@1/birds.{name}"
        await store.put_page(draft(url, text, heading=heading))
    return store


async def test_a_deprecated_definition_comes_after_one_in_use(store: Store) -> None:
    for name, note in (("old", "\n- **deprecated** Use the other.\n"), ("zed", "\nJoin them.\n")):
        text = f"## `pipe` {{#pipe}}\n\n```ts\nfunction pipe(): {name}\n```\n{note}"
        await store.put_page(draft(f"npm:egret@1/{name}.d.ts", text, heading="pipe"))

    assert (await first_quote(store, "pipe"))[0].startswith("```ts\nfunction pipe(): zed\n```")


async def test_of_two_cases_of_a_name_the_one_asked_for_comes_first(store: Store) -> None:
    for name in ("Herd.pipe", "herd.pipe"):
        text = f"## `{name}` {{#{name}}}\n\n```python\ndef pipe({name[0]})\n```\n"
        await store.put_page(draft(f"pypi:egret@1/{name}", text, heading=f"egret.{name}"))

    assert (await first_quote(store, "herd.pipe"))[0] == "```python\ndef pipe(h)\n```"
    assert (await first_quote(store, "Herd.pipe"))[0] == "```python\ndef pipe(H)\n```"


async def test_a_short_alias_means_what_a_package_exports_itself(store: Store) -> None:
    text = "## `{name}` {{#pipe}}\n\n```ts\nfunction pipe(): {of}\n```\n"
    pages = {
        "npm:zed@1/index.d.ts": ("pipe", "zed"),
        "npm:valid@1/index.d.ts": ("pipe", "valid"),
        "npm:valid@1/v3.d.ts": ("v3.pipe", "old"),
        "npm:valid@1/mini.d.ts": ("mini.pipe", "mini"),
        "npm:valid@1/deep.d.ts": ("deep.pipe", "deep"),
    }
    for url, (name, of) in pages.items():
        await store.put_page(draft(url, text.format(name=name, of=of), heading=name))

    assert (await first_quote(store, "v.pipe"))[0] == "```ts\nfunction pipe(): valid\n```"
    assert (await first_quote(store, "z.pipe"))[0] == "```ts\nfunction pipe(): zed\n```"


async def retrieved(store: Store, question: str) -> Retrieval:
    models = Models(embedder=None, reranker=None)
    return await retrieve(question, store=store, models=models, where=ALL, options=Options(limit=9))


async def notes_on(store: Store, question: str) -> tuple[str, ...]:
    return (await retrieved(store, question)).notes


async def ranked_for(store: Store, question: str) -> tuple[RankedChunk, ...]:
    return (await retrieved(store, question)).ranked


async def test_an_inherited_method_leads_to_its_definition(package: Store) -> None:
    quote, _ = await first_quote(package, "birds.Heron.fly")

    assert quote == "```python\ndef fly(height)\n```\n\nRise."
    assert "birds.Heron.fly is defined as birds.Bird.fly." in await notes_on(
        package, "birds.Heron.fly"
    )


@pytest.mark.parametrize("question", ["fly", "Bird.fly", "bird fly"])
async def test_legacy_definitions_come_after_those_in_use(package: Store, question: str) -> None:
    quote, _ = await first_quote(package, question)

    assert quote == "```python\ndef fly(height)\n```\n\nRise."


async def test_a_legacy_definition_is_found_by_its_whole_name(package: Store) -> None:
    quote, _ = await first_quote(package, "birds.v1.Bird.fly")

    assert quote == "```python\ndef fly(metres)\n```\n\nRise as before."


async def test_an_unknown_owner_is_told_where_the_method_is(package: Store) -> None:
    said = await notes_on(package, "Pond.fly")

    assert any(
        note.startswith("Pond.fly is not indexed under this name; found was birds.Bird.fly")
        for note in said
    )


ALIAS = """## `ponds.exp` {#exp}

```python
import ponds.expressions as exp
```

## `ponds.expressions.Query.where` {#Query.where}

```python
def where(condition)
```

Keep what holds.

## `ponds.expressions.Select` {#Select}

```python
class Select(Query)
```

Inherits from `ponds.expressions.Query`.
"""


@pytest.mark.parametrize("question", ["exp.Select.where", "ponds.exp.Select.where"])
async def test_a_method_inherited_in_a_module_with_another_name_is_found(
    store: Store, question: str
) -> None:
    text = ALIAS
    for kind in ("Delete", "Update", "Merge"):
        text += f"\n## `ponds.expressions.{kind}.where` {{#{kind}.where}}\n\n```python\ndef where({kind})\n```\n"
    page = PackagePage(address="pypi:ponds@1/ponds", stamp="1", render=lambda: text)
    fetched = page.load()
    assert fetched is not None
    await store.put_page(draft_of(fetched))

    quote, is_supported = await first_quote(store, question)
    notes = await notes_on(store, question)
    ranked = await ranked_for(store, question)

    assert quote == "```python\ndef where(condition)\n```\n\nKeep what holds."
    assert is_supported
    assert notes == (f"{question} is defined as ponds.expressions.Query.where.",)
    assert absent_words(question, ranked, notes=notes) == []
    assert absent_words(question, ranked) == [question]


async def test_what_nothing_exports_is_not_too_common_for_what_a_package_exports(
    store: Store,
) -> None:
    text = "## `{name}` {{#pipe}}\n\n```ts\nfunction pipe(): {of}\n```\n"
    own = text.format(name="pipe", of="own") + "\nIt joins what is given to it.\n" * 20
    await store.put_page(draft("npm:egret@1/pipe.d.ts", own, heading="pipe"))
    for number in range(41):
        shown = text.format(name="internal.pipe", of=f"locale{number}")
        url = f"npm:egret@1/locale/{number}.d.ts"
        await store.put_page(draft(url, shown, heading="internal.pipe"))

    assert (await first_quote(store, "pipe"))[0].startswith("```ts\nfunction pipe(): own\n```")


async def test_what_a_module_exports_comes_before_the_same_name_further_inside(
    store: Store,
) -> None:
    for name, words in (
        ("core.pipe", "pipe pipe pipe"),
        ("Herd.pipe", "Of a herd."),
        ("pipe", "Join."),
    ):
        text = f"## `{name}` {{#pipe}}\n\n```ts\nfunction pipe(): {name}\n```\n\n{words}\n"
        await store.put_page(draft(f"npm:egret@1/{name}.d.ts", text, heading=name))

    ranked = await ranked_for(store, "pipe")

    assert {each.chunk.heading_path for each in ranked[:2]} == {("pipe",), ("Herd.pipe",)}
