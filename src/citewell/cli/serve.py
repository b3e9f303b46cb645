"""`citewell serve`: the MCP server."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    parser.add_argument(
        "--transport",
        dest="mcp_transport",
        metavar="NAME",
        help="stdio or streamable-http (CITEWELL_MCP_TRANSPORT)",
    )
    parser.add_argument(
        "--host", dest="mcp_host", metavar="ADDRESS", help="address to bind (CITEWELL_MCP_HOST)"
    )
    parser.add_argument(
        "--port", dest="mcp_port", metavar="PORT", help="port to bind (CITEWELL_MCP_PORT)"
    )
    parser.add_argument(
        "--workers",
        dest="mcp_workers",
        metavar="N",
        help="server processes on that port (CITEWELL_MCP_WORKERS)",
    )
    parser.add_argument(
        "--toolsets",
        dest="mcp_toolsets",
        metavar="NAMES",
        help="toolsets to list, comma-separated: default, all, or names (CITEWELL_MCP_TOOLSETS)",
    )
    parser.add_argument(
        "--log-level",
        dest="mcp_log_level",
        metavar="LEVEL",
        help="DEBUG, INFO, WARNING or ERROR (CITEWELL_MCP_LOG_LEVEL)",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Serve until the client goes or the process is stopped."""
    serve(settings)
    return 0
