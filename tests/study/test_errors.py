"""Errors of surfaces, points, interaction strengths and groups: against answers of rows without each fold."""

from __future__ import annotations

import copy
import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import glasswood as gw
from glasswood.errors import ArgumentError, BackgroundError, UnsupportedModelError
from glasswood.tables._folds import fold_of_positions

N, K = 300, 4
BY_POSITION = fold_of_positions(0, N, K)


@pytest.fixture(scope="module")
def case():
    generator = np.random.default_rng(5)
    X = pd.DataFrame(generator.normal(size=(N, 3)), columns=list("abc"))
    X.loc[generator.random(N) < 0.1, "b"] = np.nan
    X["kind"] = pd.Categorical(generator.choice(list("xyz"), N))
    y = np.exp(X.a * (X.kind == "x") + X.b.fillna(0) * X.c / 2) + generator.gamma(1, 1, N)
    model = lgb.LGBMRegressor(objective="poisson", n_estimators=6, num_leaves=6, verbose=-1).fit(X, y)
    weight = generator.integers(0, 4, N)
    return model, X.assign(y=y, w=weight, part=weight / 3, id=generator.integers(0, 80, N))


def by_hand(frame, weight, answer):
    """Delete-one-fold jackknife for unequal folds (Busing et al. 1999), written out; answers are of rows alone."""
    mass = np.ones(N) if weight is None else frame[weight].to_numpy(float)
    whole, square = answer(frame), 0.0
    h = [mass.sum() / mass[k == BY_POSITION].sum() for k in range(K)]
    left = [answer(frame[k != BY_POSITION]) for k in range(K)]
    mean = K * whole - sum((1 - 1 / h[k]) * left[k] for k in range(K))
    for k in range(K):
        square = square + (h[k] * whole - (h[k] - 1) * left[k] - mean) ** 2 / (h[k] - 1)
    return np.sqrt(square / K)


@pytest.mark.parametrize("weight", [None, "w", "part"])
@pytest.mark.parametrize("response", ["raw", "prediction"])
@pytest.mark.parametrize("pair", [("a", "kind"), ("b", "c")])
def test_errors_of_surfaces(case, weight, response, pair):
    model, frame = case
    asked = {"sample_weight": weight, "response": response}
    surface = gw.Explainer(model, frame, folds=K, **asked).partial_dependence(*pair)

    def alone(rows):
        return gw.Explainer(model, rows, **asked).partial_dependence(*pair)

    expected = by_hand(frame, weight, lambda rows: alone(rows).heights)
    np.testing.assert_allclose(surface.errors, expected, rtol=1e-9, atol=1e-9 * np.abs(surface.heights).max())
    a, b = surface.shape
    np.testing.assert_array_equal(surface.error, surface.errors[:a, :b, 0])
    expected = by_hand(frame, weight, lambda rows: alone(rows).interaction)
    np.testing.assert_allclose(surface.interaction_error, expected, rtol=1e-9, atol=1e-9)
    assert surface.interaction_error.max() > 0


@pytest.mark.parametrize("response", ["raw", "prediction"])
@pytest.mark.parametrize("features", [("a",), ("b", "c"), ("a", "b", "kind")])
def test_errors_of_points(case, features, response):
    model, frame = case
    asked, at = {"sample_weight": "w", "response": response}, frame[list(features)][:7]
    found = gw.Explainer(model, frame, folds=K, **asked).partial_dependence(*features, at=at)
    expected = by_hand(
        frame, "w", lambda rows: gw.Explainer(model, rows, **asked).partial_dependence(*features, at=at).values
    )
    np.testing.assert_allclose(found.error, expected, rtol=1e-9, atol=1e-9)
    assert found.centered().error[0] == 0.0
    assert found.to_frame(error=True).columns.tolist() == [*features, "value", "error"]
    assert "error" not in found.to_frame()


@pytest.mark.parametrize("weight", [None, "w"])
def test_errors_of_strengths(case, weight):
    model, frame = case
    found = gw.Explainer(model, frame, folds=K, sample_weight=weight).interaction_strengths()

    def answer(rows, of):
        other = gw.Explainer(model, rows, sample_weight=weight).interaction_strengths()
        return np.array([getattr(other, of)[other.pairs.index(pair), 0] for pair in found.pairs])

    for of, error in (("heights", found.error), ("h", found.h_error)):
        expected = by_hand(frame, weight, lambda rows, of=of: answer(rows, of))
        np.testing.assert_allclose(error, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found.top(2).h_error, found.h_error[:2])
    frame_of_errors = found.to_frame(error=True)
    assert frame_of_errors.columns.tolist() == ["first", "second", "value", "h", "error", "h_error"]
    np.testing.assert_array_equal(frame_of_errors["h_error"], found.h_error)


