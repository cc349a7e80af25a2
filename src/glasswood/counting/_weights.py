"""Weights as whole numbers: of one unit if their sum is known in advance, else of several, which add up exactly.

A pass over files or a stream does not know how large weights will be. So it cuts each weight at fixed places, like a
number at its decimal places: plane k holds 28 binary digits, in units of 2**(28 * k). Digits are whole numbers, and
their sums are exact, whatever the order of the rows and however they are divided among workers. At the end the planes
of a group of rows become whole numbers of one unit. A float64 has digits in at most three planes.

Only the four highest planes of a group count: what lies below is less than 2**-84 of its largest weight per row. It can
be left out at any time, because the highest plane of the whole is not below that of a part.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasswood.counting._statistic import UFUNCS, Combine, Tally
from glasswood.counting._wide import limbs_of, numbers_of
from glasswood.errors import TableError, TooLargeError
from glasswood.tables._row_columns import check_weights
from glasswood.text._arguments import brief
from glasswood.text._printable import how_many

__all__ = [
    "KEPT",
    "LARGEST",
    "SMALLEST",
    "WIDTH",
    "ColumnWeights",
    "column_of",
    "fixed_point",
    "in_one_unit",
    "lowest_planes",
    "refuse_large_sum",
    "split",
    "weights_of_groups",
    "weights_of_rows",
]

WIDTH = 28  # binary digits of a plane
KEPT = 4  # planes of a group of rows
BITS = 62  # of a sum of weights in its unit
SMALLEST, LARGEST = -1074, 1024  # every float64 is a multiple of 2**-1074, and less than 2**1024
MAX_WEIGHTED = 2 ** (BITS - WIDTH)  # rows, so that no sum of digits overflows


Digits = NDArray[np.int64] | None


class ColumnWeights(NamedTuple):
    """Weights of a column of a table in memory, which are to be summed as a pass over files would sum them."""

    weight: NDArray[Any]
    name: Hashable


def column_of(sample_weight: object) -> Any:
    """Return the name of the column that weights are from, if they are from one."""
    return sample_weight.name if isinstance(sample_weight, ColumnWeights) else None


def split(weight: NDArray[Any], lowest: NDArray[np.int64] | int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the planes of weights from the highest down, and each row's digits there; no plane without any.

    Parameters
    ----------
    weight : ndarray of shape (n_rows,), finite and not negative
        Of any type of numbers.
    lowest : ndarray of shape (n_rows,), or int
        The lowest plane that counts, for each row.

    Examples
    --------
    >>> for plane, digits in split(np.array([3.0, 2.0**28, 0.5]), -1):
    ...     print(plane, digits)
    1 [0 1 0]
    0 [3 0 0]
    -1 [        0         0 134217728]
    """
    if weight.dtype.kind in "iu":
        yield from _split_whole(weight, lowest)
        return
    rest = weight.astype(np.float64)
    while (largest := rest.max(initial=0.0)) > 0:
        plane = int(_plane_of(largest))
        rest = np.where(plane < lowest, 0.0, rest)
        digits = np.floor(np.ldexp(rest, -WIDTH * plane))
        rest -= np.ldexp(digits, WIDTH * plane)
        if digits.any():
            yield plane, digits.astype(np.int64)


