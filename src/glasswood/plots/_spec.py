"""What a figure shows, as plain data: panels of numbers and labels, without any library that draws."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "DRAWN_IN",
    "TITLED",
    "Band",
    "Bars",
    "Canvas",
    "Cells",
    "Dots",
    "Joined",
    "Line",
    "Matrix",
    "Network",
    "Panel",
    "Scale",
    "Series",
    "Sheet",
    "Steps",
    "Track",
    "Waterfall",
]


@dataclass(frozen=True)
class Scale:
    """An axis over the cells of a feature.

    Numbers have `edges`, where cells are drawn: one more than cells, and finite. The outermost cells have no end; they
    are drawn to the least and the greatest value of the data, or a little beyond the last cuts where `open_ends` says
    that nothing is known about the data there (or that there is none). Between them are the `cuts`, except for whole
    numbers, where cells are drawn midway between two. Categories have `labels`, one per cell, and no edges. `view` is
    the part of the axis to show first: all of it, unless a few cuts far out would squash the rest; empty for
    categories. `ticks` are places and texts, if edges are not the values themselves (but their logarithms).
    Points that were asked for have `places`, from the first to the last value of each cell, and no cuts.
    """

    label: str
    edges: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    view: tuple[float, ...] = ()
    cuts: tuple[float, ...] = ()
    whole: bool = False
    open_ends: tuple[bool, bool] = (True, True)
    ticks: tuple[tuple[float, str], ...] = ()
    places: tuple[tuple[float, float], ...] = ()

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.labels) or len(self.edges) - 1


@dataclass(frozen=True)
class Line:
    """One output (or group, or model) of a panel of steps: a height per cell, and those next to the axis, if any.

    Groups of rows have a `support` of their own: the share of the group's rows in each cell. `colour` is the number of
    the line's colour, if that is not its place: lines about the same rows have one in common. `pale` are the cells, and
    `pale_beside` what is next to the axis ("missing", "unseen"), that say little: empty if none do.
    """

    name: str
    heights: tuple[float, ...]
    missing: float | None = None
    unseen: float | None = None
    support: tuple[float, ...] = ()
    colour: int | None = None
    pale: tuple[bool, ...] = ()
    pale_beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Band:
    """A band between two heights per cell: percentiles of ICE curves, or the spread of rows around a line.

    `line` is the position of the line that the band belongs to and has the colour of; None if it is of no line. Only
    bands of lines have ends next to the axis, `missing` and `unseen`, where their line has a height there.
    """

    name: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    line: int | None = None
    missing: tuple[float, float] | None = None
    unseen: tuple[float, float] | None = None


@dataclass(frozen=True)
class Steps:
    """Curves over the cells of one feature: true steps for numbers, dots for categories; the data below.

    `support` is the share of rows in each cell, `missing_share` that of missing ones and `unseen_share` that of unseen
    categories; empty and None without data. `faint` are single rows' curves. `mean` is the average score: a line to
    compare with. `weighted` says that shares are of the rows' weight, and `note` what is left out.
    """

    title: str
    x: Scale
    y_label: str
    lines: tuple[Line, ...]
    support: tuple[float, ...] = ()
    missing_share: float | None = None
    bands: tuple[Band, ...] = ()
    faint: tuple[tuple[float, ...], ...] = ()
    mean: float | None = None
    unseen_share: float | None = None
    weighted: bool = False
    note: str = ""


@dataclass(frozen=True)
class Joined:
    """Heights at places along a number, joined by straight lines, such as accumulated local effects; the data below.

    Lines and bands have a height per place. `empty` tells between which two places there are no rows: lines are dashed
    there. `support` is the share of rows between two places, `missing_share` that of missing ones. `faint` are further
    lines to compare with.
    """

    title: str
    x_label: str
    y_label: str
    places: tuple[float, ...]
    lines: tuple[Line, ...]
    empty: tuple[bool, ...] = ()
    support: tuple[float, ...] = ()
    missing_share: float | None = None
    bands: tuple[Band, ...] = ()
    faint: tuple[Line, ...] = ()
    weighted: bool = False
    note: str = ""


@dataclass(frozen=True)
class Cells:
    """A surface: one height per pair of cells (rows of `heights` are cells of y), and the share of rows in each.

    `density` is empty where only the shares of each axis alone are known: `x_support` and `y_support`. `diverging`
    surfaces are drawn around 0 in two colours. Shares are of the rows' weight if they are `weighted`. If cells are
    drawn together, `exact` is how many there are along x and y.
    """

    title: str
    x: Scale
    y: Scale
    z_label: str
    heights: tuple[tuple[float, ...], ...]
    density: tuple[tuple[float, ...], ...] = ()
    diverging: bool = False
    x_support: tuple[float, ...] = ()
    y_support: tuple[float, ...] = ()
    weighted: bool = False
    note: str = ""
    exact: tuple[int, ...] = ()

    @property
    def with_numbers(self) -> bool:
        """Whether cells are few and wide enough to hold their numbers: those of two features of a few categories."""
        return bool(self.x.labels and self.y.labels) and self.x.n_cells <= 20 and self.y.n_cells <= 30


@dataclass(frozen=True)
class Bars:
    """One bar per label, the longest first unless they are sorted otherwise; several series side by side.

    With one series, `reach` may have half of the width of a band around the end of each bar.
    """

    title: str
    x_label: str
    labels: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    series: tuple[str, ...] = ("",)
    reach: tuple[float, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Matrix:
    """A square of numbers for pairs of labels, such as interaction strengths; NaN where there is none."""

    title: str
    z_label: str
    labels: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Network:
    """Nodes on a circle, sized by importance, and links between them with a width proportional to their strength.

    `links` are (node, node, strength), the strongest first; sizes and strengths are shares of the largest.
    """

    title: str
    labels: tuple[str, ...]
    sizes: tuple[float, ...]
    links: tuple[tuple[int, int, float], ...]
    z_label: str = ""
    note: str = ""


@dataclass(frozen=True)
class Waterfall:
    """How parts add up from `start` to `end`; `rest` says whether the last part is all the others together."""

    title: str
    x_label: str
    start: tuple[str, float]
    end: tuple[str, float]
    labels: tuple[str, ...]
    values: tuple[float, ...]
    rest: bool = False
    note: str = ""


@dataclass(frozen=True)
class Dots:
    """A dot per row (or point), coloured by a third number: grey where that is NaN, all alike if there is none.

    `x_labels` and `y_labels` are at 0, 1, 2 and so on, for categories and for a line of dots per feature. `colour_ends`
    are shown at the ends of the colour bar, in place of numbers. `zero` draws a line where x is 0.
    """

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    colours: tuple[float, ...] = ()
    colour_label: str = ""
    colour_ends: tuple[str, ...] = ()
    x_labels: tuple[str, ...] = ()
    y_labels: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    zero: bool = False
    note: str = ""


@dataclass(frozen=True)
class Track:
    """One line of a series: a value at each place, NaN where there is none, and which of them are beyond a limit.

    `colour` is the number of its colour and mark, which a line has in common with those of its name in other panels;
    None for a line that is alone. `errors` are how far bars go above and below each value; empty if there are none.
    """

    name: str
    values: tuple[float, ...]
    broken: tuple[bool, ...]
    colour: int | None = None
    errors: tuple[float, ...] = ()


@dataclass(frozen=True)
class Series:
    """Values over time, a line each. `labels` are the places, from left to right.

    `faint` are the values of further lines, which are not named. `limits` are heights to compare with, and what they
    are. `chance` is what values would be by chance at each place; empty if that is not known.
    """

    title: str
    y_label: str
    labels: tuple[str, ...]
    tracks: tuple[Track, ...]
    faint: tuple[tuple[float, ...], ...] = ()
    limits: tuple[tuple[float, str], ...] = ()
    chance: tuple[float, ...] = ()
    note: str = ""


Panel = Dots | Steps | Joined | Cells | Bars | Matrix | Network | Series | Waterfall

# The file that draws each kind of panel: there is one of this name in `matplotlib/`, and one in `plotly/`.
DRAWN_IN: dict[type[Panel], str] = {
    Bars: "_bars",
    Cells: "_cells",
    Dots: "_dots",
    Joined: "_joined",
    Matrix: "_pairs",
    Network: "_pairs",
    Series: "_series",
    Steps: "_steps",
    Waterfall: "_bars",
}
TITLED = (Dots, Waterfall)  # drawn with their own title if they are alone: what they show is a single row


@dataclass(frozen=True)
class Sheet:
    """A figure: panels in a grid; `shared_y` gives all panels of steps the same heights, so that they compare.

    `figsize` is its width and height in inches, chosen to fit the panels by default.
    """

    panels: tuple[Panel, ...]
    n_columns: int = 3
    title: str = ""
    notes: tuple[str, ...] = field(default=())
    shared_y: bool = False
    figsize: tuple[float, float] | None = None


@dataclass(frozen=True)
class Canvas:
    """Where a figure is drawn: by which library, on which axes (a new figure by default), its title and its size."""

    backend: str = "matplotlib"
    ax: object = None
    title: str | None = None
    figsize: tuple[float, float] | None = None
