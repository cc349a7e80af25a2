"""Predictions of a class of the user's own: compared with those of the trees on all rows in memory, or refused.

A subclass or wrapper may transform what the trees predict, cap it, or correct it. What such code does to other rows is
not known, so agreement is compared, not proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ModelMismatchError, UnsupportedModelError
from glasswood.models._combinations import Combination, linked, members_of
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._pipelines import wrappers_and_core
from glasswood.models.readers import library_errors, mean_depth, own_methods
from glasswood.tables._tables import n_rows
from glasswood.text._printable import how_many

__all__ = ["Agreement", "OwnPredictions", "compare_own", "defined_by"]

Floats = NDArray[np.float64]
RAW_SCORES = ("decision_function", "score_samples", "_raw_predict")  # methods that give raw scores
# How far predictions may be apart that are computed in another order, relative to their size.
WITHIN = {"float64": 1e-8, "float32": 1e-5}


@dataclass(frozen=True)
class Agreement:
    """Whether predictions agree with the trees.

    Parameters
    ----------
    n_rows : int
        The number of rows compared; 0 if the rows were not at hand.
    difference : str
        How they differ; empty if they agree on all rows.
    """

    n_rows: int = 0
    difference: str = ""


@dataclass(frozen=True)
class OwnPredictions:
    """What is known of the predictions of a class outside the known packages.

    Parameters
    ----------
    method : str
        The class and its method.
    response, raw : Agreement or None
        How its predictions, and its raw scores, compare with those of the trees. None if the class does not define
        these.
    """

    method: str
    response: Agreement | None
    raw: Agreement | None

    @property
    def n_rows(self) -> int:
        """The number of rows on which predictions were compared."""
        return max(one.n_rows for one in (self.response, self.raw, Agreement()) if one is not None)

    @property
    def text(self) -> str:
        """What was done, for people."""
        if not self.n_rows:
            return f"{self.method} was not compared with the trees"
        return f"compared, not proven: {self.method} agrees with the trees on {how_many(self.n_rows, 'row')}"

    def refuse(self, *, raw: bool, otherwise: str) -> None:
        """Refuse a scale on which the class predicts otherwise than the trees, or was not compared."""
        agreement = self.raw if raw else self.response
        if agreement is None or (agreement.n_rows and not agreement.difference):
            return
        if agreement.difference:
            message = (
                f"{self.method} does not predict what the trees give: {agreement.difference}. Glasswood explains sums "
                f"over trees; {otherwise}"
            )
            raise ModelMismatchError(message)
        message = (
            f"{self.method.rpartition('.')[0]} defines its own {self.method.rpartition('.')[2]}, which may differ from "
            "what the trees give. It is compared on all rows of a table in memory: pass the rows as one, or read the "
            f"trees with read_model(model, table) and explain them; {otherwise}"
        )
        raise UnsupportedModelError(message)


def defined_by(model: object) -> list[str]:
    """Return the prediction methods that classes outside the known packages define, of a model and all its parts."""
    return [method for part in _inner_models(model) for method in own_methods(part)]


def _inner_models(model: object) -> Iterator[object]:
    """Yield a model, the models in its wrappers, and the members of a combination."""
    for part in wrappers_and_core(model):
        yield part
        for member in members_of(part):
            yield from _inner_models(member)


def compare_own(
    model: Any,
    methods: list[str],
    ensemble: TreeEnsemble,
    inverse: Callable[[Floats], Floats] | None,
    combination: Combination | None,
    tables: tuple[Any, Any] | None,
) -> OwnPredictions:
    """Return how the predictions of a model with methods of its own compare with those of its trees.

    Parameters
    ----------
    model : fitted model
        The whole, with its wrappers.
    methods : list of str
        Those of `defined_by`, at least one.
    ensemble : TreeEnsemble
    inverse : callable or None
        From the scores, on the scale of their link, to predictions.
    combination : Combination or None
    tables : tuple of two tables, or None
        All rows, as the model takes them, and as the ensemble does. None if they are not at hand.
    """
    method, identity = methods[0], ensemble.score.link == "identity" and inverse is None and combination is None
    scored = combination is None and any(name.rpartition(".")[2] in RAW_SCORES for name in methods)
    if tables is None:
        missing = Agreement()
        return OwnPredictions(method, missing, missing if identity or scored else None)
    rows, own = tables
    scores = ensemble.predict(own).reshape(n_rows(own), -1).astype(np.float64)
    within = WITHIN[ensemble.score.dtype]
    raw = _raw_agreement(model, rows, scores, within) if scored else None
    if ensemble.score.link == "unknown" and combination is None:  # this scale is refused for every such model
        return OwnPredictions(method, None, raw)
    predicted = scores if combination is not None else linked(ensemble.score, scores)
    predicted = predicted if inverse is None else np.asarray(inverse(predicted)).reshape(len(predicted), -1)
    theirs = _called(model, "predict_proba" if hasattr(model, "predict_proba") else "predict", rows)
    response = _agreement(predicted, theirs, within)
    if identity:
        raw = response if raw is None or response.difference else raw
    return OwnPredictions(method, response, raw)


def _called(model: Any, method: str, rows: Any) -> NDArray[Any]:
    """Return what a method of the model gives for rows."""
    with library_errors(f"{type(model).__module__}.{type(model).__qualname__}"):
        result = getattr(model, method)(rows)
        return np.hstack(result) if isinstance(result, list) else np.asarray(result)


def _raw_agreement(model: Any, rows: Any, scores: Floats, within: float) -> Agreement:
    """Return how raw scores agree: decision values, or those from which the mean depth of a forest follows."""
    core = [*wrappers_and_core(model)][-1]
    if hasattr(core, "_max_samples"):
        return _agreement(scores, mean_depth(_called(model, "score_samples", rows), core), within)
    if hasattr(model, "decision_function"):
        return _agreement(scores, _called(model, "decision_function", rows), within)
    return Agreement(n_rows(rows))


def _agreement(ours: Floats, theirs: NDArray[Any], within: float) -> Agreement:
    """Return how predictions agree, row by row."""
    theirs = theirs.reshape(len(theirs), -1) if theirs.ndim else theirs.reshape(1, 1)
    if ours.shape[1] == 1 and theirs.shape[1] == 2:
        theirs = theirs[:, 1:]
    if theirs.shape != ours.shape or theirs.dtype.kind not in "fiub":
        return Agreement(len(ours), f"it returns an array of shape {theirs.shape} for {ours.shape}, of {theirs.dtype}")
    theirs = theirs.astype(np.float64)
    size = np.abs(theirs)
    typical = float(np.median(size)) if size.size else 0.0
    difference = np.where(ours == theirs, 0.0, np.abs(ours - theirs))
    wrong = ~(difference <= within * (size + typical)) & ~(np.isnan(ours) & np.isnan(theirs))
    if not wrong.any():
        return Agreement(len(ours))
    bad = wrong.any(axis=1)
    worst = np.unravel_index(int(np.where(wrong, np.nan_to_num(difference, nan=np.inf), -1.0).argmax()), wrong.shape)
    text = (
        f"{int(bad.sum()):,} of {how_many(len(ours), 'row')} differ, the most in row {worst[0]:,}, for which it "
        f"returns {theirs[worst]:.6g} and the trees {ours[worst]:.6g}"
    )
    return Agreement(len(ours), text)
