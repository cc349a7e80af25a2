"""Finds the reader of a model, and proves on the user's rows that it was read right."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import GlasswoodError, MissingExtraError, ModelMismatchError, TableError, UnsupportedModelError
from glasswood.models._ensemble import TreeEnsemble
from glasswood.tables._given import as_trained, given_table
from glasswood.tables._tables import n_rows, take_rows

__all__ = [
    "Proof",
    "check",
    "library_errors",
    "mean_depth",
    "measure",
    "own_methods",
    "prove",
    "prove_all",
    "read_proved",
    "read_unproven",
    "refuse_own_predictions",
    "refusing_damage",
]

CHECKED_ROWS = 100

# The first of a model's classes that comes from one of these packages decides. None of them is imported for that.
READER_OF_PACKAGE = {
    "xgboost": "_xgboost",
    "lightgbm": "_lightgbm",
    "catboost": "_catboost",
    "treelite": "_treelite",
    "cuml": "_treelite",
    "sklearn": "_sklearn",
}

# Readers of libraries that learn the labels of pandas' categories, and take no other form of them.
LEARN_LABELS = ("_lightgbm", "_xgboost")

KNOWN_PACKAGES = {*READER_OF_PACKAGE, "builtins", "imblearn"}  # whose pipelines predict as scikit-learn's
PREDICTIONS = ("predict", "predict_proba", "decision_function", "score_samples", "_raw_predict")

# These patch scikit-learn's forests. Some of their predictions compare in float64, others in float32.
PATCHES = ("sklearnex", "daal4py", "onedal")

# What a JSON model of CatBoost may begin with: it sorts the parts by name, and the counts of categories are long.
PARTS_OF_CATBOOST = ("ctr_data", "features_info", "oblivious_trees")


# What parsers raise when content is not what it should be.
DAMAGE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
LONGEST_MESSAGE = 1000  # characters


class Reader(Protocol):
    """What each file of this package offers, as functions."""

    __name__: str

    def read(self, model: object) -> TreeEnsemble:
        """Return a fitted model as arrays."""

    def raw_score(self, model: object, table: object) -> NDArray[np.floating[Any]]:
        """Return the raw score that the library itself gives."""

    def read_file(self, path: Path) -> TreeEnsemble:
        """Return a model file as arrays."""

    def load_file(self, path: Path) -> Any:
        """Return a model file as a model of its library."""


def read_proved(model: object, rows: object = None) -> TreeEnsemble:
    """Return a model of one library, or the path of one, as arrays, proved on rows if there are any."""
    ensemble = read_unproven(model)
    if rows is None:
        refuse_own_predictions(model)
    else:
        prove(ensemble, model, rows)
    return ensemble


@contextmanager
def refusing_damage(what: str) -> Iterator[None]:
    """Turn what damaged content makes parsers raise into a refusal that names the model or file."""
    try:
        yield
    except GlasswoodError as error:
        if len(str(error)) <= LONGEST_MESSAGE:
            raise
        raise type(error)(f"{str(error)[:LONGEST_MESSAGE]}...") from error  # some quote the file at length
    except DAMAGE as error:
        details = " ".join(str(error).split())[:200]
        message = (
            f"{what} is damaged, or it has parts that Glasswood does not know ({type(error).__name__}: {details}). "
            "Save or fit the model again; if its own library does predict with it, please report it"
        )
        raise UnsupportedModelError(message) from error


def read_unproven(model: object) -> TreeEnsemble:
    """Return a model as arrays; the caller proves it with rows, or calls `refuse_own_predictions`."""
    if isinstance(model, str | PathLike):
        path = Path(model)
        reader = _reader_of_file(path)
        with refusing_damage(f"the model file {path.name!r}"):
            return reader.read_file(path)
    reader = _reader_of(model)
    with refusing_damage(f"the {type(model).__name__}"):
        return reader.read(model)


def refuse_own_predictions(model: object) -> None:
    """Raise if a class of another package predicts in its own way, where there are no rows to prove the reading."""
    for method in own_methods(model):
        owner, _, name = method.rpartition(".")
        message = (
            f"{owner} defines its own {name}, which may differ from the sum of the trees; pass rows, so that the "
            "scores can be compared"
        )
        raise UnsupportedModelError(message)


def own_methods(model: object) -> list[str]:
    """Return the methods with which a class outside the known packages, or the object itself, predicts.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> class Tree(DecisionTreeRegressor):
    ...     def predict(self, X):
    ...         return super().predict(X).clip(0)
    >>> [method.rpartition(".")[2] for method in own_methods(Tree())], own_methods(DecisionTreeRegressor())
    (['predict'], [])
    """
    own = [f"{type(model).__qualname__}.{name}" for name in PREDICTIONS if name in getattr(model, "__dict__", {})]
    parents = type(model).__mro__
    known = [parent for parent in parents if parent.__module__.partition(".")[0] in KNOWN_PACKAGES]
    for parent in parents:
        if parent not in known:
            names = [name for name, value in vars(parent).items() if _predicts(name, value, known)]
            own += [f"{parent.__module__}.{parent.__qualname__}.{name}" for name in names]
    return own


def _predicts(name: str, value: object, known: Sequence[type]) -> bool:
    """Return whether an attribute of a class is a method that predicts, or takes the place of one that does."""
    replaces = "predict" in name and any(hasattr(parent, name) for parent in known)
    return (name in PREDICTIONS or replaces) and hasattr(value, "__get__")


class Proof(NamedTuple):
    """How the scores of the rebuilt trees compare with the library's own."""

    n_rows: int
    n_scores: int
    n_equal: int
    largest: float
    margin: float

    @property
    def passed(self) -> bool:
        """Whether no difference is larger than sums in another order explain."""
        return self.largest <= self.margin


