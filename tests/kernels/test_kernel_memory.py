"""Kernels read nothing after it was freed."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the memory of other systems cannot be controlled")
def test_nothing_is_read_after_it_was_freed():
    # The C library overwrites whatever is freed: use of it would be a crash, or nonsense.
    tunables = "glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"
    env = {**os.environ, "GLIBC_TUNABLES": tunables}
    done = subprocess.run([sys.executable, "-c", QUESTIONS], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
