"""read_model: a fitted model in, a TreeEnsemble out."""

from __future__ import annotations

from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._opened import open_model
from glasswood.tables._given import given_table

__all__ = ["read_model"]


def read_model(model: object, rows: object = None) -> TreeEnsemble:
    """Return a fitted tree ensemble as arrays that predict the same as the model, bit for bit.

    Parameters
    ----------
    model : fitted model, or path of a model file
        scikit-learn trees, forests, gradient boosting, IsolationForest and bagging of trees; XGBoost and LightGBM
        models and boosters; CatBoost; treelite models; pipelines and wrappers of scikit-learn around one of them,
        whose trees then split on the columns before the pipeline. Files: XGBoost ``.json`` and
        ``.ubj``, LightGBM ``.txt``, CatBoost ``.cbm`` and ``.json``.
    rows : table, optional
        Rows to prove it with: the raw scores of up to 100 of them are compared with the library's own. For a pipeline,
        rows before its transformers.

    Returns
    -------
    TreeEnsemble

    Raises
    ------
    UnsupportedModelError
        If the model has a part that cannot be read exactly. The message says which, and what to do.
    ModelMismatchError
        If the rows' scores differ from the library's.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> gw.read_model(GradientBoostingClassifier(n_estimators=5).fit(X, y), X)
    TreeEnsemble(sklearn GradientBoostingClassifier: 15 trees, ... leaves, 4 features, 3 outputs, score: softmax margin)
    """
    opened = open_model(model, None if rows is None else given_table(rows))
    opened.refuse_combination()
    opened.refuse_unfolded()
    opened.refuse_own(raw=True)
    return opened.ensemble
