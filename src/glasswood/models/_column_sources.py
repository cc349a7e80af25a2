"""Where the columns that transformers make come from: of which of the user's columns each one is computed.

Exact only if no transformed column mixes several of the user's: the transformers that keep columns apart are listed
here, everything else is refused.

scikit-learn is never imported: if one of its objects is passed, it is already loaded, and classes are found by name.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, NoReturn

import numpy as np

from glasswood.errors import UnsupportedModelError
from glasswood.models._foreign_encoders import trace_category_encoder, trace_skrub
from glasswood.models._probes import N_PROBES, Shaped, Transformer, by_columns, by_rows, indexer, keeps_columns_apart
from glasswood.tables._columns import is_missing
from glasswood.text._printable import how_many

__all__ = ["Notes", "Sources", "fitted", "flat_steps", "has", "kinds_of", "refuse", "trace"]

Sources = list[tuple[int, ...]]


class Origin(NamedTuple):
    """The user's columns that a column is computed of, and whether its values are still the user's own."""

    columns: tuple[int, ...]
    own: bool
    filled: bool = False  # whether missing values were imputed

    def changed(self) -> Origin:
        """Return the origin of what is computed of the column."""
        return Origin(self.columns, own=False)


Origins = list[Origin]

SCALERS = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "QuantileTransformer", "PowerTransformer"}
# How many columns each column becomes, for transformers that write them next to each other.
WIDTHS: dict[str, Callable[[Any], list[int]]] = {
    **dict.fromkeys({*SCALERS, "OrdinalEncoder", "Binarizer"}, lambda scaler: [1] * scaler.n_features_in_),
    "OneHotEncoder": lambda encoder: _one_hot_widths(encoder),
    "TargetEncoder": lambda encoder: [_n_targets(encoder)] * encoder.n_features_in_,
    "KBinsDiscretizer": lambda binner: [1 if binner.encode == "ordinal" else int(n) for n in binner.n_bins_],
    "SplineTransformer": lambda splines: [splines.n_features_out_ // splines.n_features_in_] * splines.n_features_in_,
}


def fitted(obj: object, attribute: str = "n_features_in_") -> Any:
    """Return an object that has an attribute that comes with being fitted."""
    if not has(obj, attribute):
        was_fitted = attribute == "best_estimator_" and has(obj, "cv_results_")
        what = "was fitted with refit=False, so it has no model; fit it with refit=True" if was_fitted else ""
        message = f"this {type(obj).__name__} {what or 'is not fitted; call fit first'}"
        raise UnsupportedModelError(message)
    return obj


def flat_steps(steps: Sequence[tuple[str, Any]], label: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the transformers that are at work, those of pipelines within included."""
    for name, step in steps:
        resamples = hasattr(step, "fit_resample") and not hasattr(step, "transform")  # at work in fit only
        if "Pipeline" in kinds_of(step):
            yield from flat_steps(step.steps, f"{label}{name}__")
        elif step is not None and not isinstance(step, str) and not resamples:
            yield label + name, step


def kinds_of(obj: object) -> set[str]:
    """Return the names of the classes of scikit-learn that an object is an instance of."""
    return {cls.__name__ for cls in type(obj).__mro__ if cls.__module__.split(".")[0] == "sklearn"}


def has(obj: object, attribute: str) -> bool:
    return getattr(obj, attribute, None) is not None


def refuse(transformer: object, label: str, why: str, cause: Exception | None = None) -> NoReturn:
    message = (
        f"the step {label!r} ({type(transformer).__name__}) {why}, so the model cannot be explained exactly in the "
        "original columns. Explain the final estimator on the transformed table instead, "
        "Explainer(pipeline[-1], pipeline[:-1].transform(X)), or use glasswood.sklearn, which falls back to "
        "scikit-learn's brute force"
    )
    raise UnsupportedModelError(message) from cause


