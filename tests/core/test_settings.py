"""Settings: where values come from and what a wrong one says."""

from pathlib import Path

import pytest

from citewell.core.errors import SettingsError
from citewell.core.settings import Settings, explain_unknown_variables, load_settings


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_without_anything_given_the_defaults_stand() -> None:
    assert load_settings(environment={}, env_file=None) == Settings()


def test_flags_beat_the_environment_which_beats_the_file_which_beats_bare_names(
    tmp_path: Path,
) -> None:
    file = write(
        tmp_path / "settings.env",
        "CITEWELL_MCP_PORT=1",
        "CITEWELL_MCP_HOST='10.0.0.1' # the address",
        "# a comment",
        "export CITEWELL_MCP_TOOL_TIMEOUT=5 # seconds",
    )

    settings = load_settings(
        {"mcp_port": 3, "mcp_host": None},
        environment={
            "CITEWELL_MCP_PORT": "2",
            "CITEWELL_MCP_LOG_LEVEL": "debug",
            "MCP_LOG_LEVEL": "ERROR",
            "MCP_HOST": "10.0.0.2",
            "MCP_SNIPPET_LENGTH": "90",
        },
        env_file=file,
    )

    assert settings.mcp_port == 3
    assert settings.mcp_host == "10.0.0.1"
    assert settings.mcp_tool_timeout == 5.0
    assert settings.mcp_log_level == "DEBUG"
    assert settings.mcp_snippet_length == 90
    assert settings.origins == {
        "mcp_port": "flag",
        "mcp_host": "file",
        "mcp_tool_timeout": "file",
        "mcp_log_level": "environment",
        "mcp_snippet_length": "bare name",
    }


def test_a_file_can_be_named_in_the_environment(tmp_path: Path) -> None:
    file = write(tmp_path / "other.env", "CITEWELL_PROJECT=herons")

    assert load_settings(environment={"CITEWELL_ENV_FILE": str(file)}).project == "herons"


def test_a_file_that_nobody_named_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / ".env", "CITEWELL_PROJECT=herons", "DATABASE_URL=postgresql://app@db/app")
    monkeypatch.chdir(tmp_path)

    assert load_settings(environment={}) == Settings()


@pytest.mark.parametrize("name", ["PROJECT", "EVENTS", "EMBEDDER", "WEB_RENDER", "MCP_TOOLSETS"])
def test_only_the_bare_names_of_the_specifications_are_read(name: str) -> None:
    assert load_settings(environment={name: "none"}) == Settings()


def test_only_a_bare_name_is_not_explicit() -> None:
    url = "postgresql://app@db/app"
    bare = load_settings(environment={"DATABASE_URL": url})
    prefixed = load_settings(environment={"DATABASE_URL": url, "CITEWELL_DATABASE_URL": url})
    flag = load_settings({"database_url": url}, environment={"DATABASE_URL": url})

    assert [each.database_url for each in (bare, prefixed, flag)] == [url] * 3
    assert not bare.is_explicit("database_url")
    assert prefixed.is_explicit("database_url")
    assert flag.is_explicit("database_url")


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("MCP_PORT", "tcp://10.0.0.1:8765", "MCP_PORT must be a whole number"),
        ("MCP_TRANSPORT", "sse", "MCP_TRANSPORT must be one of stdio, streamable-http"),
        ("MCP_HOST", "one\ntwo", "MCP_HOST must be one line"),
        ("DATABASE_URL", "mysql://app@db/app", "DATABASE_URL in the environment is not a SQLite"),
        ("DATABASE_URL", "postgresql+asyncpg://db/app", "DATABASE_URL in the environment is not"),
        ("DATABASE_URL", "postgresql://db/app\n-----", "DATABASE_URL must be one line"),
    ],
)
def test_a_bare_name_that_cannot_be_used_is_refused_only_where_it_is_needed(
    name: str, value: str, problem: str
) -> None:
    settings = load_settings(environment={name: value})

    assert settings == Settings()
    assert problem in settings.problems[name.lower()]
    assert f"set CITEWELL_{name}" in settings.problems[name.lower()]
    settings.refuse_problems({"mcp_enabled"})
    with pytest.raises(SettingsError) as caught:
        settings.refuse_problems({name.lower()})
    assert "\n" not in caught.value.message


def test_lists_are_split_at_commas() -> None:
    hosts = {"CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS": "127.0.0.1, 10.0.0.0/8,"}

    settings = load_settings(environment=hosts)

    assert settings.web_allowed_private_hosts == ("127.0.0.1", "10.0.0.0/8")


