"""Errors by folds: against recomputation without each fold, from every source, merged and saved; and their hash."""

from __future__ import annotations

import datetime

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import glasswood as gw
from glasswood.counting._background import FORMAT
from glasswood.effects._jackknife import jackknife
from glasswood.errors import ArgumentError, BackgroundError, TableError
from glasswood.tables._files import pack_arrays, unpack_arrays
from glasswood.tables._folds import Division, fold_of_keys, fold_of_positions, keys_of_column, keys_of_values

N, K = 500, 5


@pytest.fixture(scope="module")
def case():
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"a": generator.normal(size=N), "b": generator.normal(size=N)})
    X.loc[generator.random(N) < 0.1, "b"] = np.nan
    X["kind"] = pd.Categorical(generator.choice(list("abc"), N))
    exposure = generator.uniform(0.1, 1.0, N)
    y = generator.poisson(exposure * np.exp(X.a)).astype(float)
    model = lgb.LGBMRegressor(objective="poisson", n_estimators=10, num_leaves=6, verbose=-1).fit(X, y / exposure)
    frame = X.assign(y=y, e=exposure, w=generator.integers(0, 3, N), share=exposure**2, id=generator.integers(0, 90, N))
    return model, frame.assign(day=np.arange(N) % 2)


def recomputed(frame, fold, answer, weight):
    """The jackknife of an answer, computed from rows without each fold."""
    total = np.ones(len(frame)) if weight is None else frame[weight].to_numpy(float)
    parts = [answer(frame[fold != k]) for k in range(K)]
    return jackknife(answer(frame), parts, [total[fold == k].sum() / total.sum() for k in range(K)])


@pytest.mark.parametrize("weight", [None, "w", "share"])
@pytest.mark.parametrize("response", ["raw", "prediction"])
def test_errors_are_those_of_rows_without_each_fold(case, weight, response):
    model, frame = case
    asked = {"target": "y", "exposure": "e", "sample_weight": weight, "response": response}
    fold = fold_of_positions(0, N, K)
    ex = gw.Explainer(model, frame, folds=K, **asked)
    for feature in ("a", "b", "kind"):
        curve = ex.partial_dependence(feature)

        def heights(rows, feature=feature):
            return gw.Explainer(model, rows, **asked).partial_dependence(feature).heights

        expected = recomputed(frame, fold, heights, weight)
        np.testing.assert_allclose(curve.errors, expected, rtol=1e-7, atol=1e-12)
        np.testing.assert_array_equal(curve.error, curve.errors[: curve.axis.n_main, 0])

        def residuals(rows, feature=feature):
            return gw.Explainer(model, rows, **asked).partial_dependence(feature).observations.residual

        expected = recomputed(frame, fold, residuals, weight)
        np.testing.assert_allclose(curve.observations.error("residual"), expected, rtol=1e-6, atol=1e-9)
    centered = ex.partial_dependence("a", centered=True)
    assert centered.error.min() == 0.0  # where it starts

    def shape(rows):
        found = gw.Explainer(model, rows, **asked).partial_dependence("a").heights
        return found - found[int(np.flatnonzero(centered.heights[:, 0] == 0)[0])]

    np.testing.assert_allclose(centered.errors, recomputed(frame, fold, shape, weight), rtol=1e-6, atol=1e-12)


def test_errors_resemble_those_of_a_bootstrap(case):
    model, frame = case
    generator = np.random.default_rng(1)
    curve = gw.Explainer(model, frame, folds=20).partial_dependence("a")
    draws = [np.bincount(generator.integers(0, N, N), minlength=N) for _ in range(200)]
    found = [gw.Explainer(model, frame, sample_weight=w).partial_dependence("a").values for w in draws]
    assert 0.6 < np.mean(curve.error / np.std(found, axis=0)) < 1.5


