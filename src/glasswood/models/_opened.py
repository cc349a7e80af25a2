"""open_model: the one way in for models. Whatever the user holds, as trees, and what is around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, UnsupportedModelError
from glasswood.models._combinations import Combination, read_combination
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._facts import ModelFacts, facts_of
from glasswood.models._own_predictions import OwnPredictions, compare_own, defined_by
from glasswood.models._pipelines import Unwrapped, is_wrapper, unwrap
from glasswood.models._user_columns import UserColumns, transformed
from glasswood.models.folding import fold
from glasswood.models.readers import Proof, prove, prove_all, read_unproven, refuse_own_predictions
from glasswood.tables._given import as_pandas, as_trained
from glasswood.tables._points import take
from glasswood.tables._row_columns import without_columns
from glasswood.tables._tables import n_rows, names_of, take_rows

__all__ = ["Opened", "open_model"]

Compare = Callable[[TreeEnsemble, Any, Any], Proof | None]
Inverse = Callable[[NDArray[Any]], NDArray[Any]]
NO_FACTS = ModelFacts("")
N_TRIED = 1000  # rows on which transformers are tried, and the library


@dataclass(frozen=True, eq=False)
class Opened:
    """A model, taken out of its wrappers and read. Nothing of it is the user's own object: that may be fitted again.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees; of a combination of models, those of all members.
    facts : ModelFacts
        What the user's object says of itself.
    table : table or None
        The rows that the trees take: those given, or what the transformers make of them.
    proof : Proof or None
        How the scores of rows compare with the library's; None without rows, and for combinations.
    columns : UserColumns or None
        The user's columns, if there are transformers that could not be folded into the trees.
    inverse : callable or None
        From the scores of the ensemble, on the scale of its link, to the predictions of the whole, if there is more.
    combination : Combination or None
        What a combination of models predicts.
    has_transformers : bool
        Whether the user's columns are transformed before they reach the model.
    own : OwnPredictions or None
        How predictions of a class of the user's compare with the trees; None if there is no such class.
    """

    ensemble: TreeEnsemble
    facts: ModelFacts
    table: object = None
    proof: Proof | None = None
    columns: UserColumns | None = None
    inverse: Inverse | None = None
    combination: Combination | None = None
    has_transformers: bool = False
    own: OwnPredictions | None = None

    def refuse_own(self, *, raw: bool) -> None:
        """Refuse a scale on which a class of the user's predicts otherwise than the trees, as far as is known."""
        if self.own is not None:
            otherwise = (
                "explain a model of the class that it derives from, or use glasswood.sklearn, which falls back to "
                "scikit-learn's brute force"
            )
            if not raw and self.own.raw is None and self.combination is None:
                otherwise += ', or ask for response="raw", the sum over trees'
            self.own.refuse(raw=raw, otherwise=otherwise)

    def with_margins(self) -> Opened:
        """Return the same for rows with an offset: scores are then what the library adds to it.

        This is the only place that decides what an offset takes the place of. Everything else, on any scale, starts
        from the base of the ensemble that it returns.
        """
        if self.combination is not None:
            message = f"a {self.ensemble.source} has no score that is a sum over trees, to which offset= could be added"
            raise ArgumentError(message)
        score = self.ensemble.score
        if score.margin == "unknown" and score.base.any():
            message = (
                f"a {self.ensemble.source} does not tell whether an offset is added to its base score "
                f"({', '.join(f'{base:.6g}' for base in score.base[:5].tolist())}) or replaces it, as libraries "
                "differ; pass the model of the library that it was made by"
            )
            raise ArgumentError(message)
        return replace(self, ensemble=replace(self.ensemble, score=score.without_margin))

    def refuse_combination(self) -> None:
        """Refuse a combination of models where one sum over trees is needed."""
        if self.combination is not None:
            message = (
                f"a {self.ensemble.source} has no score that is a sum over trees, so it cannot be read as "
                "one model; explain it with its rows, "
                f'Explainer(model, table, response="{self.combination.response}"), or its members one by one'
            )
            raise UnsupportedModelError(message)

    def refuse_unfolded(self) -> None:
        """Refuse a pipeline where trees that split on the user's own columns are needed."""
        if self.columns is not None:
            message = (
                f"{self.columns.reasons_text}, so the trees cannot be read with the columns before the pipeline; read "
                "those of its last step: pipeline[-1]"
            )
            raise UnsupportedModelError(message)


@dataclass(frozen=True)
class _Then:
    """One function after the other. A class, so that it can be pickled."""

    first: Inverse
    second: Inverse

    def __call__(self, scores: NDArray[Any]) -> NDArray[Any]:
        return self.second(self.first(scores))


