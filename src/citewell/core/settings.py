"""Every setting, read once: defaults < `.env` or settings file < environment < flags.

Nothing else looks at the environment. Stages get plain values, not `Settings`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from citewell.core.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
Environment = Literal["dev", "prod", "scratch"]
Transport = Literal["stdio", "streamable-http"]

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


def _setting(
    default: Any,  # noqa: ANN401 - any setting type; the field's own annotation is checked
    about: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    secret: bool = False,
) -> Any:  # noqa: ANN401 - a dataclass field stands for its value
    metadata = {"about": about, "at_least": at_least, "at_most": at_most, "secret": secret}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings; the name of a variable is its field in capitals."""

    mcp_transport: Transport = _setting("stdio", "Transport of `citewell serve`.")
    mcp_host: str = _setting("127.0.0.1", "Address the HTTP server binds to.")
    mcp_port: int = _setting(8765, "Port of the HTTP server.", at_least=0, at_most=65535)
    mcp_auth_token: str | None = _setting(
        None, "Bearer token that HTTP requests must carry.", secret=True
    )
    mcp_allow_anonymous: bool = _setting(
        False, "Allow binding beyond loopback without any authentication."
    )
    mcp_allowed_hosts: tuple[str, ...] = _setting(
        (), "Host names (host or host:port) the HTTP server answers to beside loopback."
    )
    mcp_allowed_origins: tuple[str, ...] = _setting(
        (), "Browser origins that may call the HTTP server beside loopback."
    )
    mcp_sessions: bool = _setting(
        True, "Give HTTP clients a session; false lets any replica serve any request."
    )
    mcp_toolsets: tuple[str, ...] = _setting(
        ("default",), "Toolsets to list: `default`, `all`, or names."
    )
    mcp_tool_names: Literal["underscored", "dotted"] = _setting(
        "underscored", "How tool names are listed; calls work either way."
    )
    mcp_structured_output_enabled: bool = _setting(
        True, "Send structuredContent; false sends minified JSON as content instead."
    )
    mcp_response_token_budget: int = _setting(
        30_000, "Most tokens of one formatted answer.", at_least=200
    )
    mcp_max_response_bytes: int = _setting(
        400_000, "Most bytes of one tool result, both content forms together.", at_least=4_000
    )
    mcp_kb_v2_enabled: bool = _setting(
        True, "List the `kb` tools; false hides them and lists the `legacy` ones instead."
    )
    mcp_tool_timeout: float = _setting(120.0, "Seconds a tool call may take.", at_least=0.1)
    mcp_log_level: LogLevel = _setting("INFO", "Verbosity of the log on stderr.")
    mcp_log_format: Literal["text", "json"] = _setting("text", "Form of a line of the log.")
    mcp_shutdown_seconds: float = _setting(
        20.0, "Seconds that running calls have to end when the HTTP server stops.", at_least=0
    )

    tool_prices: tuple[str, ...] = _setting(
        ("*=1",), "Units a call costs, as `tool=units`; `*` is every other tool."
    )
    usage_keep_days: int = _setting(400, "Days that the record of a call is kept.", at_least=31)
    rate_limit_per_key: int = _setting(1_200, "Requests a minute of one key; 0: any.", at_least=0)
    rate_limit_per_address: int = _setting(
        3_000, "HTTP requests a minute from one address; 0: any.", at_least=0
    )
    rate_limit_storage: str = _setting(
        "memory://", "Where requests are counted: `memory://` or `redis://host:port`."
    )
    billing_url: str | None = _setting(None, "OneAPI service that knows and charges tokens.")
    billing_timeout_seconds: float = _setting(
        5.0, "Seconds the billing service may take.", at_least=0.1
    )
    billing_when_down: Literal["refuse", "allow"] = _setting(
        "refuse", "What becomes of calls when the billing service is down."
    )

    database_url: str = _setting(
        "", "`sqlite:///absolute/path.db` or `postgresql://…`; unset: a file in the user's folder."
    )
    response_max_bytes: int = _setting(
        2_000_000_000,
        "Most bytes of responses kept beside their pages, compressed; 0 keeps none.",
        at_least=0,
    )
    project: str = _setting("default", "Project whose pages this server reads and writes.")
    scope_environment: Environment = _setting(
        "prod", "Environment this server is; a call whose `scope` names another is refused."
    )
    scope_tags: tuple[str, ...] = _setting(
        (), "Tags that `ingest` gives to pages and that the `kb` tools require of them."
    )

    docs_root: str = _setting("", "Folder of Markdown that is served; unset means none.")
    docs_cache_root: str = _setting("", "Where its index is kept; unset: the user's cache folder.")
    docs_base_url: str = _setting("", "Public URL of the docs website; unset: host and port.")
    docs_debug: bool = _setting(False, "Build the docs index anew at every start.")
    docs_allow_html: bool = _setting(False, "Trust HTML inside Markdown; else it is sanitised.")
    mcp_enabled: bool = _setting(True, "Serve /mcp beside the docs website.")
    mcp_rate_limit_requests: int = _setting(
        120, "Requests one address may send to a docs server's /mcp in a window.", at_least=1
    )
    mcp_rate_limit_window: int = _setting(60, "Seconds of that window.", at_least=1)
    mcp_max_search_results: int = _setting(
        10, "Most results of one `search_docs`.", at_least=1, at_most=50
    )
    mcp_snippet_length: int = _setting(
        200, "Characters of a `search_docs` snippet.", at_least=20, at_most=2_000
    )

    scratch_ttl_seconds: float = _setting(
        1_800.0, "Seconds a passage is kept in memory for its caller.", at_least=1
    )
    scratch_max_bytes: int = _setting(
        256_000_000, "Most bytes of all passages in memory.", at_least=1_000_000
    )

    embedder: str = _setting(
        "granite",
        "`granite`, `none`, `fastembed:MODEL` or `openai:MODEL` (any compatible endpoint).",
    )
    embedder_endpoint: str = _setting(
        "https://api.openai.com/v1", "Base URL of an OpenAI-compatible embedding endpoint."
    )
    embedder_api_key: str | None = _setting(None, "Key of the embedding endpoint.", secret=True)
    reranker: str = _setting(
        "calibrated",
        "`calibrated`, `none`, `fastembed:MODEL` or `endpoint:MODEL` (Cohere or Jina style).",
    )
    reranker_endpoint: str = _setting(
        "https://api.jina.ai/v1/rerank", "URL of a Cohere- or Jina-style rerank endpoint."
    )
    reranker_api_key: str | None = _setting(None, "Key of the rerank endpoint.", secret=True)
    synthesis: str = _setting(
        "none",
        "Who writes `synthesis` when the client offers no model: `none` (quotes are joined), "
        "`openai:MODEL` or `anthropic:MODEL`.",
    )
    synthesis_endpoint: str = _setting("", "Base URL of that API; unset means the vendor's own.")
    synthesis_api_key: str | None = _setting(None, "Key of that API.", secret=True)
    events: tuple[str, ...] = _setting(
        ("log",), "Where events go: `log`, `otel`, a file of JSON lines, a webhook URL; or `none`."
    )
    events_source_app: str = _setting("citewell", "`source_app` of each event.")
    events_webhook_token: str | None = _setting(
        None, "Bearer token that webhooks get.", secret=True
    )

    inference_threads: int = _setting(
        0, "Threads a local model uses; 0 means one for each core.", at_least=0, at_most=256
    )

    web_user_agent: str = _setting(
        "Citewell/0.1 (+https://github.com/citewell/citewell)", "User-Agent sent to sites."
    )
    web_timeout_seconds: float = _setting(20.0, "Seconds one page may take to fetch.", at_least=0.1)
    web_max_page_bytes: int = _setting(
        20_000_000, "Most bytes of one page, counted after decompression.", at_least=1_000
    )
    web_max_redirects: int = _setting(8, "Most redirects followed.", at_least=0, at_most=30)
    web_max_retries: int = _setting(
        2, "Retries after 429, 5xx or a broken connection.", at_least=0, at_most=10
    )
    web_respect_robots: bool = _setting(True, "Obey robots.txt.")
    web_host_concurrency: int = _setting(4, "Most requests to one host at once.", at_least=1)
    web_host_delay_seconds: float = _setting(
        0.0,
        "Least seconds between two requests to one host; robots.txt may ask for more.",
        at_least=0,
    )
    web_allowed_ports: tuple[str, ...] = _setting(
        ("80", "443", "8000", "8080", "8443"), "Ports of public hosts that may be fetched."
    )
    web_allowed_private_hosts: tuple[str, ...] = _setting(
        (), "Private hosts that may be fetched: host[:port] or CIDR, comma-separated."
    )
    web_render: Literal["auto", "never", "always"] = _setting(
        "auto", "When pages are rendered in a browser; `auto`: where they need it."
    )
    render_in: Literal["here", "workers"] = _setting(
        "here", "Who renders: this process, or `citewell worker --kinds render` of its database."
    )
    render_browser_path: str = _setting("", "Chromium to render with; unset: the one on PATH.")
    render_max_pages: int = _setting(2, "Most pages rendered at once.", at_least=1, at_most=32)
    render_timeout_seconds: float = _setting(
        20.0, "Seconds one page may take to render.", at_least=3
    )
    render_max_memory_mb: int = _setting(
        1_000, "Most megabytes one rendered page may hold.", at_least=100, at_most=4_000
    )
    render_no_sandbox: bool = _setting(
        False, "Run Chromium without its sandbox, as it always runs for root."
    )

    extract_max_materials_bytes: int = _setting(
        400_000,
        "Most bytes of `materials` in one call of `extract_key_info`.",
        at_least=1_000,
        at_most=400_000,
    )
    extract_kept_bytes: int = _setting(
        20_000_000, "Most bytes of materials kept for one caller.", at_least=0
    )
    extract_with_caller_key: bool = _setting(
        False, "Embed materials at EMBEDDER_ENDPOINT with the caller's own bearer token."
    )

    web_search_engines: tuple[str, ...] = _setting(
        (), "Search engines in order; unset means those that have a key."
    )
    web_search_google_api_key: str | None = _setting(None, "Google API key.", secret=True)
    web_search_google_cx: str | None = _setting(None, "Google Programmable Search engine id.")
    web_search_brave_api_key: str | None = _setting(None, "Brave Search API key.", secret=True)
    web_search_tavily_api_key: str | None = _setting(None, "Tavily API key.", secret=True)
    web_search_searxng_url: str | None = _setting(None, "Base URL of a SearXNG instance.")
    web_search_urls: tuple[str, ...] = _setting(
        (), "`engine=URL` for engines whose API stands at another address."
    )
    web_search_cache_seconds: float = _setting(
        3_600.0, "Seconds for which the same search is not sent again.", at_least=0
    )

    answer_max_blocks: int = _setting(12, "Most blocks of evidence in one answer.", at_least=1)
    answer_max_expansion_depth: int = _setting(
        2, "How many links away from the given pages `answer` may go.", at_least=0, at_most=10
    )
    answer_pages_per_round: int = _setting(
        4, "Linked pages fetched at once in one round of following.", at_least=1, at_most=10
    )
    answer_max_followed_pages: int = _setting(
        8, "Most linked pages one answer may fetch.", at_least=0, at_most=100
    )
    answer_full_context_tokens: int = _setting(
        600, "Pages of fewer tokens than this in all are shown whole.", at_least=0
    )
    people_answer_timeout_seconds: float = _setting(
        300.0, "Seconds that `ask_user` waits for an answer.", at_least=0.1, at_most=86_400
    )
    jobs_patience_seconds: float = _setting(
        5.0, "Seconds `rag_process_website` waits before it answers `processing`.", at_least=0
    )
    jobs_concurrency: int = _setting(4, "Background jobs done at once.", at_least=1, at_most=64)
    jobs_kinds: tuple[str, ...] = _setting(
        (),
        "What this process does of the background work: `ingest`, `embed`, `render`, or `none`; "
        "unset means all.",
    )
    jobs_lease_seconds: float = _setting(
        60.0, "Seconds after which the job of a process that is gone is taken over.", at_least=2
    )
    page_stale_days: float = _setting(
        30.0, "Days after which `answer` fetches a stored page again.", at_least=0
    )


