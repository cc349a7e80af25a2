"""Writes golden files: `python -m tests.contract --write` all of them, `--write NAME ...` some."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # as in the tests: models are fitted alike

from tests.contract.whole import NAMES, write

parser = argparse.ArgumentParser(prog="python -m tests.contract", description=__doc__)
parser.add_argument("--write", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
chosen = parser.parse_args().write
if chosen is None:
    parser.error("nothing to do without --write; `pytest tests/contract` compares")
if unknown := set(chosen) - set(NAMES):
    parser.error(f"there is no {', '.join(sorted(unknown))}")
for name in chosen or NAMES:
    with tempfile.TemporaryDirectory() as folder:
        write(name, Path(folder))