def open_model(
    model: object,
    table: object = None,
    further: Sequence[str] = (),
    *,
    whole: bool = True,
    compare: Compare = prove,
    single: bool = False,
) -> Opened:
    """Return a model that is read, and checked on the rows at hand.

    Parameters
    ----------
    model : fitted model, path of a model file, or TreeEnsemble
    table : table, optional
        Rows of the user's.
    further : sequence of str
        Columns of the table that are not the model's, but tell groups and weights. A model that knows no names counts
        columns through, without these.
    whole : bool, default True
        Whether the table has all rows, and not just the first ones of a source.
    single : bool, default False
        Whether the numbers of the user's columns before a pipeline are float32, which matters to transformers, where
        there is no table that tells.
    compare : callable, default `prove`
        Compares the scores of the trees with the library's own: raises if they differ, or tells how far.

    Returns
    -------
    Opened

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> opened = open_model(make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=3)).fit(X, y), X)
    >>> opened.ensemble
    TreeEnsemble(sklearn DecisionTreeRegressor: 1 tree, 8 leaves, 10 features, 1 output, score: value)
    >>> opened.ensemble.feature_names[:3], opened.proof.n_equal
    (('age', 'sex', 'bmi'), 100)
    """
    if isinstance(model, TreeEnsemble):
        return Opened(model, facts_of(model), table)
    is_file = isinstance(model, str | PathLike)
    own = [] if is_file else defined_by(model)
    if own and compare is prove and whole:
        compare = prove_all  # a cap or a floor may show in few rows
    wrapped = not is_file and is_wrapper(model)
    # Transformers do not take Arrow's tables, which most sources have.
    taken = as_pandas(table) if wrapped and table is not None and not whole else table
    unwrapped = unwrap(model, taken) if wrapped else None
    if unwrapped is None or unwrapped.transform is None:
        core = model if unwrapped is None else unwrapped.model
        opened = replace(_read(core, table, further, compare), table=table)
    else:
        table = taken if table is None or unwrapped.columns is not None else without_columns(taken, further)
        rows = None if table is None or n_rows(table) == 0 else _sample_rows(table, compare)
        opened = _read(unwrapped.model, None if rows is None else transformed(unwrapped.transform, rows), (), compare)
        opened = _fold(opened, unwrapped, rows, table, whole=whole, single=single)
    opened = replace(opened, facts=facts_of(model), inverse=_after(opened.inverse, unwrapped))
    return _with_own_predictions(opened, model, own, unwrapped, table if whole else None, further) if own else opened


def _with_own_predictions(
    opened: Opened, model: object, own: list[str], unwrapped: Unwrapped | None, table: Any, further: Sequence[str]
) -> Opened:
    """Return an opened model with what is known of its own predictions, compared on all rows if they are at hand.

    If they differ, or were not compared, nothing is claimed about what the model makes of its raw scores.
    """
    tables = None
    if table is not None and n_rows(table) > 0:
        rows, schema = table, opened.ensemble.schema
        if unwrapped is not None and unwrapped.transform is not None:
            if unwrapped.columns is not None:
                rows = take_rows(table, unwrapped.schema, np.arange(n_rows(table)))
        else:
            rows = rows if schema.named else without_columns(rows, further)
            rows = take_rows(rows, schema, np.arange(n_rows(rows)))
            learns_labels = opened.ensemble.source.startswith(("lightgbm", "xgboost")) or opened.combination is not None
            rows = as_trained(rows, schema) if learns_labels else rows
        tables = as_pandas(rows), opened.table
    result = compare_own(model, own, opened.ensemble, opened.inverse, opened.combination, tables)
    known = result.response is not None and result.response.n_rows and not result.response.difference
    score = opened.ensemble.score
    if not known and opened.combination is None and score.link != "identity":
        opened = replace(opened, ensemble=replace(opened.ensemble, score=replace(score, link="unknown")))
    return replace(opened, own=result)


def _read(model: Any, table: Any, further: Sequence[str], compare: Compare) -> Opened:
    """Return a model that is in no wrapper, checked on the rows that it takes."""
    combination = None if isinstance(model, str | PathLike) else read_combination(model, table)
    if combination is not None:
        return Opened(combination.ensemble, NO_FACTS, None, None, None, combination.combine, combination)
    ensemble = read_unproven(model)
    proof = None
    if table is None or n_rows(table) == 0:
        refuse_own_predictions(model)
    else:
        proof = compare(ensemble, model, table if ensemble.schema.named else without_columns(table, further))
    return Opened(replace(ensemble, schema=ensemble.schema.named_by(names_of(table))), NO_FACTS, None, proof)


def _after(first: Inverse | None, unwrapped: Unwrapped | None) -> Inverse | None:
    """Return what is done to scores, the wrappers' part after the model's."""
    second = None if unwrapped is None else unwrapped.inverse
    return first if second is None else second if first is None else _Then(first, second)


def _sample_rows(table: Any, compare: Compare) -> Any:
    """Return some rows of a table, at even distances; all of them if a comparison of all is asked for."""
    size = n_rows(table)
    if size <= N_TRIED or compare is not prove:
        return table
    return take(table, np.linspace(0, size - 1, N_TRIED).astype(np.intp).tolist())


def _fold(opened: Opened, unwrapped: Unwrapped, rows: Any, table: Any, *, whole: bool, single: bool) -> Opened:
    """Return a model whose trees split on the user's columns, as far as transformers can be folded into them."""
    if unwrapped.transform is None:
        return opened
    folded = fold(opened.ensemble, unwrapped, rows, table if whole and rows is not None else None, single=single)
    opened = replace(opened, ensemble=folded.ensemble, table=table, has_transformers=True)
    if folded.reasons:
        names = unwrapped.schema.columns
        reasons = {names[source].name: reason for source, reason in folded.reasons.items()}
        columns = UserColumns(
            unwrapped.transform, unwrapped.columns, unwrapped.n_columns, folded.places, table, reasons
        )
        taken = None if table is None else columns.transform(table)
        opened = replace(opened, table=taken, columns=columns)
    return opened
