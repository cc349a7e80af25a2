"""Interactions: values of feature sets for each row; dense, in blocks, or aggregated."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from math import prod
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from glasswood._types import Frame
from glasswood.effects._many_sets import BlocksOfSets
from glasswood.effects._set_values import SetValues, largest_of_rows, means_of_sets, values_of_rows
from glasswood.errors import TableError
from glasswood.kernels._read_only import read_only
from glasswood.models._outputs import position_of
from glasswood.parallel._lazy import Deferred, cached_property
from glasswood.parallel._memory import memory_left, memory_that_fits
from glasswood.parallel._progress import shown
from glasswood.parallel._threads import for_each, in_order, thread_limit
from glasswood.questions.rows._result_shown import ShownRows
from glasswood.results._drawable import Drawable
from glasswood.results._frames import Tabular, check_memory, to_frame
from glasswood.tables._parquet import write_parquet
from glasswood.text._arguments import whole_number
from glasswood.text._html import facts_html
from glasswood.text._printable import how_many

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, InteractionValues, MatplotlibFigure, PlotlyFigure
    from glasswood.plots._spec import Bars, Waterfall

    class InteractionsFigure(FigureOptions, total=False):
        kind: str
        top: int
        output: Hashable


__all__ = ["Interactions", "label_of"]


BATCH = 1024  # rows that a thread takes at a time, at least

BLOCK_VALUES = 2**24  # values of a block of a stream: 128 megabytes

SHARE_OF_MEMORY = 8  # values of a block take at most this part of what is left, if tables are made for each block


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Interactions(Drawable, Tabular):
    """The contribution of each feature set to the score of each row.

    Everything is computed lazily: `values` needs memory for all of them, `blocks`, `mean_abs`, `top`, `top_per_row` and
    `to_parquet` do not. `index` is what shapiq calls the metric, or empty for a metric of your own; `order` is the size
    of its largest sets, or None if it has no limit.

    `to_frame` returns one column per set (and output); "(mean)" is the empty set.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = HistGradientBoostingRegressor(max_iter=20, max_depth=3).fit(X, y)
    >>> values = gw.Explainer(model, X).interaction_values(X)
    >>> values
    Interactions(442 rows x ... sets of up to 3 features, value)
    >>> values.subsets[:3]
    [(), ('age',), ('sex',)]
    >>> bool(abs(values.values.sum(axis=1) - model.predict(X)).max() < 1e-9)
    True
    >>> values["bmi", "s5"].shape
    (442,)
    >>> values.top(2).columns.tolist()
    ['features', 'order', 'mean_abs', 'mean_square', 'signed_mean']
    """

    source: SetValues
    players: tuple[str, ...]
    outputs: tuple[Any, ...]
    units: str
    find_mean: Deferred[NDArray[np.float64]]
    index: str = ""
    order: int | None = None
    columns: ShownRows = field(default_factory=lambda: ShownRows.of(None))

    _threads: ClassVar[int | None]  # that may compute what is asked for later

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_threads", thread_limit())

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.source.n_rows

    @property
    def _sizes(self) -> NDArray[np.int64]:
        """The number of features of each set."""
        sets = self.source.sets
        if isinstance(sets, BlocksOfSets):
            return sets.sizes
        return np.fromiter(map(len, sets), dtype=np.int64, count=len(sets))

    @property
    def base_values(self) -> float | NDArray[np.float64]:
        """What the values of a row are added to: the mean score. One per output if there are several.

        0 if the values contain one of the empty set, as those of `interaction_values` do: it is the mean there. If a
        metric adds up, the values of a row and the base value are its score.
        """
        has_empty_set = bool((self._sizes[:1] == 0).any())  # sets are sorted by size
        mean = np.zeros(len(self.outputs)) if has_empty_set else self.find_mean()
        return float(mean[0]) if len(self.outputs) == 1 else read_only(mean)

    @cached_property
    def subsets(self) -> list[tuple[str, ...]]:
        """The names of the features of each set, sorted by size and then by the order of features."""
        return [tuple(self.players[player] for player in members) for members in self.source.sets]

    def __len__(self) -> int:
        return len(self.source.sets)

    def __repr__(self) -> str:
        max_ = len(self.source.sets[-1]) if len(self) else 0
        outputs = f" x {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        size = f"{how_many(self.n_rows, 'row')} x {how_many(len(self), 'set')} of up to {how_many(max_, 'feature')}"
        return f"Interactions({size}{outputs}, {self.units})"

    def _repr_html_(self) -> str:
        sizes = np.bincount(self._sizes)
        orders = {f"sets of {how_many(size, 'feature')}": n for size, n in enumerate(sizes) if size and n}
        facts = {"rows": self.n_rows, "features": len(self.players), **orders, "units": self.units}
        return facts_html(
            "Interactions: values of sets of features", facts | {"outputs": ", ".join(map(str, self.outputs))}
        )

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The value of every set for every row: (n_rows, n_sets), with a last axis of outputs if there are several."""
        check_memory((self.n_rows, len(self), len(self.outputs)), 1, self._remedy)
        out = np.empty((len(self), len(self.outputs), self.n_rows))
        for numbers, part in self.source.parts():
            self._write_part(numbers, part, out)
        return read_only(self._shaped(out))

    def _write_part(self, numbers: Any, part: SetValues, out: NDArray[np.float64]) -> None:
        """Write the values of some sets for all rows to `out`: (n_sets, n_outputs, n_rows)."""

        def write(index: int) -> None:
            span = index * BATCH, min(self.n_rows, (index + 1) * BATCH)
            if isinstance(numbers, slice):
                part.write(span, out.reshape(-1, self.n_rows), span[0])
            else:
                held = np.empty((len(part.sets) * len(self.outputs), span[1] - span[0]))
                part.write(span, held, 0)
                out[numbers, :, slice(*span)] = held.reshape(-1, len(self.outputs), held.shape[1])

        for_each(-(-self.n_rows // BATCH), write, "values of rows", self._threads)

    @property
    def _remedy(self) -> str:
        """What to ask for if there is no memory for all values."""
        sizes = np.cumsum(np.bincount(self._sizes))
        allowed = memory_that_fits() // (8 * max(1, self.n_rows * len(self.outputs)))
        order = int(np.searchsorted(sizes, allowed, side="right")) - 1
        smaller = f"Ask for max_order={order} or for fewer rows. " if order > 0 else "Ask for fewer rows. "
        return (
            f"{smaller}blocks(), blocks_of_sets(), top_per_row(), top(), mean_abs(), signed_mean() and to_parquet() "
            "need little memory"
        )

    def blocks(self, n_rows: int | None = None) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield the values of all rows in blocks: the number of the block's first row, and its values.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> ex = gw.Explainer(RandomForestClassifier(5, random_state=0).fit(X, y), X)
        >>> values = ex.interaction_values(X, output=2)
        >>> [(first, len(block)) for first, block in values.blocks(100)]
        [(0, 100), (100, 50)]
        """
        size = n_rows or self._rows_of_block
        if size < 1:
            message = f"n_rows must be at least 1, not {n_rows}"
            raise TableError(message)

        def block(index: int) -> NDArray[np.float64]:
            span = index * size, min(self.n_rows, (index + 1) * size)
            return self._shaped(values_of_rows(self.source, span, len(self.outputs)))

        n_blocks = -(-self.n_rows // size)
        threads = 1 if self._in_parts else self._threads  # each part is computed in threads
        with in_order(n_blocks, block, limit=threads) as blocks:
            for index, values in enumerate(blocks):
                yield index * size, values

    @property
    def _in_parts(self) -> bool:
        """Whether there are tables of some sets at a time only, which are made anew for each block of rows."""
        return isinstance(self.source.sets, BlocksOfSets)

    @property
    def _rows_of_block(self) -> int:
        n_values = max(1, len(self) * len(self.outputs))
        max_ = max(BLOCK_VALUES, memory_left() // (8 * SHARE_OF_MEMORY)) if self._in_parts else BLOCK_VALUES
        return max(1, min(self.n_rows, max_ // n_values))

    def blocks_of_sets(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """Yield the values of all rows for some sets after the other: the numbers of these sets, and their values.

        Numbers are positions in `subsets`; values are (n_rows, n_sets), with a last axis if there are several outputs.
        With very many sets, this is faster than `blocks`, since the tables of a set are made once.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> values = gw.Explainer(HistGradientBoostingRegressor(max_iter=5).fit(X, y), X).interaction_values(X)
        >>> sum(len(numbers) for numbers, block in values.blocks_of_sets()) == len(values)
        True
        """
        max_sets = max(1, BLOCK_VALUES // max(1, self.n_rows * len(self.outputs)))
        for numbers, piece in self.source.pieces(max_sets):
            out = np.empty((numbers.size, len(self.outputs), self.n_rows))
            self._write_part(slice(None), piece, out)
            yield numbers, self._shaped(out)

    def _shaped(self, out: NDArray[np.float64]) -> NDArray[np.float64]:
        n_outputs, n_rows = len(self.outputs), out.shape[-1]
        n_sets = prod(out.shape[:-1]) // n_outputs  # not -1, which is ambiguous without rows
        values = out.reshape(n_sets, n_outputs, n_rows).transpose(2, 0, 1)
        return values[..., 0] if len(self.outputs) == 1 else values

    @cached_property
    def _number(self) -> dict[frozenset[str], int]:
        return {frozenset(names): number for number, names in enumerate(self.subsets)}

    def __getitem__(self, features: str | tuple[str, ...]) -> NDArray[np.float64]:
        names = (features,) if isinstance(features, str) else features
        unknown = [name for name in names if name not in self.players]
        if unknown:
            raise TableError.no_feature(unknown[0], self.players)
        number = self._number.get(frozenset(names))
        if number is None:
            shape = (self.n_rows,) if len(self.outputs) == 1 else (self.n_rows, len(self.outputs))
            return np.zeros(shape)
        if "values" in self.__dict__:
            return self.values[:, number].copy()
        return np.concatenate([block[:, number] for _, block in self.blocks()])

    @cached_property
    def _means(self) -> NDArray[np.float64]:
        """The means of absolute values, squares and values, (3, n_sets, n_outputs)."""
        return read_only(means_of_sets(self.source, len(self.outputs), self._threads))

    def _mean(self, place: int) -> NDArray[np.float64]:
        return self._means[place, :, 0] if len(self.outputs) == 1 else self._means[place]

    def mean_abs(self) -> NDArray[np.float64]:
        """Return the mean absolute value of each set over the rows: (n_sets,) or (n_sets, n_outputs).

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> ex = gw.Explainer(RandomForestClassifier(5, random_state=0).fit(X, y), X)
        >>> values = ex.interaction_values(X, output=2)
        >>> bool(abs(values.mean_abs() - abs(values.values).mean(axis=0)).max() < 1e-12)
        True
        """
        return self._mean(0)

    def mean_square(self) -> NDArray[np.float64]:
        """Return the mean square of each set over the rows: (n_sets,) or (n_sets, n_outputs)."""
        return self._mean(1)

    def signed_mean(self) -> NDArray[np.float64]:
        """Return the mean value of each set over the rows, with its sign: (n_sets,) or (n_sets, n_outputs).

        Values of opposite signs cancel. Over the rows of the background, the mean of a set of several features is 0 if
        they are independent there.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> values = gw.Explainer(HistGradientBoostingRegressor(max_iter=5).fit(X, y), X).interaction_values(X)
        >>> bool((values.mean_square() >= values.signed_mean() ** 2 - 1e-12).all())
        True
        >>> bool(abs(values.signed_mean() - values.values.mean(axis=0)).max() < 1e-12)
        True
        """
        return self._mean(2)

    def top(self, k: int = 10) -> Frame:
        """Return the k sets (and outputs) with the largest mean absolute value, as a data frame, the largest first."""
        k = whole_number(k, "k is the number of sets")
        skipped = int(len(self) > 0 and not self.source.sets[0])  # the empty set explains nothing
        sizes = self._means[0, skipped:].ravel()
        order = np.argsort(-sizes, kind="stable")[:k]
        number, output = np.divmod(order, len(self.outputs))
        sets = [self.source.sets[one] for one in (number + skipped).tolist()]
        columns: dict[str, Any] = {
            "features": [label_of(tuple(self.players[player] for player in members)) for members in sets],
            "order": np.array([len(members) for members in sets], dtype=np.int64),
        }
        if len(self.outputs) > 1:
            columns["output"] = [self.outputs[o] for o in output]
        chosen = self._means[:, skipped:].reshape(3, -1)[:, order]
        return to_frame(columns | dict(zip(("mean_abs", "mean_square", "signed_mean"), chosen, strict=True)))

    def top_per_row(self, k: int = 3) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return, for each row, the k sets with the largest absolute values: their numbers in `subsets`, and values.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = HistGradientBoostingRegressor(max_iter=20, max_depth=3).fit(X, y)
        >>> values = gw.Explainer(model, X).interaction_values(X)
        >>> numbers, found = values.top_per_row(2)
        >>> [values.subsets[number] for number in numbers[0]]
        [(...), (...)]
        """
        k = whole_number(k, "k is the number of sets of each row")
        if len(self.outputs) > 1:
            message = f"top_per_row needs a single output; pass output=, one of {list(self.outputs)!r}"
            raise TableError(message)
        return largest_of_rows(self.source, k, self._threads)

    def _columns(self) -> dict[str, Any]:
        values = self.values.reshape(self.n_rows, len(self), len(self.outputs))
        ends = [f" [{name}]" for name in self.outputs] if len(self.outputs) > 1 else [""]
        return {
            label_of(names) + end: values[:, number, output]
            for number, names in enumerate(self.subsets)
            for output, end in enumerate(ends)
        }

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write all nonzero values to a Parquet file with the columns row, features, (output,) value.

        Memory use does not depend on the number of rows.

        Examples
        --------
        >>> import tempfile, pandas as pd, glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> values = gw.Explainer(HistGradientBoostingRegressor(max_iter=5).fit(X, y), X).interaction_values(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     values.to_parquet(folder + "/values.parquet")
        ...     pd.read_parquet(folder + "/values.parquet").columns.tolist()
        ['row', 'features', 'value']
        """
        several = len(self.outputs) > 1

        def part(first: int, block: NDArray[np.float64]) -> dict[str, Any]:
            block = block.reshape(len(block), len(self), len(self.outputs))
            row, number, output = np.nonzero(block)
            columns = {"row": row + first, "features": number.astype(np.int32)}
            if several:
                columns["output"] = output.astype(np.int32)
            return columns | {"value": block[row, number, output]}

        labels = {"features": [label_of(names) for names in self.subsets]}
        labels |= {"output": list(self.outputs)} if several else {}
        n_rows = max(1, BLOCK_VALUES // 16 // max(1, len(self) * len(self.outputs)))
        none = np.empty((0, len(self), len(self.outputs)))
        blocks = shown(self.blocks(n_rows), -(-self.n_rows // n_rows), "writing") if self.n_rows else [(0, none)]
        write_parquet(path, (part(first, block) for first, block in blocks), labels)

    def to_shapiq(self, row: int = 0, *, output: Hashable = None) -> InteractionValues:
        """Return the values of one row as `shapiq.InteractionValues`, for the plots of the shapiq package.

        Parameters
        ----------
        row : int, default 0
            The number of the row.
        output : label, optional
            The output (class or target); required if there are several.

        Returns
        -------
        shapiq.InteractionValues
            With the index of the metric, such as "SII", "k-SII", "FSII" or "Moebius". The value of the empty set is the
            mean score. The values of metrics of your own have no index, and are refused.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=5).fit(X, y), X)
        >>> ex.evaluate(gw.metrics.FaithfulShapley(order=2), X[:3]).to_shapiq(row=1).index  # doctest: +SKIP
        'FSII'
        """
        from glasswood.questions.rows._result_exports import shapiq_values_of_sets
        from glasswood.results.panels._outputs import one_row

        place = position_of(self.outputs, output)
        if place is None and len(self.outputs) > 1:
            message = f"an object of shapiq has one output; pass output=, one of {list(self.outputs[:20])!r}"
            raise TableError(message)
        row, k = one_row(self.n_rows, row), place or 0
        sets, n_outputs = self.source.sets, len(self.outputs)
        values = np.empty((len(sets) * n_outputs, 1))
        self.source.write((row, row + 1), values, 0)
        heights = values.reshape(len(sets), n_outputs)[:, k].tolist()
        of_sets = {(): float(self.find_mean()[k])} | dict(zip(map(tuple, sets), heights, strict=True))
        return shapiq_values_of_sets(self.index, of_sets, self.order, len(self.players))

    def panel(self, row: int = 0, output: int | None = None, **options: Any) -> Waterfall | Bars:
        """Return the data that `plot` draws. Options are those of `plot`; outputs are given by position."""
        result: Waterfall | Bars = self._made("panel", row, output, **options)
        return result

    @overload
    def plot(
        self,
        row: int = 0,
        *,
        backend: Literal["matplotlib"] = "matplotlib",
        ax: None = None,
        **options: Unpack[InteractionsFigure],
    ) -> MatplotlibFigure: ...
    @overload
    def plot(
        self, row: int = 0, *, backend: Literal["plotly"], **options: Unpack[InteractionsFigure]
    ) -> PlotlyFigure: ...
    @overload
    def plot(self, row: int = 0, *, ax: A, **options: Unpack[InteractionsFigure]) -> A: ...

    def plot(
        self,
        row: int = 0,
        *,
        kind: str = "waterfall",
        top: int = 10,
        output: Hashable = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw the score of one row as a waterfall of the strongest feature sets of any order, or means over all rows.

        Parameters
        ----------
        row : int, default 0
            The number of the row.
        kind : {"waterfall", "bar"}, default "waterfall"
            "bar" draws the mean absolute value of the strongest sets over all rows, and their mean with its sign.
        top : int, default 10
            The number of sets shown separately. In a waterfall, all others are combined into one part, and up to twenty
            are shown if the combined part would otherwise be the largest.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure is created.
        output : label, optional
            The output (class or target) to draw; required if there are several.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.interaction_values(X).plot(row=3)
        <Drawing size ... with 1 Axes>
        """
        place = position_of(self.outputs, output)
        return self._plot((backend, ax, title, figsize), row, place, kind=kind, top=top)


def label_of(names: tuple[str, ...]) -> str:
    """Return the name of a set of features."""
    return " x ".join(names) if names else "(mean)"
