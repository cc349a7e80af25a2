"""Benchmarks run with --quick, which claims nothing, and without the peers; most of them in the long form only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
MEASURE = [path for path in BENCHMARKS.glob("*.py") if "from measure import" in path.read_text()]
SCRIPTS = sorted(path.stem for path in MEASURE if "__main__" in path.read_text())
NEED_SHARED = {
    *(
        "ale",
        "certificate",
        "curves",
        "deep",
        "engines",
        "forests",
        "interactions",
        "catboost_combinations",
        "h_statistics",
        "importance",
        "observed",
        "paper",
        "pipelines",
        "responses",
        "rows",
        "start",
        "streams",
    ),
    "weights",
}
SHORT = {"importance", "rows"}  # the others: `pytest -m slow tests/project`
PART = {
    "engines": ["--case", "dask"],  # the other engines take minutes to start; tests/engines has them
    "paper": ["--case", "diabetes", "--case", "kdd-depth-2", "--case", "normal-any-6"],
}


@pytest.mark.parametrize(
    "script", [pytest.param(name, marks=[] if name in SHORT else [pytest.mark.slow]) for name in SCRIPTS]
)
def test_benchmark_runs(script, tmp_path, request):
    if script in NEED_SHARED:
        request.getfixturevalue("shared")
    report = tmp_path / "report.json"
    # one thread for OpenMP: the threads of several tests at once would wait for each other
    done = subprocess.run(
        [sys.executable, BENCHMARKS / f"{script}.py", "--quick", "--json", report, *PART.get(script, [])],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    written = json.loads(report.read_text())
    assert written["quick"]
    ours = [figure for figure in written["figures"] if "woodelf" not in figure["what"]]
    assert ours
    assert all(figure["value"] is not None for figure in ours), "a figure of our own is missing"
    assert all(figure["met"] is None for figure in written["figures"]), "small sizes claim nothing"
    assert done.stdout.count("|") > len(ours)


def test_every_script_is_in_the_readme():
    readme = (BENCHMARKS / "README.md").read_text()
    assert [script for script in SCRIPTS if f"benchmarks/{script}.py" not in readme] == []


def test_the_page_of_measurements_is_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    from results_page import PAGE, page_of, results

    assert PAGE.read_text(encoding="utf-8") == page_of(results())


def test_the_speed_that_the_readme_claims_was_measured(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    from results_page import results

    figures = {(one["case"], one["what"]): one["value"] for one in results()["curves"]["figures"]}
    case = next(case for case, _ in figures if case.startswith("covertype"))
    text = " ".join((BENCHMARKS.parent / "README.md").read_text().split())
    every = "glasswood, every PDP at full resolution"
    assert f"takes {figures[case, every]:.3g} s, " in text
    assert f"including all results: {figures[case, f'{every} / predict']:.2g} of one `predict` call" in text
