"""Everything a user can name is documented, and the generated tables are up to date."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pytest
from typing_extensions import override

from citewell.cli.main import COMMANDS, build_command_parser
from citewell.core.error_codes import ErrorCode
from citewell.core.errors import CitewellError
from citewell.core.settings import setting_fields
from citewell.core.settings_sources import variable_name
from citewell.tools.catalog import ALL_TOOLS
from citewell.tools.prompts import PROMPTS, Prompt
from citewell.tools.tool import Tool

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "examples" / "site"
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
EXAMPLE_DOCUMENTS = sorted((ROOT / "examples" / "docs").rglob("*.md"))
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)


def error_names(error: type[CitewellError]) -> Iterator[str]:
    yield error.__name__
    for child in error.__subclasses__():
        yield from error_names(child)


def anchors(text: str) -> set[str]:
    """The anchors that a Markdown document's headings get."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Addresses(HTMLParser):
    """The addresses and the anchors of an HTML page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.addresses.append(value)
            elif name == "id" and value is not None:
                self.anchors.add(value)


def test_the_generated_tables_are_up_to_date() -> None:
    program = ROOT / "docs" / "generate_tables.py"
    # The same warning that pyproject.toml has the tests ignore.
    ignored = "ignore::EncodingWarning:pypdfium2_raw.version"
    result = subprocess.run(
        [sys.executable, "-W", ignored, str(program), "--check"],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )

    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=lambda tool: tool.name)
def test_a_tool_is_documented_with_its_arguments(tool: Tool[Any, Any]) -> None:
    assert f"### {tool.underscored_name}\n" in TEXT
    for argument in tool.input_schema()["properties"]:
        assert f"| `{argument}` |" in TEXT


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
def test_a_prompt_is_documented_with_its_arguments(prompt: Prompt) -> None:
    arguments = ", ".join(f"`{argument.name}`" for argument in prompt.arguments)

    assert f"| `/{prompt.name}` | {arguments} |" in TEXT


@pytest.mark.parametrize("setting", [variable_name(field.name) for field in setting_fields()])
def test_a_setting_is_documented(setting: str) -> None:
    assert f"| `{setting}` |" in TEXT


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_documented_with_its_options(command: str) -> None:
    assert f"### citewell {command}\n" in TEXT
    for option in re.findall(r"--[a-z][a-z-]+", build_command_parser(command).format_help()):
        assert f"`{option}" in TEXT


@pytest.mark.parametrize("error", list(error_names(CitewellError)))
def test_an_error_is_documented(error: str) -> None:
    assert f"| `{error}` |" in TEXT


@pytest.mark.parametrize("code", get_args(ErrorCode))
def test_an_error_code_is_documented(code: str) -> None:
    assert f"`{code}`" in TEXT


@pytest.mark.parametrize("path", [*DOCUMENTS, *EXAMPLE_DOCUMENTS], ids=lambda path: path.name)
def test_the_links_of_a_document_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\((?!https?://)([^)\s]+)\)", path.read_text(encoding="utf-8"))

    for link in links:
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("path", sorted(SITE.rglob("*.html")), ids=lambda path: path.name)
def test_the_links_of_an_example_page_lead_somewhere(path: Path) -> None:
    for address in Addresses(path.read_text(encoding="utf-8")).addresses:
        file, _, anchor = address.partition("#")
        target = path.parent / file if file else path
        assert target.is_file(), address
        assert not anchor or anchor in Addresses(target.read_text(encoding="utf-8")).anchors


def test_sitemap_and_llms_txt_list_every_example_page() -> None:
    pages = {path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")}
    sitemap = (SITE / "sitemap.xml").read_text(encoding="utf-8")
    llms = (SITE / "llms.txt").read_text(encoding="utf-8")

    assert set(re.findall(r"<loc>https://heron\.example/([^<]+)</loc>", sitemap)) == pages
    assert set(re.findall(r"\]\(([^)]+)\)", llms)) == pages
