"""Outputs are asked for by label, with the type that it has, or by position; binary models have two of them."""

from __future__ import annotations

import catboost
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import glasswood as gw
from glasswood.errors import TableError
from glasswood.models._outputs import Outputs, OutputSelection, labels_of, position_of
from zoo.store import fitted

SMALL = {"n_estimators": 8, "random_state": 0}


def table(n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    score = X["a"] * X["b"] + np.abs(X["c"]) + 0.2 * rng.normal(size=120)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def quiet_catboost(**options):
    return catboost.CatBoostClassifier(iterations=8, depth=3, verbose=0, allow_writing_files=False, **options)


FORESTS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": lambda: RandomForestClassifier(max_depth=4, **SMALL),
    "extra trees": lambda: ExtraTreesClassifier(max_depth=4, **SMALL),
    "bag": lambda: BaggingClassifier(DecisionTreeClassifier(max_depth=3), **SMALL),
}
BOOSTED = {
    "boosting": lambda: GradientBoostingClassifier(**SMALL),
    "histogram": lambda: HistGradientBoostingClassifier(max_iter=8, random_state=0),
    "LightGBM": lambda: lgb.LGBMClassifier(n_estimators=8, min_child_samples=5, n_jobs=1, verbose=-1),
    "CatBoost": quiet_catboost,
}
OWN_LABELS = FORESTS | BOOSTED  # XGBoost takes classes 0, 1, ... only

TWO_LABELS = {
    "integers": (3, 7),
    "numbers from 1": (1, 2),
    "texts": ("high", "low"),
    "booleans": (False, True),
    "floats": (1.0, 2.0),
    "negative": (-1, 1),
}


# ------------------------------------------------------------------------------------------------------- the labels


@pytest.mark.parametrize("name", OWN_LABELS)
@pytest.mark.parametrize("kind", TWO_LABELS)
def test_labels_of_binary_models_keep_their_type(name, kind):
    X, y = table()
    labels = TWO_LABELS[kind]
    model = fitted(OWN_LABELS[name](), X, np.array(labels)[y])
    ex = gw.Explainer(model, X, response="probability")
    assert ex.outputs == labels
    assert [type(label) for label in ex.outputs] == [type(label) for label in labels]
    brute = model.predict_proba(X.assign(a=0.3)).mean(axis=0)
    for k, label in enumerate(labels):
        for asked in ({"output": label}, {"output": str(label)}):
            curve = ex.partial_dependence("a", **asked)
            assert curve.outputs == (label,)
            assert curve(0.3) == pytest.approx(brute[k], abs=1e-6)
    assert ex.partial_dependence("a").outputs == labels[1:]


@pytest.mark.parametrize("name", [*OWN_LABELS, "XGBoost"])
def test_an_integer_is_a_label_not_a_position(name):
    X, y = table(n_classes=3)
    first = 0 if name == "XGBoost" else 1
    model = fitted((xgb.XGBClassifier(n_estimators=8) if name == "XGBoost" else OWN_LABELS[name]()), X, y + first)
    ex = gw.Explainer(model, X, response="probability")
    assert ex.outputs == tuple(range(first, first + 3))
    brute = model.predict_proba(X.assign(a=0.3)).mean(axis=0)
    for k, label in enumerate(ex.outputs):
        assert ex.partial_dependence("a", output=label)(0.3) == pytest.approx(brute[k], abs=1e-6)
        assert ex.partial_dependence("a", output=np.int8(label))(0.3) == pytest.approx(brute[k], abs=1e-6)
        assert ex.partial_dependence("a", output=str(label))(0.3) == pytest.approx(brute[k], abs=1e-6)
    with pytest.raises(TableError, match=f"there is no output {first + 3}; the labels are {first}, {first + 1}, "):
        ex.partial_dependence("a", output=first + 3)


def test_true_is_not_one():
    X, y = table()
    ex = gw.Explainer(fitted(RandomForestClassifier(**SMALL), X, y == 1), X)
    assert ex.importance(output=np.True_).outputs == (True,)
    for wrong in (1, 0, 1.0, "1"):
        with pytest.raises(TableError, match="the labels are False, True"):
            ex.importance(output=wrong)
    ex = gw.Explainer(fitted(RandomForestClassifier(**SMALL), X, y), X)
    with pytest.raises(TableError, match="there is no output True; the labels are 0, 1"):
        ex.importance(output=True)


