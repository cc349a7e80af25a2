"""Models inside scikit-learn's pipelines and wrappers: the inner model, and the user's columns behind its columns.

Pipelines, column transformers, searches and target transformers are taken apart; the fitted transformers are called as
they are, never rebuilt. What this file adds is where every transformed column comes from, so that a column of the
user's is a group of the model's. That is exact only if no transformed column mixes several of the user's: the
transformers that keep columns apart are listed here, everything else is refused.

scikit-learn is never imported: if one of its objects is passed, it is already loaded, and classes are found by name.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import UnsupportedModelError
from glasswood.models._frozen import frozen
from glasswood.models._probes import N_PROBES, Shaped, Transformer, by_columns, by_rows, indexer, keeps_columns_apart
from glasswood.text._printable import how_many

__all__ = ["Unwrapped", "unwrap"]

Sources = list[tuple[int, ...]]

# Where a wrapper keeps the fitted model it delegates to. Thresholds only change which label is predicted.
INSIDE = {
    "BaseSearchCV": "best_estimator_",
    "FrozenEstimator": "estimator",
    "BaseThresholdClassifier": "estimator_",
    "TransformedTargetRegressor": "regressor_",
    "RFE": "estimator_",
}
SCALERS = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "QuantileTransformer", "PowerTransformer"}
# How many columns each column becomes, for transformers that write them next to each other.
WIDTHS: dict[str, Callable[[Any], list[int]]] = {
    **dict.fromkeys({*SCALERS, "OrdinalEncoder", "Binarizer"}, lambda scaler: [1] * scaler.n_features_in_),
    "OneHotEncoder": lambda encoder: _one_hot_widths(encoder),
    "TargetEncoder": lambda encoder: [_n_targets(encoder)] * encoder.n_features_in_,
    "KBinsDiscretizer": lambda binner: [1 if binner.encode == "ordinal" else int(n) for n in binner.n_bins_],
    "SplineTransformer": lambda splines: [splines.n_features_out_ // splines.n_features_in_] * splines.n_features_in_,
}
# Positions of the columns that a transformer makes, where they are not in the order of the columns.
POSITIONS: dict[str, Callable[[Any], Any]] = {
    "SelectorMixin": lambda selector: selector.get_support(indices=True),
    "MissingIndicator": lambda indicator: indicator.features_,
    "SimpleImputer": lambda imputer: _imputed(imputer),
}


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A model taken out of its wrappers.

    Parameters
    ----------
    model : object
        The fitted model at the core: anything that is not a wrapper.
    transform : callable or None
        From the user's table to the one the core takes, in the container it was fitted on. None without transformers.
    columns : tuple of str or None
        The names of the user's columns; None if the transformers were fitted on an array. Without transformers, what
        the core calls them.
    n_columns : int
        How many columns the user's table has.
    sources : list of tuple of int
        For each column of the core, the positions of the user's columns it is computed from.
    inverse : callable or None
        From the core's predictions to those of the whole, if the target was transformed. It takes an array of any
        shape (of several outputs: they are the last axis) and gives one of the same shape.
    """

    model: Any
    transform: Callable[[Any], Any] | None
    columns: tuple[str, ...] | None
    n_columns: int
    sources: Sources
    inverse: Callable[[NDArray[Any]], NDArray[Any]] | None


