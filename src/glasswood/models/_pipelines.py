"""Models inside scikit-learn's pipelines and wrappers: the inner model, and what is around it.

Pipelines, column transformers, searches and target transformers are taken apart; the fitted transformers are called as
they are, never rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import UnsupportedModelError
from glasswood.models._column_sources import (
    Notes,
    Sources,
    fitted,
    flat_steps,
    has,
    kinds_of,
    refuse,
    trace,
)
from glasswood.models._frozen import frozen
from glasswood.tables._columns import NumberColumn
from glasswood.tables._tables import Schema
from glasswood.text._printable import how_many

__all__ = ["Chain", "Unwrapped", "is_wrapper", "unwrap", "wrappers_and_core"]

# Where a wrapper keeps the fitted model it delegates to. Thresholds only change which label is predicted.
INSIDE = {
    "BaseSearchCV": "best_estimator_",
    "FrozenEstimator": "estimator",
    "BaseThresholdClassifier": "estimator_",
    "TransformedTargetRegressor": "regressor_",
    "RFE": "estimator_",
}


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A model taken out of its wrappers.

    Parameters
    ----------
    model : object
        The fitted model at the core: anything that is not a wrapper.
    transform : Chain or None
        From the user's table to the one the core takes, in the container it was fitted on. None without transformers.
    columns : tuple of str or None
        The names of the user's columns; None if the transformers were fitted on an array. Without transformers, what
        the core calls them.
    n_columns : int
        How many columns the user's table has.
    sources : list of tuple of int
        For each column of the core, the positions of the user's columns it is computed from.
    notes : Notes
        What is known of the user's columns: categories, and which of them go through code that nobody knows.
    inverse : callable or None
        From the core's predictions to those of the whole, if the target was transformed. It takes an array of any
        shape (of several outputs: they are the last axis) and gives one of the same shape.
    """

    model: Any
    transform: Chain | None
    columns: tuple[str, ...] | None
    n_columns: int
    sources: Sources
    notes: Notes
    inverse: Callable[[NDArray[Any]], NDArray[Any]] | None

    @property
    def schema(self) -> Schema:
        """The user's columns as they are."""
        names = self.columns or tuple(f"x{column}" for column in range(self.n_columns))
        return Schema(tuple(NumberColumn(name) for name in names), named=self.columns is not None)


def is_wrapper(model: object) -> bool:
    """Return whether a model is in one of scikit-learn's pipelines or wrappers."""
    return _peel(model)[3] is not model


def wrappers_and_core(model: object) -> list[Any]:
    """Return a model's wrappers, from the outside in, and the model at the core; a bare model is its own core."""
    result: list[Any] = []
    _peel(model, result)
    return result


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
    columns = next((tuple(map(str, obj.feature_names_in_)) for obj in knowing if has(obj, "feature_names_in_")), None)
    n_columns = next((int(obj.n_features_in_) for obj in knowing if has(obj, "n_features_in_")), None)
    if n_columns is None and table is not None:  # a custom transformer that does not store it
        n_columns, columns = table.shape[1], tuple(map(str, _names(table))) or None
    if n_columns is None:
        message = (
            f"this {type(model).__name__} is not fitted, or its first step does not tell how many columns it takes; "
            "call fit first, or pass rows"
        )
        raise UnsupportedModelError(message)
    rows = None if table is None else lambda: _own_columns(table, columns)
    sources, notes = trace(steps, n_columns, rows, getattr(core, "n_features_in_", None))
    if len(sources) != getattr(core, "n_features_in_", len(sources)):
        refuse(
            steps[-1][1], steps[-1][0], f"gives {how_many(len(sources), 'column')} to a model of {core.n_features_in_}"
        )
    transform = Chain(tuple(step for _, step in steps), columns) if steps else None
    inverse = _Inverse(tuple(targets)) if targets else None
    return Unwrapped(core, transform, columns, n_columns, sources, notes, inverse)


@dataclass(frozen=True, slots=True)
class Chain:
    """Fitted transformers, one after the other. A class, so that it can be pickled."""

    steps: tuple[Any, ...]
    columns: tuple[str, ...] | None

    def __call__(self, table: object) -> Any:
        table = _own_columns(table, self.columns)
        for step in self.steps:
            table = step.transform(table)
        return table

    def only(self, selected: Iterable[int]) -> tuple[Chain, list[int]] | None:
        """Return the transformers that some transformed columns need, and the numbers of all columns that they make.

        A column transformer can be made to drop its other parts, which saves time where few columns are tried. None if
        there are other transformers.
        """
        first = self.steps[0]
        if len(self.steps) > 1 or "ColumnTransformer" not in kinds_of(first):
            return None
        selected, kept, made = set(selected), [], []
        for name, part, columns in first.transformers_:
            place = first.output_indices_[name]
            own = list(range(place.start, place.stop))
            here = bool(selected & set(own))
            kept.append((name, part if here else "drop", columns))
            made += own if here else []
        narrow = copy(first)
        narrow.transformers_ = kept
        return Chain((narrow,), self.columns), made


def _own_columns(table: Any, columns: Sequence[str] | None) -> Any:
    """Return the model's own columns of a table, in its order, which scikit-learn would not look up in all cases."""
    names, selected = _names(table), list(columns or ())
    if not selected or names == selected or not set(selected) <= set(names):
        return table
    return table.select(selected) if _is_arrow(table) else table[selected]


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


def _peel(model: Any, every: list[Any] | None = None) -> tuple[list[Any], list[tuple[str, Any]], list[Any], Any]:
    """Return the wrappers that take the user's columns, the transformers, the target's transformers, and the core.

    All wrappers and the core are added to `every`, if it is given.
    """
    outside: list[Any] = []
    steps: list[tuple[str, Any]] = []
    targets: list[Any] = []
    while True:
        if every is not None:
            every.append(model)
        kinds = kinds_of(model)
        if not steps:
            outside.append(model)
        inside = next((attribute for kind, attribute in INSIDE.items() if kind in kinds), None)
        if "Pipeline" in kinds:
            steps += flat_steps(model.steps[:-1])
            name, inner = model.steps[-1]
            if inner is None or isinstance(inner, str):
                message = f"the last step {name!r} of this pipeline is {inner!r}; there is no model to explain"
                raise UnsupportedModelError(message)
        elif inside is not None:
            inner = getattr(fitted(model, inside), inside)
        elif isinstance(getattr(model, "best_params_", None), Mapping) and has(model, "best_estimator_"):
            inner = model.best_estimator_  # searches of other libraries; some objects have every attribute
        else:
            return outside, steps, targets, model
        if "TransformedTargetRegressor" in kinds and getattr(model.transformer_, "inverse_func", True) is not None:
            targets.append(model.transformer_)
        if "RFE" in kinds:
            steps.append((type(model).__name__, model))
        model = inner


def _names(table: object) -> list[Any]:
    """Return the names of a frame's columns; Arrow's `columns` are the values."""
    return list(getattr(table, "column_names" if _is_arrow(table) else "columns", ()))


def _is_arrow(table: object) -> bool:
    return type(table).__module__.startswith("pyarrow")
