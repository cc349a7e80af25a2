"""Centred curves: from zero, and minus the mean prediction; on every scale, from every source, and their errors."""

from __future__ import annotations

import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from glasswood.errors import ArgumentError, BackgroundError
from glasswood.metrics import CenteredPartialDependence
from glasswood.tables._folds import fold_of_positions
from helpers import panels as make

N = 240
NEAR = {"rtol": 0, "atol": 1e-9}
SAYS = r'centered must be True \(the curve starts at zero\), "mean" \(the curve minus the mean prediction\), or False'


def table():
    rng = np.random.default_rng(8)
    X = pd.DataFrame(rng.normal(size=(N, 3)).round(1), columns=list("abc"))
    X.loc[rng.random(N) < 0.1, "b"] = np.nan
    X["kind"] = pd.Categorical(rng.choice(list("xyz"), N, p=[0.2, 0.5, 0.3]))
    y = X.a * (X.kind == "x") + X.b.fillna(2) * X.c + rng.normal(size=N) / 5
    return X, y.to_numpy(), rng.integers(0, 4, N)


X, Y, WEIGHT = table()
HGB = {"max_iter": 6, "categorical_features": "from_dtype", "random_state": 0}
MODEL = HistGradientBoostingRegressor(**HGB).fit(X, Y)


def compare(ex, predict, rows, weight=None):
    """Compare all centred curves with the mean of predictions of modified rows, minus the mean prediction."""
    mean = np.average(predict(rows), axis=0, weights=weight)
    for name, values in {"a": [-1.0, 0.05, 2.0], "b": [0.3, np.nan], "kind": ["x", "y", "z"]}.items():
        curve = ex.partial_dependence(name, centered="mean")
        points = ex.partial_dependence(name, grid={name: values}, centered="mean")
        for k, value in enumerate(values):
            column = pd.Series([value] * len(rows), index=rows.index).astype(rows[name].dtype)
            expected = np.average(predict(rows.assign(**{name: column})), axis=0, weights=weight) - mean
            np.testing.assert_allclose(curve(np.array([value], dtype=object))[0], expected, **NEAR)
            np.testing.assert_allclose(points.values[k], expected, **NEAR)
        assert curve.centering == points.centering == "mean"
        np.testing.assert_array_equal(curve.mean, 0)
        np.testing.assert_array_equal(points.mean, 0)
        plain = ex.partial_dependence(name)
        np.testing.assert_array_equal(curve.heights, plain.heights - plain.mean)
        again = ex.partial_dependence(name, centered=True).centered("mean")
        np.testing.assert_allclose(again.heights, curve.heights, **NEAR)


@pytest.mark.parametrize("weight", [None, WEIGHT, WEIGHT / 3])
def test_curves_of_regressors(weight):
    compare(gw.Explainer(MODEL, X, sample_weight=weight), MODEL.predict, X, weight)


def test_curves_of_classifiers_on_both_scales():
    two = HistGradientBoostingClassifier(**HGB).fit(X, Y > 0)
    three = HistGradientBoostingClassifier(**HGB).fit(X, np.digitize(Y, [-0.5, 0.5]))
    for weight in (None, WEIGHT):
        asked = {"sample_weight": weight}
        compare(gw.Explainer(two, X, **asked, response="raw"), two.decision_function, X, weight)
        compare(
            gw.Explainer(two, X, **asked, response="probability"), lambda rows: two.predict_proba(rows)[:, 1], X, weight
        )
        compare(gw.Explainer(three, X, **asked, response="raw"), three.decision_function, X, weight)
        compare(gw.Explainer(three, X, **asked, response="probability"), three.predict_proba, X, weight)
    ex = gw.Explainer(two, X, response="probability")
    other = ex.partial_dependence("a", output=False, centered="mean")
    np.testing.assert_allclose(other.heights, -ex.partial_dependence("a", centered="mean").heights, **NEAR)
    forest = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X[["a", "c"]], Y > 0)
    first, second = (
        gw.Explainer(forest, X[["a", "c"]]).partial_dependence("a", output=label, centered="mean").values
        for label in (False, True)
    )
    np.testing.assert_allclose(first, -second, **NEAR)


def test_the_metric_of_the_paper_is_the_same():
    ex = gw.Explainer(MODEL, X)
    values = ex.evaluate(CenteredPartialDependence(), X[:20])
    for name in ("a", "b", "c"):
        np.testing.assert_allclose(values[name], ex.partial_dependence(name, centered="mean")(X[name][:20]), **NEAR)