@dataclass(frozen=True, slots=True)
class Notes:
    """What is learned about the user's columns on the way, by their positions.

    Parameters
    ----------
    labels : dict from int to list
        The categories that encoders of a column know.
    unproven : set of int
        Columns that go through code that is not scikit-learn's own: what it does is known from rows only.
    uneven : set of int
        Columns that go through functions which are not monotone, or treat one number unlike its neighbours. Between
        the numbers that are tried, such a function may do anything.
    refuse_unseen, refuse_missing : set of int
        Columns whose encoders are known to raise an error for categories that they do not know, and for missing values.
    refuse_infinite : set of int
        Columns whose scalers are known to raise an error for infinite numbers. What is known need not be tried.
    """

    labels: dict[int, list[Hashable]] = field(default_factory=dict)
    unproven: set[int] = field(default_factory=set)
    uneven: set[int] = field(default_factory=set)
    refuse_unseen: set[int] = field(default_factory=set)
    refuse_missing: set[int] = field(default_factory=set)
    refuse_infinite: set[int] = field(default_factory=set)

    def note(self, origins: Iterable[Origin], categories: Iterable[Iterable[Hashable]]) -> None:
        """Note the categories of columns with the user's own values; an encoder's come before an imputed one."""
        for ((source, *others), own, _), labels in zip(origins, categories, strict=True):
            if own and not others:
                self.labels[source] = list(dict.fromkeys([*labels, *self.labels.get(source, ())]))

    def note_encoded(self, origins: Sequence[Origin], categories: Iterable[Iterable[Hashable]]) -> None:
        """Note the categories that an encoder knows. Of values that are not the user's own, they are just numbers."""
        self.note(origins, categories)
        self.note_uneven(origin for origin in origins if not origin.own)

    def note_uneven(self, origins: Iterable[Origin]) -> None:
        """Note that a function of some columns is not monotone."""
        self.uneven.update(column for origin in origins for column in origin.columns)


@dataclass(frozen=True, slots=True)
class Given:
    """What a transformer is given: columns with known origins, and rows of them if there is a table."""

    origins: Origins
    rows: Callable[[], Any] | None
    notes: Notes

    def of(self, positions: list[int], columns: object) -> Given:
        """Return what a transformer of some columns is given; of one column that is not in a list, flat."""
        rows = self.rows
        origins = [self.origins[position] for position in positions]
        flat = isinstance(columns, str | int | np.integer) and not isinstance(columns, bool)
        index: int | list[int] = positions[0] if flat else positions
        return Given(origins, None if rows is None else cache(lambda: indexer(rows())[:, index]), self.notes)

    def after(self, transformer: Transformer, origins: Origins) -> Given:
        """Return what the next transformer is given."""
        rows = self.rows
        return Given(origins, None if rows is None else cache(lambda: transformer.transform(rows())), self.notes)


def trace(
    steps: Sequence[tuple[str, Any]], n_columns: int, rows: Callable[[], Any] | None, width: int | None
) -> tuple[Sources, Notes]:
    """Return the user's columns that each transformed one is computed of, and what is learned about them on the way.

    Parameters
    ----------
    steps : sequence of tuple of str and transformer
        Transformers that come one after the other.
    n_columns : int
        How many columns the user's tables have.
    rows : callable or None
        Returns rows of the user's, on which functions are tried.
    width : int or None
        How many columns the steps make, if known.
    """
    notes = Notes()
    given = Given([Origin((column,), own=True) for column in range(n_columns)], rows, notes)
    return [origin.columns for origin in _trace_steps(steps, given, width)], notes


def _trace_steps(steps: Sequence[tuple[str, Any]], given: Given, width: int | None) -> Origins:
    """Return the origins of the columns that transformers make one after the other."""
    widths = [*(getattr(step, "n_features_in_", None) for _, step in steps), width][1:]
    for (label, step), known in zip(steps, widths, strict=True):
        given = given.after(step, _trace(step, given, label, known))
    return given.origins


def _trace(transformer: Any, given: Given, label: str, width: int | None = None) -> Origins:
    """Return the origins of the columns that a transformer makes; `width` is their number, if known."""
    kinds, origins = kinds_of(transformer), given.origins
    if isinstance(transformer, str) or transformer is None:
        return [] if transformer == "drop" else origins
    if getattr(transformer, "n_features_in_", len(origins)) != len(origins):
        refuse(
            transformer,
            label,
            f"was fitted on {how_many(transformer.n_features_in_, 'column')}, but gets {len(origins)}",
        )
    if "FrozenEstimator" in kinds:
        return _trace(transformer.estimator, given, label, width)
    if "Pipeline" in kinds:
        return _trace_steps(list(flat_steps(transformer.steps, f"{label}__")), given, width)
    if "FeatureUnion" in kinds:
        parts = [_trace(part, given, f"{label}__{name}") for name, part in transformer.transformer_list]
        return [origin for part in parts for origin in part]
    if "ColumnTransformer" in kinds:
        return _trace_columns(transformer, given, label)
    return _trace_one(transformer, given, label, width)


