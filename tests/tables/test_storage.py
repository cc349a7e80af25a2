"""Rows in an S3 server on this machine (moto, in a process of its own): the same bits as from local files."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from pyarrow import dataset, fs, parquet
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from glasswood.cli import main
from glasswood.errors import ArgumentError, FileError, TableError
from glasswood.tables import _parquet
from glasswood.tables._listing import files_of, stamp_of
from glasswood.tables._parquet import read_fragment
from glasswood.tables._places import place_of
from glasswood.tables._sources import open_source, stored
from helpers.s3 import ROOT, moto_python, s3_server

ROWS, UNUSED = 60_000, 40


@pytest.fixture(scope="module")
def server():
    with s3_server() as started:
        started.bucket("rows")
        yield started


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(0)
    columns = {name: generator.normal(size=ROWS) for name in ("a", "b")}
    columns |= {f"unused{number}": generator.normal(size=ROWS) for number in range(UNUSED)}
    return pa.table(columns | {"year": 2020 + np.arange(ROWS) % 3})


@pytest.fixture(scope="module")
def model(table):
    X = table.select(["a", "b", "year"]).slice(0, 3000).to_pandas()
    y = X["a"] * (X["b"] > 0) + (X["year"] == 2021)
    return HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=8, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    """Three partitions, each one file of several row groups."""
    folder = tmp_path_factory.mktemp("rows")
    options = {"partitioning": ["year"], "partitioning_flavor": "hive", "max_rows_per_group": 5000}
    dataset.write_dataset(table, folder, format="parquet", min_rows_per_group=5000, **options)
    return folder


@pytest.fixture(scope="module")
def uploaded(server, folder):
    return server.upload(folder, "rows/all")


@pytest.fixture(scope="module")
def expected(model, folder):
    return gw.summarize(model, folder, order=2)


@pytest.fixture
def aws(server, monkeypatch):
    """The address and the keys in the environment, where libraries of AWS look for them."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)


PATHS = {
    "folder": "rows/all",
    "folder with a slash": "rows/all/",
    "URI": "s3://rows/all",
    "files": [f"s3://rows/all/year={year}/part-0.parquet" for year in (2020, 2021, 2022)],
    "folders": [f"rows/all/year={year}" for year in (2020, 2021, 2022)],
    "pattern": "s3://rows/all/*/*.parquet",
    "deep pattern": "s3://rows/**/*.parquet",
    "patterns": ["rows/all/year=202[01]/*", "rows/a*/year=2022/part-?.parquet"],
}


@pytest.mark.parametrize("paths", PATHS.values(), ids=PATHS)
def test_the_same_bits_as_from_local_files(server, uploaded, model, expected, paths):
    assert gw.summarize(model, paths, order=2, filesystem=server.filesystem()) == expected


def test_addresses_alone_with_credentials_of_the_environment(aws, uploaded, model, expected, folder):
    assert gw.summarize(model, "s3://rows/all", order=2) == expected
    curve = gw.Explainer(model, "s3://rows/all/*/*.parquet").partial_dependence("a")
    assert (curve.heights == gw.Explainer(model, folder).partial_dependence("a").heights).all()
    by_year = gw.summarize(model, "s3://rows/all", order=2, by="year")
    assert by_year == gw.summarize(model, folder, order=2, by="year")
    assert sum(list(by_year.values())[1:], by_year[2020]) == expected


def test_settings_in_the_address(server, uploaded, model, expected):
    address = f"s3://{server.key}:{server.secret}@rows/all?endpoint_override=127.0.0.1:{server.port}&scheme=http"
    place = place_of(address.replace(server.secret, "x"))
    assert (place.path, place.name, place.is_local) == ("rows/all", "s3://rows/all", False)
    if "/" not in server.secret and "+" not in server.secret:
        assert gw.summarize(model, address, order=2) == expected


def test_a_file_system_of_fsspec(server, uploaded, model, expected):
    wrapped = ArrowFSWrapper(server.filesystem())
    assert gw.summarize(model, "rows/all", order=2, filesystem=wrapped) == expected
    assert gw.summarize(model, "rows/all/*/*.parquet", order=2, filesystem=wrapped) == expected


