"""Observed and predicted per cell: against sums over rows by their definition, from every source, merged and saved."""

from __future__ import annotations

from fractions import Fraction

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost as xgb
from catboost import CatBoostClassifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import glasswood as gw
from glasswood.counting._wide import LIMBS, numbers_of
from glasswood.errors import ArgumentError, BackgroundError, TableError, TooLargeError, UnsupportedModelError
from glasswood.kernels import _core
from helpers.versions import needs
from zoo.store import fitted

N = 600


def make_rows(n=N, seed=0, *, category=True):
    """Numbers with missing values, a category, exposures, weights (some 0) and claims."""
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": generator.normal(size=n), "b": generator.normal(size=n), "c": generator.integers(0, 5, n) * 1.0}
    )
    X.loc[generator.random(n) < 0.1, "b"] = np.nan
    if category:
        X["kind"] = pd.Categorical(generator.choice(list("abc"), n))
    exposure = generator.uniform(0.05, 1.0, n)
    claims = generator.poisson(exposure * np.exp(0.7 * X.a + 0.3 * (X.c > 2))).astype(float)
    return X, claims, exposure, generator.integers(0, 4, n)


def by_definition(curve, values, y, m, e, w):
    """Sums over the rows of each cell, in float64: exposure, observed, predicted, spread."""
    cell, n = curve.axis.cell_of(values), curve.axis.n_cells
    total, target, predicted, square = (np.bincount(cell, w * v, n) for v in (e, y, m, y**2 / e))
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = target / total
        spread = np.sqrt(np.maximum(square / total - observed**2, 0))
        return total, observed, predicted / total, spread, target / predicted


def agree(curve, values, y, m, e=None, w=None, output=0, rtol=1e-9):
    """Compare a curve's observations with their definition."""
    e, w = (np.ones(len(y)) if v is None else v for v in (e, w))
    total, observed, predicted, spread, ratio = by_definition(curve, values, y, m, e, w)
    found = curve.observations
    scale = rtol * max(1.0, np.ptp(m), np.ptp(y))
    np.testing.assert_allclose(found.exposure, total, atol=1e-7)
    np.testing.assert_allclose(found.observed[:, output], observed, atol=scale)
    np.testing.assert_allclose(found.predicted[:, output], predicted, atol=scale)
    np.testing.assert_allclose(found.residual[:, output], observed - predicted, atol=2 * scale)
    # Sums are whole numbers of 2**-40, and the root of that is what a spread of 0 is known to.
    np.testing.assert_allclose(found.spread[:, output], spread, atol=1e-5 * max(1.0, np.max(y / e)))
    np.testing.assert_allclose(found.actual_expected[:, output], ratio, rtol=1e-6)


MODELS = {
    "lightgbm": lambda: lgb.LGBMRegressor(n_estimators=15, num_leaves=7, verbose=-1),
    "lightgbm poisson": lambda: lgb.LGBMRegressor(objective="poisson", n_estimators=15, num_leaves=7, verbose=-1),
    "xgboost": lambda: xgb.XGBRegressor(n_estimators=15, max_depth=3, enable_categorical=True),
    "xgboost gamma": lambda: xgb.XGBRegressor(
        objective="reg:tweedie", n_estimators=15, max_depth=3, enable_categorical=True
    ),
    "hgb poisson": lambda: HistGradientBoostingRegressor(
        loss="poisson", max_iter=15, categorical_features="from_dtype"
    ),
}


WITH_LABELS = needs("xgboost", (3, 1))  # models keep the labels of their categories


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=WITH_LABELS if name.startswith("xgboost") else ()) for name in MODELS]
)
@pytest.mark.parametrize("exposed", [False, True])
def test_regressors_with_exposure_and_weights(name, exposed):
    X, claims, exposure, weight = make_rows()
    e = exposure if exposed else np.ones(N)
    model = fitted(MODELS[name](), X, claims / e)
    ex = gw.Explainer(model, X, target=claims, exposure=exposure if exposed else None, sample_weight=weight)
    predicted = model.predict(X).astype(float) * e
    for feature in X:
        curve = ex.partial_dependence(feature)
        agree(curve, X[feature], claims, predicted, e, weight, rtol=1e-6 if "xgboost" in name else 1e-9)
        np.testing.assert_array_equal(curve.observed, curve.observations.observed[: curve.axis.n_main, 0])
        frame = curve.to_frame()
        np.testing.assert_array_equal(frame["observed"], curve.observations.observed[:, 0])


