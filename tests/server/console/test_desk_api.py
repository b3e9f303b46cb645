"""The JSON APIs of the desk, as seed C and the design fix them."""

from __future__ import annotations

from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.server.console.serving import ANN, BEN, DIRECTIVES, QUESTIONS, console

pytestmark = pytest.mark.anyio


async def pending_questions(http: httpx2.AsyncClient) -> list[dict[str, Any]]:
    """Return Ann's open questions, as soon as there are any."""
    async with http.stream("GET", "/mcp/console/events", headers=ANN) as events:
        async for line in events.aiter_lines():
            if not line.startswith("event: changed"):
                continue
            listed = await http.get(f"{QUESTIONS}/api/requests", headers=ANN)
            if listed.json()["pending"]:
                pending: list[dict[str, Any]] = listed.json()["pending"]
                return pending
    raise AssertionError("the stream ended")


async def ask(http: httpx2.AsyncClient, question: str, results: list[Any]) -> None:
    """Call `ask_user` with Ann's key."""
    url = str(http.base_url.join("/mcp"))
    async with (
        httpx2.AsyncClient(headers=ANN, timeout=120) as transport,
        Client(streamable_http_client(url, http_client=transport), mode="legacy") as client,
    ):
        results.append(await client.call_tool("ask_user", {"question": question}))


async def test_an_answer_posted_to_the_api_is_the_result_of_the_waiting_call() -> None:
    results: list[Any] = []
    async with console() as http, anyio.create_task_group() as tasks:
        with anyio.fail_after(60):
            tasks.start_soon(ask, http, "Approve the release?", results)
            pending = await pending_questions(http)
            posted = await http.post(
                f"{QUESTIONS}/api/requests/{pending[0]['id']}",
                json={"answer": "Approved."},
                headers=ANN,
            )
            while not results:
                await anyio.lowlevel.checkpoint()
        listed = (await http.get(f"{QUESTIONS}/api/requests", headers=ANN)).json()

    assert pending[0]["question"] == "Approve the release?"
    assert pending[0]["status"] == "pending"
    assert (pending[0]["ai_identity"], pending[0]["user_identity"]) == ("helper", "ann")
    assert pending[0]["key_hint"] == "1111"
    assert (posted.status_code, posted.json()["status"]) == (200, "answered")
    assert results[0].structured_content["answer"] == "Approved."
    assert results[0].structured_content["request_id"] == pending[0]["id"]
    assert listed["pending"] == []
    assert [(each["id"], each["status"]) for each in listed["history"]] == [
        (pending[0]["id"], "answered")
    ]


async def test_a_question_is_answered_once_and_by_its_owner_only() -> None:
    results: list[Any] = []
    async with console(people_answer_timeout_seconds=0.2) as http:
        with anyio.fail_after(60):
            await ask(http, "Soup?", results)
        listed = (await http.get(f"{QUESTIONS}/api/requests", headers=ANN)).json()
        address = f"{QUESTIONS}/api/requests/{listed['history'][0]['id']}"
        stolen = await http.post(address, json={"answer": "no"}, headers=BEN)
        late = await http.post(address, json={"answer": "Bread"}, headers=ANN)
        again = await http.post(address, json={"answer": "Rice"}, headers=ANN)
        of_ben = (await http.get(f"{QUESTIONS}/api/requests", headers=BEN)).json()

    assert listed["history"][0]["status"] == "expired"
    assert stolen.status_code == 404
    assert (late.status_code, late.json()["late"], late.json()["status"]) == (200, True, "expired")
    assert again.status_code == 409
    assert "answered before" in again.json()["error"]
    assert of_ben == {"pending": [], "history": []}


async def test_directives_are_queued_listed_and_deleted_by_key() -> None:
    async with console() as http:
        address = f"{DIRECTIVES}/api/requests"
        first = await http.post(address, json={"content": "Tidy up"}, headers=ANN)
        second = await http.post(
            address, json={"content": "Ship it", "task_id": "release"}, headers=ANN
        )
        listed = (await http.get(address, headers=ANN)).json()
        of_ben = (await http.get(address, headers=BEN)).json()
        stolen = await http.delete(f"{address}/{first.json()['id']}", headers=BEN)
        deleted = await http.delete(f"{address}/{first.json()['id']}", headers=ANN)
        purged = await http.delete(address, headers=ANN)
        empty = (await http.get(address, headers=ANN)).json()

    assert (first.status_code, second.status_code) == (201, 201)
    assert [(each["content"], each["task_id"]) for each in listed["pending"]] == [
        ("Ship it", "release"),
        ("Tidy up", "default"),
    ]
    assert of_ben == {"pending": [], "consumed": []}
    assert (stolen.status_code, deleted.status_code) == (404, 200)
    assert purged.json() == {"deleted": 1}
    assert empty == {"pending": [], "consumed": []}


