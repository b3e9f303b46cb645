"""Behaviour of every command: usage, settings, exit codes, output streams."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.shell import make_database

import citewell
from citewell import __version__
from citewell.cli.main import COMMANDS, main

CITEWELL = (sys.executable, "-m", "citewell")


def run_citewell(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CITEWELL, *arguments], capture_output=True, encoding="utf-8", timeout=120, check=False
    )


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-V"]) == main(["--version"]) == 0
    assert capsys.readouterr().out == f"citewell {__version__}\n" * 2


def test_the_installed_command_runs() -> None:
    script = Path(sys.executable).with_name("citewell")

    result = subprocess.run([script, "--version"], capture_output=True, timeout=120, check=False)

    assert result.stdout.decode().split() == ["citewell", __version__]


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0

    out = " ".join(capsys.readouterr().out.split())
    assert all(f" {name} " in out and summary in out for name, summary in COMMANDS.items())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_teaches_by_examples(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0

    out = capsys.readouterr().out
    assert "examples:" in out
    assert out.count(f"citewell {name}") >= 3


def test_no_command_at_all_shows_the_help_and_is_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 2

    streams = capsys.readouterr()
    assert streams.out == ""
    assert "commands:" in streams.err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["serch", "x"], "did you mean search?"),
        (["search", "x", "--jsno"], "did you mean --json?"),
        (["config", "claud-code"], "did you mean claude-code?"),
        (["keys", "create", "a", "--toolsets", "reserch"], "did you mean research?"),
        (["ask"], "required"),
        (["ask", "https://example.org/"], "the question is missing"),
        (["ask", "https://a.example/", "https://b.example/"], "https://b.example/ is a URL"),
        (["ask", "Which day is it?", "https://a.example/"], "ask https://a.example/ 'Which day"),
        (["ask", "Which day is it?", "."], "did you mean: citewell ask . 'Which day is it?'"),
        (["ask", "https://a.example/", "what", "is", "this"], "put the question in quotes"),
        (["search"], "required: QUERY"),
        (["search", "word", "--top-k", "many"], "'many' is not a whole number"),
        (["search", "word", "--colour"], "unrecognized arguments: --colour"),
        (["config", "netscape"], "invalid choice: 'netscape'"),
        (["status", "--env-file", "/does/not/exist"], "settings file /does/not/exist"),
        (["serve", "--port", "http"], "--port must be a whole number, not 'http'"),
        (["serve", "--transport", "pigeon"], "--transport must be one of"),
        (["ask", "https://birds.example/", "Why?", "--budget", "10"], "--budget must be at least"),
        (["search", "herons", "--budget", "x"], "--budget must be a whole number, not 'x'"),
        (["worker", "--kinds", "sing"], "--kinds knows ingest, "),
        (["--versoin"], "unrecognized arguments: --versoin; did you mean --version?"),
        (["ask", "--helpp"], "unrecognized arguments: --helpp; did you mean --help?"),
        (["keys"], "arguments are required: ACTION (create, list, revoke, rotate, prune)"),
        (["completion"], "arguments are required: SHELL (bash, zsh, fish)"),
        (["search", "herons", "--top-k", "99"], "--top-k: 99 is above 50"),
        (["sites", "list", "--limit", "0"], "--limit: 0 is below 1"),
        (["ask", "birds.example/herons", "Why?"], "did you mean https://birds.example/herons?"),
        (["ask", *["https://birds.example/"] * 21, "Why?"], "ask takes at most 20 URLs, not 21"),
        (["ingest", "herons"], "'herons' is neither a file or folder nor a URL"),
        (["ingest", "https://birds.example/", "--depth", "2"], "--depth is for whole sites"),
        (["sites", "add", "https://birds.example/", "--scope", "host"], "--scope is for whole"),
        (["migrate", "--from", "mysql://host/db", "--to", "x.db"], "--from does not support mysql"),
        (["status", "--database="], "--database: the path is empty"),
        (["docs", ".", "--base-url", "birds"], "--base-url must start with http:// or https://"),
        (["docs", ".", "--log-level", "loud"], "--log-level must be one of DEBUG"),
        (["status", "--database", "oracle://x"], "--database does not support oracle"),
        (["serve", "--database", "oracle://x"], "--database does not support oracle"),
        (["config", "cursor", "--database", "oracle://x"], "--database does not support oracle"),
        (["list"], "did you mean status?"),
        (["completion"], "required: SHELL"),
    ],
)
def test_wrong_usage_is_one_complaint_on_stderr_and_exit_code_2(
    arguments: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CITEWELL_DATABASE_URL", f"sqlite:///{tmp_path / 'index.db'}")

    assert main(arguments) == 2

    streams = capsys.readouterr()
    assert streams.out == ""
    assert complaint in streams.err.splitlines()[-1]


def test_a_usage_error_shows_the_arguments_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask"]) == 2

    assert capsys.readouterr().err.splitlines() == [
        "usage: citewell ask [options] URL [URL ...] QUESTION",
        "citewell ask: error: the following arguments are required: QUESTION",
    ]


def test_help_fits_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "45")

    assert main(["--help"]) == main(["sites", "add", "--help"]) == 0

    lines = capsys.readouterr().out.splitlines()
    too_wide = [line for line in lines if len(line) > 45]
    # An example is one line, to be copied; argparse indents the usage as far as the command is long.
    assert all(line.startswith(("  citewell ", " " * 26 + "[")) for line in too_wide)


def test_a_wrong_setting_in_the_file_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env_file = tmp_path / "wrong.env"
    env_file.write_text("CITEWELL_MCP_TOOL_TIMEOUT=soon\n", encoding="utf-8")

    assert main(["--env-file", str(env_file), "status"]) == 2
    assert (
        capsys.readouterr().err
        == "citewell: CITEWELL_MCP_TOOL_TIMEOUT must be a number, not 'soon'\n"
    )


_SERVE = ["serve", "--transport", "streamable-http", "--port", "0"]
_INGEST = ["ingest", "https://birds.example/"]


@pytest.mark.parametrize(
    ("setting", "command"),
    [
        ("CITEWELL_TOOL_PRICES=abc", _SERVE),
        ("CITEWELL_RATE_LIMIT_STORAGE=abacus://", _SERVE),
        ("CITEWELL_BILLING_URL=not-a-url", _SERVE),
        ("CITEWELL_WEB_ALLOWED_PORTS=http", _INGEST),
        ("CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS=10.0.0.0/99", _INGEST),
    ],
)
def test_what_cannot_be_opened_as_it_is_set_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], setting: str, command: list[str]
) -> None:
    env_file = tmp_path / "wrong.env"
    env_file.write_text(f"{setting}\nCITEWELL_EMBEDDER=none\n", encoding="utf-8")
    database = f"sqlite:///{tmp_path / 'index.db'}"

    assert main(["--env-file", str(env_file), "--database", database, *command]) == 2

    told = capsys.readouterr().err
    assert told.startswith(f"citewell: {setting.partition('=')[0]}")
    assert told.count("\n") == 1


def test_a_wrong_toolset_is_one_line_where_the_front_is_not_prepared(tmp_path: Path) -> None:
    package = Path(citewell.__file__).parent
    checkout = tmp_path / "citewell"
    (checkout / "server").mkdir(parents=True)
    for folder in (package, package / "server"):
        for path in folder.iterdir():
            if path.name not in ("server", "tools_list.json", "__pycache__"):
                (checkout / path.relative_to(package)).symlink_to(path)

    result = subprocess.run(
        [*CITEWELL, "serve", "--toolsets", "reserch"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        env={"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])},
    )

    assert result.returncode == 2
    assert result.stderr.startswith("citewell: --toolsets names 'reserch'")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["--version", "serve"])
def test_the_light_commands_load_neither_models_nor_rich(command: str) -> None:
    program = (
        "import sys; from citewell.cli.main import main; main([sys.argv[1], '--help']);"
        "heavy = {'rich', 'onnxruntime', 'numpy', 'tokenizers', 'httpx2', 'mcp', 'starlette'};"
        "sys.exit(', '.join(heavy & set(sys.modules)))"
    )

    result = subprocess.run(
        [sys.executable, "-c", program, command], capture_output=True, timeout=120, check=False
    )

    assert result.stderr.decode().strip() == ""


def test_a_reader_that_goes_away_is_no_failure_to_shout_about() -> None:
    with subprocess.Popen(
        [*CITEWELL, "config", "cursor"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read().decode()

    assert process.returncode == 141
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors


def test_python_m_citewell_is_the_same_command() -> None:
    result = run_citewell("config", "cursor")

    assert result.returncode == 0
    assert '"citewell"' in result.stdout


_HEAVY = set(
    "citewell.tools.catalog httpcore2 httpx2 limits mcp numpy onnxruntime pydantic rich selectolax "
    "starlette Stemmer tokenizers".split()
)


@pytest.mark.parametrize(
    ("command", "most"), [("status", 56), ("jobs", 53), ("sites list", 58), ("keys list", 57)]
)
def test_a_command_in_a_pipe_imports_only_what_it_needs(
    command: str, most: int, tmp_path: Path
) -> None:
    """Else a command that takes a fifth of a second would load for a whole one."""
    program = (
        "import sys\n"
        "from citewell.cli.main import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "sys.stderr.write(' '.join(sys.modules))\n"
    )
    database = f"sqlite:///{tmp_path}/index.db"
    make_database(database)

    result = subprocess.run(
        [sys.executable, "-c", program, *command.split(), "--database", database],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )

    imported = result.stderr.split()
    ours = [name for name in imported if name.partition(".")[0] == "citewell"]
    assert _HEAVY & set(imported) == set()
    assert len(ours) <= most


def test_the_help_of_an_action_has_its_own_options_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["sites", "add", "--help"]) == 0
    adding = capsys.readouterr().out
    assert main(["sites", "list", "--help"]) == 0
    listing = capsys.readouterr().out
    assert main(["sites", "--help"]) == 0
    overview = capsys.readouterr().out

    assert "usage: citewell sites add" in adding
    assert "--max-pages" in adding
    assert "--order" not in adding
    assert "--order" in listing
    assert "--max-pages" not in listing
    assert "  refresh  fetch websites again" in overview
    assert "--order" not in overview


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["stat"], ["status"]),
        (["sites", ""], ["list", "add", "refresh", "show", "delete"]),
        (["sites", "add", "--max"], ["--max-pages"]),
        (["jobs", "list", "--state", "f"], ["failed"]),
        (["config", "vs"], ["vscode"]),
        (["ask", "https://example.org/", ""], []),
    ],
)
def test_words_complete_what_was_typed(
    typed: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", "words", "--", *typed]) == 0
    assert capsys.readouterr().out.split() == words


def test_the_script_of_bash_completes() -> None:
    folder = Path(sys.executable).parent
    program = (
        f'PATH="{folder}:$PATH"; eval "$(citewell completion bash)"; '
        'COMP_WORDS=(citewell sites re); COMP_CWORD=2; _citewell; echo "${COMPREPLY[@]}"'
    )

    result = subprocess.run(
        ["bash", "-c", program], capture_output=True, encoding="utf-8", timeout=120, check=False
    )

    assert (result.stdout, result.stderr) == ("refresh\n", "")
