"""Glasswood shows what a decision-tree ensemble has learned."""

from glasswood import errors
from glasswood._ensemble import TreeEnsemble
from glasswood.readers import read_model

__all__ = ["TreeEnsemble", "errors", "read_model"]

__version__ = "0.1.0.dev0"


def __dir__() -> list[str]:
    return __all__
