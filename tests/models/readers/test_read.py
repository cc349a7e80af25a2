"""Finding the reader of a model, and the self-check."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_regression
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier

import glasswood as gw
from glasswood.models.readers import _dispatch as _read

X, Y = make_regression(500, 4, random_state=0)


@pytest.fixture(scope="module")
def model():
    return HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=6).fit(X, Y)


def test_a_right_model_passes(model):
    for rows in (X, X[:1], X[:0], pd.DataFrame(X), pl.DataFrame(X)):
        gw.read_model(model, rows)


def moved_cut(ensemble):
    cut = ensemble.cut.copy()
    cut[0] += 0.5
    return replace(ensemble, cut=cut)


def changed_leaf(ensemble):
    value = ensemble.value.copy()
    value[3] += 1e-6
    return replace(ensemble, value=value)


def dropped_base(ensemble):
    return replace(ensemble, score=replace(ensemble.score, base=np.zeros(ensemble.n_outputs)))


def turned_missing(ensemble):
    return replace(ensemble, missing_left=~ensemble.missing_left)


@pytest.mark.parametrize("tamper", [moved_cut, changed_leaf, dropped_base])
def test_a_tampered_model_is_refused(model, tamper):
    ensemble = tamper(gw.read_model(model))
    with pytest.raises(gw.errors.ModelMismatchError, match=r"do not reproduce the model: \d+ of 100 raw scores differ"):
        _read.check(ensemble, model, X)


def test_a_tampered_missing_direction_is_refused():
    table = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    model = HistGradientBoostingRegressor(max_iter=10).fit(table, Y)
    with pytest.raises(gw.errors.ModelMismatchError):
        _read.check(turned_missing(gw.read_model(model)), model, table)


def test_a_tampered_class_is_refused():
    model = RandomForestClassifier(5, random_state=0).fit(X, Y > 0)
    ensemble = gw.read_model(model)
    with pytest.raises(gw.errors.ModelMismatchError, match="of 200 raw scores"):
        _read.check(replace(ensemble, value=ensemble.value[:, ::-1].copy()), model, X)


def test_the_error_names_the_numbers(model):
    ensemble = dropped_base(gw.read_model(model))
    with pytest.raises(
        gw.errors.ModelMismatchError, match=r"worst by .* \(computed .*, the library returns .*, row \d+"
    ):
        _read.check(ensemble, model, X)


def test_other_things_are_refused(tmp_path):
    with pytest.raises(gw.errors.UnsupportedModelError, match=r"builtins.dict is not a tree ensemble"):
        gw.read_model({})
    with pytest.raises(gw.errors.UnsupportedModelError, match="there is no model file"):
        gw.read_model(tmp_path / "absent.json")
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04")
    with pytest.raises(gw.errors.UnsupportedModelError, match=r"'model.pkl' is not a model file"):
        gw.read_model(tmp_path / "model.pkl")


def test_a_library_that_is_not_installed_is_named(monkeypatch, model):
    def missing(name):
        raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")

    monkeypatch.setattr(_read, "import_module", missing)
    with pytest.raises(gw.errors.MissingExtraError, match=r"requires sklearn; .* 'glasswood\[sklearn\]'"):
        gw.read_model(model)
