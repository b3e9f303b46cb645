"""Which declarations of an npm package come first: those that its entry points export."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from citewell.ingest.packages.declarations import find_declarations
from citewell.ingest.packages.find import find_project, package_pages
from citewell.ingest.packages.npm_entries import EntryPoints

if TYPE_CHECKING:
    from pathlib import Path

WADE = "export declare function wade(depth: number): void;\n"


def headings_of(tmp_path: Path, described: dict[str, object], files: dict[str, str]) -> list[str]:
    """Return the headings of all declarations of a package, page by page."""
    pages = pages_of(tmp_path, described, files)
    lines = [line for page in pages.values() for line in page.splitlines()]
    return [line.partition("`")[2].partition("`")[0] for line in lines if line.startswith("## ")]


def pages_of(tmp_path: Path, described: dict[str, object], files: dict[str, str]) -> dict[str, str]:
    package = tmp_path / "node_modules" / "egret"
    (tmp_path / "package.json").write_text('{"dependencies": {"egret": "^2"}}', encoding="utf-8")
    for name, content in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(content, encoding="utf-8")
    manifest = {"name": "egret", "version": "2.0.1", **described}
    (package / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
    (found,) = find_project(tmp_path).dependencies
    loaded = {page.address.partition("/")[2]: page.load() for page in package_pages(found)}
    return {name: page.text for name, page in loaded.items() if page is not None}


@pytest.mark.parametrize(
    "described",
    [
        {"types": "./index.d.cts"},
        {"typings": "index"},
        {"main": "./index.js"},
        {"exports": "./index.js"},
        {"exports": {"import": {"types": "./index.d.mts", "default": "./index.mjs"}}},
        {"exports": {".": [], "./v1": 3}},
    ],
)
def test_what_the_package_exports_has_no_prefix(
    tmp_path: Path, described: dict[str, object]
) -> None:
    files = {
        "index.d.ts": 'export * from "./now/birds.js";\nexport { a } from "./old";\n',
        "index.d.cts": 'export * from "./now/birds.cjs";\n',
        "index.d.mts": 'export * from "./now/birds.mjs";\n',
        "now/birds.d.ts": 'import { Deep } from "./deep.js";\n' + WADE,
        "now/birds.d.cts": WADE,
        "now/birds.d.mts": WADE,
        "now/deep.d.ts": "export interface Deep { a: 1 }\n",
    }

    assert headings_of(tmp_path, described, files) == ["wade", "internal.Deep"]


def test_what_another_entry_point_exports_is_named_by_it(tmp_path: Path) -> None:
    exports = {
        ".": {"types": "./index.d.ts"},
        "./v3/birds": {"node": {"types": "./v3/index.d.ts"}},
        "./*": "./*.js",
    }
    files = {
        "index.d.ts": WADE
        + 'export * as deep from "./deep";\nimport X from "./x";\nexport { X };\n',
        "deep.d.ts": "export declare const lake: 1;\n",
        "v3/index.d.ts": WADE,
        "x.d.ts": "declare class X {}\nexport default X;\n",
    }

    assert headings_of(tmp_path, {"exports": exports}, files) == [
        *("deep.lake", "wade", "X", "v3.birds.wade"),
    ]


def test_files_of_a_package_without_an_entry_point_have_no_prefix(tmp_path: Path) -> None:
    assert headings_of(tmp_path, {"exports": {"../x": "../../x.js"}}, {"a.d.ts": WADE}) == ["wade"]


def test_a_reference_to_another_file_shows_what_is_there(tmp_path: Path) -> None:
    files = {
        "index.d.ts": (
            "export declare namespace Egret {\n"
            '  const wade: typeof import("./api").wade\n  const fly: typeof import("./api").fly\n'
            '  const out: typeof import("../../x").out\n}\n'
        ),
        "api.d.ts": "/** Into water. */\n" + WADE,
    }

    page = pages_of(tmp_path, {"types": "index.d.ts"}, files)["index.d.ts"]

    assert (
        "## `Egret.wade` {#Egret.wade}\n\n```ts\n"
        'const wade: typeof import("./api").wade\n'
        "export declare function wade(depth: number): void;\n```\n\nInto water."
    ) in page
    assert '```ts\nconst fly: typeof import("./api").fly\n```' in page


def test_a_deprecated_overload_is_part_of_one_in_use() -> None:
    text = (
        "export class Bird {\n  /** @deprecated Use a number. */\n  wade(depth: string): void;\n"
        "  /** Into water. */\n  wade(depth: number): void;\n"
        "  /** @deprecated */\n  fly(): void;\n}\n"
    )

    _, wade, fly = find_declarations(text, package="egret")

    assert (wade.code, wade.deprecated) == (
        "wade(depth: number): void;",
        ("wade(depth: string): void;",),
    )
    assert (fly.name, fly.deprecated) == ("Bird.fly", ())


@pytest.mark.parametrize("attack", ["import ", "export {", 'from "./a" ', "export * from", "///"])
def test_a_hostile_entry_point_is_read_in_bounded_time(tmp_path: Path, attack: str) -> None:
    text = attack * (1_000_000 // len(attack))
    (tmp_path / "package.json").write_text('{"types": "index.d.ts"}', encoding="utf-8")
    (tmp_path / "index.d.ts").write_text(text, encoding="utf-8")
    started = time.process_time()

    entries = EntryPoints(tmp_path)

    assert entries.prefix(tmp_path / "index.d.ts") == ""
    assert time.process_time() - started < 5
