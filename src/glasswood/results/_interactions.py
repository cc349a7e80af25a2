"""Interactions: values of feature sets for each row; dense, in blocks, or aggregated."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Unpack

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._row_questions import largest
from glasswood.errors import TableError
from glasswood.kernels._read_only import ReadOnly, read_only
from glasswood.models._outputs import position_of
from glasswood.parallel._once import once
from glasswood.parallel._progress import shown
from glasswood.parallel._threads import for_each, in_order, thread_limit
from glasswood.results._frames import check_memory, to_frame
from glasswood.results._shown import ShownRows
from glasswood.tables._parquet import write_parquet
from glasswood.text._arguments import whole_number
from glasswood.text._html import facts_html
from glasswood.text._printable import how_many

if TYPE_CHECKING:
    from glasswood.plots._spec import Waterfall
    from glasswood.results.panels._options import RankingOptions

__all__ = ["Interactions", "SetValues", "label_of"]

BATCH = 1024  # rows that a thread takes at a time, at least
BLOCK_VALUES = 2**24  # values of a block of a stream: 128 megabytes


class SetValues(Protocol):
    """The source of an `Interactions`: the sets, and their values for any rows."""

    @property
    def sets(self) -> list[tuple[int, ...]]:
        """The players of each set."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    def write(self, span: tuple[int, int], out: NDArray[np.float64], at: int) -> None:
        """Write the values of a span of rows to the columns of `out`, (n_sets x n_outputs, ...), starting at `at`."""

    def moments(self, span: tuple[int, int]) -> NDArray[np.float64]:
        """Return the sums of absolute values and squares over a span of rows: (2, n_sets x n_outputs)."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Interactions(ReadOnly):
    """The contribution of each feature set to the score of each row.

    Everything is computed lazily: `values` needs memory for all of them, `blocks`, `mean_abs`, `top`, `top_per_row` and
    `to_parquet` do not.

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
    ['features', 'order', 'mean_abs', 'mean_square']
    """

    source: SetValues
    players: tuple[str, ...]
    outputs: tuple[Any, ...]
    units: str
    columns: ShownRows = field(default_factory=lambda: ShownRows.of(None))

    _threads: ClassVar[int | None]  # that may compute what is asked for later

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_threads", thread_limit())

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.source.n_rows

    @once
    def subsets(self) -> list[tuple[str, ...]]:
        """The names of the features of each set, sorted by size and then by the order of features."""
        return [tuple(self.players[player] for player in members) for members in self.source.sets]

    def __len__(self) -> int:
        return len(self.source.sets)

    def __repr__(self) -> str:
        most = max(map(len, self.source.sets), default=0)
        outputs = f" x {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        size = f"{how_many(self.n_rows, 'row')} x {how_many(len(self), 'set')} of up to {how_many(most, 'feature')}"
        return f"Interactions({size}{outputs}, {self.units})"

    def _repr_html_(self) -> str:
        sizes = np.bincount([len(members) for members in self.source.sets])
        orders = {f"sets of {how_many(size, 'feature')}": n for size, n in enumerate(sizes) if size and n}
        facts = {"rows": self.n_rows, "features": len(self.players), **orders, "units": self.units}
        return facts_html(
            "Interactions: values of sets of features", facts | {"outputs": ", ".join(map(str, self.outputs))}
        )

    @once
    def values(self) -> NDArray[np.float64]:
        """The value of every set for every row: (n_rows, n_sets), with a last axis of outputs if there are several."""
        check_memory((self.n_rows, len(self), len(self.outputs)))
        out = np.empty((len(self) * len(self.outputs), self.n_rows))
        for_each(
            -(-self.n_rows // BATCH),
            lambda index: self._write(index, BATCH, out, index * BATCH),
            "values of rows",
            self._threads,
        )
        return read_only(self._shaped(out))

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
        size = n_rows or max(1, min(self.n_rows, BLOCK_VALUES // max(1, len(self) * len(self.outputs))))
        if size < 1:
            message = f"n_rows must be at least 1, not {n_rows}"
            raise TableError(message)

        def block(index: int) -> NDArray[np.float64]:
            first = index * size
            out = np.empty((len(self) * len(self.outputs), min(size, self.n_rows - first)))
            self._write(index, size, out, 0)
            return self._shaped(out)

        n_blocks = -(-self.n_rows // size)
        with in_order(n_blocks, block, limit=self._threads) as blocks:
            for index, values in enumerate(blocks):
                yield index * size, values

    def _write(self, index: int, size: int, out: NDArray[np.float64], at: int) -> None:
        self.source.write((index * size, min(self.n_rows, (index + 1) * size)), out, at)

    def _shaped(self, out: NDArray[np.float64]) -> NDArray[np.float64]:
        values = out.reshape(len(self), len(self.outputs), out.shape[1]).transpose(2, 0, 1)
        return values[..., 0] if len(self.outputs) == 1 else values

    @once
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

    @once
    def _moments(self) -> NDArray[np.float64]:
        """The means of absolute values and squares, (2, n_sets, n_outputs), added up in the order of rows."""
        batch = max(BATCH, -(-self.n_rows // 4096))

        def part(index: int) -> NDArray[np.float64]:
            return self.source.moments((index * batch, min(self.n_rows, (index + 1) * batch)))

        n_batches = -(-self.n_rows // batch)
        total = np.zeros((2, len(self) * len(self.outputs)))
        with in_order(n_batches, part, "interactions", self._threads) as parts:
            for sums in parts:
                total += sums
        return read_only((total / max(1, self.n_rows)).reshape(2, len(self), len(self.outputs)))

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
        return self._moments[0, :, 0] if len(self.outputs) == 1 else self._moments[0]

    def mean_square(self) -> NDArray[np.float64]:
        """Return the mean square of each set over the rows: (n_sets,) or (n_sets, n_outputs).

        Examples
        --------
        See `mean_abs`.
        """
        return self._moments[1, :, 0] if len(self.outputs) == 1 else self._moments[1]

    def top(self, k: int = 10) -> Any:
        """Return the k sets (and outputs) with the largest mean absolute value, as a data frame, the largest first.

        Examples
        --------
        See `Interactions`.
        """
        sizes = np.array([len(members) for members in self.source.sets], dtype=np.int64)
        strength = np.where(sizes[:, None] > 0, self._moments[0], -1.0)
        order = np.argsort(-strength.ravel(), kind="stable")[: min(k, np.count_nonzero(sizes) * len(self.outputs))]
        number, output = np.divmod(order, len(self.outputs))
        columns: dict[str, Any] = {"features": [label_of(self.subsets[n]) for n in number], "order": sizes[number]}
        if len(self.outputs) > 1:
            columns["output"] = [self.outputs[o] for o in output]
        columns |= {"mean_abs": self._moments[0].ravel()[order], "mean_square": self._moments[1].ravel()[order]}
        return to_frame(columns)

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
        skipped = int(bool(self.source.sets) and not self.source.sets[0])  # the empty set explains nothing
        k = min(k, len(self) - skipped)
        numbers, found = np.empty((self.n_rows, k), dtype=np.int64), np.empty((self.n_rows, k))
        for first, block in self.blocks():
            place = slice(first, first + len(block))
            numbers[place], found[place] = largest(block, k, skipped)
        return numbers, found

    def to_frame(self) -> Any:
        """Return a frame with one column per set (and output); "(mean)" is the empty set.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(RandomForestClassifier(5, random_state=0).fit(X, y), X)
        >>> ex.interaction_values(X, max_order=2, output=2).to_frame().columns[-1]
        'petal length (cm) x petal width (cm)'
        """
        values = self.values.reshape(self.n_rows, len(self), len(self.outputs))
        ends = [f" [{name}]" for name in self.outputs] if len(self.outputs) > 1 else [""]
        return to_frame(
            {
                label_of(names) + end: values[:, number, output]
                for number, names in enumerate(self.subsets)
                for output, end in enumerate(ends)
            }
        )

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

    def panel(self, row: int = 0, output: int | None = None, **options: Unpack[RankingOptions]) -> Waterfall:
        """Return the data that `plot` draws. Options are those of `plot`; outputs are given by position.

        Examples
        --------
        See `Interactions`.
        """
        from glasswood.results.panels import panel_of_row_of_sets

        return panel_of_row_of_sets(self, row, output, **options)

    def plot(
        self,
        row: int = 0,
        *,
        top: int = 10,
        output: Hashable = None,
        output_index: int | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        engine: str = "matplotlib",
        ax: object = None,
    ) -> Any:
        """Draw the score of one row as a waterfall of the strongest feature sets of any order.

        Parameters
        ----------
        row : int, default 0
            The number of the row.
        top : int, default 10
            The number of sets shown separately; all others are combined into one part. Up to twenty are shown if the
            combined part would otherwise be the largest.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        engine : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure is created.
        output : label, optional
            The output (class or target) to draw; required if there are several.
        output_index : int, optional
            The output to draw, by its position in `outputs`.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.interaction_values(X).plot(row=3)
        <Drawing size ... with 1 Axes>
        """
        from glasswood.plots._draw import Canvas, put

        return put(
            [self.panel(row, position_of(self.outputs, output, output_index), top=top)],
            Canvas(engine, ax, title, figsize),
        )


def label_of(names: tuple[str, ...]) -> str:
    """Return the name of a set of features."""
    return " x ".join(names) if names else "(mean)"
