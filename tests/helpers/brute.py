"""Brute force: partial dependence by its definition, from a model's own scores on rows with some columns replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import glasswood as gw
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models.readers._catboost_ctr import HashColumn
from glasswood.questions.curves._result_surface import Surface
from glasswood.tables._columns import CodeColumn, Column, LabelColumn, NumberColumn

Columns = Mapping[int, Sequence[Any]]  # values of columns, by their number

MAX_VALUES = 60


@dataclass
class Case:
    """A model, rows to average over, and the library's own raw score; and which odd numbers the library takes."""

    model: Any
    rows: Any
    raw: Callable[[Any, Any], Any]
    missing: bool = True
    infinite: bool = False
    binary: bool | None = None

    def all_scores(self, rows: Any) -> NDArray[np.float64]:
        """The raw scores, always with an axis of outputs."""
        return np.asarray(self.raw(self.model, rows), dtype=np.float64).reshape(len(rows), -1)

    def scores(self, rows: Any) -> NDArray[np.float64]:
        """The scores that are answered for by default: of two classes the second."""
        if self.binary is None:
            e = self.model if isinstance(self.model, gw.TreeEnsemble) else gw.read_model(self.model)
            self.binary = e.score.binary
        return self.all_scores(rows)[:, -1:] if self.binary else self.all_scores(rows)

    def partial_dependence(self, columns: Columns, weight: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """The average score at each point, (n_points, n_outputs), given the values of some columns at the points."""
        n_points = len(next(iter(columns.values())))
        scores = self.scores(replace_columns(self.rows, columns)).reshape(n_points, len(self.rows), -1)
        return np.average(scores, axis=1, weights=weight)

    def margin(self, e: TreeEnsemble, share: float | None = None) -> float:
        """How far equal results may be apart: a share of the range of the score, and what float64 can tell."""
        share = share or (1e-5 if e.score.dtype == "float32" else 1e-10)
        scores = self.scores(self.rows)
        scale = np.ptp(scores, axis=0).max() or np.abs(scores).max() or 1.0
        # A few rows may have almost the same score, so that only the size of what is added up limits the rounding.
        added = np.abs(e.score.base).max() + e.n_trees * np.abs(e.value).max() * e.score.scale / e.score.divisor
        return float(share * scale + 8 * np.finfo(np.float64).eps * added)


def answered(e: TreeEnsemble, scores: NDArray[Any]) -> NDArray[Any]:
    """The scores of the outputs that are answered for by default: of two classes the second."""
    return scores[..., -1:] if e.score.binary else scores


def replace_columns(rows: Any, columns: Columns) -> Any:
    """All rows once for each point, one point behind the other, with the point's values in some columns."""
    n_rows, n_points = len(rows), len(next(iter(columns.values())))
    if isinstance(rows, pd.DataFrame):
        table = rows.iloc[np.tile(np.arange(n_rows), n_points)].reset_index(drop=True)
    else:
        table = np.tile(rows, (n_points, 1))
    for column, values in columns.items():
        repeated = [value for value in values for _ in range(n_rows)]
        if isinstance(rows, pd.DataFrame):
            table[rows.columns[column]] = _like(repeated, rows.dtypes.iloc[column])
        else:
            table[:, column] = repeated
    return table


def _like(values: list[Any], dtype: Any) -> Any:
    """The values as a column of a frame, with more categories than before if need be."""
    if not isinstance(dtype, pd.CategoricalDtype):
        return pd.Series(values)
    known = list(dtype.categories)
    new = dict.fromkeys(value for value in values if not pd.isna(value) and value not in known)
    return pd.Categorical(values, categories=[*known, *new], ordered=dtype.ordered)


@dataclass
class Tries:
    """Values to try in one feature, in the user's terms, and the cell that each must be in."""

    values: list[Any]
    cells: list[int]

    def __len__(self) -> int:
        return len(self.values)

    def take(self, chosen: Iterable[int]) -> Tries:
        """Some of the values."""
        return Tries([self.values[k] for k in chosen], [self.cells[k] for k in chosen])

    def few(self, rng: np.random.Generator, max_: int) -> Tries:
        """At most so many of the values; the first and the last three, which tend to be special, always."""
        if len(self) <= max_:
            return self
        last = len(self) - 3
        between = 1 + rng.permutation(last - 1)[: max_ - 4]
        return self.take([0, *np.sort(between), *range(last, len(self))])


def tries(case: Case, ensemble: TreeEnsemble, feature: int, rng: np.random.Generator, max_: int = MAX_VALUES) -> Tries:
    """A value of every cell of a feature (or of some, if there are many), more beside the cuts, missing and unseen."""
    column = ensemble.schema.columns[feature]
    if isinstance(column, NumberColumn):
        found = _numbers(np.unique(ensemble.cut[ensemble.feature == feature]), case)
    elif isinstance(column, CodeColumn):
        found = _codes(column.size)
    elif isinstance(column, LabelColumn):
        found = _labels(column)
    else:
        found = _hashes(column, case.rows.iloc[:, feature])
    between = getattr(column, "missing_between", None)
    if between is not None:  # the library takes some numbers for missing ones, which NaN, at the end, is as well
        low, high = between
        values = np.array(found.values)
        found.cells = np.where((values >= low) & (values <= high), found.cells[-1], found.cells).tolist()
    return found.few(rng, max_)


def _numbers(cuts: NDArray[np.float64], case: Case) -> Tries:
    """Each cut, numbers between them and right above the last one; the cell is the number of cuts below."""
    cuts = cuts[cuts < np.inf]  # which parts missing values from all numbers
    finite = cuts[np.isfinite(cuts)]
    above = np.nextafter(finite[-1:], np.inf) if finite.size else [0.0]
    values = np.sort(np.concatenate([finite, finite[:-1] / 2 + finite[1:] / 2, above]))
    if case.infinite:
        values = np.concatenate([[-np.inf], values, [np.inf]])
    cells = np.searchsorted(cuts, values)
    if case.missing:
        values, cells = np.append(values, np.nan), np.append(cells, cuts.size + 1)
    return Tries(values.tolist(), cells.tolist())


def _codes(size: int) -> Tries:
    """Each code, then numbers that are none."""
    return Tries([*map(float, range(size)), -1.0, float(size), 1e6, np.nan], [*range(size), *[size] * 3, size + 1])


def _labels(column: LabelColumn) -> Tries:
    """Each label, one that is none where the library allows it, and a missing one."""
    n_codes = len(column.labels)
    unseen = [] if column.refuse_unseen else [_unseen(column.labels)]
    return Tries([*column.labels, *unseen, None], [*range(n_codes), *[n_codes] * len(unseen), n_codes + 1])


def _hashes(column: Column, values: Iterable[Any]) -> Tries:
    """The categories of CatBoost that some row has, and one more. It takes no missing ones."""
    assert isinstance(column, HashColumn)
    values = list(dict.fromkeys(values))
    values.append(_unseen(values))
    codes = column.encode(np.array(values)).astype(int)
    return Tries(values, np.where(codes < 0, column.n_codes, codes).tolist())


def _unseen(labels: Sequence[Any]) -> str | int:
    return "never met" if isinstance(labels[0], str) else 10**6


class Proof:
    """Compares what an explainer says with brute force."""

    def __init__(
        self,
        case: Case,
        seed: int,
        explainer: gw.Explainer | None = None,
        weight: NDArray[Any] | None = None,
        within: float | None = None,
    ) -> None:
        self.case, self.rng, self.weight = case, np.random.default_rng(seed), weight
        asked: dict[str, Any] = {"sample_weight": weight, "response": "raw"}
        self.ex = gw.Explainer(case.model, case.rows, **asked) if explainer is None else explainer
        self.e = self.ex.ensemble
        self.within = case.margin(self.e, within)
        self.tries = {
            int(f): tries(case, self.e, f, self.rng) for f in self.rng.permutation(self.e.used_features.tolist())[:4]
        }

    def close(self, actual: NDArray[Any], points: Columns) -> None:
        """Compare with brute force at points, given as the values of each column."""
        expected = self.case.partial_dependence(points, self.weight)
        np.testing.assert_allclose(np.reshape(actual, expected.shape), expected, rtol=0, atol=self.within)

    def curves(self) -> None:
        """Every cell of some features, on the level of the mean score, where features without splits stay."""
        curves = self.ex.partial_dependence()
        assert list(curves) == list(self.e.feature_names)
        mean = np.average(self.case.scores(self.case.rows), axis=0, weights=self.weight)
        for f, curve in enumerate(curves.values()):
            np.testing.assert_allclose(curve.mean, mean, rtol=0, atol=self.within)
            assert len(curve.values) == (self.e.schema.columns[f].n_codes or len(curve.cuts) + 1)
            if f not in self.e.used_features:
                np.testing.assert_array_equal(curve.heights, np.tile(curve.mean, (len(curve.heights), 1)))
        for f, tried in self.tries.items():
            curve = curves[self.e.feature_names[f]]
            self.close(curve(tried.values), {f: tried.values})
            self.close(curve.heights[tried.cells], {f: tried.values})

    def surfaces(self) -> None:
        """All pairs of cells of some pairs of features if they are few, otherwise 50 of them."""
        for a, b in self.pairs():
            first, second = self.tries[a], self.tries[b]
            i, j = np.indices((len(first), len(second))).reshape(2, -1)
            if i.size > 400:
                chosen = np.append(self.rng.choice(i.size, 50, replace=False), -1)  # the last: both missing or unseen
                i, j = i[chosen], j[chosen]
            first, second = first.take(i), second.take(j)
            points = {a: first.values, b: second.values}
            surface = self.ex.partial_dependence(a, b)
            assert isinstance(surface, Surface)
            self.close(surface(first.values, second.values), points)
            self.close(surface.heights[first.cells, second.cells], points)

    def pairs(self) -> list[tuple[int, int]]:
        """A random pair of features, and one of a number and a category if there is one."""
        features = list(self.tries)
        coded = [f for f in features if self.e.schema.columns[f].n_codes]
        numbers = [f for f in features if f not in coded]
        pairs = [(features[0], features[1])] if len(features) > 1 else []
        return [*pairs, (coded[0], numbers[-1])] if coded and numbers else pairs

    def points(self, n_features: int = 3) -> None:
        """Some features at once, at a few points."""
        features = list(self.tries)[:n_features]
        points = {f: self.pick(f, 12) for f in features}
        at = {self.e.feature_names[f]: values for f, values in points.items()}
        if features:
            self.close(self.ex.partial_dependence(*features, at=at).heights, points)

    def grids(self) -> None:
        """All pairs of some features on grids."""
        grids = {f: self.pick(f, 3) for f in self.tries}
        found = (
            self.ex.joint_partial_dependence(
                grid={self.e.feature_names[f]: values for f, values in grids.items()}
            ).grid_values
            if grids
            else {}
        )
        pairs = list(combinations(grids, 2))
        assert list(found) == [(self.e.feature_names[a], self.e.feature_names[b]) for a, b in pairs]
        for a, b in pairs[:2]:
            i, j = np.indices((3, 3)).reshape(2, -1)
            points = {a: [grids[a][k] for k in i], b: [grids[b][k] for k in j]}
            self.close(found[self.e.feature_names[a], self.e.feature_names[b]], points)

    def pick(self, feature: int, n: int) -> list[Any]:
        tried = self.tries[feature].values
        return [tried[k] for k in self.rng.integers(len(tried), size=n)]

    def outputs(self) -> None:
        """One output, by its label, is that part of all outputs; of two classes the second is all."""
        features = list(self.tries)
        whole: Any
        part: Any
        for k, label in enumerate(self.ex.outputs):
            for f in features[:1]:
                whole, part = self.ex.partial_dependence(f), self.ex.partial_dependence(f, output=label)
                self.same(part.heights, whole.heights, k)
                self.same(part.mean, whole.mean, k)
                assert part.outputs == (label,)
                assert part.values.ndim == 1
            for a, b in self.pairs()[:1]:
                whole, part = self.ex.partial_dependence(a, b), self.ex.partial_dependence(a, b, output=label)
                self.same(part.heights, whole.heights, k)

    def same(self, part: NDArray[Any], whole: NDArray[Any], k: int) -> None:
        """Compare one output with all; of a binary model with the second, which it adds up to 1 or 0 with."""
        if not self.case.binary:
            np.testing.assert_array_equal(part[..., 0], whole[..., k])
        elif k == 1:
            np.testing.assert_array_equal(part, whole)
        elif self.e.n_outputs == 1 or self.ex.units == "probability":
            total = 0.0 if self.ex._view().scale.additive and self.e.n_outputs == 1 else 1.0
            np.testing.assert_allclose(part + whole, total, rtol=0, atol=self.within)