def test_options_for_fsspec(model, folder, expected):
    memory = fsspec.filesystem("memory")
    memory.put(str(folder), "/options", recursive=True)
    assert gw.summarize(model, "memory://options", order=2, storage_options={}) == expected
    assert gw.Explainer(model, "memory://options/*/*", storage_options={}).partial_dependence("a").heights.size > 1
    assert gw.summarize(model, "memory://options", order=2) == expected, "Arrow does not know it, fsspec does"


WITH_S3FS = """
import json, pickle, sys, time
import pyarrow as pa, s3fs
from pyarrow import parquet
import glasswood as gw
from glasswood.tables._listing import files_of, stamp_of
from glasswood.tables._parquet import read_fragment
from glasswood.tables._sources import open_source, stored

ensemble, options = pickle.load(open("reported.pickle", "rb"))
gw.summarize(ensemble, "s3://rows/all", order=2, storage_options=options).save("folder.gw")
gw.summarize(ensemble, "s3://rows/all/*/*.parquet", order=2, storage_options=options).save("pattern.gw")
gw.summarize(ensemble, "rows/all", order=2, filesystem=s3fs.S3FileSystem(**options)).save("opened.gw")

def refusal(path, **settings):
    try:
        gw.summarize(ensemble, path, storage_options=options | settings)
    except gw.errors.TableError as error:
        return str(error)

rows, other = pa.table({"a": [1.0, 2.0]}), pa.table({"a": [2.0, 1.0]})
fs = s3fs.S3FileSystem(**options)
plain = {"use_dictionary": False, "compression": "none", "filesystem": fs}
parquet.write_table(rows, "rows/s3fs/x.parquet", **plain)
part = open_source(stored("s3://rows/s3fs/x.parquet", None, options)).fragments[0]
before = len(list(read_fragment(pickle.loads(pickle.dumps(part)), ["a"])))
parquet.write_table(other, "rows/s3fs/x.parquet", **plain)
try:
    list(read_fragment(part, ["a"]))
    changed = "nothing"
except gw.errors.TableError as error:
    changed = str(error)
json.dump([refusal("s3://rows/all", secret="wrong"), refusal("s3://rows/no"), before, changed], open("found.json", "w"))
"""


