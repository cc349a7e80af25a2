"""Rows give the same counts, in every bit, wherever they come from."""

from __future__ import annotations

import datetime
from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from catboost import CatBoostRegressor
from deltalake import DeltaTable, write_deltalake
from lightgbm import LGBMRegressor
from pyarrow import dataset, parquet
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits
from xgboost import XGBRegressor

import glasswood as gw
from glasswood.counting._plan import make_plan
from glasswood.engines._local import count
from glasswood.errors import BackgroundError, TableError
from glasswood.tables import _parquet as _arrow
from helpers.streams import ROWS, WAYS, OnlyStreams, boosted, csv_dataset, cut, numbers, parquet_folder, write
from helpers.versions import has

ODD_NAMES = ["a.b", "a", "with blank", 'quo"te', "it's", "back`tick", "größe", "select"]
COLOURS = ["red", "green", "blue", "rouge foncé"]


@cache
def fit_numbers():
    frame, y = numbers()
    return boosted(frame, y), frame


@cache
def fit_kinds():
    """Numbers, flags, and categories that are texts, all with missing values."""
    frame, y = numbers(n_columns=2)
    generator = np.random.default_rng(1)
    colour = generator.integers(0, 5, len(frame))
    frame["colour"] = pd.Categorical.from_codes(np.where(colour == 4, -1, colour), COLOURS)
    frame["flag"] = generator.random(len(frame)) < 0.5
    y = y + np.where(colour == 2, 2, 0) + frame["flag"]
    return boosted(frame, y, categorical_features="from_dtype"), frame


def fit_catboost():
    frame, y = numbers(n_columns=2)
    colour = np.random.default_rng(1).integers(0, 4, len(frame))
    frame["colour"] = np.array(COLOURS)[colour]
    model = CatBoostRegressor(iterations=8, depth=3, cat_features=["colour"], verbose=False, allow_writing_files=False)
    return model.fit(frame, y + (colour == 2)), frame


def with_codes():
    frame, y = numbers(n_columns=2)
    code = np.random.default_rng(1).integers(0, 6, len(frame))
    frame["code"] = code
    return frame, y + np.isin(code, [1, 4])


def fit_xgboost():
    frame, y = with_codes()
    model = XGBRegressor(n_estimators=8, max_depth=3, feature_types=["q", "q", "c"], enable_categorical=True, n_jobs=1)
    return model.fit(frame, y), frame


def fit_lightgbm():
    frame, y = with_codes()
    model = LGBMRegressor(n_estimators=8, num_leaves=8, n_jobs=1, verbose=-1)
    return model.fit(frame, y, categorical_feature=["code"]), frame


def fit_odd_names():
    frame, y = numbers(n_columns=8, names=ODD_NAMES)
    return boosted(frame, y + frame.fillna(0).sum(axis=1)), frame


def fit_large_trees():
    frame, y = numbers()
    model = ExtraTreesRegressor(2, random_state=0).fit(frame.fillna(0), y)
    assert max(tree.tree_.n_leaves for tree in model.estimators_) > 1024
    return model, frame.fillna(0)


FITS = {
    "numbers": fit_numbers,
    "kinds": fit_kinds,
    "catboost": fit_catboost,
    "xgboost": fit_xgboost,
    "lightgbm": fit_lightgbm,
    "odd names": fit_odd_names,
    "large trees": fit_large_trees,
}


FEW = ["pandas", "polars", "arrow", "folder", "reader", "duckdb", "lazy polars", "iterator of pandas", "iceberg"]


@pytest.fixture(autouse=True, scope="module")
def _one_thread_of_openmp():
    """Keep the threads of scikit-learn from waiting for each other on a busy machine."""
    with threadpool_limits(1, "openmp"):
        yield


@cache
def known(name):
    """A model, its rows as an Arrow table, and its counts in one thread."""
    model, frame = FITS[name]()
    plan = make_plan(gw.read_model(model, frame), 1, None)
    return model, pa.Table.from_pandas(frame, preserve_index=False), count(plan, frame, threads=1)


@pytest.fixture
def boosting():
    model, frame = fit_numbers()
    return model, frame, pa.Table.from_pandas(frame, preserve_index=False)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["numbers", "kinds", "odd names"])
def test_every_source_gives_the_same_counts(name, way, tmp_path):
    model, table, expected = known(name)
    assert gw.summarize(model, WAYS[way](table, tmp_path)) == expected


