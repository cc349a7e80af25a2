"""Fixtures shared by all tests, and the table of configurations at the end of the test report."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import glasswood as gw

collect_ignore = ["helpers/s3_server.py"]  # a program for a Python that has moto

# Several processes whose threads of OpenMP wait for each other take twice as long. Read when a library first loads it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The first example imports libraries, so times say nothing.
settings.register_profile("glasswood", deadline=None)
settings.load_profile("glasswood")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared():
    """The folder of real data and models beside the repository."""
    if not SHARED.is_dir():
        pytest.skip("the folder shared/ with real data and models is not beside the repository")
    return SHARED


@pytest.fixture
def prove(record_property, request):
    """A function that proves that a model was read right, and notes it in the report.

    `raw(model, rows)` is the library's own raw score; `hostile(ensemble)` makes the rows. Equal means equal in every
    bit, unless `within` gives a tolerance.
    """

    def prove(model, raw, hostile, *, within=0.0, **reading):
        ensemble = gw.read_model(model, **reading)
        rows = hostile(ensemble)
        ours, theirs = ensemble.predict(rows), np.asarray(raw(model, rows))
        note = {
            "configuration": request.node.callspec.id if hasattr(request.node, "callspec") else request.node.name,
            "model": ensemble.source,
            "trees": ensemble.n_trees,
            "leaves": ensemble.n_leaves,
            "outputs": ensemble.n_outputs,
            "rows": len(ours),
            "different": int((ours != theirs.reshape(ours.shape)).sum()),
            "worst": float(np.abs(ours - theirs.reshape(ours.shape)).max()),
        }
        record_property("reader", note)
        assert ours.shape == theirs.shape
        if within:
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=within)
        else:
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)
        return ensemble

    return prove


def pytest_terminal_summary(terminalreporter, config):
    """Print one line for every model configuration that was proved; in parallel runs, for every kind of model."""
    notes = [
        value
        for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
        for name, value in getattr(report, "user_properties", [])
        if name == "reader" and report.when == "call"
    ]
    if not notes:
        return
    terminalreporter.section(f"model configurations read and compared with their library: {len(notes)}")
    if config.getoption("numprocesses", None):
        for model, n in sorted(Counter(note["model"] for note in notes).items()):
            terminalreporter.write_line(f"{model:<44} {n:>6}")
        return
    line = "{model:<44} {configuration:<44} {trees:>6} {leaves:>8} {outputs:>7} {rows:>7} {different:>9} {worst:>9}"
    terminalreporter.write_line(line.format(**{name: name for name in notes[0]}))
    for note in sorted(notes, key=lambda note: (note["model"], note["configuration"])):
        terminalreporter.write_line(line.format(**note | {"worst": f"{note['worst']:.1e}"}))