def test_counts_alone(case, tmp_path):
    """A Background of order 2 in folds answers as Backgrounds of the rows without each fold do."""
    model, frame = case
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=50)
    gw.summarize(model, str(tmp_path / "rows.parquet"), order=2, folds=K, sample_weight="w").save(tmp_path / "rows.gw")
    ex = gw.Explainer(model, gw.Background.load(tmp_path / "rows.gw"))

    def of(rows):
        return gw.Explainer(model, gw.summarize(model, rows, order=2, sample_weight="w"))

    surface, strengths = ex.partial_dependence("a", "kind"), ex.interaction_strengths()
    expected = by_hand(frame, "w", lambda rows: of(rows).partial_dependence("a", "kind").heights)
    np.testing.assert_allclose(surface.errors, expected, rtol=1e-9, atol=1e-9)

    def answer(rows):
        other = of(rows).interaction_strengths()
        return np.array([other.h[other.pairs.index(pair), 0] for pair in strengths.pairs])

    np.testing.assert_allclose(strengths.h_error, by_hand(frame, "w", answer), rtol=1e-9, atol=1e-9)
    points = ex.partial_dependence("a", "kind", at=frame[["a", "kind"]][:3])
    cells = surface.first.axis.cell_of(frame.a[:3]), surface.second.axis.cell_of(frame.kind[:3].to_numpy(object))
    np.testing.assert_allclose(points.error, surface.errors[cells][:, 0], rtol=1e-9)


def test_files_and_streams(case, tmp_path):
    model, frame = case
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=50)
    expected = gw.Explainer(model, frame, folds=K, response="raw").partial_dependence("a", "kind").error
    files = gw.Explainer(model, str(tmp_path / "rows.parquet"), folds=K)
    np.testing.assert_array_equal(files.partial_dependence("a", "kind", response="raw").error, expected)
    with pytest.raises(BackgroundError, match='or ask for response="raw"'):
        _ = files.partial_dependence("a", "kind").error
    with pytest.raises(BackgroundError, match="the error of interaction strengths needs the rows of each fold"):
        _ = files.interaction_strengths().error
    with pytest.raises(BackgroundError, match="the error of a surface on this scale needs the rows of each fold"):
        _ = files.partial_dependence("a", "kind", response="prediction").error
    once = gw.Explainer(model, iter([frame]), folds=K, fold_by="id")
    found = once.partial_dependence("a", "kind").error
    np.testing.assert_array_equal(
        found, gw.Explainer(model, frame, folds=K, fold_by="id", response="raw").partial_dependence("a", "kind").error
    )
    strengths = once.interaction_strengths()
    assert strengths.basis == "counts"
    assert strengths.error.shape == strengths.values.shape


def test_too_many_counts_of_pairs(case, monkeypatch):
    """If the pairs of all features cannot be counted, those of the two that are asked for are."""
    model, frame = case
    expected = gw.Explainer(model, frame, folds=K).partial_dependence("a", "kind")
    monkeypatch.setattr("glasswood.counting._plan.CountPlan.countable", lambda plan, *_: bool(plan.groups))
    found = gw.Explainer(model, frame, folds=K).partial_dependence("a", "kind")
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-12)
    np.testing.assert_allclose(found.error, expected.error, rtol=1e-9)


