"""Named constructors of errors: one wording for each kind of mistake."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import glasswood as gw
from glasswood.errors import (
    ArgumentError,
    FileError,
    GlasswoodError,
    MissingExtraError,
    MissingFileError,
    TableError,
    UnsupportedModelError,
)

PACKAGE = Path(gw.__file__).parent
# Where errors of Python's own are raised: parsers, whose callers turn them into a sentence, and protocols of Python.
OWN_PARSERS = {
    "models/readers": "ValueError",
    "tables/_files.py": "ValueError",
    "counting/_background.py": "ValueError",
    "counting/_partial.py": "ValueError",
    "models/_probes.py": "ValueError",
    "__init__.py": "AttributeError",  # of a module
    "results/_collections.py": "KeyError",  # of mappings
    "sklearn/_function.py": "AttributeError",  # as scikit-learn raises it
    "kernels/_core.py": "ImportError",  # before the package can be imported
}


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        ("bim", ["age", "bmi"], "there is no feature 'bim' (did you mean 'bmi'?); the features are 'age', 'bmi'"),
        (7, ["age"], "there is no feature 7; the features are 'age'"),
        ("z", list("abcdefghijk"), "; the features are 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', ..."),
    ],
)
def test_an_unknown_feature_suggests_the_nearest_and_lists_at_most_ten(name, known, message):
    assert str(TableError.no_feature(name, known)).endswith(message)


def test_a_hint_replaces_the_nearest_name():
    error = TableError.no_feature("age", ["ages"], hint="it belongs to the group 'ages'")
    assert str(error) == "there is no feature 'age' (it belongs to the group 'ages'); the features are 'ages'"


def test_a_missing_library_names_its_extra_and_the_alternative():
    error = MissingExtraError.of(
        "plotly", extra="plotly", what="backend='plotly'", otherwise="pass backend='matplotlib'"
    )
    assert str(error) == (
        "backend='plotly' requires plotly; install it with: pip install 'glasswood[plotly]', or pass "
        "backend='matplotlib'"
    )
    assert isinstance(error, ImportError)


def test_every_deliberate_error_is_one_of_ours():
    found = []
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        allowed = next((kinds for place, kinds in OWN_PARSERS.items() if name.startswith(place)), "")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            call = node.exc if isinstance(node, ast.Raise) else None
            kind = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
            if hasattr(builtins, kind) and kind not in allowed.split():
                found.append(f"{name}:{node.lineno}: {kind}")
    assert not found


@pytest.fixture(scope="module")
def explainer():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    return gw.Explainer(HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5).fit(X, X["a"] * X["b"]), X), X


FIGURES = {
    "engine": (lambda ex, _: ex.plot(["a"], backend="bokeh"), "backend must be one of"),
    "page": (lambda ex, _: ex.partial_dependence().plot(page=9), "there is no page 9"),
    "no page": (lambda ex, _: ex.partial_dependence().plot(page="9"), "page is the number of a page"),
    "xscale": (lambda ex, _: ex.partial_dependence("a").plot(xscale="x"), "xscale must be one of"),
    "kind": (lambda ex, X: ex.shap_values(X).plot(kind="x"), "kind must be one of"),
    "top": (lambda ex, _: ex.importance().plot(top="x"), "top is the number of bars"),
    "top of a row": (lambda ex, X: ex.shap_values(X).plot(row=0, top=0), "top is the number of bars"),
    "row": (lambda ex, X: ex.shap_values(X).plot(row="x"), "there is no row 'x'"),
    "figsize": (lambda ex, _: ex.partial_dependence("a").plot(figsize=(1,)), "figsize is a width and a height"),
    "ax": (lambda ex, _: ex.partial_dependence("a").plot(ax=5), "ax is an Axes of matplotlib"),
}


@pytest.mark.parametrize("mistake", FIGURES)
def test_mistakes_in_figures(explainer, mistake):
    mpl.use("agg")
    ask, says = FIGURES[mistake]
    with pytest.raises((ArgumentError, TableError), match=says):
        ask(*explainer)


def test_a_third_argument_by_position(explainer):
    ex, X = explainer
    with pytest.raises(ArgumentError, match="what was observed is target="):
        gw.Explainer(ex.ensemble, X, X["a"])


def test_targets_of_another_length(explainer):
    ex, X = explainer
    for given, size in ((X["a"][:40], "40 values"), (X["a"].tolist()[:1], "1 value"), (["a"] * 59, "59 values")):
        with pytest.raises(TableError, match=f"the table has 60 rows, but this has {size}$"):
            gw.Explainer(ex.ensemble, X, target=given)
    with pytest.raises(TableError, match="target= must be numbers"):
        gw.Explainer(ex.ensemble, X, target=["a"] * 60)


def test_models_that_are_not_fitted():
    X = pd.DataFrame({"a": np.arange(20.0)})
    forest = RandomForestRegressor()
    searched = GridSearchCV(forest, {"max_depth": [1]}, cv=2)
    for model in (make_pipeline(StandardScaler(), forest), searched, make_pipeline(StandardScaler().fit(X), forest)):
        with pytest.raises(UnsupportedModelError, match="is not fitted; call fit first"):
            gw.Explainer(model, X)
    with pytest.raises(UnsupportedModelError, match="fitted with refit=False"):
        gw.Explainer(searched.set_params(refit=False).fit(X, X["a"]), X)


def test_files_of_backgrounds(tmp_path):
    for given, error in ((tmp_path, FileError), (tmp_path / "none.gw", MissingFileError), (None, FileError)):
        with pytest.raises(error) as raised:
            gw.Background.load(given)
        assert isinstance(raised.value, GlasswoodError)
    assert issubclass(MissingFileError, FileNotFoundError)
