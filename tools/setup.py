"""Make the environment for development: `python tools/setup.py`, once, in a fresh clone.

It creates `.venv`, compiles the core for one instruction level, installs Glasswood (editable), the pinned versions of
what the core's tests and linters need (`python tools/quick.py` runs them), and adds the hooks of pre-commit.
`--all` compiles all levels and installs every library but the clusters, for all tests and the documentation.
Needs Python 3.11 or newer, and a C++ compiler.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import venv
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
ONE_LEVEL = "--config-settings=cmake.define.GLASSWOOD_LEVELS=v2"


def set_up(folder: Path, *, everything: bool) -> Path:
    """Create the environment, and return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--upgrade", "pip>=25.1"], check=True, cwd=CHECKOUT)
    extras, group = ("all", "dev") if everything else ("sklearn,plot,parquet", "core")
    has_levels = platform.machine() in ("x86_64", "AMD64") and os.name != "nt"
    levels = [ONE_LEVEL] if has_levels and not everything else []
    package = ["--constraint", "constraints.txt", *levels, "--editable", f".[{extras}]", "--group", group]
    subprocess.run([*pip, *package], check=True, cwd=CHECKOUT)
    if everything:
        subprocess.run([*pip, "--constraint", "constraints.txt", "--group", "docs"], check=True, cwd=CHECKOUT)
    if (CHECKOUT / ".git").exists():
        subprocess.run([python, "-m", "pre_commit", "install"], check=True, cwd=CHECKOUT)
    return python


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="everything that tests and documentation need")
    ready = set_up(CHECKOUT / ".venv", everything=parser.parse_args().all)
    sys.stdout.write(f"Ready. Run the quick tests with: {ready.relative_to(CHECKOUT)} tools/quick.py\n")