def _split_whole(weight: NDArray[Any], lowest: NDArray[np.int64] | int) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the planes of whole numbers; large ones are not float64 numbers."""
    largest = int(weight.max(initial=0))
    for plane in range((largest.bit_length() - 1) // WIDTH, -1, -1):
        shifted = (weight.astype(np.uint64) >> np.uint64(WIDTH * plane)) & np.uint64(2**WIDTH - 1)
        digits = np.where(plane < lowest, 0, shifted.astype(np.int64))
        if digits.any():
            yield plane, digits


def lowest_planes(largest: NDArray[Any]) -> NDArray[np.int64]:
    """Return the lowest plane that counts for groups of rows, given the largest weight of each."""
    if largest.dtype.kind in "iu":  # float64 must not round them up
        largest = largest.astype(np.uint64)
        largest = np.where(largest < 2**53, largest, largest - largest % np.uint64(2**11))
    return np.where(largest > 0, _plane_of(largest) - KEPT + 1, SMALLEST)


def _plane_of(weight: object) -> Any:
    """Return the plane of the highest digit of weights that are not 0."""
    return (np.frexp(np.asarray(weight, dtype=np.float64))[1].astype(np.int64) - 1) // WIDTH


def in_one_unit(planes: Mapping[int, Tally]) -> tuple[Tally, float]:
    """Return the sum of the planes of a group of rows, in whole numbers of one unit, and the unit.

    The unit is 1 for whole weights, as long as 64 bits hold their sum; else the power of two that `fixed_point` would
    choose. What is smaller than a unit is cut off, of each number.
    """
    low, total = min(planes), _exact_total(planes)
    exponent = max((total - 1).bit_length() + WIDTH * low - BITS, SMALLEST if low < 0 else 0)
    if len(planes) == 1 and exponent == WIDTH * low:
        return planes[low], 2.0**exponent
    by, some = WIDTH * low - exponent, planes[low]
    vectors = {
        name: _combined(how, {plane: tally.vectors[name] for plane, tally in planes.items()}, exponent)
        for name, how in some.combine.items()
    }
    return Tally(vectors, some.combine, total=total << by if by >= 0 else total >> -by), 2.0**exponent


def _combined(how: Combine, planes: Mapping[int, NDArray[np.int64]], exponent: int) -> NDArray[np.int64]:
    """Return the vector of all planes: sums as whole numbers of 2**exponent."""
    if how == "sum":
        return _in_units(planes, exponent)
    if how == "wide sum":
        low = min(planes)
        total = sum(numbers_of(digits) << WIDTH * (plane - low) for plane, digits in planes.items())
        by = WIDTH * low - exponent
        return limbs_of(total << by if by >= 0 else total >> -by)
    result: NDArray[np.int64] = UFUNCS[how].reduce(list(planes.values()))
    return result


def _exact_total(planes: Mapping[int, Tally]) -> int:
    """Return the sum of weights in units of the lowest plane."""
    return sum(tally.total << WIDTH * (plane - min(planes)) for plane, tally in planes.items())


def _in_units(planes: Mapping[int, NDArray[np.int64]], exponent: int) -> NDArray[np.int64]:
    """Return sums of planes as whole numbers of 2**exponent: the exact sum, without what is smaller."""
    low, high = min(planes), max(planes)
    result = carried = np.zeros_like(planes[low])
    for plane in range(low, high + 1):
        digits = carried + planes[plane] if plane in planes else carried
        if plane < high:
            carried = digits >> WIDTH
            digits = digits & (2**WIDTH - 1)
        by = WIDTH * plane - exponent
        result = result + (digits << by if by >= 0 else digits >> min(-by, 63))
    return result


def refuse_large_sum(planes: Mapping[int, Tally], name: object) -> None:
    """Refuse the weights of a column if their sum is beyond float64, or if there are more rows than planes can hold."""
    if name is None or not planes:
        return
    if any(tally.total >= 2**BITS for tally in planes.values()):
        message = (
            f"there are more than {MAX_WEIGHTED:,} rows with weights in {name!r}, too many for one sum; summarize "
            "them in parts, and add the backgrounds"
        )
        raise TooLargeError(message)
    if _exact_total(planes).bit_length() + WIDTH * min(planes) > LARGEST:
        raise TooLargeError(_beyond(f"the weights in the column {name!r}"))


def _beyond(what: str) -> str:
    return f"{what} sum to more than {np.finfo(np.float64).max:.3g}, the largest float64; divide them by a power of two"


def weights_of_rows(sample_weight: object, n_rows: int) -> tuple[list[tuple[int, Digits]], float]:
    """Return the weights of rows in memory as planes, and what these are multiples of; None is the weight 1."""
    if isinstance(sample_weight, ColumnWeights):
        lowest = int(lowest_planes(sample_weight.weight.max(initial=0)))
        return list(split(sample_weight.weight, lowest)), 1.0
    weight, unit = fixed_point(sample_weight, n_rows)
    return [(0, weight)], unit


def weights_of_groups(
    sample_weight: object, places: NDArray[np.intp], n_groups: int
) -> tuple[list[tuple[int, Digits]], NDArray[np.float64]]:
    """Return the weights of groups of rows in memory as planes, and what each group's are multiples of.

    Parameters
    ----------
    sample_weight : array of shape (n_rows,), ColumnWeights, or None
    places : ndarray of shape (n_rows,)
        The number of each row's group.
    n_groups : int
    """
    if sample_weight is None:
        return [(0, None)], np.ones(n_groups)
    if isinstance(sample_weight, ColumnWeights):
        largest = np.zeros(n_groups)
        np.maximum.at(largest, places, sample_weight.weight)
        return list(split(sample_weight.weight, lowest_planes(largest)[places])), np.ones(n_groups)
    weight = _checked(sample_weight, places.size)
    with np.errstate(over="ignore"):
        total = np.bincount(places, weights=weight, minlength=n_groups)
    fractions = np.bincount(places, weights=weight != np.rint(weight), minlength=n_groups)
    units = _units(total, fractions == 0)
    return [(0, np.rint(weight / units[places]).astype(np.int64))], units


def fixed_point(sample_weight: object, n_rows: int) -> tuple[NDArray[np.int64] | None, float]:
    """Return weights as whole numbers and the unit that they count in.

    Whole numbers keep the unit 1. Others get a power of two as unit, so small that rounding changes the sum of any rows
    by less than 1e-12 of the whole, and so large that no sum overflows.
    """
    if sample_weight is None:
        return None, 1.0
    weight = _checked(sample_weight, n_rows)
    with np.errstate(over="ignore"):
        total = weight.sum()
    unit = _units(total, np.array_equal(weight, np.rint(weight)))
    return np.rint(weight / unit).astype(np.int64), float(unit)


def _units(total: ArrayLike, whole: ArrayLike) -> Any:
    """Return the unit of weights, given their sum and whether all are whole; or those of several groups."""
    if not np.isfinite(total).all():
        raise TooLargeError(_beyond("the weights in sample_weight"))
    with np.errstate(divide="ignore"):
        exponent = np.maximum(np.ceil(np.log2(total)) - BITS, np.where(whole, 0, SMALLEST))
    return np.ldexp(1.0, exponent.astype(np.int64))


def _checked(sample_weight: object, n_rows: int) -> NDArray[np.float64]:
    """Return weights as numbers, if there is one for each row."""
    weight = _numbers(sample_weight)
    if weight.shape != (n_rows,):
        message = f"sample_weight has shape {weight.shape}, but the table has {how_many(n_rows, 'row')}"
        raise TableError(message)
    check_weights(weight, "a row")
    return weight


def _numbers(sample_weight: object) -> NDArray[np.float64]:
    try:
        result = np.asarray(sample_weight)
        if result.dtype.kind in "fiubO":
            return result.astype(np.float64)
    except (TypeError, ValueError):
        pass
    message = f"sample_weight is one number per row, not {brief(sample_weight)}"
    raise TableError(message)
