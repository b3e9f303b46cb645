"""`citewell config`: adds Citewell to an MCP client, or prints what to paste there."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from citewell.cli.client_files import NAME, format_entry, merge_entry, write_with_backup
from citewell.cli.clients import CLIENTS, Client, client_file, is_of_project
from citewell.cli.parser import fill_for_terminal
from citewell.core.errors import InvalidArgument
from citewell.core.settings import setting_fields
from citewell.core.settings_sources import variable_name

if TYPE_CHECKING:
    import argparse

    from citewell.core.settings import Settings

DESCRIPTION = """\
Print the configuration that adds Citewell to an MCP client, or write it into the client's file with
--write: the rest of that file stays as it is, and a copy of it is kept. Every setting that is not
the default is carried over, so the client uses the library that you use here."""

EXAMPLES = """\
  citewell config claude-desktop --write
  citewell config claude-code --write     # .mcp.json of this project
  citewell config vscode                  # print it only
  citewell config cursor --http           # for a server that runs already"""

# Folders of uv's cache that hold the environments of uvx.
_BYTE_ORDER_MARK = "\ufeff"
_UV_CACHE = re.compile(r"(?:archive|environments)-v\d+")
# What matters to an HTTP server alone; a client that starts a program has no use for it.
_OF_HTTP_SERVERS = (
    *("mcp_transport", "mcp_host", "mcp_port", "mcp_auth_token", "mcp_allow", "mcp_sessions"),
    *("public_url", "oauth_", "rate_limit_", "mcp_rate_limit_", "billing_", "tool_prices"),
    *("docs_base_url", "mcp_enabled"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `config`."""
    parser.add_argument("client", metavar="CLIENT", choices=CLIENTS, help=", ".join(CLIENTS))
    parser.add_argument(
        "--write", action="store_true", help="add it to the client's file, keeping a copy"
    )
    parser.add_argument(
        "--file", type=Path, metavar="FILE", help="with --write: this file instead of the usual one"
    )
    parser.add_argument(
        "--http",
        action="store_true",
        help="connect to a running HTTP server at CITEWELL_MCP_HOST and CITEWELL_MCP_PORT",
    )


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the configuration, or print it."""
    client = CLIENTS[arguments.client]
    entry = _http_entry(client, settings) if arguments.http else _stdio_entry(client, settings)
    if client.form == "yaml":
        entry = _goose_entry(entry)
    _warn_of_secrets(settings)
    if arguments.write:
        _write(client, entry, arguments.file or client_file(client))
        return 0
    how = f"Merge this into {client_file(client)}, or run this command with --write."
    print(fill_for_terminal(how), file=sys.stderr)
    if arguments.client == "claude-code":
        print(f"Or: claude mcp add-json {NAME} {quote(json.dumps(entry))}", file=sys.stderr)
    text = format_entry((client.servers_key, NAME), entry, form=client.form)
    print(_with_inputs(text, client, entry), end="")
    return 0


def _write(client: Client, entry: dict[str, object], file: Path) -> None:
    try:
        stored = file.read_bytes().decode() if file.exists() else ""
        before = stored.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n")
        merged = merge_entry(before, (client.servers_key, NAME), entry, form=client.form)
        merged = _with_inputs(merged, client, entry)
        # They can be keys and passwords.
        has_settings = any(entry.get(name) for name in ("env", "envs"))
        is_shared = is_of_project(client, file) and not has_settings
        text = _written_as(stored, merged)
        backup = None if merged == before else write_with_backup(file, text, is_shared=is_shared)
    except InvalidArgument as error:
        raise InvalidArgument(
            f"{file} was not changed: {error.message}. Without --write the entry is printed."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"{file} was not changed: {error}") from error
    if merged == before:
        print(f"{file} has this entry already.")
        return
    print(f"Wrote the entry {NAME} to {file}.")
    if backup is not None:
        print(f"The previous file was kept as {backup}")
    print(client.then)


def _written_as(stored: str, text: str) -> str:
    """Return `text` with the line ends and the byte order mark of the stored file."""
    start = _BYTE_ORDER_MARK if stored.startswith(_BYTE_ORDER_MARK) else ""
    return start + (text.replace("\n", "\r\n") if "\r\n" in stored else text)


def _with_inputs(text: str, client: Client, entry: dict[str, object]) -> str:
    """Return the text with the prompt for the token, where the client asks for it that way."""
    if not client.inputs or "headers" not in entry:
        return text
    return merge_entry(text, ("inputs",), list(client.inputs), form=client.form)


def _stdio_entry(client: Client, settings: Settings) -> dict[str, object]:
    command, *first = _own_command()
    options = [] if settings.env_file is None else ["--env-file", settings.env_file]
    stated = {"type": "stdio"} if client.states_type else {}
    environment = _environment(settings)
    entry = {**stated, "command": command, "args": [*first, "serve", *options]}
    return entry | ({"env": environment} if environment else {})


def _environment(settings: Settings) -> dict[str, str]:
    """Return the settings to carry over, as variables; those of a settings file stay in it."""
    variables = {}
    for field in setting_fields():
        value = getattr(settings, field.name)
        is_elsewhere = settings.origins.get(field.name, "file") == "file"
        if is_elsewhere or value == field.default or field.name.startswith(_OF_HTTP_SERVERS):
            continue
        variables[variable_name(field.name)] = _as_variable(value)
    return variables


def _as_variable(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _warn_of_secrets(settings: Settings) -> None:
    carried = _environment(settings)
    secret = [variable_name(field.name) for field in setting_fields() if not field.repr]
    shown = [name for name in secret if name in carried]
    if shown:
        print(f"Keep the file private: it holds {', '.join(shown)}.", file=sys.stderr)


def _http_entry(client: Client, settings: Settings) -> dict[str, object]:
    host = "127.0.0.1" if settings.mcp_host in ("0.0.0.0", "::") else settings.mcp_host
    url = f"http://{f'[{host}]' if ':' in host else host}:{settings.mcp_port}/mcp"
    has_token = settings.mcp_auth_token is not None
    if client.url_key is None:
        is_local = host in ("127.0.0.1", "localhost")
        return _bridge_entry(url, token=client.token if has_token else None, is_local=is_local)
    entry: dict[str, object] = {"type": "http"} if client.states_type else {}
    entry[client.url_key] = url
    if has_token and client.form == "toml":
        entry["bearer_token_env_var"] = "CITEWELL_MCP_AUTH_TOKEN"
    elif has_token:
        entry["headers"] = {"Authorization": client.token}
    return entry


def _bridge_entry(url: str, *, token: str | None, is_local: bool) -> dict[str, object]:
    # A file that starts programs only: mcp-remote is one that speaks HTTP for the client.
    arguments = ["-y", "mcp-remote", url]
    if not is_local:
        # mcp-remote requires TLS for other hosts, and counts ::1 among them.
        arguments.append("--allow-http")
    entry: dict[str, object] = {"command": "npx", "args": arguments}
    if token is not None:
        arguments += ["--header", f"Authorization:{token}"]
        entry["env"] = {"AUTH_HEADER": "Bearer YOUR_TOKEN"}
    return entry


def _goose_entry(entry: dict[str, object]) -> dict[str, object]:
    """Return the entry in the words of Goose, which calls a server an extension."""
    about = {"enabled": True, "name": NAME, "timeout": 300}
    if "uri" in entry:
        return {"type": "streamable_http", **about, **entry}
    return {
        "type": "stdio",
        **about,
        "cmd": entry["command"],
        "args": entry["args"],
        "envs": entry.get("env", {}),
    }


def _own_command() -> list[str]:
    """Return how to start the Citewell that runs now, from any folder."""
    if any(_UV_CACHE.fullmatch(part) for part in Path(sys.prefix).parts):
        return _uvx_command()
    started = Path(sys.argv[0])
    if started.stem == "citewell" and started.is_file():
        return [str(started.absolute())]
    beside = Path(sys.executable).with_name(f"citewell{Path(sys.executable).suffix}")
    if beside.is_file():
        return [str(beside)]
    return [sys.executable, "-m", "citewell"]


def _uvx_command() -> list[str]:
    """Return the call of uvx that runs this Citewell; uv may remove the environment it is in."""
    # uv tells its children where it is; a client started from a desktop has another PATH.
    started_by = os.environ.get("UV", "uv")  # noqa: TID251 - uv sets it, it is no setting of ours
    beside = Path(started_by).with_name(f"uvx{Path(sys.executable).suffix}")
    uvx = shutil.which(beside) or shutil.which("uvx") or "uvx"
    origin = distribution("citewell").read_text("direct_url.json")
    if origin is None:
        return [uvx, "citewell"]
    url = str(json.loads(origin)["url"])
    source = url2pathname(urlsplit(url).path) if url.startswith("file:") else url
    return [uvx, "--from", source, "citewell"]
