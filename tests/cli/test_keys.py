"""`citewell keys` and `citewell usage`, as an operator types them."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from tests.cli.shell import make_database

from citewell.cli.main import main
from citewell.core.identity import CallRecord
from citewell.core.ids import content_hash
from citewell.store.open import open_store


@pytest.fixture
def database(tmp_path: Path) -> str:
    address = f"sqlite:///{tmp_path / 'keys.db'}"
    make_database(address)
    return address


def run(capsys: pytest.CaptureFixture[str], database: str, *arguments: str) -> str:
    assert main([*arguments, "--database", database]) == 0
    return capsys.readouterr().out


def use(database: str, token: str, *, units: int) -> None:
    """Record a call of a key as a server would."""

    async def record() -> None:
        store = await open_store(database)
        call = CallRecord(
            called_at=datetime.now(UTC),
            owner=content_hash(token),
            hint=token[-4:],
            user=None,
            agent=None,
            tool="status",
            outcome="ok",
            units=units,
            tokens=1_200,
            milliseconds=1_500,
        )
        await store.access.record_calls([call])
        await store.aclose()

    anyio.run(record)


def test_a_key_is_shown_once(capsys: pytest.CaptureFixture[str], database: str) -> None:
    made = run(capsys, database, "keys", "create", "ann")
    listed = run(capsys, database, "keys", "list")

    token = made.splitlines()[0]
    assert token.startswith("cw-")
    assert token not in listed
    assert f"ann   …{token[-4:]}  live   read,write  all" in listed


def test_the_terms_of_a_key_are_listed(capsys: pytest.CaptureFixture[str], database: str) -> None:
    options = ["--scope", "read", "--toolsets", "kb,research", "--project", "birds"]
    limits = ["--monthly-units", "5000", "--expires-days", "30"]
    run(capsys, database, "keys", "create", "team", *options, *limits)

    (key,) = json.loads(run(capsys, database, "keys", "list", "--json"))

    assert (key["scopes"], key["toolsets"]) == (["read"], ["kb", "research"])
    assert (key["project"], key["monthly_units"]) == ("birds", 5000)
    assert key["expires_at"] > key["created_at"]
    assert "key" not in key


def test_a_key_is_rotated_and_revoked(capsys: pytest.CaptureFixture[str], database: str) -> None:
    first = json.loads(run(capsys, database, "keys", "create", "ann", "--json"))["key"]
    rotated = run(capsys, database, "keys", "rotate", "ann", "--keep-old-hours", "1", "--json")
    revoked = json.loads(run(capsys, database, "keys", "revoke", "ann", "--json"))
    listed = json.loads(run(capsys, database, "keys", "list", "--json"))

    assert json.loads(rotated)["key"] != first
    assert revoked == {"name": "ann", "revoked": 2}
    assert [key["state"] for key in listed] == ["revoked", "revoked"]


def test_when_the_last_key_is_revoked_the_way_back_is_said(
    capsys: pytest.CaptureFixture[str], database: str
) -> None:
    run(capsys, database, "keys", "create", "ann")
    run(capsys, database, "keys", "create", "bob")

    first = run(capsys, database, "keys", "revoke", "ann")
    last = run(capsys, database, "keys", "revoke", "bob")
    listed = run(capsys, database, "keys", "list")
    pruned = run(capsys, database, "keys", "prune", "--yes")

    assert "No live key" not in first
    for said in (last, listed):
        assert "the server still asks for one" in said
        assert "`citewell keys prune`" in said
    assert pruned.startswith("Deleted 2 keys. No key is left")
    assert run(capsys, database, "keys", "list").startswith("No keys.")


def test_pruning_keeps_live_keys(capsys: pytest.CaptureFixture[str], database: str) -> None:
    run(capsys, database, "keys", "create", "ann")
    run(capsys, database, "keys", "rotate", "ann")

    pruned = json.loads(run(capsys, database, "keys", "prune", "--yes", "--json"))
    listed = json.loads(run(capsys, database, "keys", "list", "--json"))

    assert pruned == {"deleted": 1, "keys_left": True}
    assert [key["state"] for key in listed] == ["live"]


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["keys", "create"], 2, "the following arguments are required: NAME"),
        (["keys", "create", "x/../rd"], 2, "use 1 to 80 letters, digits, spaces"),
        (["keys", "create", "a", "--toolsets", "kb,birds"], 2, "--toolsets names 'birds'"),
        (["keys", "create", "a", "--expires-days", "-1"], 2, "-1 is below zero"),
        (["keys", "create", "a", "--expires-days", "0"], 2, "0 is not from 1 to 36,500"),
        (
            ["keys", "create", "a", "--expires-days", "99999999"],
            2,
            "99999999 is not from 1 to 36,500",
        ),
        (
            ["keys", "rotate", "a", "--keep-old-hours", "99999999"],
            2,
            "99999999 is more than 876,000",
        ),
        (["keys", "create", "a", "--toolsets", ","], 2, "the key could call no tool"),
        (["keys", "forge", "a"], 2, "invalid choice: 'forge'"),
        (["keys", "revoke", "nobody"], 1, "no live key called 'nobody'"),
        (["usage", "--month", "2026-13"], 2, "'2026-13' is not a month"),
        (["usage", "--key", "nobody"], 1, "there is no key called 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_reported(
    arguments: list[str],
    code: int,
    complaint: str,
    capsys: pytest.CaptureFixture[str],
    database: str,
) -> None:
    assert main([*arguments, "--database", database]) == code
    assert complaint in capsys.readouterr().err


def test_usage_is_shown_for_people_and_programs(
    capsys: pytest.CaptureFixture[str], database: str
) -> None:
    ann, bob = (
        json.loads(run(capsys, database, "keys", "create", name, "--json"))["key"]
        for name in ("ann", "bob")
    )
    use(database, ann, units=3)
    use(database, ann, units=4)
    use(database, bob, units=1)

    table = run(capsys, database, "usage", "--key", "ann")
    everyone = json.loads(run(capsys, database, "usage", "--month", "all", "--json"))
    sheet = run(capsys, database, "usage", "--csv")

    assert f"ann …{ann[-4:]}" in table
    assert "2 calls, 7 units" in table
    assert {total["name"]: total["units"] for total in everyone} == {"ann": 7, "bob": 1}
    assert [row["name"] for row in csv.DictReader(io.StringIO(sheet))] == ["ann", "bob"]


def test_a_month_without_calls_says_so(capsys: pytest.CaptureFixture[str], database: str) -> None:
    assert run(capsys, database, "usage", "--month", "2020-01") == "No calls.\n"
