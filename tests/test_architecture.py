"""The rules of the tree that neither ruff nor mypy can see."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "citewell"
TEXTS = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}

MAX_LINES = 400
EMPTY_NAMES = frozenset({"utils", "util", "helpers", "common", "manager", "base", "misc"})

# From the start of a text and with its second keyword: an English sentence may open with “Select”.
STATEMENT = re.compile(
    r"\s*(SELECT\s[^.;]+\sFROM\s+\w+\s*(WHERE|JOIN|ORDER|GROUP|LIMIT|,|;|$)"
    r"|INSERT\s+(OR\s+\w+\s+)?INTO\s"
    r"|UPDATE\s+\w+\s+SET\s"
    r"|DELETE\s+FROM\s"
    r"|(CREATE|DROP|ALTER)\s+(VIRTUAL\s+)?(TABLE|INDEX|TRIGGER|VIEW)\s"
    r"|WITH\s+\w+\s+AS\s*\()",
    re.IGNORECASE | re.DOTALL,
)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def lines_with_sql(program: str) -> list[int]:
    """The lines of a program on which a string begins that is a statement of SQL."""
    found = {
        node.lineno
        for node in ast.walk(ast.parse(program))
        if isinstance(node, ast.Constant | ast.JoinedStr) and STATEMENT.match(text_of(node))
    }
    return sorted(found)


def text_of(node: ast.Constant | ast.JoinedStr) -> str:
    """The text of a literal; what an f-string puts in counts as a name."""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "name" for part in node.values
        )
    return node.value if isinstance(node.value, str) else ""


@pytest.mark.slow
def test_the_import_contracts_hold() -> None:
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    result = subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )

    assert result.returncode == 0, result.stdout + result.stderr


def test_modules_are_short() -> None:
    lines = {name_of(path): text.count("\n") for path, text in TEXTS.items()}

    assert {name: count for name, count in lines.items() if count > MAX_LINES} == {}


def test_modules_say_what_they_are_for() -> None:
    silent = [
        name_of(path)
        for path, text in TEXTS.items()
        if text.strip() and not ast.get_docstring(ast.parse(text))
    ]

    assert silent == []


def test_sql_stands_in_sql_files_only() -> None:
    found = [
        f"{name_of(path)}:{line}" for path, text in TEXTS.items() for line in lines_with_sql(text)
    ]

    assert found == []


def test_sql_in_a_string_would_be_seen() -> None:
    program = """
plain = run("select a, b from t where c = ?")
several = '''
    SELECT a
    FROM t'''
joined = f"DELETE FROM {name} WHERE a = 1"
words = "Select the pages from which evidence comes, or update them."
"""

    assert lines_with_sql(program) == [2, 3, 6]


def test_modules_are_named_after_what_they_hold() -> None:
    empty = [
        name_of(path)
        for path in TEXTS
        if EMPTY_NAMES & {path.stem, *path.relative_to(SOURCE).parent.parts}
    ]

    assert empty == []


def test_every_package_has_tests_under_its_own_name() -> None:
    packages = [path.parent.name for path in SOURCE.glob("*/__init__.py")]

    untested = [name for name in packages if not any((ROOT / "tests" / name).rglob("test_*.py"))]

    assert untested == []