def test_files_streams_and_backgrounds(tmp_path):
    X.to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    parts = [gw.summarize(MODEL, part, response="prediction") for part in (X[:100], X[100:])]
    (parts[0] + parts[1]).save(tmp_path / "rows.gw")
    compare(gw.Explainer(MODEL, str(tmp_path / "rows.parquet")), MODEL.predict, X)
    compare(gw.Explainer(MODEL, gw.Background.load(tmp_path / "rows.gw")), MODEL.predict, X)
    compare(gw.Explainer(MODEL, gw.Background.load(tmp_path / "rows.gw"), response="prediction"), MODEL.predict, X)
    compare(gw.Explainer(MODEL, iter([X[:50], X[50:]])), MODEL.predict, X)


def test_groups_of_rows_have_their_own_mean():
    found = gw.Explainer(MODEL, X).partial_dependence("a", by="kind", centered="mean")
    for key, curve in found.items():
        rows = X[X.kind == key]
        expected = MODEL.predict(rows.assign(a=0.5)).mean() - MODEL.predict(rows).mean()
        np.testing.assert_allclose(curve(0.5), expected, **NEAR)
    found.plot()


def test_covers_have_the_mean_of_training():
    tree = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X[["a", "c"]], Y)
    ex = gw.Explainer(tree)
    curve = ex.partial_dependence("a", centered="mean")
    np.testing.assert_allclose(ex.partial_dependence("a").mean, Y.mean(), **NEAR)  # leaves by their training rows
    np.testing.assert_allclose(curve.heights, ex.partial_dependence("a").heights - Y.mean(), **NEAR)


