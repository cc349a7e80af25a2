"""compare: the curves of several Explainers on common cells."""

from __future__ import annotations

from collections.abc import Mapping

from glasswood._explainer import Explainer
from glasswood.errors import TableError
from glasswood.results import Comparison
from glasswood.study._comparison import compare_scopes

__all__ = ["compare"]


def compare(
    explainers: Mapping[str, Explainer], *, output: object = None, output_index: int | None = None
) -> Comparison:
    """Compare the curves of several explainers on common cells.

    The explainers have one model and different rows, to detect drift, or several models with the same outputs. Only
    features that all of them have are compared; groups, and columns of pipelines that have points only, are left out.

    Parameters
    ----------
    explainers : mapping from str to Explainer
        At least two explainers, by display name.
    output : label, optional
        The output to compare: a class or the number of a target. By default all outputs or, for binary models, the
        second class.
    output_index : int, optional
        The output to compare, by its position among the labels.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    >>> old = X["age"] > 0
    >>> drift = gw.compare({"young": gw.Explainer(model, X[~old]), "old": gw.Explainer(model, X[old])})
    >>> drift
    Comparison(young, old: 10 features, value apart by ...)
    >>> drift.to_frame().columns.tolist()
    ['feature', 'difference', 'largest', 'shift']
    >>> drift.curves("bmi")
    {'young': Curve(bmi: ...), 'old': Curve(bmi: ...)}
    >>> bool(drift.shift[drift.features.index("age")] == drift.shift.max())
    True
    """
    _check(explainers)
    scopes = {name: explainer._scope(explainer.response) for name, explainer in explainers.items()}
    return compare_scopes(scopes, output, output_index)


def _check(explainers: object) -> None:
    """Raise an error unless a mapping of Explainers is given."""
    if not isinstance(explainers, Mapping) or len(explainers) < 2:
        message = 'compare takes a mapping of at least two explainers: compare({"2020": one, "2021": other})'
        raise TableError(message)
    for name, explainer in explainers.items():
        if not isinstance(explainer, Explainer):
            message = f"{name!r} is not an Explainer, but {type(explainer).__name__}; make one: Explainer(model, rows)"
            raise TableError(message)
        if explainer._by is not None:
            message = f"{name!r} has groups of rows (by=); make an Explainer for each group, and compare these"
            raise TableError(message)
