"""Forms of the consoles without a browser: whose they are, and who may send them."""

from __future__ import annotations

from functools import partial

import pytest
from tests.server.console.serving import DIRECTIVES, console, form_token

pytestmark = pytest.mark.anyio


async def test_forms_work_without_scripts_where_no_key_is_asked_for() -> None:
    async with console() as http:
        page = (await http.get(DIRECTIVES)).text
        form = {"content": "Ship it", "task_id": "", "form_token": form_token(page)}
        sent = await http.post(f"{DIRECTIVES}/new", data=form)
        after = (await http.get(DIRECTIVES)).text

    assert (sent.status_code, sent.headers["location"]) == (303, DIRECTIVES)
    assert "Ship it" in after


async def test_a_form_with_a_box_for_each_page_of_a_long_list_is_read() -> None:
    async with console() as http:
        token = form_token((await http.get("/library")).text)
        chosen = [str(number) for number in range(10_000, 10_200)]
        form = {"form_token": token, "chosen": chosen, "check": "1"}
        sent = await http.post("/library/chosen/delete", data=form)

    assert sent.status_code == 404
    assert "cannot be read" not in sent.text


async def test_a_form_without_its_token_or_from_another_site_is_refused() -> None:
    async with console() as http:
        page = (await http.get(DIRECTIVES)).text
        form = {"content": "Ship it", "form_token": form_token(page)}
        address = f"{DIRECTIVES}/new"
        refused = [
            await http.post(address, data={"content": "Ship it"}),
            await http.post(address, data={**form, "form_token": "guess"}),
            await http.post(
                address,
                content=b'--x\r\nContent-Disposition: form-data; name="content"\r\n\r\nx\r\n--x--\r\n',
                headers={"Content-Type": "multipart/form-data; boundary=x"},
            ),
            await http.post(address, data=form, headers={"Sec-Fetch-Site": "cross-site"}),
            await http.post(address, data=form, headers={"Origin": "https://evil.example"}),
            await http.post(
                f"{DIRECTIVES}/api/requests",
                json={"content": "x"},
                headers={"Origin": "http://127.0.0.1:1"},
            ),
            await http.get(DIRECTIVES, headers={"Host": "evil.example"}),
        ]
        after = (await http.get(f"{DIRECTIVES}/api/requests")).json()

    assert [answer.status_code for answer in refused] == [403, 403, 403, 403, 403, 403, 421]
    assert after["pending"] == []


async def test_the_servers_own_pages_may_send_forms_under_its_public_name() -> None:
    key = {"Authorization": "Bearer sk-right-0000"}
    settings = {"mcp_allowed_hosts": ("rag.example",), "mcp_auth_token": "sk-right-0000"}
    async with console(**settings) as http:
        headers = {"Host": "rag.example", "Origin": "https://rag.example"}
        send = partial(http.post, f"{DIRECTIVES}/api/requests", json={"content": "Ship it"})
        sent = await send(headers={**headers, **key})
        without_key = await send(headers=headers)

    assert sent.status_code == 201
    assert without_key.status_code == 401


async def test_a_page_that_needs_a_key_shows_the_form_for_it_and_nothing_else() -> None:
    async with console(mcp_auth_token="sk-right-0000") as http:
        locked = await http.get("/library/pages")
        script = await http.get("/library/pages", headers={"HX-Request": "true"})
        key = {"Authorization": "Bearer sk-right-0000", "HX-Request": "true"}
        opened = await http.get("/library/pages", headers=key)

    assert (locked.status_code, script.status_code, opened.status_code) == (200, 401, 200)
    assert "needs your key" in locked.text
    assert "Herons" not in locked.text + script.text
    assert "Herons" in opened.text
    assert "<html" not in opened.text
