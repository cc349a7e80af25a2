"""Combination models that answer together: voting, stacking and calibration by scikit-learn.

Their trees are put side by side in one ensemble, with the scores of the members as its outputs; what the whole makes of
these scores is a function. The function is checked against the model's own predictions before anything is explained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ModelMismatchError, UnsupportedModelError
from glasswood.models._ensemble import Score, TreeEnsemble
from glasswood.models._frozen import frozen
from glasswood.models._outputs import labels_of
from glasswood.models._pipelines import unwrap
from glasswood.models.readers import library_errors, read_proved
from glasswood.tables._given import as_pandas, as_trained
from glasswood.tables._tables import n_rows, names_of, take_rows
from glasswood.text._printable import how_many

__all__ = ["Combination", "linked", "members_of", "read_combination"]

Floats = NDArray[np.float64]
Member = Callable[[Score, Any], Floats]
"""From the raw score of a member to what the whole takes of it."""
Taken = tuple[Sequence[Any], Sequence[Member], Callable[[list[Floats]], Any]]
"""The members, what is taken of each, and what the whole makes of that."""
N_CHECKED = 100
WITHIN = 1e-6  # of float32 libraries; a function that is wrong is wrong by more
# How far scores that are added up in another order may be apart, of their size, and how far predictions then may.
ROUNDING = {"float64": 1e-15, "float32": 1e-6}
FAR = {"float64": 1e-13, "float32": 1e-6}  # after many steps
MOVED = {"float64": 1e-6, "float32": 1e-2}
TRIALS = 4  # of other last digits
NOTHING = 1e-14  # of a probability: what is left where running sums should be 0


@dataclass(frozen=True, eq=False)
class Combination:
    """Combination models, read as one.

    Parameters
    ----------
    ensemble : TreeEnsemble
        Its outputs are the scores of all members, concatenated.
    combine : callable
        From these scores, the last axis of an array, to the outputs of the whole.
    labels : tuple
        Of the outputs of the whole: all classes, of which the second is the only output if there are two; or
        "prediction".
    units : str
        What they are.
    """

    ensemble: TreeEnsemble
    combine: Callable[[Floats], Floats]
    labels: tuple[Any, ...]
    units: str

    @property
    def response(self) -> str:
        """The scale on which the whole predicts."""
        return "prediction" if self.units == "value" else "probability"


def read_combination(model: object, table: object) -> Combination | None:
    """Return a combination of models as one, or None if the model is not one."""
    kind = next((base.__name__ for base in type(model).__mro__ if base.__name__ in KINDS and _is_own(base)), None)
    if kind is None:
        return None
    if not _is_own(type(model)):
        _refuse_others(model)
    if not any(hasattr(model, name) for name in ("estimators_", "calibrated_classifiers_")):
        message = f"this {type(model).__name__} is not fitted; call fit first"
        raise UnsupportedModelError(message)
    estimators, functions, whole = KINDS[kind](model)
    read = [read_proved(_bare(estimator, table), table) for estimator in estimators]
    names = names_of(table)  # of the user's, which LightGBM changes
    members = [replace(member, schema=member.schema.named_by(names)) for member in read]
    bounds = np.cumsum([0, *(member.n_outputs for member in members)])

    together = _Together(tuple(functions), tuple(member.score for member in members), tuple(bounds.tolist()), whole)
    classes = getattr(model, "classes_", None)
    labels = ("prediction",) if classes is None else labels_of(classes)
    units = "value" if classes is None else "probability"
    dtype = "float32" if any(member.score.dtype == "float32" for member in members) else "float64"
    combine = _Steady(together, type(model).__name__, dtype) if _may_jump(model) else together
    several = Combination(_side_by_side(members, kind), combine, labels, units)
    if table is not None and n_rows(table) > 0:
        learns_labels = any(member.source.startswith(("lightgbm", "xgboost")) for member in members)
        rows = as_trained(table, several.ensemble.schema) if learns_labels else table
        _check(several, model, rows, dtype)
    return several


def members_of(model: Any) -> list[Any]:
    """Return the fitted models that a combination answers with; none for other models."""
    if not any(base.__name__ in KINDS and _is_own(base) for base in type(model).__mro__):
        return []
    calibrated = [part.estimator for part in getattr(model, "calibrated_classifiers_", ())]
    return calibrated or [*getattr(model, "estimators_", ())]


@dataclass(frozen=True, eq=False)
class _Together:
    """From the scores of all members, concatenated, to what the whole makes of them. A class, to be pickled.

    Each member has a function from its score to what the whole takes; `bounds` has where each one's scores begin.
    """

    functions: tuple[Member, ...]
    scores: tuple[Score, ...]
    bounds: tuple[int, ...]
    whole: Callable[[list[Floats]], Any]

    def __call__(self, scores: Floats) -> Floats:
        spans = zip(self.bounds[:-1], self.bounds[1:], strict=True)
        parts = [
            function(score, scores[..., first:last])
            for function, score, (first, last) in zip(self.functions, self.scores, spans, strict=True)
        ]
        return np.asarray(self.whole(parts), dtype=np.float64)


def _is_own(kind: type) -> bool:
    """Return whether a class is scikit-learn's own: others may predict in another way."""
    return kind.__module__.startswith("sklearn.")


