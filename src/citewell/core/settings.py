"""Every setting, loaded once: defaults < bare names < settings file < CITEWELL_ names < flags.

Nothing else looks at the environment. Stages get plain values, not `Settings`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping  # noqa: TC003 - annotations are evaluated
from dataclasses import Field, field, fields
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from citewell import __version__
from citewell.core.errors import SettingsError
from citewell.core.frozen import frozen
from citewell.core.settings_sources import (
    Origin,
    active_python,
    find_env_file,
    refuse_foreign_database,
    unknown_variables,
    values_by_bare_name,
    values_by_name,
    values_of_file,
    values_of_flags,
    variable_name,
)
from citewell.core.settings_values import convert

if TYPE_CHECKING:
    from pathlib import Path

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
Environment = Literal["dev", "prod", "scratch"]
Transport = Literal["stdio", "streamable-http"]

BARE_NAMES = (
    "database_url",
    "mcp_auth_token",
    "mcp_enabled",
    "mcp_host",
    "mcp_kb_v2_enabled",
    "mcp_log_level",
    "mcp_max_search_results",
    "mcp_port",
    "mcp_rate_limit_requests",
    "mcp_rate_limit_window",
    "mcp_response_token_budget",
    "mcp_snippet_length",
    "mcp_structured_output_enabled",
    "mcp_tool_timeout",
    "mcp_transport",
)
"""Settings that the specifications name without CITEWELL_: the environment may hold either name.

