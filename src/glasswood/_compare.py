"""compare: the curves of several Explainers on common cells."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from numbers import Real
from os import PathLike

from glasswood._explainer import Explainer
from glasswood.errors import ArgumentError, TableError
from glasswood.parallel._threads import threads_limited_to
from glasswood.questions.drift import Comparison, compare_views, measures_of, rules_of
from glasswood.study._view import View

__all__ = ["compare"]


def compare(
    explainers: Mapping[str, Explainer],
    *,
    output: object = None,
    reference: str | None = None,
    limits: Mapping[str, float] | Sequence[str] | PathLike[str] | None = None,
    error: float | None = None,
) -> Comparison:
    """Compare the curves of several explainers on common cells, and judge them by limits if asked to.

    The explainers have one model and different rows, to detect drift, or several models with the same outputs. Only
    features that all of them have are compared; groups, and columns of pipelines that have points only, are left out.

    Parameters
    ----------
    explainers : mapping from str to Explainer
        At least two explainers, by display name.
    output : label, optional
        The output to compare: a class or the number of a target. By default all outputs or, for binary models, the
        second class.
    reference : str, optional
        The name of the explainer that all others are measured against; the result then has `Comparison.measures` and
        `Comparison.violations`. By default the first one if there are limits.
    limits : mapping, sequence of str or Path, optional
        Limits of measures: ``{"psi": 0.2, "age: psi": 0.3}``, rules such as ``["psi > 0.2", "city_*: psi > 0.3"]``, or
        the path of a file with one rule per line. By default, if there is a reference, those of the table below. A rule
        is ``[feature:] measure (> >= < <=) number``; the last colon divides. In the name of a feature, ``*`` stands for
        any text and ``?`` for any character. A rule for a feature replaces a rule for a pattern, and that the rule for
        all features, on the same side of the same measure. What cannot be judged is an error.
    error : float, optional
        A limit counts as exceeded only if the value is beyond it by more than this many standard errors, for example 2.
        By default, the value alone decides. All explainers must have folds: ``Explainer(..., folds=20)``.

    Returns
    -------
    Comparison

    Warns
    -----
    UserWarning
        If "psi" is judged and an explainer has fewer than 500 rows.

    Notes
    -----
    =============  =================  =======  =====================================================================
    measure        of each            default  definition
    =============  =================  =======  =====================================================================
    `psi`          feature            > 0.2    population stability index: the sum of (p - q) log(p / q) over bins
    `difference`   feature, output    > 0.1    mean over rows of the distance of the centred curves / s
    `largest`      feature, output    > 0.5    the same where it is largest / s
    `level`        output             > 0.2    distance of the mean scores / s
    `ndcg`         model              < 0.9    agreement of the order of importances, 1 if it is the same
    `observed`     output             > 0.05   distance of actual/expected from 1, over all rows; needs ``target=``
    `missing`      feature            > 0.02   share of missing values minus the reference's
    `unseen`       feature            > 0.02   share of categories unknown to the model minus the reference's
    =============  =================  =======  =====================================================================

    p and q are the shares of the rows of the reference and of the other explainer in a bin, at least 0.0001. Bins are
    ten with about the same number of the reference's rows, or categories; missing values are a bin. If both have the
    same distribution, its mean is about (bins - 1) (1 / n + 1 / m) for n and m rows: `Measured.chance`.

    s is the standard deviation of the scores of the reference. A saved Background knows it if it was made with
    ``summarize(..., response=...)`` on the same scale (``response="raw"`` for the raw score). `largest` looks at cells
    with at least 0.5 % of the rows of both; smaller ones are joined with their neighbours and count with their mean.

    `ndcg` is sum_r a(r) / log2(r + 1), where a(r) is the reference's importance of the feature at rank r of the other
    explainer's importances, divided by the same sum in the reference's own order [1]_. It hardly reacts if features of
    similar importance swap their ranks. Importance is that of curves here (``kind="main"``), as counts have it.

    If the rows of both are counted in folds, values have a standard error (`Measured.error`): how much they would
    differ with other rows of the same kind, by a jackknife that leaves out one fold of one of them at a time. The
    squares of both are added, which assumes that they have different rows. s and the bins of psi stay as they are.
    `largest` and `ndcg` are a maximum and a comparison of ranks, to which a jackknife does not apply: they have no
    error and are judged by their values. Of different models, only `observed` has one.

    `observed` is ``abs(sum(w y) / sum(w m) - 1)`` over all rows of the explainer itself, with weights w, targets y and
    predictions m on the scale of `predict` and `predict_proba` (see `Observations`); the reference has no part in it.
    It is for targets that are positive on average. Without `limits`, it is judged for those explainers that have a
    target.

    Different models have `difference`, `largest`, `ndcg` and `observed` only. Features that the model does not use are
    not judged.

    References
    ----------
    .. [1] K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM Transactions on
       Information Systems 20 (2002).

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

    Limits: the ages have changed, and the result says so.

    >>> import warnings
    >>> warnings.simplefilter("ignore")  # fewer than 500 rows
    >>> judged = gw.compare({"all": gw.Explainer(model, X), "old": gw.Explainer(model, X[old])}, limits={"psi": 0.5})
    >>> judged.violations
    Violations(1 of 10 values: old: age psi ... (limit 0.5, ... by chance))
    >>> if judged.violations:
    ...     print("the rows have drifted")
    the rows have drifted
    """
    _check(explainers)
    views = _views(explainers, output)
    _check_error(error, judged=reference is not None or limits is not None)
    if reference is None and limits is None:
        with _limited(explainers):
            return compare_views(views)
    rules = None if limits is None else rules_of(limits)
    against = _reference_of(list(map(str, explainers)), reference)
    named = {str(name): view for name, view in views.items()}
    with _limited(explainers):
        comparison = compare_views(views)
        measures = measures_of(named, comparison, against, rules, error)
    if measures.caveat:
        warnings.warn(measures.caveat, UserWarning, stacklevel=2)
    return replace(comparison, measures=measures)


def _views(explainers: Mapping[str, Explainer], output: object) -> dict[str, View]:
    """Return what is compared: of all on their scales, or where these differ, scores in place of default scales."""
    views = {name: one._view(None, output) for name, one in explainers.items()}
    if len({view.units for view in views.values()}) == 1:
        return views
    fixed = {name for name, one in explainers.items() if one._response or views[name].study.combined}
    return {name: view if name in fixed else explainers[name]._view("raw", output) for name, view in views.items()}


def _limited(explainers: Mapping[str, Explainer]) -> AbstractContextManager[None]:
    """Return a block whose threads are limited to the smallest of the explainers' limits."""
    return threads_limited_to(
        min(filter(None, (explainer._threads for explainer in explainers.values())), default=None)
    )


