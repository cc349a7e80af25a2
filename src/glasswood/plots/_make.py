"""What results show in figures: results in, panels out. Any object with the attributes of a result will do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood._statistics import quantiles
from glasswood.plots._axes import Layout, layout_of, shares_of
from glasswood.plots._outputs import MOST_LINES, one_output, outputs_shown, scale_label
from glasswood.plots._spec import Band, Bars, Line, Matrix, Network, Scale, Steps
from glasswood.plots._surfaces import nested, panel_of_surface
from glasswood.plots._text import number, plain
from glasswood.plots._waterfall import panel_of_row

__all__ = [
    "panel_of_comparison",
    "panel_of_curve",
    "panel_of_ice",
    "panel_of_importance",
    "panel_of_points",
    "panel_of_row",
    "panel_of_strengths",
    "panel_of_surface",
]

N_FAINT = 12
BANDS = ((5, 95), (25, 75))


# ------------------------------------------------------------------------------------------------ curves


def panel_of_curve(curve: Any, output: int | None = None, *, sort: str | None = None) -> Steps:
    """Return the panel of a `Curve`: all outputs, or one.

    `sort` orders categories: "height", "rows", or "model" (the order of the model, as by default). What is missing or
    unseen is beside the axis if there are such rows, or no rows at all.
    """
    shown, note = outputs_shown(curve.heights, curve.outputs, output)
    layout = layout_of(curve.axis, curve.heights[:, shown[0]], sort)
    lines = tuple(_line(plain(curve.outputs[k]), curve.heights[:, k], layout, curve.axis) for k in shown)
    return Steps(
        title=layout.scale.label,
        x=layout.scale,
        y_label=scale_label(curve.units, curve.outputs, shown),
        lines=lines,
        support=layout.support,
        missing_share=layout.missing_share,
        mean=float(curve.mean[shown[0]]) if len(shown) == 1 else None,
        unseen_share=layout.unseen_share,
        note="; ".join(filter(None, (layout.note, note))),
    )


def _line(name: str, heights: NDArray[np.float64], layout: Layout, axis: Any) -> Line:
    """Return one output of a curve; what no row has is not beside the axis."""
    missing = None if layout.missing_share == 0 else float(heights[-1])
    unseen = None
    if axis.categories is not None and layout.unseen_share != 0:
        unseen = float(heights[-2])
    return Line(name, tuple(heights[layout.cells].tolist()), missing, unseen)


def panel_of_ice(ice: Any, output: int | None = None, *, sort: str | None = None, n_lines: int = N_FAINT) -> Steps:
    """Return the panel of an `Ice`: bands of percentiles of its rows, a few rows, and their mean."""
    k = one_output(ice.heights.mean(axis=0), ice.outputs, output, "a panel of ICE curves")
    heights = ice.heights[..., k]
    mean = np.average(heights, axis=0, weights=ice.weight)
    if ice.axis is None:
        layout = _layout_of_points(ice.columns, mean, sort)
        line = Line("average", tuple(mean[layout.cells].tolist()))
    else:
        layout = layout_of(ice.axis, mean, sort)
        line = _line("average", mean, layout, ice.axis)
    main = heights[:, layout.cells]
    bands = []
    for low, high in BANDS:
        ends = quantiles(main, [low / 100, high / 100], ice.weight)
        bands.append(Band(f"{low} % to {high} % of rows", tuple(ends[0].tolist()), tuple(ends[1].tolist())))
    # Rows are picked evenly in the order of their mean response: low, middle and high ones, the same each time.
    order = np.argsort(main.mean(axis=1), kind="stable")
    n = min(n_lines, len(main))
    picked = order[np.round((np.arange(n) + 0.5) / max(n, 1) * len(main) - 0.5).astype(np.intp)]
    return Steps(
        title=plain(ice.name),
        x=layout.scale,
        y_label=scale_label(ice.units, ice.outputs, [k], average=False),
        lines=(line,),
        support=layout.support,
        missing_share=layout.missing_share,
        bands=tuple(bands),
        faint=tuple(tuple(row.tolist()) for row in main[picked]),
        unseen_share=layout.unseen_share,
        note=layout.note,
    )


def panel_of_points(points: Any, output: int | None = None, *, sort: str | None = None) -> Steps:
    """Return the panel of `Points`: along the axis for one column of numbers, else one label per point."""
    shown, note = outputs_shown(points.heights, points.outputs, output)
    layout = _layout_of_points(points.columns, points.heights[:, shown[0]], sort, plain(points.name))
    lines = [
        Line(plain(points.outputs[k]), tuple(points.heights[layout.cells, k].tolist()), _missing_point(points, k))
        for k in shown
    ]
    return Steps(
        title=plain(points.name),
        x=layout.scale,
        y_label=scale_label(points.units, points.outputs, shown),
        lines=tuple(lines),
        note="; ".join(filter(None, (layout.note, note))),
    )


def _numbers(column: Sequence[Any]) -> NDArray[np.float64] | None:
    """Return a column of numbers as an array; None if it holds anything else."""
    array = np.asarray(column)
    return array.astype(np.float64) if array.dtype.kind in "iuf" else None


def _missing_point(points: Any, k: int) -> float | None:
    """Return the height of the point at NaN, if there is one on an axis of numbers."""
    values = _numbers(next(iter(points.columns.values()))) if len(points.columns) == 1 else None
    if values is None or not np.isnan(values).any():
        return None
    return float(points.heights[np.flatnonzero(np.isnan(values))[0], k])


def _layout_of_points(
    columns: Any, heights: NDArray[np.float64], sort: str | None, name: str | None = None, most: int = 30
) -> Layout:
    """Return how points are laid out."""
    names = list(columns)
    name = " x ".join(map(plain, names)) if name is None else name
    values = _numbers(columns[names[0]]) if len(names) == 1 else None
    if values is not None and np.isfinite(values).sum() > 1:
        finite = np.flatnonzero(np.isfinite(values))
        places, first = np.unique(values[finite], return_index=True)
        if places.size > 1:
            edges = _edges_around(places)
            scale = Scale(
                name,
                tuple(edges.tolist()),
                view=(float(edges[0]), float(edges[-1])),
                open_ends=(False, False),
                places=tuple((place, place) for place in places.tolist()),
            )
            return Layout(scale, finite[first], note="steps lie midway between points")
    labels = _point_labels(columns)
    cells, note = np.arange(len(labels)), ""
    if cells.size > most:
        order = np.argsort(heights, kind="stable")
        cells = np.sort(np.concatenate([order[: most // 2], order[-(most - most // 2) :]]))
        note = f"the lowest and the highest of {len(labels):,} points"
    if sort == "height":
        cells = cells[np.argsort(-heights[cells], kind="stable")]
    return Layout(Scale(name, labels=tuple(labels[cell] for cell in cells)), cells, note=note)


def _edges_around(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return edges midway between places, and as far beyond the outermost ones."""
    middle = places[:-1] / 2 + places[1:] / 2
    return np.concatenate([[2 * places[0] - middle[0]], middle, [2 * places[-1] - middle[-1]]])


