"""Background: the counts of a model over a set of rows. Backgrounds can be added, subtracted and saved."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._counter import Counter
from glasswood.counting._plan import CountPlan
from glasswood.counting._statistic import UFUNCS, Combine, Tally, combine
from glasswood.counting._weights import in_one_unit, refuse_large_sum
from glasswood.counting._wide import limbs_of, numbers_of
from glasswood.errors import BackgroundError, FileError, MissingFileError
from glasswood.kernels._read_only import ReadOnly, read_only
from glasswood.tables._files import pack_arrays, unpack_arrays, write_whole
from glasswood.tables._folds import Division
from glasswood.tables._places import is_address, place_of, read_at, write_at
from glasswood.text._arguments import brief, new_file
from glasswood.text._html import facts_html
from glasswood.text._printable import how_many

__all__ = ["OF_FOLDS", "SUMS", "Background", "background_of", "background_of_tally"]

FORMAT = "glasswood background 4"  # file type and version

OF_FOLDS = "folds "  # the beginning of the names of vectors that have one part for each fold of the rows
# The beginnings of the names of vectors that belong to one question. Sums of responses have none.
OF_QUESTIONS = ("target ", "offset ", "loss ", "local effects ", "edges of ", "rows of ", "falls of rows: ")
SUMS: tuple[Combine, ...] = ("sum", "wide sum")
MAX_EXACT = 10**12  # units: a smaller sum of rounded counts is not right to twelve digits


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Background(ReadOnly):
    """The counts of a model over a set of rows: all that partial dependence needs from the data.

    For every leaf and every set S of up to `order` players of its path, the number of rows that meet all conditions of
    the path, ignoring those on players in S. Counts are integers and add up over rows, so backgrounds of parts of the
    data can be added in any order, subtracted, saved, and used later without the data.

    Created by `summarize`.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RandomForestRegressor(n_estimators=10, max_leaf_nodes=8, random_state=0).fit(X, y)
    >>> whole = gw.summarize(model, X)
    >>> gw.summarize(model, X[:100]) + gw.summarize(model, X[100:]) == whole
    True
    >>> whole
    Background(442 rows, order 1, 309 counts)
    """

    order: int
    n_rows: int
    total: int
    unit: float
    vectors: Mapping[str, NDArray[np.int64]]  # counts may have 32 bits within an Explainer, where nothing is added
    combine: Mapping[str, Combine]
    fingerprint: str
    groups: Mapping[str, tuple[str, ...]]
    folds: Division | None = None  # into which the rows are divided and counted apart

    def _close(self) -> None:
        object.__setattr__(self, "vectors", {name: read_only(part) for name, part in self.vectors.items()})

    @property
    def counts(self) -> NDArray[np.int64] | NDArray[np.int32]:
        """For each leaf and each set of players of its path, the rows (in units of weight) that it counts."""
        return self.vector("counts")

    @property
    def cells(self) -> NDArray[np.int64]:
        """The rows (in units of weight) in each cell of each feature."""
        return self.vector("cells")

    def vector(self, name: str) -> NDArray[np.int64]:
        """Return one of the `vectors` by its name, such as "counts", "cells" or "least".

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> background = gw.summarize(DecisionTreeClassifier(random_state=0).fit(X, y), X)
        >>> background.vector("greatest").shape  # the model splits on three columns
        (3,)
        >>> (background - background).vector("least")
        Traceback (most recent call last):
        ...
        glasswood.errors.BackgroundError: the background has no 'least', ...
        """
        if name not in self.vectors:
            message = (
                f"the background has no {name!r}, only {', '.join(map(repr, self.vectors))}: it was not asked for when "
                "the rows were counted, or it is no sum, and was lost when backgrounds were subtracted. Summarize the "
                "rows again"
            )
            raise BackgroundError(message)
        return self.vectors[name]

    def __repr__(self) -> str:
        weight = "" if self.total == self.n_rows else f", weight {self.weight:g}"
        return (
            f"Background({how_many(self.n_rows, 'row')}{weight}, order {self.order}, "
            f"{how_many(self.counts.size, 'count')})"
        )

    def _repr_html_(self) -> str:
        return facts_html("Background: counts of rows", self.facts)

    @property
    def facts(self) -> dict[str, Any]:
        """A summary of the background, by name."""
        return {
            "rows": self.n_rows,
            "weight": self.weight,
            "order": self.order,
            "counts": self.counts.size,
            "groups of columns": ", ".join(self.groups) or "none",
            "sums of responses": ", ".join(self._responses) or "none",
            "observed": ", ".join(self._targets) or "none",
            "folds": "none" if self.folds is None else str(self.folds),
            "fingerprint": self.fingerprint,
        }

    @property
    def _responses(self) -> list[str]:
        """The units of responses of which there are sums."""
        return [name for name in self._wide if name not in self._targets]

    @property
    def _targets(self) -> list[str]:
        """What is known of the rows beside the model's columns: targets, and what belongs to them."""
        return [name for name in self._wide if name.startswith("target ")]

    @property
    def _wide(self) -> list[str]:
        wide = [name for name, how in self.combine.items() if how == "wide sum" and not name.startswith(OF_FOLDS)]
        return [name.rpartition(" ")[0] for name in wide]

    @property
    def weight(self) -> float:
        """The sum of the rows' weights; the number of rows if there are no weights."""
        return self.total * self.unit

    def __add__(self, other: Background) -> Background:
        return self._combine(other, 1)

    def __sub__(self, other: Background) -> Background:
        return self._combine(other, -1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Background):
            return NotImplemented
        return (
            (self.order, self.n_rows, self.total, self.unit, self.fingerprint, self.folds)
            == (other.order, other.n_rows, other.total, other.unit, other.fingerprint, other.folds)
            and self._sums == other._sums
            and all(np.array_equal(self.vectors[name], other.vectors[name]) for name in self._common(other))
        )

    __hash__ = None  # type: ignore[assignment]

    def _combine(self, other: Background, sign: int) -> Background:
        if not isinstance(other, Background):
            return NotImplemented
        if (self.fingerprint, self.order) != (other.fingerprint, other.order):
            what = "order" if self.fingerprint == other.fingerprint else "model or of different groups"
            message = (
                f"backgrounds of a different {what} cannot be combined; summarize both with the same arguments (and, "
                "for a pipeline, tables with the same types of numbers)"
            )
            raise BackgroundError(message)
        if self.folds != other.folds:
            both = "; ".join("none" if own is None else str(own) for own in (self.folds, other.folds))
            message = (
                f"backgrounds with different folds cannot be combined ({both}); summarize both with the same folds= "
                "and fold_by="
            )
            raise BackgroundError(message)
        kept = self._kept(other, sign)
        finest = min(self.unit, other.unit)
        unit = finest  # in which both are exact; coarser if the sum would not fit in 64 bits
        while (abs(self.total) * self.unit + abs(other.total) * other.unit) / unit >= 2.0**62:
            unit *= 2
        one, two = self._in_unit(unit), other._in_unit(unit)
        total = one.total + sign * two.total
        if unit > finest and 0 < abs(total) < MAX_EXACT:
            message = (
                "the weights of these backgrounds differ too much to be subtracted: the remainder "
                f"{total * unit:.3g} of {self.weight:.3g} is not accurate to twelve digits; summarize the rows again"
            )
            raise BackgroundError(message)
        return replace(
            one,
            n_rows=one.n_rows + sign * two.n_rows,
            total=total,
            vectors={name: _combined(how, one.vectors[name], two.vectors[name], sign) for name, how in kept.items()},
            combine=kept,
        )

    @property
    def _sums(self) -> dict[str, Combine]:
        """The vectors that are sums: what is in every background that was made with the same arguments."""
        return {name: how for name, how in self.combine.items() if how in SUMS}

    def _common(self, other: Background) -> dict[str, Combine]:
        """Return the vectors of both. What is no sum, such as the ends of columns, is lost by a subtraction."""
        return {name: how for name, how in self.combine.items() if name in other.combine}

    def _kept(self, other: Background, sign: int) -> dict[str, Combine]:
        """Return the vectors of a sum or a difference: what is no sum cannot be subtracted."""
        lacking = self._sums.keys() ^ other._sums.keys()
        if lacking and all(map(_is_of_responses, lacking)):
            names = sorted({_question_of(name.removeprefix(OF_FOLDS)) for name in lacking})
            message = f"only one of the backgrounds has {' and '.join(names)} of this model, so the result has none"
            warnings.warn(message, UserWarning, stacklevel=4)
        elif lacking:
            names = sorted({_question_of(name) for name in lacking})
            message = (
                f"only one of the backgrounds has {', '.join(map(repr, names))} of this model; summarize both with the "
                "same model and arguments"
            )
            raise BackgroundError(message)
        return {name: how for name, how in self._common(other).items() if sign > 0 or how in (*SUMS, "same")}

    def _in_unit(self, unit: float) -> Background:
        """Return the same counts in a different unit: exact if it is finer, rounded if it is coarser."""
        shift = int(np.log2(unit) - np.log2(self.unit))
        if shift == 0:
            return self

        def turned(numbers: Any) -> Any:
            return numbers << -shift if shift < 0 else (numbers + (1 << (shift - 1))) >> shift

        def turned_sums(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
            # Sums are less than 2**62, so that they are 0 in a unit that is 2**63 times as large, or more.
            return np.zeros_like(numbers) if shift > 62 else np.asarray(turned(numbers))

        turn: dict[Combine, Callable[[NDArray[np.int64]], NDArray[np.int64]]] = {
            "sum": turned_sums,
            "wide sum": lambda limbs: limbs_of(turned(numbers_of(limbs))),
        }
        vectors = {
            name: turn[self.combine[name]](part) if self.combine[name] in turn else part
            for name, part in self.vectors.items()
        }
        return replace(self, unit=unit, total=turned(self.total), vectors=vectors)

    def save(
        self,
        path: str | PathLike[str],
        *,
        filesystem: object = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the background to a file atomically: an existing file is kept until the new one is complete.

        The file may be in a storage, such as ``"s3://bucket/rows.gw"``, or be opened by `filesystem` or with
        `storage_options`, as in `summarize`. S3 replaces a file as a whole, too; other storages may not.

        The file starts with the line ``glasswood background 4``, followed by the length of the header in 8 bytes and
        the header itself as JSON: the metadata (order, n_rows, total, unit, fingerprint, groups, folds, and how each
        vector combines), and the type and size of all vectors, which follow as integers of the smallest sufficient
        width. The file ends with the SHA-256 of everything before it, which is verified on loading. Nothing is pickled
        or compressed.

        Examples
        --------
        >>> import tempfile, glasswood as gw
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import ExtraTreesClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> background = gw.summarize(ExtraTreesClassifier(5).fit(X, y), X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     background.save(folder + "/iris.gw")
        ...     gw.Background.load(folder + "/iris.gw") == background
        True
        """
        elsewhere = is_address(path, filesystem, storage_options)
        local = None if elsewhere else new_file(path)
        facts = {
            "order": self.order,
            "n_rows": self.n_rows,
            "total": self.total,
            "unit": self.unit,
            "fingerprint": self.fingerprint,
            "groups": {name: list(columns) for name, columns in self.groups.items()},
            "folds": None if self.folds is None else asdict(self.folds),
            "combine": dict(self.combine),
        }
        content = pack_arrays(FORMAT, facts, self.vectors)
        if local is None:
            write_at(place_of(path, filesystem, storage_options), content)
        else:
            write_whole(local, content)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        filesystem: object = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> Background:
        """Read a background from a file written by `save`, on this machine or in a storage.

        Examples
        --------
        >>> import glasswood as gw
        >>> gw.Background.load("nowhere.gw")
        Traceback (most recent call last):
        ...
        glasswood.errors.MissingFileError: ...
        """
        elsewhere = is_address(path, filesystem, storage_options)
        content = read_at(place_of(path, filesystem, storage_options)) if elsewhere else _content_of(path)
        try:
            facts, arrays = unpack_arrays(FORMAT, content)
            checked = _checked(facts)
            if arrays.keys() != checked["combine"].keys() or any(part.dtype != np.int64 for part in arrays.values()):
                message = "its vectors are not those of the header, or not integers"
                raise ValueError(message)
            _check_folds(checked["folds"], arrays)
            return cls(**checked, vectors=arrays)
        except (BackgroundError, KeyError, TypeError, ValueError) as error:
            message = f"{str(path)!r} is not a Glasswood background, or it is damaged: {error}; run summarize again"
            raise BackgroundError(message) from error


def _content_of(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file of this machine."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        message = f"there is no file {str(path)!r}"
        raise MissingFileError(message) from error
    except (OSError, TypeError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        message = f"a background is loaded from a file that save has written, and {brief(path)} cannot be read: {why}"
        raise FileError(message) from error


def _is_of_responses(name: str) -> bool:
    """Return whether a vector has sums of responses: without them, answers are about the score."""
    name = name.removeprefix(OF_FOLDS)
    return _question_of(name) != name and not name.startswith(OF_QUESTIONS)


def _question_of(name: str) -> str:
    """Return the name of a vector as users know it: "sums of the probability" without the hash behind it."""
    words, _, digest = name.rpartition(" ")
    return f"sums of the {words}" if words and len(digest) == 16 else name


def _checked(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a file after checking the types."""
    order, n_rows, total, unit = (facts[name] for name in ("order", "n_rows", "total", "unit"))
    whole = all(type(number) is int and abs(number) < 2**63 for number in (order, n_rows, total))
    if not whole or order < 1 or not (isinstance(unit, float) and 0 < unit < math.inf and math.frexp(unit)[0] == 0.5):
        message = f"it has order {order!r}, {n_rows!r} rows of total weight {total!r}, and the unit {unit!r}"
        raise ValueError(message)
    if not isinstance(facts["groups"], dict):
        message = f"its groups are {facts['groups']!r}"
        raise ValueError(message)
    combined = facts["combine"]
    if (
        not isinstance(combined, dict)
        or not {"counts", "cells"} <= combined.keys()
        or not set(combined.values()) <= set(UFUNCS)
    ):
        message = f"its vectors are {combined!r}"
        raise ValueError(message)
    groups = {name: tuple(columns) for name, columns in facts["groups"].items()}
    if not all(isinstance(text, str) for text in (facts["fingerprint"], *chain(*groups.values()))):
        message = "its fingerprint or its groups are not strings"
        raise ValueError(message)
    return {**facts, "groups": groups, "folds": _division(facts["folds"])}


def _division(stored: Any) -> Division | None:
    """Return how rows are divided into folds, as it is in a file."""
    if stored is None:
        return None
    types = [type(stored[name]) for name in ("number", "column", "given")]
    if types not in ([int, str, bool], [int, type(None), bool]):
        message = f"its folds are {stored!r}"
        raise ValueError(message)
    return Division(**stored)


def _check_folds(division: Division | None, arrays: Mapping[str, NDArray[np.int64]]) -> None:
    """Refuse vectors of folds that are not as many times as long as those of all rows."""
    number = 0 if division is None else division.number
    held = {name.removeprefix(OF_FOLDS): part.size for name, part in arrays.items() if name.startswith(OF_FOLDS)}
    sizes = {name: arrays[name].size * number if name in arrays else number for name in held}
    if bool(held) != bool(number) or held != sizes:
        message = f"its vectors of folds have {held!r} numbers, not {sizes!r}"
        raise ValueError(message)


def _combined(how: Combine, one: NDArray[np.int64], two: NDArray[np.int64], sign: int) -> NDArray[np.int64]:
    """Return the vector of the rows of two backgrounds, or of those of the first without those of the second."""
    if how == "wide sum":
        return limbs_of(numbers_of(one) + sign * numbers_of(two))
    return combine(how, one, two) if sign > 0 or how == "same" else one - two


def background_of(
    counter: Counter, planes: Mapping[int, Tally], n_rows: int, unit: float = 1.0, weight: object = None
) -> Background:
    """Return the background of a group of rows once all of them have been counted.

    Parameters
    ----------
    counter : Counter
    planes : mapping from int to Tally
        The sums, by plane of the weights. They are overwritten.
    n_rows : int
    unit : float, default 1
        The unit of all sums.
    weight : name, optional
        The column of weights.
    """
    plan = counter.plan
    refuse_large_sum(planes, weight)
    tally, own_unit = in_one_unit(planes) if planes else (counter.start(), 1.0)
    tally.n_rows = n_rows
    return background_of_tally(plan, counter.finish(tally), unit * own_unit)


def background_of_tally(plan: CountPlan, tally: Tally, unit: float) -> Background:
    """Return the background of a tally that is finished."""
    return Background(
        order=plan.order,
        n_rows=tally.n_rows,
        total=tally.total,
        unit=unit,
        vectors=tally.vectors,
        combine=tally.combine,
        fingerprint=plan.fingerprint,
        groups={name: tuple(columns) for name, columns in plan.groups.items()},
    )
