"""The compiled core refuses what does not fit, and never writes elsewhere."""

from __future__ import annotations

import platform
import sys
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasswood.counting._plan import make_plan
from glasswood.effects._closed_forms import Effects
from glasswood.engines._local import count
from glasswood.kernels import _core, _cpu
from helpers import twin
from helpers.core_calls import NAMES, ask_everything, copied, recorded, wrong
from helpers.strategies import ensembles, tables


@pytest.fixture(scope="module")
def calls():
    with pytest.MonkeyPatch.context() as patch:
        return recorded(patch, ask_everything)


def test_every_kernel_is_called(calls):
    assert [name for name in NAMES if not calls[name]] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_fit_is_refused(name, calls):
    """Arrays of another type or order are always refused; another size or entries out of range, if they matter.

    With a core that was built with sanitizers, this shows that nothing else is read or written; see CONTRIBUTING.md.
    """
    rng = np.random.default_rng(0)
    for args, named in calls[name]:
        for place, argument in [*enumerate(args), *named.items()]:
            for what, changed in wrong(argument, rng):
                here, there = [copied(a) for a in args], {key: copied(a) for key, a in named.items()}
                (here if isinstance(place, int) else there)[place] = changed
                if what in ("type", "order"):
                    with pytest.raises((TypeError, ValueError)):
                        getattr(_core, name)(*here, **there)
                else:
                    with suppress(TypeError, ValueError, MemoryError):
                        getattr(_core, name)(*here, **there)


def test_groups_without_rows_are_refused(calls):
    """The bitset kernel looks for the word in which each group ends, and an empty first group ends in none."""
    (counts, cells), _ = calls["CountTargets"][0]
    args, named = calls["count_with_bitsets"][0]
    columns, which, bounds, conditions, trees, subsets, weight, _, *digests = args
    homes = _core.CountTargets([*copied(counts), *copied(counts)], [*copied(cells), *copied(cells)])
    for empty in ([0, 0, bounds[-1]], [0, bounds[-1], bounds[-1]]):
        with pytest.raises(ValueError, match="a group has no rows"):
            _core.count_with_bitsets(
                columns, which, np.array(empty), conditions, trees, subsets, weight, homes, *digests, **named
            )


def test_the_stub_is_what_the_module_tells():
    pytest.importorskip("nanobind")
    path = Path(__file__).parents[2] / "tools" / "stub.py"
    spec = spec_from_file_location("stub", path)
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.PATH.read_text() == made.stub()


@settings(max_examples=60)
@given(ensembles(), st.integers(1, 70), st.integers(0, 2**32 - 1), st.booleans())
def test_counts_curves_and_pairs_are_those_of_the_twin(ensemble, n_rows, seed, whole):
    table = tables(ensemble, n_rows, seed)
    weight = np.random.default_rng(seed).integers(0, 2**40, size=n_rows) if whole else None
    plan = make_plan(ensemble, 2, None)
    found = count(plan, table, weight)
    cells = {f: plan.cells.locate(f, table[:, f]) for f in range(ensemble.n_features)}
    expected = twin.counts(plan, cells, np.ones(n_rows, dtype=np.int64) if weight is None else weight)
    np.testing.assert_array_equal(found.counts, expected)
    if expected.any():
        effects = Effects(plan, found.counts, found.total)
        for f, curve in effects.curves().items():
            np.testing.assert_array_equal(curve, twin.curves(plan, expected)[f] * effects.unit + effects.mean)
        for a, b in combinations(range(min(3, ensemble.n_features)), 2):
            ours, theirs = effects.pair(a, b).all(), twin.interaction(plan, expected, a, b) * effects.unit
            np.testing.assert_array_equal(ours, theirs)


FLAGS = {  # as Linux names them
    "v2": "cx16 lahf_lm pni popcnt sse4_1 sse4_2 ssse3",
    "v3": "abm avx avx2 bmi1 bmi2 f16c fma movbe",
    "v4": "avx512bw avx512cd avx512dq avx512f avx512vl",
    "avx512": "avx512_vpopcntdq",
}


@pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="flags of Linux on x86-64")
def test_levels_are_those_of_the_processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    flags = set(next(line for line in lines if line.startswith("flags")).split(":")[1].split())
    expected = []
    for level, needed in FLAGS.items():
        if not flags >= set(needed.split()):
            break
        expected.insert(0, level)
    assert _cpu.levels() == expected
