"""Adds an entry to a client's configuration file and leaves everything else as it was."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from citewell.core.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from citewell.cli.clients import Form

NAME = "citewell"
"""What the server is called in every client."""

_STRING_OR_COMMENT = re.compile(
    r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?', re.DOTALL
)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


def merge_entry(text: str, path: Sequence[str], entry: object, *, form: Form) -> str:
    """Return the file's text with `entry` at `path`, a list of keys; comments and order stay.

    Raises:
        InvalidArgument: the text has another form than expected.
    """
    if form == "toml":
        return _merge_toml(text, path, entry)
    return _merge_yaml(text, path, entry) if form == "yaml" else _merge_json(text, path, entry)


def format_entry(path: Sequence[str], entry: object, *, form: Form) -> str:
    """Return a file that holds nothing but `entry` at `path`."""
    return merge_entry("", path, entry, form=form)


def parse_json_with_comments(text: str) -> dict[str, Any]:
    """Return the object of a JSON file as editors write it, with comments and trailing commas.

    Raises:
        InvalidArgument: it is not JSON, or not an object.
    """
    return _parse_object(_without_comments(text))


def write_with_backup(file: Path, text: str, *, is_shared: bool = False) -> Path | None:
    """Replace a file's text in one step; return where the old text was copied, if there was any.

    A new file can be read by its owner alone unless it `is_shared`.
    """
    # Dotfiles are often links into a repository: the link stays.
    target = file.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    backup = None
    if target.exists():
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
        backup = target.with_name(f"{target.name}.{stamp}.bak")
        shutil.copy2(target, backup)
    fresh = target.with_name(f"{target.name}.new")
    fresh.unlink(missing_ok=True)
    # The settings of an entry, and those of others in the file, can hold passwords.
    limited = partial(os.open, mode=0o666 if is_shared and backup is None else 0o600)
    with open(fresh, "x", encoding="utf-8", newline="", opener=limited) as opened:
        opened.write(text)
    if backup is not None:
        shutil.copymode(backup, fresh)
    fresh.replace(target)
    return backup


def _merge_json(text: str, path: Sequence[str], entry: object) -> str:
    if not text.strip():
        text = "{}\n"
    plain = _without_comments(text)
    before = _parse_object(plain)
    merged = _put(text, plain, path, entry, indent=_indent(text))
    _check(before, _parse_object(_without_comments(merged)), path, entry)
    return merged


def _put(text: str, plain: str, path: Sequence[str], entry: object, *, indent: str) -> str:
    """Return `text` with the entry in place of the one at `path`, or as a new member."""
    start = plain.index("{")
    for depth, key in enumerate(path, start=1):
        spans = {name: (begin, end) for name, begin, end in _members(plain, start)}
        if key not in spans:
            value: Any = entry
            for inner in reversed(path[depth:]):
                value = {inner: value}
            return _insert(text, start, key, value, indent=indent, depth=depth, first=not spans)
        begin, end = spans[key]
        if depth == len(path):
            if json.loads(plain[begin:end]) == entry:
                return text
            return text[:begin] + _json(entry, indent=indent, depth=depth) + text[end:]
        if plain[begin] != "{":
            raise InvalidArgument(f"its {key!r} is not an object")
        start = begin
    raise ValueError("the path is empty")


def _insert(
    text: str, start: int, key: str, value: object, *, indent: str, depth: int, first: bool
) -> str:
    """Return `text` with a member put first into the object that begins at `start`."""
    member = f"\n{indent * depth}{json.dumps(key)}: {_json(value, indent=indent, depth=depth)}"
    if not first:
        return f"{text[: start + 1]}{member},{text[start + 1 :]}"
    end = text.index("}", start)
    inside = text[start + 1 : end].strip()
    kept = f"\n{indent * depth}{inside}" if inside else ""
    return f"{text[: start + 1]}{kept}{member}\n{indent * (depth - 1)}{text[end:]}"


def _members(plain: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield key, begin and end of the value of each member of the object at `start`."""
    position = _skip_space(plain, start + 1)
    while plain[position] != "}":
        key, position = _DECODER.raw_decode(plain, position)
        begin = _skip_space(plain, _skip_space(plain, position) + 1)
        _, end = _DECODER.raw_decode(plain, begin)
        yield key, begin, end
        position = _skip_space(plain, end)
        if plain[position] == ",":
            position = _skip_space(plain, position + 1)