def _refuse_others(model: object) -> NoReturn:
    within = "calibrated_classifiers_" if hasattr(model, "calibrated_classifiers_") else "estimators_"
    message = (
        f"a {type(model).__name__} combines several models in its own way, which cannot be read exactly; explain those "
        f"in its {within} one by one, or use glasswood.sklearn, which falls back to scikit-learn"
    )
    raise UnsupportedModelError(message)


def _may_jump(model: object) -> bool:
    """Return whether a combination may answer differently for members' scores that differ in the last digits only."""
    if hasattr(model, "final_estimator_"):
        return ".linear_model." not in type(model.final_estimator_).__module__
    return getattr(model, "method", None) == "isotonic"


@dataclass(frozen=True, eq=False)
class _Steady:
    """A function of scores that refuses those for which rounding decides.

    Scores of rows with other values are not added up in the order of the members' libraries, so that their last digits
    differ. A tree on top of the members may then take another branch.
    """

    function: Callable[[Floats], Floats]
    kind: str
    dtype: str

    def __call__(self, scores: Floats) -> Floats:
        result = self.function(scores)
        noise = FAR[self.dtype] * np.maximum(1.0, np.abs(scores))
        moved = max(float(np.abs(self.function(scores + sign * noise) - result).max()) for sign in (-1.0, 1.0))
        if moved > MOVED[self.dtype] * max(1.0, float(np.abs(result).max())):
            _refuse_jumps(self.kind, moved)
        return result


def _refuse_jumps(kind: str, moved: float) -> NoReturn:
    message = (
        f"the predictions of this {kind} change by {moved:.2g} if the scores of its members change in the last digit, "
        "which depends on rounding, so they cannot be explained exactly. Explain its members one by one"
    )
    raise UnsupportedModelError(message)


def _bare(estimator: object, table: object) -> Any:
    """Return a member without wrappers that change nothing."""
    unwrapped = unwrap(estimator, table)
    if unwrapped is None:
        return estimator
    if unwrapped.transform is None and unwrapped.inverse is None:
        return unwrapped.model
    message = (
        f"a member of the model is a {type(estimator).__name__} with transformers of its own; put the transformers "
        "before the whole"
    )
    raise UnsupportedModelError(message)


