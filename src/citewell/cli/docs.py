"""`citewell docs`: a folder of Markdown as a website and as MCP tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.cli.parser import add_setting_option
from citewell.core.errors import InvalidArgument, SettingsError
from citewell.core.text import counted, join_lines

if TYPE_CHECKING:
    import argparse

    from citewell.core.settings import Settings

DESCRIPTION = """\
Serve a folder of Markdown: a website for people, llms.txt and /mcp for models, in one process.
`docs build OUT` writes the website as static files instead."""

EXAMPLES = """\
  citewell docs ./docs
  citewell docs ./docs --watch --port 8080
  CITEWELL_MCP_ENABLED=false citewell docs ./docs          # the website only
  citewell docs build ./site --root ./docs --base-url https://docs.example.org"""

_DEFAULT_ROOT = "docs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `docs`."""
    parser.add_argument(
        "folder", nargs="?", metavar="DIR", help="folder to serve (CITEWELL_DOCS_ROOT, else ./docs)"
    )
    parser.add_argument("out", nargs="?", metavar="OUT", help="after `build`: folder to write to")
    add_setting_option(
        parser, "--root", "docs_root", metavar="DIR", about="the docs folder, for `build`"
    )
    add_setting_option(parser, "--host", "mcp_host", metavar="ADDRESS", about="address to bind")
    add_setting_option(parser, "--port", "mcp_port", metavar="PORT", about="port to bind")
    add_setting_option(parser, "--base-url", "docs_base_url", metavar="URL", about="public address")
    add_setting_option(parser, "--cache", "docs_cache_root", metavar="DIR", about="index cache")
    parser.add_argument("--watch", action="store_true", help="pick up changed files while serving")
    add_setting_option(
        parser, "--toolsets", "mcp_toolsets", metavar="NAMES", about="toolsets to list"
    )
    add_setting_option(parser, "--log-level", "mcp_log_level", metavar="LEVEL", about="log level")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve until the process is stopped, or write the website."""
    if arguments.folder == "build":
        return _build(arguments.out, settings)
    if arguments.out is not None:
        raise InvalidArgument(f"{arguments.out}: only `docs build OUT` takes a second folder")
    # Imported late: writing files needs no web server.
    from citewell.server.docs_server import serve_docs

    base_url = settings.docs_base_url
    if base_url and not base_url.startswith(("http://", "https://")):
        raise SettingsError("CITEWELL_DOCS_BASE_URL must start with http:// or https://")
    root = arguments.folder or settings.docs_root or _DEFAULT_ROOT
    serve_docs(replace(settings, docs_root=root), watch=arguments.watch)
    return 0


def _build(out: str | None, settings: Settings) -> int:
    if out is None:
        raise InvalidArgument("name the folder to write to: citewell docs build OUT")
    # Imported late: serving starts without the renderer.
    from citewell.app.docs_folder import require_docs
    from citewell.tools.docs.site import build_website

    named = replace(settings, docs_root=settings.docs_root or _DEFAULT_ROOT)
    report = build_website(require_docs(named), Path(out), settings=named)
    faults = [
        *(f"{path}: not rendered, see the log" for path in report.not_rendered),
        *(f"{link.path}: no page at {link.target}" for link in report.broken_links),
    ]
    print(
        join_lines(
            [
                f"{counted(report.pages, 'page')}, {counted(report.files, 'file')} in {out}",
                *faults,
            ]
        )
    )
    return 0
