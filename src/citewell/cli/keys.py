"""`citewell keys`: who may call the HTTP server."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, get_args

import anyio

from citewell.access.keys import OPERATOR, KeyTerms, create_key, list_keys, revoke_key, rotate_key
from citewell.app.open import open_app
from citewell.cli.parser import did_you_mean
from citewell.cli.terminal import print_json, print_text
from citewell.cli.work import add_json_option
from citewell.core.errors import InvalidArgument
from citewell.tools.toolsets import Toolset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.access.keys import NewKey
    from citewell.core.identity import AccessKey
    from citewell.core.settings import Settings
    from citewell.store.access import AccessStore

DESCRIPTION = """\
Create, list, replace and revoke the keys that HTTP clients send as `Authorization: Bearer KEY`. A
key is shown once, when it is made; only its hash is stored. Once there is a key, the HTTP server
asks every client for one, also after all keys were revoked, until `prune` has deleted the last. A
key that is revoked stops working within seconds."""

EXAMPLES = """\
  citewell keys create ann
  citewell keys create reports --scope read --toolsets research,kb --expires-days 30
  citewell keys create birds-team --project birds --monthly-units 10000
  citewell keys list
  citewell keys rotate ann --keep-old-hours 24
  citewell keys revoke ann
  citewell keys prune"""

ACTIONS = {
    "create": "create a key and show it once",
    "list": "list the keys",
    "revoke": "revoke a key",
    "rotate": "replace a key with a new one of the same name",
    "prune": "delete the keys that were revoked or have expired",
}
DEFAULT_ACTION = None

# A hundred years.
_MOST_DAYS = 36_500


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of all actions, for the documentation."""
    parser.add_argument("action", metavar="ACTION", choices=ACTIONS, help=", ".join(ACTIONS))
    parser.add_argument("name", nargs="?", metavar="NAME", help="what the key is called")
    _add_terms(parser)
    _add_rotation(parser)
    _add_yes_option(parser)
    add_json_option(parser)


