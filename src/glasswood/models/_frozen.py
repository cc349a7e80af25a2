"""Parts of a fitted model that are called later, copied: a model that is fitted again does not change an Explainer."""

from __future__ import annotations

from copy import deepcopy
from typing import TypeVar

from glasswood.errors import UnsupportedModelError

__all__ = ["frozen"]

T = TypeVar("T")


def frozen(part: T) -> T:
    """Return a copy of a part of a model, with all that it holds.

    Examples
    --------
    >>> weights = [1, 2]
    >>> kept = frozen(weights)
    >>> weights.append(3)
    >>> kept
    [1, 2]
    """
    try:
        return deepcopy(part)
    except Exception as error:  # anybody's code
        message = (
            f"a part of the model cannot be copied ({type(error).__name__}: {error}), so its answers could change "
            "later. Explain the final estimator on the transformed table instead: "
            "Explainer(pipeline[-1], pipeline[:-1].transform(X))"
        )
        raise UnsupportedModelError(message) from error
