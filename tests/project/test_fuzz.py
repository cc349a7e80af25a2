"""The fuzzer finds nothing in a short run, and finds and shrinks what is planted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fuzz import files
from fuzz.__main__ import fuzz
from fuzz.cases import draw_case
from fuzz.columns import make_frame
from fuzz.run import run_case
from fuzz.runner import Worker
from fuzz.shrink import shrink, signature
from fuzz.tables import KINDS

import glasswood as gw
from glasswood.effects import _jackknife as jackknife

ROOT = Path(__file__).parents[2]
N_CASES = 12
CASE = {
    "seed": 5,
    "columns": [
        {"kind": "float", "seed": 1},
        {"kind": "float", "seed": 2, "missing": True},
        {"kind": "integer", "seed": 3},
    ],
    "target": {"task": "number"},
    "model": {
        "maker": "sklearn_hist",
        "kind": "hist",
        "fit_on": "frame",
        "options": {"max_iter": 4, "max_depth": 3, "min_samples_leaf": 2, "early_stopping": False},
    },
    "n_train": 60,
    "n_background": 15,
    "n_rows": 3,
    "table": "polars",
    "rows_table": "mapping",
    "weights": "fractions",
    "names": "blank",
    "questions": ["importance", "curves", "shap_values"],
}


def test_a_short_run_finds_nothing(capsys):
    minutes = float(os.environ.get("GLASSWOOD_FUZZ_MINUTES", 0))
    found = fuzz(minutes=minutes or 10, seed=2026, cases=None if minutes else N_CASES, shrinking=bool(minutes))
    assert not found.findings, f"{capsys.readouterr().out}{found.text()}"
    assert sum(found.compared.values()) > 200 * found.cases


def test_cases_are_drawn_from_their_seeds_alone():
    for seed in range(30):
        assert draw_case(seed) == draw_case(seed)
        assert json.loads(json.dumps(draw_case(seed))) == draw_case(seed)
    assert {draw_case(seed)["model"]["maker"] for seed in range(60)} >= {"xgboost", "lightgbm", "catboost", "pipeline"}


def test_a_right_case_compares_many_answers():
    outcome = run_case(CASE)
    assert outcome["findings"] == []
    assert outcome["refusals"] == {}
    assert set(outcome["compared"]) == {"importance", "curves", "shap_values"}
    assert sum(outcome["compared"].values()) > 200


def test_a_planted_difference_is_found_and_shrunk(monkeypatch):
    right = gw.Curve.__call__
    monkeypatch.setattr(gw.Curve, "__call__", lambda curve, x: right(curve, x) * (1 + 1e-6))
    found = run_case(CASE)["findings"]
    assert [signature(finding) for finding in found] == [("curves", "difference", "curve(x)")]
    small = shrink(CASE, found[0], run_case, seconds=20)
    assert small["questions"] == ["curves"]
    assert len(small["columns"]) == 1
    assert (small["table"], small["weights"], small["names"]) == ("pandas", "none", "plain")
    assert small["n_background"] == 1
    assert small["model"]["options"]["max_iter"] == 1


def test_planted_errors_and_observations_are_found(monkeypatch):
    """Of folds that are taken to be equally heavy, and of a target that is moved by a row."""
    case = CASE | {"n_background": 40, "questions": ["errors", "errors_of_strengths", "observed", "observed_parts"]}
    outcome = run_case(case)
    assert outcome["findings"] == []
    assert set(outcome["compared"]) == set(case["questions"])
    right = jackknife.jackknife
    equal = "glasswood.results._folds.jackknife"
    monkeypatch.setattr(equal, lambda whole, left, shares: right(whole, left, [1 / len(shares)] * len(shares)))
    found = {signature(finding)[::2] for finding in run_case(case)["findings"]}
    assert {("errors", "error of a curve"), ("errors_of_strengths", "error of strengths")} <= found
    monkeypatch.undo()
    make = gw.Explainer.__init__
    moved = {"target": lambda values: np.roll(values, 1)}

    def shifted(explainer, *args, **kwargs):
        make(explainer, *args, **{name: moved.get(name, lambda x: x)(given) for name, given in kwargs.items()})

    monkeypatch.setattr(gw.Explainer, "__init__", shifted)
    found = {signature(finding)[::2] for finding in run_case(case)["findings"]}
    assert ("observed", "observed") in found


def test_a_planted_exception_is_found_and_a_refusal_is_counted(monkeypatch):
    def broken(*_, **__):
        message = "no such row: 17"
        raise IndexError(message)

    monkeypatch.setattr(gw.Explainer, "importance", broken)
    (finding,) = run_case(CASE)["findings"]
    assert signature(finding) == ("importance", "IndexError", "the fuzzer: no such row: #")

    def refused(*_, **__):
        message = "too large: 17 rows"
        raise gw.errors.TooLargeError(message)

    monkeypatch.setattr(gw.Explainer, "importance", refused)
    outcome = run_case(CASE)
    assert outcome["findings"] == []
    assert outcome["refusals"] == {"TooLargeError: too large: # rows": 1}


def test_planted_sharing_of_memory_is_found(monkeypatch):
    kept = {}
    right = gw.Explainer.importance

    def shared(explainer, **kwargs):
        return kept.setdefault((id(explainer), repr(kwargs)), right(explainer, **kwargs))

    monkeypatch.setattr(gw.Explainer, "importance", shared)
    case = CASE | {"questions": ["importance", "vandals"]}
    heights = right(gw.Explainer(*_model_and_rows())).heights
    found = [finding["what"] for finding in run_case(case)["findings"]]
    assert found == (["after writing: importance"] if heights.flags.writeable else [])


def _model_and_rows():
    from sklearn.tree import DecisionTreeRegressor

    X = np.arange(20.0).reshape(10, 2)
    return DecisionTreeRegressor().fit(X, X[:, 0]), X


def test_a_crash_and_a_hang_are_findings(monkeypatch, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys, time, types\n"
        "run = types.ModuleType('fuzz.run')\n"
        "ways = '(os.abort, lambda: time.sleep(60), lambda: sum(range(10**10)))'\n"
        "source = f'run_case = lambda case: {ways}[case[\"seed\"]]()'\n"
        "exec(compile(source, '/src/glasswood/study/_study.py', 'exec'), vars(run) | globals(), vars(run))\n"
        "sys.modules['fuzz.run'] = run\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("fuzz.runner.SECONDS_TO_START", 0)
    with Worker(seconds=0.5) as worker:
        for seed, kind in enumerate(["crash", "hang", "hang"]):
            (finding,) = worker.run(CASE | {"seed": seed})["findings"]
            assert finding["kind"] == kind


def test_contributions_that_xgboost_rounds_away_are_no_difference():
    # The first tree takes the base of 0.3 back; XGBoost tells 0 for its mean, but -1.5e-13 for its score.
    options = {"n_estimators": 7, "max_depth": 0, "learning_rate": 1.0, "reg_lambda": 0.0, "max_leaves": 2}
    model = {"maker": "xgboost", "kind": "trees", "fit_on": "frame", "given_as": "booster"}
    model |= {"options": options | {"base_score": 0.3}}
    case = {"seed": 203000590, "columns": [{"kind": "float", "seed": 1713211}], "model": model, "response": "raw"}
    case |= {"target": {"task": "number", "scale": 1e-12}, "n_train": 2, "n_background": 1, "n_rows": 1}
    outcome = run_case(CASE | case | {"table": "pandas", "rows_table": "pandas", "questions": ["contributions"]})
    assert outcome["findings"] == []
    assert outcome["compared"]["contributions"] > 0


def test_leaves_that_undo_each_other_are_no_difference():
    # Scores of 1e-12 are what is left of leaves and a base of about 1: the digits that a double has no room for differ.
    options = {"objective": "reg:pseudohubererror", "n_estimators": 6, "max_depth": 2, "learning_rate": 1.0}
    options |= {"reg_lambda": 0.0, "min_child_weight": 0.0, "base_score": 0.9}
    model = {"maker": "xgboost", "kind": "trees", "fit_on": "frame", "given_as": "estimator", "options": options}
    case = {"seed": 320000005, "columns": [{"kind": "float", "seed": 1974693}], "model": model | {"missing": 0.0}}
    case |= {"target": {"task": "number", "scale": 1e-12}, "n_train": 2, "n_background": 1, "n_rows": 0}
    outcome = run_case(CASE | case | {"table": "pandas", "rows_table": "pandas", "questions": ["banzhaf_values"]})
    assert outcome["findings"] == []
    assert outcome["compared"]["banzhaf_values"] > 0


def test_labels_that_crash_temperature_scaling_are_left_out():
    # scikit-learn 1.9 takes -3 and 1e9 for places in an array.
    model = {"maker": "wrapper", "kind": "temperature", "options": {"members": ["forest"], "n_trees": 1, "depth": 1}}
    outcome = run_case(CASE | {"model": model, "target": {"task": "multiclass", "labels": "floats", "n_classes": 4}})
    assert outcome["findings"] == []
    assert [text.partition(" takes")[0] for text in outcome["library"]] == ["temperature scaling"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants are read in forks")
@pytest.mark.parametrize("times", [3, 100])
def test_a_crash_of_a_library_need_not_be_its_first(times, monkeypatch, tmp_path):
    path, seed, loads = tmp_path / "model.cbm", files.Seed("catboost-cbm", "model.cbm", None), []

    def load(path):
        loads.append(path)
        if len(loads) == times:
            os.kill(os.getpid(), signal.SIGTERM)  # of which nobody prints a trace

    path.write_bytes(b"CBM1")
    monkeypatch.setitem(files.READERS, seed.format, files.READERS[seed.format]._replace(load=load))
    outcome, _ = files._blame(path, seed, ("crash", "after ''"))
    assert outcome == ("library" if times == 3 else "crash")


def test_the_command_shows_a_case_again():
    command = [sys.executable, "-m", "fuzz", "--case", json.dumps(CASE | {"questions": ["importance"]})]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert '"importance"' in done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_holds_its_coarse_frame(kind):
    """What brute force sees is what the table holds."""
    case = CASE | {"columns": [c for c in CASE["columns"] if not c.get("missing") or not kind.startswith("array_")]}
    frame = KINDS[kind].coarsen(make_frame(case, 7, "rows", "pandas"))
    table = KINDS[kind].make(frame)
    ex = gw.Explainer(*_model_of(frame))
    expected = ex.ensemble.predict(frame)
    np.testing.assert_array_equal(ex.ensemble.predict(table), expected)


def _model_of(frame):
    from sklearn.ensemble import HistGradientBoostingRegressor

    rows = frame.fillna(0.0)
    return HistGradientBoostingRegressor(min_samples_leaf=1, max_iter=3).fit(rows, rows.sum(axis=1)), rows
