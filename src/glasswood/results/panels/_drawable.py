"""What panels read of results. Results make panels, so that panels must not know results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from glasswood.effects._pairs import Pair
    from glasswood.results._axis import Axis
    from glasswood.results._folds import Folds
    from glasswood.results._joint_rows import JointRows
    from glasswood.results._observations import Observations
    from glasswood.results._shown import ShownRows
    from glasswood.text._arguments import Centering

__all__ = [
    "DrawableAle",
    "DrawableAleSurface",
    "DrawableAttributions",
    "DrawableCertificate",
    "DrawableComparison",
    "DrawableCurve",
    "DrawableIce",
    "DrawableImportance",
    "DrawableMeasured",
    "DrawableMeasures",
    "DrawablePermutation",
    "DrawablePoints",
    "DrawableRanking",
    "DrawableRatingTable",
    "DrawableRowMonotonicity",
    "DrawableSample",
    "DrawableSets",
    "DrawableStrengths",
    "DrawableSurface",
]


class _Scored(Protocol):
    @property
    def outputs(self) -> tuple[Any, ...]: ...
    @property
    def units(self) -> str: ...


class _Heights(_Scored, Protocol):
    @property
    def heights(self) -> NDArray[np.float64]: ...


class DrawableAle(_Heights, Protocol):
    """An `Ale`."""

    @property
    def name(self) -> str: ...
    @property
    def axis(self) -> Axis: ...
    @property
    def edges(self) -> NDArray[np.float64]: ...
    @property
    def levels(self) -> tuple[Any, ...] | None: ...
    @property
    def ordered_by(self) -> str: ...
    @property
    def rows(self) -> NDArray[Any]: ...
    @property
    def missing_heights(self) -> NDArray[np.float64]: ...
    @property
    def missing_rows(self) -> float: ...
    @property
    def dependence(self) -> NDArray[np.float64]: ...
    @property
    def errors(self) -> NDArray[np.float64]: ...
    @property
    def folds(self) -> Folds: ...


class DrawableAleSurface(_Heights, Protocol):
    """An `AleSurface`."""

    @property
    def names(self) -> tuple[str, str]: ...
    @property
    def edges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    @property
    def rows(self) -> NDArray[Any]: ...
    @property
    def empty_share(self) -> float: ...
    @property
    def weighted(self) -> bool: ...


class DrawableCurve(_Heights, Protocol):
    """A `Curve`."""

    @property
    def name(self) -> str: ...
    @property
    def axis(self) -> Axis: ...
    @property
    def mean(self) -> NDArray[np.float64]: ...
    @property
    def find_spread(self) -> Callable[[], NDArray[np.float64]]: ...
    @property
    def observations(self) -> Observations: ...
    @property
    def errors(self) -> NDArray[np.float64]: ...
    @property
    def find_folds(self) -> Callable[[], Folds] | None: ...
    @property
    def centering(self) -> Centering: ...


class _AtPoints(_Heights, Protocol):
    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> Mapping[str, Any]: ...
    @property
    def find_rows(self) -> Callable[[], NDArray[Any]]: ...
    @property
    def weighted(self) -> bool: ...


class DrawablePoints(_AtPoints, Protocol):
    """A `Points`."""

    @property
    def rows(self) -> NDArray[Any]: ...
    @property
    def mean(self) -> NDArray[np.float64] | None: ...
    @property
    def centering(self) -> Centering: ...


class DrawableIce(_AtPoints, Protocol):
    """An `Ice`."""

    @property
    def axis(self) -> Axis | None: ...
    @property
    def weight(self) -> NDArray[np.float64] | None: ...
    @property
    def find_mean(self) -> Callable[[], NDArray[np.float64]]: ...


class DrawableComparison(Protocol):
    """A `Comparison`."""

    def curves(self, feature: str) -> Mapping[str, DrawableCurve]: ...


class DrawableMeasured(Protocol):
    """A `Measured`."""

    @property
    def name(self) -> str: ...
    @property
    def measure(self) -> str: ...
    @property
    def feature(self) -> str | None: ...
    @property
    def output(self) -> Any: ...
    @property
    def value(self) -> float: ...
    @property
    def limit(self) -> float: ...
    @property
    def rule(self) -> str: ...
    @property
    def broken(self) -> bool: ...
    @property
    def chance(self) -> float | None: ...
    @property
    def error(self) -> float | None: ...


class DrawableMeasures(Protocol):
    """A `Measures`."""

    @property
    def reference(self) -> str: ...
    @property
    def margin(self) -> float | None: ...
    def __iter__(self) -> Iterator[DrawableMeasured]: ...


class DrawableSurface(Protocol):
    """A `Surface`."""

    @property
    def first(self) -> DrawableCurve: ...
    @property
    def second(self) -> DrawableCurve: ...
    @property
    def pair(self) -> Pair | None: ...
    @property
    def find_rows(self) -> Callable[[], JointRows | None]: ...


class DrawableSample(Protocol):
    """A result that may be of a sample of the rows."""

    @property
    def n_rows(self) -> int: ...
    @property
    def sampled(self) -> bool: ...


class DrawableRanking(_Heights, Protocol):
    """Numbers of features, such as `HStatistics`."""

    @property
    def names(self) -> Sequence[str]: ...


class DrawableImportance(DrawableRanking, DrawableSample, Protocol):
    """An `Importance`."""

    @property
    def kind(self) -> str: ...


class DrawablePermutation(DrawableSample, Protocol):
    """A `PermutationImportance`."""

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def values(self) -> NDArray[np.float64]: ...
    @property
    def reach(self) -> NDArray[np.float64] | None: ...
    @property
    def base(self) -> float: ...
    @property
    def loss(self) -> str: ...


class _Broken(Protocol):
    @property
    def feature(self) -> str: ...


class DrawableCertificate(_Scored, Protocol):
    """A `Certificate`."""

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def falls(self) -> NDArray[np.float64]: ...
    @property
    def rises(self) -> NDArray[np.float64]: ...
    @property
    def broken(self) -> Sequence[_Broken]: ...
    @property
    def caveat(self) -> str: ...


class DrawableRatingTable(Protocol):
    """A `RatingTable`."""

    @property
    def spans(self) -> Mapping[str, float]: ...
    @property
    def told_left(self) -> str: ...
    @property
    def output(self) -> Any: ...
    @property
    def units(self) -> str: ...


class DrawableRowMonotonicity(_Scored, Protocol):
    """A `RowMonotonicity`."""

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def shares(self) -> NDArray[np.float64]: ...


class DrawableStrengths(_Heights, Protocol):
    """A `Strengths`."""

    @property
    def pairs(self) -> Sequence[tuple[str, str]]: ...
    @property
    def caveat(self) -> str: ...


class DrawableAttributions(_Heights, Protocol):
    """An `Attributions`."""

    @property
    def name(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def mean(self) -> NDArray[np.float64]: ...
    @property
    def columns(self) -> ShownRows: ...
    def __len__(self) -> int: ...


class _Sets(Protocol):
    @property
    def sets(self) -> Sequence[tuple[int, ...]]: ...
    def write(self, rows: tuple[int, int], out: NDArray[np.float64], at: int, /) -> None: ...


class DrawableSets(_Scored, Protocol):
    """An `Interactions`."""

    def mean_abs(self) -> NDArray[np.float64]: ...
    def signed_mean(self) -> NDArray[np.float64]: ...

    @property
    def n_rows(self) -> int: ...
    @property
    def source(self) -> _Sets: ...
    @property
    def players(self) -> tuple[str, ...]: ...
    @property
    def columns(self) -> ShownRows: ...
