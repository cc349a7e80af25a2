"""What commands are handed: how explainers are made and compared. Commands do not know these themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from glasswood.terminal._files import open_data, proved

__all__ = ["Context", "compare", "explain", "open_explainer"]


class Context(NamedTuple):
    """What the group of all commands hands to each.

    Parameters
    ----------
    explainer : callable
        `glasswood.Explainer`.
    compare : callable
        `glasswood.compare`.
    """

    explainer: Callable[..., Any]
    compare: Callable[..., Any]


def _context() -> Context:
    result: Context = click.get_current_context().obj
    return result


def explain(model: object, background: object = None, **options: Any) -> Any:
    """Return an Explainer."""
    return _context().explainer(model, background, **options)


def compare(explainers: Mapping[str, Any], **options: Any) -> Any:
    """Return a Comparison."""
    return _context().compare(explainers, **options)


def open_explainer(
    model: object, data: str, response: str | None = None, values: Mapping[str, Any] | None = None
) -> Any:
    """Return an Explainer of an opened model, with a background or rows from a file, and other settings of it.

    Files are streamed if the model is a file of its own library, and read into memory for others, such as pipelines,
    which may have to transform the rows.
    """
    background = open_data(data, in_memory=not isinstance(model, Path))
    if isinstance(background, str):  # a path
        further = [value for value in (values or {}).values() if isinstance(value, str)]
        model = proved(model, data, further).ensemble
    return explain(model, background, response=response, **(values or {}))