def load_settings(
    flags: Mapping[str, object] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    env_file: Path | None = None,
) -> Settings:
    """Return the settings of this process.

    `flags` holds what the command line gave, by field name; None values count as not given.
    The file is `env_file`, else the one named by CITEWELL_ENV_FILE, else `.env` where it exists.

    Raises:
        SettingsError: a value is of the wrong type or out of range.
    """
    env = os.environ if environment is None else environment
    given: dict[str, object] = {}
    given.update(_known(_read_env_file(_env_file(env_file, env))))
    given.update(_known(env))
    given.update({name: value for name, value in (flags or {}).items() if value is not None})
    hints = get_type_hints(Settings)
    values = {
        f.name: _convert(f.name, given[f.name], hints[f.name], f.metadata)
        for f in fields(Settings)
        if f.name in given
    }
    return Settings(**values)


def _env_file(named: Path | None, env: Mapping[str, str]) -> Path:
    if named is not None or env.get("CITEWELL_ENV_FILE"):
        path = named or Path(env["CITEWELL_ENV_FILE"])
        if not path.is_file():
            raise SettingsError(f"settings file {path} does not exist")
        return path
    return Path(".env")


def _known(source: Mapping[str, str]) -> dict[str, object]:
    return {f.name: source[f.name.upper()] for f in fields(Settings) if f.name.upper() in source}


