"""Sums of responses over rows: whole numbers, the same in any parts and order, and what is answered from them."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge

import glasswood as gw
from glasswood.counting._wide import digits_of, limbs_of, numbers_of
from glasswood.errors import BackgroundError, TooLargeError, UnsupportedModelError

Boosted, Boosting = HistGradientBoostingClassifier, HistGradientBoostingRegressor
SMALL = {"max_iter": 8, "max_leaf_nodes": 8, "random_state": 0, "categorical_features": "from_dtype"}
FOREST = {"n_estimators": 5, "max_depth": 4, "random_state": 0}
COLUMNS = ["a", "b", "c", "d"]


@cache
def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(1), columns=["a", "b", "c"])
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    X["d"] = pd.Categorical(rng.choice(["x", "y", "z"], n))
    X["whole"], X["share"] = rng.integers(0, 4, n), np.exp(8 * rng.normal(size=n))
    X["day"] = rng.choice(["mon", "tue"], n)
    return X


def score(X):
    return X["a"] * X["b"].fillna(1) + np.abs(X["c"]) + (X["d"] == "x")


def classes(X, n):
    return np.digitize(score(X), np.quantile(score(X), np.arange(1, n) / n))


def boosters(kind):
    return [("one", kind(**SMALL)), ("two", kind(**SMALL, learning_rate=0.3))]


MODELS = {
    "boosted regression": (lambda: Boosting(**SMALL), score, "raw"),
    "boosted binary": (lambda: Boosted(**SMALL), lambda X: classes(X, 2), "probability"),
    "boosted binary, raw": (lambda: Boosted(**SMALL), lambda X: classes(X, 2), "raw"),
    "boosted, three classes": (lambda: Boosted(**SMALL), lambda X: classes(X, 3), "probability"),
    "Poisson": (lambda: Boosting(**SMALL, loss="poisson"), lambda X: np.exp(score(X)), "prediction"),
    "forest": (lambda: RandomForestClassifier(**FOREST), lambda X: classes(X, 3), "probability"),
    "voting": (lambda: VotingClassifier(boosters(Boosted), voting="soft"), lambda X: classes(X, 3), None),
    "voting regression": (lambda: VotingRegressor(boosters(Boosting), weights=[1, 2]), score, None),
    "stacking": (
        lambda: StackingClassifier(boosters(Boosted), LogisticRegression(), cv=2),
        lambda X: classes(X, 2),
        None,
    ),
    "stacking regression": (lambda: StackingRegressor(boosters(Boosting), Ridge(), cv=2), score, None),
    "calibrated, isotonic": (
        lambda: CalibratedClassifierCV(Boosted(**SMALL), method="isotonic", cv=2),
        lambda X: classes(X, 2),
        None,
    ),
    "transformed target": (
        lambda: TransformedTargetRegressor(Boosting(**SMALL), func=np.log1p, inverse_func=np.expm1),
        lambda X: np.exp(score(X)),
        "prediction",
    ),
}
OF_PYTHON = ("voting", "stacking", "calibrated", "transformed")  # functions that are computed by NumPy


NUMBERS = ("forest", "voting", "stacking")  # models that take no categories


@cache
def fitted(name):
    make, target, response = MODELS[name]
    return make().fit(table(name)[COLUMNS], target(rows())), response


def table(name):
    """The rows as a model takes them, with the columns of weights and groups."""
    X = rows()
    return X.assign(d=X["d"].cat.codes.astype(float), b=X["b"].fillna(0.0)) if name.startswith(NUMBERS) else X


def predicted(model, X, response):
    """The library's own predictions, (n_rows, n_outputs)."""
    if response == "raw" and hasattr(model, "predict_proba"):
        return model.decision_function(X).reshape(len(X), -1)
    if hasattr(model, "predict_proba"):
        found = model.predict_proba(X)
        return found[:, 1:] if found.shape[1] == 2 else found
    return model.predict(X).reshape(len(X), -1)


# ------------------------------------------------------------------------------------------- against the library