def test_labels_through_wrappers():
    X, y = table()
    named = np.array(["no", "yes"])[y]
    forest = RandomForestClassifier(max_depth=4, **SMALL)
    for model in (
        fitted(make_pipeline(StandardScaler(), forest), X, named),
        fitted(GridSearchCV(forest, {"max_depth": [3]}, cv=2), X, named),
        fitted(CalibratedClassifierCV(forest, cv=2), X, named),
        fitted(VotingClassifier([("f", forest), ("g", GradientBoostingClassifier(**SMALL))], voting="soft"), X, named),
    ):
        ex = gw.Explainer(model, X, response="probability")
        assert ex.outputs == ("no", "yes")
        brute = model.predict_proba(X.assign(a=0.3)).mean(axis=0)
        for k, label in enumerate(ex.outputs):
            points = ex.partial_dependence("a", output=label, at=pd.DataFrame({"a": [0.3]}))
            assert points.outputs == (label,)
            np.testing.assert_allclose(points.values, brute[k], rtol=0, atol=1e-9)


def test_models_without_labels_are_numbered(tmp_path):
    X, y = table()
    booster = xgb.train({"objective": "binary:logistic"}, xgb.DMatrix(X, y), 5)
    classifier = fitted(lgb.LGBMClassifier(n_estimators=5, verbose=-1), X, np.array(["no", "yes"])[y])
    classifier.booster_.save_model(tmp_path / "model.txt")
    targets = fitted(RandomForestRegressor(**SMALL), X, np.column_stack([X["a"], X["b"], X["c"]]))
    for model, labels in (
        (booster, (0, 1)),
        (classifier.booster_, (0, 1)),
        (tmp_path / "model.txt", (0, 1)),
        (targets, (0, 1, 2)),
        (fitted(xgb.XGBRegressor(n_estimators=3), X, np.column_stack([X["a"], X["b"]])), (0, 1)),
    ):
        assert gw.Explainer(model, X).outputs == labels
    one = fitted(RandomForestRegressor(**SMALL), X, X["a"])
    assert gw.Explainer(one, X).outputs == ("prediction",)
    for label in (0, "prediction"):
        assert gw.Explainer(one, X).partial_dependence("a", output=label).outputs == ("prediction",)
    second = gw.Explainer(targets, X).partial_dependence("a", output=1)
    assert second(0.3) == pytest.approx(targets.predict(X.assign(a=0.3))[:, 1].mean())


def test_two_targets_are_not_two_classes():
    X, _ = table()
    for model in (
        fitted(RandomForestRegressor(**SMALL), X, X[["a", "b"]]),
        fitted(quiet_catboost(loss_function="MultiLogloss"), X, (X[["a", "b"]] > 0).astype(int)),
        fitted(xgb.XGBClassifier(n_estimators=3), X, (X[["a", "b"]] > 0).astype(int)),
    ):
        assert gw.Explainer(model, X).partial_dependence("a").outputs == (0, 1)
    both = fitted(RandomForestClassifier(**SMALL), X, (X[["a", "b"]] > 0).astype(int))
    assert gw.Explainer(both, X).importance().outputs == ("y0=0", "y0=1", "y1=0", "y1=1")


def test_two_classes_with_a_margin_each():
    X, y = table()
    models = {
        "XGBoost": xgb.XGBClassifier(n_estimators=5, objective="multi:softprob", num_class=2),
        "LightGBM": lgb.LGBMClassifier(n_estimators=5, objective="multiclass", num_class=2, verbose=-1),
        "CatBoost": quiet_catboost(loss_function="MultiClass"),
    }
    for model in models.values():
        model.fit(X, y)
        ex = gw.Explainer(model, X, response="probability")
        brute = model.predict_proba(X.assign(a=0.3)).mean(axis=0)
        assert ex.partial_dependence("a").outputs == (1,)
        assert ex.partial_dependence("a")(0.3) == pytest.approx(brute[1], abs=1e-6)
        assert ex.partial_dependence("a", output=0)(0.3) == pytest.approx(brute[0], abs=1e-6)
        assert gw.Explainer(model, X, response="raw").importance().units == "softmax margin"


# ------------------------------------------------------------------------------------- both classes of binary models


def binary_models():
    X, y = table()
    return {
        "XGBoost": fitted(xgb.XGBClassifier(n_estimators=8, max_depth=3), X, y),
        "histogram": fitted(HistGradientBoostingClassifier(max_iter=8, random_state=0), X, y),
        "forest": fitted(RandomForestClassifier(max_depth=4, **SMALL), X, y),
    }, X


@pytest.fixture(scope="module")
def models():
    return binary_models()


