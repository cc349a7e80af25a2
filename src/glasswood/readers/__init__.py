"""One file per model library: ``read(model)`` gives a TreeEnsemble with the same predictions, bit for bit."""

from glasswood.readers._read import prove, read_model

__all__ = ["prove", "read_model"]