@pytest.mark.parametrize("weight", [None, "whole", "share"])
@pytest.mark.parametrize("name", MODELS)
def test_curves_and_spreads_are_those_of_the_library(name, weight):
    model, response = fitted(name)
    X = table(name)
    weights = np.ones(len(X)) if weight is None else X[weight].to_numpy(dtype=float)
    background = gw.summarize(model, X, response=response, sample_weight=weight)
    ex = gw.Explainer(model, background, response=response)
    for feature in COLUMNS:
        curve = ex.partial_dependence(feature)
        values = X[feature].drop_duplicates().tolist()[:5]
        for value in values:
            changed = X[COLUMNS].copy()
            kind = changed[feature].dtype
            changed[feature] = pd.Series([value] * len(X), dtype=kind)
            brute = predicted(model, changed, response)
            mean = np.average(brute, axis=0, weights=weights)
            spread = np.sqrt(np.average((brute - mean) ** 2, axis=0, weights=weights))
            size = max(1.0, float(np.abs(brute).max()))
            np.testing.assert_allclose(np.ravel(curve([value])), mean, rtol=0, atol=1e-12 * size)
            # An average of squares is right to 1e-12; near 0, its square root is less so.
            within = 1e-6 if name.startswith(OF_PYTHON) else 1e-7
            np.testing.assert_allclose(np.ravel(curve.std([value])), spread, rtol=1e-9, atol=within * size)


def test_scores_of_hundreds():
    """Rows whose scores change so much that powers relative to their own highest score would overflow."""
    X = rows()[["a", "c"]].to_numpy()
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4, learning_rate=1.0).fit(X, y)
    e = gw.read_model(model, X)
    for factor in (1.0, 300.0, 3000.0):
        scaled = gw.read_model(model, X)
        object.__setattr__(scaled, "value", e.value * factor)
        ex = gw.Explainer(scaled, X, response="probability")
        for feature, column in enumerate(("a", "c")):
            for cell, value in enumerate([-2.0, -0.4, 0.1, 2.0]):
                changed = X.copy()
                changed[:, feature] = value
                z = scaled.predict(changed)
                powers = np.exp(z - z.max(axis=1, keepdims=True))
                brute = (powers / powers.sum(axis=1, keepdims=True)).mean(axis=0)
                found = ex.partial_dependence(feature)([value])
                np.testing.assert_allclose(np.ravel(found), brute, rtol=0, atol=1e-12, err_msg=f"{column} {cell}")


# --------------------------------------------------------------------------------- any parts, any order, any source


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(list(MODELS)), weight=st.sampled_from([None, "whole", "share"]))
def test_any_split_in_any_order_has_the_same_sums(seed, name, weight):
    model, response = fitted(name)
    X, rng = table(name), np.random.default_rng(seed)
    whole = gw.summarize(model, X, response=response, sample_weight=weight)
    order = rng.permutation(len(X))
    ends = np.sort(rng.integers(0, len(X) + 1, rng.integers(0, 5)))
    parts = [
        gw.summarize(model, X.iloc[some], response=response, sample_weight=weight) for some in np.split(order, ends)
    ]
    rng.shuffle(parts)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    if weight != "share":
        assert total == whole
        return
    # Sums of weights of any size keep 62 bits of them, in a unit that follows from the largest weight.
    one, other = (gw.Explainer(model, each, response=response).partial_dependence() for each in (total, whole))
    for feature in COLUMNS:
        np.testing.assert_allclose(one[feature].heights, other[feature].heights, rtol=1e-12, atol=1e-12)


def sources(X, folder):
    """The same rows in other places, orders and parts."""
    arrow = pa.Table.from_pandas(X, preserve_index=False)
    shuffled = arrow.take(np.random.default_rng(3).permutation(len(X)))
    folder.mkdir(exist_ok=True)
    for number, first in enumerate(range(0, len(X), 113)):
        parquet.write_table(shuffled.slice(first, 113), folder / f"{number}.parquet", row_group_size=31)
    yield folder
    yield shuffled.to_reader(max_chunksize=17)
    yield [X.iloc[:100], X.iloc[100:101], X.iloc[101:]]


@pytest.mark.parametrize("weight", [None, "whole", "share"])
@pytest.mark.parametrize("name", MODELS)
def test_every_source_has_the_bits_of_memory(name, weight, tmp_path):
    model, response = fitted(name)
    X = table(name)
    memory = gw.Explainer(model, X, response=response, sample_weight=weight)
    expected = gw.summarize(model, X, response=response, sample_weight=weight)
    for source in sources(X, tmp_path / "rows"):
        ex = gw.Explainer(model, source, response=response, sample_weight=weight)
        if weight == "share":  # a table in memory has its own unit of weights, see below
            ex.partial_dependence("a")
            continue
        for feature in COLUMNS:
            one, other = memory.partial_dependence(feature), ex.partial_dependence(feature)
            np.testing.assert_array_equal(one.heights, other.heights)
            np.testing.assert_array_equal(one.axis.rows, other.axis.rows)
        one, other = memory.importance(kind="main"), ex.importance(kind="main")  # streams have no other
        assert one.names == other.names
        np.testing.assert_array_equal(one.heights, other.heights)
    for source in sources(X, tmp_path / "rows"):
        assert gw.summarize(model, source, response=response, sample_weight=weight) == expected