def add_action_arguments(parser: argparse.ArgumentParser, action: str) -> None:
    """Declare the arguments of one action."""
    if action not in ("list", "prune"):
        parser.add_argument("name", metavar="NAME", help="what the key is called")
    if action == "create":
        _add_terms(parser)
    elif action == "rotate":
        _add_rotation(parser)
    elif action == "prune":
        _add_yes_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Do what the action says, and print the outcome."""
    anyio.run(partial(_run, arguments, settings))
    return 0


def _add_terms(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scope",
        choices=("read", "write", "admin"),
        default="write",
        help="what the key may do; each includes the ones before it (default write)",
    )
    parser.add_argument(
        "--toolsets", metavar="NAMES", help="only these toolsets, comma-separated (default all)"
    )
    parser.add_argument(
        # Not `project`: that is the server's own setting.
        "--project",
        dest="key_project",
        metavar="NAME",
        help="the one project that the key can see",
    )
    parser.add_argument(
        "--monthly-units", type=_count, metavar="N", help="maximum units its calls can cost a month"
    )
    parser.add_argument("--expires-days", type=_days, metavar="N", help="days until it ends")


def _add_rotation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep-old-hours",
        type=_hours,
        default=0,
        metavar="N",
        help="hours that the old key still works (default 0)",
    )


def _add_yes_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="delete without asking")


async def _run(arguments: argparse.Namespace, settings: Settings) -> None:
    async with open_app(settings, role="command") as app:
        await _ACTIONS[arguments.action](arguments, (await app.open("store")).store.access)


async def _create(arguments: argparse.Namespace, store: AccessStore) -> None:
    expires_at = None
    if arguments.expires_days is not None:
        expires_at = datetime.now(UTC) + timedelta(days=arguments.expires_days)
    terms = KeyTerms(
        scope=arguments.scope,
        toolsets=_toolsets(arguments.toolsets),
        project=arguments.key_project,
        monthly_units=arguments.monthly_units,
        expires_at=expires_at,
    )
    new = await create_key(store, arguments.name, terms, by=OPERATOR)
    _print_new(new, as_json=arguments.json)


async def _rotate(arguments: argparse.Namespace, store: AccessStore) -> None:
    keep = timedelta(hours=arguments.keep_old_hours)
    new = await rotate_key(store, arguments.name, keep_old_for=keep, by=OPERATOR)
    _print_new(new, as_json=arguments.json)


async def _revoke(arguments: argparse.Namespace, store: AccessStore) -> None:
    revoked = await revoke_key(store, arguments.name, by=OPERATOR)
    if arguments.json:
        print(json.dumps({"name": arguments.name, "revoked": revoked}))
    else:
        keys = await list_keys(store, by=OPERATOR)
        print_text(
            f"Revoked {arguments.name}; servers refuse it within seconds.{_note_lockout(keys)}"
        )


async def _prune(arguments: argparse.Namespace, store: AccessStore) -> None:
    # Imported late: the other actions do without.
    from citewell.cli.confirm import refuse_unless_agreed
    from citewell.core.text import counted

    ended = [key for key in await list_keys(store, by=OPERATOR) if _state(key) != "live"]
    names = [f"{key.name} (…{key.hint}, {_state(key)})" for key in ended]
    refuse_unless_agreed(names, is_agreed=arguments.yes)
    deleted = await store.prune_keys(now=datetime.now(UTC))
    is_open = not await store.has_keys()
    if arguments.json:
        print(json.dumps({"deleted": deleted, "keys_left": not is_open}))
        return
    said = "No key is left: the server lets in every program on this machine, and nobody else."
    print_text(f"Deleted {counted(deleted, 'key')}.{f' {said}' if is_open else ''}")


async def _list(arguments: argparse.Namespace, store: AccessStore) -> None:
    keys = await list_keys(store, by=OPERATOR)
    if arguments.json:
        print_json([_shape(key) for key in keys])
    else:
        print_text(f"{_table(keys)}{_note_lockout(keys)}")


_ACTIONS = {
    "create": _create,
    "list": _list,
    "revoke": _revoke,
    "rotate": _rotate,
    "prune": _prune,
}


def _note_lockout(keys: Sequence[AccessKey]) -> str:
    """Return how a server can be used again that asks for keys of which none works."""
    if not keys or any(_state(key) == "live" for key in keys):
        return ""
    return (
        "\n\nNo live key is left, and the server still asks for one.\n"
        "To make one: `citewell keys create NAME`.\n"
        "To let in programs on this machine without a key: `citewell keys prune`."
    )


def _print_new(new: NewKey, *, as_json: bool) -> None:
    if as_json:
        print_json({**_shape(new.key), "key": new.token})
        return
    print_text(
        f"{new.token}\n\n"
        f"This is the key {new.key.name!r}. It is not shown again; clients send it as\n"
        "  Authorization: Bearer KEY\n"
        "A client that serves several people can say who asks, so that each has their own\n"
        "questions and citations: Authorization: Bearer USER:AGENT@KEY, with names of your choice."
    )


def _toolsets(text: str | None) -> frozenset[str] | None:
    if text is None:
        return None
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    known = set(get_args(Toolset))
    if unknown := sorted(names - known):
        listed = ", ".join(sorted(known))
        hint = did_you_mean(unknown[0], known) or f"; the toolsets are {listed}"
        raise InvalidArgument(f"--toolsets names {unknown[0]!r}{hint}")
    if not names:
        raise InvalidArgument("--toolsets is empty: the key could call no tool")
    return names


def _shape(key: AccessKey) -> dict[str, object]:
    return {
        "name": key.name,
        "hint": key.hint,
        "state": _state(key),
        "scopes": sorted(key.scopes),
        "toolsets": None if key.toolsets is None else sorted(key.toolsets),
        "project": key.project,
        "monthly_units": key.monthly_units,
        "created_at": key.created_at.isoformat(timespec="seconds"),
        "expires_at": key.expires_at and key.expires_at.isoformat(timespec="seconds"),
    }


def _table(keys: Sequence[AccessKey]) -> str:
    if not keys:
        return "No keys. Make one with `citewell keys create NAME`."
    heads = ("name", "key", "state", "scopes", "toolsets", "project", "units/month", "expires")
    rows = [
        (
            key.name,
            f"…{key.hint}",
            _state(key),
            ",".join(sorted(key.scopes)),
            "all" if key.toolsets is None else ",".join(sorted(key.toolsets)),
            key.project or "-",
            "-" if key.monthly_units is None else f"{key.monthly_units:,}",
            "-" if key.expires_at is None else f"{key.expires_at:%Y-%m-%d %H:%M}",
        )
        for key in keys
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (heads, *rows)
    )


def _state(key: AccessKey) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "live" if key.is_live(datetime.now(UTC)) else "expired"


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is below zero")
    return number


def _days(text: str) -> int:
    number = _count(text)
    if not 1 <= number <= _MOST_DAYS:
        raise argparse.ArgumentTypeError(f"{text} is not from 1 to {_MOST_DAYS:,}")
    return number


def _hours(text: str) -> int:
    number = _count(text)
    if number > 24 * _MOST_DAYS:
        raise argparse.ArgumentTypeError(f"{text} is more than {24 * _MOST_DAYS:,}")
    return number