def _trace_one(transformer: Any, given: Given, label: str, width: int | None) -> Origins:
    """Return the origins of the columns that a transformer without others inside makes."""
    kind, origins = _own_kind(transformer), given.origins
    if kind == "FunctionTransformer":
        return _trace_function(transformer, given, label, width)
    if kind == "SelectorMixin":
        return [origins[position] for position in fitted(transformer).get_support(indices=True).tolist()]
    if kind == "MissingIndicator":
        _note_stand_in(transformer, given)
        return [origins[position].changed() for position in fitted(transformer).features_.tolist()]
    if kind == "SimpleImputer":
        return _trace_imputer(fitted(transformer), given)
    if kind in WIDTHS:
        return _trace_by_widths(fitted(transformer), given, kind)
    given.notes.unproven.update(column for origin in origins for column in origin.columns)
    for trace_foreign in (trace_skrub, trace_category_encoder):
        result = trace_foreign(transformer)
        if result is not None:
            given.notes.note_encoded([origins[position] for position in result.labels], result.labels.values())
            return [origins[position].changed() for position in result.positions]
    if _alone(origins):  # nothing to mix
        return [origins[0].changed()] * _width(transformer, label, width)
    refuse(transformer, label, "is not known to keep columns separate")


def _trace_by_widths(transformer: Any, given: Given, kind: str) -> Origins:
    """Return the origins of columns that are written next to each other, those of each column together."""
    origins = given.origins
    if hasattr(transformer, "categories_"):
        given.notes.note_encoded(origins, map(_listed, transformer.categories_))
        _note_refused(transformer, given)
    else:
        given.notes.refuse_infinite.update(origin.columns[0] for origin in origins if origin.own)
    if kind == "SplineTransformer" or (kind == "KBinsDiscretizer" and transformer.encode != "ordinal"):
        given.notes.note_uneven(origins)
    return [origin.changed() for origin, n in zip(origins, WIDTHS[kind](transformer), strict=True) for _ in range(n)]


def _note_refused(encoder: Any, given: Given) -> None:
    """Note the columns in which an encoder is known to reject categories."""
    if getattr(encoder, "handle_unknown", None) != "error":
        return
    for ((source, *others), own, filled), categories in zip(given.origins, encoder.categories_, strict=True):
        if own and not others:
            given.notes.refuse_unseen.add(source)
            if not filled and not any(map(is_missing, np.asarray(categories).tolist())):
                given.notes.refuse_missing.add(source)


def _listed(categories: Any) -> list[Hashable]:
    """Return the categories of an encoder, as values of Python's own types and without missing ones."""
    return [label for label in np.asarray(categories).tolist() if not is_missing(label)]


def _imputed_label(value: object) -> list[Hashable]:
    """Return the category that an imputer writes for missing ones; nothing if it is a number."""
    return [value] if isinstance(value, str) else []


def _width(transformer: Any, label: str, width: int | None) -> int:
    """Return how many columns a transformer makes."""
    if width is not None:
        return width
    try:
        return len(transformer.get_feature_names_out())
    except Exception as error:  # noqa: BLE001 (anybody's code)
        refuse(transformer, label, "does not say how many columns it makes", error)


def _trace_columns(transformer: Any, given: Given, label: str) -> Origins:
    """Return the origins of the columns of a ColumnTransformer."""
    parts = fitted(transformer, "transformers_").transformers_
    names = list(getattr(transformer, "feature_names_in_", ()))
    left, result = set(range(len(given.origins))), []
    for index, (name, part, columns) in enumerate(parts):
        if index < len(transformer.transformers):
            positions = _selected(columns, names, len(given.origins))
            left -= set(positions)
        else:
            positions, columns = sorted(left), []  # the remainder
        place = transformer.output_indices_[name]
        width = place.stop - place.start
        if not positions or not width:
            continue
        traced = _trace(part, given.of(positions, columns), f"{label}__{name}", width)
        if len(traced) != width:
            refuse(part, f"{label}__{name}", f"makes {width} columns where {len(traced)} were expected")
        result += traced
    return result


