"""Questions in scikit-learn's words: glasswood.sklearn, against brute force."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from fuzz.oracle import Oracle
from fuzz.session import Session, general

__all__ = ["QUESTIONS"]


def sklearn_function(s: Session) -> None:
    """glasswood.sklearn.partial_dependence is the mean of what the estimator predicts on its grid, and each row's."""
    from glasswood.sklearn import partial_dependence

    setting = s.setting
    response = "prediction" if setting.labels is None else "probability"
    if setting.case["model"].get("given_as", "estimator") != "estimator" or response not in setting.fitted.responses:
        return
    if setting.case["model"].get("kind") == "isolation" or len(setting.background) < 2:
        return
    rows, weight = setting.background, None if setting.weight is None else np.asarray(setting.weight, dtype=float)
    place = int(s.rng.integers(rows.shape[1]))
    name = list(rows)[place]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        given = rows if setting.case["model"].get("fit_on", "frame") == "frame" else rows.to_numpy(float)
        try:
            found = partial_dependence(
                setting.fitted.model, given, [place], sample_weight=weight, grid_resolution=4, kind="both"
            )
        except ValueError as error:  # as scikit-learn raises it
            s.notes.refusals[f"glasswood.sklearn: {general(str(error))}"] += 1
            return
    if any("brute force" in str(warning.message) for warning in caught):
        s.notes.refusals["glasswood.sklearn: left to scikit-learn"] += 1
        return
    grid = _like(found.grid_values[0], rows[name])
    oracle = Oracle(setting.fitted.responses[response], rows, weight)
    points = grid.to_frame(name)
    average, each = oracle.mean(points), oracle.each(points)
    scale = setting.scale_of(oracle)
    s.same("average of scikit-learn's function", found.average.T, average, scale=scale)
    s.same("individual of scikit-learn's function", found.individual.transpose(1, 2, 0), each, scale=scale)


def _like(values: np.ndarray, known: pd.Series) -> pd.Series:
    """Return the values of a grid with the type of the column."""
    if isinstance(known.dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical(values, categories=known.cat.categories, ordered=known.cat.ordered))
    return (
        pd.Series(list(values)) if known.dtype.kind not in "fiub" else pd.Series(np.asarray(values).astype(known.dtype))
    )


QUESTIONS = (sklearn_function,)
