"""The files that registries and clients install Citewell from: their form, and one version in all."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonschema

from citewell import __version__

ROOT = Path(__file__).resolve().parent.parent
STARTS = {"command": "uvx", "args": ["citewell", "serve"]}

# What the registry's schema of 2025-12-11 says of the fields that we use.
SERVER_SCHEMA = {
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages"],
    "additionalProperties": False,
    "properties": {
        "$schema": {
            "pattern": r"^https://static\.modelcontextprotocol\.io/schemas/.*schema\.json$"
        },
        "name": {"pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "maxLength": 255},
        "repository": {"type": "object", "required": ["url", "source"]},
        "packages": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["registryType", "identifier", "transport"],
                "properties": {
                    "transport": {"required": ["type"], "properties": {"type": {"const": "stdio"}}},
                    "packageArguments": {
                        "items": {
                            "required": ["type", "value"],
                            "properties": {"type": {"const": "positional"}},
                        }
                    },
                    "environmentVariables": {
                        "items": {
                            "required": ["name"],
                            "additionalProperties": False,
                            "properties": {
                                field: {"type": "string"}
                                for field in ("name", "description", "default", "placeholder")
                            },
                        }
                    },
                },
            },
        },
    },
}


def read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((ROOT / name).read_text(encoding="utf-8"))
    return content


def test_the_registry_would_take_the_server() -> None:
    server = read("server.json")

    jsonschema.validate(server, SERVER_SCHEMA)
    # How the registry knows that the package on PyPI is of the same people.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"mcp-name: {server['name']}" in readme


def test_every_file_names_the_version_of_the_package() -> None:
    server = read("server.json")
    versions = [
        server["version"],
        server["packages"][0]["version"],
        read("deploy/mcpb/manifest.json")["version"],
        read("deploy/claude-code-plugin/.claude-plugin/plugin.json")["version"],
    ]

    assert versions == [__version__] * 4


def test_the_settings_they_name_exist() -> None:
    named = [
        variable["name"] for variable in read("server.json")["packages"][0]["environmentVariables"]
    ]
    named += read("deploy/mcpb/manifest.json")["server"]["mcp_config"]["env"]
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")

    assert [name for name in named if f"| `{name}` |" not in reference] == []


def test_the_plugin_is_in_its_marketplace() -> None:
    [plugin] = read(".claude-plugin/marketplace.json")["plugins"]
    manifest = json.loads(
        (ROOT / plugin["source"] / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8")
    )

    assert manifest["name"] == plugin["name"]
    assert manifest["mcpServers"]["citewell"] == STARTS


def test_the_links_of_editors_start_the_same_server() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    [code] = re.findall(r"\((https://insiders\.vscode\.dev/[^)]+)\)", page)
    [cursor] = re.findall(r"\((https://cursor\.com/[^)]+)\)", page)

    of_code, of_cursor = (parse_qs(urlsplit(link).query) for link in (code, cursor))

    assert json.loads(of_code["config"][0]) == STARTS
    assert json.loads(base64.b64decode(of_cursor["config"][0])) == STARTS


def test_the_bundle_holds_the_wheel_and_what_starts_it(tmp_path: Path) -> None:
    wheel = tmp_path / f"citewell-{__version__}-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    bundles = [tmp_path / "one.mcpb", tmp_path / "two.mcpb"]

    for bundle in bundles:
        program = ROOT / "deploy" / "mcpb" / "build.py"
        subprocess.run([sys.executable, program, wheel, bundle], timeout=120, check=True)

    assert bundles[0].read_bytes() == bundles[1].read_bytes()
    with zipfile.ZipFile(bundles[0]) as archive:
        project = tomllib.loads(archive.read("pyproject.toml").decode())
        manifest = json.loads(archive.read("manifest.json"))
        names = set(archive.namelist())
    assert project["tool"]["uv"]["sources"]["citewell"]["path"] in names
    assert manifest["server"]["entry_point"] in names


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = [
        entry
        for entry in (*project["project"]["dependencies"], *project["dependency-groups"]["dev"])
        if isinstance(entry, str)
    ]
    locked = (ROOT / "constraints.txt").read_text("utf-8").splitlines()

    def name_of(line: str) -> str:
        match = re.match(r"[\w.-]+", line)
        return re.sub(r"[-_.]+", "-", match[0]).lower() if match else ""

    assert {name_of(entry) for entry in asked} - {name_of(line) for line in locked} == set()
