"""Certificates: proofs against brute force on every cell, and broken promises that the libraries' predict confirms."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import glasswood as gw
from glasswood.counting._plan import make_plan
from glasswood.errors import TableError, UnsupportedModelError
from glasswood.models.readers._promises import promises_of
from glasswood.questions.shapes import _arithmetic_certificate as _certificate
from glasswood.questions.shapes._arithmetic_certificate import LeafPairs
from helpers.strategies import ensembles
from helpers.versions import has
from zoo.store import fitted

UP = [1, 1, 0, 0, 0]


def rows_of(n=1500, seed=0, *, missing=False):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    if missing:
        X = X.mask(rng.random(X.shape) < 0.1)
    z = X.fillna(0.3)
    y = z.a + np.sin(3 * z.a) + z.b * (z.c > 0) - z.d * z.a * 0.5 + np.sin(2 * z.b) + 0.3 * rng.normal(size=n)
    return X, y


def xgboost(**options):
    from xgboost import XGBRegressor

    return XGBRegressor(n_estimators=60, max_depth=5, monotone_constraints=tuple(UP), n_jobs=1, **options)


def lightgbm(**options):
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_estimators=60, monotone_constraints=UP, verbose=-1, n_jobs=1, **options)


def histogram(**options):
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=60, monotonic_cst=UP, random_state=0, **options)


def catboost(**options):
    from catboost import CatBoostRegressor

    settings = {"iterations": 60, "depth": 6, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    return CatBoostRegressor(**settings, monotone_constraints=UP, **options)


def forest(**options):
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(20, max_depth=7, monotonic_cst=UP, random_state=0, **options)


def falls_of(model, X, feature, certificate):
    """Return how far the library's own predictions of rows fall along a feature, at every cut of the model."""
    cuts = gw.Explainer(model, X).partial_dependence(feature).cuts
    ends = np.append(cuts, cuts[-1] + 1.0)
    moved = X.loc[X.index.repeat(ends.size)].reset_index(drop=True)
    moved[feature] = np.tile(ends, len(X))
    curves = np.asarray(model.predict(moved), dtype=np.float64).reshape(len(X), -1)
    fall = (np.maximum.accumulate(curves, axis=1) - curves).max(axis=1)
    k = certificate.names.index(feature)
    assert fall.max() <= certificate.falls[k, 0] + 1e-5  # the bound holds; XGBoost adds in float32
    return fall


KEPT = {
    "xgboost": (xgboost, {}),
    "xgboost lossguide": (xgboost, {"grow_policy": "lossguide", "max_leaves": 31}),
    "xgboost exact": (xgboost, {"tree_method": "exact"}),
    "xgboost approx": (xgboost, {"tree_method": "approx"}),
    "xgboost dart": (xgboost, {"booster": "dart", "rate_drop": 0.2}),
    "lightgbm basic": (lightgbm, {}),
    "lightgbm intermediate": (lightgbm, {"monotone_constraints_method": "intermediate"}),
    "lightgbm dart": (lightgbm, {"boosting_type": "dart"}),
    "lightgbm extra trees": (lightgbm, {"extra_trees": True}),
    "histogram": (histogram, {}),
    "catboost": (catboost, {}),
    "catboost mae": (catboost, {"loss_function": "MAE"}),
    "catboost quantile": (catboost, {"loss_function": "Quantile:alpha=0.9"}),
    "forest": (forest, {}),
}


@pytest.mark.parametrize("missing", [False, True], ids=["whole", "missing"])
@pytest.mark.parametrize("kind", KEPT)
def test_promises_that_are_kept_are_proven(kind, missing):
    if kind == "forest" and missing and not has("scikit-learn", (1, 7)):
        pytest.skip("scikit-learn from 1.7: forests with constraints take no missing values before")
    make, options = KEPT[kind]
    X, y = rows_of(missing=missing)
    model = fitted(make(**options), X, y)
    found = gw.Explainer(model).certificate()
    assert found["a"] == found["b"] == "increasing"
    assert found.verdicts.ravel().tolist() == ["proven", "proven", "", "", ""]
    assert not found.broken
    assert found.exact
    for feature in "ab":
        assert falls_of(model, X.head(60), feature, found).max() == 0  # not in the last bit
    assert falls_of(model, X.head(60), "c", found).max() > 0