def _read_env_file(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    values: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        plain = line.strip().removeprefix("export ").strip()
        if not plain or plain.startswith("#"):
            continue
        name, equals, value = plain.partition("=")
        if not equals:
            raise SettingsError(f"{path} line {number} is not NAME=value")
        values[name.strip()] = _unquote(value.strip())
    return values


def _unquote(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.split(" #")[0].rstrip()


def _convert(name: str, value: object, hint: Any, metadata: Mapping[str, Any]) -> Any:  # noqa: ANN401 - checked here
    result = _parse(name.upper(), value, hint)
    if isinstance(result, int | float) and not isinstance(result, bool):
        low, high = metadata["at_least"], metadata["at_most"]
        if low is not None and result < low:
            raise SettingsError(f"{name.upper()} must be at least {low}, not {result}")
        if high is not None and result > high:
            raise SettingsError(f"{name.upper()} must be at most {high}, not {result}")
    return result


def _parse(name: str, value: object, hint: Any) -> object:  # noqa: ANN401 - a type read from annotations
    text = str(value).strip()
    options = get_args(hint)
    if get_origin(hint) is Literal:
        match = [option for option in options if str(option).lower() == text.lower()]
        if not match:
            listed = ", ".join(map(str, options))
            raise SettingsError(f"{name} must be one of {listed}, not {text!r}")
        return match[0]
    if get_origin(hint) is tuple:
        parts = value if isinstance(value, list | tuple) else text.split(",")
        return tuple(str(part).strip() for part in parts if str(part).strip())
    if hint is bool:
        return _parse_bool(name, text)
    if hint in (int, float):
        return _parse_number(name, text, hint)
    return text or None if type(None) in options else text


def _parse_bool(name: str, text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise SettingsError(f"{name} must be true or false, not {text!r}")


def _parse_number(name: str, text: str, kind: type[int] | type[float]) -> int | float:
    try:
        return kind(text.replace("_", ""))
    except ValueError as error:
        article = "a whole number" if kind is int else "a number"
        raise SettingsError(f"{name} must be {article}, not {text!r}") from error
