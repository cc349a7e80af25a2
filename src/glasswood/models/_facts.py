"""What a fitted model says of itself: its class, the steps before it, and its parameters. For people, as texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

__all__ = ["ModelFacts", "facts_of"]

LONGEST = 200  # characters of a value


@dataclass(frozen=True)
class ModelFacts:
    """What is known of the object that the user passed.

    Parameters
    ----------
    kind : str
        The class, or the name of the file.
    steps : tuple of str
        The classes of a pipeline's steps, the model itself last; empty if it is not a pipeline.
    parameters : dict from str to str
        Those that `get_params` gives, without nested estimators and without those that are None.
    """

    kind: str
    steps: tuple[str, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict)


def facts_of(model: object) -> ModelFacts:
    """Return what a model, or the path of one, says of itself.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> facts = facts_of(RandomForestRegressor(7))
    >>> facts.kind, facts.parameters["n_estimators"], "max_depth" in facts.parameters
    ('RandomForestRegressor', '7', False)
    """
    if isinstance(model, str | PathLike):
        return ModelFacts(f"file {Path(model).name}")
    return ModelFacts(type(model).__name__, _steps(model), _parameters(model))


def _steps(model: object) -> tuple[str, ...]:
    steps = getattr(model, "steps", None)
    if not isinstance(steps, list) or not all(isinstance(step, tuple) and len(step) == 2 for step in steps):
        return ()
    return tuple(type(step).__name__ for _, step in steps if step is not None and not isinstance(step, str))


def _parameters(model: Any) -> dict[str, str]:
    """Return the parameters of a model as strings; none if it does not report them, or fails to."""
    if isinstance(model, type) or not callable(getattr(model, "get_params", None)):
        return {}
    try:
        result = dict(model.get_params())
        return {str(name): _text(value) for name, value in sorted(result.items()) if _is_plain(value)}
    except Exception:  # noqa: BLE001 (methods of others: a report does not fail for want of parameters)
        return {}


def _is_plain(value: object) -> bool:
    """Return whether a parameter is a value, and not an estimator whose own parameters are listed besides."""
    if value is None or hasattr(value, "get_params"):
        return False
    parts = value if isinstance(value, list | tuple) else ()
    return not any(
        hasattr(part, "get_params") for item in parts for part in (item if isinstance(item, tuple) else (item,))
    )


def _text(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
