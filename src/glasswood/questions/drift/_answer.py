"""Comparison of the curves of several explainers on common cells."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.parallel._lazy import Deferred
from glasswood.questions.curves import Curve, columns_in_cells, curve_of
from glasswood.questions.drift._arithmetic import apart, on_common_cuts, stability_index
from glasswood.questions.drift._result import Comparison
from glasswood.results import BASES, Axis
from glasswood.study._second_pass import rows_in_cells
from glasswood.study._study import Study
from glasswood.study._view import View
from glasswood.tables._columns import CodeColumn, Column, Dictionary, Extent, LabelColumn

__all__ = ["compare_views", "number_of"]


def compare_views(views: Mapping[str, View]) -> Comparison:
    """Compare the curves of several explainers on common cells."""
    names, studies = tuple(map(str, views)), [view.study for view in views.values()]
    curves = _spelled([_curves(view) for view in views.values()], studies)
    features = [feature for feature in curves[0] if all(feature in other for other in curves[1:])]
    if not features:
        message = (
            "the explainers have no common feature with a curve; groups, and columns of pipelines that have points "
            "only, have none"
        )
        raise TableError(message)
    _check_outputs(names, [result[features[0]] for result in curves])
    together = {feature: [result[feature] for result in curves] for feature in features}
    cells = {feature: _common_cells(own) for feature, own in together.items()}
    looked = [_look_again(study, k, cells) for k, study in enumerate(studies)]
    shared = {
        feature: _on_cells(own, cells[feature], [rows[feature] for rows, _ in looked])
        for feature, own in together.items()
    }
    return _comparison(names, shared, max((basis for _, basis in looked), key=BASES.index))


def _curves(view: View) -> dict[str, Curve]:
    """Return the curve of every feature that has one."""
    study = view.study
    grouped = {name for group in study.groups.values() for name in group}
    names = [name for name in study.plan(1).players if name not in grouped and name not in study.groups]
    number = {name: f for f, name in enumerate(study.ensemble.feature_names)}
    return {name: curve_of(view, number[name]) for name in names}


def _spelled(curves: Sequence[dict[str, Curve]], studies: Sequence[Study]) -> list[dict[str, Curve]]:
    """Return the curves by names that all explainers have, as the first one spells them.

    LightGBM writes blanks as underscores, and only a table knows the user's own names.
    """
    schemas = [study.ensemble.schema for study in studies]
    changing = next((schema for schema in schemas if schema.underscored), None)
    if changing is None or any(len({*map(changing.key, result)}) < len(result) for result in curves):
        return list(curves)
    spelling: dict[str, str] = {}
    for result in curves:
        for name in result:
            spelling.setdefault(changing.key(name), name)
    return [{spelling[changing.key(name)]: curve for name, curve in result.items()} for result in curves]


def number_of(study: Study, name: str) -> int:
    """Return the number of a feature, given its name as any of several explainers spells it."""
    names = study.ensemble.feature_names
    return names.index(name) if name in names else [*map(_plain, names)].index(_plain(name))


def _plain(name: str) -> str:
    return name.replace(" ", "_")


def _check_outputs(names: Sequence[str], curves: Sequence[Curve]) -> None:
    """Raise an error if the curves have different outputs or scales."""
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


class _Cells(NamedTuple):
    """How a curve is mapped to the common cells of its feature.

    `place` is the curve's own cell of each common cell, `rows` the number of rows in it; None if counts do not tell.
    """

    column: Column
    cuts: NDArray[np.float64]
    place: NDArray[np.int64]
    rows: NDArray[Any] | None


def _common_cells(curves: Sequence[Curve]) -> list[_Cells]:
    """Return the common cells of the curves of one feature, for each curve."""
    coded = [curve.categories is not None for curve in curves]
    if any(coded) != all(coded):
        message = f"{curves[0].name!r} is categorical in one of the models and numeric in another"
        raise TableError(message)
    if all(coded):
        return _cells_of_labels([_with_all_labels(curve, curves) for curve in curves])
    cuts, places = on_common_cuts([curve.cuts for curve in curves])
    return [
        _Cells(curve.axis.column, cuts, place, curve.axis.rows if curve.cuts.size == cuts.size else None)
        for curve, place in zip(curves, places, strict=True)
    ]


def _look_again(study: Study, k: int, cells: Mapping[str, list[_Cells]]) -> tuple[dict[str, NDArray[Any]], str]:
    """Return the number of rows of the k-th explainer in the cells of each feature, and the basis of these numbers.

    Where its counts do not tell, the rows are read again if they are available; otherwise the array is empty.
    """
    rows_of = {feature: own[k].rows for feature, own in cells.items()}
    unknown = [feature for feature, rows in rows_of.items() if rows is None]
    number = partial(number_of, study)
    if study.over.basis == "rows":
        seen = rows_in_cells(study, {number(name): (cells[name][k].column, cells[name][k].cuts) for name in unknown})
        looked = {name: seen[number(name)] for name in unknown}
    else:
        looked = {name: np.empty(0) for name in unknown}
    known = {feature: rows for feature, rows in rows_of.items() if rows is not None}
    return known | looked, "rows" if study.over.basis == "counts" and not unknown else study.over.basis


def _on_cells(curves: Sequence[Curve], cells: Sequence[_Cells], rows: Sequence[NDArray[Any]]) -> tuple[Curve, ...]:
    """Return the curves of one feature on common cells, given the number of rows in them."""
    extent: Deferred[Extent | None] = Deferred(lambda: _common_extent(curves))
    return tuple(
        replace(
            curve,
            axis=Axis(own.column, own.cuts, seen, extent, curve.axis.weighted),
            heights=curve.heights[own.place],
            find_spread=curve.find_spread.map(partial(_take, own.place)),
            **columns_in_cells(curve, own.place),
        )
        for curve, own, seen in zip(curves, cells, rows, strict=True)
    )


def _take(place: NDArray[np.int64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
    return spread[place]


def _common_extent(curves: Sequence[Curve]) -> Extent | None:
    """Return the extent of the values of all explainers; None if one of them is unknown."""
    extents = [curve.axis.find_extent() for curve in curves]
    known = [extent for extent in extents if extent is not None]
    if len(known) < len(extents):
        return None
    return Extent(
        min(extent.least for extent in known),
        max(extent.greatest for extent in known),
        all(extent.whole for extent in known),
    )


def _cells_of_labels(axes: Sequence[Axis]) -> list[_Cells]:
    """Return the cells of all labels known to any of the axes, for each axis."""
    known = [axis.categories or () for axis in axes]
    labels = tuple(dict.fromkeys(label for own in known for label in own))
    if all(own == labels for own in known):
        return [_Cells(axis.column, axis.cuts, np.arange(axis.n_cells), axis.rows) for axis in axes]
    result = []
    for own, axis in zip(known, axes, strict=True):
        code = {label: place for place, label in enumerate(own)}
        place = np.array([*(code.get(label, len(own)) for label in labels), len(own), len(own) + 1])
        rows = axis.rows
        seen: NDArray[Any] | None = rows[place] if rows.size else rows
        if rows.size and rows[len(own)] > 0:  # some of them may have a label that another model knows
            seen = None
        result.append(_Cells(_with_labels(axis.column, labels), axis.cuts, place, seen))
    return result


def _with_labels(column: Column, labels: tuple[Hashable, ...]) -> Column:
    """Return a categorical column with the given labels."""
    if isinstance(column, CodeColumn) and labels == tuple(range(len(labels))):
        return replace(column, size=len(labels))
    return LabelColumn(column.name, labels)


def _with_all_labels(curve: Curve, curves: Sequence[Curve]) -> Axis:
    """Return the axis of a curve with labels found in the rows of the others, because CatBoost only stores hashes."""
    column = curve.axis.column
    labels = list(dict.fromkeys(label for other in curves for label in other.axis.column.own_labels))
    if not labels or not column.wants_labels:
        return curve.axis
    return replace(curve.axis, column=column.labelled(Dictionary(labels, np.empty(0, dtype=np.intp))))


def _comparison(names: tuple[str, ...], shared: dict[str, tuple[Curve, ...]], basis: str) -> Comparison:
    """Return the comparison of curves on common cells, the largest difference first."""
    lines = []
    for curves in shared.values():
        listed = [curve.axis.rows for curve in curves]
        known = all(rows.size and rows.sum() > 0 for rows in listed)
        rows = np.array(listed, dtype=np.float64) if known else np.empty((0, 0))
        mean, largest = apart(np.array([curve.heights for curve in curves]), rows)
        shift = stability_index(rows, ordered=curves[0].categories is None) if known else np.nan
        lines.append((mean, largest, shift))
    difference, largest = (np.array([entry[k] for entry in lines]) for k in range(2))
    first = next(iter(shared.values()))[0]
    comparison = Comparison(
        names=names,
        features=tuple(shared),
        difference=difference,
        largest=largest,
        shift=np.array([entry[2] for entry in lines]),
        basis=basis,
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
