"""Grids: values of features at which partial dependence is asked for, sampled from the rows or given by the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._statistics import quantiles
from glasswood.errors import ArgumentError, BackgroundError, TableError
from glasswood.study._study import Study
from glasswood.tables._columns import is_missing
from glasswood.tables._folds import draws_of_positions
from glasswood.tables._points import columns_of, shown_values
from glasswood.text._arguments import brief, whole_number

__all__ = ["GridSpec", "PointsOnGrid", "Sampled", "ValuesByFeature", "grid_spec"]


ENDS = (0.05, 0.95)  # the least and the largest of the quantiles

HINT = "pass the values themselves: grid={{{!r}: [...]}}"

FORMS = (
    'grid is the number of points, at least 2, or ("quantiles", number), ("rows", number, seed), or a mapping from '
    'features to values, {"age": [20, 40]}'
)


Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PointsOnGrid:
    """All combinations of some values of each feature, as columns; the last feature changes fastest."""

    columns: dict[str, list[Any]]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, values: Mapping[str, list[Any]]) -> PointsOnGrid:
        """Return the combinations of values by feature."""
        shape = tuple(len(own) for own in values.values())
        places = np.indices(shape).reshape(len(shape), -1)
        columns = {
            name: [own[k] for k in place.tolist()] for (name, own), place in zip(values.items(), places, strict=True)
        }
        return cls(columns, shape)


@dataclass(frozen=True, slots=True)
class Sampled:
    """Values of features that are found from their rows, or from the cuts of the model.

    Parameters
    ----------
    kind : {"spaced", "quantiles", "rows"}
    n_points : int
        The largest number of values.
    seed : int, default 0
        Of the rows that are drawn.
    """

    kind: str
    n_points: int
    seed: int = 0

    def features(self, study: Study) -> list[str] | None:  # noqa: ARG002 (as values by feature)
        """Return the features that have values; None for any."""
        return None

    def values(self, study: Study, player: str) -> list[Any]:
        """Return the values of one feature, sorted if they are numbers; missing ones are left out."""
        if _is_before(study, player):
            return self._values_before(study, player)
        feature = study.ensemble.feature_names.index(player)
        column = study.ensemble.schema.columns[feature]
        if column.n_codes and self.kind != "rows":
            return list(range(column.n_codes) if column.categories is None else column.categories)
        if not study.over.in_memory:
            return self._values_of_cuts(study, feature, player)
        columns = study.columns([feature])
        numbers, weight = columns.column(feature), study.over.weights
        if not column.n_codes:
            return self._of_numbers(numbers, weight)
        rows = self._drawn(~np.isnan(numbers), weight)
        labels = columns.listed(feature, rows[np.argsort(numbers[rows], kind="stable")])
        return list(dict.fromkeys(labels))

    def _values_of_cuts(self, study: Study, feature: int, player: str) -> list[Any]:
        """Return values of a number whose rows are not at hand: from the first to the last cut."""
        if self.kind != "spaced":
            message = (
                f'grid=("{self.kind}", ...) needs the rows as a table in memory, but answers are averages over '
                f"{study.over.text}; {HINT.format(player)}, or a number of evenly spaced points"
            )
            raise BackgroundError(message)
        cuts = study.plan(1).cells.cuts_of(feature)
        return np.linspace(cuts[0], cuts[-1], self.n_points).tolist() if cuts.size else [0.0]

    def _values_before(self, study: Study, player: str) -> list[Any]:
        """Return the values of one of a pipeline's columns."""
        originals = study.originals
        if originals is None or originals.table is None:
            message = (
                f"grid= needs a table of rows for {player!r}, a column that goes through transformers; pass a table as "
                "the background, or points in at="
            )
            raise TableError(message)
        listed = shown_values(columns_of(originals.table, [player], [originals.names.index(player)])[player])
        known = [value for value in listed if not is_missing(value)]
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
            numbers = np.array([np.nan if is_missing(value) else value for value in listed], dtype=np.float64)
            return self._of_numbers(numbers, study.over.weights)
        if self.kind == "rows":
            is_known = np.array([not is_missing(value) for value in listed], dtype=bool)
            known = [listed[row] for row in np.sort(self._drawn(is_known, study.over.weights)).tolist()]
        return list(dict.fromkeys(known))

    def _of_numbers(self, values: NDArray[np.floating[Any]], weight: Floats | None) -> list[Any]:
        """Return the distinct values of a column of numbers, or as many of them, or between them, as are asked for."""
        here = ~np.isnan(values) if weight is None else ~np.isnan(values) & (weight > 0)
        if self.kind == "rows":
            drawn: list[Any] = np.unique(values[self._drawn(here, weight)].astype(np.float64)).tolist()
            return drawn or [0.0]
        numbers, weight = values[here].astype(np.float64), None if weight is None else weight[here]
        distinct = np.unique(numbers)
        if distinct.size <= self.n_points:
            return [float(value) for value in distinct] or [0.0]
        if self.kind == "quantiles":
            asked = np.linspace(*ENDS, self.n_points)
            return [float(value) for value in np.unique(_finite_quantiles(numbers, asked, weight))]
        low, high = _finite_quantiles(numbers, np.array(ENDS), weight)
        if low == high:
            finite = distinct[np.isfinite(distinct)]
            low, high = finite[0], finite[-1]
        return [float(value) for value in np.linspace(low, high, self.n_points)]

    def _drawn(self, here: NDArray[np.bool_], weight: Floats | None) -> NDArray[np.intp]:
        """Return the numbers of rows that are drawn with the seed, among some: by weight, without replacement.

        Every row has a random number, whichever feature is asked for; the rows with the smallest ones are drawn. With
        weights, numbers are exponential with the weight as their rate: the smallest is that of each row with the
        probability of its share of the weight.
        """
        rows = np.flatnonzero(here if weight is None else here & (weight > 0))
        if rows.size <= self.n_points:
            return rows
        draws = draws_of_positions(here.size, self.seed)[rows]
        if weight is not None:
            with np.errstate(over="ignore"):  # of weights that are next to nothing beside others
                draws = -np.log1p(-draws) / (weight[rows] / weight[rows].max())
        return rows[np.argpartition(draws, self.n_points)[: self.n_points]]


