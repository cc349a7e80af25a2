"""Every question about a frame of a cluster: the bits of a table in memory, or a sentence."""

from __future__ import annotations

import numpy as np
import pytest
from pyarrow import parquet

from glasswood.errors import GlasswoodError
from helpers.clusters_spark import SPARK_WARNINGS
from helpers.matrix import QUESTIONS, ROUNDED, STAYS, answer, differences, make_model, make_rows

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
        yield ray.data.from_arrow([parquet.read_table(file) for file in sorted(folder.iterdir())])
    else:
        yield request.getfixturevalue("spark_nodes").spark.read.parquet(str(folder))


@pytest.mark.parametrize("question", MARKED)
def test_a_question(question, model, rows, frame):
    expected, otherwise = answer(question, model, rows, rows), STAYS.get(question)
    if isinstance(otherwise, str):
        with pytest.raises(GlasswoodError, match=otherwise):
            answer(question, model, frame, rows)
        return
    found = answer(question, model, frame, rows)
    different = set(differences(expected, found))
    for part in [part for part in different if part.endswith(ROUNDED)]:
        np.testing.assert_allclose(found[part], expected[part], rtol=1e-9, atol=1e-12)
        different.remove(part)
    assert (different >= otherwise) if otherwise else not different