def test_s3fs_in_a_process_of_its_own(server, uploaded, model, expected, tmp_path):
    """It needs other versions of libraries than the tests."""
    options = {"key": server.key, "secret": server.secret, "endpoint_url": server.environment["AWS_ENDPOINT_URL"]}
    (tmp_path / "reported.pickle").write_bytes(pickle.dumps((gw.read_model(model), options)))
    source = {"PYTHONPATH": str(Path(gw.__file__).parents[1]), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [moto_python(), "-c", WITH_S3FS], cwd=tmp_path, env=source, timeout=300, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for way in ("folder", "pattern", "opened"):
        assert gw.Background.load(tmp_path / f"{way}.gw") == expected, way
    denied, nothing, before, changed = json.loads((tmp_path / "found.json").read_text())
    assert "the storage denies access; check the credentials" in denied
    assert "there is no file or folder 's3://rows/no'" in nothing
    assert before == 1
    assert "has changed since the work was planned" in changed


def test_an_explainer_reads_the_rows_again(server, uploaded, model, folder):
    far = gw.Explainer(model, "rows/all", filesystem=server.filesystem())
    near = gw.Explainer(model, folder)
    assert (far.interaction_strengths().to_frame() == near.interaction_strengths().to_frame()).all(axis=None)


def test_keys_that_are_no_addresses(server, model, table):
    """In a bucket, %20 is not a space, and a space is one."""
    for name in ("a%20b", "a b", "a=1+1", "å"):
        parquet.write_table(table.slice(0, 100), f"rows/odd/{name}/x.parquet", filesystem=server.filesystem())
        place = place_of(f"s3://rows/odd/{name}", server.filesystem())
        assert files_of([place]) == [f"rows/odd/{name}/x.parquet"]
        assert gw.summarize(model, f"s3://rows/odd/{name}", filesystem=server.filesystem()).n_rows == 100


def test_datasets_of_a_storage(server, uploaded, model, expected):
    opened = dataset.dataset("rows/all", filesystem=server.filesystem(), partitioning="hive")
    assert gw.summarize(model, opened, order=2) == expected


def test_very_many_files(server, uploaded, model, expected, monkeypatch):
    """Their footers are left to those who read them."""
    monkeypatch.setattr(_parquet, "MANY_FILES", 1)
    source = open_source(stored("rows/all", server.filesystem(), None))
    assert [part.row_group for part in source.fragments] == [None] * 3
    assert gw.summarize(model, "rows/all", order=2, filesystem=server.filesystem()) == expected


def test_the_command_line(aws, uploaded, table, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    rows = table.select(["a", "b", "year"]).to_pandas()
    model = lightgbm.train({"verbose": -1, "num_leaves": 5}, lightgbm.Dataset(rows, rows["a"] * rows["b"]), 5)
    model.save_model(tmp_path / "model.txt")
    output = tmp_path / "rows.gw"
    for data in ("s3://rows/all", "s3://rows/all/*/*.parquet"):
        assert main(["summarize", str(tmp_path / "model.txt"), data, "-o", str(output)]) == 0
        assert gw.Background.load(output) == gw.summarize(model, rows)


@pytest.mark.parametrize(
    ("address", "path", "kind"),
    [
        ("gs://bucket/a b/x.parquet", "bucket/a b/x.parquet", "GcsFileSystem"),
        ("abfss://box@account.dfs.core.windows.net/a/x.parquet", "box/a/x.parquet", "AzureFileSystem"),
    ],
)
def test_addresses_of_storages_that_are_not_here(address, path, kind):
    """That they are understood is all that can be seen without them."""
    if not hasattr(fs, kind):
        pytest.skip(f"this PyArrow has no {kind}")
    place = place_of(address)
    assert (type(place.filesystem).__name__, place.path, place.name) == (kind, path, address)
    assert place_of(address, place.filesystem).path == path


def test_names_with_signs_of_patterns_and_of_refusals(server, model, table, tmp_path):
    for name in ("a[1]", "part-403", "forbidden"):
        for folder, filesystem in ((str(tmp_path / name), fs.LocalFileSystem()), (f"rows/{name}", server.filesystem())):
            filesystem.create_dir(folder)
            parquet.write_table(table.slice(0, 100), f"{folder}/x.parquet", filesystem=filesystem)
            assert gw.summarize(model, folder, filesystem=filesystem).n_rows == 100
            with filesystem.open_output_stream(f"{folder}/x.parquet") as file:
                file.write(b"PAR1 no Parquet PAR1")
            with pytest.raises(TableError, match="cannot be read") as caught:
                gw.summarize(model, folder, filesystem=filesystem)
            assert "denies" not in str(caught.value)


def test_values_of_every_row_from_a_storage_to_a_storage(server, aws, uploaded, model, table, folder, tmp_path):
    explainer = gw.Explainer(model, table.select(["a", "b", "year"]).slice(0, 200))
    explainer.shap_values(folder, keep=["unused0"]).to_parquet(tmp_path / "values")
    source = dataset.dataset("rows/all", filesystem=server.filesystem(), partitioning="hive")
    for rows, to in (("s3://rows/all", "s3://rows/values"), (source, "s3://rows/values of a dataset")):
        assert explainer.shap_values(rows, keep=["unused0"]).to_parquet(to) == ROWS
        found = parquet.read_table(to.removeprefix("s3://"), filesystem=server.filesystem(), partitioning=None)
        near = parquet.read_table(tmp_path / "values", partitioning=None)
        assert found.sort_by("unused0").equals(near.sort_by("unused0"))


# ------------------------------------------------------------------------------------------------------ requests


def test_only_the_columns_that_are_used_are_read_and_by_requests_at_once(model, table, tmp_path):
    """With answers that take 50 ms, as far away storages do."""
    parquet.write_table(table, tmp_path / "wide.parquet", row_group_size=6000)
    size = (tmp_path / "wide.parquet").stat().st_size
    with s3_server(delay=0.05) as slow:
        slow.upload(tmp_path, slow.bucket("wide"))
        source = open_source(stored("wide", slow.filesystem(), None))
        slow.requests.clear()
        read = [table for part in source.fragments for table in read_fragment(part, ["a", "b", "year"])]
        assert sum(map(len, read)) == ROWS
        time.sleep(0.2)
        reads = slow.reads()
        used = 3 / (UNUSED + 3)
        assert sum(one["bytes"] for one in reads) < 1.5 * used * size
        per_group = len(reads) / len(source.fragments)
        assert per_group <= 3.2, "one request per column of a row group at most, and the footer once"
        slow.requests.clear()
        background = gw.summarize(model, "wide", filesystem=slow.filesystem())
        assert background.n_rows == ROWS
        time.sleep(0.2)
        reads = slow.reads()
        assert sum(one["bytes"] for one in reads) < size / 3, "the head has all columns of one row group"
        assert max_at_once(reads) >= 4
        tails = [one for one in reads if one["range"].endswith(f"-{size - 1}")]
        assert 1 <= len(tails) <= 4, "the footer: by the dataset, by the plan, and once by the readers"


def max_at_once(requests):
    """The largest number of requests that were under way at the same time."""
    times = sorted([(one["begin"], 1) for one in requests] + [(one["end"], -1) for one in requests])
    return max(np.cumsum([step for _, step in times]))


def test_footers_are_read_at_once(model, table):
    with s3_server(delay=0.05) as slow:
        slow.bucket("many")
        for number in range(40):
            rows = table.select(["a", "b", "year"]).slice(number * 10, 10)
            parquet.write_table(rows, f"many/{number:02}.parquet", filesystem=slow.filesystem())
        slow.requests.clear()
        begin = time.time()
        assert len(open_source(stored("many", slow.filesystem(), None)).fragments) == 40
        assert time.time() - begin < 40 * 0.15, "three requests per file, but not one after the other"
        time.sleep(0.2)
        assert max_at_once(slow.requests) >= 8


# ------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("path", ["s3://rows/all", "s3://rows/all/*/*.parquet", "rows/all/year=2020/part-0.parquet"])
@pytest.mark.parametrize("wrong", ["access_key", "secret_key"])
def test_wrong_credentials(server, uploaded, model, path, wrong):
    begin = time.time()
    with pytest.raises(TableError, match=r"the storage denies access; check the credentials") as caught:
        gw.summarize(model, path, filesystem=server.filesystem(**{wrong: "wrong"}))
    assert time.time() - begin < 5
    assert len(str(caught.value)) < 500
    assert server.secret not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("s3://nobucket/rows", "there is no file or folder 's3://nobucket/rows'"),
        ("s3://rows/nothing", "there is no file or folder 's3://rows/nothing'"),
        ("s3://rows/nothing.parquet", "there is no file or folder 's3://rows/nothing.parquet'"),
        ("s3://rows/nothing/*.parquet", "no file matches 's3://rows/nothing/\\*.parquet'"),
        ("s3://nobucket/*.parquet", "NO_SUCH_BUCKET|no file matches"),
        (["s3://rows/all", "s3://rows/nothing"], "there is no file or folder 's3://rows/nothing'"),
        ("s3://rows/x.csv", "there is no file or folder"),
    ],
)
def test_what_is_not_there(server, uploaded, model, path, message):
    with pytest.raises(TableError, match=message):
        gw.summarize(model, path, filesystem=server.filesystem())


