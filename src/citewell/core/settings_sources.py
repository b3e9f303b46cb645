"""Where settings come from: flags, the environment and a settings file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from citewell.core.errors import SettingsError
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PREFIX = "CITEWELL_"
_MAX_BYTES = 1_000_000
FILE_VARIABLE = f"{PREFIX}ENV_FILE"
"""Names the settings file; it is no setting itself."""

REMOVED = frozenset(
    {
        "answer_full_context_tokens",
        "answer_max_blocks",
        "answer_max_expansion_depth",
        "answer_max_followed_pages",
        "answer_pages_per_round",
        "billing_timeout_seconds",
        "docs_debug",
        "events_source_app",
        "extract_kept_bytes",
        "extract_max_materials_bytes",
        "mcp_max_calls",
        "mcp_max_response_bytes",
        "mcp_shutdown_seconds",
        "receipt_keys",
        "render_max_memory_mb",
        "render_timeout_seconds",
        "scratch_max_bytes",
        "scratch_ttl_seconds",
        "usage_keep_days",
        "web_host_concurrency",
        "web_max_redirects",
        "web_max_retries",
        "web_search_cache_seconds",
    }
)
"""Former settings, now constants: an old settings file may still name them."""

_DATABASES = ("sqlite://", "postgresql://", "postgres://")

Origin = Literal["bare name", "file", "environment", "flag"]


@frozen
class RawValue:
    """A value as it was given, with its name for error messages."""

    value: object
    written_as: str
    origin: Origin


def active_python(environment: Mapping[str, str]) -> Path | None:
    """Return the Python environment that a shell has activated."""
    named = environment.get("VIRTUAL_ENV") or environment.get("CONDA_PREFIX")
    return Path(named) if named else None


def variable_name(setting: str) -> str:
    """Return the environment variable that sets `setting`."""
    return f"{PREFIX}{setting.upper()}"


def find_env_file(env_file: Path | None, environment: Mapping[str, str]) -> Path | None:
    """Return the settings file that the command line or the environment names, if any."""
    named = environment.get(FILE_VARIABLE)
    return env_file or (Path(named) if named else None)


def values_by_bare_name(
    settings: Collection[str], environment: Mapping[str, str]
) -> dict[str, RawValue]:
    """Return what the environment holds under names that other programs may use too."""
    return {
        setting: RawValue(value=value, written_as=setting.upper(), origin="bare name")
        for setting in settings
        if (value := environment.get(setting.upper()))
    }


def values_by_name(
    settings: Collection[str], environment: Mapping[str, str]
) -> dict[str, RawValue]:
    """Return what the environment holds under names that begin with CITEWELL_."""
    return {
        setting: RawValue(value=environment[name], written_as=name, origin="environment")
        for setting in settings
        if (name := variable_name(setting)) in environment
    }


def values_of_flags(flags: Mapping[str, object]) -> dict[str, RawValue]:
    """Return what the command line gave; None values count as not given."""
    return {
        setting: RawValue(value=value, written_as=variable_name(setting), origin="flag")
        for setting, value in flags.items()
        if value is not None
    }


def values_of_file(
    settings: Collection[str], path: Path, problems: dict[str, str]
) -> dict[str, RawValue]:
    """Parse a settings file; former settings are ignored and added to `problems`.

    Raises:
        SettingsError: it cannot be read, has another form, or names an unknown setting.
    """
    known = {variable_name(setting): setting for setting in settings}
    values: dict[str, RawValue] = {}
    for number, line in enumerate(_read_lines(path), start=1):
        assignment = line.strip().removeprefix("export ").strip()
        if not assignment or assignment.startswith("#"):
            continue
        name, equals, value = assignment.partition("=")
        name = name.strip()
        if not equals:
            raise SettingsError(f"{path} line {number} is not NAME=value")
        if name not in known:
            problem = f"{path} line {number}: {explain_unknown(name, known)}"
            if not _is_removed(name):
                raise SettingsError(problem)
            problems[name] = problem
            continue
        text = _unquote(value.strip(), place=f"{path} line {number}")
        values[known[name]] = RawValue(value=text, written_as=name, origin="file")
    return values


def unknown_variables(settings: Collection[str], environment: Mapping[str, str]) -> list[str]:
    """Return a sentence about each variable that begins with CITEWELL_ and sets nothing."""
    known = {variable_name(setting) for setting in settings} | {FILE_VARIABLE}
    return [
        explain_unknown(name, known)
        for name in sorted(environment)
        if name.startswith(PREFIX) and name not in known
    ]


def explain_unknown(name: str, known: Collection[str]) -> str:
    """Return a sentence that names the setting which `name` may stand for."""
    if _is_removed(name):
        return f"{name} is no longer a setting and is ignored"
    from difflib import get_close_matches

    prefixed = f"{PREFIX}{name.upper().removeprefix(PREFIX)}"
    matches = (
        [prefixed] if prefixed in known else get_close_matches(prefixed, known, n=1, cutoff=0.8)
    )
    hint = f"did you mean {matches[0]}?" if matches else "`docs/reference.md` lists the settings"
    return f"{_shorten(name)} is not a setting; {hint}"


def _is_removed(variable: str) -> bool:
    return variable.startswith(PREFIX) and variable.removeprefix(PREFIX).lower() in REMOVED


def _read_lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise SettingsError(f"settings file {path} has more than {_MAX_BYTES:,} bytes")
        return data.decode("utf-8-sig").splitlines()
    except FileNotFoundError as error:
        raise SettingsError(f"settings file {path} does not exist") from error
    except OSError as error:
        raise SettingsError(f"settings file {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"settings file {path} is not UTF-8 text") from error


def _unquote(value: str, *, place: str) -> str:
    if value[:1] in ("'", '"'):
        end = value.find(value[0], 1)
        if end < 0:
            raise SettingsError(f"{place}: a quoted value must end on the line where it begins")
        return value[1:end]
    return value.split(" #")[0].rstrip()


def _shorten(name: str) -> str:
    plain = "".join(character if character.isprintable() else "?" for character in name)
    return plain if len(plain) <= 60 else f"{plain[:60]}…"


def refuse_foreign_database(name: str, raw: RawValue) -> None:
    """Refuse a DATABASE_URL that another program's database is named by.

    Raises:
        SettingsError: it is neither SQLite's nor PostgreSQL's.
    """
    is_foreign = not str(raw.value).strip().startswith(_DATABASES)
    if name == "database_url" and raw.origin == "bare name" and is_foreign:
        raise SettingsError(
            f"{raw.written_as} in the environment is not a SQLite or PostgreSQL URL"
        )
