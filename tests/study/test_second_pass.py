"""Strengths, spikes and comparisons are the same from tables, files and lists of tables; else they say so."""

from functools import cache

import catboost
import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pytest
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, HistGradientBoostingRegressor

import glasswood as gw
from glasswood.effects import _statistics
from glasswood.questions.interactions import _answer as _strengths
from glasswood.questions.interactions import _answer_rows as _pair_rows

matplotlib.use("Agg")

N = 300


def table():
    rng = np.random.default_rng(0)
    a = rng.normal(size=N)
    rows = pd.DataFrame({"a": a, "b": a + 0.3 * rng.normal(size=N), "c": 10 * rng.exponential(size=N)})
    rows["d"] = rng.integers(0, 5, size=N)
    rows["kind"] = pd.Categorical(rng.choice(["x", "y", "z"], size=N))
    rows.loc[::9, "b"] = np.nan
    rows.loc[3, "c"] = 5000.0  # far beyond the last cut
    rows.loc[4, "c"] = np.inf
    y = a * rows["b"].fillna(0) + (rows["c"].between(15, 17)) * 3 + (rows["kind"] == "x") * rows["d"]
    return rows, y


@cache
def boosted(**settings):
    rows, y = table()
    settings = {
        "max_iter": 15,
        "min_samples_leaf": 5,
        "categorical_features": "from_dtype",
        "random_state": 0,
    } | settings
    return HistGradientBoostingRegressor(**settings).fit(rows, y)


@cache
def classes():
    rows, y = table()
    settings = {"max_iter": 5, "min_samples_leaf": 5, "categorical_features": "from_dtype", "random_state": 0}
    return HistGradientBoostingClassifier(**settings).fit(rows, np.digitize(y, [-0.5, 1.0]))


def write_one(rows, folder):
    """Write rows to one file."""
    folder.mkdir()
    rows.to_parquet(folder / "rows.parquet", row_group_size=70)
    return folder / "rows.parquet"


def write(rows, folder):
    """Write rows to two files of several row groups."""
    folder.mkdir()
    rows[:170].to_parquet(folder / "1.parquet", row_group_size=37)
    rows[170:].to_parquet(folder / "2.parquet", row_group_size=61)
    return folder


SOURCES = {
    "file": write_one,
    "folder": write,
    "dataset": lambda rows, folder: ds.dataset(write(rows, folder), format="parquet"),
    "chunks": lambda rows, folder: [rows[:1], rows[1:120], rows[120:120], rows[120:]],
    "lazy": lambda rows, folder: pl.from_pandas(rows).lazy(),
}
ONCE = {
    "iterator": lambda rows: iter([rows[:100], rows[100:]]),
    "reader": lambda rows: pl.from_pandas(rows).to_arrow().to_reader(),
}


@pytest.fixture(params=list(SOURCES))
def source(request, tmp_path):
    """What makes a source of rows that can be read again."""
    return lambda rows: SOURCES[request.param](rows, tmp_path / "rows")


@pytest.fixture(params=["cells", "lookups"])
def way(request, monkeypatch):
    """Both ways to take the moments of pairs."""
    monkeypatch.setattr(_strengths, "PER_LOOKUP", 1.0 if request.param == "cells" else 0.0)


def assert_same_strengths(found, expected):
    assert found.basis == "rows"
    assert found.caveat == ""
    assert found.pairs == expected.pairs
    np.testing.assert_array_equal(found.heights, expected.heights)
    np.testing.assert_array_equal(found.h, expected.h)
    assert repr(found) == repr(expected)
    assert found.to_frame().equals(expected.to_frame())


# --------------------------------------------------------------------------------------------------------- strengths


@pytest.mark.parametrize("make", [boosted, classes])
def test_strengths_are_those_of_memory(make, source, way):
    model, rows = make(), table()[0]
    expected = gw.Explainer(model, rows).interaction_strengths()
    assert len(expected) > 3
    assert_same_strengths(gw.Explainer(model, source(rows)).interaction_strengths(), expected)


