"""Where the cuts of transformed columns are among the numbers of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from glasswood.models._column_sources import Notes
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models.folding._cut_search import Cuts, from_places, grid_between, places, search
from glasswood.models.folding._trials import Trials, Unfoldable, same
from glasswood.tables._columns import Column, NumberColumn
from glasswood.tables._tables import Encoded

__all__ = ["Number", "fold_numbers"]

Floats = NDArray[np.float64]
SMALLEST = float(np.nextafter(0.0, 1.0))
SINGLE = float(np.finfo(np.float32).max)
ENDS = (np.inf, float(np.finfo(np.float64).max), 2.0**500, SINGLE, 2.0**100, 2.0**60, 2.0**40)  # of columns of numbers


@dataclass
class Number:
    """A column of numbers: where each cut of each transformed column is, and what missing values become."""

    cuts: dict[int, Floats]  # of each transformed column, sorted
    user_cuts: dict[int, Floats]  # the user's own cuts, of the same sizes; infinite if all, or none, are before
    falls: dict[int, bool]
    missing: dict[int, float]
    within: tuple[float, float]
    refuse_missing: bool
    hole: tuple[float, float] | None = None  # numbers that become zeros which the model takes for missing values
    all_missing: set[int] = field(default_factory=set)  # transformed columns of which all numbers are such zeros
    other_types: tuple[str, ...] = ()  # of numbers that transformers treat differently

    def column(self, name: str) -> Column:
        """Return the column."""
        imputed = not all(np.isnan(value) for value in self.missing.values())
        return NumberColumn(
            name,
            missing_between=None if imputed else self.hole,
            within=None if self.within == (-np.inf, np.inf) else self.within,
            refuse_between=self.hole if imputed else None,
            refuse_missing=self.refuse_missing,
            refuse_types=self.other_types,
        )

    def agrees(self, made: int, encoded: Floats, values: Floats) -> bool:
        """Return whether transformed values are on the same side of all cuts as the user's own."""
        cuts, user_cuts, missing = self.cuts[made], self.user_cuts[made], np.isnan(encoded)
        if made in self.all_missing:
            return bool(np.isnan(values[~missing]).all()) and same(values[missing], self.missing[made])
        known, n_above = encoded[~missing], np.searchsorted(cuts, values[~missing], side="left")
        if self.falls[made]:
            own = cuts.size - np.searchsorted(user_cuts[::-1], known, side="left")
        else:
            own = np.searchsorted(user_cuts, known, side="left")
        return bool((own == n_above).all()) and same(values[missing], self.missing[made])


def fold_numbers(
    trials: Trials, notes: Notes, ensemble: TreeEnsemble, sources: Sequence[int], *, zeros_are_missing: bool
) -> tuple[dict[int, Number], dict[int, str]]:
    """Return where the cuts are in some columns of numbers, and why others cannot be folded.

    Parameters
    ----------
    trials : Trials
    notes : Notes
        Which columns are known to refuse infinite numbers, which are not tried.
    ensemble : TreeEnsemble
        The trees behind the transformers.
    sources : sequence of int
        The columns.
    zeros_are_missing : bool
        Whether the trees take zeros for missing values.
    """
    folder = _Folder(trials, notes, ensemble, zeros_are_missing=zeros_are_missing)
    result = folder.fold(sources)
    return result, folder.reasons


