"""What a `.d.ts` file declares, and how its comments read as Markdown."""

from __future__ import annotations

import time

import pytest

from citewell.ingest.packages.declarations import find_declarations
from citewell.ingest.packages.tsdoc import tsdoc_markdown


def codes(text: str) -> dict[str, str]:
    """Return the code of every declaration of a package named egret, by its name."""
    return {each.name: each.code for each in find_declarations(text, package="egret")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export declare function wade(depth: number): void;\n", {"wade"}),
        ("declare const hidden: 1\nexport declare const shown: 2\n", {"shown"}),
        ("declare const a: 1; declare class B {}\nexport { a, type B as Bird };\n", {"a", "Bird"}),
        ("declare class A {}\nexport { A, A as B };\nexport { A as C };\n", {"A"}),
        ("export declare class A {}\nexport { A as B };\n", {"A"}),
        ("declare function egret(): void;\nexport = egret;\n", {"egret"}),
        ("declare function egret(): void;\n", {"egret"}),
        ("export default function (): void;\n", {"default"}),
        ('declare module "egret" {\n  function wade(): void;\n}\n', {"wade"}),
        ('declare module "node:fs/promises" {\n  function cp(): void;\n}\n', {"fs.promises.cp"}),
        ("export namespace A {\n  namespace B {\n    const c: 1;\n  }\n}\n", {"A.B.c"}),
        ("declare global {\n  interface Window { egret: 1 }\n}\nexport {};\n", {"Window"}),
        ("/** @internal */\nexport const a: 1;\nexport const _b: 1;\n", set()),
        (
            "export class A {\n  /** One. */\n  get size(): number;\n  /** Two. */\n  private x: 1;\n"
            "  /** Three. */\n  [key: string]: unknown;\n}\n",
            {"A", "A.size"},
        ),
    ],
)
def test_what_is_public_is_found_by_its_qualified_name(text: str, expected: set[str]) -> None:
    assert set(codes(text)) == expected


def test_members_without_a_comment_are_shown_with_what_has_them() -> None:
    text = (
        "export interface Options<T = { a: 1 }> extends Base {\n"
        "  /** How far to look. */\n  range?: number;\n"
        "  nested: { deep: Map<string, Array<number>> },\n"
        "  done?: (at: number) =>\n    void\n"
        "}\n"
    )

    assert codes(text) == {
        "Options": (
            "export interface Options<T = { a: 1 }> extends Base {\n"
            "  nested: { deep: Map<string, Array<number>> }\n"
            "  done?: (at: number) => void\n"
            "}"
        ),
        "Options.range": "range?: number;",
    }


def test_an_interface_that_extends_several_has_its_members() -> None:
    text = "export interface Heron<T> extends Bird<T, 1>,\n  Wader {\n  wade(): T;\n}\n"

    assert codes(text)["Heron"].endswith("Wader {\n  wade(): T;\n}")


def test_a_statement_goes_on_over_lines_strings_and_comments() -> None:
    text = (
        "export type Kind =\n  | 'a;b' // the first; really\n  | `c}`\n\n"
        "export enum Flag { A = 1 << 0, B = 1 << 1 }\n"
        "export type Both = { a: 1 } & {\n  b: 2;\n};\n"
        "export const last: 1\n"
    )

    found = codes(text)

    assert list(found) == ["Kind", "Flag", "Both", "last"]
    assert found["Kind"].endswith("| `c}`")
    assert found["Flag"] == "export enum Flag {\n  A = 1 << 0\n  B = 1 << 1\n}"


def test_overloads_without_a_comment_of_their_own_are_one_declaration() -> None:
    text = "/** Wades. */\nexport function wade(): void;\nexport function wade(depth: 1): void;\n"

    (declaration,) = find_declarations(text, package="egret")

    assert (
        declaration.code == "export function wade(): void;\nexport function wade(depth: 1): void;"
    )
    assert declaration.comment.strip() == "Wades."
    assert declaration.line == 2


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        (" Finds egrets. ", "Finds egrets."),
        ("\nFinds egrets.\n\n@returns how many\n", "Finds egrets.\n\n- **returns** how many"),
        (
            "\n * @name find\n * @summary Finds {@link Egret | egrets}.\n *\n * @description\n"
            " * Slowly, see {@link wade}.\n * @param at - where,\n * and when\n",
            "Finds egrets.\n\nSlowly, see `wade`.\n\n- **param** at - where,\n  and when",
        ),
        ("\n * One.\n * @example\n * find(1)\n", "One.\n\nExample:\n\n```ts\nfind(1)\n```"),
        (
            "\n * @example <caption>In water</caption>\n * ```js\n * @find(1)\n * ```\n",
            "Example: In water\n\n```js\n@find(1)\n```",
        ),
        ("\n * # Wading\n", "\\# Wading"),
    ],
)
def test_a_comment_reads_as_markdown_with_its_summary_first(comment: str, expected: str) -> None:
    assert tsdoc_markdown(comment) == expected


@pytest.mark.parametrize(
    "attack",
    [
        *("{", "<", "( ", "( ] ", "}", "/*", "'", '"a\n', "type a = {", "export ", "a |\n", "|\n"),
        *("namespace a {", "/** @internal */ a;", "@example ", "a\n\n\n"),
    ],
)
def test_a_hostile_file_is_read_in_a_time_that_grows_with_its_size(attack: str) -> None:
    def seconds(size: int) -> float:
        text = attack * (size // len(attack))
        started = time.process_time()
        find_declarations(text, package="egret")
        tsdoc_markdown(text)
        return time.process_time() - started

    assert seconds(200_000) < max(10 * seconds(50_000), 0.5)


def test_methods_of_what_extends_several_generic_interfaces_are_its_own() -> None:
    found = find_declarations(
        "export interface Herons<DB, TB extends keyof DB, O>\n"
        "  extends Where<DB, TB>, Having<DB, TB>,\n  Named<O> {\n"
        "  /** Keep some. */\n"
        "  where<RE extends Ref<DB, TB>, VE extends Value<DB, TB, RE>>(lhs: RE, rhs: VE): Herons<DB, TB, O>;\n"
        "  where<E extends Factory<DB, TB>>(expression: E): Herons<DB, TB, O>;\n}\n"
        "export declare class Pond<DB> extends Water<DB> implements Deep<DB>, Wide {\n"
        "  /** Begin. */\n  transaction(): Transaction<DB>;\n}\n",
        package="pond",
    )

    assert [each.name for each in found] == ["Herons", "Herons.where", "Pond", "Pond.transaction"]
