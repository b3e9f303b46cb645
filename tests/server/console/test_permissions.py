"""The web app offers what a key may do, and nothing that would be refused."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest
from tests.server.console.serving import DIRECTIVES, QUESTIONS
from tests.server.shelf import Shelf
from tests.server.test_http_access import bearer, make_keys
from tests.server.tiny import serving

from citewell.access.keys import KeyTerms
from citewell.core.identity import AccessScope

pytestmark = pytest.mark.anyio

PAGES = ("/", "/library", "/library/1", "/library/pages", "/mcp/console/usage", "/mcp/console/keys")
FORM = re.compile(r'<form[^>]*method="post"[^>]*action="([^"]+)"')
FORM_ACTION = re.compile(r'formaction="([^"]+)"')


@pytest.mark.parametrize(
    ("scope", "offers_change", "offers_delete"),
    [("read", False, False), ("write", True, False), ("admin", True, True)],
)
async def test_nothing_is_offered_that_would_be_refused(
    tmp_path: Path, scope: AccessScope, offers_change: bool, offers_delete: bool
) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(shelf.settings, mine=KeyTerms(scope=scope))
    key = bearer(tokens["mine"])
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60, headers=key) as http,
    ):
        pages = {path: (await http.get(path)).text for path in (*PAGES, QUESTIONS, DIRECTIVES)}
        offered = {
            action
            for text in pages.values()
            for action in (*FORM.findall(text), *FORM_ACTION.findall(text))
        }
        sent = {
            action: await http.post(action, data={"check": "1"})
            for action in offered
            # They would end the key that the others need.
            if not action.endswith(("/rotate", "/revoke"))
        }

    assert {action for action, answer in sent.items() if answer.status_code == 403} == set()
    assert ("/library/add" in offered) == offers_change
    closed = {
        re.sub(r'.*data-closed="([^"]*)".*|.*', r"\1", page, flags=re.S) for page in pages.values()
    }
    assert closed == {" ".join(["desk"] * (not offers_change) + ["keys"] * (not offers_delete))}
    assert ("/library/1/refresh" in offered) == offers_change
    assert ('id="urls"' in pages["/"]) == offers_change
    assert ("/library/1/delete" in offered) == offers_delete
    assert ("data-import" in pages["/library"]) == offers_delete
    assert ("need the scope write" in pages["/library"]) == (not offers_change)


async def test_a_deletion_that_would_be_refused_is_refused_before_it_is_meant(
    tmp_path: Path,
) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(
        shelf.settings, root=KeyTerms(scope="admin"), ann=KeyTerms(scope="write")
    )
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        path, check = "/library/1/delete", {"check": "1"}
        allowed = await http.post(path, data=check, headers=bearer(tokens["root"]))
        refused = await http.post(path, data=check, headers=bearer(tokens["ann"]))
        missing = await http.post("/library/999/delete", data=check, headers=bearer(tokens["root"]))
        kept = await http.get("/read/1", headers=bearer(tokens["root"]))

    assert [answer.status_code for answer in (allowed, refused, missing)] == [204, 403, 404]
    assert "Your key is not allowed to do this" in refused.text
    assert "scope &#39;admin&#39;" in refused.text
    assert kept.status_code == 200


async def test_a_refused_page_offers_to_use_another_key(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(shelf.settings, reader=KeyTerms(scope="read"))
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        refused = await http.get(QUESTIONS, headers=bearer(tokens["reader"]))

    assert refused.status_code == 403
    assert "This key cannot use the desk" in refused.text
    assert "scope write" in refused.text
    assert "Use another key" in refused.text
    assert refused.text.count("data-key-form") == 2


async def test_a_key_that_is_in_use_is_not_called_unused(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(shelf.settings, root=KeyTerms(scope="admin"), idle=KeyTerms())
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        page = (await http.get("/mcp/console/keys", headers=bearer(tokens["root"]))).text

    rows = {name: page.partition(f"<b>{name}</b>")[2].partition("</li>")[0] for name in tokens}
    assert "used in this browser" in rows["root"]
    assert "you will need another one" in rows["root"]
    assert "no calls yet" in rows["idle"]


async def test_an_import_names_the_file_as_the_person_does(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        exported = (await http.get("/library/export")).content
        zipped = {"Content-Type": "application/zip"}
        answers = [
            await http.post("/library/import", params={"name": name}, content=body, headers=zipped)
            for name, body in (
                ("birds of May.zip", exported),
                ("birds of May.zip", b"nonsense"),
                ("../../etc/\0passwd", b"nonsense"),
                ("", b"nonsense"),
            )
        ]

    assert answers[0].json() == {"pages": 0, "kept": 2, "websites": 0}
    names = [answer.json()["error"].partition(" is damaged")[0] for answer in answers[1:]]
    assert names == ["birds of May.zip", "etcpasswd", "library.zip"]
