"""Encoders of skrub and category_encoders: which of their inputs each column that they make comes from.

Neither library is imported; their fitted objects say what they did.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from glasswood.tables._columns import is_missing

__all__ = ["Encoded", "trace_category_encoder", "trace_skrub"]


class Encoded(NamedTuple):
    """What a fitted encoder did.

    `positions` has the position of the input of each output; `labels` the categories that are known of some inputs.
    """

    positions: list[int]
    labels: dict[int, list[Hashable]]


def trace_skrub(transformer: Any) -> Encoded | None:
    """Return what one of skrub's transformers of tables did; None for other objects.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> trace_skrub(StandardScaler()) is None
    True
    """
    if not _is_from(transformer, "skrub") or not hasattr(transformer, "output_to_input_"):
        return None
    names = list(transformer.feature_names_in_)
    labels = {}
    for name, steps in transformer.all_processing_steps_.items():
        known = [step.categories_[0] for step in steps if hasattr(step, "categories_")]
        if known:
            labels[names.index(name)] = _without_missing(known[0].tolist())
    return Encoded([names.index(transformer.output_to_input_[name]) for name in transformer.all_outputs_], labels)


def trace_category_encoder(transformer: Any) -> Encoded | None:
    """Return what one of category_encoders' encoders did; None for other objects, and where that is not known.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> trace_category_encoder(StandardScaler()) is None
    True
    """
    if not _is_from(transformer, "category_encoders") or not hasattr(transformer, "cols"):
        return None
    names, cols = [str(name) for name in transformer.feature_names_in_], list(transformer.cols or ())
    made = _made_columns(transformer)
    place = {name: number for number, name in enumerate(names) if name not in made}
    place |= {str(output): names.index(str(name)) for name, outputs in made.items() for output in outputs}
    outputs = [str(name) for name in transformer.get_feature_names_out()]
    if any(output not in place for output in outputs):
        return None
    labels = {names.index(str(name)): _without_missing(_labels(transformer, name)) for name in cols}
    return Encoded([place[output] for output in outputs], {k: result for k, result in labels.items() if result})


def _is_from(obj: object, package: str) -> bool:
    return type(obj).__module__.partition(".")[0] == package


def _without_missing(labels: Iterable[Hashable]) -> list[Hashable]:
    return [label for label in labels if not is_missing(label)]


def _mapping(encoder: Any) -> list[dict[str, Any]]:
    """Return what an encoder keeps of each column."""
    inner = getattr(encoder, "base_n_encoder", encoder)
    result = getattr(inner, "mapping", None)
    return [entry for entry in result if isinstance(entry, dict) and "col" in entry] if isinstance(result, list) else []


def _made_columns(encoder: Any) -> dict[str, list[Any]]:
    """Return the columns that are made of one, where they are several."""
    frames = {str(entry["col"]): entry["mapping"] for entry in _mapping(encoder)}
    return {name: list(frame.columns) for name, frame in frames.items() if getattr(frame, "ndim", 1) == 2}


def _labels(encoder: Any, name: object) -> list[Hashable]:
    """Return the categories of a column, which most encoders number first."""
    for inner in (getattr(encoder, "ordinal_encoder", None), getattr(encoder, "base_n_encoder", None), encoder):
        inner = getattr(inner, "ordinal_encoder", None) or inner
        for entry in _mapping(inner) if inner is not None else []:
            if entry["col"] == name and getattr(entry["mapping"], "ndim", 0) == 1:
                return list(entry["mapping"].index.tolist())
    sums = getattr(encoder, "mapping", None)  # of the target, with a line for each category
    return list(sums[name].index.tolist()) if isinstance(sums, dict) and name in sums else []
