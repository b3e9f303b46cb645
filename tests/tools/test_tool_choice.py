"""The table of requests in the playbook is about the tools that are listed by default."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from citewell.tools.catalog import ALL_TOOLS
from citewell.tools.toolsets import choose_tools

PLAYBOOK = Path(__file__).parents[2] / "docs" / "playbook.md"


def requests() -> dict[str, str]:
    section = PLAYBOOK.read_text(encoding="utf-8").partition("## Forty requests")[2]
    rows = re.findall(r"^\| (.+) \| `(\w+)` \|$", section, flags=re.MULTILINE)
    return dict(rows)


def test_forty_requests_cover_every_default_tool() -> None:
    listed = {tool.underscored_name for tool in choose_tools(ALL_TOOLS, ["default"])}
    chosen = Counter(requests().values())

    assert chosen.total() == 40
    assert set(chosen) == listed
    assert min(chosen.values()) >= 3