A settings file may not, since other programs use such names too.
"""


def _setting(
    default: Any,  # noqa: ANN401 - any setting type; the field's own annotation is checked
    about: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    secret: bool = False,
) -> Any:  # noqa: ANN401 - a dataclass field stands for its value
    metadata = {"about": about, "at_least": at_least, "at_most": at_most}
    return field(default=default, repr=not secret, metadata=metadata)


@frozen
class Settings:
    """All settings; a variable is CITEWELL_ and the field's name in capitals."""

    mcp_transport: Transport = _setting("stdio", "Transport of `citewell serve`.")
    mcp_host: str = _setting("127.0.0.1", "Address the HTTP server binds to.")
    mcp_port: int = _setting(8765, "Port of the HTTP server.", at_least=0, at_most=65535)
    mcp_auth_token: str | None = _setting(
        None, "Bearer token that HTTP requests must carry.", secret=True
    )
    public_url: str | None = _setting(
        None, "Address at which clients reach the HTTP server, such as https://citewell.example."
    )
    oauth_issuer: str | None = _setting(
        None, "OAuth 2.1 authorization server whose access tokens are accepted."
    )
    oauth_audience: str | None = _setting(
        None, "Audience of accepted tokens besides CITEWELL_PUBLIC_URL with /mcp."
    )
    oauth_required_scopes: tuple[str, ...] = _setting(
        (), "Scopes that every accepted token must have."
    )
    oauth_access_claim: str = _setting(
        "scope", "Claim that grants access, such as `scope`, `roles` or `realm_access.roles`."
    )
    oauth_access_values: tuple[str, ...] = _setting(
        (), "VALUE=read, VALUE=write or VALUE=admin for each value of the claim that counts."
    )
    oauth_default_access: Literal["none", "read", "write", "admin"] = _setting(
        "read", "Access of a valid token whose claim grants none."
    )
    oauth_client_id: str | None = _setting(
        None, "Client id for signing in to the consoles and for hosts without registration."
    )
    oauth_client_secret: str | None = _setting(
        None, "Secret of that client, also for token introspection.", secret=True
    )
    mcp_allow_anonymous: bool = _setting(
        False, "Allow binding beyond loopback without any authentication."
    )
    mcp_allowed_hosts: tuple[str, ...] = _setting(
        (), "Host names (host or host:port) the HTTP server answers to besides loopback."
    )
    mcp_allowed_origins: tuple[str, ...] = _setting(
        (), "Browser origins that can call the HTTP server besides loopback."
    )
    mcp_sessions: bool = _setting(
        True, "Give HTTP clients a session; false lets any replica serve any request."
    )
    mcp_workers: int = _setting(
        1, "Processes that serve HTTP on one port over one library.", at_least=1, at_most=64
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
        30_000, "Maximum tokens of one formatted answer.", at_least=200
    )
    mcp_kb_v2_enabled: bool = _setting(
        True, "List the `kb` tools; false hides them and lists the `legacy` ones instead."
    )
    mcp_tool_timeout: float = _setting(120.0, "Maximum seconds of a tool call.", at_least=0.1)
    mcp_log_level: LogLevel = _setting("INFO", "Verbosity of the log on stderr.")
    mcp_log_format: Literal["text", "json"] = _setting("text", "Format of the log.")

    tool_prices: tuple[str, ...] = _setting(
        ("*=1",), "Units a call costs, as `tool=units`; `*` is every other tool."
    )
    rate_limit_per_key: int = _setting(
        1_200, "Requests a minute of one key; 0 means no limit.", at_least=0
    )
    rate_limit_per_address: int = _setting(
        3_000, "HTTP requests a minute from one address; 0 means no limit.", at_least=0
    )
    rate_limit_storage: str = _setting(
        "memory://", "Where requests are counted: `memory://` or `redis://host:port`."
    )
    billing_url: str | None = _setting(
        None, "OneAPI service that verifies tokens and charges them."
    )
    billing_when_down: Literal["refuse", "allow"] = _setting(
        "refuse", "Whether calls are refused or allowed while the billing service is down."
    )

    database_url: str = _setting(
        "",
        "`sqlite:///absolute/path.db` or `postgresql://…`; unset: a file in the data folder.",
    )
    postgres_schema: str = _setting(
        "citewell", "Schema that holds everything in a PostgreSQL database."
    )
    response_max_bytes: int = _setting(
        2_000_000_000,
        "Maximum bytes of responses kept beside their pages, compressed; 0 keeps none.",
        at_least=0,
    )
    citation_days: int = _setting(
        400,
        "Days that citations handed out are remembered; 0 remembers none.",
        at_least=0,
    )
    citation_questions: bool = _setting(
        True, "Remember the question that each citation was handed out for."
    )
    project: str = _setting("default", "Project whose pages this server reads and writes.")
    scope_environment: Environment = _setting(
        "prod", "Environment of this server; a call whose `scope` names another is refused."
    )
    scope_tags: tuple[str, ...] = _setting(
        (), "Tags that `ingest` gives to pages and that the `kb` tools require of them."
    )

    docs_root: str = _setting("", "Folder of Markdown that is served; unset means none.")
    docs_cache_root: str = _setting("", "Where its index is kept; unset: the user's cache folder.")
    docs_base_url: str = _setting("", "Public URL of the docs website; unset: host and port.")
    docs_allow_html: bool = _setting(False, "Trust HTML inside Markdown; else it is sanitised.")
    docs_all_tools: bool = _setting(
        False,
        "Offer all tools of a docs server without a key, not the docs tools alone.",
    )
    mcp_enabled: bool = _setting(True, "Serve /mcp beside the docs website.")
    mcp_rate_limit_requests: int = _setting(
        120, "Requests that one address can send to a docs server's /mcp in a window.", at_least=1
    )
    mcp_rate_limit_window: int = _setting(60, "Length of that window in seconds.", at_least=1)
    mcp_max_search_results: int = _setting(
        50, "Maximum results of one `search_docs`.", at_least=1, at_most=50
    )
    mcp_snippet_length: int = _setting(
        200, "Characters of a `search_docs` snippet.", at_least=20, at_most=2_000
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
    events_webhook_token: str | None = _setting(
        None, "Bearer token that is sent to webhooks.", secret=True
    )

    inference_threads: int = _setting(
        0, "Threads a local model uses; 0 means one for each core.", at_least=0, at_most=256
    )

    web_user_agent: str = _setting(
        f"Citewell/{__version__} (+https://github.com/citewell/citewell)",
        "User-Agent sent to sites.",
    )
    web_timeout_seconds: float = _setting(20.0, "Maximum seconds to fetch one page.", at_least=0.1)
    web_max_page_bytes: int = _setting(
        20_000_000, "Maximum bytes of one page, after decompression.", at_least=1_000
    )
    web_respect_robots: bool = _setting(True, "Obey robots.txt.")
    web_host_delay_seconds: float = _setting(
        0.0,
        "Minimum seconds between two requests to one host; robots.txt can ask for more.",
        at_least=0,
    )
    web_allowed_ports: tuple[str, ...] = _setting(
        ("80", "443", "8000", "8080", "8443"), "Ports of public hosts that can be fetched."
    )
    web_allowed_private_hosts: tuple[str, ...] = _setting(
        (), "Private hosts that can be fetched: host[:port] or CIDR, comma-separated."
    )
    web_render: Literal["auto", "never", "always"] = _setting(
        "auto", "When pages are rendered in a browser; `auto`: where they need it."
    )
    render_in: Literal["here", "workers"] = _setting(
        "here", "Where pages are rendered: in this process, or by `citewell worker --kinds render`."
    )
    render_browser_path: str = _setting("", "Chromium to render with; unset: the one on PATH.")
    render_max_pages: int = _setting(2, "Maximum pages rendered at a time.", at_least=1, at_most=32)
    render_no_sandbox: bool = _setting(
        False, "Run Chromium without its sandbox, as it always runs for root."
    )

    extract_with_caller_key: bool = _setting(
        False, "Embed materials at CITEWELL_EMBEDDER_ENDPOINT with the caller's own bearer token."
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
        (), "`engine=URL` for engines whose API is behind another address, such as a proxy."
    )

    people_answer_timeout_seconds: float = _setting(
        300.0, "Seconds that `ask_user` waits for an answer.", at_least=0.1, at_most=86_400
    )
    jobs_patience_seconds: float = _setting(
        5.0, "Seconds `rag_process_website` waits before it answers `processing`.", at_least=0
    )
    jobs_concurrency: int = _setting(4, "Background jobs run at a time.", at_least=1, at_most=64)
    jobs_kinds: tuple[str, ...] = _setting(
        (),
        "Background work that this process does: `ingest`, `embed`, `render`, or `none`; "
        "unset means all.",
    )
    jobs_lease_seconds: float = _setting(
        60.0, "Seconds after which the job of a dead process is taken over.", at_least=2
    )
    page_stale_days: float = _setting(
        30.0, "Days after which `answer` fetches a stored page again.", at_least=0
    )

    origins: Mapping[str, Origin] = field(default_factory=dict, repr=False, compare=False)
    """Where each value that is not a default came from."""
    env_file: str | None = field(default=None, repr=False, compare=False)
    """The absolute path of the settings file that was read."""
    problems: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Why a bare name, or a former setting in the file, was ignored."""

    def is_explicit(self, name: str) -> bool:
        """Return whether the value of `name` was meant for Citewell, as a bare name may not be."""
        return self.origins.get(name) != "bare name"

    def refuse_problems(self, names: Collection[str] = BARE_NAMES) -> None:
        """Refuse bare names that were ignored although the command needs them.

        Raises:
            SettingsError: one of `names` was ignored.
        """
        for name, problem in self.problems.items():
            if name in names:
                raise SettingsError(problem)


def setting_fields() -> list[Field[Any]]:
    """Return the settings as they are declared, in order."""
    return [setting for setting in fields(Settings) if "about" in setting.metadata]


def explain_unknown_variables(environment: Mapping[str, str] | None = None) -> list[str]:
    """Return a sentence about each variable that begins with CITEWELL_ and sets nothing."""
    names = [setting.name for setting in setting_fields()]
    return unknown_variables(names, os.environ if environment is None else environment)


def active_environment() -> Path | None:
    """Return the Python environment that the shell has activated; None without one."""
    return active_python(os.environ)


def load_settings(
    flags: Mapping[str, object] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    env_file: Path | None = None,
) -> Settings:
    """Return the settings of this process.

    `flags` holds what the command line gave, by field name; None values count as not given.
    A file is read only where `env_file` or CITEWELL_ENV_FILE names it. A bare name whose value
    cannot be used may belong to another program: it is ignored and reported in `problems`.

    Raises:
        SettingsError: a value is of the wrong type or out of range, or the file cannot be used.
    """
    env = os.environ if environment is None else environment
    declared = {setting.name: setting for setting in setting_fields()}
    file = find_env_file(env_file, env)
    problems: dict[str, str] = {}
    given = {
        **values_by_bare_name(BARE_NAMES, env),
        **(values_of_file(declared, file, problems) if file is not None else {}),
        **values_by_name(declared, env),
        **values_of_flags(flags or {}),
    }
    hints = get_type_hints(Settings)
    values: dict[str, Any] = {}
    for name, raw in given.items():
        try:
            refuse_foreign_database(name, raw)
            values[name] = convert(
                raw.written_as, raw.value, hints[name], limits=declared[name].metadata
            )
        except SettingsError as error:
            if raw.origin != "bare name":
                raise
            problems[name] = f"{error.message}; to override it, set {variable_name(name)}"
    origins = {name: given[name].origin for name in values}
    path = None if file is None else str(file.absolute())
    return Settings(**values, origins=origins, problems=problems, env_file=path)
