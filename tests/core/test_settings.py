"""Settings: where values come from and what a wrong one says."""

from pathlib import Path

import pytest

from citewell.core.errors import SettingsError
from citewell.core.settings import Settings, load_settings


def test_without_anything_given_the_defaults_stand() -> None:
    assert load_settings(environment={}, env_file=None) == Settings()


def test_flags_beat_the_environment_which_beats_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.env"
    file.write_text(
        "MCP_PORT=1\nMCP_HOST='10.0.0.1' \n# a comment\nexport MCP_TOOL_TIMEOUT=5 # seconds\n",
        encoding="utf-8",
    )

    settings = load_settings(
        {"mcp_port": 3, "mcp_host": None},
        environment={"MCP_PORT": "2", "MCP_LOG_LEVEL": "debug"},
        env_file=file,
    )

    assert settings.mcp_port == 3
    assert settings.mcp_host == "10.0.0.1"
    assert settings.mcp_tool_timeout == 5.0
    assert settings.mcp_log_level == "DEBUG"


def test_a_file_can_be_named_in_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "other.env"
    file.write_text("PROJECT=herons\n", encoding="utf-8")

    assert load_settings(environment={"CITEWELL_ENV_FILE": str(file)}).project == "herons"


def test_lists_are_split_at_commas() -> None:
    settings = load_settings(environment={"WEB_ALLOWED_PRIVATE_HOSTS": "127.0.0.1, 10.0.0.0/8,"})

    assert settings.web_allowed_private_hosts == ("127.0.0.1", "10.0.0.0/8")


def test_an_empty_optional_setting_counts_as_unset() -> None:
    assert load_settings(environment={"MCP_AUTH_TOKEN": ""}).mcp_auth_token is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("MCP_PORT", "many", "MCP_PORT must be a whole number, not 'many'"),
        ("MCP_PORT", "70000", "MCP_PORT must be at most 65535, not 70000"),
        ("MCP_TOOL_TIMEOUT", "0", "MCP_TOOL_TIMEOUT must be at least 0.1, not 0.0"),
        ("MCP_TRANSPORT", "pigeon", "MCP_TRANSPORT must be one of stdio, streamable-http, not"),
        ("WEB_RESPECT_ROBOTS", "perhaps", "WEB_RESPECT_ROBOTS must be true or false"),
    ],
)
def test_a_wrong_value_is_refused_with_one_clear_line(name: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(environment={name: value})

    assert message in caught.value.message
    assert "\n" not in caught.value.message


def test_a_file_line_without_an_equals_sign_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bad.env"
    file.write_text("MCP_PORT\n", encoding="utf-8")

    with pytest.raises(SettingsError, match="line 1 is not NAME=value"):
        load_settings(environment={}, env_file=file)