@pytest.mark.parametrize("way", FEW)
@pytest.mark.parametrize("name", ["catboost", "xgboost", "lightgbm", "large trees"])
def test_other_models_from_several_sources(name, way, tmp_path):
    if way == "polars" and not has(*{"catboost": ("catboost", (1, 2, 8))}.get(name, ("xgboost", (3, 0)))):
        pytest.skip("older versions take no frames of Polars")
    model, table, expected = known(name)
    assert gw.summarize(model, WAYS[way](table, tmp_path)) == expected


def test_the_names_of_columns_decide_and_not_their_order(boosting, tmp_path):
    model, frame, _ = boosting
    turned = pa.Table.from_pandas(frame[["x3", "x1", "x0", "x2"]], preserve_index=False)
    expected = gw.summarize(model, frame)
    for way, make in WAYS.items():
        folder = tmp_path / way
        folder.mkdir()
        assert gw.summarize(model, make(turned, folder)) == expected, way


def test_text_files_and_arrays(boosting, tmp_path):
    model, frame, table = boosting
    expected = gw.summarize(model, frame)
    assert gw.summarize(model, csv_dataset(table, tmp_path)) == expected
    assert gw.summarize(model, (part.to_pandas().to_numpy() for part in cut(table))) == expected
    assert gw.summarize(model, frame.to_numpy()) == expected
    assert gw.summarize(model, dataset.dataset(table).scanner()) == expected


@pytest.mark.parametrize("order", [2, None])
def test_higher_orders(boosting, order, tmp_path):
    model, frame, table = boosting
    expected = gw.summarize(model, frame, order=order)
    for way in ("folder", "reader", "duckdb", "lazy polars"):
        assert gw.summarize(model, WAYS[way](table, tmp_path), order=order) == expected


def test_groups_of_columns(boosting, tmp_path):
    model, frame, table = boosting
    groups = {"both": ["x0", "x2"]}
    expected = gw.summarize(model, frame, order=2, groups=groups)
    assert gw.summarize(model, parquet_folder(table, tmp_path), order=2, groups=groups) == expected


def test_files_with_no_rows_and_tables_with_no_rows(boosting, tmp_path):
    model, frame, table = boosting
    nothing, expected = table.slice(0, 0), gw.summarize(model, frame)
    parquet.write_table(nothing, tmp_path / "a.parquet")
    empty = gw.summarize(model, tmp_path)
    assert (empty.n_rows, empty.counts.any()) == (0, False)
    assert empty + expected == expected
    write(table, tmp_path)
    assert gw.summarize(model, tmp_path) == expected
    assert gw.summarize(model, iter([nothing, table, nothing])) == expected
    assert gw.summarize(model, nothing.to_reader()) == empty
    weighted = nothing.append_column("w", pa.array([], type=pa.int64()))
    assert gw.summarize(model, weighted.to_reader(), sample_weight="w") == empty


def test_a_model_without_splits(tmp_path):
    frame, _ = numbers()
    model = boosted(frame, np.zeros(len(frame)))
    expected = gw.summarize(model, frame)
    assert expected.n_rows == len(frame)
    for way, make in WAYS.items():
        folder = tmp_path / way
        folder.mkdir()
        assert gw.summarize(model, make(pa.Table.from_pandas(frame), folder)) == expected, way


def typed_columns():
    """The same numbers as columns of many types; some are missing."""
    generator = np.random.default_rng(3)
    whole = generator.integers(0, 100, 1000)
    missing = generator.random(1000) < 0.1
    for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()):
        yield str(kind), pa.array(whole, mask=missing, type=kind)
        yield f"{kind} without nulls", pa.array(whole, type=kind)
    values = generator.normal(size=1000)
    yield "double", pa.array(values, mask=missing)
    yield "double with NaN", pa.array(np.where(missing, np.nan, values))
    yield "float", pa.array(values.astype(np.float32), mask=missing)
    yield "halffloat", pa.array(values.astype(np.float16))
    yield "bool", pa.array(values > 0, mask=missing)
    yield "null", pa.nulls(1000)
    digits = [None if x > 2 else Decimal(x).quantize(Decimal("1e-20")) for x in values.tolist()]
    yield "decimal", pa.array(digits, type=pa.decimal128(38, 20))


@pytest.fixture(scope="module")
def fitted_to_types():
    generator = np.random.default_rng(3)
    typed = np.where(generator.random(ROWS) < 0.5, generator.normal(size=ROWS), generator.integers(0, 100, ROWS))
    frame = pd.DataFrame({"typed": typed, "other": generator.normal(size=ROWS)})
    return boosted(frame, np.log1p(abs(typed)) * frame["other"])


