"""One contract for all engines: the counts are those of one thread of NumPy, in every bit, wherever the rows are."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, PowerTransformer, StandardScaler

import glasswood as gw
from glasswood.counting import _job
from glasswood.counting._partial import Partial
from glasswood.engines import _pass as _passes
from glasswood.errors import TableError
from glasswood.parallel._progress import hidden
from helpers.clusters_spark import SPARK_WARNINGS
from helpers.derived import with_derived_columns

# Of Dask's and Ray's own readers: not ours.
READERS_WARN = [
    "ignore:The inplace keyword:DeprecationWarning",
    "ignore:`use_:DeprecationWarning",
]

pytestmark = [
    pytest.mark.xdist_group("engines"),
    *[pytest.mark.filterwarnings(warning) for warning in [*SPARK_WARNINGS, *READERS_WARN]],
]


@contextmanager
def dask_files(request, folder):
    yield folder, request.getfixturevalue("dask_nodes").client


@contextmanager
def dask_files_by_name(request, folder):
    with request.getfixturevalue("dask_nodes").client.as_current():
        yield folder, "dask"


@contextmanager
def dask_frame(request, folder):
    import dask.dataframe as dd

    with request.getfixturevalue("dask_nodes").client.as_current():
        yield dd.read_parquet(folder), "auto"


@contextmanager
def dask_frame_and_client(request, folder):
    import dask.dataframe as dd

    yield dd.read_parquet(folder), request.getfixturevalue("dask_nodes").client


@contextmanager
def dask_frame_alone(request, folder):
    import dask.dataframe as dd

    yield dd.read_parquet(folder), "auto"


@contextmanager
def ray_files(request, folder):
    request.getfixturevalue("ray_nodes")
    yield folder, "ray"


@contextmanager
def ray_dataset(request, folder):
    import ray

    request.getfixturevalue("ray_nodes")
    yield ray.data.read_parquet(str(folder)), "auto"


@contextmanager
def ray_dataset_held(request, folder):
    import ray

    request.getfixturevalue("ray_nodes")
    whole = dataset.dataset(folder, partitioning="hive")
    files = [file.to_table(whole.schema) for file in whole.get_fragments()]
    yield ray.data.from_arrow(files), "ray"


@contextmanager
def spark_files(request, folder):
    yield folder, request.getfixturevalue("spark_nodes").spark


@contextmanager
def spark_files_by_name(request, folder):
    request.getfixturevalue("spark_nodes")
    yield folder, "spark"


@contextmanager
def spark_frame(request, folder):
    yield request.getfixturevalue("spark_nodes").spark.read.parquet(str(folder)), "auto"


@contextmanager
def spark_frame_in_slices(request, folder):
    with pytest.MonkeyPatch.context() as patch, spark_frame(request, folder) as found:
        patch.setattr(_job, "SLICE", 50)
        yield found


@contextmanager
def connect_files(request, folder):
    with request.getfixturevalue("spark_nodes").connect_session() as session:
        yield folder, session


@contextmanager
def connect_frame(request, folder):
    with request.getfixturevalue("spark_nodes").connect_session() as session:
        yield session.read.parquet(str(folder)), "spark"


FILES = [dask_files, dask_files_by_name, ray_files, spark_files, spark_files_by_name, connect_files]
FRAMES = [
    dask_frame,
    dask_frame_and_client,
    dask_frame_alone,
    ray_dataset,
    ray_dataset_held,
    spark_frame,
    spark_frame_in_slices,
    connect_frame,
]
ONE_OF_EACH = [dask_files, dask_frame, ray_files, ray_dataset_held, spark_files, spark_frame, connect_frame]


# Every session of Spark Connect, and every way of cutting sums, starts Python workers of its own: seconds each. Ray's
# own reader of Parquet starts an actor.
COSTLY = {connect_files, connect_frame, spark_frame_in_slices, spark_files_by_name, dask_frame_and_client, ray_dataset}


def names(ways, costly=None):
    """Try each way; `costly` ones, if given, in the long form only."""
    seldom = {way: [pytest.mark.slow] for way in costly or ()}
    return pytest.mark.parametrize(
        "way", [pytest.param(way, id=way.__name__, marks=seldom.get(way, [])) for way in ways]
    )


@pytest.fixture
def run(request, one_each, capfd):
    """A function that summarizes the files in a folder in some way. Nothing may be printed meanwhile."""

    def run(way, model, folder, **options):
        with way(request, folder) as (source, engine):
            capfd.readouterr()
            with hidden(unless=False):  # no bar, however slow the machine is
                found = gw.summarize(model, source, engine=engine, **options)
            printed = "".join(capfd.readouterr()).splitlines()
            assert [line for line in printed if "(raylet)" not in line] == []  # how busy Ray's own nodes are
        return found

    return run


@names([*FILES, *FRAMES])
def test_the_counts_are_those_of_numpy(run, way, case):
    assert run(way, case.model, case.folder) == case.expected()


@names(
    [dask_files, ray_files, spark_files, connect_files, *(way for way in FRAMES if way is not ray_dataset)],
    COSTLY - {connect_frame, spark_frame_in_slices},
)
def test_groups_weights_and_pairs(run, way, few):
    found = run(way, few.model, few.folder, order=2, by=["region", "day"], sample_weight="weight")
    assert found == few.expected_by(["region", "day"], 2, "weight")


@names([*ONE_OF_EACH, spark_frame_in_slices], COSTLY)
def test_weights_of_any_size(run, way, few):
    found = run(way, few.model, few.folder, by="day", sample_weight="share")
    assert found == gw.summarize(few.model, few.frame, by="day", sample_weight="share")
    assert all(background.unit < 1 for background in found.values())


USED = ["x0", "x1", "x2", "x3", "colour", "flag"]


@pytest.fixture(scope="module")
def classifier(few):
    kind = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=6, categorical_features="from_dtype")
    score = few.frame["x0"].fillna(0) + (few.frame["colour"] == "blue") * few.frame["x1"].fillna(1)
    return kind.fit(few.frame[USED], np.digitize(score, [-0.5, 0.5]))


@names([*ONE_OF_EACH, spark_frame_in_slices], COSTLY)
def test_probabilities(run, way, few, classifier):
    asked = {"response": "probability", "by": "day", "sample_weight": "weight"}
    found = run(way, classifier, few.folder, **asked)
    expected = gw.summarize(classifier, few.frame, **asked)
    assert found == expected
    curves = [
        gw.Explainer(classifier, part[3], response="probability").partial_dependence("x0") for part in (found, expected)
    ]
    np.testing.assert_array_equal(*(curve.heights for curve in curves))
    np.testing.assert_array_equal(*(curve.std() for curve in curves))


@names([*ONE_OF_EACH, spark_frame_in_slices], COSTLY)
def test_accumulated_local_effects(run, way, few, classifier):
    first = {"answers": ["ale"], "sample_weight": "weight"}
    for asked in (first, {"answers": {"ale": {"bins": 6}}, "by": "day", "response": "probability"}):
        found = run(way, classifier, few.folder, **asked)
        expected = gw.summarize(classifier, few.frame, **asked)
        assert found == expected
    for name in ("x0", "colour"):
        ales = [gw.Explainer(classifier, part[3]).ale(name) for part in (found, expected)]
        np.testing.assert_array_equal(*(ale.heights for ale in ales))
        assert ales[0].levels == ales[1].levels


@names([*ONE_OF_EACH, spark_frame_in_slices], COSTLY)
def test_what_was_observed_in_folds(run, way, few):
    asked = {"target": "unused", "folds": 3, "fold_by": "unused", "by": "day", "sample_weight": "weight"}
    answers = {"permutation_importance": {"loss": "absolute_error"}, "importance": {}, "row_monotonicity": {}}
    asked |= {"answers": answers}
    found, expected = run(way, few.model, few.folder, **asked), gw.summarize(few.model, few.frame, **asked)
    assert found == expected
    curves = [gw.Explainer(few.model, part[3]).partial_dependence("x0") for part in (found, expected)]
    np.testing.assert_array_equal(*(curve.observed for curve in curves))
    np.testing.assert_array_equal(*(curve.error for curve in curves))
    explainers = [gw.Explainer(few.model, part[3]) for part in (found, expected)]
    permuted = [ex.permutation_importance(loss="absolute_error") for ex in explainers]
    np.testing.assert_array_equal(*(one.values for one in permuted))
    np.testing.assert_array_equal(*(one.error for one in permuted))
    assert [ex.importance().kind for ex in explainers] == ["total", "total"]
    rows = [ex.row_monotonicity() for ex in explainers]
    np.testing.assert_array_equal(*(one.falling for one in rows))
    np.testing.assert_array_equal(*(one.bounds for one in rows))


@names([dask_frame, ray_files, spark_files], COSTLY)
def test_a_combination_of_models(run, way, few):
    numbers = few.frame[["x2", "x3"]]
    members = [(str(seed), HistGradientBoostingRegressor(max_iter=3, random_state=seed)) for seed in range(2)]
    model = StackingRegressor(members, Ridge(), cv=2).fit(numbers, few.frame["x2"].fillna(0) ** 2)
    found = run(way, model, few.folder, sample_weight="share")
    assert found == gw.summarize(model, few.frame, sample_weight="share")


@names([dask_frame, dask_files, ray_files, spark_files], COSTLY)
def test_derived_columns(run, way, few):
    numbers = few.frame[["x0", "x1", "x2", "x3"]]
    trained = HistGradientBoostingRegressor(max_iter=9, max_leaf_nodes=12).fit(numbers, numbers.fillna(0).sum(axis=1))
    model = with_derived_columns(gw.read_model(trained))
    found = run(way, model, few.folder, sample_weight="share", answers=["importance"])
    assert found == gw.summarize(model, few.frame, sample_weight="share", answers=["importance"])
    assert found.counts.size == 0


def piped(few, middle):
    """A pipeline with an imputer, a scaler, an encoder, and a transformer of one more column."""
    used = few.frame[["x0", "x1", "x2", "colour", "flag"]].assign(colour=few.frame["colour"].astype(object))
    hot = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    steps = make_column_transformer(
        (hot, ["colour"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["x0", "x1"]),
        (middle, ["x2"]),
        remainder="passthrough",
        sparse_threshold=0,
    )
    label = used["x0"].fillna(0) + np.cos(3 * used["x2"].fillna(0)) + (used["colour"] == "blue") > 0.5
    return make_pipeline(steps, HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=8)).fit(used, label), used


@names(ONE_OF_EACH, COSTLY)
@pytest.mark.parametrize("folded", [pytest.param(True, marks=pytest.mark.slow), False])
def test_pipelines(run, way, few, folded):
    """What cannot be folded goes to the workers, a function that only this file knows included."""
    middle = PowerTransformer() if folded else FunctionTransformer(lambda x: np.cos(3 * x))
    model, used = piped(few, middle)
    rows = used.assign(day=few.frame["day"], weight=few.frame["weight"])
    for asked in ({}, {"response": "probability", "by": "day", "sample_weight": "weight"}):
        assert run(way, model, few.folder, **asked) == gw.summarize(model, rows, **asked)


@names([dask_files, ray_files, spark_frame], COSTLY)
def test_an_explainer_of_a_cluster_on_the_scale_of_probabilities(way, few, classifier, request):
    expected = gw.Explainer(classifier, few.frame[USED], response="probability").partial_dependence("x1")
    with way(request, few.folder) as (source, _):
        found = gw.Explainer(classifier, source, response="probability").partial_dependence("x1")
    np.testing.assert_array_equal(found.heights, expected.heights)
    np.testing.assert_array_equal(found.std(), expected.std())
    assert found.ends == expected.ends


@names(ONE_OF_EACH, COSTLY)
def test_a_single_row(run, way, few, tmp_path):
    path = tmp_path / "one.parquet"
    parquet.write_table(parquet.read_table(next(few.folder.rglob("*.parquet")), partitioning=None).slice(7, 1), path)
    expected = gw.summarize(few.model, parquet.read_table(path))
    assert expected.n_rows == 1
    assert run(way, few.model, path) == expected


def only_day(frame, day):
    """The rows of one day, of any engine's frame: of the partitions, some have none of them."""
    if type(frame).__module__.startswith("ray."):
        from ray.data.expressions import col

        return frame.filter(expr=col("day") == day)
    return frame[frame["day"] == day]


