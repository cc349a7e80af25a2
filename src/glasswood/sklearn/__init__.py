"""Drop-ins for scikit-learn's `partial_dependence` and `PartialDependenceDisplay`: same calls, exact, faster.

    from glasswood.sklearn import PartialDependenceDisplay, partial_dependence

This package owns what scikit-learn's users see (arguments, grids, shapes, figures); the values come from `Explainer`.
The differences to scikit-learn, each with its reason, are in docs/guide/sklearn.md. `import glasswood` does not import
it.
"""

from glasswood.errors import MissingExtraError

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError as error:  # pragma: no cover (tests run with scikit-learn)
    raise MissingExtraError.of("scikit-learn", extra="sklearn", what="glasswood.sklearn") from error

from glasswood.sklearn._display import PartialDependenceDisplay
from glasswood.sklearn._function import partial_dependence

__all__ = ["PartialDependenceDisplay", "partial_dependence"]