@pytest.mark.parametrize("name", ["XGBoost", "histogram", "forest"])
@pytest.mark.parametrize("response", ["raw", "probability"])
def test_both_classes_of_everything_with_a_level(models, name, response):
    found, X = models
    model = found[name]
    ex = gw.Explainer(model, X, response=response)
    total = 0.0 if response == "raw" and name != "forest" else 1.0
    at = {"a": [0.3, -1.0, np.nan], "b": [0.0, 0.5, 1.0]}
    for ask in (
        lambda **o: ex.partial_dependence("a", **o).heights,
        lambda **o: ex.partial_dependence("a", **o).mean,
        lambda **o: ex.partial_dependence(**o)["b"].heights,
        lambda **o: ex.partial_dependence("a", "b", **o).heights,
        lambda **o: ex.partial_dependence("a", "b", at=at, **o).heights,
        lambda **o: ex.joint_partial_dependence(**o)["a", "c"].heights,
        lambda **o: ex.ice("a", rows=X[:5], **o).heights,
        lambda **o: ex.ice("a", "b", at=at, **o).heights,
    ):
        first, second = ask(output=0), ask(output=1)
        np.testing.assert_array_equal(ask(), second)
        np.testing.assert_allclose(first + second, total, rtol=0, atol=1e-12)
    interactions = [ex.partial_dependence("a", "b", output=k).interaction for k in (0, 1)]
    np.testing.assert_allclose(interactions[0], -interactions[1], rtol=0, atol=1e-12)
    brute = model.predict_proba(X.assign(a=0.3))[:, 0] if total else None
    if brute is not None:
        assert ex.partial_dependence("a", output=0)(0.3) == pytest.approx(brute.mean(), abs=1e-6)
        np.testing.assert_allclose(ex.ice("a", at={"a": [0.3]}, output=0).values[:, 0], brute, atol=1e-6)


@pytest.mark.parametrize("name", ["XGBoost", "histogram", "forest"])
@pytest.mark.parametrize("background", [True, False], ids=["rows", "path-dependent"])
def test_both_classes_of_values_of_rows(models, name, background):
    found, X = models
    ex = gw.Explainer(found[name], X if background else None, response="raw")
    rows = X[:6]
    for method in ("shap_values", "banzhaf_values", "shap_interaction_values"):
        first, second = (getattr(ex, method)(rows, output=k) for k in (0, 1))
        np.testing.assert_allclose(first.values, -second.values, rtol=0, atol=1e-12)
        assert first.base_values + second.base_values == pytest.approx(float(name == "forest"))
        assert first.outputs == (0,)
        np.testing.assert_array_equal(getattr(ex, method)(rows).values, second.values)
    for ask in (ex.interaction_values, lambda rows, **o: ex.evaluate(gw.metrics.ShapleyInteractions(2), rows, **o)):
        first, second = (ask(rows, output=k) for k in (0, 1))
        signs = [1.0 if name == "forest" and not subset else 0.0 for subset in second.subsets]
        np.testing.assert_allclose(first.values + second.values, np.tile(signs, (6, 1)), rtol=0, atol=1e-12)
        some = [number for number, subset in enumerate(second.subsets) if subset]
        np.testing.assert_allclose(first.mean_abs()[some], second.mean_abs()[some], rtol=1e-9)
        for (_, ours), (_, whole) in zip(first.blocks(4), second.blocks(4), strict=True):
            np.testing.assert_allclose(ours[:, some], -whole[:, some], rtol=0, atol=1e-12)
    grids = {"a": [0.0, 1.0], "b": [0.5, -0.5]}
    both = [ex.joint_partial_dependence(grid=grids, output=k).grid_values["a", "b"] for k in (0, 1)]
    np.testing.assert_allclose(both[0] + both[1], float(name == "forest"), rtol=0, atol=1e-12)


def test_both_classes_of_summaries(models):
    found, X = models
    for model in found.values():
        ex = gw.Explainer(model, X)
        for ask in (ex.importance, ex.interaction_strengths):
            first, second = ask(output=0), ask(output=1)
            assert (first.outputs, second.outputs) == ((0,), (1,))
            np.testing.assert_allclose(first.values, second.values, rtol=1e-9)
        first, second = ex.monotonicity(output=0), ex.monotonicity(output=1)
        opposite = {"increasing": "decreasing", "decreasing": "increasing"}
        for ours, theirs in zip(first.directions.ravel(), second.directions.ravel(), strict=True):
            assert ours == opposite.get(theirs, theirs)
        first, second = ex.spikes(points=3, output=0), ex.spikes(points=3, output=1)
        assert sorted(-spike.by for spike in first) == pytest.approx(sorted(spike.by for spike in second))