@names([dask_frame, dask_frame_alone, ray_dataset_held, spark_frame, spark_frame_in_slices, connect_frame], COSTLY)
def test_partitions_without_rows(request, way, few, tmp_path):
    """Of six files, each of one day, one is left over: five partitions are empty, the first and the last among them."""
    frame = few.frame.assign(day=np.arange(len(few.frame)) * 6 // len(few.frame)).assign(region="north")
    folder = request.getfixturevalue("write")(frame, tmp_path, 6)
    expected = gw.summarize(few.model, frame[frame["day"] == 3])
    with way(request, folder) as (source, engine):
        assert gw.summarize(few.model, only_day(source, 3), engine=engine) == expected
        nobody = gw.summarize(few.model, only_day(source, 7), engine=engine)
        assert nobody.n_rows == nobody.counts.sum() == 0
        assert gw.summarize(few.model, only_day(source, 7), engine=engine, by="day") == {}


@names([dask_frame, ray_dataset_held, spark_frame])
def test_interactions_of_frames_have_the_bits_of_a_table(request, one_each, way, few):
    """Of a second pass by the workers, with the counts of the first one."""
    here = gw.Explainer(few.model, few.frame)
    with way(request, few.folder) as (source, _):
        there = gw.Explainer(few.model, source)
        pairs = here.interaction_strengths(), there.interaction_strengths()
        sets = [ex.h_statistics(("x0", "x1", "x2")) for ex in (here, there)]
        pure = [ex.purified_effects(("x0", "x1")) for ex in (here, there)]
    assert pairs[1].basis == "rows"
    assert pairs[0].pairs == pairs[1].pairs
    for name in ("heights", "h", "numerator", "denominator"):
        assert np.array_equal(getattr(pairs[0], name), getattr(pairs[1], name), equal_nan=True), name
    assert sets[0].names == sets[1].names
    for name, part in sets[0].variances.items():
        assert np.array_equal(part, sets[1].variances[name]), name
    assert np.array_equal(pure[0]["x0", "x1"].raw_interaction, pure[1]["x0", "x1"].raw_interaction)


@names([dask_files, ray_files, spark_files], COSTLY)
def test_files_without_rows(run, way, few, tmp_path):
    for number, path in enumerate(sorted(few.folder.rglob("*.parquet"))[:3]):
        table = parquet.read_table(path, partitioning=None)
        parquet.write_table(table.slice(0, 0) if number != 1 else table, tmp_path / f"{number}.parquet")
    expected = gw.summarize(few.model, parquet.read_table(tmp_path / "1.parquet"))
    assert run(way, few.model, tmp_path) == expected


@names(ONE_OF_EACH, COSTLY)
def test_a_model_that_splits_on_nothing(run, way, few):
    stump = RandomForestRegressor(2, max_depth=1, min_samples_split=2000, random_state=0)
    model = stump.fit(few.frame[["day", "weight"]], few.frame["day"])
    found = run(way, model, few.folder)
    assert found == gw.summarize(model, few.frame[["day", "weight"]])
    assert found.n_rows == len(few.frame)


def spoil(few, folder, change):
    """Copies of the files, of which the last is changed. Return its path."""
    paths = sorted(few.folder.rglob("*.parquet"))
    for number, path in enumerate(paths):
        copy = folder / f"part-{number:02}.parquet"
        copy.write_bytes(path.read_bytes())
    change(copy)
    return copy


def damage(path):
    """Change bytes of the first column, not of the footer."""
    content = bytearray(path.read_bytes())
    content[40:60] = bytes(range(20))
    path.write_bytes(content)


def write_texts(path):
    table = parquet.read_table(path, partitioning=None)
    parquet.write_table(table.set_column(0, "x0", pa.array(["many"] * table.num_rows)), path)


def drop_column(path):
    parquet.write_table(parquet.read_table(path, partitioning=None).drop_columns(["x0"]), path)


@pytest.mark.parametrize(
    ("way", "change", "reported"),
    [
        pytest.param(way, change, reported, id=f"{way.__name__}-{change.__name__}")
        for way in [dask_files, ray_files, spark_files, connect_files]
        for change, reported in [(damage, "cannot be read"), (write_texts, "x0"), (drop_column, "lacks the column")]
        if way in (dask_files, ray_files) or (way is spark_files) == (change is not write_texts)
    ],
)
def test_the_file_that_is_wrong_is_named(request, one_each, way, few, tmp_path, change, reported):
    """It is the last one, so that workers meet it, and not the driver."""
    folder = tmp_path / "rows"
    folder.mkdir()
    path = spoil(few, folder, change)
    saved = tmp_path / "saved"
    with way(request, folder) as (source, engine):
        began = time.monotonic()
        with pytest.raises(TableError, match=re.escape(str(path))) as caught:
            gw.summarize(few.model, source, engine=engine, checkpoint=saved)
        assert reported in str(caught.value)
        assert "Traceback" not in str(caught.value)
        assert time.monotonic() - began < 30
    assert list(saved.iterdir()) == []


@names(ONE_OF_EACH, COSTLY)
def test_a_missing_column_is_reported_before_anything_is_counted(request, way, few, tmp_path, monkeypatch):
    for path in few.folder.rglob("*.parquet"):
        parquet.write_table(parquet.read_table(path, partitioning=None).drop_columns(["x1"]), tmp_path / path.name)
    monkeypatch.delattr(_passes, "finish")
    with way(request, tmp_path) as (source, engine), pytest.raises(TableError, match="x1"):
        gw.summarize(few.model, source, engine=engine)
    with way(request, few.folder) as (source, engine), pytest.raises(TableError, match="no column 'month'"):
        gw.summarize(few.model, source, engine=engine, by="month")


@names([dask_frame, ray_dataset_held, spark_frame, connect_frame], COSTLY)
def test_a_frame_of_texts_names_the_column(request, way, few, tmp_path):
    path = tmp_path / "texts.parquet"
    parquet.write_table(parquet.read_table(next(few.folder.rglob("*.parquet")), partitioning=None), path)
    write_texts(path)
    with way(request, path) as (source, engine), pytest.raises(TableError, match="x0") as caught:
        gw.summarize(few.model, source, engine=engine)
    assert "Traceback" not in str(caught.value)


@names([dask_frame, ray_dataset_held, spark_frame, connect_frame], COSTLY)
def test_names_of_columns_may_hold_anything(run, way, tmp_path):
    """Dots, stars, backticks and brackets mean something to Spark, patterns to Polars."""
    called = ["a.b", "`c`", "*", "d`e", "^f.*$", "g[0]", "h i", '"', ""]
    rows = np.random.default_rng(0).normal(size=(300, len(called)))
    table = pa.table(dict(zip(called, rows.T, strict=True)))
    model = RandomForestRegressor(5, max_depth=5, random_state=0).fit(table.to_pandas(), rows.sum(axis=1))
    parquet.write_table(table, tmp_path / "rows.parquet")
    assert run(way, model, tmp_path / "rows.parquet") == gw.summarize(model, table)


def test_columns_that_spark_cannot_pass_on_do_no_harm_if_nobody_needs_them(spark_nodes, few):
    frame = spark_nodes.spark.read.parquet(str(few.folder))
    months = "INTERVAL '1-2' YEAR TO MONTH"
    more = frame.selectExpr(f"{months} AS m", "*", "make_interval(1, 2) AS n", f"struct({months} AS m) AS s")
    assert gw.summarize(few.model, more) == few.expected()
    with pytest.raises(TableError, match="column 'x0' has type interval year to month"):
        gw.summarize(few.model, frame.drop("x0").selectExpr("*", f"{months} AS x0"))
    with pytest.raises(TableError, match="several columns of the frame are called 'x0'"):
        gw.summarize(few.model, frame.selectExpr("*", "x1 AS x0"))


def test_frames_that_have_no_end_are_refused(spark_nodes, few):
    stream = spark_nodes.spark.readStream.format("rate").load()
    for asked in (gw.summarize, gw.Explainer):
        with pytest.raises(TableError, match="a streaming DataFrame has no end"):
            asked(few.model, stream)


@names([dask_frame, ray_dataset_held, spark_frame, connect_frame], COSTLY)
def test_a_frame_stays_with_its_engine(request, way, few, tmp_path):
    with way(request, few.folder) as (source, _):
        own = way.__name__.partition("_")[0].replace("connect", "spark")
        other = "dask" if own == "ray" else "ray"
        with pytest.raises(TableError, match=f"a {own} frame must be counted by {own}, not by {other}"):
            gw.summarize(few.model, source, engine=other)
        with pytest.raises(TableError, match="checkpoint="):
            gw.summarize(few.model, source, checkpoint=tmp_path)


@names([dask_files, dask_frame, ray_files, ray_dataset_held, spark_files, spark_frame, connect_files], COSTLY)
def test_the_driver_gets_one_sum(run, way, few, monkeypatch):
    """Of twelve parts, each counted by a worker; and the sum is no larger than one of them, give or take."""
    got = []
    real = Partial.unpack

    def unpack(packed):
        got.append(len(packed))
        return real(packed)

    monkeypatch.setattr(Partial, "unpack", unpack)
    found = run(way, few.model, few.folder)
    assert found == few.expected()
    assert len(got) == 1
    assert got[0] < 2 * (found.counts.nbytes + found.cells.nbytes) + 5000
