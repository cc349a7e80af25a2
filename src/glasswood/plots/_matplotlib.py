"""Figures with matplotlib: a sheet in, a Figure out. No state of pyplot is touched, and no setting is changed."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from glasswood.errors import MissingExtraError
from glasswood.plots._look import Look
from glasswood.plots._matplotlib_categories import PLAIN
from glasswood.plots._matplotlib_others import draw_bars, draw_cells, draw_matrix, draw_network, draw_waterfall
from glasswood.plots._matplotlib_steps import draw_steps
from glasswood.plots._spec import Bars, Cells, Matrix, Network, Panel, Sheet, Steps, Waterfall
from glasswood.plots._steps import common_heights, names_in_legend
from glasswood.plots._text import several, shorten

try:
    import matplotlib as mpl
    from matplotlib.colors import to_hex
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties, findfont, get_font
except ImportError as error:
    message = "figures need matplotlib; install glasswood[plot], or pass engine='plotly'"
    raise MissingExtraError(message) from error

__all__ = ["Drawing", "draw"]

DRAWERS: dict[type, Callable[..., Any]] = {
    Bars: draw_bars,
    Cells: draw_cells,
    Matrix: draw_matrix,
    Network: draw_network,
    Waterfall: draw_waterfall,
}


class Drawing(Figure):
    """A figure that notebooks show by itself, though pyplot does not know it."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=self.dpi, bbox_inches="tight")
        return buffer.getvalue()


def draw(sheet: Sheet, ax: Any = None) -> Any:
    """Draw a sheet, on given axes or on a new figure, and return the figure."""
    panels = sheet.panels
    if ax is not None:
        axes = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(axes) != len(panels):
            message = f"the figure has {len(panels)} panels, so ax must be as many axes, not {len(axes)}"
            raise ValueError(message)
        figure = axes[0].figure
    else:
        figure, axes = _new(sheet)
    look = _look(axes[0] if axes else None, alone=len(panels) == 1)
    heights = common_heights(sheet)
    legends = [_draw_panel(one, panel, look, heights) for one, panel in zip(axes, panels, strict=True)]
    _add_legends(figure, axes, legends, look, own=ax is None)
    if ax is None:
        _add_texts(figure, sheet, look)
        _trim(axes, sheet)
    return figure


def _new(sheet: Sheet) -> tuple[Drawing, list[Any]]:
    """Return a new figure and its axes."""
    n = len(sheet.panels)
    n_columns = max(1, min(sheet.n_columns, n))
    n_lines = -(-n // n_columns)
    sizes = [_size(panel) for panel in sheet.panels]
    width = n_columns * max((size[0] for size in sizes), default=4.0) * (1.0 if n == 1 else 0.85)
    tallest = max((size[1] for size in sizes), default=3.0)
    height = tallest if n == 1 else n_lines * min(0.85 * tallest, 4.0)
    figure = Drawing(figsize=(width, height), layout="constrained")
    axes = [figure.add_subplot(n_lines, n_columns, i + 1) for i in range(n)]
    return figure, axes


def _size(panel: Panel) -> tuple[float, float]:
    """Return the inches that a panel alone would like."""
    if isinstance(panel, Steps):
        return 5.2, max(3.6, 1.2 + 0.22 * len(panel.x.labels))
    if isinstance(panel, Cells):
        return 5.8, 4.6
    if isinstance(panel, Bars):
        return 6.4, 1.3 + 0.27 * max(len(panel.labels), 3)
    if isinstance(panel, Waterfall):
        return 6.8, 1.2 + 0.33 * (len(panel.labels) + 2)
    if isinstance(panel, Matrix):
        return 6.4, 5.4
    return 6.6, 4.8


def _look(ax: Any, *, alone: bool) -> Look:
    """Return the colours of the surroundings, and what the font can show."""
    paper = ax.get_facecolor() if ax is not None else mpl.rcParams["axes.facecolor"]
    if len(paper) == 4 and not isinstance(paper, str) and paper[3] == 0:
        paper = "white" if sum(_rgb(mpl.rcParams["text.color"])) < 1.5 else "black"
    return Look(to_hex(mpl.rcParams["text.color"]), to_hex(paper), _readable(_fonts()), alone)


def _rgb(colour: Any) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)