def measure(ensemble: TreeEnsemble, model: object, rows: object) -> Proof:
    """Return how the scores of all rows compare with those of a model, or of the model in a file."""
    rows = given_table(rows)
    return _compare(ensemble, *_scores(ensemble, _loaded(model), take_rows(rows, ensemble.schema, _all(rows))))


def prove(ensemble: TreeEnsemble, model: object, rows: object) -> Proof | None:
    """Raise ModelMismatchError unless the ensemble gives the raw scores of the model, or of the model in the file."""
    return check(ensemble, _loaded(model), rows)


def prove_all(ensemble: TreeEnsemble, model: object, rows: object) -> Proof | None:
    """Raise ModelMismatchError unless the ensemble gives the model's own raw scores on all rows."""
    return check(ensemble, _loaded(model), rows, None)


def check(ensemble: TreeEnsemble, model: object, rows: object, max_: int | None = CHECKED_ROWS) -> Proof | None:
    """Raise ModelMismatchError unless the ensemble gives the model's own raw scores on some rows, or on all."""
    rows = given_table(rows)
    if n_rows(rows) == 0:
        return None
    chosen: NDArray[np.intp] = np.unique(np.linspace(0, n_rows(rows) - 1, max_ or n_rows(rows)).astype(np.intp))
    ours, theirs = _scores(ensemble, model, take_rows(rows, ensemble.schema, chosen))
    proof = _compare(ensemble, ours, theirs)
    if not proof.passed:
        difference = np.abs(ours.astype(np.float64) - theirs)
        at = np.unravel_index(int(np.nan_to_num(difference, nan=np.inf).argmax()), difference.shape)
        wrong = ~(difference <= proof.margin)
        own = own_methods(model)
        advice = "Please report the model's type and the versions of its library and of Glasswood."
        if own:
            advice = f"{own[0]} predicts in its own way; explain a model of the class that it derives from."
        message = (
            f"the trees read from {ensemble.source} do not reproduce the model: {wrong.sum()} of {wrong.size} raw "
            f"scores differ, the worst by {difference[at]:.6g} (computed {ours[at]:.9g}, the library returns "
            f"{theirs[at]:.9g}, row {chosen[at[0]]}). Glasswood will not explain a model that it cannot reproduce. "
            f"{advice}"
        )
        raise ModelMismatchError(message)
    return proof


def mean_depth(samples: NDArray[Any], forest: object) -> NDArray[np.floating[Any]]:
    """Return the mean depth of rows, given what `score_samples` of an isolation forest returns."""
    result: NDArray[np.floating[Any]] = cast(Any, _import("_sklearn")).mean_depth(samples, forest)
    return result


def _loaded(model: object) -> Any:
    """Return a model of its library, given one or the path of a file."""
    if not isinstance(model, str | PathLike):
        return model
    path = Path(model)
    reader = _reader_of_file(path)
    try:
        return reader.load_file(path)
    except GlasswoodError:
        raise
    except Exception as error:
        details = " ".join(str(error).split())[:200]
        message = f"the model's own library cannot read {path.name!r} ({type(error).__name__}: {details})"
        raise UnsupportedModelError(message) from error