def test_advanced_without_missing_values_is_proven():
    X, y = rows_of()
    model = fitted(lightgbm(monotone_constraints_method="advanced"), X, y)
    assert gw.Explainer(model).certificate("a", "b").verdicts.ravel().tolist() == ["proven", "proven"]


BROKEN = {
    "xgboost absolute error": (xgboost, {"objective": "reg:absoluteerror"}, False),
    "xgboost quantile": (xgboost, {"objective": "reg:quantileerror", "quantile_alpha": 0.9}, False),
    "lightgbm advanced with missing": (lightgbm, {"monotone_constraints_method": "advanced"}, True),
    "lightgbm path_smooth": (lightgbm, {"path_smooth": 10}, False),
    "histogram absolute error": (histogram, {"loss": "absolute_error"}, False),
    "histogram quantile": (histogram, {"loss": "quantile", "quantile": 0.9}, False),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_promises_are_found_and_the_library_agrees(kind):
    make, options, missing = BROKEN[kind]
    X, y = rows_of(missing=missing)
    model = fitted(make(**options), X, y)
    found = gw.Explainer(model).certificate()
    assert "a" in {one.feature for one in found.broken}
    for one in found.broken:
        assert one.declared == "increasing"
        before, after = model.predict(one.to_frame())
        assert (before, after) == one.scores
        assert before - after == pytest.approx(one.by, rel=1e-6)
        assert one.by <= found.falls[found.names.index(one.feature), 0] + 1e-6
    assert found.verdicts[0, 0] == "broken"
    assert "a declared increasing, but the score falls by" in repr(found) or "b declared increasing" in repr(found)
    assert falls_of(model, X.head(60), "a", found).max() > 0


def test_first_line_of_the_report():
    X, y = rows_of(n=400)
    report = gw.Explainer(fitted(histogram(loss="absolute_error"), X, y), X).report()
    data = json.loads(re.findall(r'id="data">(.*?)</script>', report.html, re.DOTALL)[0])
    first = data["sections"][0]["list"][0]
    assert (first["tag"], first["names"][0] in "ab", first["state"]) == ("Promise broken", True, "bad")
    assert "Rows that break a promise" in report.html
    kept = gw.Explainer(fitted(histogram(), X, y), X).report().html
    assert "Promise broken" not in kept
    assert "proven for every row" in kept
    plain = gw.Explainer(fitted(histogram().set_params(monotonic_cst=None), X, y), X).report().html
    assert "Declared monotone constraints" not in plain


# --------------------------------------------------------------------------------------------------- brute force


def worst_by_hand(e):
    """Return the sums of worst falls and rises over trees: every combination of cells of the other features."""
    plan = make_plan(e, 1, {})
    cells, used = plan.cells, e.used_features.tolist()
    values = {}
    for f in used:
        column = e.schema.columns[f]
        if column.n_codes:
            values[f] = [*range(column.n_codes), -1.0, np.nan]
            if getattr(column, "refuse_unseen", False):
                values[f].remove(-1.0)
        else:
            cuts = cells.cuts_of(f)
            values[f] = [*cuts, cuts[-1] + 1.0 if cuts.size and np.isfinite(cuts[-1]) else 0.0, np.nan]
    totals = np.zeros((2, e.n_features, e.n_outputs))
    for tree in range(e.n_trees):
        part = plan.part(tree, tree + 1).ensemble
        for f in used:
            if e.schema.columns[f].n_codes:
                continue
            others = [g for g in used if g != f]
            axis = [x for x in values[f][:-1] if abs(x) < 3.4e38]  # a cell that holds infinity only is no number
            worst = np.zeros((2, e.n_outputs))
            for combination in itertools.product(*(values[g] for g in others)):
                columns = {g: np.full(len(axis), x) for g, x in zip(others, combination, strict=True)}
                columns[f] = np.array(axis)
                score = part._scores_of(columns, len(axis)).astype(np.float64) - e.score.constant
                worst[0] = np.maximum(worst[0], (np.maximum.accumulate(score) - score).max(axis=0))
                worst[1] = np.maximum(worst[1], (score - np.minimum.accumulate(score)).max(axis=0))
            totals[:, f] += worst
    return totals


def combinations_of(e):
    plan = make_plan(e, 1, {})
    return np.prod([float(plan.cells.n_cells[f]) for f in e.used_features]) * e.n_trees


@given(ensembles())
def test_bounds_of_trees_are_those_of_brute_force(e):
    if combinations_of(e) > 20_000:
        return
    plan = make_plan(e, 1, {})
    found = LeafPairs(plan).bounds
    falls, rises = worst_by_hand(e)
    size = max(1.0, float(np.abs(e.value * e.score.factor).max(initial=0.0)))
    number = plan.cells.n_codes == 0
    tolerance = 1e-9 if e.score.dtype == "float64" else 1e-5
    np.testing.assert_allclose(found.falls[number], falls[number], atol=tolerance * size * e.n_trees)
    np.testing.assert_allclose(found.rises[number], rises[number], atol=tolerance * size * e.n_trees)


@given(ensembles())
def test_subtrees_bound_pairs_of_leaves(e):
    plan = make_plan(e, 1, {})
    pairs = LeafPairs(plan)
    exact = pairs.bounds
    coarse = LeafPairs(plan)
    coarse._is_small = lambda tree: False
    coarse = coarse.bounds
    assert not coarse.exact
    number = plan.cells.n_codes == 0
    assert (coarse.falls[number] >= exact.falls[number] - 1e-12).all()
    assert (coarse.rises[number] >= exact.rises[number] - 1e-12).all()


def test_blocks_of_pairs_change_nothing(monkeypatch):
    X, y = rows_of(missing=True)
    model = fitted(lightgbm(monotone_constraints_method="advanced"), X, y)
    whole = gw.Explainer(model).certificate()
    monkeypatch.setattr(_certificate, "BLOCK", 50)
    parts = gw.Explainer(model).certificate()
    np.testing.assert_array_equal(whole.falls, parts.falls)
    np.testing.assert_array_equal(whole.rises, parts.rises)
    assert whole.broken == parts.broken


# --------------------------------------------------------------------------------------------------- declarations


def test_what_files_declare(tmp_path):
    X, y = rows_of(300)
    reported = [1, 0, 0, 0, -1]
    text, binary, xgb = (str(tmp_path / name) for name in ("model.txt", "model.cbm", "model.json"))
    fitted(lightgbm().set_params(monotone_constraints=reported), X, y).booster_.save_model(text)
    fitted(catboost().set_params(monotone_constraints={0: 1, 4: -1}), X, y).save_model(binary)
    model = fitted(xgboost().set_params(monotone_constraints={"a": 1, "e": -1}), X, y)
    model.save_model(xgb)
    for known in (text, binary, model, model.get_booster()):
        assert gw.read_model(known).promised[:, 0].tolist() == reported
        assert gw.Explainer(known).certificate()["a"] == "increasing"
    assert gw.read_model(xgb).promised is None  # the file does not say so
    assert gw.Explainer(xgb).certificate()["a"] == "increasing"  # but the trees do


def test_classes():
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    X, y = rows_of(600)
    for make in (HistGradientBoostingClassifier, RandomForestClassifier):
        model = fitted(make(monotonic_cst=UP, random_state=0), X, y > 0)
        ex = gw.Explainer(model)
        assert ex.certificate()["a"] == "increasing"
        other = ex.certificate("a", output=False)
        assert other["a"] == "decreasing"
        assert other.promised.tolist() == [[-1]]
        assert other.verdicts.tolist() == [["proven"]]


def test_several_outputs():
    from lightgbm import LGBMClassifier

    X, y = rows_of(600)
    model = fitted(LGBMClassifier(n_estimators=10, verbose=-1, monotone_constraints=UP), X, pd.qcut(y, 3, labels=False))
    found = gw.Explainer(model).certificate()
    assert set(found["a"]) <= {"increasing", "constant"}
    assert (found.verdicts[:2] == "proven").all()
    assert found.to_frame().shape == (15, 7)
    assert gw.Explainer(model).certificate(output=1).falls.shape == (5, 1)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (None, None),
        ("", None),
        ("()", None),
        ("(0,0)", None),
        ("(1,-1)", [1, -1]),
        ("1 0", [1, 0]),
        ("nonsense", None),
        ([1], [1, 0]),
        ([1, 1, 1], None),
        ({"b": -1}, [0, -1]),
        ({1: 2, "z": 1}, [0, 1]),
        (np.array([0, -1]), [0, -1]),
    ],
)
def test_forms_of_constraints(given_, expected):
    found = promises_of(given_, ["a", "b"], 1)
    assert (None if found is None else found[:, 0].tolist()) == expected


