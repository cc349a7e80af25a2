"""The command line: every command, what it writes, and what becomes of wrong input."""

from __future__ import annotations

import csv
import doctest
import io
import json
import os
import pickle
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import glasswood as gw
from glasswood.cli import main
from glasswood.cli._summarize import file_names
from glasswood.parallel import _progress
from glasswood.terminal import _files, _output
from glasswood.text._csv import safe_cell

pytest.importorskip("click")

ROOT = Path(__file__).resolve().parents[2]
FORMULA = "=cmd|' /C calc'!A0"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with models of several libraries and rows for them."""
    xgboost = pytest.importorskip("xgboost")
    lightgbm = pytest.importorskip("lightgbm")
    folder = tmp_path_factory.mktemp("cli")
    generator = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame({"age": generator.integers(18, 80, n), FORMULA: generator.normal(size=n).round(2)})
    X["income"] = np.where(generator.random(n) < 0.1, np.nan, generator.normal(size=n).round(2))
    y = (X["age"] > 40) + X["income"].fillna(0) * (X[FORMULA] > 0)
    xgboost.XGBRegressor(n_estimators=5, max_depth=3).fit(X, y).save_model(folder / "model.json")
    xgboost.XGBRegressor(n_estimators=8, max_depth=2).fit(X, y).save_model(folder / "other.ubj")
    X.to_csv(folder / "rows.csv", index=False)
    region = generator.choice(["north", "a/b", "../x", "A/B"], n)
    X.assign(region=region, year=np.where(np.arange(n) % 2, 2025, 2026), w=1 + np.arange(n) % 3).to_parquet(
        folder / "rows.parquet"
    )
    C = X.rename(columns={FORMULA: "b"}).assign(colour=pd.Categorical(generator.choice(["red", "=1+1", "-5"], n)))
    lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(
        C, np.digitize(y + (C["colour"] == "red"), [0.2, 1.2])
    ).booster_.save_model(folder / "classes.txt")
    C.to_parquet(folder / "classes.parquet")
    pipeline = make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=3)).fit(X, y > 0.5)
    (folder / "pipeline.pkl").write_bytes(pickle.dumps(pipeline))
    (folder / "model.onnx").write_bytes(b"\x08\x01")
    (folder / "junk.txt").write_text("hello")
    return folder


@pytest.fixture
def glasswood(home, monkeypatch, capsys):
    """A function that runs a command in the folder, and returns its exit code, output and errors."""
    monkeypatch.chdir(home)

    def run(*arguments):
        capsys.readouterr()
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return code, out, err

    return run


def good(done):
    code, out, err = done
    assert (code, err) == (0, "")
    return out


def refused(done, code=2):
    """The one line that an error is."""
    assert done[0] == code
    assert done[2].startswith("glasswood: error: ")
    assert done[2].count("\n") == 1
    return done[2]


# ------------------------------------------------------------------------------------------------------- commands


def test_info_of_models_and_backgrounds(glasswood):
    assert "xgboost model file" in good(glasswood("info", "model.json"))
    found = json.loads(good(glasswood("info", "classes.txt", "--json")))
    assert found["outputs"] == [0, 1, 2]
    assert found["feature_names"] == ["age", "b", "income", "colour"]
    good(glasswood("summarize", "model.json", "rows.parquet", "-o", "info.gw"))
    assert json.loads(good(glasswood("info", "info.gw", "--json")))["rows"] == 400
    assert "400" in good(glasswood("info", "info.gw"))


@pytest.mark.parametrize(
    ("model", "rows"),
    [("model.json", "rows.parquet"), ("other.ubj", "rows.csv"), ("classes.txt", "classes.parquet")],
)
def test_check_compares_scores(glasswood, model, rows):
    found = json.loads(good(glasswood("check", model, rows, "--json")))
    assert found["passed"] is True
    assert found["rows_compared"] == 400
    assert found["equal_in_every_bit"] == found["scores"]
    assert "passed              yes" in good(glasswood("check", model, rows, "--rows", "7"))


def test_check_without_rows_only_reads(glasswood):
    assert "not compared" in good(glasswood("check", "model.json"))
    assert json.loads(good(glasswood("check", "model.json", "--json")))["passed"] is None


def test_check_fails_with_code_1(glasswood, monkeypatch):
    honest = gw.TreeEnsemble.predict
    monkeypatch.setattr(gw.TreeEnsemble, "predict", lambda self, table: honest(self, table) + np.float32(0.5))
    code, out, _ = glasswood("check", "model.json", "rows.parquet", "--json")
    assert code == 1
    assert json.loads(out)["passed"] is False
    assert json.loads(out)["largest_difference"] == pytest.approx(0.5, abs=1e-5)
    assert "do not reproduce" in refused(glasswood("curve", "model.json", "rows.parquet", "age"), code=1)


def test_summarize_is_the_librarys(glasswood, home):
    good(glasswood("summarize", "model.json", "rows.parquet", "--order", "2", "--weight", "w", "-o", "pairs.gw"))
    expected = gw.summarize(home / "model.json", str(home / "rows.parquet"), order=2, sample_weight="w")
    assert gw.Background.load(home / "pairs.gw") == expected
    good(glasswood("summarize", "model.json", "rows.csv", "-o", "csv.gw"))
    good(glasswood("summarize", "model.json", "rows.parquet", "-o", "plain.gw", "--checkpoint", "kept"))
    assert gw.Background.load(home / "csv.gw") == gw.Background.load(home / "plain.gw")
    assert any((home / "kept").iterdir())
    good(glasswood("summarize", "model.json", "rows.parquet", "rows.parquet", "--order", "all", "-o", "all.gw"))
    assert gw.Background.load(home / "all.gw").n_rows == 800


def test_summarize_by_groups_and_merge_give_the_whole(glasswood, home):
    out = good(glasswood("summarize", "model.json", "rows.parquet", "--by", "region", "--by", "year", "--json"))
    files = json.loads(out)
    assert len({line["file"].lower() for line in files}) == len(files) == 8
    assert all(re.fullmatch(r"out-[A-Za-z0-9_-]+\.gw", line["file"]) for line in files)
    assert sum(line["rows"] for line in files) == 400
    made = json.loads(good(glasswood("merge", *(line["file"] for line in files), "-o", "sum.gw", "--json")))
    assert made["rows"] == 400
    assert gw.Background.load(home / "sum.gw") == gw.summarize(home / "model.json", str(home / "rows.parquet"))
    good(glasswood("merge", "sum.gw", files[0]["file"], "--subtract", "-o", "rest.gw"))
    assert gw.Background.load(home / "rest.gw").n_rows == 400 - files[0]["rows"]
    assert "does not contain all rows" in refused(glasswood("merge", files[0]["file"], "sum.gw", "--subtract"))


def test_curves_in_every_format_are_the_librarys(glasswood, home):
    good(glasswood("summarize", "model.json", "rows.parquet", "-o", "c.gw"))
    curve = gw.Explainer(home / "model.json", gw.Background.load(home / "c.gw")).partial_dependence("age")
    lines = list(csv.DictReader(io.StringIO(good(glasswood("curve", "model.json", "c.gw", "age")))))
    assert [float(line["value"]) for line in lines] == curve.heights[:, 0].tolist()
    assert [float(line["to"]) for line in lines[:-2]] == curve.cuts.tolist()
    assert [int(line["rows"]) for line in lines] == curve.axis.rows.tolist()
    assert lines[-1]["category"] == "(missing)"
    rows = json.loads(good(glasswood("curve", "model.json", "rows.parquet", "age", "--json")))
    assert [row["value"] for row in rows] == curve.heights[:, 0].tolist()
    assert rows[0]["above"] is None
    good(glasswood("curve", "model.json", "c.gw", "-o", "all.parquet"))
    found = pd.read_parquet(home / "all.parquet")
    assert found["feature"].unique().tolist() == ["age", FORMULA, "income"]
    assert found["value"][found["feature"] == "age"].tolist() == curve.heights[:, 0].tolist()
    assert "(missing)" in good(glasswood("curve", "model.json", "c.gw", "age", "--format", "text"))


def test_surfaces(glasswood, home):
    good(glasswood("curve", "model.json", "rows.parquet", "age", "income", "--joint", "-o", "surface.csv"))
    surface = gw.Explainer(home / "model.json", str(home / "rows.parquet")).partial_dependence("age", "income")
    written = pd.read_csv(home / "surface.csv", dtype=str)["value"].astype(float)
    assert written.to_numpy() == pytest.approx(surface.heights.ravel(), abs=0)
    assert "two features" in refused(glasswood("curve", "model.json", "rows.parquet", "age", "--joint"))


def test_classes_and_probabilities(glasswood):
    lines = good(glasswood("curve", "classes.txt", "classes.parquet", "colour", "--label", "2")).splitlines()
    assert len(lines) == 1 + 3 + 2
    every = good(glasswood("curve", "classes.txt", "classes.parquet", "colour")).splitlines()
    assert len(every) == 1 + 3 * (3 + 2)
    found = good(glasswood("curve", "classes.txt", "classes.parquet", "age", "--response", "probability"))
    assert ",probability" in found
    assert "there is no output 'z'" in refused(
        glasswood("curve", "classes.txt", "classes.parquet", "age", "--label", "z")
    )


RESPONSE = ("--response", "probability")


def test_a_background_answers_on_the_scale_that_it_was_made_for(glasswood, home):
    good(glasswood("summarize", "classes.txt", "classes.parquet", *RESPONSE, "-o", "p.gw"))
    rows = str(home / "classes.parquet")
    expected = gw.summarize(home / "classes.txt", rows, response="probability")
    assert gw.Background.load(home / "p.gw") == expected
    found = json.loads(good(glasswood("curve", "classes.txt", "p.gw", "age", *RESPONSE, "--json")))
    curve = gw.Explainer(home / "classes.txt", pd.read_parquet(rows), response="probability").partial_dependence("age")
    assert [line["value"] for line in found] == curve.heights.ravel().tolist()
    assert {line["units"] for line in found} == {"probability"}
    from_rows = glasswood("curve", "classes.txt", "classes.parquet", "age", *RESPONSE, "--json")
    assert json.loads(good(from_rows)) == found
    raw = good(glasswood("curve", "classes.txt", "classes.parquet", "age"))
    assert good(glasswood("curve", "classes.txt", "p.gw", "age")) == raw  # the counts are there, too


def test_backgrounds_with_responses_of_groups_and_csv_add_up(glasswood, home):
    pd.read_parquet(home / "classes.parquet").drop(columns="colour").to_csv(home / "numbers.csv", index=False)
    lightgbm = pytest.importorskip("lightgbm")
    table = pd.read_csv(home / "numbers.csv")
    target = table["age"] / 40 + table["b"] * table["income"].fillna(0) > 1
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(table, target)
    model.booster_.save_model(home / "binary.txt")
    table.assign(half=np.arange(400) % 2).to_parquet(home / "numbers.parquet")
    good(glasswood("summarize", "binary.txt", "numbers.csv", *RESPONSE, "-o", "whole.gw"))
    good(glasswood("summarize", "binary.txt", "numbers.parquet", *RESPONSE, "--by", "half", "-o", "half.gw"))
    good(glasswood("merge", "half-0.gw", "half-1.gw", "-o", "both.gw"))
    assert gw.Background.load(home / "both.gw") == gw.Background.load(home / "whole.gw")
    halves = ("--background", "0=half-0.gw", "--background", "1=half-1.gw")
    found = json.loads(good(glasswood("compare", "binary.txt", *halves, *RESPONSE, "--json")))
    raw = json.loads(good(glasswood("compare", "binary.txt", *halves, "--json", "--response", "raw")))
    assert 0 < found[0]["largest"] < 1
    assert found[0]["largest"] != raw[0]["largest"]
    good(glasswood("summarize", "binary.txt", "numbers.csv", "--answer", "counts", "-o", "counts.gw"))
    with pytest.warns(UserWarning, match="only one of the backgrounds has sums of the probability"):
        good(glasswood("merge", "whole.gw", "counts.gw", "-o", "counts.gw"))


def test_rows_of_parquet_are_read_in_passes_for_a_response(glasswood, monkeypatch):
    honest, asked = _files.read_rows, []

    def only_some(data, max_=None):
        asked.append(max_)
        return honest(data, max_)

    monkeypatch.setattr(_files, "read_rows", only_some)
    good(glasswood("curve", "classes.txt", "classes.parquet", "age", *RESPONSE))
    good(glasswood("curve", "classes.txt", "classes.parquet", "age", "b", "--joint", "--label", "1", *RESPONSE))
    assert set(asked) == {_files.HEAD}


def test_a_surface_on_a_response_scale_needs_rows(glasswood, home):
    arguments = ("age", "income", "--joint", *RESPONSE, "--label", "1")
    good(glasswood("curve", "classes.txt", "classes.parquet", *arguments, "-o", "joint.csv"))
    ex = gw.Explainer(home / "classes.txt", pd.read_parquet(home / "classes.parquet"), response="probability")
    surface = ex.partial_dependence("age", "income", output=1)
    assert pd.read_csv(home / "joint.csv")["value"].to_numpy() == pytest.approx(surface.heights.ravel(), abs=1e-12)
    good(glasswood("summarize", "classes.txt", "classes.parquet", "--order", "2", *RESPONSE, "-o", "joint.gw"))
    assert "a surface needs the rows themselves on this scale" in refused(
        glasswood("curve", "classes.txt", "joint.gw", *arguments)
    )


def test_models_are_compared_on_a_response_scale(glasswood):
    arguments = (
        "compare",
        "classes.txt",
        "classes.txt.copy",
        "--data",
        "classes.parquet",
        "--label",
        "1",
        "--json",
    )
    Path("classes.txt.copy").write_bytes(Path("classes.txt").read_bytes())
    found = json.loads(good(glasswood(*arguments, *RESPONSE)))
    assert {line["difference"] for line in found} == {0}


def test_summarize_takes_models_that_only_have_responses(glasswood, home):
    X = pd.read_csv(home / "rows.csv")
    members = [("one", HistGradientBoostingClassifier(max_iter=3)), ("two", RandomForestClassifier(3, max_depth=3))]
    model = VotingClassifier(members, voting="soft").fit(X.fillna(0), X["age"] > 40)
    X.fillna(0).to_parquet(home / "full.parquet")
    (home / "voting.pkl").write_bytes(pickle.dumps(model))
    good(glasswood("summarize", "voting.pkl", "full.parquet", "-o", "voting.gw", "--trust-pickle"))
    assert gw.Background.load(home / "voting.gw") == gw.summarize(model, X.fillna(0))
    found = json.loads(good(glasswood("curve", "voting.pkl", "voting.gw", "age", "--trust-pickle", "--json")))
    expected = gw.Explainer(model, X.fillna(0)).partial_dependence("age")
    assert [line["value"] for line in found] == expected.heights[:, 0].tolist()


def test_compare_by_class(glasswood, home):
    table = pd.read_parquet(home / "classes.parquet")
    for name, part in (("one", table[:100]), ("two", table[100:])):
        part.to_parquet(home / f"classes-{name}.parquet")
    backgrounds = [f"--background={name}=classes-{name}.parquet" for name in ("one", "two")]
    lines = good(glasswood("compare", "classes.txt", *backgrounds, "--label", "2", "--format", "csv")).splitlines()
    assert lines[0] == "feature,difference,largest,shift"
    every = good(glasswood("compare", "classes.txt", *backgrounds, "--format", "csv")).splitlines()
    assert every[0] == "feature,output,difference,largest,total,shift"


def test_interactions(glasswood, home):
    found = json.loads(good(glasswood("interactions", "model.json", "rows.parquet", "--top", "1", "--json")))
    strengths = gw.Explainer(home / "model.json", pd.read_parquet(home / "rows.parquet")).interaction_strengths()
    assert (found[0]["first"], found[0]["second"]) == strengths.pairs[0]
    assert found[0]["value"] == strengths.values[0]
    good(glasswood("summarize", "model.json", "rows.parquet", "--order", "2", "-o", "pairs.gw"))
    assert "first" in good(glasswood("interactions", "model.json", "pairs.gw"))
    assert json.loads(good(glasswood("interactions", "model.json", "pairs.gw", "--json")))[0]["basis"] == "counts"
    assert "basis" not in found[0]
    sets = json.loads(good(glasswood("interactions", "model.json", "rows.parquet", "--max-order", "3", "--json")))
    assert {"features", "order", "mean_abs"} <= set(sets[0])
    assert "needs the rows" in refused(glasswood("interactions", "model.json", "pairs.gw", "--max-order", "3"))
    features = json.loads(good(glasswood("interactions", "model.json", "rows.parquet", "--per", "feature", "--json")))
    assert list(features[0])[:2] == ["feature", "h"]
    (whole,) = json.loads(good(glasswood("interactions", "model.json", "rows.parquet", "--per", "model", "--json")))
    assert 0 < whole["beyond_pairs"] < whole["beyond_main_effects"] < 1
    both = refused(glasswood("interactions", "model.json", "rows.parquet", "--per", "feature", "--max-order", "3"))
    assert "exclude each other" in both
    assert "twice" in refused(glasswood("interactions", "model.json", "pairs.gw", "--per", "feature"))


def test_importance(glasswood, home):
    rows = pd.read_parquet(home / "rows.parquet")
    ex = gw.Explainer(home / "model.json", rows)
    found = json.loads(good(glasswood("importance", "model.json", "rows.parquet", "--json")))
    assert [line["feature"] for line in found] == list(ex.importance().names)
    assert (found[0]["kind"], found[0]["value"]) == ("total", ex.importance().values[0])
    good(glasswood("summarize", "model.json", "rows.parquet", "-o", "counts.gw"))
    assert "main" in good(glasswood("importance", "model.json", "counts.gw", "--top", "1"))
    assert "--answer importance, or use --kind main" in refused(
        glasswood("importance", "model.json", "counts.gw", "--kind", "total")
    )
    assert "use --target COLUMN" in refused(
        glasswood("importance", "model.json", "rows.parquet", "--kind", "permutation")
    )
    assert "--kind permutation" in refused(glasswood("importance", "model.json", "rows.parquet", "--loss", "brier"))
    target, loss = ("--target", rows.columns[-1]), ("--loss", "absolute_error")
    permuted = ("--kind", "permutation", "--json")
    one = json.loads(good(glasswood("importance", "model.json", "rows.parquet", *permuted, *target, *loss)))
    good(
        glasswood(
            "summarize",
            "model.json",
            "rows.parquet",
            *target,
            "--answer",
            "permutation_importance:loss=absolute_error",
            "--answer",
            "importance",
            "-o",
            "sums.gw",
        )
    )
    assert json.loads(good(glasswood("importance", "model.json", "sums.gw", *permuted, *loss))) == one
    assert "--answer permutation_importance:loss=squared_error" in refused(
        glasswood("importance", "model.json", "sums.gw", *permuted)
    )


def test_compare(glasswood):
    good(glasswood("summarize", "model.json", "rows.parquet", "--by", "year", "-o", "y.gw"))
    pair = ("--background", "2025=y-2025.gw", "--background", "2026=y-2026.gw")
    found = json.loads(good(glasswood("compare", "model.json", *pair, "--json")))
    assert {line["feature"] for line in found} == {"age", FORMULA, "income"}
    assert "difference" in good(glasswood("compare", "model.json", "other.ubj", "--data", "rows.parquet"))
    assert "two or more --background" in refused(glasswood("compare", "model.json", *pair[:2]))
    assert "one --data" in refused(glasswood("compare", "model.json", "other.ubj"))
    assert "NAME=FILE" in refused(glasswood("compare", "model.json", "--background", "x", "--background", "y=z"))
    assert "twice" in refused(glasswood("compare", "model.json", *pair[:2], *pair[:2]))
    assert "twice" in refused(glasswood("compare", "model.json", "model.json", "--data", "rows.parquet"))


def test_models_are_compared_alike_on_rows_from_any_file(glasswood):
    models = ("compare", "model.json", "other.ubj", "--json", "--data")
    parquet, csv = (json.loads(good(glasswood(*models, rows))) for rows in ("rows.parquet", "rows.csv"))
    assert [line["feature"] for line in parquet] == [line["feature"] for line in csv]
    for one, other in zip(parquet, csv, strict=True):
        assert None not in one.values()
        for name in ("difference", "largest", "shift"):
            assert one[name] == pytest.approx(other[name], rel=1e-9, abs=1e-12)
    good(glasswood("summarize", "model.json", "rows.parquet", "-o", "counts.gw"))
    assert "counts for a single model" in refused(glasswood(*models, "counts.gw"))


def test_report(glasswood, home):
    good(glasswood("report", "model.json", "rows.parquet", "-o", "page.html", "--title", "A <b>title</b>"))
    page = (home / "page.html").read_text(encoding="utf-8")
    assert "A &lt;b&gt;title" in page
    assert "A <b>title" not in page


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(glasswood, shell):
    script = good(glasswood("completion", shell))
    assert "_GLASSWOOD_COMPLETE" in script


# ------------------------------------------------------------------------------------------------------ models


def test_pickles_are_opened_on_demand_only(glasswood, home):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(home / "exploded"),)

    for name in ("bomb.pkl", "bomb.joblib", "bomb.txt"):
        (home / name).write_bytes(pickle.dumps(Bomb()))
        for command in (["info", name], ["check", name, "rows.parquet"], ["curve", name, "rows.parquet", "age"]):
            assert "--trust-pickle" in refused(glasswood(*command))
    assert not (home / "exploded").exists()
    (home / "short.pkl").write_bytes(pickle.dumps(list(range(100)))[:50])
    assert "cannot be opened" in refused(glasswood("info", "short.pkl", "--trust-pickle"))


def test_a_trusted_pickle_of_a_pipeline(glasswood):
    found = json.loads(good(glasswood("check", "pipeline.pkl", "rows.parquet", "--trust-pickle", "--json")))
    assert found["equal_in_every_bit"] == 400
    assert good(glasswood("curve", "pipeline.pkl", "rows.parquet", "age", "--trust-pickle")).startswith(
        "feature,above,to"
    )
    assert "HistGradientBoosting" in good(glasswood("info", "pipeline.pkl", "--trust-pickle"))


def test_skops_files_name_the_types_that_are_to_be_trusted(glasswood, home):
    skops = pytest.importorskip("skops.io")
    rows = pd.read_csv(home / "rows.csv").fillna(0)
    rows.to_parquet(home / "full.parquet")
    skops.dump(RandomForestClassifier(3, random_state=0).fit(rows, rows["age"] > 40), home / "forest.skops")
    if not skops.get_untrusted_types(file=home / "forest.skops"):
        pytest.skip("this version of skops trusts forests")
    message = refused(glasswood("check", "forest.skops", "full.parquet"))
    asked = re.findall(r"--trust (\S+)", message)
    assert asked
    trust = [word for name in asked for word in ("--trust", name)]
    assert json.loads(good(glasswood("check", "forest.skops", "full.parquet", "--json", *trust)))["passed"] is True
    assert refused(glasswood("info", "forest.skops", "--trust", "builtins.eval"))


def test_without_skops_the_extra_is_named(glasswood, home, monkeypatch):
    (home / "any.skops").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "skops.io", None)
    assert "glasswood[skops]" in refused(glasswood("info", "any.skops"))


# ------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("nothing", "No such command"),
        ("info absent.json", "does not exist"),
        ("info model.onnx", "float32"),
        ("info junk.txt", "not a model file"),
        ("info", "Missing argument"),
        ("curve model.json rows.parquet nobody", "there is no feature 'nobody'"),
        ("curve model.json absent.parquet age", "absent.parquet"),
        ("curve model.json junk.txt age", "cannot be read as Parquet"),
        ("curve model.json absent.gw age", "there is no file 'absent.gw'"),
        ("curve model.json rows.parquet age -o curve.xlsx", "the suffix determines the format"),
        ("curve model.json rows.parquet age -o no/curve.csv", "there is no folder 'no'"),
        ("curve model.json rows.parquet age --format parquet", "-o"),
        ("curve rows.gw model.json age", "does not exist"),
        ("summarize model.json rows.parquet --order 0", "neither a positive integer"),
        ("summarize model.json rows.parquet --by nobody", "no column 'nobody'"),
        ("summarize model.json rows.parquet -o no/out.gw", "there is no folder 'no'"),
        ("summarize model.json rows.parquet --engine abacus", "abacus"),
        ("summarize model.json rows.csv --checkpoint c", "Parquet files"),
        ("merge junk.txt", "not a Glasswood background"),
        ("merge", "Missing argument"),
        ("check model.json classes.parquet", "income"),
        ("completion csh", "csh"),
        ("info model.json --nothing", "No such option"),
    ],
)
def test_wrong_input_is_reported_on_one_line(glasswood, arguments, said):
    if arguments.startswith("check model.json classes"):
        said = FORMULA
    message = refused(glasswood(*arguments.split()))
    assert said in message
    assert "Traceback" not in message


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "summarize model.json rows.parquet --by nobody",
            "--by and --weight name columns of a source; it has no column",
        ),
        ("summarize model.json rows.csv --by nobody", "--by names the columns ['nobody']"),
        ("summarize model.json rows.csv --weight nobody", "--weight names the column 'nobody'"),
        ("summarize model.json rows.csv --weight income", "--weight must be finite"),
        ("summarize model.json rows.csv --checkpoint c", "--engine and --checkpoint are for Parquet files"),
        ("curve model.json one.gw age income --joint", "make one with glasswood summarize --order 2, or all"),
        ("curve model.json rows.parquet age --response probability", "use --response prediction"),
        (
            "curve classes.txt counts-only.gw age --response probability",
            "make it with glasswood summarize --response pro",
        ),
        ("curve model.json rows.parquet age --label 9", "--label takes a label"),
        ("report model.json rows.parquet --by nobody -o x.html", "--by 'nobody' does not define groups of rows"),
    ],
)
def test_errors_name_options_and_not_arguments_of_python(glasswood, arguments, said):
    good(glasswood("summarize", "model.json", "rows.parquet", "-o", "one.gw"))
    good(glasswood("summarize", "classes.txt", "classes.parquet", "--answer", "counts", "-o", "counts-only.gw"))
    message = refused(glasswood(*arguments.split()))
    assert said in message
    assert not re.search(r"\b[a-z_]+=[^.]|sample_weight", message)


def test_a_file_of_rows_that_is_not_there(glasswood):
    message = refused(glasswood("curve", "model.json", "absent.parquet", "age"))
    assert message.count("absent.parquet") == 1
    assert "there is no file or folder 'absent.parquet'" in message


def test_backgrounds_are_not_models_nor_rows(glasswood):
    good(glasswood("summarize", "model.json", "rows.parquet", "-o", "b.gw"))
    good(glasswood("summarize", "model.json", "rows.parquet", "-o", "b2.gw", "--order", "2"))
    assert "pass the model first" in refused(glasswood("curve", "b.gw", "model.json", "age"))
    assert "already a background" in refused(glasswood("summarize", "model.json", "b.gw"))
    assert "only has counts" in refused(glasswood("check", "model.json", "b.gw"))
    assert "a different order" in refused(glasswood("merge", "b.gw", "b2.gw"))
    assert "a different model" in refused(glasswood("curve", "other.ubj", "b.gw", "age"))


def test_debug_shows_where(glasswood):
    code, _, err = glasswood("info", "junk.txt", "--debug")
    assert code == 2
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("glasswood: error: ")
    assert glasswood("--debug", "info", "junk.txt")[2].startswith("Traceback")


def test_unexpected_errors_have_a_code_of_their_own(glasswood, monkeypatch):
    monkeypatch.setattr("glasswood.cli._check.open_model", lambda model: {}["x\x1b[2J"])
    message = refused(glasswood("info", "model.json"), code=3)
    assert "unexpected KeyError" in message
    assert "\x1b" not in message


def test_interrupted(glasswood, monkeypatch):
    def interrupt(model):
        raise KeyboardInterrupt

    monkeypatch.setattr("glasswood.cli._check.open_model", interrupt)
    code, out, err = glasswood("info", "model.json")
    assert (code, out, err.strip()) == (130, "", "glasswood: interrupted")


def test_help_and_no_command(glasswood):
    code, _, err = glasswood()
    assert code == 2
    assert "Commands:" in err
    commands = re.findall(r"^  (\w+)  ", good(glasswood("--help")).partition("Commands:")[2].partition("\n\n")[0], re.M)
    assert commands[0] == "report"
    for command in commands:
        text = good(glasswood(command, "--help"))
        assert f"  glasswood {command} " in text.partition("Examples:")[2]
        assert max(map(len, text.splitlines())) <= 110


def test_progress_is_for_terminals(glasswood, home, monkeypatch, capsys):
    monkeypatch.setattr(_progress, "PATIENCE", 0)
    good(glasswood("summarize", "model.json", "rows.parquet", "-o", "quiet.gw"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    code, out, err = glasswood("summarize", "model.json", "rows.parquet", "-o", "loud.gw")
    assert (code, out) == (0, "")
    assert "counting" in err
    assert "wrote loud.gw" in err


# ------------------------------------------------------------------------------------------------- processes


def shell(command, folder):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    script = command.replace("glasswood ", f"{shlex.quote(sys.executable)} -m glasswood ")
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, env=env, check=False)


def test_a_reader_that_leaves_is_no_error(home):
    done = shell("glasswood curve model.json rows.parquet | head -1; echo ${PIPESTATUS[0]}", home)
    assert done.stdout.startswith("feature,above,to")
    assert done.stdout.splitlines()[-1] in ("0", "141")  # 0: the pipe took all before its reader left
    assert done.stderr == ""


def test_a_closed_pipe(home, monkeypatch):
    monkeypatch.chdir(home)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        assert main(["info", "model.json"]) == 141


def test_importing_the_library_does_not_import_click():
    code = "import sys, glasswood; print('click' in sys.modules, 'glasswood.cli' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


def test_without_click_the_extra_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "click", None)
    assert main(["info"]) == 2
    assert "glasswood[cli]" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------ strange names


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+1+1", "'+1+1"),
        ("-1-1", "'-1-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("\n=1", "'\n=1"),
        ("\uff1d1", "'\uff1d1"),
        ("-5", "-5"),
        ("+1.5e3", "+1.5e3"),
        ("age", "age"),
        ("a=b", "a=b"),
        (-1.5, "-1.5"),
        (float("-inf"), "-inf"),
        (float("nan"), ""),
        (None, ""),
        (7, 7),
    ],
    ids=lambda value: ascii(value),
)
def test_cells_of_csv_are_no_formulas(cell, written):
    assert safe_cell(cell) == written


def test_csv_of_strange_names_and_categories(glasswood):
    out = good(glasswood("curve", "model.json", "rows.parquet", FORMULA))
    lines = list(csv.reader(io.StringIO(out)))
    assert {line[0] for line in lines[1:]} == {"'" + FORMULA}
    categories = {
        line[3] for line in csv.reader(io.StringIO(good(glasswood("curve", "classes.txt", "classes.parquet"))))
    }
    assert {"'=1+1", "-5", "red"} <= categories


def test_texts_that_a_terminal_would_obey(capsys):
    _output.write_table({"name\x1b[2J": ["\u202eevil", "a\nb", "x" * 100, "日本"], "n": [1, None, 2, 3]}, ("-", "text"))
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "a\\nb" in out
    assert len(out.splitlines()) == 6
    assert "x" * 57 + "..." in out


def test_file_names_of_groups_are_safe_and_distinct():
    groups = [
        "a",
        "A",
        None,
        "missing",
        "",
        "..",
        "../../etc/passwd",
        "a/b",
        "a b",
        "x" * 300,
        "日本",
        ("a", 1),
        ("a_1",),
    ]
    names = [path.name for path in file_names(Path("out.gw"), groups)]
    assert len({name.lower() for name in names}) == len(groups)
    assert all(re.fullmatch(r"out-[A-Za-z0-9_-][A-Za-z0-9._-]{0,80}\.gw", name) for name in names)
    assert names == [path.name for path in file_names(Path("out.gw"), groups)]
    assert file_names(Path("folder/out"), ["a"]) == [Path("folder/out-a.gw")]


# ------------------------------------------------------------------------------------------------------- pages


def sessions(page):
    """The commands of a page's console blocks, with what they print."""
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for text in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = text.partition("\n")
            if command.startswith("glasswood "):
                yield command, printed


