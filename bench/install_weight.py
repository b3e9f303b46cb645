"""What an installation weighs: `python -m bench.install_weight [WHEEL]`.

Installs the wheel, or this checkout, into a fresh virtual environment and prints its packages by
weight, in MB of 1024² bytes in blocks of 4 kB as `du` counts them. pip compiles what it installs;
uv does not, so both sums are printed. pip itself is left out.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

BLOCK = 4096
NOT_OURS = {"pip", "setuptools"}


def weigh(installed: Distribution) -> tuple[float, float]:
    """Return the MB of a package without and with its compiled files."""
    sources = compiled = 0
    for file in installed.files or ():
        path = Path(str(installed.locate_file(file)))
        if path.is_file():
            size = -(-path.stat().st_size // BLOCK) * BLOCK
            if path.suffix == ".pyc":
                compiled += size
            else:
                sources += size
    return sources / 2**20, (sources + compiled) / 2**20


def main() -> None:
    """Install, weigh and print."""
    what = sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).resolve().parents[1])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = Path(folder, "bin", "pip")
        subprocess.run([str(pip), "install", "-qq", what], check=True)
        (site,) = Path(folder, "lib").glob("python3.*/site-packages")
        weights = {
            installed.name: weigh(installed)
            for installed in distributions(path=[str(site)])
            if installed.name.lower() not in NOT_OURS
        }
    for name, (sources, all_of_it) in sorted(weights.items(), key=lambda item: -item[1][0])[:15]:
        print(f"{sources:6.1f} {all_of_it:6.1f}  {name}")
    without, with_compiled = (sum(pair[at] for pair in weights.values()) for at in (0, 1))
    print(f"{without:6.1f} {with_compiled:6.1f}  all {len(weights)} packages")


if __name__ == "__main__":
    main()