def test_forests_and_boosted_models_of_two_classes_are_alike(models):
    found, X = models
    for model in found.values():
        ex = gw.Explainer(model, X)
        assert ex.outputs == (0, 1)
        values = ex.shap_values(X[:3])
        assert values.values.shape == (3, 4)
        assert values.plot() is not None
        assert values.outputs == (1,)
        importance = ex.importance()
        first = importance.to_frame()["value"][0]
        assert f"{importance.names[0]} {first:.4g}" in repr(importance)
        assert ex.ice("a").plot() is not None
        assert ex.partial_dependence("a", "b").plot() is not None
    ensemble = gw.read_model(found["forest"])
    np.testing.assert_array_equal(ensemble.predict(X), found["forest"].predict_proba(X))  # both, bit for bit


def test_a_background_answers_for_both_classes(models, tmp_path):
    found, X = models
    for model in found.values():
        gw.summarize(model, X, order=2).save(tmp_path / "rows.gw")
        ex, rows = gw.Explainer(model, gw.Background.load(tmp_path / "rows.gw")), gw.Explainer(model, X)
        for k in (0, 1):
            np.testing.assert_array_equal(
                ex.partial_dependence("a", output=k).heights, rows.partial_dependence("a", output=k).heights
            )
        assert ex.importance().outputs == (1,)


# ---------------------------------------------------------------------------------------------- results and figures


def test_results_are_asked_for_what_they_have():
    X, y = table(n_classes=3)
    ex = gw.Explainer(fitted(RandomForestClassifier(max_depth=4, **SMALL), X, y + 1), X)
    curve, surface = ex.partial_dependence("a"), ex.partial_dependence("a", "b")
    assert curve.outputs == (1, 2, 3)
    assert set(curve.to_frame()["output"]) == {1, 2, 3}
    for result in (curve, surface, ex.ice("a"), ex.shap_values(X[:3]), ex.importance(), ex.interaction_strengths()):
        for asked in ({"output": 3}, {"output": "3"}):
            assert result.plot(**asked) is not None
        with pytest.raises(TableError, match="there is no output 0; the labels are 1, 2, 3"):
            result.plot(output=0)
    with pytest.raises(TableError, match=r"pass output=, one of \[1, 2, 3\]"):
        ex.shap_values(X[:3]).plot()
    with pytest.raises(TableError, match=r"pass output=, one of \[1, 2, 3\]"):
        surface.plot()
    with pytest.raises(TableError, match=r"the labels are 2\..*ask the Explainer for others"):
        ex.partial_dependence("a", output=2).plot(output=1)
    assert ex.plot(["a", ("a", "b")], output=2) is not None


def test_figures_name_the_class():
    from glasswood.questions.curves._panel import panel_of_curve

    X, y = table()
    model = fitted(HistGradientBoostingClassifier(max_iter=8), X, np.array(["bad", "good"])[y])
    ex = gw.Explainer(model, X)
    assert panel_of_curve(ex.partial_dependence("a")).y_label == "average probability of good"
    raw = ex.partial_dependence("a", output="bad", response="raw")
    assert panel_of_curve(raw).y_label == "average log-odds of bad"
    targets = gw.Explainer(fitted(RandomForestRegressor(**SMALL), X, X[["a", "b"]]), X)
    assert panel_of_curve(targets.partial_dependence("a", output=1)).y_label == "average prediction of target 1"


def test_several_outputs_say_what_they_are_ranked_by():
    X, y = table(n_classes=3)
    ex = gw.Explainer(fitted(RandomForestClassifier(max_depth=4, **SMALL), X, y), X)
    for found in (ex.importance(), ex.interaction_strengths()):
        frame = found.to_frame()
        np.testing.assert_allclose(frame["total"], np.sqrt((found.heights**2).sum(axis=1)))
        assert f"probability, total: {'' if hasattr(found, 'pairs') else found.names[0]}" in repr(found)
        assert f"{frame['total'][0]:.4g}" in repr(found)
        assert "total" in found._repr_html_()