def test_forest_and_transformed_target():
    X, claims, _, _ = make_rows(category=False)
    X = X.fillna(0.0)
    forest = fitted(RandomForestRegressor(5, max_depth=4, random_state=0), X, claims)
    agree(gw.Explainer(forest, X, target=claims).partial_dependence("a"), X.a, claims, forest.predict(X))
    turned = fitted(TransformedTargetRegressor(forest, func=np.log1p, inverse_func=np.expm1), X, claims)
    agree(gw.Explainer(turned, X, target=claims).partial_dependence("a"), X.a, claims, turned.predict(X))


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (False, True)])
def test_two_classes(labels):
    X, claims, _, weight = make_rows()
    y = np.array(labels, dtype=object)[(claims > 0).astype(int)]
    y = y.astype(type(labels[0]))
    model = fitted(lgb.LGBMClassifier(n_estimators=10, num_leaves=7, verbose=-1), X, y)
    ex = gw.Explainer(model, X, target=y, sample_weight=weight)
    for k, label in enumerate(labels):
        curve = ex.partial_dependence("a", output=label)
        agree(curve, X.a, (y == label).astype(float), model.predict_proba(X)[:, k], w=weight)


def test_classes_of_forests_and_boosted_trees():
    X, claims, _, _ = make_rows(category=False)
    X = X.fillna(0.0)
    y = np.array(["none", "one", "more"])[np.minimum(claims, 2).astype(int)]
    models = (
        RandomForestClassifier(5, max_depth=4, random_state=0),
        HistGradientBoostingClassifier(max_iter=5),
        CatBoostClassifier(iterations=5, depth=3, verbose=0),
    )
    for model in models:
        model.fit(X, y)
        curve = gw.Explainer(model, X, target=y).partial_dependence("c")
        for k, label in enumerate(model.classes_):
            agree(curve, X.c, (y == label).astype(float), model.predict_proba(X)[:, k], output=k)
    binary = fitted(RandomForestClassifier(5, max_depth=4, random_state=0), X, claims > 0)  # two outputs, both known
    share = binary.predict_proba(X)
    for given in (share, share[:, 1]):
        curve = gw.Explainer(binary, X, target=claims > 0, prediction=given).partial_dependence("c", output=False)
        agree(curve, X.c, (claims == 0).astype(float), share[:, 0])


def test_several_targets():
    X, claims, exposure, _ = make_rows(category=False)
    X = X.fillna(0.0)
    Y = np.column_stack([claims, exposure])
    model = fitted(RandomForestRegressor(5, max_depth=4, random_state=0), X, Y)
    curve = gw.Explainer(model, X.assign(y=claims, z=exposure), target=["y", "z"]).partial_dependence("a")
    for k in range(2):
        agree(curve, X.a, Y[:, k], model.predict(X)[:, k], output=k)
    with pytest.raises(TableError, match="needs 2 columns"):
        gw.Explainer(model, X, target=claims)


@pytest.fixture(scope="module")
def case():
    X, claims, exposure, weight = make_rows()
    model = fitted(
        lgb.LGBMRegressor(objective="poisson", n_estimators=15, num_leaves=7, verbose=-1), X, claims / exposure
    )
    frame = X.assign(y=claims, e=exposure, w=weight, share=exposure**3, p=model.predict(X), day=np.arange(N) % 3)
    return model, frame


ASKED = {"target": "y", "exposure": "e"}


@pytest.mark.parametrize("weight", [None, "w", "share"])
def test_the_same_bits_from_every_source(case, tmp_path, weight):
    model, frame = case
    expected = gw.summarize(model, frame, sample_weight=weight, **ASKED)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    sources = [
        tmp_path / "rows.parquet",
        pl.from_pandas(frame),
        [frame[:250], frame[250:]],
        iter([frame[:9], frame[9:]]),
    ]
    for source in sources:
        source = str(source) if hasattr(source, "exists") else source
        assert gw.summarize(model, source, sample_weight=weight, **ASKED) == expected
    shuffled = frame.sample(frac=1.0, random_state=0)
    assert gw.summarize(model, shuffled, sample_weight=weight, **ASKED) == expected


def test_groups_merge_and_subtract(case, tmp_path):
    model, frame = case
    whole = gw.summarize(model, frame, sample_weight="w", **ASKED)
    groups = gw.summarize(model, frame, by="day", sample_weight="w", **ASKED)
    assert groups[0] + groups[1] + groups[2] == whole
    assert whole - groups[2] == groups[0] + groups[1]
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    assert gw.summarize(model, str(tmp_path / "rows.parquet"), by="day", sample_weight="w", **ASKED) == groups
    (whole - groups[2]).save(tmp_path / "rest.gw")
    ex = gw.Explainer(model, gw.Background.load(tmp_path / "rest.gw"))
    rest = frame[frame.day != 2]
    agree(ex.partial_dependence("b"), rest.b, rest.y, rest.p * rest.e, rest.e, rest.w)
    by = gw.Explainer(model, frame, sample_weight="w", **ASKED).partial_dependence("b", by="day")
    for day, curve in by.items():
        own = frame[frame.day == day]
        agree(curve, own.b, own.y, own.p * own.e, own.e, own.w)


