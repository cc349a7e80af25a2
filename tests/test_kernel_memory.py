"""Kernels that work with addresses keep what is there: Numba frees an array after its last mention by name."""

from __future__ import annotations

import ast
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

import glasswood

KERNELS = sorted((Path(glasswood.__file__).parent / "kernels").glob("*.py"))
FUNCTIONS = [
    (f"{path.stem}.{node.name}", node)
    for path in KERNELS
    for node in ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef) and "ctypes" in ast.dump(node)
]


def own_arrays_with_addresses(function):
    """The names of arrays that a function makes, and whose addresses it takes."""
    made, addressed = set(), set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else node.targets
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            pairs = zip(targets, values, strict=False)
            made |= {ast.unparse(target) for target, value in pairs if ast.unparse(value).startswith("np.")}
        if isinstance(node, ast.Attribute) and node.attr == "ctypes":
            addressed.add(ast.unparse(node.value))
    return made & addressed


@pytest.mark.parametrize(("name", "function"), FUNCTIONS, ids=[name for name, _ in FUNCTIONS])
def test_arrays_whose_addresses_are_taken_are_held_to_the_end(name, function):
    needed = own_arrays_with_addresses(function)
    last = function.body[-1]
    is_hold = isinstance(last, ast.Expr) and ast.unparse(last).startswith("hold((")
    held = {node.id for node in ast.walk(last) if isinstance(node, ast.Name)} - {"hold"} if is_hold else set()
    assert needed <= held, f"{name}: the last statement must be hold(({', '.join(sorted(needed))},))"


def test_the_kernels_are_looked_at():
    needed = {name: own_arrays_with_addresses(function) for name, function in FUNCTIONS}
    assert needed["_leaves.add_leaf_tables"] == {"suits", "met", "line", "one", "lines"}
    assert needed["_bitsets._evaluate"] == set()


QUESTIONS = """
import numpy as np, glasswood as gw
from sklearn.ensemble import GradientBoostingClassifier
X = np.random.default_rng(0).normal(size=(600, 4)).round(1)
model = GradientBoostingClassifier(n_estimators=5).fit(X, X[:, 0] * X[:, 1] > 0)
score, rows = model.decision_function(X), np.tile(X, (8, 1))
for background in (X, None):
    ex = gw.Explainer(model, background)
    found = ex.shap_values(rows)
    assert np.abs(found.values.sum(axis=1) + found.base_values - np.tile(score, 8)).max() < 1e-12
    assert np.abs(ex.interaction_values(rows).values.sum(axis=1) - np.tile(score, 8)).max() < 1e-12
changed = X.copy()
changed[:, 0] = 0.5
curve = gw.Explainer(model, X, response="probability").partial_dependence(0)
assert abs(curve(0.5) - model.predict_proba(changed)[:, 1].mean()) < 1e-12
assert len(gw.summarize(model, X, by=(X[:, 0] > 0))) == 2
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the memory of other systems cannot be told to")
def test_nothing_is_read_after_it_was_freed():
    # The C library overwrites whatever is freed: use of it would be a crash, or nonsense.
    tunables = "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"
    env = {**os.environ, "GLIBC_TUNABLES": tunables}
    done = subprocess.run([sys.executable, "-c", QUESTIONS], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