def test_compare_by_label():
    X, y = table(n_classes=3)
    model = fitted(RandomForestClassifier(max_depth=4, **SMALL), X, y + 1)
    pair = {"low": gw.Explainer(model, X[:60]), "high": gw.Explainer(model, X[60:])}
    assert gw.compare(pair, output=1).outputs == (1,)
    found = gw.compare(pair)
    assert "in total over 3 outputs" in repr(found)
    np.testing.assert_allclose(found.to_frame()["total"][::3], found.total)
    assert found.plot(["a"], output=3) is not None
    with pytest.raises(TableError, match="there is no output 0"):
        found.plot(["a"], output=0)
    X, y = table()
    boosted = fitted(HistGradientBoostingClassifier(max_iter=8), X, y)
    halves = {"first": gw.Explainer(boosted, X[:60], response="raw")}
    halves["second"] = gw.Explainer(boosted, X[60:], response="raw")
    both = [gw.compare(halves, output=k) for k in (0, 1)]
    np.testing.assert_allclose(both[0].total, both[1].total, rtol=1e-9)
    np.testing.assert_allclose(both[0].curves("a")["first"].heights, -both[1].curves("a")["first"].heights)


def test_parquet_keeps_the_type_of_labels(tmp_path):
    X, y = table(n_classes=3)
    ex = gw.Explainer(fitted(RandomForestClassifier(max_depth=3, **SMALL), X, y + 1), X)
    ex.interaction_values(X[:4], max_order=1).to_parquet(tmp_path / "values.parquet")
    assert set(pd.read_parquet(tmp_path / "values.parquet")["output"]) == {1, 2, 3}


def test_pipelines_with_groups_have_both_classes():
    X, y = table()
    X = X.assign(d=np.where(X["d"] > 0, "up", "down"))
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), HistGradientBoostingClassifier(max_iter=5))
    model = fitted(model.set_params(onehotencoder__sparse_output=False), X[["d"]], y)
    ex = gw.Explainer(model, X[["d"]], response="probability")
    both = [ex.partial_dependence("d", output=k).values for k in (0, 1)]
    np.testing.assert_allclose(both[0] + both[1], 1.0)


# ------------------------------------------------------------------------------------------------------ the resolver


@pytest.mark.parametrize(
    ("labels", "output", "place"),
    [
        ((1, 2, 3), 1, 0),
        ((1, 2, 3), "3", 2),
        ((1, 2, 3), 3.0, 2),
        ((1.0, 2.0), 1, 0),
        ((1.0, 2.0), "1.0", 0),
        ((False, True), True, 1),
        ((False, True), "False", 0),
        (("a", "1"), "1", 1),
        (("1", 1), 1, 1),
        (("1", 1), "1", 0),
        (("prediction",), 0, 0),
        (("depth",), "depth", 0),
        ((np.datetime64("2020-01-01"), np.datetime64("2021-01-01")), np.datetime64("2021-01-01"), 1),
    ],
)
def test_positions(labels, output, place):
    assert position_of(labels, output) == place


@pytest.mark.parametrize(
    ("labels", "output", "says"),
    [
        ((1, 2), 0, "there is no output 0; the labels are 1, 2. output= takes a label"),
        ((1, 2), -1, "there is no output -1"),
        ((1, 2), "1.0", "there is no output '1.0'"),
        ((0, 1), False, "there is no output False"),
        (("0", "1"), 1, "there is no output 1; the labels are '0', '1'"),
        ((0, 1), [0], r"there is no output \[0\]"),
        (("prediction",), 1, "the labels are 'prediction'"),
        ((1, 1), 1, "several outputs have the label 1"),
        (tuple(range(100)), 100, r"18, 19, ... \(100 in all\)"),
    ],
)
def test_outputs_that_are_not_there(labels, output, says):
    with pytest.raises(TableError, match=says):
        position_of(labels, output)


def test_labels_are_values_of_python():
    assert [type(label) for label in labels_of(np.array([1, 2], dtype=np.int8))] == [int, int]
    assert [type(label) for label in labels_of(np.array(["a"]))] == [str]
    assert labels_of(np.array(["2020-01-01"], dtype="datetime64[ns]")) == (np.datetime64("2020-01-01", "ns"),)
    assert labels_of(np.array([1, "a"], dtype=object)) == (1, "a")
    assert labels_of(()) == ()


def test_the_other_class():
    outputs = Outputs(("no", "yes"), 1, binary=True, total=1.0)
    scores = np.array([[0.25], [1.0]])
    np.testing.assert_array_equal(outputs.choose().levels(scores), scores)
    np.testing.assert_array_equal(outputs.choose("no").levels(scores), [[0.75], [0.0]])
    np.testing.assert_array_equal(outputs.choose("no").changes(scores), [[-0.25], [-1.0]])
    assert Outputs((0, 1), 2, binary=True).choose() == OutputSelection([1], (1,), 2)
    assert Outputs((0, 1), 2, binary=False).choose().columns == [0, 1]
