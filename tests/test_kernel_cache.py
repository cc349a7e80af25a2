"""What is compiled is kept on disk for other processes, which never take one thing for another."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import njit
from numba.core.caching import IndexDataCacheFile

from glasswood.kernels import _cache

OURS = _cache._OneFileEach
MACHINE, CODE = ("x86_64", "some-cpu", "+avx"), ("code", "closure")


def key_of(signature, machine=MACHINE, code=CODE):
    return signature, machine, code


def interleaved(kind, folder):
    """Two processes compile two signatures at the same time; return what a third loads for each."""
    first, second = (kind(str(folder), "kernel", "stamp") for _ in range(2))
    second._load_index = dict  # it looked before the first one wrote, and found nothing
    write = first._dump

    def write_after_the_other(data):
        if data == "code for float32":
            second.save(key_of("float64"), "code for float64")
        return write(data)

    first._dump = write_after_the_other
    first.save(key_of("float32"), "code for float32")
    third = kind(str(folder), "kernel", "stamp")
    return third.load(key_of("float32")), third.load(key_of("float64"))


def test_two_processes_that_compile_at_once(tmp_path):
    assert interleaved(OURS, tmp_path) == ("code for float32", "code for float64")


def test_numba_itself_takes_one_for_the_other(tmp_path):
    # If this fails, Numba has a better cache: see whether `_cache.py` is needed any longer.
    assert interleaved(IndexDataCacheFile, tmp_path) == (None, "code for float32")


def test_what_is_kept_is_of_one_machine_source_and_code(tmp_path):
    kept = OURS(str(tmp_path), "kernel", "stamp")
    kept.save(key_of("int64"), [1, 2])
    assert kept.load(key_of("int64")) == [1, 2]
    assert kept.load(key_of("int32")) is None
    assert kept.load(key_of("int64", ("x86_64", "generic", ""))) is None
    assert kept.load(key_of("int64", code=("other", "closure"))) is None
    assert OURS(str(tmp_path), "kernel", "later").load(key_of("int64")) is None
    assert OURS(str(tmp_path), "another", "stamp").load(key_of("int64")) is None


def test_newer_code_takes_the_place_of_older(tmp_path):
    OURS(str(tmp_path), "kernel", "stamp").save(key_of("int64"), 1)
    OURS(str(tmp_path), "kernel", "later").save(key_of("int64"), 2)
    assert len(list(tmp_path.iterdir())) == 1
    assert OURS(str(tmp_path), "kernel", "later").load(key_of("int64")) == 2


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps("about something else") + b"garbage"])
def test_damaged_files_are_not_loaded(tmp_path, content):
    kept = OURS(str(tmp_path), "kernel", "stamp")
    kept._path(key_of("int64")).write_bytes(content)
    assert kept.load(key_of("int64")) is None


def test_a_folder_that_cannot_be_written_to(tmp_path):
    kept = OURS(str(tmp_path / "absent"), "kernel", "stamp")
    kept.save(key_of("int64"), 1)
    assert kept.load(key_of("int64")) is None


def test_functions_that_are_not_kept_are_left_alone():
    compiled = njit(lambda x: x + 1)
    _cache.keep_apart(compiled)
    assert compiled(1) == 2
    _cache.keep_apart(len)  # with NUMBA_DISABLE_JIT, kernels are plain functions


CHILD = """
import numpy as np
from glasswood.kernels import _forest
stump = [np.array([0], np.int32), np.array([~0], np.int32), np.array([~1], np.int32)]
assert _forest.is_forest(*stump, 2)
print(sum(_forest.is_forest.stats.cache_hits.values()), sum(_forest.is_forest.stats.cache_misses.values()))
"""


def test_the_second_process_compiles_nothing_until_a_source_changes(tmp_path):
    copy = tmp_path / "glasswood"
    shutil.copytree(Path(_cache.__file__).parents[1], copy, ignore=shutil.ignore_patterns("__pycache__"))
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": ""}

    def ask():
        command = [sys.executable, "-c", CHILD]
        return subprocess.run(command, env=env, check=True, capture_output=True, text=True, cwd=tmp_path).stdout.split()

    assert [ask(), ask()] == [["0", "1"], ["1", "0"]]
    parts = copy / "kernels" / "_vectors.py"  # of which kernels are made, but not this one's own file
    os.utime(parts, ns=(0, 0))
    assert ask() == ["0", "1"]
