"""`compare_versions`: paired exact quotes of two versions."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.drafts import draft
from tests.ingest.fetched import fetched
from tests.tools.library import ME, Library, open_library

from citewell.core.records import PageDraft
from citewell.core.releases import Release
from citewell.ingest.reading import read_page
from citewell.tools.tool import Call
from citewell.tools.webapp.handed_out import list_handed_out

pytestmark = pytest.mark.anyio

OLD = "**wade(depth: int)**\n\nWalk into the pond, slowly."
NEW = "**wade(depth: float = 0.5)**\n\nWalk into the pond, slowly."
SAME = "**nest()**\n\nBuild a nest in a tall tree."
NOTES = "Since 2.0 the depth of wade may be a fraction of a metre."


@pytest.fixture
async def library() -> AsyncIterator[Library]:
    async with open_library() as opened:
        for version, text in (("1.2.0", OLD), ("2.0.0", NEW)):
            base = f"pypi:herons@{version}"
            await opened.parts.store.put_page(
                draft(f"{base}/herons", text, title="herons", heading="herons.wade")
            )
            await opened.parts.store.put_page(
                draft(f"{base}/herons.nests", SAME, heading="herons.nests.nest")
            )
        await opened.parts.store.put_page(
            draft("pypi:herons@2.0.0/docs/changelog.md", NOTES, title="Changelog")
        )
        await opened.parts.store.put_page(draft("pypi:herons@2.0.0/fly", "Fly.", title="fly"))
        yield opened


async def test_a_symbol_is_compared_by_its_definitions(library: Library) -> None:
    compared = await library.call("compare_versions", subject="Wade")

    assert (compared["old_version"], compared["new_version"]) == ("1.2.0", "2.0.0")
    [pair] = compared["pairs"]
    assert pair["old"]["text"] == "**wade(depth: int)**"
    assert pair["new"]["text"] == "**wade(depth: float = 0.5)**"
    assert pair["difference"] == "**wade(depth: [-int-]{+float = 0.5+})**"
    assert OLD[pair["old"]["start"] : pair["old"]["end"]] == pair["old"]["text"]
    assert [note["text"] for note in compared["release_notes"]] == [NOTES]


async def test_what_the_code_of_a_class_lists_is_compared_by_itself(library: Library) -> None:
    for version, method in (("1.2.0", "def fly()"), ("2.0.0", "def fly(high: bool)")):
        code = f"class Bird\ndef eat()\n{method}"
        text = f"# birds\n\n## `birds.Bird` {{#Bird}}\n\n```python\n{code}\n```\n\nA {version}.\n"
        await put_markdown(library, text, url=f"pypi:herons@{version}/birds")

    compared = await library.call("compare_versions", subject="Bird.fly")

    [pair] = compared["pairs"]
    assert pair["difference"] == "def fly({+high: bool+})"


async def test_a_name_that_is_only_a_part_of_another_is_not_compared(library: Library) -> None:
    for version, text in (("1.2.0", "**stand_by()**"), ("2.0.0", "**stand_by(leg)**")):
        url = f"pypi:herons@{version}/herons.birds"
        await library.parts.store.put_page(draft(url, text, heading="herons.stand_by"))

    refused = await library.call("compare_versions", subject="herons.stand_b", product="herons")
    misspelt = await library.call("compare_versions", subject="herons.stand_by", product="heron")

    assert refused["error"]["code"] == "NOT_FOUND"
    assert "Did you mean" in misspelt["error"]["suggestion"]


async def test_of_two_symbols_the_one_in_the_case_asked_for_is_compared(library: Library) -> None:
    for version, text in (("1.2.0", "**Wade()**"), ("2.0.0", "**Wade(depth)**")):
        url = f"pypi:herons@{version}/herons.birds"
        await library.parts.store.put_page(draft(url, text, heading="herons.Wade"))

    classes = await library.call("compare_versions", subject="herons.Wade")
    functions = await library.call("compare_versions", subject="herons.wade")

    assert classes["pairs"][0]["old"]["text"] == "**Wade()**"
    assert functions["pairs"][0]["old"]["text"] == "**wade(depth: int)**"


async def test_what_is_compared_is_remembered_as_handed_out(library: Library) -> None:
    compared = await library.call("compare_versions", subject="Wade")
    handed = await list_handed_out(Call(parts=library.parts, caller=ME))

    [pair] = compared["pairs"]
    ids = {pair["old"]["id"], pair["new"]["id"], compared["release_notes"][0]["id"]}
    assert {cited.citation.citation_id for cited in handed.quotes} == ids


async def test_a_page_is_compared_with_its_sibling(library: Library) -> None:
    compared = await library.call(
        "compare_versions",
        subject="pypi:herons@2.0.0/herons",
        old_version="1.2",
        new_version="2.0",
    )

    assert [pair["old"]["url"] for pair in compared["pairs"]] == ["pypi:herons@1.2.0/herons"]


async def test_a_question_is_compared_by_the_sections_that_answer(library: Library) -> None:
    compared = await library.call("compare_versions", subject="How deep into the pond can I walk?")

    assert compared["pairs"][0]["difference"] == "**wade(depth: [-int-]{+float = 0.5+})**"


async def test_a_question_is_compared_on_pages_whose_version_is_known(library: Library) -> None:
    text = "How deep can I walk into the pond? You can walk into the pond as deep as you like."
    store = library.parts.store
    await store.put_page(draft("https://herons.example/guide", text))
    used = Release(product="pypi:herons", version="2.0.0")
    await store.releases.put_used_releases(ME.project, folder="/aviary", releases=[used])

    compared = await library.call(
        "compare_versions", subject="How deep into the pond can I walk?", product="herons"
    )

    quotes = [quote for pair in compared["pairs"] for quote in (pair["old"], pair["new"])]
    assert [(quote["version"], quote["url"]) for quote in quotes] == [
        ("1.2.0", "pypi:herons@1.2.0/herons"),
        ("2.0.0", "pypi:herons@2.0.0/herons"),
    ]


@pytest.mark.parametrize("product", ["herons", "Herons", None])
async def test_a_package_and_its_site_are_one_product(
    library: Library, product: str | None
) -> None:
    site = "https://herons.example/en/{}/guide"
    for version, metres in (("1.2", "two"), ("2.0", "three")):
        url, text = site.format(version), f"Ringed herons fly {metres} metres above the reeds."
        tagged = draft(url, text, title="Guide", tags=(f"herons@{version}",))
        await library.parts.store.put_page(tagged)

    symbol = await library.call("compare_versions", subject="herons.wade", product=product)
    page = await library.call(
        "compare_versions", subject=site.format("2.0"), old_version="1.2", product=product
    )
    question = await library.call(
        "compare_versions", subject="How high do ringed herons fly?", product=product
    )

    assert symbol["pairs"][0]["new"]["url"] == "pypi:herons@2.0.0/herons"
    for compared in (page, question):
        assert compared["pairs"][0]["new"]["url"] == site.format("2.0")


async def test_what_both_versions_say_is_said_to_be_the_same(library: Library) -> None:
    compared = await library.call("compare_versions", subject="herons.nests.nest")

    assert compared["pairs"] == []
    assert compared["notes"] == ["Both versions say the same about this."]


async def test_a_page_that_only_one_version_has_is_shown_as_added(library: Library) -> None:
    compared = await library.call(
        "compare_versions", subject="pypi:herons@2.0.0/fly", old_version="1.2", new_version="2"
    )

    assert [pair["difference"] for pair in compared["pairs"]] == ["{+Fly.+}"]


async def test_a_page_without_versions_is_compared_with_its_earlier_text(library: Library) -> None:
    url = "https://birds.example/prices"
    await library.parts.store.put_page(draft(url, "Feeding costs 3 euros.", "Open daily."))
    refused = await library.result("compare_versions", subject=url)
    await library.parts.store.put_page(draft(url, "Feeding costs 4 euros.", "Open daily."))

    compared = await library.call("compare_versions", subject=url)

    assert refused.is_error
    assert [pair["difference"] for pair in compared["pairs"]] == ["Feeding costs [-3-]{+4+} euros."]


@pytest.mark.parametrize(
    "arguments",
    [
        {"subject": "wade", "old_version": "9.9"},
        {"subject": "wade", "old_version": "; --"},
        {"subject": "wade", "product": "storks"},
        {"subject": "no_such_symbol"},
    ],
)
async def test_what_is_not_indexed_is_an_error(library: Library, arguments: dict[str, str]) -> None:
    result = await library.result("compare_versions", caller=ME, **arguments)

    assert result.is_error


async def put_markdown(library: Library, text: str, *, url: str) -> None:
    source = fetched(text, "markdown", url=url)
    extracted, chunks, _ = read_page(source)
    await library.parts.store.put_page(
        PageDraft(url=url, fetched=source, extracted=extracted, chunks=chunks)
    )


async def test_a_readme_has_release_notes_below_their_heading_only(library: Library) -> None:
    text = (
        "# Herons\n\nCall wade to enter the pond.\n\n## Release Information\n\n"
        "### Changes\n\n- wade no longer splashes.\n\n## Usage\n\nThe changes of wade are slow.\n"
    )
    await put_markdown(library, text, url="pypi:herons@2.0.0/README")

    compared = await library.call("compare_versions", subject="Wade")

    found = {note["text"] for note in compared["release_notes"]}
    assert found == {NOTES, "- wade no longer splashes."}


async def test_release_notes_of_longer_names_are_left_out(library: Library) -> None:
    notes = "# Changes\n\n## 2.0\n\n- `field_wade` is quick.\n- Waders wade-wade.\n- Wades.\n"
    await put_markdown(library, notes, url="pypi:herons@2.0.0/CHANGELOG.md")

    compared = await library.call("compare_versions", subject="herons.wade")

    assert [note["text"] for note in compared["release_notes"]] == [NOTES]


async def test_release_notes_are_those_between_the_two_versions(library: Library) -> None:
    changelog = (
        "# Changes\n\n## 2.0.0rc1\n\n### Added\n\n- `wade` takes fractions.\n- `fly` is new.\n\n"
        "## 1.2.0\n\n- `wade` is quicker.\n\n## v1.0\n\n- `wade` is new.\n"
    )
    await put_markdown(library, changelog, url="pypi:herons@2.0.0/CHANGELOG.md")

    compared = await library.call("compare_versions", subject="wade")

    assert [note["text"] for note in compared["release_notes"]] == [
        "- `wade` takes fractions.",
        # Notes that name no version may be of any.
        NOTES,
    ]
