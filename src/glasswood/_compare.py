"""compare: several explainers side by side, on the cells that all their cuts make together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood._columns import CodeColumn, Column, Dictionary, Extent, LabelColumn, cells_of
from glasswood._once import Deferred
from glasswood._statistics import apart, on_common_cuts, stability_index
from glasswood.errors import TableError
from glasswood.results import Axis, Comparison, Curve

__all__ = ["compare"]


def compare(explainers: Mapping[str, Any], *, output: Any = None, output_index: int | None = None) -> Comparison:
    """Return the curves of several explainers on common cells, and how far they are apart.

    They are of one model on groups of rows, to see drift, or of several models with the same outputs. Features that not
    all of them have, groups and columns of pipelines are left out.

    Parameters
    ----------
    explainers : mapping from str to Explainer
        At least two, by the names that they are shown by.
    output : label, optional
        One output, by its label: a class, or the number of a target. By default all of them; of binary models, the
        second class.
    output_index : int, optional
        The same, by its position among the labels.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    >>> old = X["age"] > 0
    >>> drift = gw.compare({"young": gw.Explainer(model, X[~old]), "old": gw.Explainer(model, X[old])})
    >>> drift
    Comparison(young, old: 10 features, value apart by ...)
    >>> drift.to_frame().columns.tolist()
    ['feature', 'difference', 'largest', 'shift']
    >>> drift.curves("bmi")
    {'young': Curve(bmi: ...), 'old': Curve(bmi: ...)}
    >>> bool(drift.shift[drift.features.index("age")] == drift.shift.max())
    True
    """
    names = _names(explainers)
    listed = [explainers[name] for name in explainers]
    curves = [_curves(explainer, output, output_index) for explainer in listed]
    features = [feature for feature in curves[0] if all(feature in other for other in curves[1:])]
    if not features:
        message = (
            "there is no feature that all explainers have a curve of; groups and columns of pipelines have none, so "
            "compare the models behind the transformers, on transformed rows"
        )
        raise TableError(message)
    _check_outputs(names, [found[features[0]] for found in curves])
    shared = {feature: _common(listed, [found[feature] for found in curves]) for feature in features}
    return _comparison(names, shared)


def _names(explainers: Any) -> tuple[str, ...]:
    """Return the names of explainers, after a look at what they are."""
    if not isinstance(explainers, Mapping) or len(explainers) < 2:
        message = 'compare takes a mapping of at least two explainers: compare({"2020": one, "2021": other})'
        raise TableError(message)
    for name, explainer in explainers.items():
        if not hasattr(explainer, "partial_dependence"):  # `Explainer` is above this file
            message = f"{name!r} is no Explainer, but {type(explainer).__name__}; make one: Explainer(model, rows)"
            raise TableError(message)
    return tuple(map(str, explainers))


def _curves(explainer: Any, output: Any, output_index: int | None) -> dict[str, Curve]:
    """Return the curve of every feature that has one."""
    found = explainer.partial_dependence(output=output, output_index=output_index)
    if not isinstance(found, dict):
        return {}  # a pipeline
    grouped = {name for group in explainer._study.groups.values() for name in group}
    return {name: curve for name, curve in found.items() if name not in grouped}


def _check_outputs(names: Sequence[str], curves: Sequence[Curve]) -> None:
    """Refuse curves of different things."""
    for name, curve in zip(names[1:], curves[1:], strict=True):
        for what, one, other in (
            ("outputs", list(curves[0].outputs), list(curve.outputs)),
            ("scale of the score", curves[0].units, curve.units),
        ):
            if one != other:
                message = (
                    f"the {what} of {names[0]!r} and {name!r} differ: {one!r} and {other!r}; compare models of the "
                    "same target, with the same response="
                )
                raise TableError(message)


def _common(explainers: Sequence[Any], curves: Sequence[Curve]) -> tuple[Curve, ...]:
    """Return curves of one feature on cells that all of them have."""
    coded = [curve.categories is not None for curve in curves]
    if any(coded) != all(coded):
        message = f"{curves[0].name!r} holds categories for one of the models, and numbers for another"
        raise TableError(message)
    if all(coded):
        return tuple(_on_labels(explainers, curves))
    cuts, places = on_common_cuts([curve.cuts for curve in curves])
    extent = Deferred(lambda: _common_extent(curves))
    result = []
    for explainer, curve, place in zip(explainers, curves, places, strict=True):
        rows = curve.axis.rows if curve.cuts.size == cuts.size else _rows_in_cells(explainer, curve.axis.column, cuts)
        axis = Axis(curve.axis.column, cuts, rows, extent)
        result.append(replace(curve, axis=axis, heights=curve.heights[place]))
    return tuple(result)


def _common_extent(curves: Sequence[Curve]) -> Extent | None:
    """Return the extent of the values of all explainers; None if that of some is not known."""
    found = [curve.axis.find_extent() for curve in curves]
    known = [extent for extent in found if extent is not None]
    if len(known) < len(found):
        return None
    return Extent(
        min(extent.least for extent in known),
        max(extent.greatest for extent in known),
        all(extent.whole for extent in known),
    )


def _rows_in_cells(explainer: Any, column: Column, cuts: NDArray[np.float64]) -> NDArray[Any]:
    """Return the rows in the cells of any cuts or categories, if there is a table; nothing otherwise."""
    values = explainer._overview.numbers_of(column)
    if values is None:
        return np.empty(0)
    cells = cells_of(values, cuts, column.n_codes)
    weight = explainer._study.weight
    n_cells = (column.n_codes or cuts.size) + 2
    return np.bincount(cells, weights=None if weight is None else np.asarray(weight, float), minlength=n_cells)


def _on_labels(explainers: Sequence[Any], curves: Sequence[Curve]) -> list[Curve]:
    """Return curves of categories on all labels that some of them know."""
    curves = _told(curves)
    known = [curve.categories or () for curve in curves]
    labels = tuple(dict.fromkeys(label for own in known for label in own))
    if all(own == labels for own in known):
        return list(curves)
    result = []
    for explainer, own, curve in zip(explainers, known, curves, strict=True):
        code = {label: place for place, label in enumerate(own)}
        place = np.array([*(code.get(label, len(own)) for label in labels), len(own), len(own) + 1])
        column = _with_labels(curve.axis.column, labels)
        rows = curve.axis.rows
        if rows.size and rows[len(own)] > 0:  # some of them may have a label that another model knows
            rows = _rows_in_cells(explainer, column, curve.cuts)
        elif rows.size:
            rows = rows[place]
        result.append(replace(curve, axis=Axis(column, curve.cuts, rows), heights=curve.heights[place]))
    return result


def _with_labels(column: Column, labels: tuple[Hashable, ...]) -> Column:
    """Return a column of categories that knows all these labels."""
    if isinstance(column, CodeColumn) and labels == tuple(range(len(labels))):
        return replace(column, size=len(labels))
    return LabelColumn(column.name, labels)


def _told(curves: Sequence[Curve]) -> list[Curve]:
    """Return curves whose columns know the labels that the tables of the others tell, as CatBoost keeps hashes only."""
    columns = [curve.axis.column for curve in curves]
    told = Dictionary(
        list(dict.fromkeys(label for column in columns for label in column.told_labels)), np.empty(0, dtype=np.intp)
    )
    if not told.labels or not any(column.wants_labels for column in columns):
        return list(curves)
    return [replace(curve, axis=replace(curve.axis, column=curve.axis.column.labelled(told))) for curve in curves]


def _comparison(names: tuple[str, ...], shared: dict[str, tuple[Curve, ...]]) -> Comparison:
    """Return how far curves on common cells are apart, the largest difference first."""
    found = []
    for curves in shared.values():
        listed = [curve.axis.rows for curve in curves]
        known = all(rows.size and rows.sum() > 0 for rows in listed)
        rows = np.array(listed, dtype=np.float64) if known else np.empty((0, 0))
        mean, largest = apart(np.array([curve.heights for curve in curves]), rows)
        shift = stability_index(rows, ordered=curves[0].categories is None) if known else np.nan
        found.append((mean, largest, shift))
    difference, largest = (np.array([entry[k] for entry in found]) for k in range(2))
    first = next(iter(shared.values()))[0]
    comparison = Comparison(
        names=names,
        features=tuple(shared),
        difference=difference,
        largest=largest,
        shift=np.array([entry[2] for entry in found]),
        outputs=first.outputs,
        units=first.units,
        shared=shared,
    )
    order = np.argsort(-comparison.total, kind="stable")
    features = tuple(comparison.features[k] for k in order)
    return replace(
        comparison,
        features=features,
        difference=difference[order],
        largest=largest[order],
        shift=comparison.shift[order],
        shared={feature: shared[feature] for feature in features},
    )
