"""`python -m citewell`: the same as the `citewell` command."""

from __future__ import annotations

from citewell.cli.main import run_and_leave

if __name__ == "__main__":
    run_and_leave()
