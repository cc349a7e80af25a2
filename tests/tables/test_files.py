"""Files are written as a whole or not at all, never through somebody's link; packed arrays are proven before use."""

from __future__ import annotations

import json
import os
import stat
import threading
import tracemalloc
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from glasswood.errors import BackgroundError
from glasswood.tables._files import pack_arrays, replacing, unpack_arrays, write_whole

KIND = "glasswood test 1"


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_when_it_is_complete(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert listing(tmp_path) == ["x"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_file_and_nothing_else(error, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def write_half():
        with replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_bytes() == b"old"
    assert listing(tmp_path) == ["x"]


def test_a_link_is_replaced_and_not_followed(tmp_path):
    victim, path = tmp_path / "victim", tmp_path / "x"
    victim.write_bytes(b"precious")
    path.symlink_to(victim)
    write_whole(path, b"new")
    assert victim.read_bytes() == b"precious"
    assert not path.is_symlink()
    assert path.read_bytes() == b"new"


def test_modes_are_those_of_other_files_or_of_the_file_before(tmp_path):
    path, usual = tmp_path / "x", tmp_path / "usual"
    usual.touch()
    write_whole(path, b"")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    path.chmod(0o600)
    write_whole(path, b"private")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_pipes_and_devices_are_written_to(tmp_path):
    write_whole("/dev/null", b"nothing")
    assert not os.path.isfile("/dev/null")  # noqa: PTH113 (a device)
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"through")
    reader.join()
    assert found == [b"through"]


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_whole(tmp_path / "nowhere" / "x", b"")


@pytest.fixture(scope="module")
def explained():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = DecisionTreeRegressor(max_leaf_nodes=8, random_state=0).fit(X, y)
    return gw.Explainer(model, X), X


@pytest.mark.parametrize("suffix", ["gw", "parquet", "html"])
def test_no_output_is_written_through_a_link(explained, suffix, tmp_path):
    ex, X = explained
    victim, path = tmp_path / "victim", tmp_path / f"x.{suffix}"
    victim.write_bytes(b"precious")
    path.symlink_to(victim)
    write = {
        "gw": gw.summarize(ex.ensemble, X).save,
        "parquet": ex.interaction_values(X[:5], max_order=2).to_parquet,
        "html": ex.report,
    }[suffix]
    write(path)
    assert victim.read_bytes() == b"precious"
    assert path.stat().st_size > 100
    assert listing(tmp_path) == ["victim", path.name]


# ------------------------------------------------------------------------------------------------- arrays


vectors = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1)).map(lambda values: np.array(values, dtype=np.int64)),
    st.lists(st.integers(0, 300)).map(lambda values: np.array(values, dtype=np.int64)),
    st.lists(st.floats()).map(lambda values: np.array(values, dtype=np.float64)),
    st.binary().map(lambda content: np.frombuffer(content, np.uint8)),
)


@given(st.dictionaries(st.text(), vectors), st.dictionaries(st.text(), st.integers() | st.text()))
def test_what_is_packed_comes_back(arrays, facts):
    again = unpack_arrays(KIND, pack_arrays(KIND, facts, arrays))
    assert again[0] == facts
    assert list(again[1]) == list(arrays)
    for name, array in arrays.items():
        assert again[1][name].dtype == array.dtype
        np.testing.assert_array_equal(again[1][name], array)


@pytest.mark.parametrize(("max_", "size"), [(255, 1), (256, 2), (65536, 4), (2**32, 8)])
def test_integers_take_few_bytes(max_, size):
    counts = np.full(1000, max_)
    assert len(pack_arrays(KIND, {}, {"counts": counts})) - len(pack_arrays(KIND, {}, {})) < 1000 * size + 50


def sealed(header, body=b""):
    """Return packed arrays with a header of one's own and a digest that is right."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    packed = f"{KIND}\n".encode() + len(text).to_bytes(8, "little") + text + body
    return packed + sha256(packed).digest()


@pytest.mark.parametrize(
    "packed",
    [
        sealed({"facts": {}, "arrays": [["counts", "<i8", "<i8", 10**12]]}),
        sealed({"facts": {}, "arrays": [["counts", "<i8", "|u1", 10**9]]}, bytes(100)),
        sealed({"facts": {}, "arrays": [["counts", "<i8", "|u1", -1], ["cells", "<i8", "|u1", 1]]}),
        sealed({"facts": {}, "arrays": [["counts", "<i8", "|u1", 1.0]]}, bytes(1)),
        sealed({"facts": {}, "arrays": [["counts", "<i8", "<f8", 1]]}, bytes(8)),
        sealed({"facts": {}, "arrays": [["counts", "|O", "|O", 1]]}, bytes(8)),
        sealed({"facts": {}, "arrays": [["counts", "<i8", "|u1", 1]]}, bytes(2)),
        sealed({"facts": {}, "arrays": 3}),
        sealed({"facts": [], "arrays": []}),
        sealed({"facts": {}}),
        sealed([1]),
        sealed(b"[" * 100_000),
        sealed(b"9" * 5_000),
        sealed(b"\xff"),
        sealed(b""),
    ],
)
def test_claims_are_checked_before_memory_is_taken(packed):
    tracemalloc.start()
    try:
        with pytest.raises(BackgroundError, match="its header is damaged"):
            unpack_arrays(KIND, packed)
        assert tracemalloc.get_traced_memory()[1] < 20 * len(packed) + 100_000
    finally:
        tracemalloc.stop()
