"""open_model: the one way in for models. Whatever the user holds, as trees, and what is around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from glasswood.errors import UnsupportedModelError
from glasswood.models._combinations import Combination, read_combination
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._facts import ModelFacts, facts_of
from glasswood.models._pipelines import Unwrapped, unwrap
from glasswood.models._user_columns import UserColumns
from glasswood.models.readers import Proof, prove, read_unproven, refuse_own_predictions
from glasswood.tables._row_columns import without_columns
from glasswood.tables._tables import n_rows

__all__ = ["Opened", "open_model"]

Compare = Callable[[TreeEnsemble, Any, Any], Proof | None]
Inverse = Callable[[NDArray[Any]], NDArray[Any]]


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
        The user's columns, if there are transformers before the model.
    inverse : callable or None
        From the scores of the ensemble, on the scale of its link, to the predictions of the whole, if there is more.
    combination : Combination or None
        What a combination of models predicts.
    """

    ensemble: TreeEnsemble
    facts: ModelFacts
    table: object = None
    proof: Proof | None = None
    columns: UserColumns | None = None
    inverse: Inverse | None = None
    combination: Combination | None = None

    def refuse_combination(self) -> None:
        """Refuse a combination of models where one sum over trees is needed."""
        if self.combination is not None:
            message = (
                f"a {self.ensemble.source} has no score that is a sum over trees, so it cannot be read as "
                "one model; explain it with its rows, "
                f'Explainer(model, table, response="{self.combination.response}"), or its members one by one'
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
    model: object, table: object = None, further: Sequence[str] = (), *, whole: bool = True, compare: Compare = prove
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
        Whether the table has all rows. Transformers need them; the first rows of a source will not do.
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
    >>> opened.columns.names[:3], opened.proof.n_equal
    (('age', 'sex', 'bmi'), 100)
    """
    facts = facts_of(model)
    if isinstance(model, TreeEnsemble):
        return Opened(model, facts, table)
    columns, inverse = None, None
    unwrapped = None if isinstance(model, str | PathLike) else unwrap(model, table if whole else None)
    if unwrapped is not None:
        model, inverse = unwrapped.model, unwrapped.inverse
        columns = _user_columns(unwrapped, table, whole=whole)
        table = table if columns is None or table is None else columns.transform(table)
    combination = None if isinstance(model, str | PathLike) else read_combination(model, table)
    if combination is not None:
        combine: Inverse = combination.combine if inverse is None else _Then(combination.combine, inverse)
        return Opened(combination.ensemble, facts, table, None, columns, combine, combination)
    ensemble = read_unproven(model)
    proof = None
    if table is None or n_rows(table) == 0:
        refuse_own_predictions(model)
    else:
        proof = compare(ensemble, model, table if ensemble.schema.named else without_columns(table, further))
    return Opened(ensemble, facts, table, proof, columns, inverse)


def _user_columns(unwrapped: Unwrapped, table: object, *, whole: bool) -> UserColumns | None:
    """Return the user's columns, if there are transformers."""
    if unwrapped.transform is None:
        return None
    if not whole:
        message = (
            "a pipeline transforms tables in memory; transform the data first, and explain the model in its last "
            "step, or pass a table (for example, a sample of the rows)"
        )
        raise UnsupportedModelError(message)
    return UserColumns(unwrapped.transform, unwrapped.columns, unwrapped.n_columns, unwrapped.sources, table)