def test_explainers_of_files_and_streams(case, tmp_path):
    model, frame = case
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    for source in (str(tmp_path / "rows.parquet"), iter([frame[:100], frame[100:]])):
        curve = gw.Explainer(model, source, prediction="p", **ASKED).partial_dependence("a")
        agree(curve, frame.a, frame.y, frame.p * frame.e, frame.e)


def test_a_prediction_that_is_given_is_used(case):
    model, frame = case
    twice = gw.Explainer(model, frame, target="y", prediction=2 * frame.p).partial_dependence("a")
    agree(twice, frame.a, frame.y, 2 * frame.p)
    one = gw.summarize(model, frame, target="y")
    other = gw.summarize(model, frame, target="y", prediction="p")
    with pytest.raises(BackgroundError, match="sums of the target 'y'"):
        one + other
    assert gw.Explainer(model, other).partial_dependence("a").observations.exposure.sum() == N


def test_what_is_unknown_names_the_argument(case):
    model, frame = case
    curve = gw.Explainer(model, frame).partial_dependence("a")
    for name in ("observed", "predicted", "residual", "actual_expected", "observations"):
        with pytest.raises(BackgroundError, match="target="):
            getattr(curve, name)
    with pytest.raises(BackgroundError, match="target="):
        _ = gw.Explainer(model, gw.summarize(model, frame)).partial_dependence("a").observed
    assert "observed" not in curve.to_frame()


def test_sums_of_another_model_are_not_its_own(case):
    model, frame = case
    background = gw.summarize(model, frame, **ASKED)
    other = gw.read_model(model)
    import dataclasses

    other = dataclasses.replace(other, value=other.value * 2)
    assert gw.Explainer(other, background).partial_dependence("a").find_observations is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "nowhere"}, "nowhere"),
        ({"target": np.ones(3)}, "one value per row"),
        ({"target": np.where(np.arange(N) < 2, np.nan, 1.0)}, "2 values of 600 are missing or infinite"),
        ({"target": np.where(np.arange(N) < 2, np.inf, 1.0)}, "2 values"),
        ({"target": np.full(N, -1.0)}, "below 0"),
        ({"target": "y", "exposure": np.zeros(N)}, "not positive"),
        ({"target": "y", "exposure": "kind"}, "numbers"),
        ({"target": "y", "prediction": np.full(N, np.nan)}, "missing or infinite"),
    ],
)
def test_refusals(case, changes, message):
    model, frame = case
    with pytest.raises(TableError, match=message):
        gw.Explainer(model, frame, **changes)
    with pytest.raises(TableError, match=message):
        gw.summarize(model, frame, **changes)


def test_refusals_of_arguments(case, tmp_path):
    model, frame = case
    for changes, message in (
        ({"exposure": "e"}, "pass target="),
        ({"target": "y", "exposure": "e", "sample_weight": "e"}, "count twice"),
    ):
        with pytest.raises(ArgumentError, match=message):
            gw.Explainer(model, frame, **changes)
    with pytest.raises(TableError, match="belong to rows"):
        gw.Explainer(model, gw.summarize(model, frame), target="y")
    frame.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(TableError, match="array is for a table in memory"):
        gw.summarize(model, str(tmp_path / "rows.parquet"), target=frame.y.to_numpy())
    classifier = fitted(lgb.LGBMClassifier(n_estimators=2, verbose=-1), frame[["a"]], frame.y > 0)
    with pytest.raises(ArgumentError, match="sample_weight="):
        gw.Explainer(classifier, frame, target=frame.y > 0, exposure="e")
    with pytest.raises(TableError, match="no classes of the model"):
        gw.Explainer(classifier, frame, target="y")
    hinge = fitted(xgb.XGBClassifier(n_estimators=2, objective="binary:hinge"), frame[["a"]], frame.y > 0)
    with pytest.raises(UnsupportedModelError, match="transforms its score"):
        gw.Explainer(hinge, frame, target=(frame.y > 0).astype(int))