def _check(several: Combination, model: Any, table: object, dtype: str) -> None:
    """Refuse a combination whose own predictions are not reproduced, or hang on the last digits of scores."""
    chosen = np.unique(np.linspace(0, n_rows(table) - 1, N_CHECKED).astype(np.intp))
    rows = take_rows(table, several.ensemble.schema, chosen)
    scores = several.ensemble.predict(rows).reshape(n_rows(rows), -1).astype(np.float64)
    ours = several.combine(scores)
    noise = ROUNDING[dtype] * np.maximum(1.0, np.abs(scores))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(TRIALS, *scores.shape))
    moved = max(float(np.abs(several.combine(scores + sign * noise) - ours).max()) for sign in signs)
    scale = max(1.0, float(np.abs(ours).max()))
    if moved > MOVED[dtype] * scale:
        _refuse_jumps(type(model).__name__, moved)
    with library_errors(f"sklearn {type(model).__name__}"):
        rows = as_pandas(rows)  # scikit-learn 1.6 takes no tables of Arrow's
        theirs = model.predict(rows) if several.units == "value" else model.predict_proba(rows)
    theirs = np.asarray(theirs).reshape(len(ours), -1)[:, -ours.shape[1] :]
    if not np.allclose(ours, theirs, rtol=WITHIN, atol=WITHIN + moved):
        message = (
            f"the predictions of this {type(model).__name__} could not be reproduced (largest difference "
            f"{np.abs(ours - theirs).max():.2g}); explain its members one by one"
        )
        raise ModelMismatchError(message)


def _side_by_side(members: Sequence[TreeEnsemble], kind: str) -> TreeEnsemble:
    """Return one ensemble whose outputs are the scores of all members."""
    schema = members[0].schema
    if any(member.derived is not None for member in members):
        message = (
            f"a member of this {kind} has statistics of combinations of columns (CTRs), which is not supported; train "
            "it with max_ctr_complexity=1"
        )
        raise UnsupportedModelError(message)
    if any(member.schema.columns != schema.columns for member in members):
        message = f"the members of this {kind} do not take the same columns, or not in the same way"
        raise UnsupportedModelError(message)
    outputs = np.cumsum([0, *(member.n_outputs for member in members)])
    nodes = np.cumsum([0, *(member.n_nodes for member in members)])
    leaves = np.cumsum([0, *(member.n_leaves for member in members)])
    words = np.cumsum([0, *(member.words.size for member in members)])
    value = np.zeros((leaves[-1], outputs[-1]))
    for i, member in enumerate(members):
        place = np.maximum(member.tree_output, 0)[_tree_of_leaf(member)]
        for k in range(member.value.shape[1]):
            rows = np.arange(leaves[i], leaves[i + 1])
            value[rows, outputs[i] + place + k] = member.value[:, k] * member.score.factor

    def joined(name: str, shift: Callable[[int, NDArray[Any]], NDArray[Any]] = lambda _, array: array) -> NDArray[Any]:
        return np.concatenate([shift(i, getattr(member, name)) for i, member in enumerate(members)])

    def children(i: int, child: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.where(child >= 0, child + nodes[i], child - leaves[i]), dtype=np.int32)

    def sets(i: int, first: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.where(first >= 0, first + words[i], first), dtype=np.int32)

    score = Score(
        base=np.concatenate([member.score.constant for member in members]),
        labels=tuple(range(outputs[-1])),
        units="scores of the members",
        base_first=False,
    )
    return TreeEnsemble(
        root=joined("root", children),
        tree_output=np.full(sum(member.n_trees for member in members), -1, dtype=np.int32),
        feature=joined("feature"),
        cut=joined("cut"),
        left=joined("left", children),
        right=joined("right", children),
        missing_left=joined("missing_left"),
        unseen_left=joined("unseen_left"),
        words=joined("words"),
        category_set=joined("category_set", sets),
        value=value,
        cover=None,
        leaf_cover=None,
        schema=replace(schema),
        score=score,
        source=f"sklearn {kind} of {how_many(len(members), 'model')}",
    )


