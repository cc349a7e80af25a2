"""Every question about a frame of a cluster: the bits of a table in memory, or a sentence."""

from __future__ import annotations

import pytest

from glasswood.errors import GlasswoodError
from helpers.clusters_spark import SPARK_WARNINGS
from helpers.matrix import QUESTIONS, STAYS, answer, differences, make_model, make_rows

pytestmark = [
    pytest.mark.xdist_group("engines"),
    *[pytest.mark.filterwarnings(warning) for warning in SPARK_WARNINGS],
    pytest.mark.filterwarnings("ignore"),
]

SHORT = {"curves", "strengths", "ALE", "rating table", "probability: curves", "target: error"}
MARKED = [pytest.param(name, marks=[] if name in SHORT else pytest.mark.slow) for name in QUESTIONS]


@pytest.fixture(scope="module")
def rows():
    return make_rows()


@pytest.fixture(scope="module")
def model(rows):
    return make_model(rows)


@pytest.fixture(scope="module", params=["dask", "ray", "spark"])
def frame(request, rows, tmp_path_factory):
    """A frame of four parts."""
    folder = tmp_path_factory.mktemp("matrix")
    for number in range(4):
        rows.iloc[150 * number : 150 * (number + 1)].to_parquet(folder / f"{number}.parquet")
    if request.param == "dask":
        import dask.dataframe as dd

        with request.getfixturevalue("dask_nodes").client.as_current():
            yield dd.read_parquet(folder)
    elif request.param == "ray":
        import ray

        request.getfixturevalue("ray_nodes")
        yield ray.data.read_parquet(str(folder))
    else:
        yield request.getfixturevalue("spark_nodes").spark.read.parquet(str(folder))


@pytest.mark.parametrize("question", MARKED)
def test_a_question(question, model, rows, frame):
    expected, otherwise = answer(question, model, rows, rows), STAYS.get(question)
    if isinstance(otherwise, str):
        with pytest.raises(GlasswoodError, match=otherwise):
            answer(question, model, frame, rows)
        return
    found = [part for part in differences(expected, answer(question, model, frame, rows)) if "std" not in part]
    assert (set(found) >= otherwise) if otherwise else not found
