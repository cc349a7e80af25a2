"""RatingTable: a model as a base, a list of entries for each feature, and a table for each pair."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import BackgroundError, TooLargeError
from glasswood.parallel._lazy import Deferred
from glasswood.questions.rating_tables._result_excel import Sheet, workbook
from glasswood.questions.rating_tables._result_sql import dialect_of, literal
from glasswood.results._axis import Axis
from glasswood.results._drawable import DrawnAsBarsOfAll
from glasswood.results._frames import Tabular
from glasswood.tables._files import write_whole
from glasswood.tables._given import given_table
from glasswood.tables._tables import Schema, encode, n_rows
from glasswood.text._arguments import new_file
from glasswood.text._csv import safe_cell
from glasswood.text._html import facts_html
from glasswood.text._printable import how_many, printable

if TYPE_CHECKING:
    pass

__all__ = ["LeftByTable", "RatingTable"]


Floats = NDArray[np.float64]

LONGEST_SQL = 10**6  # characters of an expression

WIDTHS = {0: 28, 1: 16, 2: 16, 3: 16, 4: 14, 5: 14}  # of the columns of a sheet

COLUMNS = ("term", "above", "to", "category", "second_above", "second_to", "second_category", "value")


class LeftByTable(NamedTuple):
    """What a table leaves of the scores of the rows that it was made from.

    Parameters
    ----------
    mean : float
        The mean of its absolute value over the rows, with their weights.
    share : float
        Its variance, as a share of that of the score.
    at_least, below : float
        What the largest absolute value is not less than, and less than; they are 9 % apart.

    Examples
    --------
    See `RatingTable`.
    """

    mean: float
    share: float
    at_least: float
    below: float


class _Side(NamedTuple):
    """Neighbouring cells of a feature with equal entries, as one line: what identifies it, and its first cell."""

    above: Any
    to: Any
    category: Any
    cell: int


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RatingTable(DrawnAsBarsOfAll, Tabular):
    """A model as tables: a base, entries for the values of each feature, and for those of some pairs.

    The raw score of a row is the sum of its entries, and of a remainder::

        score = base + sum_j main_j(x_j) + sum_jk pair_jk(x_j, x_k) + remainder

    The base is the mean score, a main is the partial dependence minus its mean, and a pair is what the partial
    dependence of both adds to the two mains. If no path of any tree has more than two features, and all pairs are
    there, the remainder is 0, and the table is the model. With a log link, factors multiply: the exponential of each
    entry.

    `to_frame` returns one row per entry: the base, then mains, then pairs. Equal neighbouring cells are one row. A cell
    has the values above `above`, up to and including `to`, or a category. With a log link, `factor` is the exponential
    of `value`.

    Parameters
    ----------
    base : float
    axes : dict from str to Axis
        The cells of each feature that has entries.
    mains : dict from str to ndarray of shape (n_cells,)
    pairs : dict from (str, str) to ndarray of shape (n_cells, n_cells)
        The strongest pair first.
    exact : bool
        Whether the remainder is 0 for every row that there can be, but for rounding.
    left : LeftByTable
        The remainder over all rows.
    output : label
    link : str
        From the raw score to predictions.
    units : str
    schema : Schema
        The columns of the tables that `score` takes: those of the model.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = HistGradientBoostingRegressor(max_iter=20, max_depth=2, loss="poisson").fit(X, y)
    >>> table = gw.Explainer(model, X).rating_table(pairs=100)
    >>> table
    RatingTable(... features, ... pairs, exact, log of the mean)
    >>> bool(abs(table.score(X) - gw.read_model(model).predict(X)).max() < 1e-9)
    True
    >>> table.to_frame().columns.tolist()[:4]
    ['term', 'above', 'to', 'category']
    >>> table.to_sql("duckdb").count("CASE WHEN") > 1
    True
    >>> smaller = gw.Explainer(model, X).rating_table(pairs=1)
    >>> smaller.exact, 0 < smaller.left.share < 1
    (False, True)
    """

    base: float
    axes: Mapping[str, Axis]
    mains: Mapping[str, Floats]
    pairs: Mapping[tuple[str, str], Floats]
    exact: bool
    left: LeftByTable
    output: Any
    link: str
    units: str
    schema: Schema
    find_worst: Deferred[tuple[int, float]] | None = None

    @property
    def worst(self) -> tuple[int, float]:
        """The row with the largest remainder: its number, and the score minus that of the table.

        It is known for a table in memory only.
        """
        if self.find_worst is None:
            message = "the row with the largest remainder is known for a table in memory only; see left.below"
            raise BackgroundError(message)
        return self.find_worst()

    @property
    def n_entries(self) -> int:
        """The number of all entries, without merging equal neighbours."""
        return sum(part.size for parts in (self.mains, self.pairs) for part in parts.values()) + 1

    @property
    def remainder_text(self) -> str:
        """The remainder in words."""
        if self.exact:
            return "exact"
        left = self.left
        return f"remainder: largest below {left.below:.3g}, mean {left.mean:.3g}, {left.share:.2%} of the variance"

    def __repr__(self) -> str:
        size = f"{how_many(len(self.mains), 'feature')}, {how_many(len(self.pairs), 'pair')}"
        return f"RatingTable({size}, {self.remainder_text}, {self.units})"

    def _repr_html_(self) -> str:
        pairs = ", ".join(f"{printable(a)} x {printable(b)}" for a, b in self.pairs)
        facts = {"base": self.base, "features": ", ".join(map(printable, self.mains)), "pairs": pairs}
        return facts_html("Rating table", facts | {"remainder": self.remainder_text, "units": self.units})

    def score(self, rows: Any) -> Floats:
        """Return the sum of entries of each row of a table, as the model takes it: the score without the remainder."""
        given = given_table(rows)
        features = {column.name: f for f, column in enumerate(self.schema.columns) if column.name in self.axes}
        encoded = encode(given, self.schema, list(features.values()))
        cells = {name: self.axes[name].locate(encoded[f]) for name, f in features.items()}
        result = np.full(n_rows(given), self.base)
        for name, heights in self.mains.items():
            result += heights[cells[name]]
        for (a, b), heights in self.pairs.items():
            result += heights[cells[a], cells[b]]
        return result

    # ------------------------------------------------------------------------------------------------- frames and files

    def _columns(self) -> dict[str, Any]:
        lines = list(self._lines())
        columns: dict[str, Any] = {}
        for k, name in enumerate(COLUMNS):
            values = [line[k] for line in lines]
            numeric = name in ("above", "to", "second_above", "second_to", "value")
            columns[name] = (
                np.array([np.nan if x is None else x for x in values], dtype=np.float64) if numeric else values
            )
        if self.link == "exp":
            columns["factor"] = np.exp(columns["value"])
        return columns

    def _lines(self) -> Any:
        """Yield the lines of the frame."""
        none = (None, None, None)
        yield ("(base)", *none, *none, self.base)
        for name, heights in self.mains.items():
            for side in _sides(self.axes[name], heights[:, None]):
                yield (name, side.above, side.to, side.category, *none, float(heights[side.cell]))
        for (a, b), heights in self.pairs.items():
            columns = _sides(self.axes[b], heights.T)
            for one in _sides(self.axes[a], heights):
                for two in columns:
                    yield (f"{a} x {b}", *one[:3], *two[:3], float(heights[one.cell, two.cell]))

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the lines of `to_frame` to a CSV file, numbers with all their digits.

        Names and categories that a spreadsheet would take for a formula begin with an apostrophe.

        Examples
        --------
        >>> import tempfile, glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> table = gw.Explainer(HistGradientBoostingRegressor(max_iter=9).fit(X, y), X).rating_table(pairs=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table.to_csv(folder + "/table.csv")
        """
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        factor = ["factor"] if self.link == "exp" else []
        writer.writerow([*COLUMNS, *factor])
        for line in self._lines():
            own = [float(np.exp(line[-1]))] if factor else []
            writer.writerow(map(safe_cell, (*line, *own)))
        write_whole(new_file(path), file.getvalue().encode())

    def to_excel(self, path: str | PathLike[str]) -> None:
        """Write an Excel workbook: a sheet of facts, one of all mains, and one for each pair, as a grid.

        This needs the extra ``excel`` (XlsxWriter).

        Examples
        --------
        >>> import tempfile, glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> table = gw.Explainer(HistGradientBoostingRegressor(max_iter=9).fit(X, y), X).rating_table(pairs=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table.to_excel(folder + "/table.xlsx")
        """
        target = new_file(path)
        write_whole(target, workbook([self._facts_sheet(), self._mains_sheet(), *self._pair_sheets()], WIDTHS))

    def _facts_sheet(self) -> Sheet:
        lines: list[list[Any]] = [
            ["Rating table", ""],
            ["Score", self.units],
            ["Output", str(self.output)],
            ["Base", self.base],
            ["Remainder, largest", 0.0 if self.exact else self.left.below],
            ["Remainder, mean", 0.0 if self.exact else self.left.mean],
            ["Remainder, share of variance", 0.0 if self.exact else self.left.share],
        ]
        how = "score = base + one entry of each feature + one entry of each pair"
        if self.link == "exp":
            lines.insert(4, ["Base as a factor", float(np.exp(self.base))])
            how += "; prediction = exp(score): factors multiply"
        lines += [["How to use it", how + (" (+ remainder)" if not self.exact else "")]]
        lines += [["", "a value belongs to the line with: above < value <= to"]]
        return ("Rating table", lines, 1)

    def _mains_sheet(self) -> Sheet:
        factor = ["Factor"] if self.link == "exp" else []
        lines: list[list[Any]] = [["Feature", "Above", "To", "Category", "Value", *factor]]
        for name, heights in self.mains.items():
            for side in _sides(self.axes[name], heights[:, None]):
                value = float(heights[side.cell])
                own = [float(np.exp(value))] if factor else []
                lines.append([name, side.above, side.to, _shown(side.category), value, *own])
        return ("Features", lines, 1)

    def _pair_sheets(self) -> list[Sheet]:
        """Return a grid for each pair: the feature with more lines down the sheet. With a log link, of factors."""
        result: list[Sheet] = []
        for (a, b), heights in self.pairs.items():
            down, across = _sides(self.axes[a], heights), _sides(self.axes[b], heights.T)
            names, grid = (a, b), heights
            if len(across) > len(down):
                names, grid, down, across = (b, a), heights.T, across, down
            unit = "factors" if self.link == "exp" else "values"
            lines: list[list[Any]] = [
                [f"{names[0]} (down) x {names[1]} (across), {unit}", "", ""],
                ["", "", f"{names[1]}: above", *(side.above for side in across)],
                ["", "", "to", *(side.to for side in across)],
                [f"{names[0]}: above", "to", "category", *(_shown(side.category) for side in across)],
            ]
            for one in down:
                entries = [float(grid[one.cell, two.cell]) for two in across]
                entries = np.exp(entries).tolist() if self.link == "exp" else entries
                lines.append([one.above, one.to, _shown(one.category), *entries])
            result.append((f"{a} x {b}", lines, 4))
        return result

    def to_sql(self, dialect: str = "duckdb") -> str:
        """Return the sum of entries as an SQL expression of CASEs over the columns.

        Cuts are those that Glasswood compares the column's own values with, in float64, with all digits: columns of
        DOUBLE and FLOAT give the same answers as the table.

        Parameters
        ----------
        dialect : {"duckdb", "postgres", "spark", "ansi"}, default "duckdb"
            How names are quoted and how NaN is handled. "duckdb" was run in DuckDB and "ansi" in SQLite.
            "ansi" does not test for NaN, for databases that have none.

        Returns
        -------
        str
        """
        writer = dialect_of(dialect)
        terms = [literal(self.base)]
        terms += [writer.main(self.axes[name], heights) for name, heights in self.mains.items()]
        terms += [writer.pair((self.axes[a], self.axes[b]), heights) for (a, b), heights in self.pairs.items()]
        size = sum(map(len, terms))
        if size > LONGEST_SQL:
            message = (
                f"the expression would have {size:,} characters, at most {LONGEST_SQL:,} are written; ask for fewer "
                "pairs, or load the lines of to_csv into a table of the database, and join it"
            )
            raise TooLargeError(message)
        return "\n + ".join(terms)

    # ------------------------------------------------------------------------------------------------- figure

    @property
    def spans(self) -> dict[str, float]:
        """The largest minus the smallest entry of each feature and pair, by name."""
        result = {name: float(np.ptp(heights)) for name, heights in self.mains.items()}
        return result | {f"{a} x {b}": float(np.ptp(heights)) for (a, b), heights in self.pairs.items()}


def _sides(axis: Axis, heights: Floats) -> list[_Side]:
    """Return the lines of a feature, (n_cells, n), with equal neighbouring cells of numbers as one."""
    if axis.categories is not None:
        return [_Side(None, None, label, k) for k, label in enumerate(axis.labels)]
    cuts = [-np.inf, *axis.cuts.tolist(), np.inf]
    result: list[_Side] = []
    for k in range(axis.cuts.size + 1):
        if result and (heights[k] == heights[k - 1]).all():
            result[-1] = result[-1]._replace(to=cuts[k + 1])
        else:
            result.append(_Side(cuts[k], cuts[k + 1], None, k))
    return [*result, _Side(None, None, "(missing)", axis.cuts.size + 1)]


def _shown(category: Any) -> str:
    return "" if category is None else str(category)