def _tree_of_leaf(e: TreeEnsemble) -> NDArray[np.int64]:
    """Return the tree of each leaf."""
    tree = np.zeros(e.n_nodes, dtype=np.int64)
    of_leaf = np.zeros(e.n_leaves, dtype=np.int64)
    level, number = e.root.astype(np.int64), np.arange(e.n_trees)
    while level.size:
        is_leaf = level < 0
        of_leaf[~level[is_leaf]] = number[is_leaf]
        inner, number = level[~is_leaf], number[~is_leaf]
        tree[inner] = number
        level = np.concatenate([e.left[inner], e.right[inner]]).astype(np.int64)
        number = np.concatenate([number, number])
    return of_leaf


# ------------------------------------------------------------------------------------ what members make of scores


def linked(score: Score, raw: object) -> Floats:
    """Return what `predict` of a regressor, or the probabilities of a classifier, are: (..., n_outputs)."""
    z = np.asarray(raw, dtype=np.float64) * (1.0 if score.link == "identity" else score.link_scale)
    if score.link == "logistic":
        return np.asarray(1 / (1 + np.exp(-z)))
    if score.link == "exp":
        return np.asarray(np.exp(z))
    if score.link == "softmax":
        powers = np.exp(z - z.max(axis=-1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))
    if score.link == "identity":
        return z
    message = f"it is not known how a member transforms its score ({score.units})"
    raise UnsupportedModelError(message)


def _probabilities(score: Score, raw: object) -> Floats:
    """Return the probabilities of all classes."""
    result = linked(score, raw)
    return np.concatenate([1 - result, result], axis=-1) if score.link == "logistic" else result


def _positive_probabilities(score: Score, raw: object) -> Floats:
    return _positive(_probabilities(score, raw))


def _raw(_: Score, raw: object) -> Floats:
    return np.asarray(raw, dtype=np.float64)


def _positive(result: Floats) -> Floats:
    """Return the probability of the positive class of two, or those of all classes of more."""
    return result[..., 1:] if result.shape[-1] == 2 else result


@dataclass(frozen=True, eq=False)
class _Vote:
    """The average of the members, by weight; of a classifier, without the first of two classes."""

    weights: tuple[float, ...] | None
    classifies: bool

    def __call__(self, parts: list[Floats]) -> Floats:
        result = np.average(parts, axis=0, weights=self.weights)
        return _positive(result) if self.classifies else np.asarray(result)


def _voting_regressor(model: Any) -> Taken:
    return model.estimators_, [linked] * len(model.estimators_), _Vote(_weights(model), classifies=False)


def _voting_classifier(model: Any) -> Taken:
    if model.voting != "soft":
        message = 'a VotingClassifier that counts votes has no probabilities; fit it with voting="soft"'
        raise UnsupportedModelError(message)
    return model.estimators_, [_probabilities] * len(model.estimators_), _Vote(_weights(model), classifies=True)


def _weights(model: Any) -> tuple[float, ...] | None:
    """Return the weights of the members that vote; some may be dropped."""
    if model.weights is None:
        return None
    pairs = zip(model.weights, model.estimators, strict=True)
    return tuple(weight for weight, (_, member) in pairs if not isinstance(member, str))


@dataclass(frozen=True, eq=False)
class _Final:
    """What the final estimator of a stack makes of its members."""

    estimator: object
    method: str
    classifies: bool

    def __call__(self, parts: list[Floats]) -> Floats:
        columns = np.concatenate(parts, axis=-1)
        answer = getattr(self.estimator, self.method)
        result = np.asarray(answer(columns.reshape(-1, columns.shape[-1]))).reshape(*columns.shape[:-1], -1)
        return _positive(result) if self.classifies else result


