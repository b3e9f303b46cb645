"""`citewell serve`: the MCP server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.cli.parser import add_setting_option
from citewell.server.run import serve

if TYPE_CHECKING:
    import argparse

    from citewell.core.settings import Settings

DESCRIPTION = """\
Run the MCP server. Over stdio (the default) a client such as Claude Desktop starts it and talks
to it through stdin and stdout. Over streamable-http it listens at /mcp; it binds 127.0.0.1
unless told otherwise, and refuses to bind elsewhere without a key (`citewell keys create`),
CITEWELL_MCP_AUTH_TOKEN or CITEWELL_BILLING_URL."""

EXAMPLES = """\
  citewell serve
  citewell serve --transport streamable-http --port 8765
  citewell serve --transport streamable-http --workers 4
  CITEWELL_MCP_AUTH_TOKEN=… citewell serve --transport streamable-http --host 0.0.0.0
  citewell config claude-desktop        # what to paste into the client"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `serve`; each stands for a setting, which checks its value."""
    add_setting_option(
        parser, "--transport", "mcp_transport", metavar="NAME", about="stdio or streamable-http"
    )
    add_setting_option(parser, "--host", "mcp_host", metavar="ADDRESS", about="address to bind")
    add_setting_option(parser, "--port", "mcp_port", metavar="PORT", about="port to bind")
    add_setting_option(
        parser, "--workers", "mcp_workers", metavar="N", about="server processes on that port"
    )
    add_setting_option(
        parser,
        "--toolsets",
        "mcp_toolsets",
        metavar="NAMES",
        about="toolsets to list, comma-separated: default, all, or names",
    )
    add_setting_option(
        parser,
        "--log-level",
        "mcp_log_level",
        metavar="LEVEL",
        about="DEBUG, INFO, WARNING or ERROR",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve until the client goes or the process is stopped."""
    serve(settings)
    return 0