class _Folder:
    """Folds columns of numbers; `reasons` says why some of them cannot be."""

    def __init__(self, trials: Trials, notes: Notes, ensemble: TreeEnsemble, *, zeros_are_missing: bool) -> None:
        self._trials, self._notes = trials, notes
        self._ensemble, self._zeros_are_missing = ensemble, zeros_are_missing
        self.reasons: dict[int, str] = {}

    def fold(self, sources: Sequence[int]) -> dict[int, Number]:
        """Return where the cuts are in columns of numbers."""
        for source in sources:
            if self._trials.template.number_type(source) is None:
                self.reasons[source] = "holds neither numbers nor categories that its transformers know"
            elif any(_is_coded(self._trials.schema.columns[m]) for m in self._trials.made[source]):
                self.reasons[source] = "holds numbers that become categories or missing values"
        grids = self._grids([source for source in sources if source not in self.reasons])
        missing = self._trials.of_values({source: np.array([np.nan]) for source in grids})
        result: dict[int, Number] = {}
        searched: list[Cuts] = []
        for source, (grid, encoded) in grids.items():
            try:
                within = float(grid[0]), float(grid[-1])
                hole = self._missing_side(source, grid, encoded)
                if hole is not None:
                    grid, encoded = self._grid_without_missing(source, grid, hole)
                own, cuts = self._number_of(grid, encoded, missing.get(source))
            except Unfoldable as error:
                self.reasons[source] = str(error)
                continue
            own.hole, own.within, result[source] = hole, within, own
            searched += [replace(part, source=np.full(part.made.size, source)) for part in cuts]
        self._search(result, searched)
        self._find_holes(result)
        return result

    def _grids(self, sources: Sequence[int]) -> dict[int, tuple[Floats, Encoded]]:
        """Return numbers all over each column, sorted, and what the trees see of them."""
        known = {source: self._trials.template.numbers(source) for source in sources}
        left = list(sources)
        result: dict[int, tuple[Floats, Encoded]] = {}
        for positive, largest in product((False, True), ENDS):
            ends = SMALLEST if positive else -largest, largest
            grids = {source: grid_between(known[source], *ends) for source in left}
            fitting = {k: own for k, own in grids.items() if self._may_take(k, largest) and _covers(known[k], *ends)}
            tried = self._trials.of_values(fitting, dense=True)
            sure = {k: encoded for k, encoded in tried.items() if largest < np.inf or _knows_ends(encoded)}
            result |= {k: (grids[k], encoded) for k, encoded in sure.items()}
            left = [source for source in left if source not in result]
        for source in left:  # what is accepted has ends of its own, around the numbers of the rows
            low, high = (self._accepted_end(source, known[source], end) for end in (-np.inf, np.inf))
            grid = grid_between(known[source], low, high)
            result |= {k: (grid, encoded) for k, encoded in self._trials.of_values({source: grid}, dense=True).items()}
            if source not in result:
                self.reasons[source] = "holds numbers that its transformers reject"
        return result

    def _accepted_end(self, source: int, known: Floats, end: float) -> float:
        """Return the last number that transformers accept, on the way from those of the rows to an end."""
        if not known.size or self._trials.of_values({source: np.array([end])}, dense=True):
            return end
        last = min(self._largest(source), float(np.finfo(np.float64).max))
        inner, outer = places(np.array([known[0 if end < 0 else -1], np.copysign(last, end)])).tolist()
        if self._trials.of_values({source: from_places(np.array([outer]))}, dense=True):
            return float(np.copysign(last, end))
        while abs(outer - inner) > 1:
            middle = (outer + inner) // 2
            accepted = self._trials.of_values({source: from_places(np.array([middle]))}, dense=True)
            inner, outer = (middle, outer) if accepted else (inner, middle)
        return float(from_places(np.array([inner]))[0])

    def _may_take(self, source: int, largest: float) -> bool:
        """Return whether a column may take numbers of up to some size, as far as is known without a trial."""
        return largest <= self._largest(source) and (largest < np.inf or source not in self._notes.refuse_infinite)

    def _largest(self, source: int) -> float:
        return SINGLE if self._trials.template.number_type(source) == np.float32 else np.inf

    def _missing_side(self, source: int, grid: Floats, encoded: Encoded) -> tuple[float, float] | None:
        """Return the numbers, all of the small or all of the large ones, that become missing, such as logarithms."""
        lost = [np.isnan(values) for values in encoded.values()]
        if not any(own.any() for own in lost):
            return None
        first, *others = lost
        low = bool(first[0])
        if any((own != first).any() for own in others) or np.abs(np.diff(first.astype(np.int8))).sum() != 1:
            message = "has numbers that become missing values"
            raise Unfoldable(message)
        last = int(np.flatnonzero(first if low else ~first)[-1])
        made, at = next(iter(encoded)), places(grid)
        one = Cuts(
            source=np.array([source]),
            made=np.array([made]),
            cut=np.array([0.5]),
            falls=np.array([low]),
            low=at[[last]],
            high=at[[last + 1]],
            at_low=np.array([float(low)]),
            at_high=np.array([float(not low)]),
        )
        if search(one, lambda numbers: {made: np.isnan(self._trials.of_numbers(numbers)[made]).astype(np.float64)}):
            message = "has numbers that become missing values"
            raise Unfoldable(message)
        edge, after = from_places(np.array([one.low[0], one.high[0]])).tolist()
        return (-np.inf, edge) if low else (after, np.inf)

    def _grid_without_missing(self, source: int, grid: Floats, hole: tuple[float, float]) -> tuple[Floats, Encoded]:
        """Return a grid of the numbers that do not become missing, and what the trees see of it."""
        edge = np.nextafter(hole[1], np.inf) if hole[0] == -np.inf else np.nextafter(hole[0], -np.inf)
        left = np.unique(np.append(grid[(grid < hole[0]) | (grid > hole[1])], edge))
        return left, self._trials.of_values({source: left}, dense=True)[source]

    def _number_of(self, grid: Floats, encoded: Encoded, missing: Encoded | None) -> tuple[Number, list[Cuts]]:
        """Return what a grid tells about a column: cuts that are on one side of it, and ends for all others."""
        own = Number({}, {}, {}, {}, (float(grid[0]), float(grid[-1])), missing is None)
        searched = []
        for m, seen in encoded.items():
            values = seen.astype(np.float64)
            if np.isnan(values).any():
                message = "has numbers that become missing values"
                raise Unfoldable(message)
            falls = bool(values[0] > values[-1])
            steps = np.diff(values)  # infinite numbers are equal to themselves, but have no difference
            if (steps > 0 if falls else steps < 0).any():
                message = "is not transformed by a monotone function"
                raise Unfoldable(message)
            cuts = self._cuts_of(m)
            own.cuts[m], own.falls[m] = cuts, falls
            own.missing[m] = np.nan if missing is None else float(missing[m][0])
            before = (values[None] <= cuts[:, None]) ^ falls
            n_before = before.sum(axis=1)
            own.user_cuts[m] = np.where(n_before == 0, -np.inf, np.inf)
            low, high = np.maximum(n_before - 1, 0), np.minimum(n_before, grid.size - 1)
            inner = np.flatnonzero((n_before > 0) & (n_before < grid.size))
            at = places(grid)
            searched.append(
                Cuts(
                    source=np.empty(0, dtype=np.intp),
                    made=np.full(inner.size, m),
                    cut=cuts[inner],
                    falls=np.full(inner.size, falls),
                    low=at[low[inner]],
                    high=at[high[inner]],
                    at_low=values[low[inner]],
                    at_high=values[high[inner]],
                )
            )
        return own, searched

    def _cuts_of(self, made: int) -> Floats:
        """Return the cuts of a transformed column, sorted, and those between which it is zero if that matters."""
        zero = [-SMALLEST, 0.0] if self._zeros_are_missing else []
        return np.unique(np.append(self._ensemble.cut[self._ensemble.feature == made], zero))

    def _find_holes(self, result: Mapping[int, Number]) -> None:
        """Find the numbers that become zeros which the model takes for missing values."""
        for source, own in result.items() if self._zeros_are_missing else ():
            holes = {}
            for m, cuts in own.cuts.items():
                ends = np.sort(own.user_cuts[m][np.searchsorted(cuts, [-SMALLEST, 0.0])])
                holes[m] = float(np.nextafter(ends[0], np.inf)), float(ends[1])
                if (ends == [-np.inf, np.inf]).all():
                    own.all_missing.add(m)
            partly = {hole for m, hole in holes.items() if hole[0] <= hole[1] and m not in own.all_missing}
            if partly and (len(holes) > 1 or own.hole is not None):
                self.reasons[source] = "holds numbers that become zeros of a sparse matrix, which stand for missing"
            own.hole = partly.pop() if partly else own.hole

    def _search(self, result: dict[int, Number], searched: Sequence[Cuts]) -> None:
        """Find the cuts that are between the ends, all of them at once."""
        if not searched:
            return
        fields = Cuts.__dataclass_fields__
        cuts = Cuts(**{name: np.concatenate([getattr(part, name) for part in searched]) for name in fields})

        for source in search(cuts, self._trials.of_numbers):
            self.reasons[source] = "is transformed by a function that is not monotone next to a cut"
        for part in searched:
            if part.made.size:
                source, m = int(part.source[0]), int(part.made[0])
                here = np.flatnonzero((cuts.source == source) & (cuts.made == m))
                own = result[source]
                own.user_cuts[m][np.searchsorted(own.cuts[m], part.cut)] = from_places(cuts.low[here])


def _is_coded(column: Column) -> bool:
    """Return whether numbers of a column stand for categories or for missing values."""
    return bool(column.n_codes) or getattr(column, "missing_between", None) is not None


def _knows_ends(encoded: Encoded) -> bool:
    """Return whether transformers make numbers of infinite ones."""
    return not any(np.isnan(values[[0, -1]]).any() for values in encoded.values())


def _covers(known: Floats, low: float, high: float) -> bool:
    """Return whether known numbers are between two others."""
    return not known.size or bool(low <= known[0] and known[-1] <= high)
