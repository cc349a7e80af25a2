"""read_trees: trees as arrays in, a TreeEnsemble out; for libraries that have no reader."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasswood.errors import ArgumentError, UnsupportedModelError
from glasswood.models._ensemble import Link, Score, Tree, TreeEnsemble, stack
from glasswood.models.readers._rounding import cut_at_most, cut_below
from glasswood.tables._columns import NumberColumn
from glasswood.tables._tables import Schema

__all__ = ["read_trees"]

UNITS: dict[Link, str] = {
    "identity": "value",
    "logistic": "log-odds",
    "softmax": "softmax margin",
    "exp": "log of the mean",
}
NEEDED = ("feature", "cut", "left", "right", "value")
KNOWN = (*NEEDED, "missing_left", "cover", "output")
COMPARISONS = ("<=", "<", "float32 <=", "float32 <")


def read_trees(  # noqa: PLR0913 (a model in one call)
    trees: Iterable[Mapping[str, Any]],
    feature_names: Sequence[str],
    *,
    base: ArrayLike = 0.0,
    link: Literal["identity", "logistic", "softmax", "exp"] = "identity",
    labels: Sequence[Hashable] = ("prediction",),
    divisor: float = 1.0,
    comparison: Literal["<=", "<", "float32 <=", "float32 <"] = "<=",
) -> TreeEnsemble:
    """Return the trees of a library that Glasswood does not read as a `TreeEnsemble`, given as arrays.

    Parameters
    ----------
    trees : iterable of mappings
        One mapping per tree, with an entry for each of its nodes in these arrays. Node 0 is the root.

        - "feature": the number of the column that a node splits on;
        - "cut": the value that it is compared with, see `comparison`; rows for which this holds go left;
        - "left", "right": the numbers of its children; negative at a leaf;
        - "value": the value of a leaf, or one for each output; not read elsewhere;
        - "missing_left" (optional): whether missing values go left. By default, they go right;
        - "cover" (optional): the weight of the training rows that reached a node, for path-dependent answers;
        - "output" (optional, one number): the output that the tree adds to, if its leaves have one value only.
    feature_names : sequence of str
        The names of all columns, in order.
    base : float or array of shape (n_outputs,), default 0
        What the leaf values are added to. The raw score is ``base + sum of leaf values / divisor``.
    link : {"identity", "logistic", "softmax", "exp"}, default "identity"
        The function from the raw score to the prediction.
    labels : sequence, default ("prediction",)
        The labels of the outputs. With "logistic", the two classes; the score is that of the second one.
    divisor : float, default 1
        The number of trees, if the library averages them.
    comparison : {"<=", "<", "float32 <=", "float32 <"}, default "<="
        How a value is compared with a cut: ``x <= cut`` or ``x < cut``, in float64 or after `x` is rounded to float32.

    Returns
    -------
    TreeEnsemble
        Can be passed to `Explainer` and `summarize` in place of a model. There is no library to check it with: compare
        its `predict` with the raw scores of yours, on rows at the cuts and next to them.

    Raises
    ------
    UnsupportedModelError
        If the arrays do not form trees.

    Examples
    --------
    One tree: ``age <= 40`` has the value 1; otherwise ``bp <= 145`` decides between 4 and 5.

    >>> import glasswood as gw
    >>> tree = {
    ...     "feature": [0, -1, 1, -1, -1],
    ...     "cut": [40, 0, 145, 0, 0],
    ...     "left": [1, -1, 3, -1, -1],
    ...     "right": [2, -1, 4, -1, -1],
    ...     "value": [0, 1, 0, 4, 5],
    ... }
    >>> ensemble = gw.read_trees([tree], ["age", "bp"])
    >>> rows = {"age": [30, 45, 55, 60], "bp": [150, 120, 130, 160]}
    >>> ensemble.predict(rows)
    array([1., 4., 4., 5.])
    >>> gw.Explainer(ensemble, rows).partial_dependence("age")([30, 50])
    array([1. , 4.5])
    """
    for name, given, known in (("link", link, tuple(UNITS)), ("comparison", comparison, COMPARISONS)):
        if given not in known:
            message = f"{name} must be one of {known}, not {given!r}"
            raise ArgumentError(message)
    binary = link == "logistic" and len(labels) == 2
    n_outputs = 1 if binary else len(labels)
    arrays = stack(_tree(number, tree, n_outputs, _cuts(comparison)) for number, tree in enumerate(trees))
    score = Score(
        base=np.broadcast_to(np.asarray(base, dtype=np.float64), n_outputs),
        labels=tuple(labels),
        units=UNITS[link],
        link=link,
        divisor=float(divisor),
        base_first=False,
        binary=binary,
    )
    schema = Schema(tuple(NumberColumn(str(name)) for name in feature_names))
    return TreeEnsemble(**arrays, schema=schema, score=score, source="arrays")


def _tree(
    number: int, given: Mapping[str, Any], n_outputs: int, round_cut: Callable[[NDArray[Any]], NDArray[np.float64]]
) -> Tree:
    """Return a tree, after its arrays have been looked at one by one."""
    absent = [name for name in NEEDED if name not in given]
    unknown = [name for name in given if name not in KNOWN]
    if absent or unknown:
        what = f"has no {absent[0]!r}" if absent else f"has {unknown[0]!r}, which is not among {', '.join(KNOWN)}"
        message = f"tree {number} {what}"
        raise UnsupportedModelError(message)
    left, right = (_whole(number, name, given[name]) for name in ("left", "right"))
    value = np.asarray(given["value"], dtype=np.float64)
    one_value = value.ndim == 1 or value.shape[1:] == (1,)
    if n_outputs > 1 and one_value and "output" not in given:
        message = f"tree {number} has one value per leaf for {n_outputs} outputs; say which it adds to with 'output'"
        raise UnsupportedModelError(message)
    return Tree(
        feature=_whole(number, "feature", given["feature"]),
        cut=np.asarray(given["cut"], dtype=np.float64),
        left=left,
        right=right,
        missing_left=np.asarray(given.get("missing_left", np.zeros(left.size)), dtype=bool),
        value=value,
        cover=None if given.get("cover") is None else np.asarray(given["cover"], dtype=np.float64),
        output=int(given.get("output", 0)) if one_value else -1,
        round_cut=round_cut,
    )


def _whole(number: int, name: str, given: Any) -> NDArray[np.int64]:
    result = np.asarray(given)
    if result.ndim != 1 or result.dtype.kind not in "iu":
        message = f"{name!r} of tree {number} must be a list or an array of whole numbers, one for each node"
        raise UnsupportedModelError(message)
    return result.astype(np.int64)


def _cuts(comparison: str) -> Callable[[NDArray[Any]], NDArray[np.float64]]:
    """Return the function from cuts of a comparison to those of ``x <= cut`` in float64."""
    if comparison == "<":
        return lambda cut: np.where(np.isneginf(cut), np.nan, np.nextafter(cut, -np.inf))  # nothing is below -inf
    if comparison == "float32 <=":
        return cut_at_most
    if comparison == "float32 <":
        return lambda cut: cut_below(_single(cut))
    return lambda cut: np.asarray(cut, dtype=np.float64)


def _single(cut: NDArray[Any]) -> NDArray[np.float32]:
    """Return the least float32 that is not below each cut: ``x < cut`` holds for the same x in float32."""
    with np.errstate(over="ignore"):
        single = np.asarray(cut).astype(np.float32)
        above = np.nextafter(single, np.float32(np.inf))
    return np.where(single.astype(np.float64) < cut, above, single)
