"""Make the environment for development: `python tools/setup.py`, once, in a fresh clone.

It creates `.venv`, compiles the core, installs Glasswood (editable), pinned versions of all libraries but the clusters,
and the tools of the gate, and adds the hooks of pre-commit. Needs Python 3.11 or newer, and a C++ compiler.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def set_up(folder: Path) -> Path:
    """Create the environment, and return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--upgrade", "pip>=25.1"], check=True, cwd=CHECKOUT)
    package = ["--constraint", "constraints.txt", "--editable", ".[all]", "--group", "dev"]
    subprocess.run([*pip, *package], check=True, cwd=CHECKOUT)
    if (CHECKOUT / ".git").exists():
        subprocess.run([python, "-m", "pre_commit", "install"], check=True, cwd=CHECKOUT)
    return python


if __name__ == "__main__":
    ready = set_up(CHECKOUT / ".venv")
    sys.stdout.write(f"Ready. Run the quick tests with: {ready.relative_to(CHECKOUT)} tools/quick.py\n")