class ValuesByFeature:
    """Values of features that the user gives.

    Parameters
    ----------
    given : mapping from features to values
    what : str, default "grid"
        The argument, for messages.
    """

    def __init__(self, given: Mapping[Any, Any], what: str = "grid") -> None:
        self._given, self._what = dict(given), what

    def features(self, study: Study) -> list[str]:
        """Return the features that have values."""
        return list(self._by_player(study))

    def values(self, study: Study, player: str) -> list[Any]:
        """Return the values of one feature."""
        known = self._by_player(study)
        if player not in known:
            message = f"{self._what}= has no values of {player!r}, only of {list(known)!r}; add them"
            raise ArgumentError(message)
        _is_before(study, player, self._what)  # refuses groups
        return self._listed(player, known[player])

    def _by_player(self, study: Study) -> dict[str, Any]:
        """Return the values by the names of players, which are looked up once for all features."""
        found: dict[str, Any] = study.shared.latest("players of a grid", self, lambda: self._looked_up(study))
        return found

    def _looked_up(self, study: Study) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for feature, values in self._given.items():
            player = study.player(feature)
            if player in result:
                message = f"{self._what}= has the feature {player!r} twice, by its name and by its number"
                raise ArgumentError(message)
            result[player] = values
        if not result:
            message = f'{self._what}= is an empty mapping; give the values of some features, {{"age": [20, 40]}}'
            raise ArgumentError(message)
        return result

    def _listed(self, player: str, values: Any) -> list[Any]:
        listed = values.to_pylist() if hasattr(values, "to_pylist") else columns_of({player: values}, [player])[player]
        if not listed:
            message = f"{self._what}= has no values of {player!r}: its list is empty"
            raise ArgumentError(message)
        return [value.item() if isinstance(value, np.number | np.bool_ | np.str_) else value for value in listed]


GridSpec: TypeAlias = Sampled | ValuesByFeature


def grid_spec(grid: object) -> GridSpec:
    """Return the grid that a user asks for: a number, a rule and a number, or values by feature."""
    if isinstance(grid, Mapping):
        return ValuesByFeature(grid)
    if isinstance(grid, tuple) and grid and grid[0] == "quantiles" and len(grid) == 2:
        return Sampled("quantiles", whole_number(grid[1], "the number of quantiles of grid= is a whole number", 2))
    if isinstance(grid, tuple) and grid and grid[0] == "rows" and len(grid) == 3:
        n_rows = whole_number(grid[1], "the number of rows of grid= is a whole number")
        return Sampled("rows", n_rows, whole_number(grid[2], "the seed of grid= is a whole number", 0))
    if isinstance(grid, int | np.integer) and not isinstance(grid, bool) and grid >= 2:
        return Sampled("spaced", int(grid))
    message = f"{FORMS}, not {brief(grid)}"
    raise ArgumentError(message)


def _is_before(study: Study, player: str, what: str = "grid") -> bool:
    """Return whether a player is a column that goes through transformers; refuse groups."""
    if player not in study.groups:
        return False
    if study.originals is None or study.original_groups[player] != (player,):
        remedy = "pass its points in at=" if what == "grid" else "ask for it alone"
        message = f"{what}= is for single features, but {player!r} is a group; {remedy}"
        raise TableError(message)
    return True


def _finite_quantiles(numbers: Floats, asked: Floats, weight: Floats | None) -> Floats:
    """Return quantiles; of the finite numbers, if infinite ones are among them."""
    with np.errstate(invalid="ignore"):
        result = quantiles(numbers, asked, weight)
    if np.isfinite(result).all():
        return result
    finite = np.isfinite(numbers)
    return quantiles(numbers[finite], asked, None if weight is None else weight[finite])
