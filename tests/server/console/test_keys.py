"""The pages of keys, calls and usage, as administrators with and without limits use them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from tests.server.console.serving import DIRECTIVES, console, form_token
from tests.server.shelf import Shelf
from tests.server.test_http_access import bearer, call, make_keys
from tests.server.tiny import Aviary, Said, Words, serving
from tests.store.test_access_contract import call as logged_call
from typing_extensions import override

from citewell.access.keys import KeyTerms
from citewell.store.open import open_store
from citewell.tools.tool import Call

pytestmark = pytest.mark.anyio

KEYS = "/mcp/console/keys"
ACCOUNTS = (KEYS, "/mcp/console/calls", "/mcp/console/usage", "/mcp/console/usage.csv")


async def test_an_admin_of_one_project_stays_in_it(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(
        shelf.settings,
        root=KeyTerms(scope="admin"),
        pj=KeyTerms(scope="admin", project="other", toolsets=frozenset({"kb"})),
        stranger=KeyTerms(),
    )
    admin = bearer(tokens["pj"])
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        for name in ("pj", "stranger"):
            sent = call("kb_search", query="heron")
            await http.post("/mcp", json=sent, headers=bearer(tokens[name]))
        made = await http.post(KEYS, data={"name": "x2", "scope": "admin"}, headers=admin)
        taken = [
            await http.post(f"{KEYS}/{name}/{action}", data={}, headers=admin)
            for name in ("stranger", "root")
            for action in ("rotate", "revoke")
        ]
        limited = [(await http.get(path, headers=admin)).text for path in ACCOUNTS]
        whole = [(await http.get(path, headers=bearer(tokens["root"]))).text for path in ACCOUNTS]
    store = await open_store(shelf.settings.database_url)
    keys = {key.name: key for key in await store.access.list_keys()}
    await store.aclose()

    assert made.status_code == 200
    assert (keys["x2"].project, keys["x2"].toolsets) == ("other", frozenset({"kb"}))
    assert [answer.status_code for answer in taken] == [404] * 4
    assert keys["stranger"].revoked_at is None
    assert ["stranger" in text for text in limited] == [False] * 4
    assert ["pj" in text for text in limited] == [True] * 4
    assert ["stranger" in text and "pj" in text for text in whole] == [True] * 4


async def test_a_name_of_an_earlier_version_stays_one_part_of_the_address(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(shelf.settings, root=KeyTerms(scope="admin"), rd=KeyTerms())
    store = await open_store(shelf.settings.database_url)
    root = next(key for key in await store.access.list_keys() if key.name == "root")
    await store.access.put_key(replace(root, key_hash="old", owner="old", name="x/../rd"))
    admin = bearer(tokens["root"])
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        page = (await http.get(KEYS, headers=admin)).text
        action = f"{KEYS}/x%2F..%2Frd/revoke"
        ended = await http.post(action, data={}, headers=admin)
        refused = await http.post(KEYS, data={"name": "a/b", "scope": "read"}, headers=admin)
    live = {key.name for key in await store.access.list_keys() if key.revoked_at is None}
    await store.aclose()

    assert f'action="{action}"' in page
    assert ended.status_code == 303
    assert live == {"root", "rd"}
    assert refused.status_code == 400
    assert "letters, digits" in refused.text


async def test_the_first_key_is_one_that_can_make_others(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        offered = (await http.get(KEYS)).text

    assert '<option value="admin" selected>' in offered
    assert '<option value="write">' in offered


async def test_a_key_of_the_form_has_the_limits_of_the_command(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(shelf.settings, root=KeyTerms(scope="admin"))
    form = {
        "name": "narrow",
        "scope": "read",
        "project": "birds",
        "toolsets": ["kb", "research", "nonsense"],
    }
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        made = await http.post(KEYS, data=form, headers=bearer(tokens["root"]))
        whole = await http.post(
            KEYS, data={"name": "whole", "scope": "read"}, headers=bearer(tokens["root"])
        )
    store = await open_store(shelf.settings.database_url)
    keys = {key.name: key for key in await store.access.list_keys()}
    await store.aclose()

    assert keys["narrow"].project == "birds"
    assert keys["narrow"].toolsets == frozenset({"kb", "research"})
    assert keys["whole"].project == keys["root"].project
    assert keys["whole"].toolsets is None
    assert "project birds" in made.text
    assert "only kb, research" in whole.text
    assert "0 units this month" in whole.text


async def test_the_first_admin_key_takes_over_what_its_maker_sees(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    seen = ("/citations", DIRECTIVES)
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        page = (await http.get(KEYS)).text
        form = {"form_token": form_token(page)}
        await http.get("/", params={"q": "What does the grey heron eat?"})
        await http.post(f"{DIRECTIVES}/new", data={"content": "Count again", **form})
        made = await http.post(KEYS, data={"name": "me", "scope": "admin", **form})
        token = re.search(r'id="new-token">([^<]+)<', made.text)
        assert token is not None
        mine = bearer(token[1])
        second = await http.post(KEYS, data={"name": "you", "scope": "admin"}, headers=mine)
        other = re.search(r'id="new-token">([^<]+)<', second.text)
        assert other is not None
        shown = [(await http.get(path, headers=mine)).text for path in seen]
        strange = [(await http.get(path, headers=bearer(other[1]))).text for path in seen]

    assert "will belong to that key" in page
    assert "belong to this key now" in made.text
    assert "belong to this key now" not in second.text
    assert ["quote-card" in shown[0], "Count again" in shown[1]] == [True, True]
    assert ["quote-card" in strange[0], "Count again" in strange[1]] == [False, False]


async def test_after_a_rotation_the_old_token_says_what_replaced_it(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(shelf.settings, root=KeyTerms(scope="admin"), ann=KeyTerms())
    admin = bearer(tokens["root"])
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        kept = await http.post(f"{KEYS}/ann/rotate", data={"keep_old_hours": "24"}, headers=admin)
        page = (await http.get(KEYS, headers=admin)).text
        ended = await http.post(f"{KEYS}/ann/rotate", data={"keep_old_hours": "0"}, headers=admin)

    token = re.search(r'id="new-token">([^<]+)<', kept.text)
    assert token is not None
    rows = [row for row in page.split("<li") if "<b>ann</b>" in row]
    assert [f"replaced by …{token[1][-4:]}" in row for row in rows] == [False, True]
    assert ["works until" in row for row in rows] == [False, True]
    assert ["Revoke…" in row for row in rows] == [True, False]
    assert "2 keys that no longer work" in ended.text


async def test_a_quota_that_is_used_up_is_said_beside_the_question(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(shelf.settings, reader=KeyTerms(scope="read", monthly_units=1))
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        answers = [
            await http.get("/", params={"q": "heron"}, headers=bearer(tokens["reader"]))
            for _ in range(2)
        ]

    assert [answer.status_code for answer in answers] == [200, 413]
    assert "quota of this key is used up" in answers[1].text
    assert ">heron</textarea>" in answers[1].text


async def test_the_first_key_locks_the_server_with_the_next_request(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        form = {"form_token": form_token((await http.get(KEYS)).text)}
        made = await http.post(KEYS, data={"name": "me", "scope": "admin", **form})
        locked = (await http.get(KEYS)).text

    assert made.text.index("Use it in this browser") < made.text.index("Copy the key")
    assert "this browser needs it too" in made.text
    assert "Create a key" not in made.text
    assert "data-locked" in locked
    assert "citewell keys create NAME --scope admin" in locked


async def test_a_form_that_cannot_be_taken_keeps_what_was_filled_in(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(shelf.settings, root=KeyTerms(scope="admin"))
    form = {"name": "root", "scope": "read", "monthly_units": "12", "days": "7"}
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        refused = await http.post(KEYS, data=form, headers=bearer(tokens["root"]))

    assert refused.status_code == 400
    assert "There is a live key called &#39;root&#39; already." in refused.text
    assert '<option value="read" selected>' in refused.text
    assert [
        value for value in ('value="root"', 'value="12"', 'value="7"') if value in refused.text
    ] == ['value="root"', 'value="12"', 'value="7"']


class Breaking(Aviary):
    """Tools of which one has a programming error."""

    @override
    async def _lose(self, given: Words, call: Call) -> Said:
        raise RuntimeError("the nest has no bottom")


async def test_an_unexpected_error_in_the_log_names_its_request() -> None:
    async with (
        serving(Breaking()) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        named = {"X-Request-Id": "heron-7", "Accept": "application/json, text/event-stream"}
        answer = await http.post("/mcp", json=call("lose", words="x"), headers=named)
        log = (await http.get("/mcp/console/calls")).text
        usage = (await http.get("/mcp/console/usage")).text

    assert "heron-7" not in answer.text
    assert "INTERNAL_ERROR" in log
    assert "Request: heron-7" in log
    assert "no bottom" not in log
    assert "Succeeded" in usage


async def test_a_server_without_keys_says_who_can_use_it() -> None:
    async with console() as http:
        page = (await http.get(KEYS)).text
    async with console(mcp_host="0.0.0.0", mcp_allow_anonymous=True) as http:
        from_elsewhere = await http.get(KEYS)

    assert "Only programs on this machine can use this server" in page
    assert from_elsewhere.status_code == 403


async def test_a_stopped_call_is_not_shown_as_a_failure(tmp_path: Path) -> None:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    store = await open_store(shelf.settings.database_url)
    outcomes = ("UNFINISHED", "TIMEOUT")
    await store.access.record_calls([logged_call("", outcome=outcome) for outcome in outcomes])
    await store.aclose()
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=120) as http,
    ):
        every = (await http.get("/mcp/console/calls")).text
        failed = (await http.get("/mcp/console/calls?failed=1")).text

    assert '<span class="state ">stopped</span>' in every
    assert "2026-03-14 12:00:00 UTC" in every
    assert (">stopped<" in failed, "TIMEOUT" in failed) == (False, True)
