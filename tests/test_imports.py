"""Importing Glasswood is quick and loads no optional library; each one is met only when a model or table of it is."""

from __future__ import annotations

import subprocess
import sys

OPTIONAL = (
    "catboost dask lightgbm matplotlib numba pandas plotly polars pyarrow pyspark ray scipy sklearn treelite xgboost"
)


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_loads_no_optional_library():
    code = f"import sys, glasswood; print([name for name in '{OPTIONAL}'.split() if name in sys.modules])"
    assert run(code) == "[]"


def test_import_is_quick():
    # Processor time against that of NumPy alone, in turn, because the machine may be slow or busy: 0.25 s where NumPy
    # takes 0.1 s.
    def seconds(module):
        code = f"import time; start = time.process_time(); import {module}; print(time.process_time() - start)"
        return float(run(code))

    times = [(seconds("glasswood"), seconds("numpy")) for _ in range(5)]
    assert min(ours for ours, _ in times) < 3 * min(numpy for _, numpy in times)


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
