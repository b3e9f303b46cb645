"""`citewell check-draft` on a text about the site."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.shell import Shell

from citewell.cli.main import main

TRUE = "In journal mode bursts are only appended."
FALSE = "In journal mode bursts are never appended."


def test_a_contradicted_sentence_fails_and_says_what_the_page_has(
    shell: Shell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["ingest", shell.site.url("/storage"), *shell.options]) == 0
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text(f"# Notes\n\n{TRUE}\n", encoding="utf-8")
    marked = FALSE.replace("never", "**never**").replace("journal", "`journal`")
    bad.write_text(f"{TRUE}\n\n{marked}\n", encoding="utf-8")
    capsys.readouterr()

    codes = [main(["check-draft", str(good), "--json", *shell.options])]
    claims = json.loads(capsys.readouterr().out)["claims"]
    codes.append(main(["check-draft", str(bad), *shell.options]))
    said = capsys.readouterr().out

    assert codes == [0, 1]
    assert [(claim["line"], claim["verdict"]) for claim in claims] == [(3, "quoted")]
    assert f"3: contradicted: {FALSE}" in said
    assert f"“{TRUE}” — {shell.site.url('/storage')}#journal:~:text=" in said
    assert "2 sentences: 1 quoted, 1 contradicted." in said