def unwrap(model: object, table: Any = None) -> Unwrapped | None:
    """Take a fitted model out of scikit-learn's pipelines and wrappers; None if it is not in any.

    Parameters
    ----------
    model : object
        Any model.
    table : table, optional
        Rows of the user's. They show whether a FunctionTransformer keeps columns apart; without a table, it is tried on
        random numbers.

    Returns
    -------
    Unwrapped or None

    Raises
    ------
    UnsupportedModelError
        If a step mixes columns, if something is not fitted, or if a transformer cannot be copied.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X = np.array([["a", "x"], ["b", "x"], ["c", "y"], ["c", "x"]], dtype=object)
    >>> pipeline = make_pipeline(OneHotEncoder(), DecisionTreeRegressor()).fit(X, [1.0, 2.0, 3.0, 4.0])
    >>> unwrapped = unwrap(pipeline)
    >>> unwrapped.sources
    [(0,), (0,), (0,), (1,), (1,)]
    >>> unwrapped.model.predict(unwrapped.transform(X)).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    outside, steps, targets, core = _peel(model)
    if core is model:
        return None
    steps, targets = frozen(steps), frozen(targets)
    knowing = [*outside, *(step for _, step in steps[:1])]
    columns = next((tuple(map(str, obj.feature_names_in_)) for obj in knowing if _has(obj, "feature_names_in_")), None)
    n_columns = next((int(obj.n_features_in_) for obj in knowing if _has(obj, "n_features_in_")), None)
    if n_columns is None and table is not None:  # a custom transformer that does not store it
        n_columns, columns = table.shape[1], tuple(map(str, _names(table))) or None
    if n_columns is None:
        message = f"this {type(model).__name__} does not know its number of columns; fit it first"
        raise UnsupportedModelError(message)
    given = _Given([(column,) for column in range(n_columns)], None if table is None else lambda: _own(table, columns))
    sources = _trace_steps(steps, given, getattr(core, "n_features_in_", None))
    if len(sources) != getattr(core, "n_features_in_", len(sources)):
        _refuse(
            steps[-1][1], steps[-1][0], f"gives {how_many(len(sources), 'column')} to a model of {core.n_features_in_}"
        )
    transform = _Chain(tuple(step for _, step in steps), columns) if steps else None
    return Unwrapped(core, transform, columns, n_columns, sources, _Inverse(tuple(targets)) if targets else None)


@dataclass(frozen=True, slots=True)
class _Chain:
    """Fitted transformers, one after the other. A class, so that it can be pickled."""

    steps: tuple[Any, ...]
    columns: tuple[str, ...] | None

    def __call__(self, table: object) -> Any:
        table = _own(table, self.columns)
        for step in self.steps:
            table = step.transform(table)
        return table


def _own(table: Any, columns: Sequence[str] | None) -> Any:
    """Return the model's own columns of a table, in its order, which scikit-learn would not look up in all cases."""
    names, wanted = _names(table), list(columns or ())
    if not wanted or names == wanted or not set(wanted) <= set(names):
        return table
    return table.select(wanted) if _is_arrow(table) else table[wanted]


@dataclass(frozen=True, slots=True)
class _Inverse:
    """What was done to the target, undone. The last transformer is the innermost."""

    transformers: tuple[Any, ...]

    def __call__(self, prediction: object) -> NDArray[Any]:
        values = np.asarray(prediction)
        for transformer in reversed(self.transformers):
            flat = values.reshape(-1, getattr(transformer, "n_features_in_", 1))
            values = np.asarray(transformer.inverse_transform(flat)).reshape(values.shape)
        return values


def _peel(model: Any) -> tuple[list[Any], list[tuple[str, Any]], list[Any], Any]:
    """Return the wrappers that take the user's columns, the transformers, the target's transformers, and the core."""
    outside: list[Any] = []
    steps: list[tuple[str, Any]] = []
    targets: list[Any] = []
    while True:
        kinds = _kinds(model)
        if not steps:
            outside.append(model)
        inside = next((attribute for kind, attribute in INSIDE.items() if kind in kinds), None)
        if "Pipeline" in kinds:
            steps += _flat(model.steps[:-1])
            name, inner = model.steps[-1]
            if inner is None or isinstance(inner, str):
                message = f"the last step {name!r} of this pipeline is {inner!r}; there is no model to explain"
                raise UnsupportedModelError(message)
        elif inside is not None:
            inner = getattr(_fitted(model, inside), inside)
        elif isinstance(getattr(model, "best_params_", None), Mapping) and _has(model, "best_estimator_"):
            inner = model.best_estimator_  # searches of other libraries; some objects have every attribute
        else:
            return outside, steps, targets, model
        if "TransformedTargetRegressor" in kinds and getattr(model.transformer_, "inverse_func", True) is not None:
            targets.append(model.transformer_)
        if "RFE" in kinds:
            steps.append((type(model).__name__, model))
        model = inner


def _fitted(obj: object, attribute: str = "n_features_in_") -> Any:
    """Return an object that has an attribute that comes with being fitted."""
    if not _has(obj, attribute):
        remedy = "fit it with refit=True" if attribute == "best_estimator_" else "fit it"
        message = f"this {type(obj).__name__} has no {attribute}; {remedy} first"
        raise UnsupportedModelError(message)
    return obj


