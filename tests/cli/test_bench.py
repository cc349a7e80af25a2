"""glasswood bench: constants of this machine, and what larger work would take."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import glasswood as gw
from glasswood import _bench
from glasswood._bench import Constants, capacity, made_model, made_rows, measure_constants
from glasswood.cli._app import app

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def constants():
    done = []
    found = measure_constants(0.1, done.append)
    assert len(done) == _bench.STEPS
    return found


def test_constants_are_costs(constants):
    assert all(value > 0 for value in constants.facts().values() if not isinstance(value, str))
    assert constants.numbers_2 > constants.numbers_1 >= 64


def test_the_generated_model_is_one():
    model, rows = made_model(7, 5), made_rows(100, 7)
    assert model.n_leaves == 5 * 64
    curve = gw.Explainer(model, rows).partial_dependence("x3")
    brute = [model.predict(rows | {"x3": np.full(100, value, dtype=np.float32)}).mean() for value in (-1, 0, 1)]
    np.testing.assert_allclose(curve([-1, 0, 1]), brute, rtol=0, atol=1e-12)


def test_capacity_is_the_constants_multiplied_out():
    second = Constants(1e-9, 2e-9, 3e-9, 2e-9, 6e-9, 1e-7, 0.0, 400, 1000, 2, "a machine")
    table = capacity(second)
    lines = list(zip(*table.values(), strict=True))
    assert len(lines) == 12
    first = 10**8 * (100 * 3e-9 + 100 * 3e-9) / 3600
    assert lines[0] == (
        10**8,
        100,
        100,
        *(float(f"{x:.2g}") for x in (first, first * 1.5, 10**8 * (1e-5 + 1e-7) / 3600)),
    )


def test_the_command(monkeypatch, constants):
    from glasswood.cli import _bench as command

    monkeypatch.setattr(command, "measure_constants", lambda *_: constants)
    done = CliRunner().invoke(app, ["bench", "--capacity"])
    assert done.exit_code == 0, done.output
    assert "Shapley values" in done.output
    assert "core-hours:" in done.output
    found = json.loads(CliRunner().invoke(app, ["bench", "--json", "--capacity"]).output)
    assert found["read_value"] == constants.read_value
    assert len(found["core_hours"]) == 12
    assert "core_hours" not in json.loads(CliRunner().invoke(app, ["bench", "--json"]).output)


def test_the_page_has_the_figures_of_the_dated_run():
    page = (ROOT / "docs" / "guide" / "capacity.md").read_text(encoding="utf-8")
    found = json.loads((ROOT / "benchmarks" / "results" / "capacity-2026-11-18.json").read_text())
    lines = found.pop("core_hours")
    table = capacity(Constants(**found))
    for number, line in enumerate(lines):
        assert line == {name: values[number] for name, values in table.items()}
        powers = [f"10^{len(str(line[name])) - 1}" for name in ("rows", "features", "trees")]
        hours = [f"{line[name]:,g}" for name in ("order 1", "order 2", "Shapley values")]
        assert "| " + " | ".join([*powers, *hours]) + " |" in page