def _selected(columns: slice | int | Iterable[Any], names: list[str], n_columns: int) -> list[int]:
    """Return the positions that a column selection of a fitted ColumnTransformer stands for."""
    if isinstance(columns, slice):
        start, stop = columns.start, columns.stop
        # Slices of labels include both ends.
        start = names.index(start) if isinstance(start, str) else start
        stop = names.index(stop) + 1 if isinstance(stop, str) else stop
        return list(range(n_columns))[slice(start, stop, columns.step)]
    if isinstance(columns, str | int | np.integer):
        columns = [columns]
    columns = list(columns)
    if columns and all(isinstance(column, bool | np.bool_) for column in columns):
        return [position for position, taken in enumerate(columns) if taken]
    return [names.index(column) if isinstance(column, str) else int(column) % n_columns for column in columns]


def _own_kind(transformer: object) -> str:
    """Return the name of the scikit-learn class whose `transform` an object has; None for other libraries."""
    # A class with its own `transform` may do anything, regardless of its base classes.
    owner = next((cls for cls in type(transformer).__mro__ if "transform" in vars(cls)), object)
    return owner.__name__ if owner.__module__.split(".")[0] == "sklearn" else ""


def _trace_imputer(imputer: Any, given: Given) -> Origins:
    """Return the origins of the columns that are not empty, then of those that indicate missing values."""
    given.notes.note(given.origins, map(_imputed_label, imputer.statistics_))
    _note_stand_in(imputer, given)
    # Before 1.8, an empty column was kept if it is filled with a constant; then it also has a value here.
    kept = [n for n, value in enumerate(imputer.statistics_) if imputer.keep_empty_features or value == value]
    indicated = [] if imputer.indicator_ is None else imputer.indicator_.features_.tolist()
    filled = is_missing(imputer.missing_values)
    return [given.origins[n]._replace(filled=filled) for n in kept] + [given.origins[n].changed() for n in indicated]


def _note_stand_in(imputer: Any, given: Given) -> None:
    """Note the value that stands for missing ones: it is a category of its own, or a number unlike its neighbours."""
    value = imputer.missing_values
    if isinstance(value, str):
        given.notes.note(given.origins, [[value]] * len(given.origins))
    elif not is_missing(value):
        given.notes.note_uneven(given.origins)


def _one_hot_widths(encoder: Any) -> list[int]:
    rare = getattr(encoder, "infrequent_categories_", [None] * len(encoder.categories_))
    dropped = [None] * len(rare) if encoder.drop_idx_ is None else encoder.drop_idx_
    return [
        len(categories) - (0 if few is None else len(few) - 1) - (drop is not None)
        for categories, few, drop in zip(encoder.categories_, rare, dropped, strict=True)
    ]


def _n_targets(encoder: Any) -> int:
    return len(encoder.classes_) if encoder.target_type_ == "multiclass" else 1


def _trace_function(transformer: Any, given: Given, label: str, width: int | None) -> Origins:
    """Return the origins of what a FunctionTransformer makes, after trying it on rows."""
    function, origins = transformer.func, given.origins
    if function is None:
        return origins
    if isinstance(function, np.ufunc) and function.nin == function.nout == 1:
        return [origin.changed() for origin in origins]
    given.notes.unproven.update(column for origin in origins for column in origin.columns)
    alone, random = _alone(origins), given.rows is None
    find = given.rows or (lambda: np.random.default_rng(0).normal(0, 3, (N_PROBES, len(origins))))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            rows = find()
            made = by_rows(transformer, rows)
            apart = made is not None and (alone or _apart(transformer, rows, made, random))
    except Exception as error:  # noqa: BLE001 (anybody's code)
        if alone and random:
            return [origins[0].changed()] * _width(transformer, label, width)  # of texts or dates, say
        remedy = "; pass rows, and it is tried on them" if random else ""
        refuse(transformer, label, f"cannot be tried on rows ({type(error).__name__}: {error}){remedy}", error)
    if made is None:
        refuse(transformer, label, "gives a row different values depending on the other rows")
    if not apart:
        refuse(transformer, label, "does not turn each column into one column")
    changed = [origin.changed() for origin in origins]
    return changed[:1] * made.shape[1] if alone else changed


def _alone(origins: Origins) -> bool:
    """Return whether columns are all computed of the same ones."""
    return len({origin.columns for origin in origins}) == 1


def _apart(transformer: Transformer, rows: Shaped, made: Shaped, random: bool) -> bool:  # noqa: FBT001 (whether numbers are random)
    """Return whether the transformed rows have one column for each input column."""
    if made.shape != rows.shape:
        return False
    return by_columns(transformer, rows, made, vary=True) if random else keeps_columns_apart(transformer, rows, made)