@pytest.mark.parametrize("fold_by", [None, "id"])
@pytest.mark.parametrize("weight", [None, "w", "share"])
def test_the_same_bits_from_files(case, tmp_path, fold_by, weight):
    model, frame = case
    asked = {"target": "y", "folds": K, "fold_by": fold_by, "sample_weight": weight, "response": "prediction"}
    expected = gw.summarize(model, frame, **asked)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    assert gw.summarize(model, str(tmp_path / "rows.parquet"), **asked) == expected
    groups = gw.summarize(model, frame, by="day", **asked)
    assert gw.summarize(model, str(tmp_path / "rows.parquet"), by="day", **asked) == groups
    if weight != "share":  # whole numbers
        assert groups[0] + groups[1] == expected
        assert expected - groups[1] == groups[0]
    expected.save(tmp_path / "rows.gw")
    again = gw.Explainer(model, gw.Background.load(tmp_path / "rows.gw"))
    error = gw.Explainer(model, frame, folds=K, fold_by=fold_by, sample_weight=weight).partial_dependence("a").error
    np.testing.assert_allclose(again.partial_dependence("a").error, error, rtol=1e-9)
    assert again.partial_dependence("a", response="prediction").error.shape == error.shape
    assert gw.Background.load(tmp_path / "rows.gw").folds == expected.folds == Division(K, fold_by)
    assert expected.facts["folds"] == ("5 by position" if fold_by is None else "5 by 'id'")


def test_folds_by_a_column_from_streams_and_without_the_counts_of_them(case):
    model, frame = case
    expected = gw.summarize(model, frame, folds=K, fold_by="id")
    for source in (pl.from_pandas(frame), iter([frame[:100], frame[100:]]), pa.Table.from_pandas(frame).to_reader()):
        assert gw.summarize(model, source, folds=K, fold_by="id") == expected
    plain = gw.summarize(model, frame)
    assert {name: expected.vector(name).tolist() for name in plain.vectors} == {
        name: part.tolist() for name, part in plain.vectors.items()
    }
    by = gw.Explainer(model, frame, folds=K, fold_by="id").partial_dependence("a", by="day")
    assert by[0].error.shape == by[0].values.shape


def test_refusals(case, tmp_path):
    model, frame = case
    with pytest.raises(TableError, match="fold_by="):
        gw.summarize(model, iter([frame]), folds=K)
    for wrong in (1, 1.5, 2000, "20"):
        with pytest.raises(ArgumentError):
            gw.summarize(model, frame, folds=wrong)
    with pytest.raises(ArgumentError, match="folds=20"):
        gw.summarize(model, frame, fold_by="id")
    with pytest.raises(TableError, match="nowhere"):
        gw.summarize(model, frame, folds=K, fold_by="nowhere")
    with pytest.raises(BackgroundError, match="folds=20"):
        _ = gw.Explainer(model, frame).partial_dependence("a").error
    with pytest.raises(BackgroundError, match="has no rows"):
        _ = gw.Explainer(model, frame, folds=K, fold_by="day").partial_dependence("a").error
    for other in ({}, {"folds": K, "fold_by": "id"}, {"folds": K + 1}, {"folds": K, "fold_by": frame.id}):
        with pytest.raises(BackgroundError, match="different folds"):
            gw.summarize(model, frame, folds=K) + gw.summarize(model, frame, **other)
        assert gw.summarize(model, frame, folds=K) != gw.summarize(model, frame, **other)
    frame.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(TableError, match="checkpoint"):
        gw.summarize(model, str(tmp_path / "rows.parquet"), folds=K, checkpoint=tmp_path / "done")


@pytest.mark.parametrize(
    "folds",
    [None, {"number": "5", "column": None, "given": False}, {"number": K + 1, "column": None, "given": False}, {}, 5],
)
def test_files_whose_folds_are_not_those_of_their_vectors(case, tmp_path, folds):
    model, frame = case
    gw.summarize(model, frame, folds=K).save(tmp_path / "rows.gw")
    facts, arrays = unpack_arrays(FORMAT, (tmp_path / "rows.gw").read_bytes())
    (tmp_path / "rows.gw").write_bytes(pack_arrays(FORMAT, facts | {"folds": folds}, arrays))
    with pytest.raises(BackgroundError, match="not a Glasswood background"):
        gw.Background.load(tmp_path / "rows.gw")


