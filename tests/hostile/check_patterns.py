"""Checks a share of the package's patterns and prints the slow ones as JSON lines.

`python -m tests.hostile.check_patterns SHARE SHARES` is run in a process of its own, so that a
pattern that cannot even be interrupted ends with that process.
"""

from __future__ import annotations

import json
import re
import resource
import sys

from tests.hostile.package_patterns import collect_patterns
from tests.hostile.pattern_growth import find_slow_text

# About ten are needed; unlike a limit on the time that passes, this holds on a busy machine too.
_CPU_SECONDS = 100
# Patterns that only ever meet texts of so many characters, cut to that before; each is checked
# with texts of that length.
LONGEST_TEXTS = {
    "citewell.core.definitions._ASKS_WHAT": 300,
    "citewell.core.asking._TAIL": 40,
    "citewell.ingest.content_types.labels._PATTERNS": 60,
    "citewell.ingest.extract.html.article_names._WORDS": 80,
    "citewell.research.analyse._SIDES": 300,
}


def main() -> None:
    """Check the patterns of a share, or the one that is given instead."""
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    if sys.argv[1] == "--pattern":
        _report("given", re.compile(sys.argv[2]), ("search",), None)
        return
    share, shares = int(sys.argv[1]), int(sys.argv[2])
    for pattern in collect_patterns().patterns[share::shares]:
        _report(pattern.place, pattern.pattern, pattern.methods, LONGEST_TEXTS.get(pattern.place))


def _report(
    place: str, pattern: re.Pattern[str], methods: tuple[str, ...], longest: int | None
) -> None:
    slow = find_slow_text(pattern, methods=methods, longest=longest)
    if slow is not None:
        text = slow.attack.text(24)[:60]
        report = {"place": place, "attack": text, "seconds": slow.seconds, "ratio": slow.ratio}
        sys.stdout.write(json.dumps(report) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