@pytest.mark.parametrize("name", ["boosted binary", "boosted, three classes", "stacking"])
def test_groups_files_checkpoints_and_differences(name, tmp_path):
    model, response = fitted(name)
    X = table(name)
    folder = next(sources(X, tmp_path / "rows"))
    groups = gw.summarize(model, X, response=response, by="day", sample_weight="whole")
    assert gw.summarize(model, folder, response=response, by="day", sample_weight="whole") == groups
    alone = {day: gw.summarize(model, own, response=response, sample_weight="whole") for day, own in X.groupby("day")}
    assert groups == alone
    whole = gw.summarize(model, X, response=response, sample_weight="whole")
    assert groups["mon"] + groups["tue"] == whole
    left = whole - groups["mon"]
    for name, how in groups["tue"].combine.items():
        if how in ("sum", "wide sum"):
            np.testing.assert_array_equal(left.vectors[name], groups["tue"].vectors[name])
        else:
            assert name not in left.vectors
    for _ in range(2):  # from scratch, and from the checkpoint
        again = gw.summarize(model, folder, response=response, sample_weight="whole", checkpoint=tmp_path / "kept")
        assert again == whole
    whole.save(tmp_path / "whole.gw")
    assert gw.Background.load(tmp_path / "whole.gw") == whole


@given(st.lists(st.integers(-(2**150), 2**150), min_size=1, max_size=5))
def test_wide_numbers(numbers):
    array = np.array(numbers, dtype=object)
    assert numbers_of(limbs_of(array)).tolist() == numbers
    many = numbers_of(limbs_of(array) + limbs_of(array)).tolist()  # not carried
    assert many == [2 * number for number in numbers]


@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=5))
def test_digits(numbers):
    digits = digits_of(np.array(numbers))
    assert [sum(int(d) << (26 * k) for k, d in enumerate(line)) for line in digits.T] == numbers
    assert digits.max() < 2**26


# ------------------------------------------------------------------------------------------------ what is answered


def test_answers_from_a_background_are_those_of_the_rows():
    model, _ = fitted("boosted binary")
    X = rows()[COLUMNS]
    half = X["a"] > 0
    saved = {key: gw.summarize(model, X[own], response="probability") for key, own in (("one", half), ("two", ~half))}
    held = {"one": X[half], "two": X[~half]}
    asked = [
        {key: gw.Explainer(model, part, response="probability") for key, part in source.items()}
        for source in (saved, held)
    ]
    for counted, known in zip(*(each.values() for each in asked), strict=True):
        assert counted.units == known.units == "probability"
        for feature in COLUMNS:
            one, other = (ex.partial_dependence(feature) for ex in (counted, known))
            np.testing.assert_array_equal(one.std(), other.std())
            np.testing.assert_array_equal(one([X[feature].iloc[0]]), other([X[feature].iloc[0]]))
        np.testing.assert_array_equal(counted.monotonicity().against, known.monotonicity().against)
        assert counted.spikes().to_frame().equals(known.spikes().to_frame())
        at = {"a": [-0.5, 0.2]}
        one, other = (ex.partial_dependence("a", at=at).values for ex in (counted, known))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-15)
    one, other = (gw.compare(explainers) for explainers in asked)
    assert one.features == other.features
    np.testing.assert_array_equal(one.difference, other.difference)
    np.testing.assert_array_equal(one.shift, other.shift)
    np.testing.assert_array_equal(one.curves("a")["one"].std(), other.curves("a")["one"].std())


