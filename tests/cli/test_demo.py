"""`make demo`: the bundled example site, asked through the real command and the real model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.slow
def test_the_demo_prints_a_cited_brief_that_answers_its_question() -> None:
    result = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py")],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )

    assert result.returncode == 0, result.stderr
    assert "  citewell ask" in result.stderr
    assert "[SOURCES]" in result.stdout
    assert "[EVIDENCE]" in result.stdout
    assert "the newest burst takes the place of the oldest" in result.stdout
    assert "new samples are dropped" in result.stdout
