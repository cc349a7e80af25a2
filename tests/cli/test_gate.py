"""The gate on the command line: kept, broken, could not be judged; in this process, and in a shell."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import glasswood as gw
from glasswood.cli import main

pytest.importorskip("click")

ODD = "=a:b\u202e"  # a formula, a colon, and what turns the direction of writing
MONTHS = {"2026-01": 0.0, "2026-02": 0.05, "2026-03": 1.5}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a model, and a background for each of three months; the last one has drifted."""
    xgboost = pytest.importorskip("xgboost")
    folder = tmp_path_factory.mktemp("gate")
    rng = np.random.default_rng(0)

    def rows(shift, n=800):
        return pd.DataFrame({"age": rng.normal(shift, 1, n), ODD: rng.normal(size=n), "debt": rng.normal(size=n)})

    X = rows(0.0)
    model = xgboost.XGBRegressor(n_estimators=8, max_depth=3).fit(X, X["age"] + X[ODD] * X["debt"])
    model.save_model(folder / "model.json")
    xgboost.XGBRegressor(n_estimators=4, max_depth=3).fit(X, X["age"]).save_model(folder / "other.json")
    for month, shift in MONTHS.items():
        frame = rows(shift)
        frame.to_parquet(folder / f"{month}.parquet")
        gw.summarize(model, frame, response="raw").save(folder / f"{month}.gw")
    gw.summarize(model, X).save(folder / "counts.gw")
    gw.summarize(model, X[:100]).save(folder / "few.gw")
    X.to_parquet(folder / "rows.parquet")
    return folder


