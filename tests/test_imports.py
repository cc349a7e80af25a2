"""Importing Glasswood is quick and loads no optional library; each one is met only when a model or table of it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import glasswood as gw

OPTIONAL = (
    "catboost click dask distributed duckdb lightgbm matplotlib numba pandas plotly polars pyarrow pyspark ray scipy "
    "sklearn treelite xgboost"
)


def run(code, **variables):
    env = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    return done.stdout.strip()


def test_import_loads_no_optional_library():
    code = f"import sys, glasswood; print([name for name in '{OPTIONAL}'.split() if name in sys.modules])"
    assert run(code) == "[]"


def test_import_is_quick():
    # Processor time against that of NumPy alone, in turn, because the machine may be slow or busy: 0.25 s where NumPy
    # takes 0.1 s, and up to 0.3 s beside other tests.
    def seconds(module):
        code = f"import time; start = time.process_time(); import {module}; print(time.process_time() - start)"
        return float(run(code))

    times = [(seconds("glasswood"), seconds("numpy")) for _ in range(5)]
    assert min(ours for ours, _ in times) < 4 * min(numpy for _, numpy in times)


def test_reading_a_model_loads_only_its_own_library():
    code = (
        "import sys, numpy as np, glasswood as gw\n"
        "from sklearn.tree import DecisionTreeRegressor\n"
        "model = DecisionTreeRegressor().fit(np.eye(3), np.arange(3.0))\n"
        "gw.read_model(model, np.eye(3))\n"
        "print([name for name in ('xgboost', 'lightgbm', 'catboost', 'treelite', 'polars') if name in sys.modules])"
    )
    assert run(code) == "[]"


def test_without_a_cache_directory_kernels_still_run(tmp_path):
    # Numba finds no place for its cache in a read-only install without a home directory (numba#5566).
    code = (
        "import numba.core.caching as caching\n"
        "caching.CacheImpl._locator_classes = []\n"
        "import numpy as np, glasswood as gw\n"
        "from sklearn.tree import DecisionTreeRegressor\n"
        "model = DecisionTreeRegressor().fit(np.eye(3), np.arange(3.0))\n"
        "print(gw.read_model(model).predict(np.eye(3)).tolist())"
    )
    assert run(code) == "[0.0, 1.0, 2.0]"


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv, to take root's rights from root")
def test_a_read_only_install_without_a_home_keeps_what_it_compiles(tmp_path):
    # As on the executors of a cluster: kernels are kept in a folder of our own, closed to others.
    package = tmp_path / "lib" / "glasswood"
    shutil.copytree(Path(gw.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [package, *package.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code = (
        f"import sys; sys.path.insert(0, {str(package.parent)!r})\n"
        "import numba, numpy as np, glasswood as gw\n"
        "from sklearn.tree import DecisionTreeRegressor\n"
        "model = DecisionTreeRegressor().fit(np.eye(3), np.arange(3.0))\n"
        "print(gw.__file__, gw.read_model(model).predict(np.eye(3)).tolist(), repr(numba.config.CACHE_DIR))"
    )
    weak = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override"]
    env = {"PATH": os.environ["PATH"], "HOME": "/dev/null/none", "TMPDIR": str(scratch)}
    command = [*weak, sys.executable, "-c", code] if os.getuid() == 0 else [sys.executable, "-c", code]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
        assert done.stdout.strip() == f"{package / '__init__.py'} [0.0, 1.0, 2.0] ''"
    (kept,) = scratch.iterdir()
    assert kept.name == f"glasswood-{os.getuid()}"
    assert kept.stat().st_mode & 0o777 == 0o700
    assert list(kept.rglob("*.nbc"))


# What is compiled for a machine that has no AVX-512 takes other ways through small tables; the cache knows both.
OF_COVERS = """
values = gw.Explainer(model).shap_values(X)
gaps = [values.values.sum(axis=1) + values.base_values - score]
"""
OF_ROWS = """
values, changed = gw.Explainer(model, X).shap_values(X), X.copy()
changed[:, 0] = 0.5
curve = gw.Explainer(model, X, response='probability').partial_dependence(0)
gaps = [values.values.sum(axis=1) + values.base_values - score]
gaps.append(gw.Explainer(model, X).interaction_values(X).values.sum(axis=1) - score)
gaps.append(curve(0.5) - model.predict_proba(changed)[:, 1].mean())
"""


@pytest.mark.parametrize("ask", [OF_COVERS, pytest.param(OF_ROWS, marks=pytest.mark.slow)], ids=["covers", "rows"])
def test_machines_without_large_vectors(ask):
    code = (
        "import numpy as np, glasswood as gw\n"
        "from glasswood.kernels._vectors import PERMUTES\n"
        "from sklearn.ensemble import GradientBoostingClassifier\n"
        "X = np.random.default_rng(0).normal(size=(100, 4))\n"
        "model = GradientBoostingClassifier(n_estimators=5).fit(X, X[:, 0] * X[:, 1] > 0)\n"
        "score = model.decision_function(X)\n"
        f"{ask}\n"
        "print(PERMUTES, max(np.abs(gap).max() for gap in gaps) < 1e-12)"
    )
    assert run(code, NUMBA_CPU_NAME="generic") == "False True"
