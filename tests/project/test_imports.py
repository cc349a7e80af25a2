"""Importing Glasswood is quick and loads no optional library; each one is met only when a model or table of it is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import glasswood as gw
from glasswood.kernels import _core

OPTIONAL = (
    "catboost click dask distributed duckdb lightgbm matplotlib pandas plotly polars pyarrow pyspark ray scipy "
    "sklearn treelite xgboost"
)


def run(code, **variables):
    env = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    return done.stdout.strip()


def test_import_loads_no_optional_library():
    code = "import sys; from glasswood import *; "  # all public names
    code += f"print([name for name in '{OPTIONAL}'.split() if name in sys.modules])"
    assert run(code) == "[]"


def test_import_is_quick(tmp_path):
    # Processor time against that of NumPy alone, in turn, because the machine may be slow or busy: an Explainer takes
    # twice as long as NumPy, up to three times beside other tests. From compiled files, which the first import writes.
    # The best of many, because whatever runs beside it slows down Python code more than NumPy's.
    def seconds(code):
        measured = f"import time; start = time.process_time(); {code}; print(time.process_time() - start)"
        return float(run(measured, PYTHONDONTWRITEBYTECODE="", PYTHONPYCACHEPREFIX=str(tmp_path)))

    numpy = min(seconds("import numpy") for _ in range(12))
    assert min(seconds("import glasswood") for _ in range(3)) < numpy  # public names are imported when they are used
    assert min(seconds("import glasswood; glasswood.Explainer") for _ in range(12)) < 4 * numpy


def test_public_names_are_imported_when_they_are_used():
    code = "import sys, glasswood; names = len(sys.modules); glasswood.Explainer; print(len(sys.modules) > names + 50)"
    assert run(code) == "True"
    assert run("from glasswood import *; print(Curve.__name__, errors.__name__)") == "Curve glasswood.errors"
    assert (
        run("import glasswood as gw; print(sorted(gw._HOME_OF) == sorted(set(gw.__all__) - {'errors', 'metrics'}))")
        == "True"
    )
    assert "has no attribute 'Explainr'" in run(
        "import glasswood\ntry: glasswood.Explainr\nexcept AttributeError as e: print(e)"
    )


def test_reading_a_model_loads_only_its_own_library():
    code = (
        "import sys, numpy as np, glasswood as gw\n"
        "from sklearn.tree import DecisionTreeRegressor\n"
        "model = DecisionTreeRegressor().fit(np.eye(3), np.arange(3.0))\n"
        "gw.read_model(model, np.eye(3))\n"
        "print([name for name in ('xgboost', 'lightgbm', 'catboost', 'treelite', 'polars') if name in sys.modules])"
    )
    assert run(code) == "[]"


def test_a_level_that_the_processor_lacks_is_refused():
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run("import glasswood.kernels._core", GLASSWOOD_CPU="v9")
    assert "GLASSWOOD_CPU is 'v9', but this processor can run" in refused.value.stderr


def test_the_command_line_tells_of_a_wrong_level_in_one_line():
    settings = {**os.environ, "GLASSWOOD_CPU": "v9"}
    command = [sys.executable, "-m", "glasswood", "--version"]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("glasswood: error: GLASSWOOD_CPU is 'v9'")
    assert "Traceback" not in done.stderr


def test_a_processor_below_the_least_level_is_refused():
    with pytest.raises(ImportError, match="needs a processor with x86-64-v2"):
        _core._chosen_level([], "")
    assert _core._chosen_level(["v3", "v2"], "") == "v3"
    assert _core._chosen_level(["v3", "v2"], "v2") == "v2"
    assert _core._chosen_level(["v4", "v3", "v2"], "", lambda level: level != "v4") == "v3"
    for asked in ("", "v3"):
        with pytest.raises(ImportError, match="was not compiled for v3"):
            _core._chosen_level(["v3", "v2"], asked, lambda _: False)


def test_a_read_only_install_without_a_home_works(tmp_path):
    # As on the executors of a cluster: nothing is compiled, and nothing is written.
    package = tmp_path / "lib" / "glasswood"
    shutil.copytree(Path(gw.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [package, *package.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    code = (
        f"import sys; sys.path.insert(0, {str(package.parent)!r})\n"
        "import numpy as np, glasswood as gw\n"
        "from sklearn.tree import DecisionTreeRegressor\n"
        "model = DecisionTreeRegressor().fit(np.eye(3), np.arange(3.0))\n"
        "print(gw.__file__, gw.read_model(model).predict(np.eye(3)).tolist())"
    )
    assert run(code, HOME="/dev/null/none") == f"{package / '__init__.py'} [0.0, 1.0, 2.0]"


# Levels without AVX-512 take other ways through small tables.
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
    least = _core.levels()[-1]
    code = (
        "import numpy as np, glasswood as gw\n"
        "from glasswood.kernels._core import LEVEL\n"
        "from sklearn.ensemble import GradientBoostingClassifier\n"
        "X = np.random.default_rng(0).normal(size=(100, 4))\n"
        "model = GradientBoostingClassifier(n_estimators=5).fit(X, X[:, 0] * X[:, 1] > 0)\n"
        "score = model.decision_function(X)\n"
        f"{ask}\n"
        "print(LEVEL, max(np.abs(gap).max() for gap in gaps) < 1e-12)"
    )
    assert run(code, GLASSWOOD_CPU=least) == f"{least} True"


def test_test_modules_import_helpers_and_not_each_other():
    root = Path(__file__).resolve().parents[1]
    tests = [path for path in root.rglob("test_*.py") if path.parent.name != "contract"]
    importing = [
        path.name for path in tests if re.search(r"^from tests\b|^import tests\b", path.read_text("utf-8"), re.M)
    ]
    assert importing == []