def test_bands_of_classes(case):
    _, frame = case
    model = HistGradientBoostingClassifier(max_iter=5).fit(frame[["a", "b"]], frame.y.clip(0, 2))
    curve = gw.Explainer(model, frame, folds=K, target=frame.y.clip(0, 2)).partial_dependence(
        "a", response="probability"
    )
    assert curve.errors.shape == curve.heights.shape
    assert curve.observations.error().shape == curve.heights.shape


def test_equal_values_have_equal_folds_everywhere():
    ids = [3, 70_000, 2**40 + 1, 17, -5]
    containers = [
        pd.DataFrame({"id": ids}),
        pd.DataFrame({"id": pd.array(ids, dtype="Int64")}),
        pd.DataFrame({"id": np.array(ids, dtype=float)}),
        pl.DataFrame({"id": ids}),
        pa.table({"id": ids}),
        pa.table({"id": pa.array(ids, pa.float64())}),
    ]
    assert len({tuple(keys_of_column(frame, "id").tolist()) for frame in containers}) == 1
    texts = ["a", "rouge foncé", "", None, "b" * 50]
    held = [pd.DataFrame({"id": texts}), pl.DataFrame({"id": texts}), pa.table({"id": texts})]
    held += [pd.DataFrame({"id": pd.Categorical(texts)}), pa.table({"id": pa.array(texts).dictionary_encode()})]
    assert len({tuple(keys_of_column(frame, "id").tolist()) for frame in held}) == 1
    days = [datetime.datetime(2026, 1, day) for day in (1, 2, 3)]
    times = [pd.DataFrame({"id": days}), pl.DataFrame({"id": days}), pa.table({"id": days})]
    times += [pl.DataFrame({"id": [day.date() for day in days]}), pa.table({"id": [day.date() for day in days]})]
    assert len({tuple(keys_of_column(frame, "id").tolist()) for frame in times}) == 1
    assert keys_of_values(np.array([0.0]))[0] == keys_of_values(np.array([-0.0]))[0] == 0


def _folds_of(columns):
    return {tuple(keys_of_column(frame, "id").tolist()) for frame in columns}


def _arrow(values, kind=None):
    return pa.table({"id": pa.array(values, kind)})


def test_equal_values_of_other_types_have_equal_folds():
    ids = [2**60 + 1, None, 2**60 + 2, -7, 3]
    big = [_arrow(ids), pl.DataFrame({"id": ids}), pd.DataFrame({"id": pd.array(ids, dtype="Int64")})]
    big += [pd.DataFrame({"id": pd.array(ids, dtype=pd.ArrowDtype(pa.int64()))})]
    big += [_arrow(ids, pa.decimal128(20, 0)), _arrow(ids).cast(pa.schema([("id", pa.decimal128(23, 3))]))]
    big += [pl.from_arrow(big[-1]), big[-1].to_pandas(), pd.DataFrame({"id": pd.Series(ids, dtype=object)})]
    assert len(_folds_of(big)) == 1
    (keys,) = _folds_of(big)
    assert _folds_of([_arrow([2**60 + 1, 2**60 + 2, -7, 3])]) == {(keys[0], *keys[2:])}
    large = [2**63 + 5, 2**64 - 1, None]
    assert (
        len(
            _folds_of(
                [_arrow(large, pa.uint64()), _arrow(large, pa.uint64()).cast(pa.schema([("id", pa.decimal128(25, 0))]))]
            )
        )
        == 1
    )
    cents = ["1.50", "-0.25", None, "7.00"]
    text = pa.array(cents)
    priced = [
        _arrow(text.cast(pa.decimal128(10, 2))),
        _arrow(text.cast(pa.decimal128(12, 4))),
        _arrow(text.cast(pa.float64())),
    ]
    assert len(_folds_of([*priced, priced[0].to_pandas(), pl.from_arrow(priced[0])])) == 1