@pytest.fixture
def compare(home, monkeypatch, capsys):
    """A function that runs `glasswood compare` with the model and months, and returns its code, output and errors."""
    monkeypatch.chdir(home)

    def run(*arguments, months=("2026-01", "2026-02"), data=None):
        capsys.readouterr()
        files = [f"--background={name}={name}.gw" for name in months]
        code = main(["compare", "model.json", *(data or files), *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return run


ALL = tuple(MONTHS)


def test_limits_that_are_kept(compare):
    code, out, err = compare("--fail-if", "psi>0.2", "--fail-if", "ndcg < 0.5", "--json")
    found = json.loads(out)
    assert (code, err, len(found)) == (0, "", 4)
    assert {one["rule"] for one in found} == {"psi > 0.2", "ndcg < 0.5"}
    assert not any(one["broken"] for one in found)


def test_limits_that_are_broken(compare):
    code, out, err = compare("--fail-if", "psi>0.2", "--json", months=ALL)
    assert (code, err) == (1, "glasswood: 1 of 6 values beyond the limits\n")
    found = json.loads(out)
    assert found[0] == {
        "name": "2026-03",
        "measure": "psi",
        "feature": "age",
        "value": pytest.approx(found[0]["value"]),
        "limit": 0.2,
        "rule": "psi > 0.2",
        "broken": True,
        "chance": pytest.approx(9 / 400, rel=0.2),
        "rows": 800,
        "reference_rows": 800,
    }
    assert [one["broken"] for one in found] == [True] + [False] * 5  # the worst first
    assert len(json.loads(compare("--fail-if", "psi>0.2", "--json", "--top", "2", months=ALL)[1])) == 2


def test_limits_are_those_of_python(compare, home):
    code, out, _ = compare("--reference", "2026-02", "--json", months=ALL)
    explainers = {name: gw.Explainer(str(home / "model.json"), gw.Background.load(home / f"{name}.gw")) for name in ALL}
    selected = gw.compare(explainers, reference="2026-02")
    assert code == bool(selected.violations) == 1
    idle = ("output", "error")  # of one output, and without folds
    reported = [
        {name: value for name, value in one.items() if name not in idle} for one in selected.measures.to_dicts()
    ]
    assert json.loads(out) == sorted(reported, key=lambda one: not one["broken"])


def test_errors_by_folds(compare, home):
    for month in ALL:
        rows = pd.read_parquet(home / f"{month}.parquet")
        gw.summarize(str(home / "model.json"), rows, response="raw", folds=10).save(home / f"{month}-folds.gw")
    files = [f"--background={month}={month}-folds.gw" for month in ALL]
    found = json.loads(compare("--fail-if", "level > 0", "--json", data=files)[1])
    assert all(one["broken"] and one["error"] > 0 for one in found)
    code, out, _ = compare("--fail-if", "level > 0", "--error", "2.5", "--json", data=files)
    reported = {one["name"]: one["broken"] for one in json.loads(out)}
    assert reported == {one["name"]: one["value"] > 2.5 * one["error"] for one in found}
    assert reported == {"2026-02": False, "2026-03": True}
    assert code == 1
    assert compare("--fail-if", "level > 0", "--error", "1e9", data=files)[0] == 0
    code, _, err = compare("--fail-if", "level > 0", "--error", "2")
    assert code == 2
    assert "the errors of '2026-01'" in err
    assert "use glasswood summarize --folds 20" in err
    code, _, err = compare("--error", "2", data=files)
    assert code == 2
    assert "--error is about limits" in err
    assert compare("--fail-if", "level > 0", "--error", "-1", data=files)[0] == 2


def test_what_was_observed(compare, home):
    rows = pd.read_parquet(home / "rows.parquet")
    model = str(home / "model.json")
    predicted = gw.read_model(model).predict(rows).astype(float) + 100
    named = rows.assign(paid=1.1 * predicted, predicted=predicted)
    gw.summarize(model, named, target="paid", prediction="predicted").save(home / "paid.gw")
    files = ["--background=then=2026-01.gw", "--background=now=paid.gw"]
    code, out, _ = compare("--fail-if", "observed > 0.05", "--json", data=files)
    (found,) = json.loads(out)
    assert (code, found["measure"], found["broken"]) == (1, "observed", True)
    assert found["value"] == pytest.approx(0.1, rel=1e-6)
    assert compare("--fail-if", "observed > 0.2", data=files)[0] == 0
    code, _, err = compare("--fail-if", "observed > 0.05")
    assert code == 2
    assert err.endswith("for the rows of '2026-02'; use glasswood summarize --target COLUMN\n")


def test_tables_of_any_form(compare, tmp_path):
    _, out, _ = compare("--fail-if", "psi>0.2", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(out)))
    assert [line["feature"] for line in lines] != []
    assert set(lines[0]) == {
        "name", "measure", "feature", "value", "limit", "rule", "broken", "chance", "rows", "reference_rows"
    }  # fmt: skip
    _, out, _ = compare("--fail-if", "psi>0.2", "--fail-if", "level > 1")
    assert out.splitlines()[0].split() == [*lines[0]]
    assert "\u202e" not in out
    code, out, _ = compare("--fail-if", "psi>0.2", "-o", str(tmp_path / "gate.parquet"))
    assert (code, out) == (0, "")
    assert len(pd.read_parquet(tmp_path / "gate.parquet")) == 3


def test_rule_files_and_their_exceptions(compare, tmp_path):
    path = tmp_path / "gate.txt"
    path.write_text(f"# limits\npsi > 0.2  # all features\n{ODD}: psi > 0.5\n", encoding="utf-8")
    assert compare("--rules", str(path), months=ALL)[0] == 1
    code, out, _ = compare("--rules", str(path), "--fail-if", "age: psi > 50", "--json", months=ALL)
    assert code == 0
    limits = {one["feature"]: one["limit"] for one in json.loads(out)}
    assert limits == {"age": 50.0, ODD: 0.5, "debt": 0.2}
    assert compare("--rules", str(path), "--fail-if", "psi > 50", months=ALL)[0] == 0  # the last one counts
    path.write_text("psi > 0.2\npsi ~ 3\n")
    code, _, err = compare("--rules", str(path))
    assert code == 2
    assert "line 2" in err


NOT_JUDGED = {
    "an unknown measure": (["--fail-if", "sih>0.2"], "no measure 'sih'"),
    "an unknown feature": (["--fail-if", "agee: psi>0.2"], "did you mean 'age'"),
    "no rule": (["--fail-if", "psi"], "is not a rule"),
    "an unknown reference": (["--fail-if", "psi>1", "--reference", "2025"], "--reference"),
    "no file of rules": (["--rules", "nowhere.txt"], "cannot be read"),
    "an unknown option": (["--fail"], "see: glasswood compare --help"),
    "a figure without limits": (["--figure", "x.png"], "--fail-if"),
    "a figure of no kind": (["--figure", "x.gif", "--fail-if", "psi>1"], ".html, .pdf, .png, .svg"),
    "a figure in no folder": (["--figure", "no/x.png", "--fail-if", "psi>1"], "no folder"),
    "no rows": (["--fail-if", "psi>1", "--background", "empty=empty.parquet"], "row"),
    "no spread of scores": (
        ["--fail-if", "level>1", "--reference", "c", "--background", "c=counts.gw"],
        "--response raw",
    ),
    "another model": (["--fail-if", "psi>1", "--background", "o=other.gw"], "different model"),
}


@pytest.mark.parametrize("reason", NOT_JUDGED)
def test_what_cannot_be_judged(compare, home, reason):
    pd.read_parquet(home / "rows.parquet")[:0].to_parquet(home / "empty.parquet")
    gw.summarize(str(home / "other.json"), str(home / "rows.parquet")).save(home / "other.gw")
    arguments, word = NOT_JUDGED[reason]
    code, out, err = compare(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("glasswood: error: ")
    assert err.count("\n") == 1
    assert word in err


def test_a_broken_limit_does_not_hide_what_cannot_be_judged(compare):
    assert compare("--fail-if", "psi>0.2", "--fail-if", "agee: psi > 1", months=ALL)[0] == 2


def test_scores_that_differ_are_not_a_broken_limit(compare, monkeypatch):
    def differ(*_):
        message = "the scores differ"
        raise gw.errors.ModelMismatchError(message)

    monkeypatch.setattr("glasswood.questions.drift._command.open_explainer", differ)
    assert compare("--fail-if", "psi>0.2")[0] == 2
    assert compare()[0] == 1  # as before


def test_few_rows_are_reported(compare):
    files = ["--background=all=counts.gw", "--background=few=few.gw"]
    code, _, err = compare("--fail-if", "psi>9", data=files)
    assert (code, err) == (0, "glasswood: warning: 'few' has 100 rows: below 500 rows, psi may be large by chance\n")


def test_rows_say_what_their_counts_say(compare):
    rules = ["--fail-if", "level>9", "--fail-if", "largest>9", "--json"]
    counts, rows = (
        json.loads(compare(*rules, data=[f"--background={name}={name}{end}" for name in ALL])[1])
        for end in (".gw", ".parquet")
    )
    assert len(rows) == 8
    for one, other in zip(counts, rows, strict=True):
        assert one | {"value": pytest.approx(one["value"], rel=1e-5)} == other


def test_models_have_three_measures(compare, home):
    data = ["other.json", "--data", "rows.parquet"]
    code, out, _ = compare("--reference", "model", "--json", data=data)
    assert code == 1
    assert {one["measure"] for one in json.loads(out)} == {"difference", "largest", "ndcg"}
    assert compare("--fail-if", "psi>1", data=data)[0] == 2


@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
def test_figures(compare, tmp_path, suffix):
    path = tmp_path / f"drift.{suffix}"
    assert compare("--fail-if", "psi>0.2", "--fail-if", "level>0.2", "--figure", str(path), months=ALL)[0] == 1
    assert {"png": b"\x89PNG", "svg": b"<svg", "html": b"<html"}[suffix] in path.read_bytes()[:1000]


SCRIPT = """
set -u
glasswood() { "$PYTHON" -m glasswood "$@"; }
then="--background 2026-01=2026-01.gw"

glasswood compare model.json $then --background 2026-02=2026-02.gw --fail-if 'psi>0.2' > kept.txt
echo "kept $?"

glasswood compare model.json $then --background 2026-03=2026-03.gw --fail-if 'psi>0.2' --json > broken.json
echo "broken $?"

glasswood compare model.json $then --background 2026-04=missing.gw --fail-if 'psi>0.2'
echo "not judged $?"

if glasswood compare model.json $then --background 2026-03=2026-03.gw --rules gate.txt > /dev/null; then
    echo "deployed"
else
    echo "stopped"
fi
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_shell_script(home):
    (home / "gate.txt").write_text("psi > 0.2\nndcg < 0.9\n")
    paths = os.pathsep.join(filter(None, [str(Path(gw.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]))
    environment = os.environ | {"PYTHON": sys.executable, "PYTHONPATH": paths}
    done = subprocess.run(
        [shutil.which("bash"), "-c", SCRIPT], cwd=home, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == ["kept 0", "broken 1", "not judged 2", "stopped"]
    assert "psi" in (home / "kept.txt").read_text()
    assert json.loads((home / "broken.json").read_text())[0]["feature"] == "age"
    assert "glasswood: error: there is no file 'missing.gw'" in done.stderr
    assert "1 of 3 values beyond the limits" in done.stderr