def _all(rows: object) -> NDArray[np.intp]:
    return np.arange(n_rows(rows))


def _scores(ensemble: TreeEnsemble, model: object, rows: object) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the raw scores of the rebuilt trees and of the library, in the same shape."""
    ours = ensemble.predict(rows)
    reader = _reader_of(model)
    if reader.__name__.rpartition(".")[2] in LEARN_LABELS:
        rows = as_trained(rows, ensemble.schema)
    with library_errors(ensemble.source):
        theirs = reader.raw_score(model, rows)
    theirs = np.asarray(theirs)
    if theirs.size != ours.size:
        message = (
            f"{type(model).__module__}.{type(model).__qualname__} returns predictions of shape {theirs.shape} where "
            f"its trees give {ours.shape}, so it predicts in its own way, which Glasswood cannot explain"
        )
        raise ModelMismatchError(message)
    return ours, theirs.reshape(ours.shape)


@contextmanager
def library_errors(source: str) -> Iterator[None]:
    """Tell what a model's own library has against rows; its remarks on column names are about its own API."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except GlasswoodError:
            raise
        except Exception as error:
            details = (str(error).strip().splitlines() or [""])[0]
            message = (
                f"{source}: the library itself cannot predict these rows ({type(error).__name__}: {details}). "
                "Pass a table with columns of the same types as in training"
            )
            raise TableError(message) from error


def _compare(ensemble: TreeEnsemble, ours: NDArray[Any], theirs: NDArray[Any]) -> Proof:
    # Equal bit for bit where it was tried; the margin is for sums in another order (parallel jobs, other devices).
    margin = 1e-5 if ensemble.score.dtype == "float32" else 1e-10
    difference = np.nan_to_num(np.abs(ours.astype(np.float64) - theirs), nan=np.inf)
    size = max(1.0, float(np.abs(theirs).max(initial=0.0)))
    equal, largest = int((ours == theirs).sum()), float(difference.max(initial=0.0))
    return Proof(len(ours), ours.size, equal, largest, margin * size)


def _reader_of(model: object) -> Reader:
    for parent in type(model).__mro__:
        if parent.__module__.partition(".")[0] in PATCHES:
            message = (
                f"{type(model).__module__}.{type(model).__qualname__} is a model of scikit-learn-intelex, which may "
                "compare values with cuts in another precision than scikit-learn, so that its predictions are not "
                "those of its trees. Call sklearnex.unpatch_sklearn(), import the class again and fit it again"
            )
            raise UnsupportedModelError(message)
        reader = READER_OF_PACKAGE.get(parent.__module__.partition(".")[0])
        if reader is not None:
            return _import(reader)
    if isinstance(model, type) or hasattr(model, "shape"):
        what = "a class, not a fitted model; pass a fitted instance"
        what = what if isinstance(model, type) else "a table; the model comes first, then the rows: Explainer(model, X)"
        message = f"{getattr(model, '__name__', type(model).__name__)} is {what}"
        raise UnsupportedModelError(message)
    message = (
        f"{type(model).__module__}.{type(model).__qualname__} is not a tree ensemble that Glasswood reads. It reads "
        "fitted models of scikit-learn, XGBoost, LightGBM, CatBoost and treelite, and the paths of model files."
    )
    raise UnsupportedModelError(message)


def _reader_of_file(path: Path) -> Reader:
    """Return the reader of a model file, chosen by the start of the file."""
    if not path.is_file():
        message = f"there is no model file {str(path)!r}; a string is interpreted as the path of a model file"
        raise UnsupportedModelError(message)
    with path.open("rb") as file:
        start = file.read(4096)
    if start.startswith(b"CBM1") or any(f'"{part}"'.encode() in start for part in PARTS_OF_CATBOOST):
        return _import("_catboost")
    if start.startswith((b"tree\n", b"tree\r\n")):
        return _import("_lightgbm")
    if start.lstrip().startswith(b"{"):
        return _import("_xgboost")
    message = (
        f"{path.name!r} is not a model file that Glasswood knows: XGBoost .json and .ubj, LightGBM .txt, "
        "CatBoost .cbm and .json. Load other models with their own library and pass the model."
    )
    raise UnsupportedModelError(message)


def _import(name: str) -> Reader:
    try:
        return cast(Reader, import_module(f"glasswood.models.readers.{name}"))
    except ImportError as error:
        library = name.removeprefix("_")
        raise MissingExtraError.of(error.name or library, extra=library, what=f"reading {library} models") from error