def test_equal_times_of_other_types_have_equal_folds():
    days = _arrow([datetime.date(2020, 1, 5), None, datetime.date(1960, 12, 31)])
    assert len(_folds_of([days, days.to_pandas(), pl.from_arrow(days), days.to_pandas(date_as_object=False)])) == 1
    moments = _arrow([datetime.datetime(2020, 1, 5, 12, 30, 1, 7), None, datetime.datetime(1960, 12, 31, 23)])
    aware = moments.cast(pa.schema([("id", pa.timestamp("us", "UTC"))])).cast(
        pa.schema([("id", pa.timestamp("us", "CET"))])
    )
    assert (
        len(
            _folds_of(
                [
                    moments,
                    moments.to_pandas().astype(object),
                    pl.from_arrow(moments),
                    aware,
                    aware.to_pandas().astype(object),
                ]
            )
        )
        == 1
    )
    spans = _arrow([datetime.timedelta(days=1), None, datetime.timedelta(microseconds=-5)])
    assert len(_folds_of([spans, spans.to_pandas(), spans.to_pandas().astype(object), pl.from_arrow(spans)])) == 1
    hours = _arrow([datetime.time(12, 30), None, datetime.time(1, 2, 3, 4)])
    assert len(_folds_of([hours, hours.to_pandas(), pl.from_arrow(hours)])) == 1


def test_rounded_ids_are_refused():
    for values in ([2.0**53, 1.0], [1.5, -(2.0**60)]):
        with pytest.raises(TableError, match="different ids may have become one"):
            keys_of_column(pd.DataFrame({"id": values}), "id")
    keys_of_column(pd.DataFrame({"id": [1e300, np.inf, np.nan]}), "id")  # numbers that are no ids


def test_groups_of_ids_with_missing_values(case):
    model, frame = case
    ids = [None if k % 7 == 0 else 2**53 + k % 5 for k in range(N)]
    table = pa.Table.from_pandas(frame, preserve_index=False).append_column("g", pa.array(ids))
    decimals = table.set_column(table.column_names.index("g"), "g", table["g"].cast(pa.decimal128(20, 0)))
    expected = {key: ids.count(key) for key in (*range(2**53, 2**53 + 5), None)}
    for rows in (
        table,
        pl.from_arrow(table),
        pl.from_arrow(decimals),
        frame.assign(g=pd.array(ids, dtype="Int64")),
        frame.assign(g=pd.array(ids, dtype=pd.ArrowDtype(pa.int64()))),
        decimals.to_pandas(),
    ):
        counted = gw.summarize(model, rows, by="g")
        assert {key: background.n_rows for key, background in counted.items()} == expected
        assert len(gw.Explainer(model, rows).partial_dependence("a", by="g")) == 6


