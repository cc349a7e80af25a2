"""What every maker of models offers, and the list of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from fuzz.columns import Takes
from fuzz.targets import Target

__all__ = ["MAKERS", "Fitted", "LibraryRefusedError", "Maker", "Training", "maker_of", "two_dimensional"]

Score = Callable[[pd.DataFrame], np.ndarray]

# How often each is drawn. The modules are imported when they are needed.
MAKERS = {
    "sklearn_tree": ("fuzz.models_sklearn", 3),
    "sklearn_hist": ("fuzz.models_sklearn", 3),
    "xgboost": ("fuzz.models_xgboost", 4),
    "lightgbm": ("fuzz.models_lightgbm", 4),
    "catboost": ("fuzz.models_catboost", 2),
    "pipeline": ("fuzz.pipelines", 3),
    "wrapper": ("fuzz.wrappers", 1.5),
}


class LibraryRefusedError(Exception):
    """The model's own library refuses the case; nothing is wrong with Glasswood."""


@dataclass(frozen=True)
class Training:
    """What a model is fitted on."""

    case: dict
    frame: pd.DataFrame
    target: Target
    weight: np.ndarray | None

    @property
    def options(self) -> dict:
        """The options of the model."""
        return self.case["model"]["options"]

    @property
    def table(self) -> Any:
        """The rows as they are passed to `fit`: the frame, or an array without names."""
        return self.frame.to_numpy(float) if self.case["model"].get("fit_on") == "array" else self.frame


@dataclass
class Fitted:
    """A fitted model, and its library's own scores.

    Parameters
    ----------
    kind : str
        The library, and the class of the model.
    model : object
        What the Explainer is given.
    raw : callable, or None
        From a frame to raw scores, (n_rows, n_outputs); two columns for the classes of a binary model.
    responses : mapping from str to callable
        The same for other responses.
    labels : tuple or None
        The classes, in the order of outputs.
    takes : Takes
    tolerance : float
        Of the size of scores: float32 libraries add up in float32.
    pipeline : bool
        Whether the columns go through transformers, so that a feature has points rather than a curve.
    contributions : callable or None
        The library's own path-dependent Shapley values and the mean: (n_rows, n_columns + 1).
    margined : callable or None
        From a frame and a margin, (n_rows, n_scores), to the library's own scores with it; None if it is added.
    """

    kind: str
    model: Any
    raw: Score | None
    takes: Takes
    responses: dict[str, Score] = field(default_factory=dict)
    labels: tuple | None = None
    tolerance: float = 1e-9
    pipeline: bool = False
    contributions: Score | None = None
    margined: Callable[[pd.DataFrame, np.ndarray], np.ndarray] | None = None


@dataclass(frozen=True)
class Maker:
    """How models of one library are invented.

    `draw` fills in a case's "model", "target" and "columns", given a generator and the number of columns; `fit` makes
    the model.
    """

    draw: Callable[[np.random.Generator, dict, int], None]
    fit: Callable[[Training], Fitted]
    takes: Callable[[dict], Takes]


def maker_of(name: str) -> Maker:
    """Return a maker by its name."""
    module = import_module(MAKERS[name][0])
    return module.MAKERS[name]


def two_dimensional(scores: Any, *, binary: bool = False) -> np.ndarray:
    """Return scores with an axis of outputs; of a binary model with one score, minus the score first."""
    scores = np.asarray(scores, dtype=np.float64)
    scores = scores.reshape(len(scores), -1)
    return np.concatenate([-scores, scores], axis=1) if binary and scores.shape[1] == 1 else scores