def _fonts() -> tuple[str, ...]:
    """Return the files of the fonts that texts are set in."""
    found: list[str] = []
    settings: Any = mpl.rcParams  # to look at all of them would load pyplot
    for family in settings["font.family"]:
        for name in settings.get(f"font.{family}", [family]):
            try:
                found.append(findfont(FontProperties(family=[name]), fallback_to_default=False))
            except ValueError:
                continue
            break  # matplotlib takes the first font of a family that is there
    return tuple(found) or (findfont(FontProperties()),)


@lru_cache(maxsize=8)
def _readable(fonts: tuple[str, ...]) -> Callable[[str], str]:
    """Return a function that shortens a text, and puts a square for what no font has, which would be a warning."""
    known: set[int] = set().union(*(get_font(font).get_charmap() for font in fonts))
    square = "\u25a1" if 0x25A1 in known else "?"

    def readable(text: str) -> str:
        return "".join(c if ord(c) in known or c == "\n" else square for c in shorten(text, 60))

    return readable


def _draw_panel(ax: Any, panel: Panel, look: Look, heights: tuple[float, float] | None) -> tuple[list[Any], list[str]]:
    """Draw a panel, and return the marks and names of its legend."""
    names: Sequence[str] = ()
    drawn: Any = None
    if isinstance(panel, Steps):
        drawn = draw_steps(ax, panel, look, heights)
        names = names_in_legend(panel)
    else:
        drawn = DRAWERS[type(panel)](ax, panel, look)
        names = panel.series if isinstance(panel, Bars) else ()
    if isinstance(panel, Steps | Bars | Waterfall):
        ax.spines[["top", "right"]].set_visible(False)
    if panel_note := getattr(panel, "note", ""):
        text = "\n".join(textwrap.wrap(look.readable(panel_note) if len(panel_note) < 60 else panel_note, 58))
        text = "\n".join(look.readable(line) for line in text.split("\n"))
        ax.set_title(text, loc="left", fontsize="x-small", color=look.dim, **PLAIN)
    return (list(drawn or []), list(names)) if len(names) > 1 else ([], [])


def _add_legends(figure: Any, axes: list[Any], legends: list[Any], look: Look, *, own: bool) -> None:
    """Add one legend for all panels if they have the same names, else one to each panel."""
    named = [legend for legend in legends if legend[1]]
    if not named:
        return
    if own and len(named) == len(legends) and len({tuple(names) for _, names in named}) == 1:
        handles, names = named[0]
        n_columns = min(len(names), 2 if max(map(len, names)) > 12 else 4) if len(axes) == 1 else 8
        place = {"loc": "outside upper center", "ncols": n_columns}
        _label(figure.legend(handles, [str(i) for i in range(len(handles))], **place, frameon=False), names, look)
        return
    for ax, (handles, names) in zip(axes, legends, strict=True):
        if names:
            _label(ax.legend(handles, [str(i) for i in range(len(handles))], fontsize="small"), names, look)


def _label(legend: Any, names: list[str], look: Look) -> None:
    """Write names into a legend: matplotlib itself would leave out those that begin with an underscore."""
    for text, name in zip(legend.get_texts(), several(names, 24), strict=True):
        text.set(text=look.readable(name), **PLAIN)


def _add_texts(figure: Any, sheet: Sheet, look: Look) -> None:
    """Add the title and the notes of a sheet."""
    if sheet.title:
        figure.suptitle(look.readable(sheet.title), **PLAIN)
    if sheet.notes:
        notes = "\n".join(look.readable(line) for note in sheet.notes for line in textwrap.wrap(note, 58))
        figure.supxlabel(notes, fontsize="x-small", color=look.dim, x=0.01, ha="left", **PLAIN)


def _trim(axes: list[Any], sheet: Sheet) -> None:
    """Take away what neighbours say already: labels of heights but the first of each line."""
    if not sheet.shared_y:
        return
    for i, (ax, panel) in enumerate(zip(axes, sheet.panels, strict=True)):
        left = sheet.panels[i - 1] if i % sheet.n_columns else None
        if isinstance(panel, Steps) and panel.x.edges and isinstance(left, Steps) and left.x.edges:
            ax.set_ylabel("")