def test_pipelines_and_catboost():
    rows = X[["a", "c"]]
    steps = make_column_transformer((SplineTransformer(4), ["a"]), ("passthrough", ["c"]))
    model = make_pipeline(steps, RandomForestRegressor(4, max_depth=4, random_state=0)).fit(rows, Y)
    ex = gw.Explainer(model, rows, sample_weight=WEIGHT)
    mean = np.average(model.predict(rows), weights=WEIGHT)
    for name, how in (("a", "points"), ("c", "curve")):
        found = ex.partial_dependence(name, grid=3, centered="mean")
        expected = [np.average(model.predict(rows.assign(**{name: v})), weights=WEIGHT) for v in found.columns[name]]
        np.testing.assert_allclose(found.values, np.array(expected) - mean, **NEAR, err_msg=how)
    every = ex.partial_dependence(centered="mean")
    at = {value: k for k, value in enumerate(every["a"].columns["a"])}
    expected = np.average(model.predict(rows.assign(a=0.5)), weights=WEIGHT) - mean
    np.testing.assert_allclose(every["a"].values[at[0.5]], expected, **NEAR)
    catboost = pytest.importorskip("catboost")
    rows = X.assign(kind=X.kind.astype(str), b=X.b.fillna(0.0))
    small = {"iterations": 12, "random_seed": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostRegressor(**small, cat_features=["kind"], model_size_reg=0, one_hot_max_size=1)
    model.fit(rows, Y)
    curve = gw.Explainer(model, rows).partial_dependence("kind", centered="mean")
    for label in "xyz":
        expected = model.predict(rows.assign(kind=label)).mean() - model.predict(rows).mean()
        np.testing.assert_allclose(curve([label]), expected, **NEAR)


def test_rates_are_centred_by_the_mean_rate():
    exposure = np.random.default_rng(0).uniform(0.1, 1.0, N)
    claims = np.random.default_rng(1).poisson(exposure * np.exp(X.a / 2)).astype(float)
    model = lgb.LGBMRegressor(objective="poisson", n_estimators=8, num_leaves=6, verbose=-1, n_jobs=1)
    model.fit(X, claims, init_score=np.log(exposure))
    given = {"target": claims, "exposure": exposure, "offset": np.log(exposure), "sample_weight": WEIGHT}
    raw = gw.Explainer(model, X, **given, response="raw")
    compare(raw, lambda rows: model.predict(rows, raw_score=True), X, WEIGHT)
    ex = gw.Explainer(model, X, **given, response="prediction")
    compare(ex, lambda rows: np.exp(model.predict(rows, raw_score=True)), X, WEIGHT * exposure)
    curve = ex.partial_dependence("a", centered="mean")
    np.testing.assert_array_equal(curve.relativity(), ex.partial_dependence("a").relativity())
    assert not curve.observations.comparable


def by_hand(weight, answer):
    """Delete-one-fold jackknife for unequal folds, written out; answers are of rows alone."""
    fold = fold_of_positions(0, N, 4)
    mass = np.ones(N) if weight is None else weight
    h = [mass.sum() / mass[fold == k].sum() for k in range(4)]
    whole, left = answer(slice(None)), [answer(fold != k) for k in range(4)]
    mean = 4 * whole - sum((1 - 1 / h[k]) * left[k] for k in range(4))
    return np.sqrt(sum((h[k] * whole - (h[k] - 1) * left[k] - mean) ** 2 / (h[k] - 1) for k in range(4)) / 4)


@pytest.mark.parametrize("response", ["raw", "prediction"])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_errors_are_those_of_the_difference(response, weight):
    ex = gw.Explainer(MODEL, X, sample_weight=weight, folds=4, response=response)

    def difference(columns):
        def answer(some):
            rows, own = X[some], None if weight is None else weight[some]
            mean = np.average(MODEL.predict(rows), weights=own)
            points = zip(*columns.values(), strict=True)
            made = [rows.assign(**dict(zip(columns, point, strict=True))) for point in points]
            return np.array([np.average(MODEL.predict(one), weights=own) - mean for one in made])

        return answer

    curve = ex.partial_dependence("a", centered="mean")
    values = np.append(curve.cuts, 9.0)
    expected = by_hand(weight, difference({"a": values}))
    np.testing.assert_allclose(curve.error, expected, rtol=1e-6, atol=1e-9)
    assert not np.allclose(curve.error, ex.partial_dependence("a").error, rtol=0.01)
    np.testing.assert_allclose(curve.centered().errors, ex.partial_dependence("a", centered=True).errors, **NEAR)
    once_more = ex.partial_dependence("a", centered=True).centered("mean")
    np.testing.assert_allclose(once_more.errors, curve.errors, **NEAR)
    for grid in ({"a": [-1.0, 0.5]}, {"a": [-1.0, 0.5], "c": [0.3, 1.0, -2.0]}):
        points = ex.partial_dependence(*grid, grid=grid, centered="mean")
        expected = by_hand(weight, difference(points.columns))
        np.testing.assert_allclose(points.error, expected, rtol=1e-6, atol=1e-9)
        again = pickle.loads(pickle.dumps(points))
        np.testing.assert_array_equal(again.error, points.error)
    kept = pickle.loads(pickle.dumps(ex.partial_dependence("a")))
    np.testing.assert_allclose(kept.centered("mean").errors, curve.errors, **NEAR)


def test_errors_of_backgrounds(tmp_path):
    gw.summarize(MODEL, X, folds=4, order=2).save(tmp_path / "rows.gw")
    counted = gw.Explainer(MODEL, gw.Background.load(tmp_path / "rows.gw"))
    rows = gw.Explainer(MODEL, X, folds=4)
    for asked in (("a",), ("a", "c")):
        grid = {"a": [0.0, 1.0], "c": [0.5]}
        found, expected = (ex.partial_dependence(*asked, grid=grid, centered="mean").error for ex in (counted, rows))
        np.testing.assert_allclose(found, expected, rtol=1e-7)
    found, expected = (ex.partial_dependence("b", centered="mean").errors for ex in (counted, rows))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)


def test_from_zero_is_as_before():
    ex = gw.Explainer(MODEL, X)
    curve, plain = ex.partial_dependence("kind", centered=True), ex.partial_dependence("kind")
    assert curve(["y"]) == 0.0  # the most frequent
    np.testing.assert_array_equal(curve.heights, plain.heights - plain.heights[1])
    assert ex.partial_dependence("a", centered=np.True_)(X.a.min()) == 0.0
    assert plain.centered(how=False) is plain
    assert ex.partial_dependence("a", "c", grid=2, centered=True).values[0] == 0.0


@pytest.mark.parametrize("value", ["median", "Mean", 1, 0, None, 0.5, ["mean"]])
def test_other_values_are_refused(value):
    ex = gw.Explainer(MODEL, X)
    ice = ex.ice("a", rows=X[:4])
    for ask in (
        lambda: ex.partial_dependence("a", centered=value),
        lambda: ex.partial_dependence(centered=value),
        lambda: ex.partial_dependence("a", grid=3, centered=value),
        lambda: ex.partial_dependence("a").centered(value),
        lambda: ex.partial_dependence("a", grid=3).centered(value),
        lambda: ice.plot(centered=value),
        lambda: ice.panel(centered=value),
    ):
        with pytest.raises(ArgumentError, match=SAYS):
            ask()