@pytest.mark.parametrize("response", ["raw", "prediction"])
def test_errors_of_groups(case, response):
    model, frame = case
    asked = {"groups": {"both": ["b", "c"]}, "sample_weight": "w", "response": response}
    found = gw.Explainer(model, frame, folds=K, **asked).importance()

    def importance(rows):
        other = gw.Explainer(model, rows, **asked).importance()
        return np.array([other[name] for name in found.names])

    np.testing.assert_allclose(found.error, by_hand(frame, "w", importance), rtol=1e-9, atol=1e-9)
    at = frame[["b", "c"]][:4]
    points = gw.Explainer(model, frame, folds=K, **asked).partial_dependence("both", at=at)
    expected = by_hand(
        frame, "w", lambda rows: gw.Explainer(model, rows, **asked).partial_dependence("both", at=at).values
    )
    np.testing.assert_allclose(points.error, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", ["raw", "response"])
@pytest.mark.parametrize("response", ["raw", "prediction"])
def test_errors_of_relativities(case, response, scale):
    model, frame = case
    asked = {"sample_weight": "w", "response": response}
    curve = gw.Explainer(model, frame, folds=K, **asked).partial_dependence("a")
    cell = int(np.argmax(curve.rows))  # most rows

    def answer(rows):
        found = gw.Explainer(model, rows, **asked).partial_dependence("a", response=on)
        return np.exp(found.values - found.values[cell]) if scale == "raw" else found.values / found.values[cell]

    on = "raw" if scale == "raw" else "prediction"
    expected = by_hand(frame, "w", answer)
    np.testing.assert_allclose(curve.relativity_error(scale=scale), expected, rtol=1e-9, atol=1e-12)
    assert curve.relativity_error(scale=scale)[cell] == 0.0
    with pytest.raises(BackgroundError, match="folds=20"):
        gw.Explainer(model, frame).partial_dependence("a").relativity_error()
    with pytest.raises(ArgumentError, match="scale must be"):
        curve.relativity_error(scale="log")


def test_classes(case):
    _, frame = case
    label = np.digitize(frame.y, [1.0, 2.0])
    model = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=5).fit(frame[["a", "b", "c"]], label)
    ex = gw.Explainer(model, frame, folds=K)
    for response in ("raw", "probability"):
        surface = ex.partial_dependence("b", "c", response=response)
        assert surface.errors.shape == surface.heights.shape
        one = ex.partial_dependence("b", "c", response=response, output=1)
        np.testing.assert_allclose(one.errors[..., 0], surface.errors[..., 1], rtol=1e-9, atol=1e-12)
    strengths = ex.interaction_strengths()
    assert strengths.error.shape == strengths.heights.shape
    assert {"error_0", "error_2", "h_error_1"} <= set(strengths.to_frame(error=True).columns)
    binary = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=5).fit(frame[["a", "b", "c"]], label > 1)
    ex = gw.Explainer(binary, frame, folds=K, response="raw")
    one, other = (ex.partial_dependence("b", "c", output=label) for label in (False, True))
    np.testing.assert_array_equal(one.error, other.error)  # of scores of opposite sign


def test_refusals_and_copies(case):
    model, frame = case
    plain = gw.Explainer(model, frame)
    for answer in (
        plain.partial_dependence("a", "kind"),
        plain.partial_dependence("a", at=frame[["a"]][:2]),
        plain.interaction_strengths(),
    ):
        with pytest.raises(BackgroundError, match="folds=20"):
            _ = answer.error
    ex = gw.Explainer(model, frame, folds=K)
    with pytest.raises(BackgroundError, match="only the rows of the background are in folds"):
        _ = ex.interaction_strengths(frame[:50]).error
    with pytest.raises(BackgroundError, match="order 2"):
        _ = gw.Explainer(model, gw.summarize(model, frame, folds=K)).partial_dependence("a", "kind").error
    with pytest.raises(BackgroundError, match="has no rows"):
        _ = gw.Explainer(model, frame.assign(id=0), folds=K, fold_by="id").interaction_strengths().error
    offset = gw.Explainer(model, frame, target="y", offset="a", folds=K, response="prediction")
    with pytest.raises(UnsupportedModelError, match="offset="):
        _ = offset.partial_dependence("b", "kind").error
    surface = ex.partial_dependence("a", "kind")
    with pytest.raises(BackgroundError, match="copied or pickled"):
        _ = pickle.loads(pickle.dumps(surface)).error
    expected = surface.error
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(surface)).error, expected)
    np.testing.assert_array_equal(copy.deepcopy(surface).interaction_error, surface.interaction_error)


def test_the_order_of_questions_does_not_matter(case):
    model, frame = case
    one, two = (gw.Explainer(model, frame, folds=K) for _ in range(2))
    first, second = one.partial_dependence("a", "kind").error, one.partial_dependence("a").error
    curve, surface = two.partial_dependence("a").error, two.partial_dependence("a", "kind").error
    np.testing.assert_array_equal(first, surface)
    np.testing.assert_array_equal(second, curve)
    by = one.partial_dependence("a", "kind", by=frame["id"] % 2)
    assert by[0].error.shape == by[1].error.shape
