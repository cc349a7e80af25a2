"""Scale: from the sum over trees to what answers are about, such as probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, UnsupportedModelError
from glasswood.models._combinations import Combination, linked
from glasswood.models._ensemble import Link, Score
from glasswood.models._opened import Opened
from glasswood.models._outputs import NO_LABELS, Outputs

__all__ = ["Scale", "predicted_response", "scale_of"]

RESPONSES = {"logistic": "probability", "softmax": "probability", "exp": "prediction"}  # what links give


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale of answers.

    Parameters
    ----------
    response : {"raw", "probability", "prediction"}
        Its name, as users ask for it.
    score : Score
        The sum over trees that it starts from.
    link : {"identity", "logistic", "softmax", "exp"}
        From the sum over trees to the response.
    inverse : callable or None
        A further function of arrays, whose last axis are the outputs: the inverse of a transformed target, or what
        several models make of their scores.
    outputs : Outputs
        The classes or targets that questions can be about.
    units : str
        The units of answers.
    products : bool, default True
        Whether leaves are products of conditions on single columns, so that counts tell all about sums over trees; not
        with derived columns.
    """

    response: str
    score: Score
    link: Link
    inverse: Callable[[Any], Any] | None
    outputs: Outputs
    units: str
    products: bool = True

    @property
    def is_score(self) -> bool:
        """Whether answers are about the sum over trees itself."""
        return self.link == "identity" and self.inverse is None

    @property
    def additive(self) -> bool:
        """Whether answers are sums over trees whose leaves are products, so that counts are enough."""
        return self.is_score and self.products

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """The labels of the classes that are predicted; None if these are numbers, or classes of several targets."""
        labels = self.outputs.labels
        if self.score.target_classes:
            return None
        of_one = labels in ((name,) for name in NO_LABELS)
        return labels if self.outputs.binary or (self.units == "probability" and not of_one) else None

    def same_as(self, other: Scale) -> bool:
        """Return whether both make the same of a sum over trees of one model."""
        return self.link == other.link and (self.inverse is None) == (other.inverse is None)

    def of_scores(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the responses of rows, (n_rows, n_outputs), given their sums over trees."""
        result = scores if self.link == "identity" else linked(self.score, scores)
        return result if self.inverse is None else np.asarray(self.inverse(result)).reshape(len(result), -1)


def scale_of(model: Opened, response: str | None = None) -> Scale:
    """Return a scale of a model; by default the sum over trees, or what a combination of models predicts."""
    score, combination = model.ensemble.score, model.combination
    if combination is not None:
        model.refuse_own(raw=False)
        return _scale_of_combination(model, combination, response or combination.response)
    response = response or "raw"
    _check(response)
    model.refuse_own(raw=response == "raw")
    link = _link_of(score, response)
    inverse = None if response == "raw" else model.inverse
    is_score = link == "identity" and inverse is None
    outputs = Outputs(score.labels, score.n_outputs, score.binary, 0.0 if is_score else 1.0)
    units = score.units if is_score else RESPONSES.get(link, "value")
    return Scale(response, score, link, inverse, outputs, units, model.ensemble.derived is None)


def predicted_response(model: Opened) -> str:
    """Return the response that the link of a model gives, such as "probability"; "raw" if there is none.

    Scores that are probabilities already, and those of an unknown link, such as of rankers, are what they are.
    """
    if model.combination is not None:
        return model.combination.response
    score = model.ensemble.score
    return "raw" if score.units == "probability" else RESPONSES.get(score.link, "raw")


def _link_of(score: Score, response: str) -> Link:
    """Return the link from the score to a response that is asked for by name."""
    if response == "raw":
        return "identity"
    if response == "probability" and not (score.link in ("logistic", "softmax") or score.units == "probability"):
        message = f'the model does not predict probabilities (its score is: {score.units}); use response="prediction"'
        raise UnsupportedModelError(message)
    if score.link not in ("identity", *RESPONSES):
        message = f'it is not known how the model transforms its score ({score.units}); only response="raw" is exact'
        raise UnsupportedModelError(message)
    return score.link


def _scale_of_combination(model: Opened, combination: Combination, response: str) -> Scale:
    """Return a scale of several models, which have no common sum over trees."""
    _check(response)
    if response == "raw":
        message = (
            f"a {combination.ensemble.source} has no score that is a sum over trees; ask for "
            f'response="{combination.response}"'
        )
        raise UnsupportedModelError(message)
    if response == "probability" and combination.units != "probability":
        message = 'the model does not predict probabilities; use response="prediction"'
        raise UnsupportedModelError(message)
    binary = combination.units == "probability" and len(combination.labels) == 2
    outputs = Outputs(combination.labels, 1 if binary else len(combination.labels), binary, 1.0)
    products = model.ensemble.derived is None
    return Scale(response, model.ensemble.score, "identity", model.inverse, outputs, combination.units, products)


def _check(response: str) -> None:
    """Raise an error unless a valid response is named."""
    if response not in ("raw", "probability", "prediction"):
        message = f'response must be "raw", "probability" or "prediction", not {response!r}'
        raise ArgumentError(message)