async def test_a_directive_that_cannot_be_taken_is_refused() -> None:
    bodies: list[dict[str, object]] = [
        {},
        {"content": "  "},
        {"content": "\x00"},
        {"content": 7},
        {"content": "x", "task_id": False},
        {"content": "x", "task_id": " "},
        {"content": "x" * 10_001},
        {"content": "x", "task_id": "t" * 101},
    ]
    async with console() as http:
        address = f"{DIRECTIVES}/api/requests"
        refused = [await http.post(address, json=body, headers=ANN) for body in bodies]

    assert [(answer.status_code, answer.json()["error"]) for answer in refused] == [
        (400, "content cannot be empty"),
        (400, "content cannot be empty"),
        (400, "content cannot be empty"),
        (400, "content must be text"),
        (400, "task_id must be text"),
        (400, "task_id cannot be empty"),
        (400, "content is 10,001 characters; at most 10,000 are taken"),
        (400, "task_id is 101 characters; at most 100 are taken"),
    ]


async def test_what_no_database_holds_or_no_reader_sees_is_left_out() -> None:
    sent = b'{"content": "Ship\\u0000 \\ud83d\\ude00 \\ud800it\\r\\nto \\u202emorf", "task_id": "a\\u0000"}'
    async with console() as http:
        address = f"{DIRECTIVES}/api/requests"
        added = await http.post(
            address, content=sent, headers={**ANN, "Content-Type": "application/json"}
        )
        unknown = [
            await http.delete(f"{address}/%00", headers=ANN),
            await http.post(f"{QUESTIONS}/api/requests/%00", json={"answer": "x"}, headers=ANN),
        ]

    assert added.status_code == 201
    assert (added.json()["content"], added.json()["task_id"]) == ("Ship 😀 it\nto morf", "a")
    assert [answer.status_code for answer in unknown] == [404, 404]


async def test_a_body_that_is_not_json_or_is_very_large_is_refused() -> None:
    async with console() as http:
        address = f"{DIRECTIVES}/api/requests"
        deep = await http.post(
            address, content=b"[" * 9_000, headers={**ANN, "Content-Type": "application/json"}
        )
        broken = await http.post(
            address, content=b"{", headers={**ANN, "Content-Type": "application/json"}
        )
        listed = await http.post(address, json=[], headers=ANN)
        plain = await http.post(address, content=b"content=x", headers=ANN)
        large = await http.post(address, json={"content": "x" * 300_000}, headers=ANN)

    refused = (deep, broken, listed, plain, large)
    assert [each.status_code for each in refused] == [400, 400, 400, 400, 413]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=x", b"x"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="content";'
            b' filename="x"\r\n\r\nx\r\n--x--\r\n',
        ),
        ("application/x-www-form-urlencoded", b"a=1&" * 3_000),
        ("application/json", b"{}"),
    ],
    ids=["no boundary", "no part", "a file", "thousands of fields", "no form"],
)
async def test_a_form_that_cannot_be_read_is_refused(kind: str, body: bytes) -> None:
    async with console() as http:
        refused = await http.post(
            f"{DIRECTIVES}/new", content=body, headers={**ANN, "Content-Type": kind}
        )

    assert refused.status_code == 400


async def test_without_the_token_that_is_asked_for_nothing_is_shown() -> None:
    async with console(mcp_auth_token="sk-right-0000") as http:
        answers = [
            await http.request(method, path, headers=headers, json={"answer": "y"})
            for headers in ({}, {"Authorization": "Basic abc"}, {"Authorization": "Bearer sk-x"})
            for method, path in (
                ("GET", f"{QUESTIONS}/api/requests"),
                ("POST", f"{QUESTIONS}/api/requests/x"),
                ("GET", f"{DIRECTIVES}/api/requests"),
                ("DELETE", f"{DIRECTIVES}/api/requests"),
                ("GET", "/mcp/console/events"),
                ("GET", "/mcp/console/usage.csv"),
            )
        ]

    assert {answer.status_code for answer in answers} == {401}
    assert all("www-authenticate" in answer.headers for answer in answers)
    assert answers[0].json()["error"] == "missing authorization bearer token"
    assert answers[-1].json()["error"] == "invalid authorization header"


async def test_a_method_that_is_not_of_the_manual_is_not_allowed() -> None:
    async with console() as http:
        refused = [
            await http.put(f"{DIRECTIVES}/api/requests", headers=ANN),
            await http.get(f"{DIRECTIVES}/api/requests/x", headers=ANN),
            await http.delete(f"{QUESTIONS}/api/requests", headers=ANN),
            await http.post("/mcp/debug", headers=ANN),
        ]

    assert [answer.status_code for answer in refused] == [405] * 4
    allowed = [sorted(answer.headers["allow"].split(", ")) for answer in refused]
    assert allowed == [
        ["DELETE", "GET", "HEAD", "POST"],
        ["DELETE"],
        ["GET", "HEAD"],
        ["GET", "HEAD"],
    ]


async def test_asking_only_for_the_head_of_the_stream_does_not_hold_the_connection() -> None:
    async with console() as http:
        with anyio.fail_after(60):
            head = await http.head("/mcp/console/events", headers=ANN)
            after = await http.get(f"{QUESTIONS}/api/requests", headers=ANN)

    assert (head.status_code, after.status_code) == (200, 200)
    assert head.headers["content-type"].startswith("text/event-stream")
