"""Rows whose own curves fall or rise: against the libraries' own predictions at every cut, and from every source."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import glasswood as gw
from glasswood.counting._octaves import SIZES, bins_of
from glasswood.errors import BackgroundError, TableError


def rows_of(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    X["b"] = X["b"].mask(rng.random(n) < 0.15)
    z = X.fillna(0.3)
    y = z.a + 0.4 * np.sin(3 * z.a) * (z.b > 0) + z.b * (z.c > 0) + 0.1 * z.d + 0.2 * rng.normal(size=n)
    return X, y


def xgboost():
    from xgboost import XGBRegressor

    return XGBRegressor(n_estimators=15, max_depth=3, n_jobs=1)


def absolute():
    from xgboost import XGBRegressor

    up = {"a": 1, "b": 1}
    return XGBRegressor(n_estimators=15, max_depth=3, objective="reg:absoluteerror", monotone_constraints=up, n_jobs=1)


def lightgbm():
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_estimators=15, num_leaves=8, min_child_samples=5, verbose=-1, n_jobs=1)


def histogram():
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=15, max_leaf_nodes=8, monotonic_cst={"a": 1}, random_state=0)


def forest():
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(10, max_depth=4, random_state=0)


def catboost():
    from catboost import CatBoostRegressor

    return CatBoostRegressor(iterations=15, depth=4, verbose=0, thread_count=1, allow_writing_files=False)


def curves_of(predict, X, feature, cuts):
    """Return the library's own predictions of each row at every cell of a feature, missing left out."""
    ends = np.append(cuts, cuts[-1] + 1.0)
    moved = X.loc[X.index.repeat(ends.size)].reset_index(drop=True)
    moved[feature] = np.tile(ends, len(X))
    return np.asarray(predict(moved), dtype=np.float64).reshape(len(X), ends.size)


def by_hand(curves, noise):
    """Return the rows that fall, the steps down of each cut, and the largest fall."""
    fall = (np.maximum.accumulate(curves, axis=1) - curves).max(axis=1)
    return fall > noise, (curves[:, :-1] - curves[:, 1:] > noise), fall


@pytest.mark.parametrize("make", [xgboost, absolute, lightgbm, histogram, forest, catboost])
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_those_of_the_librarys_own_predictions(make, weighted):
    X, y = rows_of()
    model = make().fit(X, y)
    weight = np.random.default_rng(1).integers(0, 4, len(X)) if weighted else np.ones(len(X), dtype=int)
    ex = gw.Explainer(model, X, sample_weight=weight if weighted else None)
    found = ex.row_monotonicity()
    noise = 1e-5 if make in (xgboost, absolute) else 1e-10  # XGBoost adds in float32
    assert found.total == weight.sum()
    for i, name in enumerate(found.names):
        cuts = ex.partial_dependence(name).cuts
        cuts = cuts[np.abs(cuts) < 3.4e38]
        curves = curves_of(model.predict, X, name, cuts)
        for side, counted in ((1, found.falling), (-1, found.rising)):
            breaks, steps, fall = by_hand(side * curves, noise)
            assert counted[i, 0] == weight[breaks].sum()
            if (found.directions[i, 0] == "increasing") == (side > 0):
                np.testing.assert_array_equal(found.cuts[i], cuts)
                np.testing.assert_array_equal(found.steps[i][:, 0], weight @ steps)
                check_largest(found, name, np.where(weight > 0, fall, 0.0), breaks & (weight > 0))


def check_largest(found, name, fall, breaks):
    at_least, below = found.bounds[found.names.index(name), 0]
    worst = found.worst(name)
    if not breaks.any():
        assert np.isnan(at_least)
        assert worst is None
        return
    assert at_least * (1 - 1e-6) <= fall.max() <= below * (1 + 1e-6)
    assert below / at_least == pytest.approx(2 ** (1 / 8))
    assert worst.by == pytest.approx(fall.max(), rel=1e-5)
    assert fall[worst.row] == pytest.approx(fall.max(), rel=1e-5)
    assert worst.values[0] < worst.values[1]


@pytest.fixture(scope="module")
def case():
    X, y = rows_of(300)
    frame = X.assign(w=np.arange(300) % 4 + 1, day=np.arange(300) % 3)
    return lightgbm().fit(X, y), frame


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_same_bits_from_every_source(case, tmp_path, weight):
    model, frame = case
    expected = gw.summarize(model, frame, sample_weight=weight, answers=["row_monotonicity"])
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    sources = [str(tmp_path / "rows.parquet"), pl.from_pandas(frame), iter([frame[:9], frame[9:]])]
    for source in [*sources, frame.sample(frac=1.0, random_state=0)]:
        assert gw.summarize(model, source, sample_weight=weight, answers=["row_monotonicity"]) == expected
    expected.save(tmp_path / "all.gw")
    answers = [
        gw.Explainer(model, source, **asked).row_monotonicity()
        for source, asked in (
            (frame, {"sample_weight": weight}),
            (str(tmp_path / "rows.parquet"), {"sample_weight": weight}),
            (gw.Background.load(tmp_path / "all.gw"), {}),
        )
    ]
    for found in answers:
        for name in ("falling", "rising", "bounds", "directions"):
            np.testing.assert_array_equal(getattr(found, name), getattr(answers[0], name))
    for found in answers[1:]:
        with pytest.raises(BackgroundError, match="a table in memory only"):
            found.worst("a")


