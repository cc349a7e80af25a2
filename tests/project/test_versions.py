"""The versions that pyproject.toml declares are those that are tested."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UNTESTED = {
    "dask",
    "distributed",
    "mlflow-skinny",
    "pyspark",
    "ray",
    "shap",
    "shapiq",
}  # their oldest versions are not part of .ci/minimum


def minima(requirements):
    """Return the least version of each requirement, without zeros at its end."""
    found = (re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", requirement) for requirement in requirements)
    return {match[1]: re.sub(r"(\.0)+$", "", match[2]) for match in found if match}


def test_the_declared_minima_are_the_ones_that_are_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = minima([*project["dependencies"], *(one for extra in extras for one in extra)])
    pins = (ROOT / "constraints-minimum.txt").read_text(encoding="utf-8")
    tested = minima(line.replace("==", ">=") for line in pins.splitlines())
    assert {name: version for name, version in declared.items() if name not in UNTESTED} == {
        name: version for name, version in tested.items() if name in declared
    }