def test_rows_of_weight_0_may_be_missing(case, tmp_path):
    model, frame = case
    y = frame.y.where(frame.w > 0)
    expected = gw.summarize(model, frame, target="y", sample_weight="w")
    assert gw.summarize(model, frame.assign(y=y), target="y", sample_weight="w") == expected
    ordered = frame.assign(y=y).sort_values("w").reset_index(drop=True)  # parts in which no row counts come first
    ordered.to_parquet(tmp_path / "rows.parquet", row_group_size=20)
    asked = {"target": "y", "sample_weight": "w"}
    assert gw.summarize(model, str(tmp_path / "rows.parquet"), **asked) == gw.summarize(model, ordered, **asked)


def test_large_and_small_claims_add_up_exactly(case):
    model, frame = case
    y = np.where(np.arange(N) == 7, 3.2e9, 0.01)
    observed = gw.Explainer(model, frame, target=y).partial_dependence("a").observations
    total = observed.mean_observed[0] * N
    assert abs(total - (3.2e9 + 0.01 * (N - 1))) < 1e-5
    with pytest.raises(TooLargeError, match="power of ten"):
        _ = gw.Explainer(model, frame, target=y * 1e20).partial_dependence("a").observed


def test_kernel_adds_exactly():
    """Terms times weights, by Python's own fractions."""
    generator = np.random.default_rng(0)
    n, n_terms = 150, 3
    cells = generator.integers(0, 4, (2, n)).astype(np.int32)
    first = np.array([0, 4])
    terms = generator.normal(size=(n, n_terms)) * 2.0 ** generator.integers(-30, 59, (n, n_terms))
    weights = (np.empty(0, dtype=np.int64), generator.integers(0, 9, n), generator.integers(0, 2**53, n))
    for weight in weights:
        sums = np.zeros((9, n_terms, LIMBS), dtype=np.int64)
        _core.add_targets(cells, first, 10, n, terms, weight, sums)
        expected = np.zeros((9, n_terms), dtype=object)
        for row in range(10, n):
            own = int(weight[row]) if weight.size else 1
            units = np.array([round(Fraction(term) * 2**40) * own for term in terms[row].tolist()], dtype=object)
            for place in (cells[0, row], 4 + cells[1, row], 8):
                expected[place] += units
        assert (numbers_of(sums).reshape(expected.shape) == expected).all()


def test_figures_show_what_was_observed(case):
    model, frame = case
    ex = gw.Explainer(model, frame, response="prediction", **ASKED)
    for feature in ("a", "b", "kind"):
        curve = ex.partial_dependence(feature)
        panel = curve.panel(observed=True)
        assert [line.name for line in panel.lines] == ["partial dependence", "observed", "predicted"]
        for backend in ("matplotlib", "plotly"):
            assert curve.plot(observed=True, backend=backend) is not None
    pooled = ex.partial_dependence("a").panel(observed=True).lines[1].heights
    assert 2 <= len(dict.fromkeys(pooled)) <= 20
    assert {"observed", "exposure"} <= set(ex.partial_dependence().to_frame().columns)
    with pytest.raises(ArgumentError, match="response="):
        gw.Explainer(model, frame, **ASKED, response="raw").partial_dependence("a").plot(observed=True)
    with pytest.raises(ArgumentError, match="centered"):
        ex.partial_dependence("a", centered=True).plot(observed=True)


def test_pooled_cells_are_ratios_of_sums(case):
    model, frame = case
    curve = gw.Explainer(model, frame, response="prediction", **ASKED).partial_dependence("a")
    heights = np.array(curve.panel(observed=True).lines[1].heights)
    found = curve.observations
    for height in set(heights.tolist()):
        cells = np.flatnonzero(heights == height)
        sums = np.nansum(found.observed[cells, 0] * found.exposure[cells]), found.exposure[cells].sum()
        assert height == pytest.approx(sums[0] / sums[1], rel=1e-12)
        assert sums[1] >= 0.05 * found.exposure[: heights.size].sum()


def test_the_report_tells_what_was_observed(case):
    model, frame = case
    page = gw.Explainer(model, frame, response="prediction", **ASKED).report().html
    assert "actual/expected" in page
    assert '"observed"' in page
    raw = gw.Explainer(model, frame, **ASKED, response="raw").report().html
    assert "actual/expected" in raw
    assert '"observed"' not in raw


def test_results_are_kept_without_their_rows(case):
    import pickle

    model, frame = case
    curve = gw.Explainer(model, frame, **ASKED).partial_dependence("a")
    again = pickle.loads(pickle.dumps(curve))
    np.testing.assert_array_equal(again.observed, curve.observed)
    assert repr(again.observations) == repr(curve.observations)
    assert "observed" in again.observations._repr_html_()
