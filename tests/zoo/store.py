"""Models that are fitted once for all tests, and kept on disk by a hash of their recipe and of the libraries' versions.

`GLASSWOOD_ZOO` names the folder; without it, models are kept in memory, and `off` fits each anew. Whoever asks gets a
copy of their own. Tests of the readers fit their models themselves: a model from the store has been pickled.
"""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import sys
import tempfile
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import joblib

LIBRARIES = ("numpy", "pandas", "scipy", "scikit-learn", "xgboost", "lightgbm", "catboost", "treelite")
UNPICKLABLE = (pickle.PicklingError, AttributeError, NotImplementedError, TypeError, ValueError)
_in_memory: dict[str, bytes] = {}


def stored(name, make):
    """Return what a recipe of this folder makes; `name` tells it from the others."""
    return _kept(f"{_hash_of_recipes()}\0{name}", make)


def fitted(estimator, X, y=None, **options):
    """Return a copy of the estimator that is fitted to a table, as `estimator.fit(X, y, **options)` would fit it."""
    recipe = [type(estimator).__module__, type(estimator).__qualname__, estimator.get_params(), X, y, options]
    try:
        key = joblib.hash(recipe)
    except UNPICKLABLE:
        return estimator.fit(X, y, **options)  # it holds a function of a test
    return _kept(key, lambda: copy.deepcopy(estimator).fit(X, y, **options))  # the same, whether it is kept or not


def _kept(recipe, make):
    place = os.environ.get("GLASSWOOD_ZOO", "")
    if place == "off":
        return make()
    key = hashlib.sha256(recipe.encode()).hexdigest()
    if key not in _in_memory:
        path = Path(place) / _hash_of_versions() / key if place else None
        if path is not None and path.is_file():
            _in_memory[key] = path.read_bytes()
        else:
            made = make()
            try:
                _in_memory[key] = pickle.dumps(made)
            except UNPICKLABLE:
                return made  # its library has no pickles of it
            if path is not None:
                _write(path, _in_memory[key])
    return pickle.loads(_in_memory[key])


def _write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    Path(file.name).replace(path)


@cache
def _hash_of_versions():
    found = [sys.version]
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()[:16]


@cache
def _hash_of_recipes():
    sources = (path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return hashlib.sha256(b"\0".join(sources)).hexdigest()
