"""Print a hash of this interpreter, of the dependencies in pyproject.toml, and of the files that are named.

`python tools/gate/environment.py constraints.txt`: environments with the same hash can be used in each other's place.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def hash_of(names: Iterable[str]) -> str:
    """Return the hash as text."""
    pyproject = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    project = pyproject["project"]
    parts = [
        sys.version,
        platform.platform(),
        json.dumps([project["dependencies"], project["optional-dependencies"]]),
        json.dumps([pyproject["dependency-groups"], pyproject["build-system"]]),
        *((CHECKOUT / name).read_text(encoding="utf-8") for name in names),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.stdout.write(f"{hash_of(sys.argv[1:])}\n")