def _stacking(model: Any) -> Taken:
    if model.passthrough:
        kind = type(model).__name__
        message = f"this {kind} passes the original columns to its final estimator; fit it with passthrough=False"
        raise UnsupportedModelError(message)
    ways: dict[str, Member] = {"predict_proba": _positive_probabilities, "predict": linked, "decision_function": _raw}
    classifies, final = hasattr(model, "classes_"), model.final_estimator_
    method = "predict_proba" if classifies and hasattr(final, "predict_proba") else "predict"
    return model.estimators_, [ways[way] for way in model.stack_method_], _Final(frozen(final), method, classifies)


def _mean(parts: list[Floats]) -> Floats:
    return np.asarray(np.mean(parts, axis=0))


def _calibrated(model: Any) -> Taken:
    parts = model.calibrated_classifiers_
    return [part.estimator for part in parts], [_calibration(part, len(model.classes_)) for part in parts], _mean


def _calibration(part: Any, n_classes: int) -> Member:
    """Return the function from the score of one member of a CalibratedClassifierCV to calibrated probabilities."""
    by_score = hasattr(part.estimator, "decision_function")
    if getattr(part, "method", None) == "temperature":
        return (_TemperedScores if by_score else _TemperedProbabilities)(frozen(part.calibrators[0]))
    return _Calibrated(frozen(tuple(part.calibrators)), by_score, n_classes)


class _Calibrator(Protocol):
    """What scikit-learn keeps for a class of a member."""

    def predict(self, scores: Floats, /) -> Floats:
        """Return calibrated probabilities."""


@dataclass(frozen=True, eq=False)
class _Calibrated:
    """A calibrator for each class, or one for the second of two."""

    calibrators: tuple[_Calibrator, ...]
    by_score: bool
    n_classes: int

    def __call__(self, score: Score, raw: object) -> Floats:
        given = _raw(score, raw) if self.by_score else _positive_probabilities(score, raw)
        flat = given.reshape(-1, given.shape[-1])
        result = np.stack([c.predict(flat[:, k]) for k, c in enumerate(self.calibrators)], axis=-1)
        if self.n_classes > 2:
            total = result.sum(axis=1, keepdims=True)
            result = np.where(total > 0, result / np.where(total > 0, total, 1), 1 / self.n_classes)
        return np.asarray(np.clip(result, 0, 1)).reshape(*given.shape[:-1], -1)


# scikit-learn's temperature takes a whole batch for probabilities if all of its entries are between 0 and 1 and all
# rows sum to 1, and for scores otherwise. What a member gives is one of the two, so it must look like that.


@dataclass(frozen=True, eq=False)
class _TemperedScores:
    """From decision values to probabilities, of the second class if there are two."""

    calibrator: _Calibrator

    def __call__(self, score: Score, raw: object) -> Floats:
        given = _raw(score, raw)
        flat = given.reshape(-1, given.shape[-1])
        no_probabilities = np.full((1, flat.shape[1]), 2.0)
        result = np.asarray(self.calibrator.predict(np.concatenate([flat, no_probabilities])))[:-1]
        return _positive(result).reshape(*given.shape[:-1], -1)


@dataclass(frozen=True, eq=False)
class _TemperedProbabilities:
    """From a member's score to probabilities, of the second class if there are two."""

    calibrator: _Calibrator

    def __call__(self, score: Score, raw: object) -> Floats:
        given = _probabilities(score, raw)
        if given.shape[-1] == 2:
            given = np.concatenate([1 - given[..., 1:], given[..., 1:]], axis=-1)
        # Running sums may be 1 + 2e-16, or 1e-17 where the library's are 0, of which the logarithm is taken.
        given = np.where(given < NOTHING, 0.0, np.minimum(given, 1.0))
        result = np.asarray(self.calibrator.predict(given.reshape(-1, given.shape[-1])))
        return _positive(result).reshape(*given.shape[:-1], -1)


KINDS: dict[str, Callable[[Any], Taken]] = {
    "VotingRegressor": _voting_regressor,
    "VotingClassifier": _voting_classifier,
    "StackingRegressor": _stacking,
    "StackingClassifier": _stacking,
    "CalibratedClassifierCV": _calibrated,
}