def test_an_empty_optional_setting_counts_as_unset() -> None:
    assert load_settings(environment={"CITEWELL_MCP_AUTH_TOKEN": ""}).mcp_auth_token is None


def test_secrets_are_not_part_of_how_settings_are_shown() -> None:
    assert "heron-7" not in repr(Settings(mcp_auth_token="heron-7", embedder_api_key="heron-7"))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MCP_PORT", "many", "CITEWELL_MCP_PORT must be a whole number, not 'many'"),
        ("MCP_PORT", "70000", "CITEWELL_MCP_PORT must be at most 65535, not 70000"),
        ("MCP_TOOL_TIMEOUT", "0", "CITEWELL_MCP_TOOL_TIMEOUT must be at least 0.1, not 0.0"),
        ("MCP_TOOL_TIMEOUT", "nan", "CITEWELL_MCP_TOOL_TIMEOUT must be a number, not 'nan'"),
        ("MCP_TRANSPORT", "pigeon", "CITEWELL_MCP_TRANSPORT must be one of stdio, streamable-http"),
        ("WEB_RESPECT_ROBOTS", "perhaps", "CITEWELL_WEB_RESPECT_ROBOTS must be true or false"),
        ("PROJECT", "one\ntwo", "CITEWELL_PROJECT must be one line of printable text"),
        ("MCP_LOG_LEVEL", "x" * 999, "CITEWELL_MCP_LOG_LEVEL must be one of DEBUG"),
    ],
)
def test_a_wrong_value_is_refused_with_one_clear_line(name: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(environment={f"CITEWELL_{name}": value})

    assert message in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 200


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("CITEWELL_MCP_PORT", "line 1 is not NAME=value"),
        (
            "CITEWELL_MCP_PROT=1",
            "CITEWELL_MCP_PROT is not a setting; did you mean CITEWELL_MCP_PORT?",
        ),
        ("DATABASE_URL=sqlite://", "did you mean CITEWELL_DATABASE_URL?"),
        ("mcp_port=1", "did you mean CITEWELL_MCP_PORT?"),
        ("STRIPE_SECRET=x", "STRIPE_SECRET is not a setting"),
        ('CITEWELL_PROJECT="one', "a quoted value must end on the line where it begins"),
    ],
)
def test_a_line_of_the_file_that_sets_nothing_is_refused(
    tmp_path: Path, line: str, message: str
) -> None:
    file = write(tmp_path / "bad.env", line)

    with pytest.raises(SettingsError) as caught:
        load_settings(environment={}, env_file=file)

    assert "bad.env line 1" in caught.value.message
    assert message in caught.value.message


def test_a_former_setting_in_the_file_is_ignored_with_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "old.env"
    file.write_text("CITEWELL_WEB_HOST_CONCURRENCY=2\nCITEWELL_MCP_PORT=9000\n", encoding="utf-8")

    settings = load_settings(environment={}, env_file=file)

    assert settings.mcp_port == 9000
    assert list(settings.problems.values()) == [
        f"{file} line 1: CITEWELL_WEB_HOST_CONCURRENCY is no longer a setting and is ignored"
    ]


def test_a_file_that_is_not_text_or_not_there_is_refused_with_one_line(tmp_path: Path) -> None:
    binary = tmp_path / "binary.env"
    binary.write_bytes(bytes(range(128, 256)))

    with pytest.raises(SettingsError, match="is not UTF-8 text"):
        load_settings(environment={}, env_file=binary)
    with pytest.raises(SettingsError, match="does not exist"):
        load_settings(environment={}, env_file=tmp_path / "none.env")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(environment={}, env_file=tmp_path)
    with pytest.raises(SettingsError, match="has more than 1,000,000 bytes"):
        load_settings(environment={}, env_file=Path("/dev/zero"))


def test_a_misspelt_name_in_the_environment_is_explained() -> None:
    environment = {
        "CITEWELL_MCP_MAX_CALLS": "5",
        "CITEWELL_MCP_PROT": "1",
        "CITEWELL_PLUGH": "1",
        "CITEWELL_ENV_FILE": "x",
        "CITEWELL_PROJECT": "birds",
        "PATH": "/bin",
    }

    assert explain_unknown_variables(environment) == [
        "CITEWELL_MCP_MAX_CALLS is no longer a setting and is ignored",
        "CITEWELL_MCP_PROT is not a setting; did you mean CITEWELL_MCP_PORT?",
        "CITEWELL_PLUGH is not a setting; `docs/reference.md` lists the settings",
    ]
