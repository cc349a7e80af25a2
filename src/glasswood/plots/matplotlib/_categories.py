"""Panels of categories for Matplotlib: one line per category, so that labels are horizontal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._axes import whole_numbers
from glasswood.plots._spec import Line, Scale, Steps
from glasswood.plots._steps import BASE, cells_beside_axis, colour_of, coloured_bands, dodge, limits
from glasswood.plots._style import MARKS, PALE_OPACITY, Style
from glasswood.text._plain import number, several

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

__all__ = ["PLAIN", "WHISKER", "draw_categories", "in_lines", "set_heights", "set_ticks"]

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
WHISKER: dict[str, Any] = {"linewidth": 3.0, "alpha": 0.35, "solid_capstyle": "butt"}  # the spread around a mark


def set_heights(ax: Axes, which: str, heights: tuple[float, float], *, room: bool) -> None:
    """Set the limits of the axis of heights, x or y, with room for the data at its beginning."""
    ends = limits(heights)
    axis, side, limit = (ax.xaxis, "bottom", ax.set_xlim) if which == "x" else (ax.yaxis, "left", ax.set_ylim)
    limit(ends[0] - 0.195 * (ends[1] - ends[0]) if room else ends[0], ends[1])
    if room:  # heights have no meaning where the data is drawn
        axis.set_ticks([tick for tick in axis.get_majorticklocs() if ends[0] <= tick <= ends[1]])
        ax.spines[side].set_bounds(*ends)


def set_ticks(axis: Axis, scale: Scale) -> None:
    """Let the ticks of an axis of numbers be few, whole where the feature is, and large ones readable."""
    if scale.ticks:
        axis.set_ticks([at for at, _ in scale.ticks], [text for _, text in scale.ticks], **PLAIN)
        return
    large = max(abs(scale.view[0]), abs(scale.view[1])) >= 1e5
    locator = cast("MaxNLocator", axis.get_major_locator())
    locator.set_params(nbins=4 if large else 7, integer=whole_numbers(scale))
    low, high = scale.view
    max_ = max(abs(low), abs(high))
    if 1e4 <= max_ < 1e9 and high - low > 0.01 * max_:
        axis.set_major_formatter(lambda x, _: number(x))


def draw_categories(ax: Axes, panel: Steps, style: Style, heights: tuple[float, float]) -> list[Line2D]:
    """Draw the heights of categories as dots, the first category on top, and the share of rows as bars at the left."""
    set_heights(ax, "x", heights, room=bool(panel.support))
    n, outer = panel.x.n_cells, cells_beside_axis(panel)
    places = np.arange(n, dtype=np.float64)
    further = n + 0.3 + np.arange(len(outer), dtype=np.float64)
    if panel.mean is not None:
        ax.axvline(panel.mean, color=style.dim, linewidth=0.7, zorder=1)
        if style.alone and not panel.note:
            small: dict[str, Any] = {"fontsize": "x-small", "color": style.dim, "va": "bottom", "ha": "center"}
            ax.text(panel.mean, 1.0, f"average {number(panel.mean)}", transform=ax.get_xaxis_transform(), **small)
    _draw_shares(ax, panel, style, further)
    _draw_bands(ax, panel, style, further)
    for row in panel.faint:
        ax.plot(row, places, color=style.dim, linewidth=0.5, alpha=0.6)
    drawn = [_draw_dots(ax, panel, k, style) for k in range(len(panel.lines))]
    for at, (field, _) in zip(further, outer, strict=True):
        marked = [(k, getattr(line, field)) for k, line in enumerate(panel.lines) if getattr(line, field) is not None]
        for i, (k, height) in enumerate(marked):
            options: dict[str, Any] = {"color": colour_of(panel, k), "marker": MARKS[k % len(MARKS)]}
            options["alpha"] = PALE_OPACITY if field in panel.lines[k].pale_beside else None
            ax.plot([height], [at + 0.55 * dodge(i, len(marked))], markersize=_size(panel), **options)
    if outer:
        ax.axhline(n - 0.35, color=style.dim, linewidth=0.8, linestyle=(0, (1, 2)))
    ax.set_ylim(n + len(outer) - 0.1 if outer else n - 0.4, -0.6)
    labels = [style.readable(text) for text in several(panel.x.labels, 22 if style.alone else 18)]
    labels += [label.replace("\n", " ") for _, label in outer]
    size = "medium" if style.alone else "small" if n <= 10 else "x-small" if n <= 18 else "xx-small"
    ax.set_yticks([*places, *further], labels, fontsize=size, **PLAIN)
    ax.set_xlabel(in_lines(style, panel.y_label, 44 if style.alone else 34), **PLAIN)
    ax.set_ylabel(style.readable(panel.x.label), **PLAIN)
    return drawn


def _draw_bands(ax: Axes, panel: Steps, style: Style, further: NDArray[np.float64]) -> None:
    """Draw bands as bars; those of several lines are thin, behind the marks."""
    for i, (band, colour, shade) in enumerate(coloured_bands(panel)):
        ends = [*zip(band.low, band.high, strict=True)]
        places = [float(place) for place in range(panel.x.n_cells)]
        for at, (field, _) in zip(further.tolist(), cells_beside_axis(panel), strict=True):
            if getattr(band, field) is not None:
                ends.append(getattr(band, field))
                places.append(at)
        low, high = np.array(ends).T
        if band.line is None or len(panel.lines) == 1:
            width = 0.5 if i or band.line is not None else 0.7
            ax.barh(places, high - low, width, low, color=colour, alpha=style.opacity(shade), linewidth=0)
        else:
            dodged = np.array(places) + 0.55 * dodge(band.line, len(panel.lines))
            ax.hlines(dodged, low, high, color=colour, linewidth=WHISKER["linewidth"], alpha=WHISKER["alpha"])


def in_lines(style: Style, text: str, max_: int) -> str:
    """Return the label of an axis, wrapped to lines of limited length."""
    return "\n".join(textwrap.wrap(style.readable(text), max_))


def _size(panel: Steps) -> float:
    return 6.5 if panel.x.n_cells <= 15 else 4.5


def _draw_dots(ax: Axes, panel: Steps, k: int, style: Style) -> Line2D:
    """Draw the heights of categories as dots, hollow where there are no rows."""
    line: Line = panel.lines[k]
    places = np.arange(panel.x.n_cells) + 0.55 * dodge(k, len(panel.lines))
    values = np.asarray(line.heights)
    support = np.asarray(line.support or panel.support)
    empty = support == 0 if support.size else np.zeros(values.size, dtype=bool)
    colour = colour_of(panel, k)
    if panel.mean is not None:
        ax.hlines(places, panel.mean, values, color=colour, linewidth=1.2, alpha=0.5)
    options: dict[str, Any] = {"color": colour, "marker": MARKS[k % len(MARKS)], "linestyle": "none"}
    options["markersize"] = _size(panel)
    ax.plot(values[empty], places[empty], markerfacecolor=style.paper, alpha=0.7, **options)
    pale = np.asarray(line.pale, dtype=bool) if line.pale else np.zeros(values.size, dtype=bool)
    ax.plot(values[pale & ~empty], places[pale & ~empty], alpha=PALE_OPACITY, **options)
    full = ~pale & ~empty
    return ax.plot(values[full], places[full], **options)[0]


def _draw_shares(ax: Axes, panel: Steps, style: Style, further: NDArray[np.float64]) -> None:
    """Draw the share of rows of each category on the left, and of missing and unseen values next to the axis."""
    if not panel.support:
        return
    base = ax.get_yaxis_transform()
    grouped = [(k, line) for k, line in enumerate(panel.lines) if line.support]
    if grouped:
        max_ = max(max(line.support) for _, line in grouped) or 1.0
        width = 0.8 / len(grouped)
        for i, (k, line) in enumerate(grouped):
            at = np.arange(panel.x.n_cells) - 0.4 + width * (i + 0.5)
            bars = np.asarray(line.support) * BASE / max_
            ax.barh(at, bars, 0.9 * width, color=colour_of(panel, k), alpha=0.5, transform=base)
        return
    shares = [
        panel.missing_share if field == "missing" else panel.unseen_share for field, _ in cells_beside_axis(panel)
    ]
    bars = np.asarray([*panel.support, *(share or 0.0 for share in shares)])
    places = [*range(panel.x.n_cells), *further]
    bars *= BASE / max(float(bars.max()), 1e-300)
    ax.barh(places, bars, 0.8, color=style.dim, alpha=0.55, transform=base, linewidth=0)