@pytest.mark.parametrize("column", [pytest.param(column, id=kind) for kind, column in typed_columns()])
def test_columns_of_all_types_are_the_same_numbers(fitted_to_types, column, tmp_path):
    values = np.array([np.nan if x is None else float(x) for x in column.to_pylist()])
    frame = pd.DataFrame({"typed": values, "other": np.random.default_rng(4).normal(size=1000)})
    model, expected = fitted_to_types, gw.summarize(fitted_to_types, frame)
    table = pa.table({"typed": column, "other": frame["other"]})
    for way in (*FEW[:-1], "stream of polars", "iterator of arrow", "narwhals of pandas"):
        folder = tmp_path / way
        folder.mkdir()
        assert gw.summarize(model, WAYS[way](table, folder)) == expected, way


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_texts_of_all_types_are_the_same_categories(kind, tmp_path):
    model, frame = fit_kinds()
    expected = gw.summarize(model, frame)
    texts = pa.array(frame["colour"].astype(object).where(frame["colour"].notna(), None).tolist(), type=pa.string())
    texts = texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)
    table = pa.Table.from_pandas(frame).set_column(2, "colour", texts)
    for way in ("arrow", "polars", "file", "reader", "duckdb", "lazy polars", "stream of polars", "iterator of arrow"):
        folder = tmp_path / way
        folder.mkdir()
        assert gw.summarize(model, WAYS[way](table, folder)) == expected, way


def test_dictionaries_may_differ_from_file_to_file(tmp_path):
    model, frame = fit_kinds()
    parts = [frame[frame["colour"] == "blue"], frame[frame["colour"] != "blue"]]
    for number, part in enumerate(parts):
        texts = part.assign(colour=part["colour"].cat.remove_unused_categories())
        texts.to_parquet(tmp_path / f"{number}.parquet", index=False)
    assert gw.summarize(model, tmp_path) == gw.summarize(model, pd.concat(parts))


@pytest.mark.parametrize(
    "column",
    [pa.array([[1.0]] * 3000), pa.array([datetime.date(2026, 1, 1)] * 3000), pa.array(["text"] * 3000)],
    ids=["lists", "dates", "texts"],
)
def test_what_is_no_number_is_refused_with_the_name_of_the_column(boosting, column, tmp_path):
    model, _, table = boosting
    with pytest.raises(TableError, match="'x1'"):
        gw.summarize(model, parquet_folder(table.set_column(1, "x1", column), tmp_path))


# ------------------------------------------------------------------------------------------------- what is read


def test_only_the_columns_that_the_model_splits_on_are_read(monkeypatch, tmp_path):
    frame, y = numbers(n_columns=6)
    model = boosted(frame.assign(x4=0.0, x5=0.0), y)
    used = [f"x{place}" for place in gw.read_model(model).used_features]
    assert 0 < len(used) <= 4
    table = pa.Table.from_pandas(frame).append_column("extra", pa.nulls(len(frame), pa.float64()))
    paths = write(table, tmp_path)
    asked = []
    honest = parquet.ParquetFile.iter_batches

    def watched(file, *arguments, columns, **settings):
        asked.append(columns)
        return honest(file, *arguments, columns=columns, **settings)

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", watched)
    gw.summarize(model, paths)
    assert len(asked[0]) == 7  # the first rows, on which the model is checked
    assert len(asked) > len(paths)
    assert all(columns == used for columns in asked[1:])


