"""Delta and Iceberg tables: versions, deleted rows, and tables in S3."""

from __future__ import annotations

import json
import struct
from weakref import finalize

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyarrow import parquet
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from glasswood.errors import TableError
from helpers.s3 import s3_server

GONE = [1, 3, 5, 700]


@pytest.fixture(scope="module")
def rows():
    return pa.table({name: np.random.default_rng(0).normal(size=1000) for name in ("a", 'b"b')})


@pytest.fixture(scope="module")
def model(rows):
    X = rows.to_pandas()
    return HistGradientBoostingRegressor(max_iter=5, random_state=0).fit(X, X["a"] * X['b"b'])


@pytest.fixture(scope="module")
def left(rows):
    """The rows that are not deleted."""
    return rows.take(np.setdiff1d(np.arange(len(rows)), GONE))


# ------------------------------------------------------------------------------------------------------ Delta


def deletion_vector(numbers):
    """Numbers of rows as an inline deletion vector: a 64-bit Roaring bitmap of one array, in Z85."""
    head = struct.pack("<IQIIIHHI", 1681511377, 1, 0, 12346, 1, 0, len(numbers) - 1, 16)
    packed = head + struct.pack(f"<{len(numbers)}H", *numbers)
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    padded = packed + bytes(-len(packed) % 4)
    words = [int.from_bytes(padded[at : at + 4], "big") for at in range(0, len(padded), 4)]
    text = "".join(digits[word // 85**power % 85] for word in words for power in (4, 3, 2, 1, 0))
    return {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(packed), "cardinality": len(numbers)}


def with_deletion_vector(folder, numbers, features=("deletionVectors",)):
    """Mark rows of the only file of a table as deleted, as Spark and Databricks do; deltalake does not write these."""
    log = folder / "_delta_log"
    actions = [json.loads(line) for line in (log / f"{0:020}.json").read_text().splitlines()]
    found = {name: action for one in actions for name, action in one.items()}
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7}
    protocol |= {"readerFeatures": list(features), "writerFeatures": list(features)}
    gone = {"path": found["add"]["path"], "deletionTimestamp": 0, "dataChange": True}
    stays = {**found["add"], "deletionVector": deletion_vector(numbers)}
    settings = {**found["metaData"], "configuration": {"delta.enableDeletionVectors": "true"}}
    further = [{"protocol": protocol}, {"metaData": settings}, {"remove": gone}, {"add": stays}]
    (log / f"{1:020}.json").write_text("".join(json.dumps(action) + "\n" for action in further))


def test_rows_in_deletion_vectors_are_not_counted(model, rows, left, tmp_path):
    write_deltalake(str(tmp_path), rows)
    with_deletion_vector(tmp_path, GONE)
    table = DeltaTable(str(tmp_path))
    assert gw.summarize(model, table, order=2) == gw.summarize(model, left, order=2)
    assert gw.summarize(model, DeltaTable(str(tmp_path), version=0)) == gw.summarize(model, rows)
    near = gw.Explainer(model, left).partial_dependence("a")
    assert (gw.Explainer(model, table).partial_dependence("a").heights == near.heights).all()


def test_what_deltalake_cannot_read_is_refused(model, rows, tmp_path):
    write_deltalake(str(tmp_path), rows)
    with_deletion_vector(tmp_path, GONE, features=["columnMapping", "deletionVectors"])
    with pytest.raises(TableError, match="this Delta table has columnMapping and deletionVectors, which"):
        gw.summarize(model, DeltaTable(str(tmp_path)))
    with_deletion_vector(tmp_path, GONE, features=["columnMapping"])
    with pytest.raises(TableError, match=r"this Delta table cannot be read: .*columnMapping"):
        gw.summarize(model, DeltaTable(str(tmp_path)))


def test_versions_of_a_delta_table(model, rows, tmp_path):
    write_deltalake(str(tmp_path), rows.slice(0, 600))
    write_deltalake(str(tmp_path), rows.slice(600), mode="append")
    assert gw.summarize(model, DeltaTable(str(tmp_path))) == gw.summarize(model, rows)
    assert gw.summarize(model, DeltaTable(str(tmp_path), version=0)) == gw.summarize(model, rows.slice(0, 600))


# ------------------------------------------------------------------------------------------------------ Iceberg


def iceberg_table(rows, folder, warehouse=None, **settings):
    sql = pytest.importorskip("pyiceberg.catalog.sql")
    catalog = sql.SqlCatalog("x", uri=f"sqlite:///{folder}/x.db", warehouse=warehouse or folder.as_uri(), **settings)
    catalog.create_namespace("here")
    table = catalog.create_table("here.rows", rows.schema)
    table.append(rows)
    finalize(table, catalog.engine.dispose)
    return table


def with_deletes(table, folder, numbers, content):
    """Add a file that says which rows are deleted, as Spark and Flink do; pyiceberg writes the rows that are left."""
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.typedef import Record

    data = next(iter(table.scan().plan_files())).file.file_path
    ids = {"file_path": (pa.string(), b"2147483546"), "pos": (pa.int64(), b"2147483545")}
    schema = pa.schema([pa.field(name, kind, False, {b"PARQUET:field_id": n}) for name, (kind, n) in ids.items()])
    path = folder / f"{content}.parquet"
    parquet.write_table(pa.table([[data] * len(numbers), numbers], schema=schema), path)
    counts = {f"{name}s": {} for name in ("column_size", "value_count", "null_value_count", "nan_value_count")}
    nothing = dict.fromkeys(["key_metadata", "split_offsets", "sort_order_id"])
    file = DataFile.from_args(
        content=DataFileContent[content],
        file_path=path.as_uri(),
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=len(numbers),
        file_size_in_bytes=path.stat().st_size,
        lower_bounds={},
        upper_bounds={},
        equality_ids=[1] if content == "EQUALITY_DELETES" else None,
        **counts,
        **nothing,
    )
    file.spec_id = 0
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        append.append_data_file(file)


def test_snapshots_and_deletes_of_an_iceberg_table(model, rows, left, tmp_path):
    table = iceberg_table(rows, tmp_path)
    first = table.current_snapshot().snapshot_id
    with_deletes(table, tmp_path, GONE, "POSITION_DELETES")
    assert gw.summarize(model, table, order=2) == gw.summarize(model, left, order=2)
    assert gw.summarize(model, table.scan(snapshot_id=first)) == gw.summarize(model, rows)
    table.delete("a > 0")
    assert gw.summarize(model, table) == gw.summarize(model, left.filter(pa.compute.field("a") <= 0))
    with_deletes(table, tmp_path, GONE, "EQUALITY_DELETES")
    with pytest.raises(TableError, match=r"this Iceberg table cannot be read: .*equality deletes"):
        gw.summarize(model, table)


# ------------------------------------------------------------------------------------------------------ in S3


def test_tables_in_s3(model, rows, left, tmp_path):
    with s3_server() as server:
        server.bucket("lake")
        keys = server.environment
        write_deltalake("s3://lake/delta", rows.slice(0, 600), storage_options={**keys, "AWS_ALLOW_HTTP": "true"})
        options = {**keys, "AWS_ALLOW_HTTP": "true"}
        write_deltalake("s3://lake/delta", rows.slice(600), mode="append", storage_options=options)
        table = DeltaTable("s3://lake/delta", storage_options=options)
        assert gw.summarize(model, table, order=2) == gw.summarize(model, rows, order=2)
        reported = {"s3.endpoint": keys["AWS_ENDPOINT_URL"], "s3.region": "us-east-1"}
        reported |= {"s3.access-key-id": server.key, "s3.secret-access-key": server.secret}
        scanned = iceberg_table(rows, tmp_path, "s3://lake/iceberg", **reported)
        assert gw.summarize(model, scanned, order=2) == gw.summarize(model, rows, order=2)
