"""`citewell reindex` on pages that an older extractor left behind."""

from __future__ import annotations

import json
from dataclasses import replace

import anyio
import pytest
from tests.cli.shell import STORAGE, Shell
from tests.drafts import FETCHED_AT, draft
from tests.stored import html_response

from citewell.cli.main import main
from citewell.core.records import PageOrigin
from citewell.store.open import open_store

URL = "https://buoys.example/storage"
RESPONSE = html_response(URL, STORAGE)


async def put_old_pages(database: str) -> None:
    store = await open_store(database)
    await store.put_page(replace(draft(URL, "Ring mode."), response=RESPONSE, extractor=0))
    await store.put_page(draft(f"{URL}/unkept", "Journal mode."))
    await store.aclose()


def test_reindex_reads_pages_again_and_says_what_changed(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    anyio.run(put_old_pages, shell.options[1])

    codes = [main(["reindex", "--json", *shell.options])]
    first = json.loads(capsys.readouterr().out)
    codes.append(main(["reindex", *shell.options]))
    second = capsys.readouterr().out
    codes.append(main(["search", "When are new samples dropped?", *shell.options]))

    assert codes == [0, 0, 0]
    assert (first["read"], first["changed"], first["failed"], first["without_response"]) == (
        1,
        1,
        0,
        1,
    )
    assert [page["url"] for page in first["pages"]] == [URL]
    assert "Pages read again: 0; changed: 0." in second
    assert "Without a kept response, left as they were: 1." in second
    assert "new samples are dropped" in capsys.readouterr().out
    assert shell.site.requests == []


@pytest.mark.parametrize(
    ("origin", "said", "moment"),
    [
        ("file", "read from a file", "fetched_at"),
        ("supplied", "supplied by a caller", "supplied_at"),
    ],
)
def test_status_says_fetched_only_of_fetched_pages(
    origin: PageOrigin, said: str, moment: str, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    async def put_page() -> None:
        store = await open_store(shell.options[1])
        put = draft(URL, "Ring mode.")
        await store.put_page(replace(put, fetched=replace(put.fetched, origin=origin)))
        await store.aclose()

    anyio.run(put_page)

    assert main(["status", *shell.options]) == 0
    text = capsys.readouterr().out
    assert main(["status", "--json", *shell.options]) == 0
    [page] = json.loads(capsys.readouterr().out)["pages"]

    assert said in text
    assert "fetched" not in text.partition("[CORPUS STATUS]")[2]
    assert "stale" not in text
    assert page["origin"] == origin
    moments = {name: value for name, value in page.items() if name.endswith("_at")}
    assert moments == {moment: FETCHED_AT.isoformat(timespec="seconds")}