def _point_labels(columns: Any) -> list[str]:
    """Return a label per point; a one-hot group is told by the name of the column that is 1."""
    names = [plain(name) for name in columns]
    values = list(columns.values())
    arrays = [_numbers(column) for column in values]
    if len(names) > 1 and all(array is not None and np.isin(array, (0, 1)).all() for array in arrays):
        hot = np.array(arrays) == 1
        if (hot.sum(axis=0) <= 1).all():
            return [names[int(np.argmax(column))] if column.any() else "(none)" for column in hot.T]
    texts = [[number(x) if isinstance(x, float | np.floating) else plain(x) for x in column] for column in values]
    if len(names) == 1:
        return texts[0]
    return [
        ", ".join(f"{name}={text}" for name, text in zip(names, point, strict=True))
        for point in zip(*texts, strict=True)
    ]


# ------------------------------------------------------------------------------------------------ summaries


def panel_of_importance(importance: Any, output: int | None = None, *, top: int = 20) -> Bars:
    """Return the panel of an `Importance`: a bar per feature, the most important first."""
    heights = np.asarray(importance.heights)
    shown, note = outputs_shown(heights, importance.outputs, output)
    order = np.arange(len(heights)) if output is None else np.argsort(-heights[:, shown[0]], kind="stable")
    if len(order) > top:
        note = "; ".join(filter(None, (f"the first {top} of {len(order):,} features", note)))
    order = order[:top]
    several = len(shown) > 1
    units = scale_label(importance.units, importance.outputs, shown, average=False)
    return Bars(
        title="Importance",
        x_label=f"standard deviation of the curve ({units})",
        labels=tuple(plain(importance.names[i]) for i in order),
        values=tuple(tuple(heights[order, k].tolist()) for k in shown),
        series=tuple(plain(importance.outputs[k]) for k in shown) if several else ("",),
        note=note,
    )


