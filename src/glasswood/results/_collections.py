"""Results by name: those of several features, computed when looked up, and those of groups of rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, overload

from glasswood._types import Frame, FrameLibrary
from glasswood.errors import ArgumentError
from glasswood.models._outputs import position_of
from glasswood.parallel._threads import thread_limit, threads_limited_to
from glasswood.results._drawable import maker_of
from glasswood.results._frames import Tabular, stacked
from glasswood.text._html import facts_html
from glasswood.text._plain import plain
from glasswood.text._printable import how_many, printable

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, MatplotlibFigure, PlotlyFigure
    from glasswood.plots._spec import Panel

__all__ = ["Grouped", "Lazy", "Several", "draw_page", "panel_of_one", "text_of_key"]


LISTED = 10  # results of a mapping that are shown

R = TypeVar("R", covariant=True)

CANVAS: dict[str, Any] = {"backend": "matplotlib", "ax": None, "title": None, "figsize": None}


class Lazy(Mapping[Any, Any]):
    """A mapping whose values are computed when they are looked up, with the limit of threads of now."""

    def __init__(self, keys: Collection[Any], make: Callable[[Any], Any]) -> None:
        self._keys = keys
        self._make = make
        self._limit = thread_limit()

    def __getitem__(self, key: Hashable) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        with threads_limited_to(self._limit):
            return self._make(key)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[Any]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({how_many(len(self), 'result')}, made when looked up)"


def text_of_key(key: Hashable) -> str:
    return " x ".join(map(str, key)) if isinstance(key, tuple) else str(key)


class Several(Mapping[Any, R]):
    """Results of several features or groups, by name."""

    _drawn_by_group: ClassVar[bool] = False  # each result over those of other groups of rows

    def __init__(self, result: Mapping[Any, R]) -> None:
        self._found = result

    def __getitem__(self, key: Hashable) -> R:
        return self._found[key]

    def __contains__(self, key: object) -> bool:
        return key in self._found

    def __iter__(self) -> Iterator[Any]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def _names(self, text_of: Callable[[Any], str] = text_of_key) -> str:
        """Return the first names, in a sentence."""
        names = [printable(text_of(key)) for key, _ in zip(self, range(LISTED), strict=False)]
        return f"{', '.join(names)}{', ...' if len(self) > LISTED else ''}"

    def _repr_html_(self) -> str:
        return html_of(repr(self), self._found)


class Grouped(Several[R], Tabular):
    """The results of one question for several groups of rows: a mapping from groups to results.

    `to_frame` returns the concatenated frames of all groups, with the group in the first column or columns.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X)
    >>> curves = ex.partial_dependence("bmi", by="sex")
    >>> curves
    Grouped by sex: Curve of 1.0, 2.0
    >>> curves[1.0]
    Curve(bmi: ... cuts, value from ... to ...)
    >>> curves.to_frame().columns.tolist()
    ['sex', 'bmi_above', 'bmi_to', 'value', 'rows']
    """

    def __init__(self, by: Sequence[str], result: Mapping[Any, R]) -> None:
        super().__init__(dict(result))
        self.by = tuple(by)

    def __repr__(self) -> str:
        kind = type(next(iter(self.values()))).__name__ if self else "nothing"
        return f"Grouped by {', '.join(map(printable, self.by)) or 'rows'}: {kind} of {self._names(str)}"

    def _frame(self, library: FrameLibrary | None) -> Frame:
        results: Collection[Any] = self.values()
        frames = [result.to_frame(library) for result in results]
        names = self.by or ("group",)
        keys = [key if len(names) > 1 and isinstance(key, tuple) else (key,) for key in self]
        return stacked(frames, names, keys)

    @overload
    def plot(
        self, *, backend: Literal["matplotlib"] = "matplotlib", ax: None = None, **options: Any
    ) -> MatplotlibFigure: ...
    @overload
    def plot(self, *, backend: Literal["plotly"], **options: Any) -> PlotlyFigure: ...
    @overload
    def plot(self, *, ax: A, **options: Any) -> A: ...

    def plot(self, **options: Any) -> AnyFigure:
        """Draw the groups: curves in the same panel, with the distributions of their rows below; others side by side.

        Parameters
        ----------
        **options
            Those of the results' own `plot`, such as ``std=True`` for curves. ``observed=True`` draws what was observed
            and predicted for each group, in place of the curves.

        Returns
        -------
        Figure of matplotlib or plotly, or `ax` if that is given
            Notebooks show it. In scripts ``plt.show()`` shows it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.partial_dependence("bmi", by="sex").plot()
        <Drawing size ... with 1 Axes>
        """
        canvas = tuple(options.pop(name, default) for name, default in CANVAS.items())
        sharey, page = options.pop("sharey", True), options.pop("page", 0)
        return draw_page(self._drawers(**options), "panel", page, sharey=sharey, canvas=canvas)

    def _drawers(self, *, output: Hashable = None, **options: Any) -> list[Callable[[], Panel]]:
        """Return a function for each panel of the figure, so that only those on a page are computed."""
        first = next(iter(self.values()), None)
        if not (isinstance(first, Several) and first._drawn_by_group):
            return self._drawers_of(self._found, output, options)
        result: list[Callable[[], Panel]] = []
        for name in first:
            alike = Lazy(tuple(self), partial(_of_group, self._found, name))
            result += self._drawers_of(alike, output, options)
        return result

    def _drawers_of(
        self, result: Mapping[Hashable, Any], output: Hashable, options: dict[str, Any]
    ) -> list[Callable[[], Panel]]:
        """Return how the results of all groups are drawn: curves over each other, others side by side."""
        first = next(iter(result.values()), None)
        if not hasattr(first, "panel"):
            message = f"there is no figure of {type(first).__name__} by group; use to_frame(), or the result of a group"
            raise ArgumentError(message)
        if maker_of(type(first), "together") is not None:
            return [partial(self._overlay, result, output, options)]
        return [partial(self._panel_of, result, key, output, options) for key in result]

    def _panel_of(
        self,
        result: Mapping[Hashable, Any],
        key: Hashable,
        output: Hashable,
        options: dict[str, Any],
    ) -> Panel:
        panel = panel_of_one(result, key, output, options)
        return replace(panel, note="; ".join(filter(None, (self._label(key), panel.note))))

    def _label(self, key: Hashable) -> str:
        """Return the name of a group in figures."""
        if not self.by:
            return plain(key)
        parts = key if len(self.by) > 1 and isinstance(key, tuple) else (key,)
        return ", ".join(f"{plain(name)} = {plain(part)}" for name, part in zip(self.by, parts, strict=True))

    def _overlay(self, found: Mapping[Hashable, Any], output: Hashable, options: dict[str, Any]) -> Panel:
        if options.get("error"):
            message = "error= is for figures of single curves; draw those of a group: found[key].plot(error=True)"
            raise ArgumentError(message)
        results = {self._label(key): result for key, result in found.items()}
        first = next(iter(results.values()))
        make, place = maker_of(type(first), "together"), position_of(first.outputs, output)
        if make is None:
            message = f"there is no figure of several {type(first).__name__} together"
            raise ArgumentError(message)
        panel: Panel = make(results, place, **{name: options[name] for name in options if name != "error"})
        return panel


def panel_of_one(found: Mapping[Any, Any], key: Hashable, output: Hashable, options: dict[str, Any]) -> Panel:
    """Return the panel of one result."""
    result = found[key]
    options = {name: value for name, value in options.items() if name not in result._ignored_options}
    outputs = result.first.outputs if hasattr(result, "first") else result.outputs
    panel: Panel = result.panel(output=position_of(outputs, output), **options)
    return panel


def _of_group(result: Mapping[Any, Any], name: Hashable, key: Hashable) -> Any:
    return result[key][name]


def draw_page(
    drawers: Sequence[Callable[[], Panel]], what: str, page: int, *, sharey: bool, canvas: tuple[Any, ...]
) -> AnyFigure:
    """Draw the panels of a page."""
    from glasswood.plots._draw import Canvas, page_of, plot_page

    shown, note = page_of(drawers, page, what)
    return plot_page([make() for make in shown], Canvas(*canvas), [note] if note else [], sharey=sharey)


def html_of(title: str, result: Mapping[Any, Any]) -> str:
    """Return a small table of results; of those that are computed lazily, the names only."""
    shown = list(result)[:LISTED]
    facts = {
        text_of_key(key): "computed when looked up" if isinstance(result, Lazy) else repr(result[key]) for key in shown
    }
    return facts_html(title, facts)
