"""Runs every benchmark that needs no argument, one after the other: `python -m bench [NAME …]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAMS = (
    "startup",
    "command_speed",
    "first_paint",
    "memory",
    "call_cost",
    "under_load",
    "call_stages",
    "embedding",
    "search_speed",
    "growth",
    "soak",
    "ingest_speed",
    "kill_ingest",
    "robustness",
    "extraction",
    "fidelity",
    "quality",
    "site_labels",
    "link_following",
    "abstention",
    "quotes",
    "questions",
    "versions",
    "fresh_page",
    "brief_size",
    "kb_evidence",
    "kb_load",
    "graph_speed",
    "websites",
    "docs_server",
    "people",
    "http_calls",
    "render_pool",
    "postgres",
    "postgres_quality",
    "cluster",
)


def main() -> int:
    names = sys.argv[1:] or PROGRAMS
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(PROGRAMS)}")
        return 2
    root = Path(__file__).parent.parent
    failed = []
    for name in names:
        print(f"\n=== bench.{name} ===", flush=True)
        command = [sys.executable, "-m", f"bench.{name}"]
        if subprocess.run(command, cwd=root, check=False).returncode:
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