def _flat(steps: Sequence[tuple[str, Any]], label: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the transformers that are at work, those of pipelines within included."""
    for name, step in steps:
        resamples = hasattr(step, "fit_resample") and not hasattr(step, "transform")  # at work in fit only
        if "Pipeline" in _kinds(step):
            yield from _flat(step.steps, f"{label}{name}__")
        elif step is not None and not isinstance(step, str) and not resamples:
            yield label + name, step


def _kinds(obj: object) -> set[str]:
    """Return the names of the classes of scikit-learn that an object is an instance of."""
    return {cls.__name__ for cls in type(obj).__mro__ if cls.__module__.split(".")[0] == "sklearn"}


def _names(table: object) -> list[Any]:
    """Return the names of a frame's columns; Arrow's `columns` are the values."""
    return list(getattr(table, "column_names" if _is_arrow(table) else "columns", ()))


def _is_arrow(table: object) -> bool:
    return type(table).__module__.startswith("pyarrow")


def _has(obj: object, attribute: str) -> bool:
    return getattr(obj, attribute, None) is not None


def _refuse(transformer: object, label: str, why: str, cause: Exception | None = None) -> NoReturn:
    message = (
        f"the step {label!r} ({type(transformer).__name__}) {why}, so the model cannot be explained exactly in the "
        "original columns. Explain the final estimator on the transformed table instead, "
        "Explainer(pipeline[-1], pipeline[:-1].transform(X)), or use glasswood.sklearn, which falls back to "
        "scikit-learn's brute force"
    )
    raise UnsupportedModelError(message) from cause


@dataclass(frozen=True, slots=True)
class _Given:
    """What a transformer is given: columns with known sources, and rows of them if there is a table."""

    sources: Sources
    rows: Callable[[], Any] | None

    def of(self, positions: list[int], columns: object) -> _Given:
        """Return what a transformer of some columns is given; of one column that is not in a list, flat."""
        rows = self.rows
        sources = [self.sources[position] for position in positions]
        flat = isinstance(columns, str | int | np.integer) and not isinstance(columns, bool)
        index: int | list[int] = positions[0] if flat else positions
        return _Given(sources, None if rows is None else cache(lambda: indexer(rows())[:, index]))

    def after(self, transformer: Transformer, sources: Sources) -> _Given:
        """Return what the next transformer is given."""
        rows = self.rows
        return _Given(sources, None if rows is None else cache(lambda: transformer.transform(rows())))


def _trace_steps(steps: Sequence[tuple[str, Any]], given: _Given, width: int | None) -> Sources:
    """Return the sources of the columns that transformers make one after the other."""
    widths = [*(getattr(step, "n_features_in_", None) for _, step in steps), width][1:]
    for (label, step), known in zip(steps, widths, strict=True):
        given = given.after(step, _trace(step, given, label, known))
    return given.sources


def _trace(transformer: Any, given: _Given, label: str, width: int | None = None) -> Sources:
    """Return the sources of the columns that a transformer makes; `width` is their number, if known."""
    kinds, sources = _kinds(transformer), given.sources
    if isinstance(transformer, str) or transformer is None:
        return [] if transformer == "drop" else sources
    if getattr(transformer, "n_features_in_", len(sources)) != len(sources):
        _refuse(
            transformer,
            label,
            f"was fitted on {how_many(transformer.n_features_in_, 'column')}, but gets {len(sources)}",
        )
    if "FrozenEstimator" in kinds:
        return _trace(transformer.estimator, given, label, width)
    if "Pipeline" in kinds:
        return _trace_steps(list(_flat(transformer.steps, f"{label}__")), given, width)
    if "FeatureUnion" in kinds:
        parts = [_trace(part, given, f"{label}__{name}") for name, part in transformer.transformer_list]
        return [source for part in parts for source in part]
    if "ColumnTransformer" in kinds:
        return _trace_columns(transformer, given, label)
    return _trace_one(transformer, given, label, width)


def _trace_one(transformer: object, given: _Given, label: str, width: int | None) -> Sources:
    """Return the sources of the columns that a transformer without others inside makes."""
    kind, sources = _own_kind(transformer), given.sources
    if kind == "FunctionTransformer":
        return _trace_function(transformer, given, label, width)
    if kind in POSITIONS:
        return [sources[int(position)] for position in POSITIONS[kind](_fitted(transformer))]
    if kind in WIDTHS:
        widths = WIDTHS[kind](_fitted(transformer))
        return [source for source, n in zip(sources, widths, strict=True) for _ in range(n)]
    if len(set(sources)) == 1:  # nothing to mix
        return [sources[0]] * _width(transformer, label, width)
    _refuse(transformer, label, "is not known to keep columns separate")


def _width(transformer: Any, label: str, width: int | None) -> int:
    """Return how many columns a transformer makes."""
    if width is not None:
        return width
    try:
        return len(transformer.get_feature_names_out())
    except Exception as error:  # noqa: BLE001 (anybody's code)
        _refuse(transformer, label, "does not say how many columns it makes", error)


def _trace_columns(transformer: Any, given: _Given, label: str) -> Sources:
    """Return the sources of the columns of a ColumnTransformer."""
    parts = _fitted(transformer, "transformers_").transformers_
    names = list(getattr(transformer, "feature_names_in_", ()))
    left, found = set(range(len(given.sources))), []
    for index, (name, part, columns) in enumerate(parts):
        if index < len(transformer.transformers):
            positions = _selected(columns, names, len(given.sources))
            left -= set(positions)
        else:
            positions, columns = sorted(left), []  # the remainder
        place = transformer.output_indices_[name]
        width = place.stop - place.start
        if not positions or not width:
            continue
        traced = _trace(part, given.of(positions, columns), f"{label}__{name}", width)
        if len(traced) != width:
            _refuse(part, f"{label}__{name}", f"makes {width} columns where {len(traced)} were expected")
        found += traced
    return found


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


def _imputed(imputer: Any) -> list[int]:
    """Return the positions of the columns that are not empty, then of those with an indicator."""
    # Before 1.8, an empty column was kept if it is filled with a constant; then it also has a value here.
    kept = [n for n, value in enumerate(imputer.statistics_) if imputer.keep_empty_features or value == value]
    return kept + ([] if imputer.indicator_ is None else imputer.indicator_.features_.tolist())


def _one_hot_widths(encoder: Any) -> list[int]:
    rare = getattr(encoder, "infrequent_categories_", [None] * len(encoder.categories_))
    dropped = [None] * len(rare) if encoder.drop_idx_ is None else encoder.drop_idx_
    return [
        len(categories) - (0 if few is None else len(few) - 1) - (drop is not None)
        for categories, few, drop in zip(encoder.categories_, rare, dropped, strict=True)
    ]


def _n_targets(encoder: Any) -> int:
    return len(encoder.classes_) if encoder.target_type_ == "multiclass" else 1


def _trace_function(transformer: Any, given: _Given, label: str, width: int | None) -> Sources:
    """Return the sources of what a FunctionTransformer makes, after trying it on rows."""
    function, sources = transformer.func, given.sources
    if function is None or (isinstance(function, np.ufunc) and function.nin == function.nout == 1):
        return sources
    alone, random = len(set(sources)) == 1, given.rows is None
    find = given.rows or (lambda: np.random.default_rng(0).normal(0, 3, (N_PROBES, len(sources))))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            rows = find()
            made = by_rows(transformer, rows)
            apart = made is not None and (alone or _apart(transformer, rows, made, random))
    except Exception as error:  # noqa: BLE001 (anybody's code)
        if alone and random:
            return [sources[0]] * _width(transformer, label, width)  # of texts or dates, say
        remedy = "; pass rows, and it is tried on them" if random else ""
        _refuse(transformer, label, f"cannot be tried on rows ({type(error).__name__}: {error}){remedy}", error)
    if made is None:
        _refuse(transformer, label, "gives a row different values depending on the other rows")
    if not apart:
        _refuse(transformer, label, "does not turn each column into one column")
    return [sources[0]] * made.shape[1] if alone else sources


def _apart(transformer: Transformer, rows: Shaped, made: Shaped, random: bool) -> bool:  # noqa: FBT001 (whether numbers are random)
    """Return whether the transformed rows have one column for each input column."""
    if made.shape != rows.shape:
        return False
    return by_columns(transformer, rows, made, vary=True) if random else keeps_columns_apart(transformer, rows, made)
