"""Reaching a page that no link leads to, by the search index of its site."""

import json
from pathlib import Path

import pytest
from tests.research.engines import open_research
from tests.site import running_site

pytestmark = pytest.mark.anyio

START = "<html><head><title>Manual</title></head><body><main><h1>Manual</h1><p>{}</p></main></body></html>"
NESTS = START.format(
    "A heron lays its eggs into a nest high in the trees, where they hatch in May."
)
INDEX = json.dumps(
    {
        "docnames": ["guide/index", "guide/nests"],
        "titles": ["Manual", "Nests"],
        "terms": {"heron": [1], "egg": 1, "hatch": 1},
        "titleterms": {"nest": 1},
        "alltitles": {"Nests": [[1, "nests"]]},
    }
)


async def test_a_site_without_html_files_is_not_asked_for_an_index(tmp_path: Path) -> None:
    with running_site({"/": START.format('Welcome to <a href="/ducks">ducks</a>.')}) as site:
        async with open_research(tmp_path) as research:
            await research.answer(site.url("/"), query="Where does a heron lay its eggs?")

    assert "/searchindex.js" not in site.paths()


async def test_the_search_index_of_a_site_leads_to_pages_without_a_link(tmp_path: Path) -> None:
    pages = {
        "/guide/index.html": START.format('Welcome. The pond has <a href="ducks.html">ducks</a>.'),
        "/guide/ducks.html": START.format(
            "Ducks swim on the pond all day long and dive for weeds."
        ),
        "/guide/nests.html": NESTS,
        "/searchindex.js": f"Search.setIndex({INDEX})",
    }
    with running_site(pages) as site:
        async with open_research(tmp_path) as research:
            result = await research.answer(
                site.url("/guide/index.html"), query="Where does a heron lay its eggs?"
            )

    assert result.answered
    assert result.steps[0].url == site.url("/guide/nests.html")
    assert "nest high in the trees" in result.quotes[0].text
