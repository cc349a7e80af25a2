"""Every question that an Explainer answers, as functions without arguments; and every array that an answer holds."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import glasswood as gw


def questions_of(
    ex: gw.Explainer, X: Any, names: Sequence[str], *, only: Sequence[str] | None = None
) -> dict[str, Callable[[], Any]]:
    """Return the questions about some features of an explainer, and some of its rows, by name."""
    a, b, c = names[:3]
    rows = X[:5]
    found = {
        "curve": lambda: ex.partial_dependence(a),
        "curves": lambda: ex.partial_dependence(),
        "surface": lambda: ex.partial_dependence(a, b),
        "points": lambda: ex.partial_dependence(a, b, c, at=X[[a, b, c]][:4]),
        "surfaces": lambda: ex.joint_partial_dependence()[b, c],
        "grids": lambda: dict(ex.joint_partial_dependence(grid={name: X[name][:3] for name in (a, b, c)}).grid_values),
        "interactions": lambda: ex.interaction_values(rows),
        "interactions of pairs": lambda: ex.interaction_values(rows, max_order=2),
        "banzhaf interactions": lambda: ex.evaluate(gw.metrics.BanzhafInteractions(), rows),
        "shap": lambda: ex.shap_values(rows),
        "banzhaf": lambda: ex.banzhaf_values(rows),
        "shap interactions": lambda: ex.shap_interaction_values(rows),
        "ice": lambda: ex.ice(a, rows=rows),
        "ice of the background": lambda: ex.ice(b),
        "ice at points": lambda: ex.ice(a, b, rows=rows, at=X[[a, b]][:3]),
        "importance": lambda: ex.importance(),
        "strengths": lambda: ex.interaction_strengths(),
        "strengths of rows": lambda: ex.interaction_strengths(rows),
        "monotonicity": lambda: ex.monotonicity(),
        "spikes": lambda: ex.spikes(),
        "comparison": lambda: gw.compare({"one": ex, "other": ex}),
    }
    return found if only is None else {name: found[name] for name in only}


ON_THE_RESPONSE: tuple[str, ...] = (
    "curve",
    "curves",
    "surface",
    "points",
    "surfaces",
    "ice",
    "ice of the background",
    "ice at points",
)
ON_THE_RESPONSE += ("importance", "monotonicity", "spikes", "comparison")
WITHOUT_ROWS: tuple[str, ...] = (
    "curve",
    "curves",
    "surface",
    "points",
    "surfaces",
    "grids",
    "interactions",
    "interactions of pairs",
)
WITHOUT_ROWS += ("shap", "shap interactions", "ice", "ice at points", "strengths of rows", "monotonicity", "spikes")


def arrays_in(thing: object, seen: dict[int, object] | None = None) -> Iterator[NDArray[Any]]:
    """Yield every array that can be reached from an answer: fields, properties, items, what methods return."""
    seen = {} if seen is None else seen
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, Mapping):
        for value in thing.values():
            yield from arrays_in(value, seen)
    elif isinstance(thing, list | tuple):
        for value in thing:
            yield from arrays_in(value, seen)
    elif dataclasses.is_dataclass(thing) and type(thing).__module__.startswith("glasswood"):
        for name in dir(thing):
            if not name.startswith("_"):
                yield from arrays_in(_value(thing, name), seen)


METHODS = {"mean_abs", "mean_square", "std", "matrix", "top_per_row", "blocks", "density", "find_density"}


def _value(thing: object, name: str) -> Any:
    """Return an attribute; of some methods, what they return."""
    if name == "violations" and getattr(thing, "measures", thing) is None:
        return None  # nothing was judged
    try:
        value = getattr(thing, name)
    except gw.errors.BackgroundError:  # it was not asked for
        return None
    if name not in METHODS or not callable(value):
        return value
    try:
        return list(value()) if name == "blocks" else value()
    except gw.errors.TableError as error:
        if "has changed" in str(error):
            raise
        return None  # it takes one output
    except gw.errors.BackgroundError:
        return None  # the spread of a curve of counts, or of training


def bits_of(answer: object) -> list[tuple[str, tuple[int, ...], bytes]]:
    """Return all arrays of an answer as bytes, to be compared."""
    return [(array.dtype.str, array.shape, array.tobytes()) for array in arrays_in(answer) if array.dtype != object]