def _without_comments(text: str) -> str:
    """Return JSON as of VS Code and Zed with spaces for comments and trailing commas."""

    def blank(match: re.Match[str]) -> str:
        is_string = match[0].startswith('"')
        return match[0] if is_string else re.sub(r"[^\n]", " ", match[0])

    uncommented = _STRING_OR_COMMENT.sub(blank, text)
    strings = {match.start(): match.end() for match in _STRING_OR_COMMENT.finditer(uncommented)}
    commas = [
        match.start()
        for match in _TRAILING_COMMA.finditer(uncommented)
        if not any(begin < match.start() < end for begin, end in strings.items())
    ]
    for comma in commas:
        uncommented = f"{uncommented[:comma]} {uncommented[comma + 1 :]}"
    return uncommented


def _parse_object(plain: str) -> dict[str, Any]:
    try:
        parsed = json.loads(plain)
    except ValueError as error:
        raise InvalidArgument(f"it is not JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise InvalidArgument("it is not a JSON object")
    return parsed


def _merge_toml(text: str, path: Sequence[str], entry: object) -> str:
    before = _parse_toml(text)
    name = ".".join(path)
    table = re.compile(rf"^\[{re.escape(name)}(?:\.[^\]]*)?\][^\n]*\n(?:(?!\[)[^\n]*\n?)*", re.M)
    kept = table.sub("", text).rstrip()
    assert isinstance(entry, dict), "an entry is a table"
    lines = [f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in entry.items())]
    merged = "\n".join([*([kept, ""] if kept else []), *lines]) + "\n"
    _check(before, _parse_toml(merged), path, entry)
    return merged


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidArgument(f"it is not TOML: {error}") from error


def _toml(value: object) -> str:
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {', '.join(pairs)} }}"
    return json.dumps(value, ensure_ascii=False)


def _merge_yaml(text: str, path: Sequence[str], entry: object) -> str:
    section, name = path
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith(f"{section}:")]
    if not heads:
        lines.append(f"{section}:")
        heads = [len(lines) - 1]
    if not re.fullmatch(rf"{section}:\s*(?:#.*|\{{\}}\s*)?", lines[heads[0]]):
        raise InvalidArgument(f"its {section!r} is written on one line")
    lines[heads[0]] = f"{section}:"
    body = heads[0] + 1
    indent = next(
        (line[: len(line) - len(line.lstrip())] for line in lines[body:] if line.strip()), ""
    )
    indent = indent or "  "
    lines = lines[:body] + _without_block(lines[body:], f"{indent}{name}:", indent)
    # JSON is YAML: what stands after the key needs no writer of its own.
    assert isinstance(entry, dict), "an entry is a mapping"
    block = [f"{indent}{name}:"]
    block += [f"{indent * 2}{key}: {json.dumps(value)}" for key, value in entry.items()]
    return "\n".join([*lines[:body], *block, *lines[body:]]) + "\n"


def _without_block(lines: Sequence[str], head: str, indent: str) -> list[str]:
    kept: list[str] = []
    is_inside = False
    for line in lines:
        if is_inside and line.strip() and not line.startswith(f"{indent} "):
            is_inside = False
        if line.rstrip() == head:
            is_inside = True
        if not is_inside:
            kept.append(line)
    return kept


def _check(
    before: Mapping[str, Any], after: Mapping[str, Any], path: Sequence[str], entry: object
) -> None:
    """Make sure that the entry was added and nothing else was touched."""
    expected: dict[str, Any] = json.loads(json.dumps(before, default=str))
    place = expected
    for key in path[:-1]:
        place = place.setdefault(key, {})
    place[path[-1]] = entry
    if json.loads(json.dumps(after, default=str)) != json.loads(json.dumps(expected)):
        raise InvalidArgument("it has a form in which the entry cannot be added safely")


def _json(value: object, *, indent: str, depth: int) -> str:
    lines = json.dumps(value, indent=indent, ensure_ascii=False).split("\n")
    return "\n".join([lines[0], *(f"{indent * depth}{line}" for line in lines[1:])])


def _indent(text: str) -> str:
    match = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return match[1] if match else "  "


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    assert match is not None, "the pattern matches nothing, too"
    return match.end()