def test_surfaces_points_and_ice_read_files_again(tmp_path):
    model, _ = fitted("boosted, three classes")
    X = rows()
    for number, first in enumerate(range(0, len(X), 113)):
        parquet.write_table(pa.Table.from_pandas(X.iloc[first : first + 113]), tmp_path / f"{number}.parquet")
    for weight in (None, "share"):
        asked = {"response": "probability", "sample_weight": weight}
        memory, files = gw.Explainer(model, X, **asked), gw.Explainer(model, tmp_path, **asked)
        at = {"a": [0.1, -0.4], "b": [np.nan, 0.3]}
        for question in (
            lambda ex: ex.partial_dependence("a", "b").heights,
            lambda ex, at=at: ex.partial_dependence("a", "b", at=at).values,
            lambda ex: ex.ice("a").heights,
        ):
            # Fractions of weights are summed file by file, so that the last digit may differ.
            within = 1e-15 if weight else 0
            np.testing.assert_allclose(question(memory), question(files), rtol=0, atol=within)
        np.testing.assert_array_equal(
            memory.ice("a").panel(0).lines[0].heights, files.ice("a").panel(0).lines[0].heights
        )


def test_what_needs_rows_is_refused(tmp_path):
    model, _ = fitted("boosted binary")
    X = rows()[COLUMNS]
    background = gw.summarize(model, X, response="probability")
    stream = pa.Table.from_pandas(X).to_reader()
    for source in (background, stream):
        ex = gw.Explainer(model, source, response="probability")
        ex.partial_dependence("a")
        with pytest.raises(BackgroundError, match="a surface needs the rows themselves on this scale"):
            ex.partial_dependence("a", "b")
        with pytest.raises(BackgroundError, match="needs the rows themselves on this scale"):
            ex.partial_dependence("a", "b", at={"a": [0.0], "b": [0.0]})
        with pytest.raises(gw.errors.TableError, match="pass rows="):
            ex.ice("a")
        assert ex.ice("a", rows=X[:3]).heights.shape[0] == 3


def test_other_scales():
    model, _ = fitted("boosted binary")
    X = rows()[COLUMNS]
    arrow = pa.Table.from_pandas(X)
    with pytest.raises(BackgroundError, match='can be read only once; make the Explainer with response="probability"'):
        gw.Explainer(model, arrow.to_reader(), response="raw").partial_dependence("a", response="probability")
    curve = gw.Explainer(model, arrow.to_reader()).partial_dependence("a", response="raw")
    with pytest.raises(BackgroundError, match='can be read only once; make the Explainer with response="raw"'):
        curve.std()
    with pytest.raises(BackgroundError, match=r'no sums of this response .* response="raw"'):
        gw.Explainer(model, gw.summarize(model, X)).partial_dependence("a", response="raw").std()
    again = gw.Explainer(model, [X])  # that can be read again
    expected = gw.Explainer(model, X).partial_dependence("a", response="probability").heights
    np.testing.assert_array_equal(again.partial_dependence("a", response="probability").heights, expected)


def test_sums_of_another_model_are_refused():
    model, _ = fitted("boosted binary")
    X = rows()[COLUMNS]
    other = pickle.loads(pickle.dumps(model))
    other._baseline_prediction = model._baseline_prediction + 0.5
    background = gw.summarize(other, X, response="probability")
    gw.Explainer(model, background)  # counts do not depend on the heights of leaves
    with pytest.raises(BackgroundError, match="no sums of this response of this model"):
        gw.Explainer(model, background, response="probability")
    with pytest.warns(UserWarning, match="only one of the backgrounds has"):
        total = background + gw.summarize(model, X)
    assert gw.Explainer(model, total).units == "log-odds"


def test_the_function_of_a_combination_is_part_of_the_model():
    model, _ = fitted("voting regression")
    other = pickle.loads(pickle.dumps(model))
    other.weights = [2, 1]
    X = table("voting regression")
    with pytest.raises(BackgroundError, match="no sums of this response of this model"):
        gw.Explainer(other, gw.summarize(model, X))


def test_predictions_that_do_not_fit_are_refused():
    X = rows()[["a"]]
    model = Boosting(**SMALL, loss="poisson").fit(X, np.exp(40 * (X["a"] > 0)))
    try:
        gw.summarize(model, X, response="prediction")
    except TooLargeError as error:
        assert "divide the target by a constant" in str(error)  # noqa: PT017
    with pytest.raises(UnsupportedModelError):
        gw.summarize(model, X, response="probability")


def test_a_copy_of_a_curve_knows_what_it_was_asked():
    model, response = fitted("boosted binary")
    curve = gw.Explainer(model, rows()[COLUMNS], response=response).partial_dependence("a")
    with pytest.raises(BackgroundError, match="before its spread was computed"):
        pickle.loads(pickle.dumps(curve)).std()
    expected = curve.std()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(curve)).std(), expected)
    np.testing.assert_array_equal(curve.centered().std(), expected)
    np.testing.assert_array_equal(curve.std(curve.cuts), expected[:-1])