# --------------------------------------------------------------------------------------------------- the result


def test_categories_have_no_certificate():
    X, y = rows_of(300)
    X["k"] = pd.Categorical(np.where(X.a > 0, "u", "v"))
    model = fitted(lightgbm().set_params(monotone_constraints=None), X, y)
    ex = gw.Explainer(model)
    assert ex.certificate().names == tuple("abcde")
    with pytest.raises(TableError, match="a certificate needs a column of numbers"):
        ex.certificate("k")


def test_combinations_are_refused():
    from sklearn.ensemble import VotingRegressor

    X, y = rows_of(200)
    model = fitted(VotingRegressor([("one", histogram()), ("two", forest())]), X, y)
    with pytest.raises(UnsupportedModelError, match="certificates need a score that is a sum over trees"):
        gw.Explainer(model, X, response="prediction").certificate()


def test_pipelines_are_certified_in_the_users_columns():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    X, y = rows_of(500)
    model = fitted(
        make_pipeline(FunctionTransformer(np.negative), histogram().set_params(monotonic_cst=[-1] * 5)), X, y
    )
    found = gw.Explainer(model, X).certificate()
    assert found["a"] == "increasing"  # the transformed column is decreasing, as the constraint says
    assert not found.promised.any()


def test_a_model_without_splits():
    from sklearn.tree import DecisionTreeRegressor

    found = gw.Explainer(fitted(DecisionTreeRegressor(), pd.DataFrame({"a": [1.0, 2.0]}), [3.0, 3.0])).certificate()
    assert found["a"] == "constant"
    assert repr(found) == "Certificate(1 feature: 1 constant)"


def test_statistics_of_categories():
    X, y = rows_of(400)
    X["k"] = np.where(X.c > 0, "u", "v")
    model = fitted(catboost(cat_features=["k"], one_hot_max_size=1).set_params(monotone_constraints={"a": 1}), X, y)
    assert gw.Explainer(model, X).certificate()["a"] == "increasing"


def test_figure_frame_and_page():
    X, y = rows_of(300)
    found = gw.Explainer(fitted(histogram(loss="absolute_error"), X, y), X).certificate()
    panel = found.panel(top=3)
    assert panel.series == ("falls", "rises")
    assert len(panel.labels) == 3
    assert any(label.endswith("(broken promise)") for label in found.panel().labels)
    assert found.to_frame()["verdict"].tolist().count("broken") == len(found.broken)
    assert "Certificate of monotonicity" in found._repr_html_()
    assert len(found) == 5
    with pytest.raises(TableError, match="no feature"):
        found["z"]
