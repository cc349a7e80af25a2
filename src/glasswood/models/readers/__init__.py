"""One file per model library: ``read(model)`` gives a TreeEnsemble with the same predictions, bit for bit."""

from glasswood.models.readers._dispatch import (
    Proof,
    library_errors,
    mean_depth,
    measure,
    own_methods,
    prove,
    prove_all,
    read_proved,
    read_unproven,
    refuse_own_predictions,
)

__all__ = [
    "Proof",
    "library_errors",
    "mean_depth",
    "measure",
    "own_methods",
    "prove",
    "prove_all",
    "read_proved",
    "read_unproven",
    "refuse_own_predictions",
]