def test_the_hash_is_the_published_one():
    """FNV-1a and SplitMix64, by their definitions, in Python's own integers."""

    def fnv(text):
        found = 0xCBF29CE484222325
        for byte in text.encode():
            found = (found ^ byte) * 0x100000001B3 % 2**64
        return found

    def mixed(x):
        x = (x + 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return x ^ x >> 31

    texts = ["", "a", "foobar", "größe"]
    keys = keys_of_values(np.array(texts, dtype=object))
    assert keys.tolist() == [fnv(text) for text in texts]
    assert mixed(0) == 0xE220A8397B1DCDAF  # the first number of the published generator with seed 0
    numbers = [0, 1, 2**63, 2**64 - 1]
    folds = fold_of_keys(np.array(numbers, dtype=np.uint64), 20)
    assert folds.tolist() == [(mixed(x) >> 32) * 20 >> 32 for x in numbers]
    assert np.bincount(fold_of_positions(0, 100_000, 20)).min() > 4700


def test_figures_show_bands(case):
    model, frame = case
    ex = gw.Explainer(model, frame, target="y", exposure="e", folds=K, response="prediction")
    for feature in ("a", "b", "kind"):
        curve = ex.partial_dependence(feature)
        panel = curve.panel(observed=True, error=True)
        assert [band.line for band in panel.bands] == [0, 1]
        assert all("other rows, same model" in band.name for band in panel.bands)
        for backend in ("matplotlib", "plotly"):
            assert curve.plot(observed=True, error=True, backend=backend) is not None
    band = ex.partial_dependence("a").panel(error=True).bands[0]
    half = (np.array(band.high) - np.array(band.low)) / 2
    np.testing.assert_allclose(half, 2.776 * ex.partial_dependence("a").error, rtol=1e-9, atol=1e-12)
    with pytest.raises(ArgumentError, match="single curves"):
        ex.plot(["a"], error=True, by="day")
    assert ex.plot(["a"], observed=True, error=True) is not None
    assert ex.partial_dependence(["a", ("a", "b")]).plot(error=True) is not None
    assert "error" in ex.partial_dependence().to_frame()


def test_only_curves_are_counted_in_folds(case, tmp_path):
    model, frame = case
    frame.to_parquet(tmp_path / "rows.parquet")
    for source in (frame, str(tmp_path / "rows.parquet")):
        ex = gw.Explainer(model, source, folds=K)
        surface = ex.partial_dependence("a", "b")  # first, with counts of pairs
        alone = gw.Explainer(model, source, folds=K).partial_dependence("a")
        np.testing.assert_array_equal(ex.partial_dependence("a").error, alone.error)
        assert surface.values.shape == gw.Explainer(model, frame).partial_dependence("a", "b").values.shape
    once = gw.Explainer(model, iter([frame]), folds=K, fold_by="id")
    once.partial_dependence("a", "b")
    assert once.partial_dependence("a").error.shape == alone.error.shape


@pytest.mark.parametrize("response", ["raw", "prediction"])
def test_errors_of_importance(case, response):
    model, frame = case
    fold = fold_of_positions(0, N, K)
    found = gw.Explainer(model, frame, folds=K, sample_weight="w", response=response).importance()

    def importance(rows):
        other = gw.Explainer(model, rows, sample_weight="w", response=response).importance()
        return np.array([other[name] for name in found.names])

    expected = recomputed(frame, fold, importance, "w")
    np.testing.assert_allclose(found.error, expected, rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(found.top(2).error, found.error[:2])
    assert found.to_frame().columns.tolist() == ["feature", "value", "error", "kind"]
    with pytest.raises(BackgroundError, match="folds="):
        _ = gw.Explainer(model, frame).importance().error


def test_curves_on_common_cells(case):
    """In cells of two models together, what was observed is not known; errors and relativities are."""
    model, frame = case
    other = lgb.LGBMRegressor(objective="poisson", n_estimators=3, verbose=-1).fit(frame[["a", "b", "kind"]], frame.y)
    asked = {"target": "y", "exposure": "e", "folds": K}
    explainers = {"one": gw.Explainer(model, frame, **asked), "two": gw.Explainer(other, frame, **asked)}
    common = gw.compare(explainers).curves("a")["one"]
    own = explainers["one"].partial_dependence("a")
    at = np.array([-1.0, 0.0, 0.5])
    place, moved = own.axis.cell_of(at), common.axis.cell_of(at)
    np.testing.assert_array_equal(common.errors[moved], own.errors[place])
    np.testing.assert_array_equal(common.relativity(0.0)[moved], own.relativity(0.0)[place])
    with pytest.raises(BackgroundError, match="target="):
        _ = common.observed
    assert len(common.to_frame()) == common.axis.n_cells
    same = gw.compare({"one": explainers["one"], "again": gw.Explainer(model, frame, **asked)}).curves("a")["one"]
    np.testing.assert_array_equal(same.observed, own.observed)