def test_surfaces_are_not_centred():
    ex = gw.Explainer(MODEL, X)
    for how in (True, "mean"):
        with pytest.raises(ArgumentError, match=r"centered= is for curves.*surface\.first\.mean"):
            ex.partial_dependence("a", "c", centered=how)


def test_scikit_learn_knows_one_way():
    from glasswood.sklearn import PartialDependenceDisplay

    for value in ("mean", 1, None):
        with pytest.raises(ArgumentError, match=r"as in scikit-learn.*partial_dependence\(centered=\"mean\"\)"):
            PartialDependenceDisplay.from_estimator(MODEL, X, ["a"], grid_resolution=4, centered=value)
    display = PartialDependenceDisplay.from_estimator(MODEL, X, ["a"], grid_resolution=4, centered=True)
    with pytest.raises(ArgumentError, match="as in scikit-learn"):
        display.plot(centered="mean")


# ------------------------------------------------------------------------------------------------- figures


def test_ice_minus_the_mean_prediction():
    for model, response, weight in ((MODEL, "raw", None), (MODEL, "prediction", WEIGHT)):
        ex = gw.Explainer(model, X, response=response, sample_weight=weight)
        ice, plain = ex.ice("a"), ex.ice("a").panel()
        panel = ice.panel(centered="mean")
        mean = np.average(model.predict(X), weights=weight)
        curve = ex.partial_dependence("a", centered="mean").panel()
        np.testing.assert_allclose(panel.lines[0].heights, curve.lines[0].heights, **NEAR)
        np.testing.assert_allclose(panel.faint, np.array(plain.faint) - mean, **NEAR)
        np.testing.assert_allclose(panel.bands[0].low, np.array(plain.bands[0].low) - mean, **NEAR)
        assert panel.y_label == "prediction minus the mean"
    three = HistGradientBoostingClassifier(**HGB).fit(X, np.digitize(Y, [-0.5, 0.5]))
    ice = gw.Explainer(three, X, response="probability").ice("a", rows=X[:9])
    shift = np.array(ice.panel(1).faint) - ice.panel(1, centered="mean").faint
    np.testing.assert_allclose(shift, three.predict_proba(X)[:, 1].mean(), **NEAR)
    ice.plot(output=1, centered="mean")
    kept = pickle.loads(pickle.dumps(ice))  # after it was asked for
    np.testing.assert_array_equal(kept.panel(1, centered="mean").faint, ice.panel(1, centered="mean").faint)
    fresh = pickle.loads(pickle.dumps(gw.Explainer(MODEL, X).ice("a", rows=X[:9])))
    with pytest.raises(BackgroundError, match="pickled before its mean prediction was computed"):
        fresh.panel(centered="mean")
    assert fresh.panel(centered=True).lines


def test_figures_say_how_they_are_centred():
    ex = gw.Explainer(MODEL, X, folds=3)
    labels = {False: "average prediction", True: "change of average prediction"}
    labels["mean"] = "average prediction minus the mean"
    for how, label in labels.items():
        for one in (
            ex.partial_dependence("a", centered=how),
            ex.partial_dependence("a", grid=4, centered=how),
            ex.partial_dependence(["a", "kind"], centered=how)["kind"],
        ):
            assert one.panel().y_label == label
        pair = ex.partial_dependence("a", "c", grid=4, centered=how)
        assert pair.panel().z_label == label
        dots = ex.partial_dependence("a", "c", at=X[["a", "c"]][:7], centered=how)
        assert dots.panel().colour_label == label
        ex.partial_dependence(["a", "kind"], centered=how).plot(error=True)
        by = ex.partial_dependence("a", by="kind", centered=how)
        assert by.plot().axes[0].get_ylabel().replace("\n", " ") == label
    band = ex.partial_dependence("a", centered="mean").panel(error=True).bands[0]
    curve = ex.partial_dependence("a", centered="mean")
    width = np.subtract(band.high, band.low) / 2 / curve.find_folds().multiple
    np.testing.assert_allclose(width, curve.error, **NEAR)
    assert make.panel_of_curve(curve).mean == 0.0
