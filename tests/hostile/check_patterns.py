"""Checks all patterns of the package and prints, as JSON, which there are and which are slow.

`python -m tests.hostile.check_patterns` is run in a process of its own, so that a pattern that
cannot even be interrupted ends with that process. With patterns as arguments, it checks those.
"""

from __future__ import annotations

import json
import re
import resource
import sys

from tests.hostile.package_patterns import Collected, PackagePattern, collect_patterns
from tests.hostile.pattern_growth import find_slow_text

# About thirty are needed; unlike a limit on the time that passes, this holds on a busy machine too.
_CPU_SECONDS = 200
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
    """Check the patterns that are given, or else all of the package."""
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    collected = _given(sys.argv[1:]) if sys.argv[1:] else collect_patterns()
    report = {
        "places": [pattern.place for pattern in collected.patterns],
        "built_at_run_time": collected.built_at_run_time,
        "slow": [slow for pattern in collected.patterns if (slow := _check(pattern))],
    }
    sys.stdout.write(json.dumps(report))


def _given(patterns: list[str]) -> Collected:
    return Collected(
        patterns=tuple(
            PackagePattern(place=pattern, pattern=re.compile(pattern), methods=("search",))
            for pattern in patterns
        ),
        built_at_run_time=(),
    )


def _check(pattern: PackagePattern) -> dict[str, object] | None:
    longest = LONGEST_TEXTS.get(pattern.place)
    slow = find_slow_text(pattern.pattern, methods=pattern.methods, longest=longest)
    if slow is None:
        return None
    attack = slow.attack.text(24)[:60]
    return {
        "place": pattern.place,
        "attack": attack,
        "seconds": slow.seconds,
        "ratio": slow.ratio,
    }


if __name__ == "__main__":
    main()