def _check(explainers: object) -> None:
    """Raise an error unless a mapping of Explainers is given."""
    if not isinstance(explainers, Mapping) or len(explainers) < 2:
        message = 'compare takes a mapping of at least two explainers: compare({"2020": one, "2021": other})'
        raise TableError(message)
    for name, explainer in explainers.items():
        if not isinstance(explainer, Explainer):
            message = f"{name!r} is not an Explainer, but {type(explainer).__name__}; make one: Explainer(model, rows)"
            raise TableError(message)


def _check_error(error: object, *, judged: bool) -> None:
    """Raise an error unless a margin is None, or a number for limits."""
    if error is None:
        return
    if isinstance(error, bool) or not isinstance(error, Real) or not 0 <= float(error) < math.inf:
        message = f"error= is a number of standard errors, such as 2, not {error!r}"
        raise ArgumentError(message)
    if not judged:
        message = "error= is about limits; pass reference= or limits=, too"
        raise ArgumentError(message)


def _reference_of(names: list[str], reference: str | None) -> str:
    """Return the name of the reference, the first one by default."""
    if len(set(names)) < len(names):
        message = f"explainers that are measured against a reference need different names, not {', '.join(names)}"
        raise ArgumentError(message)
    if reference is None:
        return names[0]
    if reference not in names:
        message = f"reference= names one of the explainers ({', '.join(map(repr, names))}), not {reference!r}"
        raise ArgumentError(message)
    return reference
