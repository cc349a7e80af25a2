"""Values of each row on every engine: the bits of a table in memory, from files and from frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

import glasswood as gw
from glasswood.effects import _many_sets
from glasswood.engines import _rows
from helpers.clusters_spark import SPARK_WARNINGS

pytestmark = [
    pytest.mark.xdist_group("engines"),
    *[pytest.mark.filterwarnings(warning) for warning in SPARK_WARNINGS],
    pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:`use_:DeprecationWarning"),
]

ENGINES = ["dask", "ray", "spark"]
MODEL = ["x0", "x1", "x2", "x3", "colour", "flag"]


@pytest.fixture
def explainer(few):
    return gw.Explainer(few.model, few.frame[MODEL])


@pytest.fixture
def expected(explainer, few):
    return explainer.shap_values(few.frame[MODEL])


@pytest.fixture
def open_frame(request):
    """What makes a frame of an engine of a folder."""

    def of(engine, folder):
        if engine == "dask":
            import dask.dataframe as dd

            request.getfixturevalue("dask_nodes")
            return dd.read_parquet(folder)
        if engine == "ray":
            import ray

            request.getfixturevalue("ray_nodes")
            return ray.data.from_arrow([parquet.read_table(path) for path in sorted(folder.rglob("*.parquet"))])
        return request.getfixturevalue("spark_nodes").spark.read.parquet(str(folder))

    return of


@pytest.fixture
def session(request):
    def of(engine):
        if engine == "dask":
            return request.getfixturevalue("dask_nodes").client
        if engine == "ray":
            request.getfixturevalue("ray_nodes")
            return "ray"
        return request.getfixturevalue("spark_nodes").spark

    return of


def read(folder):
    """The rows of a folder in the order of the frame."""
    return parquet.read_table(folder, partitioning=None).to_pandas().sort_values("unused", ignore_index=True)


def check(found, expected):
    assert found["unused"].tolist() == list(range(len(expected)))
    assert (found[MODEL].to_numpy() == expected.values).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_files(engine, session, explainer, expected, few, tmp_path, monkeypatch):
    monkeypatch.setattr(_rows, "ROWS_PER_TASK", 1)
    values = explainer.shap_values(few.folder, keep=["unused"], engine=session(engine))
    assert values.to_parquet(tmp_path / "out") == len(few.frame)
    check(read(tmp_path / "out"), expected)
    assert (values.mean_abs() == expected.mean_abs()).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_frames(engine, open_frame, explainer, expected, few, tmp_path):
    frame = open_frame(engine, few.folder)
    values = explainer.shap_values(frame, keep=["unused"])
    assert values.to_parquet(tmp_path / "out") == len(few.frame)
    check(read(tmp_path / "out"), expected)
    assert (values.mean_abs() == expected.mean_abs()).all()
    lazy = getattr(values, f"to_{engine}")()
    found = in_memory(engine, lazy).sort_values("unused", ignore_index=True)
    check(found, expected)
    reasons = in_memory(engine, getattr(values.top_per_row(2), f"to_{engine}")())
    reasons = reasons.sort_values("unused", ignore_index=True)
    order = np.argsort(-abs(expected.values), axis=1, kind="stable")[:, :2]
    assert [list(names) for names in reasons["features"]] == [[MODEL[k] for k in row] for row in order]
    assert (np.stack(reasons["values"]) == np.take_along_axis(expected.values, order, 1)).all()


def in_memory(engine, frame):
    if engine == "spark":
        return frame.toArrow().to_pandas()
    return frame.compute() if engine == "dask" else frame.to_pandas()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_frame_resumes(engine, open_frame, explainer, expected, few, tmp_path):
    values = explainer.shap_values(open_frame(engine, few.folder), keep=["unused"])
    values.to_parquet(tmp_path / "out")
    paths = sorted((tmp_path / "out").glob("*.parquet"))
    assert len(paths) > 1
    paths[0].unlink()
    before = {path: path.stat().st_mtime_ns for path in paths[1:]}
    values.to_parquet(tmp_path / "out")
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    check(read(tmp_path / "out"), expected)


OTHERS = [("dask", "interactions"), ("ray", "ice"), ("spark", "metric"), ("spark", "prediction")]
ALL_OTHERS = [(engine, question) for engine in ENGINES for question in ("interactions", "ice", "metric", "prediction")]


@pytest.mark.parametrize(
    ("engine", "question"),
    [pytest.param(*other, marks=[] if other in OTHERS else pytest.mark.slow) for other in ALL_OTHERS],
)
def test_other_questions(engine, question, open_frame, explainer, few, tmp_path):
    ask = {
        "interactions": lambda rows, **more: explainer.interaction_values(rows, max_order=2, **more),
        "metric": lambda rows, **more: explainer.evaluate(gw.metrics.BanzhafInteractions(), rows, **more),
        "ice": lambda rows, **more: explainer.ice("x0", rows=rows, **more),
        "prediction": lambda rows, **more: explainer.ice("x0", rows=rows, response="prediction", **more),
    }[question]
    expected = ask(few.frame[MODEL])
    ask(open_frame(engine, few.folder), keep=["unused"]).to_parquet(tmp_path / "out")
    found = read(tmp_path / "out").drop(columns="unused")
    if isinstance(expected, gw.Ice):
        assert (np.stack(found["response"]) == expected.heights[:, :, 0]).all()
    else:
        pd.testing.assert_frame_equal(found, expected.to_frame(), check_exact=True)


@pytest.mark.parametrize("engine", [None, *ENGINES])
def test_interactions_block_by_block_of_the_sets(engine, session, open_frame, explainer, few, monkeypatch):
    rows, means = few.frame[MODEL], ("mean_abs", "mean_square", "signed_mean")
    at_once = explainer.interaction_values(few.folder)
    expected = [getattr(at_once, mean)() for mean in means]
    for mean, found in zip(means, expected, strict=True):  # those of a table in memory are rounded as they are added
        np.testing.assert_allclose(found, getattr(explainer.interaction_values(rows), mean)(), rtol=1e-11, atol=1e-15)
    monkeypatch.setattr(_many_sets, "MIN_ENTRIES", 50)
    monkeypatch.setattr(_many_sets, "MAX_ENTRIES", 50)
    again = gw.Explainer(few.model, rows)  # which has kept nothing
    assert len(again.interaction_values(rows).source.sets.blocks) > 3
    asked = [again.interaction_values(few.folder)]
    if engine is not None:
        asked = [again.interaction_values(few.folder, engine=session(engine))]
        asked.append(again.interaction_values(open_frame(engine, few.folder)))
    for values in asked:
        assert all((getattr(values, mean)() == found).all() for mean, found in zip(means, expected, strict=True))


def test_spark_connect(spark_nodes, explainer, expected, few, tmp_path):
    with spark_nodes.connect_session() as spark:
        values = explainer.shap_values(spark.read.parquet(str(few.folder)), keep=["unused"])
        values.to_parquet(tmp_path / "out")
        check(read(tmp_path / "out"), expected)
        check(values.to_spark().toArrow().to_pandas().sort_values("unused", ignore_index=True), expected)
