"""Long passes: killed ones go on where they were, damaged files stop them by name, and nothing is counted twice."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import glasswood as gw
from glasswood.counting import _job
from glasswood.counting._column_ends import EndsSpec
from glasswood.counting._partial import WHOLE, Partial
from glasswood.engines import _checkpoint as _checkpoints
from glasswood.errors import BackgroundError, TableError
from glasswood.parallel import _progress
from glasswood.tables import _parquet
from glasswood.tables._files import pack_arrays
from helpers.streams import GROUP, ROWS, boosted, numbers, write

PATIENCE = 60.0  # seconds; CI machines are slow

# Reads slowly and tells what it reads. `halt` in the environment: hang while the third checkpoint is saved.
SCRIPT = """
import os, pickle, sys, time
from pathlib import Path
import glasswood as gw
from glasswood.engines import _checkpoint as _checkpoints
from glasswood.counting import _job

_checkpoints.INTERVAL = 0.0
honest, synced = _job.read_whole, []

def slow(fragment, names):
    print(fragment.name, flush=True)
    time.sleep(0.2)
    yield from honest(fragment, names)

def hang(_):
    synced.append(1)
    if len(synced) == 3 and "halt" in os.environ:
        print("saving", flush=True)
        time.sleep(1000)

_job.read_whole, os.fsync = slow, hang
ensemble = pickle.loads(Path(sys.argv[1]).read_bytes())
print("started", flush=True)
gw.summarize(ensemble, sys.argv[2], checkpoint=sys.argv[3])
print("finished", flush=True)
"""


@pytest.fixture(scope="module")
def known():
    """A model, rows as an Arrow table, and their counts."""
    frame, y = numbers()
    ensemble = gw.read_model(boosted(frame, y), frame)
    return ensemble, pa.Table.from_pandas(frame, preserve_index=False), gw.summarize(ensemble, frame)


@pytest.fixture
def counted(monkeypatch):
    """The fragments that are counted from now on, and a checkpoint after each of them."""
    names = []
    honest = _job.read_whole

    def watched(fragment, columns):
        names.append(fragment.name)
        return honest(fragment, columns)

    monkeypatch.setattr(_job, "read_whole", watched)
    monkeypatch.setattr(_checkpoints, "INTERVAL", 0.0)
    return names


@pytest.fixture
def files(known, tmp_path):
    return write(known[1], tmp_path / "data")


@pytest.fixture
def slowly(known, files, tmp_path):
    """Start a process that counts slowly, and return it as soon as it has said enough."""
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "model").write_bytes(pickle.dumps(known[0]))
    started = []

    def start(until, **environment):
        command = [sys.executable, "script.py", "model", str(files[0].parent), str(tmp_path / "kept")]
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
        )
        started.append(process)
        said = []
        while not until(said):
            line = process.stdout.readline()
            assert line, process.stderr.read()
            said.append(line.strip())
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def only_file(folder, ending=".partial"):
    (found,) = folder.glob(f"*{ending}")
    return found


# ------------------------------------------------------------------------------------------------- killed


def test_a_killed_pass_goes_on_where_it_was(known, files, slowly, counted, tmp_path):
    ensemble, _, expected = known
    process = slowly(lambda said: len(said) > 5)
    process.send_signal(signal.SIGKILL)
    assert process.wait(PATIENCE) == -signal.SIGKILL
    before = _checkpoints.Checkpoint(tmp_path / "kept", _job_of(ensemble)).digests
    assert 0 < len(before) < ROWS // GROUP
    assert gw.summarize(ensemble, files[0].parent, checkpoint=tmp_path / "kept") == expected
    assert len(counted) == len(set(counted)) == ROWS // GROUP - len(before)
    # Once more: nothing is left to be counted.
    assert gw.summarize(ensemble, files[0].parent, checkpoint=tmp_path / "kept") == expected
    assert len(counted) == ROWS // GROUP - len(before)


def _job_of(ensemble, order=1):
    names = {int(f): ensemble.feature_names[f] for f in ensemble.used_features}
    return _job.Job(ensemble, order, {}, names, further=(EndsSpec(),))


def test_a_pass_that_is_killed_while_it_saves(known, files, slowly, counted, tmp_path):
    ensemble, _, expected = known
    process = slowly(lambda said: "saving" in said, halt="yes")
    process.kill()
    process.wait(PATIENCE)
    assert only_file(tmp_path / "kept", ".new").exists()
    assert only_file(tmp_path / "kept").exists()
    assert gw.summarize(ensemble, files[0].parent, checkpoint=tmp_path / "kept") == expected
    assert len(counted) == ROWS // GROUP - 2


def test_an_interrupted_pass_ends_soon(known, files, slowly, counted, tmp_path):
    ensemble, _, expected = known
    process = slowly(lambda said: len(said) > 3)
    process.send_signal(signal.SIGINT)
    since = time.monotonic()
    _, errors = process.communicate(timeout=PATIENCE)
    assert time.monotonic() - since < 5
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert gw.summarize(ensemble, files[0].parent, checkpoint=tmp_path / "kept") == expected
    assert len(counted) < ROWS // GROUP


# ------------------------------------------------------------------------------------------------- the folder


def test_files_that_are_added_are_all_that_is_counted(known, files, counted, tmp_path):
    ensemble, table, expected = known
    first = gw.summarize(ensemble, files[:2], checkpoint=tmp_path / "kept")
    assert first == gw.summarize(ensemble, table.slice(0, 2 * ROWS // 3))
    assert len(counted) == 2 * ROWS // 3 // GROUP
    counted.clear()
    assert gw.summarize(ensemble, files, checkpoint=tmp_path / "kept") == expected
    assert len(counted) == ROWS // 3 // GROUP
    assert {name.split(",")[0] for name in counted} == {str(files[2])}


def test_other_questions_have_other_checkpoints(known, files, tmp_path):
    ensemble, table, expected = known
    table = table.append_column("g", pa.array(np.arange(ROWS) % 3)).append_column("w", pa.array(np.arange(ROWS) % 5))
    write(table, files[0].parent)
    frame, y = numbers()
    turned = frame.rename(columns={"x0": "x1", "x1": "x0"})[["x0", "x1", "x2", "x3"]]
    other = gw.read_model(boosted(frame, -y * frame["x3"].fillna(0)))
    # The same trees, but the names of two columns are exchanged.
    renamed = gw.read_model(boosted(frame.rename(columns={"x0": "x1", "x1": "x0"}), y))
    asked = [
        (ensemble, {}),
        (ensemble, {"order": 2}),
        (ensemble, {"by": "g"}),
        (ensemble, {"sample_weight": "w"}),
        (ensemble, {"groups": {"both": ["x0", "x1"]}}),
        (other, {}),
        (renamed, {}),
    ]
    for model, settings in asked * 2:
        found = gw.summarize(model, files[0].parent, checkpoint=tmp_path / "kept", **settings)
        assert found == gw.summarize(model, table, **settings)
    assert len(list((tmp_path / "kept").iterdir())) == len(asked)
    assert gw.summarize(renamed, turned) == expected
    assert gw.summarize(renamed, table) != expected


def test_groups_are_kept_as_they_are(known, files, counted, tmp_path):
    ensemble, table, _ = known
    table = table.append_column("g", pa.array([None, "a", "b"] * (ROWS // 3)))
    table = table.append_column("day", pa.array(np.array(["2026-01-01", "NaT"] * (ROWS // 2), dtype="datetime64[D]")))
    expected = gw.summarize(ensemble, table, by=["g", "day"])
    assert len(expected) == 6
    write(table, files[0].parent)
    gw.summarize(ensemble, files[:1], by=["g", "day"], checkpoint=tmp_path / "kept")
    assert gw.summarize(ensemble, files, by=["g", "day"], checkpoint=tmp_path / "kept") == expected
    assert len(counted) == ROWS // GROUP


def forged(content, change):
    """Return a checkpoint with too few counts, or of groups where there should be none."""
    partial, notes = Partial.unpack(content)
    (tally,) = partial.tallies.values()
    if change == "keyed":
        return replace(partial, tallies={("a group", 0): tally}, rows={"a group": partial.n_rows}).pack(**notes)
    return replace(
        partial, tallies={(WHOLE, 0): replace(tally, vectors={**tally.vectors, "counts": tally.vectors["counts"][:1]})}
    ).pack(**notes)


@pytest.mark.parametrize("change", ["flip", "cut", "empty", "text", "foreign", "short", "keyed"])
def test_damaged_checkpoints_are_refused(known, files, change, tmp_path):
    ensemble, _, expected = known
    gw.summarize(ensemble, files, checkpoint=tmp_path)
    path = only_file(tmp_path)
    content = bytearray(path.read_bytes())
    if change == "flip":
        content[len(content) // 2] ^= 4
    elif change == "foreign":
        content = pack_arrays("glasswood counts 4", {"a": 1}, {})
    elif change in ("short", "keyed"):  # with a digest that is right: made by somebody, not by chance
        content = forged(bytes(content), change)
    else:
        content = {"cut": content[:-100], "empty": b"", "text": b"hello, I am not a checkpoint"}[change]
    path.write_bytes(content)
    with pytest.raises(BackgroundError, match=rf"{path.name}.*remove it and count again"):
        gw.summarize(ensemble, files, checkpoint=tmp_path)
    path.unlink()
    assert gw.summarize(ensemble, files, checkpoint=tmp_path) == expected


def test_files_that_changed_or_went_after_they_were_counted(known, files, tmp_path):
    ensemble, table, _ = known
    gw.summarize(ensemble, files, checkpoint=tmp_path / "kept")
    with pytest.raises(BackgroundError, match="changed, moved or removed"):
        gw.summarize(ensemble, files[:2], checkpoint=tmp_path / "kept")
    parquet.write_table(table.slice(7, 5), files[1])
    with pytest.raises(BackgroundError, match="changed, moved or removed"):
        gw.summarize(ensemble, files, checkpoint=tmp_path / "kept")
    assert gw.summarize(ensemble, files, checkpoint=tmp_path / "other").n_rows == 2 * ROWS // 3 + 5


# ------------------------------------------------------------------------------------------------- bad files


def truncate(path, table):
    path.write_bytes(path.read_bytes()[:-200])


def overwrite(path, table):
    path.write_bytes(b"once upon a time, " * 100)


def drop(path, table):
    parquet.write_table(table.drop(["x1"]), path, row_group_size=GROUP)


def write_text(path, table):
    parquet.write_table(table.set_column(1, "x1", pa.array(["text"] * len(table))), path, row_group_size=GROUP)


def damage(path, table, *, checksum):
    """Damage one number of a page in the last row group, or all of it if there is no sum to check."""
    parquet.write_table(table, path, row_group_size=GROUP, write_page_checksum=checksum, use_dictionary=False)
    last = parquet.read_metadata(path).num_row_groups - 1
    chunk = parquet.read_metadata(path).row_group(last).column(1)
    content = bytearray(path.read_bytes())
    end = chunk.data_page_offset + chunk.total_compressed_size
    first = end - 16 if checksum else chunk.data_page_offset
    content[first:end] = bytes(255 - value for value in content[first:end])
    path.write_bytes(content)


def flip(path, table):
    damage(path, table, checksum=True)


def garble(path, table):
    damage(path, table, checksum=False)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("spoil", [truncate, overwrite, drop, write_text, flip, garble])
def test_bad_files_stop_the_pass_by_name(known, files, counted, spoil, place, tmp_path):
    ensemble, _, expected = known
    part = parquet.read_table(files[place])
    stat = files[place].stat()
    spoil(files[place], part)
    # The first file says what columns there are.
    message = "lacks 1 of the model's 4 columns" if (spoil, place) == (drop, 0) else files[place].name
    with pytest.raises(TableError, match=message):
        gw.summarize(ensemble, files, checkpoint=tmp_path / "kept")
    with pytest.raises(TableError, match=message):
        gw.summarize(ensemble, files)
    # What is saved are whole fragments: it is right as soon as the file is.
    if spoil in (flip, garble):  # some of its row groups may have been counted: repaired means as it was
        stat = files[place].stat()
        parquet.write_table(
            part, files[place], row_group_size=GROUP, write_page_checksum=spoil is flip, use_dictionary=False
        )
    else:
        parquet.write_table(part, files[place], row_group_size=GROUP)
    os.utime(files[place], ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert gw.summarize(ensemble, files, checkpoint=tmp_path / "kept") == expected


def test_a_file_that_changes_during_the_pass(known, files, monkeypatch, tmp_path):
    ensemble, table, _ = known
    honest, seen = _job.read_whole, []

    def meddling(fragment, names):
        if not seen:
            parquet.write_table(table.slice(0, 10), files[2])
        seen.append(fragment)
        return honest(fragment, names)

    monkeypatch.setattr(_job, "read_whole", meddling)
    with pytest.raises(TableError, match=r"part-2\.parquet has changed since the work was planned"):
        gw.summarize(ensemble, files, checkpoint=tmp_path / "kept")


def test_a_file_with_fewer_rows_than_its_footer_says(known, files, monkeypatch):
    ensemble, _, _ = known
    honest = _parquet.read_fragment
    monkeypatch.setattr(_parquet, "read_fragment", lambda f, n, **few: (t.slice(1) for t in honest(f, n, **few)))
    with pytest.raises(TableError, match=r"part-\d\.parquet.*footer says 250"):
        gw.summarize(ensemble, files)


def test_an_error_of_ours_is_not_hidden(known, files, monkeypatch):
    monkeypatch.setattr(_job.Sums, "add", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        gw.summarize(known[0], files)


# ------------------------------------------------------------------------------------------------- progress


def test_long_passes_show_progress_and_short_ones_nothing(known, files, monkeypatch, capsys):
    ensemble, table, _ = known
    gw.summarize(ensemble, files)
    gw.summarize(ensemble, table.to_reader())
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(_progress, "PATIENCE", 0.1)
    honest = _job.read_whole

    def slow(fragment, names):
        time.sleep(0.1)
        return honest(fragment, names)

    monkeypatch.setattr(_job, "read_whole", slow)
    gw.summarize(ensemble, files)
    out, shown = capsys.readouterr()
    assert out == ""
    assert "counting" in shown
    assert "rows/s" in shown
    assert "3.00k" in shown  # of how many