def panel_of_strengths(
    strengths: Any, output: int | None = None, *, kind: str = "heatmap", top: int = 12, importance: Any = None
) -> Matrix | Network:
    """Return the panel of interaction `Strengths`: a square of the features that interact most, or a network of them.

    `importance` sizes the nodes of the network; without it, a node is as large as its links together.
    """
    if kind not in ("heatmap", "network"):
        message = f'kind is "heatmap" or "network", not {kind!r}'
        raise ValueError(message)
    heights = np.asarray(strengths.heights, dtype=np.float64)
    strength = np.sqrt((heights**2).sum(axis=1)) if output is None else heights[:, output]
    names, square = _square(strengths.pairs, strength, top)
    n_all = len({name for pair in strengths.pairs for name in pair})
    note = f"the {len(names)} of {n_all:,} features that interact most" if n_all > len(names) else ""
    of = [output] if output is not None else list(range(len(strengths.outputs)))
    largest = ", all outputs" if len(of) > 1 else ""
    label = (
        f"interaction, root mean square ({scale_label(strengths.units, strengths.outputs, of, average=False)}{largest})"
    )
    if kind == "heatmap":
        return Matrix("Interactions", label, tuple(map(plain, names)), nested(square), note)
    return _network(names, square, (importance, output), label, note)


def _square(
    pairs: Sequence[tuple[str, str]], strength: NDArray[np.float64], top: int
) -> tuple[list[str], NDArray[np.float64]]:
    """Return the features with the strongest interactions, and a square of these; NaN where a pair has none."""
    names: list[str] = []
    for i in np.argsort(-strength, kind="stable"):
        names += [name for name in pairs[i] if name not in names and len(names) < top]
    number_of = {name: i for i, name in enumerate(names)}
    square = np.full((len(names), len(names)), np.nan)
    for (a, b), height in zip(pairs, strength, strict=True):
        if a in number_of and b in number_of:
            i, j = number_of[a], number_of[b]
            square[i, j] = square[j, i] = height
    return names, square


def _network(
    names: list[str], square: NDArray[np.float64], sized: tuple[Any, int | None], label: str, note: str
) -> Network:
    """Return the network of a square of strengths."""
    importance, k = sized
    found = np.nan_to_num(square)
    sizes = found.sum(axis=1)
    if importance is not None:
        heights = np.asarray(importance.heights)
        of = heights.max(axis=1) if k is None else heights[:, k]
        size_of = dict(zip(importance.names, of.tolist(), strict=True))
        sizes = np.array([size_of.get(name, 0.0) for name in names])
    i, j = np.triu_indices(len(names), 1)
    strength = found[i, j]
    order = [n for n in np.argsort(-strength, kind="stable") if strength[n] > 0]
    most = max(strength.max(initial=0.0), 1e-300)
    widest = f"widest link: {label} {number(most)}" if order else "no links"
    return Network(
        title="Interactions",
        labels=tuple(map(plain, names)),
        sizes=tuple((sizes / max(sizes.max(initial=0.0), 1e-300)).tolist()),
        links=tuple((int(i[n]), int(j[n]), float(strength[n] / most)) for n in order),
        z_label=label,
        note="; ".join(filter(None, (widest, note))),
    )


def panel_of_comparison(comparison: Any, feature: str, output: int | None = None, *, sort: str | None = None) -> Steps:
    """Return the panel of one feature in a `Comparison`: a line per group of rows, or per model."""
    curves = comparison.curves(feature)
    names = list(curves)
    first = curves[names[0]]
    k = one_output(first.heights, first.outputs, output, "a comparison")
    layout = layout_of(first.axis, first.heights[:, k], sort)
    shown = names[:MOST_LINES]
    note = f"the first {MOST_LINES} of {len(names)}" if len(names) > MOST_LINES else ""
    shares = {name: shares_of(curves[name].axis) for name in shown}
    known = all(support.size for support, _, _ in shares.values())
    lines = []
    for name in shown:
        line = _line(plain(name), curves[name].heights[:, k], layout, first.axis)
        if known:
            support, missing, _ = shares[name]
            line = replace(line, support=tuple(support[layout.cells].tolist()))
            line = replace(line, missing=float(curves[name].heights[-1, k]) if missing else None)
        lines.append(line)
    return Steps(
        title=layout.scale.label,
        x=layout.scale,
        y_label=scale_label(first.units, first.outputs, [k]),
        lines=tuple(lines),
        support=tuple(np.mean([line.support for line in lines], axis=0).tolist()) if known else (),
        missing_share=float(np.mean([missing or 0.0 for _, missing, _ in shares.values()])) if known else None,
        note="; ".join(filter(None, (layout.note, note))),
    )