def test_no_server(model):
    begin = time.time()
    nowhere = fs.S3FileSystem(
        endpoint_override="127.0.0.1:1", scheme="http", access_key="a", secret_key="b", region="x"
    )
    with pytest.raises(TableError, match=r"s3://rows/all cannot be read: .*connect"):
        gw.summarize(model, "s3://rows/all", filesystem=nowhere)
    assert time.time() - begin < 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"filesystem": 3}, "pyarrow.fs or of fsspec, not a int"),
        ({"filesystem": fs.LocalFileSystem(), "storage_options": {}}, "pass one of them"),
        ({"storage_options": {}}, "is a path of this machine"),
    ],
)
def test_settings_that_do_not_fit(model, folder, settings, message):
    with pytest.raises(ArgumentError, match=message):
        gw.summarize(model, str(folder), **settings)
    with pytest.raises(ArgumentError, match=message):
        gw.Explainer(model, str(folder), **settings)


def test_settings_are_for_paths(model, table):
    with pytest.raises(ArgumentError, match="are for paths of files, not for a DataFrame"):
        gw.summarize(model, pd.DataFrame({"a": [1.0]}), filesystem=fs.LocalFileSystem())
    with pytest.raises(TableError, match="is a mapping of options"):
        gw.summarize(model, "s3://rows", storage_options=["key"])