def test_the_commands_of_the_page_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("xgboost")
    page = (ROOT / "docs/guide/cli.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], {})
    found = list(sessions(page))
    assert found
    for command, printed in found:
        assert main(shlex.split(command)[1:]) == 0, command
        out, err = capsys.readouterr()
        assert err == ""
        if printed:
            assert doctest.OutputChecker().check_output(
                printed, out, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            ), f"{command}\n{out}"


def test_a_terminal_obeys_nothing_that_is_printed(capsys, monkeypatch):
    columns = {"name\x1b[2J": ["\u202eevil", "a\nb", "\x9b31m"], "n": [1, None, 2]}
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for form in ("text", "csv", "json"):
        _output.write_table(columns, ("-", form))
        out = capsys.readouterr().out
        assert out.replace("\n", "").isprintable(), form
    monkeypatch.setattr("sys.stdout.isatty", lambda: False)
    _output.write_table(columns, ("-", "csv"))
    assert "\u202eevil" in capsys.readouterr().out  # a file gets what is there
    _output.write_table(columns, ("-", "json"))
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert json.loads(out)[0]["name\x1b[2J"] == "\u202eevil"


def test_shap(home, tmp_path, capsys):
    command = ["shap", str(home / "model.json"), str(home / "rows.parquet"), "--keep", "year"]
    assert main([*command, "--background", str(home / "rows.parquet"), "-o", str(tmp_path / "shap")]) == 0
    assert capsys.readouterr().out == f"400 rows written to {tmp_path / 'shap'}\n"
    rows = pd.read_parquet(home / "rows.parquet")
    found, names = pd.read_parquet(tmp_path / "shap"), ["age", FORMULA, "income"]
    expected = gw.Explainer(home / "model.json", rows[names]).shap_values(rows[names]).values
    assert (found[names].to_numpy() == expected).all()
    assert found["year"].tolist() == rows["year"].tolist()
    assert main([*command, "--top", "2", "-o", str(tmp_path / "top")]) == 0  # path-dependent
    assert pd.read_parquet(tmp_path / "top").columns.tolist() == ["year", "features", "values"]
    assert main([*command, "-o", str(tmp_path / "top")]) == 2
    assert "another question" in capsys.readouterr().err
    csv = ["shap", str(home / "model.json"), str(home / "rows.csv"), "-o", str(tmp_path / "csv")]
    assert main(csv) == 0
    assert len(pd.read_parquet(tmp_path / "csv")) == 400
