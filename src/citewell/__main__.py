"""`python -m citewell`: the same as the `citewell` command."""

from __future__ import annotations

from citewell.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