def test_counts_alone_give_other_strengths(way):
    model, rows = boosted(), table()[0]
    expected = gw.Explainer(model, rows).interaction_strengths()
    counted = gw.Explainer(model, gw.summarize(model, rows, order=2)).interaction_strengths()
    assert counted.basis == "counts"
    pair = ("a", "b")  # which depend on each other
    ratio = counted.total[counted.pairs.index(pair)] / expected.total[expected.pairs.index(pair)]
    assert not 0.9 < ratio < 1.1


@pytest.mark.parametrize("whole", [True, False])
def test_strengths_with_weights(source, way, whole):
    model, rows = boosted(), table()[0]
    weight = np.random.default_rng(1).integers(0, 9, size=N) if whole else np.random.default_rng(1).random(N)
    weighted = rows.assign(weight=weight)
    expected = gw.Explainer(model, weighted, sample_weight="weight").interaction_strengths()
    found = gw.Explainer(model, source(weighted), sample_weight="weight").interaction_strengths()
    if whole:
        assert_same_strengths(found, expected)
    else:  # counts of files take weights as multiples of 2**-24
        assert found.pairs == expected.pairs
        np.testing.assert_allclose(found.heights, expected.heights, rtol=1e-12)
        np.testing.assert_allclose(found.h, expected.h, rtol=1e-12)


def test_strengths_of_groups(source):
    model, rows = boosted(), table()[0]
    groups = {"ab": ["a", "b"]}
    expected = gw.Explainer(model, rows, groups=groups).interaction_strengths()
    assert ("ab", "kind") in expected.pairs or ("kind", "ab") in expected.pairs
    assert_same_strengths(gw.Explainer(model, source(rows), groups=groups).interaction_strengths(), expected)


def test_strengths_in_small_blocks_and_many_passes(source, way, monkeypatch):
    model, rows = boosted(), table()[0]
    monkeypatch.setattr(_statistics, "VALUES_OF_A_BATCH", 1)  # batches of 64 rows
    expected = gw.Explainer(model, rows).interaction_strengths()
    monkeypatch.setattr(_pair_rows, "ROWS_AT_A_TIME", 70)
    monkeypatch.setattr(_pair_rows, "MAX_CELLS", 1)  # a pass for each pair
    assert_same_strengths(gw.Explainer(model, source(rows)).interaction_strengths(), expected)


def test_strengths_of_a_model_without_pairs(source):
    rows, y = table()
    model = GradientBoostingRegressor(n_estimators=5, max_depth=1).fit(rows[["a", "d"]], y)
    found = gw.Explainer(model, source(rows)).interaction_strengths()
    assert repr(found) == "Strengths(0 pairs of 2 features, value)"


# ------------------------------------------------------------------------------------------------------------ spikes


@pytest.mark.parametrize("points", [4, 30])
def test_spikes_are_those_of_memory(source, points):
    model, rows = boosted(), table()[0]
    expected = gw.Explainer(model, rows).spikes(points=points)
    found = gw.Explainer(model, source(rows)).spikes(points=points)
    assert len(expected) > 0
    assert found.entries == expected.entries
    assert repr(found) == repr(expected)
    assert found.basis == "rows"
    counted = gw.Explainer(model, gw.summarize(model, rows)).spikes(points=points)
    assert counted.entries != expected.entries


def test_spikes_without_any_finite_value(tmp_path):
    model, rows = boosted(), table()[0]
    rows["c"] = np.nan
    assert (
        gw.Explainer(model, rows).spikes("c").entries
        == gw.Explainer(model, write(rows, tmp_path / "r")).spikes("c").entries
    )


# -------------------------------------------------------------------------------------------------------- comparison


def two_models():
    rows, y = table()
    other = boosted(max_iter=7, min_samples_leaf=11)
    few = HistGradientBoostingRegressor(max_iter=3).fit(rows[["a", "c"]], y)  # has no "b", ...
    return {"one": boosted(), "other": other}, {"one": boosted(), "few": few}