def test_a_damaged_column_that_nobody_needs_does_no_harm(boosting, tmp_path):
    model, frame, table = boosting
    paths = write(table.append_column("extra", pa.array(np.arange(len(frame)) * 1.5)), tmp_path)
    chunk = parquet.read_metadata(paths[1]).row_group(2).column(4)
    assert chunk.path_in_schema == "extra"
    content = bytearray(paths[1].read_bytes())
    first = chunk.dictionary_page_offset or chunk.data_page_offset
    content[first : first + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    paths[1].write_bytes(content)
    with pytest.raises(OSError, match=r"."):
        parquet.read_table(paths[1])
    assert gw.summarize(model, tmp_path) == gw.summarize(model, frame)


def test_lazy_frames_are_asked_for_the_needed_columns_only(monkeypatch):
    frame, y = numbers()
    model = boosted(frame.assign(x3=0.0), y)
    asked = []
    honest = pl.LazyFrame.collect_batches
    monkeypatch.setattr(
        pl.LazyFrame, "collect_batches", lambda lazy: asked.append(lazy.collect_schema().names()) or honest(lazy)
    )
    gw.summarize(model, pl.from_pandas(frame).lazy())
    assert asked == [["x0", "x1", "x2"]]


def test_lazy_frames_of_old_versions_are_refused(monkeypatch):
    frame, y = numbers()
    model = boosted(frame, y)
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    with pytest.raises(TableError, match=r"needs Polars 1\.34 or newer; update Polars, or pass frame\.collect\(\)"):
        gw.summarize(model, pl.from_pandas(frame).lazy())


def test_very_many_files_are_counted_file_by_file(boosting, monkeypatch, tmp_path):
    model, frame, table = boosting
    monkeypatch.setattr(_arrow, "MANY_FILES", 2)
    assert gw.summarize(model, write(table, tmp_path)) == gw.summarize(model, frame)


def test_paths_that_lead_nowhere(boosting, tmp_path):
    model, _, table = boosting
    for path in (tmp_path / "nowhere.parquet", tmp_path / "*.parquet", tmp_path):
        with pytest.raises(TableError, match=r"nowhere|no file matches|no Parquet file"):
            gw.summarize(model, path)
    with pytest.raises(TableError, match="no table"):
        gw.summarize(model, iter([]))
    write(table, tmp_path / "brackets [1]", 1)
    assert gw.summarize(model, tmp_path / "brackets [1]" / "part-0.parquet").n_rows == table.num_rows


# ------------------------------------------------------------------------------------------------- weights


@pytest.fixture(scope="module")
def weighted():
    """A model, its rows, and an Arrow table of them with columns of weights."""
    model, frame = fit_numbers()
    generator = np.random.default_rng(5)
    table = pa.Table.from_pandas(frame).append_column("whole", pa.array(generator.integers(0, 9, len(frame))))
    table = table.append_column("small", pa.array(generator.integers(0, 9, len(frame)).astype(np.uint8)))
    table = table.append_column("flag", pa.array(generator.random(len(frame)) < 0.5))
    return model, frame, table.append_column("fraction", pa.array(generator.random(len(frame))))


@pytest.mark.parametrize("weight", ["whole", "small", "flag"])
def test_whole_weights_are_exact(weighted, weight, tmp_path):
    model, frame, table = weighted
    expected = gw.summarize(model, frame, sample_weight=table[weight].to_numpy())
    for way, make in WAYS.items():
        folder = tmp_path / way
        folder.mkdir()
        assert gw.summarize(model, make(table, folder), sample_weight=weight) == expected, way


def test_other_weights_are_the_same_from_all_sources(weighted, tmp_path):
    model, frame, table = weighted
    exact = gw.summarize(model, frame, sample_weight=table["fraction"].to_numpy())
    found = {}
    for way, make in WAYS.items():
        folder = tmp_path / way
        folder.mkdir()
        found[way] = gw.summarize(model, make(table, folder), sample_weight="fraction")
        close = np.abs(found[way].counts * found[way].unit - exact.counts * exact.unit)
        assert close.max() <= 1e-12 * exact.weight, way
        assert found[way] == found[next(iter(WAYS))], way
    assert len(found) >= 20


def test_weights_that_do_not_fit(weighted, tmp_path):
    model, frame, table = weighted
    rows = len(frame)
    for column, message in (
        (np.full(rows, -1), "not negative; the column 'heavy' has -1$"),
        (np.full(rows, -0.5), "not negative; the column 'heavy' has -0.5$"),
        (np.full(rows, np.nan), "finite.*'heavy' has nan, or a missing value"),
        (np.full(rows, np.inf), "finite.*'heavy' has inf"),
        (np.full(rows, 1e308), r"the column 'heavy' sum to more than 1\.8e\+308"),
        (np.full(rows, "many"), "weights must be numbers, but the column 'heavy' holds String"),
    ):
        heavy = table.append_column("heavy", pa.array(column))
        with pytest.raises(ValueError, match=message):
            gw.summarize(model, heavy.to_reader(), sample_weight="heavy")
    with pytest.raises(TableError, match="no column 'nowhere'"):
        gw.summarize(model, table.to_reader(), sample_weight="nowhere")
    with pytest.raises(TableError, match="name columns of a source"):
        gw.summarize(model, table.to_reader(), sample_weight=np.ones(rows))


# ------------------------------------------------------------------------------------------------- groups of rows


@pytest.fixture(scope="module")
def grouped():
    """A model, its rows, and an Arrow table of them with columns that tell groups."""
    model, frame = fit_numbers()
    generator = np.random.default_rng(6)
    rows = len(frame)

    def column(values):
        return pa.array(values, mask=generator.random(rows) < 0.1)

    table = pa.Table.from_pandas(frame)
    table = table.append_column("text", column(np.array(["a", "b", "ü", ""])[generator.integers(0, 4, rows)]))
    table = table.append_column("number", column(generator.integers(-2, 3, rows)))
    table = table.append_column("share", column(np.array([0.5, -1.25, np.nan])[generator.integers(0, 3, rows)]))
    table = table.append_column("flag", column(generator.random(rows) < 0.5))
    day = np.array(["2026-01-01", "2026-02-01"], dtype="datetime64[D]")[generator.integers(0, 2, rows)]
    return model, frame, table.append_column("day", column(day))


def brute_groups(model, frame, table, by):
    """Count each group alone."""
    keys = list(zip(*(table[name].to_pylist() for name in by), strict=True))
    keys = [tuple(None if part != part else part for part in key) for key in keys]
    keys = [key if len(by) > 1 else key[0] for key in keys]
    places = pd.Series(np.arange(len(keys))).groupby([str(key) for key in keys]).indices
    return {keys[rows[0]]: gw.summarize(model, frame.iloc[rows]) for rows in places.values()}


@pytest.mark.parametrize("by", ["text", "number", "share", "flag", "day", "text number", "share flag day"])
def test_groups_are_what_their_rows_are_alone(grouped, by, tmp_path):
    model, frame, table = grouped
    by = by.split()
    expected = brute_groups(model, frame, table, by)
    whole = gw.summarize(model, frame)
    for way in (*FEW, "delta"):
        folder = tmp_path / way
        folder.mkdir()
        found = gw.summarize(model, WAYS[way](table, folder), by=by if len(by) > 1 else by[0])
        assert found == expected, way
        assert sum(list(found.values())[1:], next(iter(found.values()))) == whole


def test_groups_with_weights_and_of_higher_order(grouped, tmp_path):
    model, frame, table = grouped
    weight = np.arange(len(frame)) % 3
    table = table.append_column("w", pa.array(weight))
    for source in (table, parquet_folder(table, tmp_path), table.to_reader()):
        found = gw.summarize(model, source, by="flag", sample_weight="w", order=2)
        for key, background in found.items():
            rows = np.array([value is key for value in table["flag"].to_pylist()])
            assert background == gw.summarize(model, frame[rows], sample_weight=weight[rows], order=2)


def test_groups_of_a_table_in_memory_as_an_array(grouped):
    model, frame, table = grouped
    labels = table["text"].to_pylist()
    expected = gw.summarize(model, table, by="text")
    assert gw.summarize(model, frame, by=np.array(labels, dtype=object)) == expected
    assert gw.summarize(model, frame.to_numpy(), by=labels) == expected
    with pytest.raises(TableError, match=r"by= has .* labels, but the table has .* rows"):
        gw.summarize(model, frame, by=labels[:-1])
    for nowhere in ("nowhere", ["text", "nowhere"]):
        with pytest.raises(TableError, match=r"nowhere|2 labels"):
            gw.summarize(model, table, by=nowhere)
        with pytest.raises(TableError, match="nowhere"):
            gw.summarize(model, table.to_reader(), by=nowhere)


def test_groups_come_in_order(grouped):
    model, _, table = grouped
    assert list(gw.summarize(model, table.to_reader(), by="number")) == [-2, -1, 0, 1, 2, None]
    assert list(gw.summarize(model, table.filter(pa.compute.is_valid(table["day"])).to_reader(), by="day")) == [
        datetime.date(2026, 1, 1),
        datetime.date(2026, 2, 1),
    ]


# ------------------------------------------------------------------------------------------------- partitions


@pytest.fixture(scope="module")
def partitioned(tmp_path_factory):
    """A model that splits on the columns of partitions, its rows, and a folder of them."""
    frame, y = numbers()
    generator = np.random.default_rng(7)
    frame["year"] = generator.integers(2020, 2024, len(frame))
    frame["city"] = np.array(["Köln", "a b", "x=y/z", "%41"])[generator.integers(0, 4, len(frame))]
    y = y + (frame["year"] > 2021) * 2
    folder = tmp_path_factory.mktemp("partitioned")
    parquet.write_to_dataset(pa.Table.from_pandas(frame), folder, partition_cols=["year", "city"])
    return boosted(frame[["x0", "x1", "x2", "x3", "year"]], y), frame, folder


def test_partitions_are_columns(partitioned):
    model, frame, folder = partitioned
    expected = gw.summarize(model, frame)
    assert "year" in [gw.read_model(model).feature_names[f] for f in gw.read_model(model).used_features]
    assert gw.summarize(model, folder) == expected
    assert gw.summarize(model, str(folder / "**" / "*.parquet")) == expected
    assert gw.summarize(model, sorted(folder.rglob("*.parquet"))) == expected
    assert gw.summarize(model, dataset.dataset(folder, partitioning="hive")) == expected


@pytest.mark.parametrize("by", ["year", "city", "city year"])
def test_groups_by_partitions(partitioned, by):
    model, frame, folder = partitioned
    by = by.split()
    expected = gw.summarize(model, frame, by=by)
    assert len(expected) == 4 ** len(by)
    assert gw.summarize(model, folder, by=by) == expected
    assert gw.summarize(model, pl.scan_parquet(folder, hive_partitioning=True), by=by) == expected


def test_a_model_that_knows_partitions_only(partitioned):
    _, frame, folder = partitioned
    model = boosted(frame[["year"]], frame["year"] % 2)
    assert gw.summarize(model, folder) == gw.summarize(model, frame)
    assert gw.summarize(model, folder, by="year") == gw.summarize(model, frame, by="year")


@pytest.mark.parametrize("column", ["year", "city"])
def test_partitioned_delta_tables(partitioned, column, tmp_path):
    model, frame, _ = partitioned
    write_deltalake(str(tmp_path), pa.Table.from_pandas(frame), partition_by=[column])
    assert gw.summarize(model, DeltaTable(str(tmp_path))) == gw.summarize(model, frame)
    assert gw.summarize(model, DeltaTable(str(tmp_path)), by=column) == gw.summarize(model, frame, by=column)


def test_missing_partitions(boosting, tmp_path):
    model, frame, table = boosting
    place = pa.array(["here", None, "there"] * (len(frame) // 3))
    parquet.write_to_dataset(table.append_column("place", place), tmp_path / "hive", partition_cols=["place"])
    write_deltalake(str(tmp_path / "delta"), table.append_column("place", place), partition_by=["place"])
    expected = gw.summarize(model, frame, by=place.to_pylist())
    assert list(expected) == ["here", "there", None]
    assert gw.summarize(model, tmp_path / "hive", by="place") == expected
    assert gw.summarize(model, DeltaTable(str(tmp_path / "delta")), by="place") == expected


def test_a_delta_table_that_has_changed(boosting, tmp_path):
    """Rows that were deleted are not counted, and a column that came later is missing in older files."""
    model, frame, table = boosting
    half = len(frame) // 2
    write_deltalake(str(tmp_path), table.slice(0, half).drop(["x2"]))
    write_deltalake(str(tmp_path), table.slice(half), mode="append", schema_mode="merge")
    frame = frame.copy()
    frame.loc[frame.index < half, "x2"] = np.nan
    assert gw.summarize(model, DeltaTable(str(tmp_path))) == gw.summarize(model, frame)
    DeltaTable(str(tmp_path)).delete("x0 > 1")
    assert gw.summarize(model, DeltaTable(str(tmp_path))) == gw.summarize(model, frame[~(frame["x0"] > 1)])


# ------------------------------------------------------------------------------------------------- models of arrays


@pytest.fixture(scope="module")
def nameless():
    frame, y = numbers()
    return boosted(frame.to_numpy(), y), frame


@pytest.mark.parametrize("way", ["pandas", "arrow", "folder", "reader", "duckdb", "lazy polars", "iterator of pandas"])
def test_columns_of_models_without_names_are_counted_through(nameless, way, tmp_path):
    model, frame = nameless
    table = pa.Table.from_pandas(frame)
    assert gw.summarize(model, WAYS[way](table, tmp_path)) == gw.summarize(model, frame.to_numpy())
    weight = np.arange(len(frame)) % 3
    label = ["a", "b", "c"] * (len(frame) // 3)
    more = table.add_column(1, "w", pa.array(weight)).append_column("g", pa.array(label))
    (tmp_path / "more").mkdir()
    found = gw.summarize(model, WAYS[way](more, tmp_path / "more"), sample_weight="w", by="g")
    assert found == gw.summarize(model, frame.to_numpy(), sample_weight=weight, by=label)
    with pytest.raises(TableError, match="has 6 columns, but the model was trained on 4"):
        gw.summarize(model, WAYS[way](more, tmp_path / "more"))


def test_explaining_models_without_names(nameless, tmp_path):
    model, frame = nameless
    weight = np.arange(len(frame)) % 3
    table = pa.Table.from_pandas(frame).add_column(1, "w", pa.array(weight))
    asked = gw.Explainer(model, parquet_folder(table, tmp_path), sample_weight="w")
    direct = gw.Explainer(model, frame.to_numpy(), sample_weight=weight)
    np.testing.assert_array_equal(asked.partial_dependence(1).values, direct.partial_dependence(1).values)


def test_numbers_that_are_equal_are_one_group(nameless):
    model, frame = nameless
    zeros = np.where(np.arange(len(frame)) % 2, 0.0, -0.0)
    zeros[::5] = np.nan
    zeros[::10] = -zeros[::10]
    table = pa.Table.from_pandas(frame).append_column("z", pa.array(zeros))
    expected = gw.summarize(model, frame.to_numpy(), by=zeros)
    assert list(expected) == [0, None]
    for source in (table, dataset.dataset(table), table.to_pandas(), pl.from_arrow(table), pl.from_arrow(table).lazy()):
        assert gw.summarize(model, source, by="z") == expected
        assert gw.summarize(model, source, by=["z", "z"]).keys() == {(0, 0), (None, None)}


# ------------------------------------------------------------------------------------------------- explaining


def test_explaining_a_path_is_explaining_the_rows(boosting, tmp_path):
    model, frame, table = boosting
    direct, asked = gw.Explainer(model, frame), gw.Explainer(model, parquet_folder(table, tmp_path))
    for features in (("x0",), ("x0", "x1")):  # the second counts again
        ours, theirs = asked.partial_dependence(*features), direct.partial_dependence(*features)
        np.testing.assert_array_equal(ours.values, theirs.values)
    np.testing.assert_array_equal(asked.partial_dependence("x0").rows, direct.partial_dependence("x0").rows)
    rows = frame[:20]
    np.testing.assert_array_equal(asked.shap_values(rows).values, direct.shap_values(rows).values)


def test_a_stream_is_read_once(boosting):
    model, frame, table = boosting
    asked = gw.Explainer(model, table.to_reader())
    np.testing.assert_array_equal(
        asked.partial_dependence("x0").values, gw.Explainer(model, frame).partial_dependence("x0").values
    )
    with pytest.raises(TableError, match=r"cannot be read again.*order=2"):
        asked.partial_dependence("x0", "x1")
    asked.partial_dependence("x2")


def test_sources_that_can_be_read_again_are(boosting, tmp_path):
    model, _, table = boosting
    for way in ("duckdb", "lazy polars", "dataset of arrow files", "filtered dataset", "delta", "iceberg"):
        folder = tmp_path / way
        folder.mkdir()
        asked = gw.Explainer(model, WAYS[way](table, folder))
        assert asked.partial_dependence("x0").values.shape
        assert asked.partial_dependence("x0", "x1").values.shape


def test_weights_of_a_source_that_is_explained(weighted, tmp_path):
    model, frame, table = weighted
    asked = gw.Explainer(model, parquet_folder(table, tmp_path), sample_weight="whole")
    direct = gw.Explainer(model, frame, sample_weight=table["whole"].to_numpy())
    np.testing.assert_array_equal(asked.partial_dependence("x0").values, direct.partial_dependence("x0").values)


def test_questions_that_need_rows_say_so(boosting, tmp_path):
    model, frame, table = boosting
    classifier = HistGradientBoostingClassifier(max_iter=3).fit(frame, frame["x0"] > 0)
    path = parquet_folder(table, tmp_path)
    with pytest.raises(BackgroundError, match="a surface needs the rows themselves on this scale"):
        gw.Explainer(classifier, table.to_reader(), response="probability").partial_dependence("x0", "x1")
    assert gw.Explainer(classifier, path, response="probability").partial_dependence("x0").values.shape
    with pytest.raises(TableError, match="rows="):
        gw.Explainer(model, table.to_reader()).ice("x0")
    asked = gw.Explainer(model, path)
    assert asked.ice("x0").values.shape[0] == len(frame)
    assert asked.ice("x0", rows=frame[:5]).values.shape[0] == 5
    pipeline = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=2)).fit(frame, frame["x1"].fillna(0))
    assert gw.summarize(pipeline, path) == gw.summarize(pipeline, frame)


def test_engines_and_checkpoints_are_for_files(boosting, tmp_path):
    model, frame, table = boosting
    for source in (frame, table.to_reader(), OnlyStreams(table), iter([frame])):
        with pytest.raises(TableError, match="checkpoint= "):
            gw.summarize(model, source, checkpoint=tmp_path / "kept")
    with pytest.raises(TableError, match="engine"):
        gw.summarize(model, table.to_reader(), engine="ray")
    known = 'engine must be "auto", "threads", "dask", "spark", "ray", a Dask Client or a SparkSession, not '
    with pytest.raises(TableError, match=f"{known}'nonsense'"):
        gw.summarize(model, frame, engine="nonsense")
    with pytest.raises(TableError, match=f"{known}object"):
        gw.summarize(model, parquet_folder(table, tmp_path), engine=object())
    assert not (tmp_path / "kept").exists()


def test_keys_of_groups_that_are_hard_to_keep(boosting, tmp_path):
    model, frame, table = boosting
    thirds = len(frame) // 3
    for name, column in {
        "nanoseconds": pa.array([1, 2, None] * thirds, pa.timestamp("ns")),
        "zones": pa.array([10**15, 10**15 + 1, None] * thirds, pa.timestamp("us", "Europe/Berlin")),
        "large": pa.array([2**63 + 1, 5, None] * thirds, pa.uint64()),
        "decimals": pa.array([Decimal("1.50"), Decimal("-2.25"), None] * thirds),
        "bytes": pa.array([b"a", b"b", None] * thirds),
    }.items():
        extended = table.append_column("g", column)
        paths = write(extended, tmp_path / name)
        expected = gw.summarize(model, extended, by="g")
        assert len(expected) == 3
        for _ in range(2):
            assert gw.summarize(model, paths, by="g", checkpoint=tmp_path / "kept" / name) == expected
    nothing = pa.concat_tables([part.append_column("g", pa.nulls(len(part))) for part in cut(table)])
    assert gw.summarize(model, nothing, by="g") == {None: gw.summarize(model, frame)}
    lists = table.append_column("g", pa.array([[1]] * len(frame)))
    for source in (lists, lists.to_reader()):
        with pytest.raises(TableError, match=r"'g'.*single value"):
            gw.summarize(model, source, by="g")


def test_a_list_of_frames_is_a_table_in_parts(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    model = gw.read_model(HistGradientBoostingRegressor(max_iter=5).fit(X, X["a"] * X["b"]))
    whole = gw.summarize(model, X)
    assert gw.summarize(model, [X[:100], X[100:]]) == whole
    for name, part in (("one", X[:100]), ("two", X[100:])):
        (tmp_path / name).mkdir()
        part.to_parquet(tmp_path / name / "rows.parquet")
    assert gw.summarize(model, [tmp_path / "one", tmp_path / "two"]) == whole
    assert gw.summarize(model, str(tmp_path / "*")) == whole


def test_weights_of_a_column_have_one_unit_everywhere(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    model = gw.read_model(HistGradientBoostingRegressor(max_iter=5).fit(X, X["a"] * X["b"]))
    weighted = X.assign(w=rng.random(300))
    weighted.to_parquet(tmp_path / "rows.parquet")
    in_memory = gw.summarize(model, weighted, sample_weight="w")
    assert in_memory == gw.summarize(model, tmp_path / "rows.parquet", sample_weight="w")
    assert in_memory == gw.summarize(model, X, sample_weight=weighted["w"])  # whose sums need less than 62 bits


NAMES = ["a.b", "`c`", "*", "d`e", "^f.*$", "f1", "g[0]", "G[0]", "h i", '"', "'; --"]


@pytest.mark.parametrize("way", ["file", "LazyFrame", "DuckDB", "stream", "iterator", "frames"])
def test_names_of_columns_may_hold_anything(way, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    rows = np.random.default_rng(0).normal(size=(300, len(NAMES) + 1))
    called = [*NAMES, "" if way != "iterator" else "named"]  # Polars has no empty name
    if way == "DuckDB":  # which has none either, and does not tell g from G
        called = [*("other" if name == "G[0]" else name for name in NAMES), "named"]
    table = pa.table(dict(zip(called, rows.T, strict=True)))
    model = ExtraTreesRegressor(5, max_depth=5, random_state=0).fit(table.to_pandas(), rows.sum(axis=1))
    parquet.write_table(table, tmp_path / "rows.parquet")
    sources = {
        "file": lambda: tmp_path / "rows.parquet",
        "LazyFrame": lambda: pl.scan_parquet(tmp_path / "rows.parquet"),
        "DuckDB": lambda: duckdb.sql(f"SELECT * FROM '{tmp_path / 'rows.parquet'}'"),
        "stream": lambda: table.to_reader(max_chunksize=100),
        "iterator": lambda: iter([pl.DataFrame(dict(zip(called, rows.T, strict=True)))]),
        "frames": lambda: [table.slice(0, 100).to_pandas(), table.slice(100).to_pandas()],
    }
    expected = gw.summarize(model, table, by="*", order=1)
    assert gw.summarize(model, sources[way](), by="*", order=1) == expected
    assert gw.summarize(model, sources[way]()) == gw.summarize(model, table)
