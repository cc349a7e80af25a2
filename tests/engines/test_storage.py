"""Workers read files in a storage: the file system travels to them, with its credentials."""

from __future__ import annotations

import pytest

import glasswood as gw
from glasswood.errors import TableError
from helpers.clusters_spark import SPARK_WARNINGS
from helpers.s3 import s3_server

pytestmark = [
    pytest.mark.xdist_group("engines"),
    *[pytest.mark.filterwarnings(warning) for warning in SPARK_WARNINGS],
]


@pytest.fixture(scope="module")
def server(few):
    with s3_server() as started:
        started.upload(few.folder, f"{started.bucket('cluster')}/rows")
        yield started


def session(request, engine):
    """The cluster's session, started if it is not."""
    nodes = request.getfixturevalue(f"{engine}_nodes")
    return {"dask": lambda: nodes.client, "ray": lambda: "ray", "spark": lambda: nodes.spark}[engine]()


@pytest.mark.parametrize("engine", ["dask", "ray", "spark"])
def test_workers_read_from_s3(request, one_each, server, few, engine):
    chosen = session(request, engine)
    found = gw.summarize(few.model, "s3://cluster/rows", order=2, engine=chosen, filesystem=server.filesystem())
    assert found == few.expected(2)
    by = gw.summarize(few.model, "cluster/rows/*/*", by="region", engine=chosen, filesystem=server.filesystem())
    assert by == few.expected_by("region")


def test_a_worker_tells_what_the_storage_says(request, one_each, server, few, monkeypatch):
    """The keys are valid when the work is planned; an object is gone when a worker comes to it."""
    from glasswood.engines import _dask

    filesystem, honest = server.filesystem(), _dask.run_files

    def late(*given):
        filesystem.delete_file("cluster/gone/region=north/part-0.parquet")
        return honest(*given)

    server.upload(few.folder, "cluster/gone")
    monkeypatch.setattr(_dask, "run_files", late)
    with pytest.raises(TableError, match=r"cluster/gone/region=north/part-0.parquet cannot be read"):
        gw.summarize(few.model, "cluster/gone", engine=session(request, "dask"), filesystem=filesystem)
