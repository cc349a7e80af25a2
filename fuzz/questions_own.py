"""Questions about models whose class predicts in its own way: answers are the model's own, or refused."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import glasswood as gw
from fuzz.session import Session
from fuzz.streams import pick

__all__ = ["QUESTIONS"]


def own_predictions(s: Session) -> None:
    """A subclass that predicts the same is explained, and one that predicts otherwise is refused on that scale."""
    fitted = s.setting.fitted
    estimator = fitted.model
    response = "probability" if "probability" in fitted.responses else "prediction"
    known = response in fitted.responses and not isinstance(estimator, str) and s.setting.labels != (0,)
    if not known or fitted.pipeline or not len(s.setting.background) or not s.singles:
        return
    change = pick(s.rng, ["same", "scaled", "capped"])
    method = "predict" if response == "prediction" else "predict_proba"
    if not hasattr(estimator, method) or s.case["model"]["maker"] == "wrapper":
        return
    model = _subclassed(estimator, method, change)
    settings = {"groups": s.setting.groups, "sample_weight": s.setting.weight, "response": response}
    now = np.asarray(fitted.responses[response](s.setting.background))
    about = slice(1, None) if now.ndim == 2 and now.shape[1] == 2 and method == "predict_proba" else slice(None)
    differs = not np.allclose(_CHANGES[change](now)[:, about], now[:, about], rtol=1e-3, atol=0)  # of the second class
    try:
        ex = gw.Explainer(model, s.setting.table, **settings)
        curve = ex.partial_dependence(s.singles[0].name)
    except gw.errors.ModelMismatchError:
        s.true(f"{change} predictions are refused only if they differ", change != "same")
        return
    s.true(f"{change} predictions that differ are refused", not differs)
    if change == "same":
        points = s.points(list(s.singles[0].columns), 6)
        plain = s.setting.explainer(response=response).partial_dependence(s.singles[0].name)
        values = s.values(points[s.singles[0].columns[0]])
        s.equal("the same curve", curve(values), plain(values))


_CHANGES: dict[str, Any] = {
    "same": lambda found: found,
    "scaled": lambda found: found * 0.5,
    "capped": lambda found: np.minimum(found, np.mean(found)),
}


def _subclassed(model: Any, method: str, change: str) -> Any:
    """Return a copy of a model, of a class of this module that predicts in its own way."""
    base = type(model)

    def predict(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _CHANGES[change](np.asarray(getattr(base, method)(self, *args, **kwargs)))

    changed = copy.copy(model)
    changed.__class__ = type(f"Own{base.__name__}", (base,), {method: predict, "__module__": __name__})
    return changed


QUESTIONS = (own_predictions,)
