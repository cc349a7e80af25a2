"""Every page of the gallery runs as a script, from another folder, without warnings, and leaves no files behind."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.versions import has

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PAGES = sorted(EXAMPLES.glob("plot_*.py"))
OF_SPARK = ["-W", "ignore:PySpark does not yet fully support pandas:FutureWarning"]
OF_SHAP = ["-W", "ignore::PendingDeprecationWarning"]  # shap 0.51 sets colours in a way that matplotlib 3.11 replaces


def needs(page):
    """Return the libraries that a page imports and this environment lacks."""
    imported = re.findall(r"^(?:import|from) (\w+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [name for name in dict.fromkeys(imported) if importlib.util.find_spec(name) is None]


# The site runs all pages. Here one of them runs as a script, and all of them in the long form.
SOME = {"plot_bike_sharing"}
MARKED = [pytest.param(page, id=page.stem, marks=[] if page.stem in SOME else pytest.mark.slow) for page in PAGES]


@pytest.mark.parametrize("page", MARKED)
def test_page_runs(page, tmp_path):
    if lacking := needs(page):
        pytest.skip(f"needs {', '.join(lacking)}")
    if page.stem == "plot_tariff_table" and not has("xgboost", (3, 1)):
        pytest.skip("xgboost from 3.1, which keeps the labels of categories")
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    work.mkdir()
    temporary.mkdir()
    text = page.read_text(encoding="utf-8")
    flags = ["-W", "error", *(OF_SHAP if "import shap" in text else []), *(OF_SPARK if "pyspark" in text else [])]
    done = subprocess.run(
        [sys.executable, *flags, page],
        # one thread for OpenMP: the threads of several tests at once would wait for each other
        env={**os.environ, "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "TMPDIR": str(temporary)},
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(work.iterdir()) == []
    assert list(temporary.iterdir()) == []


def test_pages_have_a_title_and_a_conclusion():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        title, line = text.splitlines()[1:3]
        assert len(line) == len(title), page.name
        assert set(line) == {"="}, page.name
        assert "# What to do with it\n" in text, page.name


def test_data_is_small_and_has_a_source():
    readme = (EXAMPLES / "data" / "SOURCES.md").read_text(encoding="utf-8")
    for file in (EXAMPLES / "data").glob("*.parquet"):
        assert file.stat().st_size <= 300_000, file.name
        assert file.name in readme