def test_different_storages(server, uploaded, model, folder, aws):
    with pytest.raises(TableError, match=r"are in different file systems; summarize each of them, and add"):
        gw.summarize(model, ["s3://rows/all", str(folder)])


def test_an_unknown_storage(model):
    with pytest.raises(TableError, match="'nope://rows/all' cannot be opened: fsspec, and its library for 'nope'"):
        gw.summarize(model, "nope://rows/all")


# ------------------------------------------------------------------------------------------------------ changes


def permuted(table):
    """The same values in another order: a file of the same size with the same footer."""
    return pa.table(
        {name: column.combine_chunks()[::-1] for name, column in zip(table.column_names, table.columns, strict=True)}
    )


def test_another_object_of_the_same_size_within_the_same_second_is_noticed(server, table):
    filesystem, path = server.filesystem(), "rows/changing/x.parquet"
    rows = table.select(["a", "b"]).slice(0, 1000)
    written = {"use_dictionary": False, "compression": "none", "filesystem": filesystem}
    parquet.write_table(rows, path, **written)
    (part,) = open_source(stored(path, filesystem, None)).fragments
    footer = parquet.read_metadata(path, filesystem=filesystem)
    info = filesystem.get_file_info(path)
    parquet.write_table(permuted(rows), path, **written)
    assert filesystem.get_file_info(path).size == info.size
    assert parquet.read_metadata(path, filesystem=filesystem).equals(footer), "not even the footer tells"
    with pytest.raises(TableError, match=r"rows/changing/x.parquet has changed since the work was planned"):
        list(read_fragment(part, ["a"]))
    parquet.write_table(rows, path, **written)
    assert len(list(read_fragment(part, ["a"]))) == 1, "the same content again is the same"


def test_a_change_during_the_reading_is_noticed(server, table):
    filesystem, path = server.filesystem(), "rows/changing/y.parquet"
    parquet.write_table(table.select(["a", "b"]), path, filesystem=filesystem)
    (part,) = open_source(stored(path, filesystem, None)).fragments
    reading = read_fragment(part, ["a"])
    parquet.write_table(table.select(["a", "b"]).slice(1), path, filesystem=filesystem)
    with pytest.raises(TableError, match=r"has changed|cannot be read"):
        list(reading)
    (part,) = open_source(stored(path, filesystem, None)).fragments
    part = replace(part, n_rows=None)
    several = read_fragment(part, ["a"], few=1000)
    next(several)
    parquet.write_table(table.select(["b", "a"]), path, filesystem=filesystem)
    with pytest.raises(TableError, match=r"has changed|cannot be read"):
        list(several)


def test_a_removed_object_is_named(server, model, table):
    filesystem, path = server.filesystem(), "rows/changing/z.parquet"
    parquet.write_table(table.select(["a", "b", "year"]), path, filesystem=filesystem)
    explainer = gw.Explainer(model, path, filesystem=filesystem)
    filesystem.delete_file(path)
    with pytest.raises(TableError, match=r"rows/changing/z.parquet cannot be read: .*not exist"):
        explainer.partial_dependence("a")


def test_stamps_of_fsspec(table):
    memory = fsspec.filesystem("memory")
    wrapped = fs.PyFileSystem(fs.FSSpecHandler(memory))
    memory.pipe("/stamps/x", b"one")
    first = stamp_of(wrapped, "/stamps/x")
    assert first == stamp_of(wrapped, "/stamps/x")
    memory.pipe("/stamps/x", b"two")
    assert stamp_of(wrapped, "/stamps/x") != first


def test_fragments_travel(server, uploaded):
    """Workers get the file system with the fragment, credentials included."""
    source = open_source(stored("rows/all", server.filesystem(), None))
    sent = pickle.loads(pickle.dumps(source.fragments[0]))
    assert sent.digest == source.fragments[0].digest
    assert next(read_fragment(sent, ["a", "year"])).num_rows > 0