def compared(models, background, **settings):
    return gw.compare({name: gw.Explainer(model, background, **settings) for name, model in models.items()})


def assert_same_comparison(found, expected, rtol=0.0):
    assert found.basis == "rows"
    assert found.features == expected.features
    for name in ("difference", "largest", "shift"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=rtol, atol=rtol)
    for feature in expected.features:
        for one, other in zip(found.shared[feature], expected.shared[feature], strict=True):
            assert one.categories == other.categories
            np.testing.assert_array_equal(one.cuts, other.cuts)
            np.testing.assert_allclose(one.heights, other.heights, rtol=rtol)
            np.testing.assert_allclose(one.axis.rows, other.axis.rows, rtol=rtol)
            assert rtol or one.axis.rows.dtype == other.axis.rows.dtype


@pytest.mark.parametrize("which", [0, 1])
def test_comparisons_of_models_are_those_of_memory(source, which):
    models, rows = two_models()[which], table()[0]
    expected = compared(models, rows)
    assert not np.isnan(expected.difference).any()
    found = compared(models, source(rows))
    assert_same_comparison(found, expected)
    assert repr(found) == repr(expected)
    assert found.to_frame().equals(expected.to_frame())


@pytest.mark.parametrize("whole", [True, False])
def test_comparisons_with_weights(source, whole):
    models, rows = two_models()[0], table()[0]
    weight = np.random.default_rng(1).integers(0, 9, size=N) if whole else np.random.default_rng(1).random(N)
    weighted = rows.assign(weight=weight)
    expected = compared(models, weighted, sample_weight="weight")
    found = compared(models, source(weighted), sample_weight="weight")
    assert_same_comparison(found, expected, 1e-12)


def test_a_table_and_a_file_are_compared_alike(tmp_path):
    models, rows = two_models()[0], table()[0]
    folder = write(rows, tmp_path / "rows")
    mixed = {"one": gw.Explainer(models["one"], rows), "other": gw.Explainer(models["other"], folder)}
    assert_same_comparison(gw.compare(mixed), compared(models, rows))


def test_categories_that_only_one_model_knows(source):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=N), "c": rng.choice(list("pqrst"), N)})
    y = rows["a"] + rows["c"].map(dict(zip("pqrst", [0, 1, 5, 2, 9], strict=True)))
    options = {"iterations": 10, "depth": 3, "verbose": 0, "allow_writing_files": False, "one_hot_max_size": 10}
    few = rows["c"].isin(["p", "q"])
    models = {
        "all": catboost.CatBoostRegressor(**options, cat_features=["c"]).fit(rows, y),
        "few": catboost.CatBoostRegressor(**options, cat_features=["c"]).fit(rows[few], y[few]),
    }
    expected = compared(models, rows)
    np.testing.assert_allclose(expected.shift, 0, atol=1e-12)
    assert_same_comparison(compared(models, source(rows)), expected)
    counted = gw.compare({name: gw.Explainer(model, gw.summarize(model, rows)) for name, model in models.items()})
    assert counted.basis == "counts"


def test_features_of_which_only_counts_are_known_are_ranked_alike(tmp_path):
    models, rows = two_models()[0], table()[0]
    found = gw.compare({name: gw.Explainer(model, gw.summarize(model, rows)) for name, model in models.items()})
    known = ~np.isnan(found.difference[:, 0])
    assert known.any()  # the categories
    assert not known.all()
    np.testing.assert_array_equal(found.total, found.largest[:, 0])  # never a mean of one beside a maximum of another
    assert (np.diff(found.total) <= 0).all()


# ----------------------------------------------------------------------------------------------------- what is said


