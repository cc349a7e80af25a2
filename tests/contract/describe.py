"""Answers as plain data, by their public attributes; and how they are compared with golden ones."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import math
from collections.abc import Mapping

import numpy as np

import glasswood as gw

MAX_NUMBERS = 6  # numbers of an array that are written out; a larger one is summed up in a line
RTOL = 1e-12  # of the largest number of an answer, where numbers may be added up in several ways

RESULTS = tuple(
    getattr(gw, name)
    for name in gw.__all__
    if inspect.isclass(getattr(gw, name)) and name not in ("Ales", "Curves", "Explainer", "Grouped", "TreeEnsemble")
)

# Attributes that hold objects without a public name, and so are not part of the contract.
NOT_FROZEN = {"axis", "source", "find_rows", "find_density", "schema", "score", "core_trees", "raw_interaction", "pair"}
NOT_FROZEN |= {"fingerprint", "facts"}  # a digest of the plan, and words
NOT_FROZEN |= {"measures", "violations"}  # only of comparisons with a reference; the command line has them
NOT_FROZEN |= {"find_observations", "find_folds", "find_mean", "folds", "folds_of_log_link"}
NOT_FROZEN |= {"part", "axes", "find_left_out", "find_deviation", "find_worst"}  # of Ale, RatingTable, RowMonotonicity
WORDS = {"caveat"}  # frozen as: whether there are any

# What methods without arguments return, or with these.
METHODS = {
    "to_frame": (),
    "mean_abs": (),
    "mean_square": (),
    "std": (),
    "quantile": ([0.25, 0.5],),
    "matrix": (),
    "blocks": (2,),
    "top": (2,),
    "top_per_row": (2,),
}

# The numbers of an answer, which are all that is written of it in most settings and for most kinds of models.
NUMBERS = {
    gw.Background: ("n_rows", "total", "unit", "counts", "cells"),
    gw.Monotonicity: ("directions", "against", "at", "shares"),
    gw.Spikes: ("entries", "basis"),
    gw.Strengths: ("pairs", "values", "h", "basis"),
    gw.Comparison: ("features", "difference", "largest", "shift", "basis"),
    gw.Importance: ("names", "values"),
    gw.Curve: ("heights",),
    gw.Surface: ("values",),
    gw.Attributions: ("values", "base_values"),
    gw.HStatistics: ("names", "h", "beyond_main_effects", "beyond_pairs", "numerator", "denominator"),
    gw.PurifiedEffects: ("constant", "curves", "surfaces"),
    gw.Certificate: ("falls", "rises", "promised", "verdicts"),
    gw.RowMonotonicity: ("directions", "falling", "rising", "bounds", "shares"),
    gw.Observations: ("exposure", "observed", "predicted", "spread"),
}


def describe(answer, *, exact, full=True):
    """Return an answer as data that JSON holds: all public attributes, or the numbers only."""
    found = _described(answer, exact) if full else _numbers(answer, exact)
    return found if exact else {"compare": "close", **found}


def _described(answer, exact):
    if isinstance(answer, RESULTS):
        found = {name: _attribute(answer, name, exact) for name in public_attributes(type(answer))}
        found |= {f"{name}()": _plain(_called(answer, name), exact) for name in METHODS if hasattr(answer, name)}
        return {"type": type(answer).__name__, **found}
    if isinstance(answer, Mapping):
        return {_key(key): _plain(value, exact) for key, value in answer.items()}
    return {"value": _plain(answer, exact)}


def _numbers(answer, exact):
    if isinstance(answer, RESULTS):
        found = {name: _attribute(answer, name, exact) for name in NUMBERS.get(type(answer), ("values",))}
        outputs = [f"{list(answer.outputs)!r}, {answer.units}"] if hasattr(answer, "units") else []
        return {"type": " ".join([type(answer).__name__, *outputs]), **found}
    if isinstance(answer, Mapping):  # of curves, points or arrays
        values = [getattr(value, "heights", value) for value in answer.values()]
        array = np.concatenate([np.ravel(value) for value in values]) if values else np.empty(0)
        return {"keys": [_key(key) for key in answer], "values": _array(array, exact)}
    return {"value": _plain(answer, exact)}


def _attribute(answer, name, exact):
    try:
        value = getattr(answer, name)
        return bool(value) if name in WORDS else _plain(value, exact)
    except gw.errors.GlasswoodError as error:  # it was not asked for
        return {"error": type(error).__name__}


def _called(answer, name):
    try:
        found = getattr(answer, name)(*METHODS[name])
    except gw.errors.GlasswoodError as error:
        return {"error": type(error).__name__}
    return list(found) if name == "blocks" else found


def public_attributes(kind):
    """Return the public attributes of a class that are not methods."""
    fields = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    names = fields | {name for name in dir(kind) if not name.startswith("_")}
    return sorted(name for name in names - NOT_FROZEN if not callable(getattr(kind, name, None)))


def _key(key):
    return " x ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _plain(value, exact):
    """Return a value as data that JSON holds; numbers that are not finite, as texts."""
    if isinstance(value, RESULTS):
        return _numbers(value, exact)
    if isinstance(value, np.ndarray) or (isinstance(value, np.generic) and value.dtype.kind == "f"):
        return _array(np.asarray(value), exact)
    if isinstance(value, Mapping):
        return {_key(key): _plain(item, exact) for key, item in value.items()}
    if isinstance(value, list | tuple):
        if value and dataclasses.is_dataclass(value[0]) and not isinstance(value[0], RESULTS):  # spikes
            names = [field.name for field in dataclasses.fields(value[0])]
            return {name: _plain(np.array([getattr(item, name) for item in value]), exact) for name in names}
        return [_plain(item, exact) for item in value]
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # a frame of pandas
        return {str(name): _plain(value[name].to_numpy(), exact) for name in value.columns}
    if callable(value):  # values of rows that are listed when asked for
        return _plain(value(), exact)
    return _scalar(value.item() if isinstance(value, np.generic) else value)


def _scalar(value):
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    message = f"{value!r} has no public name, so the attribute that holds it cannot be frozen: add it to NOT_FROZEN"
    raise TypeError(message)


def _array(array, exact):
    if array.dtype.kind == "f" and array.dtype != np.float64:
        array = array.astype(np.float64)
    if array.dtype.kind in "OUST" or array.ndim == 0 or array.size <= MAX_NUMBERS:
        return _plain(array.tolist(), exact)
    return digest(array) if exact or array.dtype.kind in "iub" else sums(array)


def digest(array):
    """Return a line that tells an array from any other, and what it is like."""
    array = np.ascontiguousarray(array)
    same = array + 0 if array.dtype.kind != "b" else array  # zero has one sign
    if array.dtype.kind == "f":
        same[np.isnan(same)] = np.nan
    known = same[np.isfinite(same)] if same.size else same
    ends = f"{known.min():.6g} to {known.max():.6g}" if known.size else "none"
    size = " x ".join(map(str, array.shape))
    return f"{array.dtype.name} {size}, {ends}, sha256 {hashlib.sha256(same.tobytes()).hexdigest()[:12]}"


def sums(array):
    """Return a few numbers that tell an array from others, and are close if it is close.

    They are the least and the greatest, the mean, and the mean with weights that no two places have in common.
    """
    flat = array.ravel()
    known = np.isfinite(flat)
    weights = np.modf(np.arange(flat.size) * ((5**0.5 - 1) / 2))[0]
    values = np.where(known, flat, 0.0)
    size = " x ".join(map(str, array.shape))
    unknown = f", {int((~known).sum())} not finite" if not known.all() else ""
    numbers = [values.min(), values.max(), math.fsum(values) / flat.size, math.fsum(values * weights) / flat.size]
    return [f"{array.dtype.name} {size}{unknown}", *map(float, numbers)]


def differences(golden, found, *, close=False, size=None, path=""):
    """Yield a line for every difference between data: where, what it should be, what it is."""
    if isinstance(golden, dict) and isinstance(found, dict):
        if golden.get("compare") == "close":
            close, size = True, max(_sizes(golden), default=0.0)
        for name in [*golden, *(name for name in found if name not in golden)]:
            here = f"{path}/{name}"
            if name not in found:
                yield f"{here}: is gone"
            elif name not in golden:
                yield f"{here}: is new"
            else:
                yield from differences(golden[name], found[name], close=close, size=size, path=here)
    elif isinstance(golden, list) and isinstance(found, list) and len(golden) == len(found):
        for number, (one, other) in enumerate(zip(golden, found, strict=True)):
            yield from differences(one, other, close=close, size=size, path=f"{path}[{number}]")
    elif not _same(golden, found, RTOL * size if close and size else 0.0):
        yield f"{path}: {golden!r} became {found!r}"


def _same(golden, found, within):
    if type(golden) is not type(found):
        return False
    return golden == found or (isinstance(golden, float) and abs(golden - found) <= within)


def _sizes(data):
    """Yield the absolute values of all floats."""
    if isinstance(data, float):
        yield abs(data)
    elif isinstance(data, list | dict):
        for item in data.values() if isinstance(data, dict) else data:
            yield from _sizes(item)