# ------------------------------------------------------------------------------------------------------ Backgrounds


def test_backgrounds_in_a_storage(server, aws, expected, model, tmp_path):
    expected.save("s3://rows/counts/all.gw")
    assert gw.Background.load("s3://rows/counts/all.gw") == expected
    assert gw.Background.load("rows/counts/all.gw", filesystem=server.filesystem()) == expected
    expected.save("memory://counts/all.gw", storage_options={})
    assert gw.Background.load("memory://counts/all.gw", storage_options={}) == expected
    expected.save(tmp_path / "all.gw")
    with server.filesystem().open_input_file("rows/counts/all.gw") as file:
        assert file.read() == (tmp_path / "all.gw").read_bytes()


def test_backgrounds_that_cannot_be_there(server, aws, uploaded, expected):
    with pytest.raises(FileError, match=r"s3://rows/counts/none.gw cannot be read: .*not exist"):
        gw.Background.load("s3://rows/counts/none.gw")
    with pytest.raises(FileError, match=r"s3://nobucket/all.gw cannot be written: "):
        expected.save("s3://nobucket/all.gw")
    with pytest.raises(FileError, match="cannot be written: the storage denies access"):
        expected.save("rows/all.gw", filesystem=server.filesystem(secret_key="wrong"))
    with pytest.raises(gw.errors.BackgroundError, match="is not a Glasswood background"):
        gw.Background.load("s3://rows/all/year=2020/part-0.parquet")


def test_checkpoints_are_folders_of_this_machine(server, uploaded, model, expected, tmp_path):
    with pytest.raises(ArgumentError, match="checkpoint= is a folder of this machine, not 's3://rows/progress'"):
        gw.summarize(model, "rows/all", filesystem=server.filesystem(), checkpoint="s3://rows/progress")
    for _ in range(2):
        found = gw.summarize(model, "rows/all", order=2, filesystem=server.filesystem(), checkpoint=tmp_path)
        assert found == expected


def test_the_page_runs(server, aws, model, folder, tmp_path, monkeypatch):
    """The blocks of the page that need a storage; the others run with those of all pages."""
    server.upload(folder, f"{server.bucket('sales')}/rows")
    years = [int(str(path).rpartition("=")[2]) for path in folder.iterdir()]
    page = (ROOT / "docs" / "guide" / "storage.md").read_text(encoding="utf-8")
    page = page.replace("year=2025", f"year={min(years)}").replace("year=2026", f"year={max(years)}")
    page = page.replace("http://minio.example.com:9000", server.environment["AWS_ENDPOINT_URL"])
    names = {"model": model}
    for block in re.findall(r"```py\n(.*?)```", page, re.DOTALL):
        exec(block, names)
    assert gw.Background.load("s3://sales/counts/rows.gw") == names["background"]


def test_values_of_every_row_are_read_from_and_written_to_a_storage(server, uploaded, model, folder, aws):
    explainer = gw.Explainer(model, folder)
    expected = explainer.shap_values(folder, keep=["unused0"])
    values = explainer.shap_values(f"s3://{uploaded}", keep=["unused0"])
    assert (values.mean_abs() == expected.mean_abs()).all()
    assert values.to_parquet("s3://rows/shap") == ROWS
    store = server.filesystem()
    found = parquet.read_table("rows/shap", filesystem=store).sort_by("unused0")
    local = pa.concat_tables(expected.blocks()).sort_by("unused0")
    assert found.select(local.column_names).equals(local)
    there = {info.path: info.mtime for info in store.get_file_info(fs.FileSelector("rows/shap", recursive=True))}
    gone = min(path for path in there if path.endswith(".parquet"))
    store.delete_file(gone)
    assert values.to_parquet("shap", filesystem=fs.SubTreeFileSystem("rows", store)) == ROWS  # resumes
    assert parquet.read_table("rows/shap", filesystem=store).num_rows == ROWS
    with pytest.raises(TableError, match="another question"):
        explainer.banzhaf_values(f"s3://{uploaded}").to_parquet("s3://rows/shap")