def test_groups_merge_and_subtract(case):
    model, frame = case
    whole = gw.summarize(model, frame, answers=["row_monotonicity"])
    days = gw.summarize(model, frame, by="day", answers=["row_monotonicity"])
    assert days[0] + days[1] + days[2] == whole
    assert whole - days[2] == days[0] + days[1]
    by = gw.Explainer(model, frame).row_monotonicity(by="day")
    for day, found in by.items():
        counted = gw.Explainer(model, days[day]).row_monotonicity()
        np.testing.assert_array_equal(found.falling, counted.falling)


def test_probabilities_of_several_classes():
    from lightgbm import LGBMClassifier

    X, y = rows_of()
    model = LGBMClassifier(n_estimators=8, num_leaves=6, verbose=-1, n_jobs=1).fit(X, pd.qcut(y, 3, labels=False))
    ex = gw.Explainer(model, X)
    found = ex.row_monotonicity("a", response="probability")
    cuts = ex.partial_dependence("a").cuts
    for k in range(3):
        curves = curves_of(lambda rows, k=k: model.predict_proba(rows)[:, k], X, "a", cuts)
        for side, counted in ((1, found.falling), (-1, found.rising)):
            assert counted[0, k] == by_hand(side * curves, 1e-9)[0].sum()
    raw = ex.row_monotonicity("a", response="raw")
    assert raw.units != found.units
    assert found.worst("a", output=1).row in range(len(X))
    with pytest.raises(TableError, match="one output"):
        found.worst("a")
    assert found.where("a").shape == (3 * cuts.size, 4)


def test_both_classes_of_one_score():
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = rows_of()
    ex = gw.Explainer(HistGradientBoostingClassifier(max_iter=8).fit(X, y > 0), X)
    for response in ("raw", "probability"):
        first, second = (ex.row_monotonicity("a", output=one, response=response) for one in (False, True))
        np.testing.assert_array_equal(first.falling, second.rising)
        np.testing.assert_array_equal(first.steps[0], second.steps[0])
        assert first.directions != second.directions
        assert first.worst("a").row == second.worst("a").row


def test_combinations_and_pipelines():
    from sklearn.ensemble import VotingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = rows_of(150)
    voting = VotingRegressor([("one", histogram()), ("two", histogram().set_params(max_iter=3))]).fit(X, y)
    ex = gw.Explainer(voting, X, response="prediction")
    assert ex.row_monotonicity("a")["a"] == 0
    curves = curves_of(voting.predict, X, "d", ex.partial_dependence("d").cuts)
    assert ex.row_monotonicity("d").falling[0, 0] == by_hand(curves, 1e-9)[0].sum()
    piped = make_pipeline(StandardScaler(), histogram().set_params(monotonic_cst=None)).fit(X, y)
    assert gw.Explainer(piped, X).row_monotonicity().names == tuple("abcd")


def test_what_is_not_known_is_refused(case):
    model, frame = case
    with pytest.raises(BackgroundError, match=r"answers=\['row_monotonicity'\]"):
        gw.Explainer(model, gw.summarize(model, frame)).row_monotonicity()
    with pytest.raises(BackgroundError, match=r"answers=\['row_monotonicity'\]"):
        gw.Explainer(model).row_monotonicity()
    with pytest.raises(TableError, match="no feature"):
        gw.Explainer(model, frame).row_monotonicity("a")["z"]


def test_declared_directions_are_judged():
    X, y = rows_of()
    model = histogram().set_params(monotonic_cst={"a": -1}).fit(X, y)
    found = gw.Explainer(model, X).row_monotonicity()
    assert found.directions[0, 0] == "decreasing"
    assert found["a"] == 0


def test_sizes_are_distinct_to_a_twelfth():
    sizes = 2.0 ** np.linspace(-47.9, 15.9, 5000)
    expected = np.floor(8 * np.log2(sizes)).astype(int) + 8 * 48
    assert (np.abs(bins_of(sizes) - expected) <= 0).mean() > 0.999
    assert bins_of(np.array([1e-300, 1e300])).tolist() == [0, SIZES - 1]
    assert bins_of(np.array([1.0, 2.0, 0.5])).tolist() == [384, 392, 376]


def test_results_print_pickle_and_draw(case):
    model, frame = case
    found = gw.Explainer(model, frame).row_monotonicity()
    assert repr(found).startswith("RowMonotonicity(4 features, 300 rows: against its direction go ")
    again = pickle.loads(pickle.dumps(found))
    assert again.worst("a") == found.worst("a")
    assert len(found.panel(top=2).labels) == 2
    assert "Rows that are not monotonic" in found._repr_html_()
    constant = gw.Explainer(lightgbm().fit(frame[["a"]], np.zeros(300)), frame[["a"]]).row_monotonicity()
    assert constant["a"] == 0
    assert constant.where("a").shape[0] == 0
