"""One grammar of questions: response= and by= everywhere, lists and grids of features, and the shapes of answers."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, SplineTransformer
from xgboost import XGBClassifier

import glasswood as gw
from glasswood.errors import ArgumentError, BackgroundError, ScaleError, TableError, UnsupportedModelError
from glasswood.questions.curves import _answer as _dependence


def table(n=240):
    rng = np.random.default_rng(7)
    X = pd.DataFrame({"age": rng.integers(18, 70, n).astype(float), "income": rng.normal(size=n).round(2)})
    X["rooms"] = rng.integers(1, 5, n).astype(float)
    X["sex"] = np.where(rng.random(n) < 0.4, "f", "m")
    y = X["age"] / 20 + X["income"] * X["rooms"] + (X["sex"] == "f") + rng.normal(size=n) / 5
    return X, y


X, Y = table()
NUMBERS = X[["age", "income", "rooms"]]
TWO = np.where(Y.median() < Y, "yes", "no")
THREE = pd.qcut(Y, 3, labels=["low", "middle", "high"]).astype(str).to_numpy()
CODES = (TWO == "yes").astype(int)

# For each kind of model: the model, its labels, the number of outputs in a result, and its raw units.
MODELS = {
    "regressor": (HistGradientBoostingRegressor(max_iter=8, random_state=0), Y, ("prediction",), 1, "value"),
    "boosted, two classes": (HistGradientBoostingClassifier(max_iter=8), TWO, ("no", "yes"), 1, "log-odds"),
    "forest, two classes": (RandomForestClassifier(8, random_state=0), TWO, ("no", "yes"), 1, "probability"),
    "XGBoost, two classes": (XGBClassifier(n_estimators=8), CODES, (0, 1), 1, "log-odds"),
    "LightGBM, three classes": (
        LGBMClassifier(n_estimators=8, verbose=-1),
        THREE,
        ("high", "low", "middle"),
        3,
        "softmax margin",
    ),
    "forest, two targets": (
        RandomForestRegressor(8, random_state=0),
        np.column_stack([Y, -Y]),
        (0, 1),
        2,
        "value",
    ),
}


@pytest.fixture(scope="module", params=list(MODELS))
def kind(request):
    model, y, labels, n_outputs, units = MODELS[request.param]
    return gw.Explainer(deepcopy(model).fit(NUMBERS, y), NUMBERS, response="raw"), labels, n_outputs, units


def shape(*sizes, n_outputs):
    return (*sizes, n_outputs) if n_outputs > 1 else sizes


def test_shapes_of_all_answers(kind):
    """The table of shapes: one output has no axis, several have the last axis; two classes are one output."""
    ex, labels, n, units = kind
    assert ex.features == ("age", "income", "rooms")
    assert ex.outputs == labels
    assert (ex.response, ex.units) == ("raw", units)
    rows = NUMBERS[:7]
    curve, surface = ex.partial_dependence("age"), ex.partial_dependence("age", "income")
    n_age, n_income = len(curve.cuts) + 1, len(ex.partial_dependence("income").cuts) + 1
    shapes = {
        "curve": (curve.values, (n_age,)),
        "curve at points": (curve([30.0, 40.0]), (2,)),
        "surface": (surface.values, (n_age, n_income)),
        "grid": (ex.partial_dependence("age", grid=5).values, (5,)),
        "joint grid": (ex.partial_dependence("age", "income", grid=4).values, (16,)),
        "importance": (ex.importance().values, (3,)),
        "Shapley values": (ex.shap_values(rows).values, (7, 3)),
        "Shapley interactions": (ex.shap_interaction_values(rows).values, (7, 3, 3)),
        "ICE": (ex.ice("age", rows=rows).values, (7, n_age)),
        "grids": (
            ex.joint_partial_dependence(grid={"age": [30.0, 50.0], "income": [0.0, 1.0]}).grid_values["age", "income"],
            (2, 2),
        ),
    }
    for name, (found, expected) in shapes.items():
        assert found.shape == shape(*expected, n_outputs=n), name
    assert len(curve.outputs) == n
    if n == 1:
        assert curve.outputs == labels[-1:]
        ex.shap_values(rows).plot()  # no output has to be chosen


def test_a_scale_is_an_argument_of_every_question(kind):
    ex, _, _, _ = kind
    scale = "prediction" if ex.units == "value" else "probability"
    other = gw.Explainer(ex.ensemble, NUMBERS, response=scale)
    questions = {
        "curve": lambda ex, **options: ex.partial_dependence("age", **options).heights,
        "surface": lambda ex, **options: (
            ex.partial_dependence("age", "income", output=ex.outputs[-1], **options).heights
        ),
        "points": lambda ex, **options: ex.partial_dependence("age", grid=5, **options).heights,
        "importance": lambda ex, **options: ex.importance(**options).heights,
        "ICE": lambda ex, **options: ex.ice("age", rows=NUMBERS[:5], **options).heights,
        "monotonicity": lambda ex, **options: ex.monotonicity("age", **options).against,
        "all": lambda ex, **options: ex.partial_dependence(**options)["rooms"].heights,
        "pairs": lambda ex, **options: ex.joint_partial_dependence(**options)["age", "rooms"].first.heights,
    }
    for name, ask in questions.items():
        np.testing.assert_array_equal(ask(ex, response=scale), ask(other), err_msg=name)
        np.testing.assert_array_equal(ask(other, response="raw"), ask(ex), err_msg=name)
    assert ex.partial_dependence("age", response=scale).units == other.units


def test_questions_of_the_raw_scale_are_answered_there(kind):
    ex, _, _, units = kind
    scale = "prediction" if ex.units == "value" else "probability"
    other = gw.Explainer(ex.ensemble, NUMBERS, response=scale)
    rows = NUMBERS[:4]
    for found in (other.shap_values(rows), other.interaction_values(rows), other.interaction_strengths()):
        assert found.units == units
    np.testing.assert_array_equal(other.shap_values(rows).values, ex.shap_values(rows).values)
    if units == "log-odds":
        with pytest.raises(UnsupportedModelError, match="computes Shapley values of the raw score"):
            ex.shap_values(rows, response="probability")


@pytest.mark.parametrize("scale", ["raw", "probability"])
def test_groups_are_those_of_explainers_of_their_rows(scale):
    model = HistGradientBoostingClassifier(max_iter=8, categorical_features="from_dtype")
    rows = X.assign(sex=X["sex"].astype("category"))
    ex = gw.Explainer(model.fit(rows, TWO), rows, response=scale)
    parts = {sex: gw.Explainer(model, rows[rows["sex"] == sex], response=scale) for sex in ("f", "m")}
    questions = {
        "curve": lambda ex, **options: ex.partial_dependence("age", **options),
        "surface": lambda ex, **options: ex.partial_dependence("age", "income", **options),
        "list": lambda ex, **options: ex.partial_dependence(["age", "sex"], **options)["sex"],
        "importance": lambda ex, **options: ex.importance(**options),
        "Shapley values": lambda ex, **options: ex.shap_values(rows[:5], **options),
        "ICE": lambda ex, **options: ex.ice("age", rows=rows[:5], **options),
    }
    for name, ask in questions.items():
        if name == "list":
            found = {sex: curves["sex"] for sex, curves in ex.partial_dependence(["age", "sex"], by="sex").items()}
        else:
            found = ask(ex, by="sex")
            assert list(found) == ["f", "m"]
            assert found.by == ("sex",)
        for sex, part in parts.items():
            np.testing.assert_array_equal(found[sex].heights, ask(part).heights, err_msg=name)


def test_age_by_sex_on_the_probability_scale_is_one_call():
    rows = NUMBERS.assign(sex=X["sex"])  # not a feature of the model
    model = HistGradientBoostingClassifier(max_iter=8).fit(NUMBERS, TWO)
    found = gw.Explainer(model, rows).partial_dependence("age", by="sex", response="probability")
    for sex in ("f", "m"):
        own = NUMBERS[(X["sex"] == sex).to_numpy()]
        brute = [model.predict_proba(own.assign(age=age))[:, 1].mean() for age in (20.0, 40.0, 60.0)]
        np.testing.assert_allclose(found[sex]([20.0, 40.0, 60.0]), brute, rtol=0, atol=1e-12)
    frame = found.to_frame()
    assert frame.columns.tolist() == ["sex", "age_above", "age_to", "value", "rows"]
    assert set(frame["sex"]) == {"f", "m"}
    assert repr(found) == "Grouped by sex: Curve of f, m"
    assert found.plot().axes[0].get_ylabel() == "average probability of yes"


def test_groups_with_weights_several_columns_and_labels():
    rows, weight = NUMBERS.assign(sex=X["sex"]), np.arange(1.0, len(X) + 1)
    model = HistGradientBoostingRegressor(max_iter=8).fit(NUMBERS, Y)
    ex = gw.Explainer(model, rows, sample_weight=weight)
    chosen = (X["sex"] == "f").to_numpy()
    part = gw.Explainer(model, NUMBERS[chosen], sample_weight=weight[chosen])
    np.testing.assert_array_equal(ex.importance(by="sex")["f"].heights, part.importance().heights)
    both = ex.partial_dependence("age", by=["sex", "rooms"])
    assert both.by == ("sex", "rooms")
    assert ("f", 1.0) in both
    assert both.to_frame().columns.tolist()[:2] == ["sex", "rooms"]
    assert "f x 1.0" in both._repr_html_()
    young = ex.partial_dependence("age", by=NUMBERS["age"] < 40)
    assert list(young) == [False, True]
    assert young.to_frame().columns[0] == "group"
    with pytest.raises(BackgroundError, match="by= needs the rows as a table"):
        gw.Explainer(model, gw.summarize(model, NUMBERS)).importance(by="sex")


def test_groups_of_a_pipeline():
    steps = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    model = make_pipeline(steps, RandomForestRegressor(5, random_state=0)).fit(X, Y)
    found = gw.Explainer(model, X).partial_dependence("sex", by="rooms")
    for rooms, points in found.items():
        own = X[X["rooms"] == rooms]
        brute = [model.predict(own.assign(sex=sex)).mean() for sex in points.categories]
        np.testing.assert_allclose(points.values[: len(brute)], brute, rtol=0, atol=1e-10)


def test_lists_of_features_and_pairs():
    ex = gw.Explainer(RandomForestRegressor(5, max_depth=4, random_state=0).fit(NUMBERS, Y), NUMBERS)
    curves = ex.partial_dependence(["age", ("age", "income"), 2])
    assert list(curves) == ["age", ("age", "income"), "rooms"]
    assert isinstance(curves["age", "income"], gw.Surface)
    assert repr(curves) == "Curves(age, age x income, rooms)"
    assert len(curves.plot().axes) == 4  # with the scale of colours
    with pytest.raises(TableError, match="only curves have a common frame"):
        curves.to_frame()
    frame = ex.partial_dependence().to_frame()
    assert frame.columns.tolist() == ["feature", "above", "to", "category", "value", "rows"]
    for name, curve in ex.partial_dependence().items():
        np.testing.assert_array_equal(frame.loc[frame["feature"] == name, "value"], curve.heights[:, 0])
    for copy in (pickle.loads(pickle.dumps(curves)), deepcopy(curves)):
        np.testing.assert_array_equal(copy["age"].heights, curves["age"].heights)


def test_frames_of_mixed_curves():
    rows = X.assign(sex=X["sex"].astype("category"))
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features="from_dtype").fit(rows, Y)
    frame = gw.Explainer(model, rows).partial_dependence(["age", "sex"]).to_frame()
    assert frame.loc[frame["feature"] == "sex", "category"].tolist() == ["f", "m", "(unseen)", "(missing)"]
    assert frame.loc[frame["feature"] == "sex", "above"].isna().all()


def test_grids():
    model = RandomForestRegressor(5, random_state=0).fit(NUMBERS, Y)
    ex = gw.Explainer(model, NUMBERS)
    points = ex.partial_dependence("income", grid=20)
    low, high = np.quantile(NUMBERS["income"], [0.05, 0.95])
    np.testing.assert_allclose(points.columns["income"], np.linspace(low, high, 20))
    curve = ex.partial_dependence("income")
    np.testing.assert_allclose(points.values, curve(points.columns["income"]), rtol=0, atol=1e-12)
    assert list(ex.partial_dependence("rooms", grid=20).columns["rooms"]) == [1.0, 2.0, 3.0, 4.0]
    assert ex.ice("income", rows=NUMBERS[:3], grid=6).values.shape == (3, 6)
    counted = gw.Explainer(model, gw.summarize(model, NUMBERS)).partial_dependence("income", grid=3)
    assert [counted.columns["income"][k] for k in (0, 2)] == [curve.cuts[0], curve.cuts[-1]]
    with pytest.raises(ArgumentError, match="not both"):
        ex.partial_dependence("income", grid=5, at={"income": [1.0]})
    with pytest.raises(ArgumentError, match="grid is the number of points, at least 2"):
        ex.partial_dependence("income", grid=1)
    with pytest.raises(TableError, match="is a group; pass its points in at="):
        gw.Explainer(model, NUMBERS, groups={"both": ["age", "rooms"]}).partial_dependence("both", grid=5)


def test_centered_curves_start_at_zero():
    rows = X.assign(sex=X["sex"].astype("category"))
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features="from_dtype").fit(rows, Y)
    ex = gw.Explainer(model, rows)
    curve, plain = ex.partial_dependence("age", centered=True), ex.partial_dependence("age")
    np.testing.assert_allclose(curve.values, plain.values - plain(X["age"].min()), atol=1e-12)
    assert ex.partial_dependence("sex", centered=True)("m") == 0.0  # the most frequent
    assert ex.partial_dependence(["age"], centered=True)["age"].values[0] == 0.0
    with pytest.raises(ArgumentError, match="centered= is for curves"):
        ex.partial_dependence("age", "income", centered=True)


def test_mistakes():
    ex = gw.Explainer(RandomForestRegressor(5, random_state=0).fit(NUMBERS, Y), NUMBERS)
    with pytest.raises(TableError, match="pass a table of rows as rows="):
        ex.ice("age", NUMBERS)
    with pytest.raises(TableError, match="did you mean 'income'"):
        ex.partial_dependence("incom")
    with pytest.raises(TableError, match="did you mean 'income'"):
        ex.partial_dependence(["age", "incom"])
    with pytest.raises(ArgumentError, match="response must be"):
        ex.importance(response="odds")
    with pytest.raises(TableError, match="name the features too"):
        ex.partial_dependence(["age"], at=NUMBERS)
    with pytest.raises(TableError, match="which the table does not have"):
        ex.importance(by="region")


def test_figures_of_classifiers_show_probabilities(tmp_path):
    model = HistGradientBoostingClassifier(max_iter=8).fit(NUMBERS, TWO)
    ex = gw.Explainer(model, NUMBERS)
    label = "average {} of yes"
    assert ex.plot().axes[0].get_ylabel() == label.format("probability")
    assert ex.plot(response="raw").axes[0].get_ylabel() == label.format("log-odds")
    assert gw.Explainer(model, NUMBERS, response="raw").plot().axes[0].get_ylabel() == label.format("log-odds")
    assert gw.Explainer(model).plot().axes[0].get_ylabel() == label.format("log-odds")  # no rows
    page = ex.report(tmp_path / "page.html").html
    raw = ex.report(tmp_path / "raw.html", response="raw").html
    assert label.format("probability") in page
    assert label.format("probability") not in raw


def test_combinations_have_one_scale():
    members = [("a", RandomForestClassifier(4, random_state=0)), ("b", HistGradientBoostingClassifier(max_iter=4))]
    for model in (VotingClassifier(members, voting="soft"), CalibratedClassifierCV(members[0][1], cv=2)):
        ex = gw.Explainer(model.fit(NUMBERS, TWO), NUMBERS)
        assert (ex.response, ex.units) == ("probability", "probability")
        brute = model.predict_proba(NUMBERS.assign(age=40.0))[:, 1].mean()
        np.testing.assert_allclose(ex.partial_dependence("age")(40.0), brute, rtol=0, atol=1e-12)
        with pytest.raises(UnsupportedModelError, match="explain the models that it combines"):
            ex.shap_values(NUMBERS[:2])


def test_figures_compute_only_what_they_show(monkeypatch):
    """A page has twelve panels; features on other pages are not computed."""
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.normal(size=(80, 15)).round(1), columns=[f"x{k}" for k in range(15)])
    steps = make_column_transformer((FunctionTransformer(np.cos), list(wide)))
    model = make_pipeline(steps, RandomForestRegressor(3, random_state=0)).fit(wide, wide.sum(axis=1))
    ex = gw.Explainer(model, wide)
    asked = []
    points = _dependence.points_at
    monkeypatch.setattr(_dependence, "points_at", lambda view, *given: asked.append(given[0]) or points(view, *given))
    figure = ex.plot(list(wide), page=1)
    assert asked == [["x12"], ["x13"], ["x14"]]
    assert "13 to 15 of 15 features; page=0 for others" in [text.get_text() for text in figure.texts]
    with pytest.raises(ArgumentError, match="there is no feature to draw"):
        ex.plot([])


def test_figures_of_groups():
    rows = X.assign(young=X["age"] < 40)
    model = RandomForestRegressor(5, max_depth=4, random_state=0).fit(NUMBERS, Y)
    ex = gw.Explainer(model, rows)
    assert len(ex.partial_dependence(["age", ("age", "income")], by="young").plot().axes) == 5
    assert len(ex.joint_partial_dependence(by="young").plot().axes) == 12  # three pairs, two groups
    assert len(ex.plot(by="young").axes) == 3
    steps = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    pipeline = make_pipeline(steps, model).fit(X, Y)
    assert len(gw.Explainer(pipeline, X).partial_dependence(["sex", "age"], by="rooms").plot().axes) == 2
    with pytest.raises(ArgumentError, match="there is no figure of Monotonicity by group"):
        ex.monotonicity("age", by="young").plot()


def test_grids_of_pipelines_know_weights():
    weight = np.where(X["age"] < 30, 1000.0, 1.0)
    steps = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    pipeline = make_pipeline(steps, RandomForestRegressor(5, random_state=0)).fit(X, Y)
    bare = RandomForestRegressor(5, random_state=0).fit(NUMBERS, Y)
    found = [
        gw.Explainer(model, rows, sample_weight=weight).partial_dependence("income", grid=5).columns["income"]
        for model, rows in ((pipeline, X), (bare, NUMBERS))
    ]
    np.testing.assert_array_equal(*found)


def test_features_of_classifier_pipelines_are_ranked_by_the_raw_score(monkeypatch):
    steps = make_column_transformer((SplineTransformer(), ["age"]), ("passthrough", ["income", "rooms"]))
    ex = gw.Explainer(make_pipeline(steps, HistGradientBoostingClassifier(max_iter=5)).fit(X, TWO), X)
    with monkeypatch.context() as patched:
        patched.setattr("glasswood.study._group_values.MAX_RESPONSES", 10)
        with pytest.raises(ScaleError, match='ask for response="raw"'):
            ex.importance(kind="main", response="probability")
        assert ex.importance(kind="main").units == "log-odds"
        assert ex.plot() is not None
    figure = ex.plot()
    assert figure.axes[0].get_xlabel() == ex.importance().names[0] == "income"
    assert figure.axes[0].get_ylabel() == "average probability of yes"