def caveats(model, other, background):
    """Return results of which each is not made of the rows themselves."""
    ex = gw.Explainer(model, background())
    yield ex.interaction_strengths(), "taken as independent"
    yield (
        gw.Explainer(model, background()).spikes(points=5),
        "5 sample points (of some features from the first to the last cut)",
    )
    pair = {"one": gw.Explainer(model, background()), "other": gw.Explainer(other, background(other))}
    yield gw.compare(pair), "rows in common cells are not known"


@pytest.mark.parametrize("kind", ["background", *ONCE])
def test_results_of_counts_say_so(kind):
    (models, _), rows = two_models(), table()[0]
    one, other = models.values()

    def background(model=one):
        return gw.summarize(model, rows, order=2) if kind == "background" else ONCE[kind](rows)

    for result, words in caveats(one, other, background):
        assert result.basis == "counts"
        assert words in repr(result)
        assert result.caveat.split()[-1] in words
        assert words in result._repr_html_()
        assert result.to_frame()["basis"].tolist() == ["counts"] * len(result)
        assert result.top(1).basis == "counts"


def test_figures_of_counts_say_so():
    (models, _), rows = two_models(), table()[0]
    one, other = models.values()
    strengths, _, comparison = (
        result for result, _ in caveats(one, other, lambda model=one: gw.summarize(model, rows, order=2))
    )
    for kind in ("heatmap", "network"):
        assert "features taken as independent" in strengths.panel(kind=kind).note
    for backend in ("matplotlib", "plotly"):
        figure = comparison.plot("a", backend=backend)
        texts = str(figure.to_dict()) if backend == "plotly" else figure.get_supxlabel()
        assert "rows in common cells are not known" in texts.replace("<br>", " ").replace("\n", " ")


def test_results_without_a_background_say_so():
    one, other = two_models()[0].values()
    model, rows = one, table()[0]
    assert gw.Explainer(model).spikes(points=5).basis == "covers"
    found = gw.compare({"one": gw.Explainer(one), "other": gw.Explainer(other, rows)})
    assert found.basis == "covers"
    assert set(found.to_frame()["basis"]) == {"covers"}


def test_drift_of_one_model_needs_counts_only():
    model, rows = boosted(), table()[0]
    halves = {"first": rows[:150], "second": rows[150:]}
    expected = gw.compare({name: gw.Explainer(model, part) for name, part in halves.items()})
    found = gw.compare({name: gw.Explainer(model, gw.summarize(model, part)) for name, part in halves.items()})
    assert_same_comparison(found, expected)


# ----------------------------------------------------------------------------------------------------------- sources


@pytest.mark.parametrize("ask", [lambda ex: ex.interaction_strengths(), lambda ex: ex.spikes()])
def test_a_source_that_changed_is_refused(ask):
    model, rows = boosted(), table()[0]
    chunks = [rows[:100], rows[100:]]
    ex = gw.Explainer(model, chunks)
    ex._study.counted(2)
    object.__setattr__(ex._study.over._rows.source, "tables", lambda _: iter(chunks[:1]))
    with pytest.raises(gw.errors.TableError, match="100 rows now, but had 300"):
        ask(ex)


def test_labels_that_only_the_rows_know(source):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=N), "c": rng.choice(list("pqr"), N), "e": rng.choice([7, 8, 9], N)})
    y = rows["a"] + rows["c"].map({"p": 0, "q": 4, "r": 9}) + rows["e"]
    options = {"iterations": 10, "depth": 3, "verbose": 0, "allow_writing_files": False, "one_hot_max_size": 10}
    model = catboost.CatBoostRegressor(**options, cat_features=["c", "e"]).fit(rows, y)
    weighted = rows.assign(weight=1)
    expected = gw.Explainer(model, weighted, sample_weight="weight")
    found = gw.Explainer(model, source(weighted), sample_weight="weight")
    for name in ("c", "e"):
        assert found.partial_dependence(name).categories == expected.partial_dependence(name).categories
        assert found.partial_dependence(name).to_frame().equals(expected.partial_dependence(name).to_frame())
    assert set(found.partial_dependence("c").categories) == set("pqr")
