"""Model and data files as arguments of `Explainer`. Files that could run code are only opened on request."""

from __future__ import annotations

import importlib
import pickle
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glasswood.counting._background import Background
from glasswood.errors import GlasswoodError, MissingExtraError, TableError, UnsupportedModelError
from glasswood.models._opened import Opened, open_model
from glasswood.tables._given import pandas_of
from glasswood.tables._parquet import open_dataset
from glasswood.tables._sources import HEAD

__all__ = ["load_model", "open_data", "proved", "read_rows"]

PICKLES = (".pkl", ".pickle", ".joblib")
BACKGROUND = ".gw"
MANY_BYTES = 2**26  # in an archive, whatever its size


def load_model(path: Path, *, trusted: Sequence[str] = (), pickles: bool = False) -> Any:
    """Return the contents of a model file: a path that `read_model` accepts, or a fitted model.

    Parameters
    ----------
    path : Path
    trusted : sequence of str
        The types that a .skops file may contain, in addition to those that skops considers safe.
    pickles : bool
        Whether to open pickles, which can run arbitrary code.

    Examples
    --------
    >>> load_model(Path("model.onnx"))
    Traceback (most recent call last):
    ...
    glasswood.errors.UnsupportedModelError: 'model.onnx': ...
    """
    suffix = path.suffix.lower()
    if suffix == ".onnx":
        message = (
            f"{path.name!r}: ONNX usually has cuts and leaf values rounded to float32, not those of the fitted model. "
            "Pass the model's own file: XGBoost .json or .ubj, LightGBM .txt, CatBoost .cbm, scikit-learn .skops"
        )
        raise UnsupportedModelError(message)
    if suffix == BACKGROUND:
        message = f"{path.name!r} is a background; pass the model first, then the background or the data"
        raise UnsupportedModelError(message)
    if suffix == ".skops":
        return _open_skops(path, trusted)
    if suffix in PICKLES or _starts_as_pickle(path):
        return _open_pickle(path, pickles=pickles)
    return path


def _starts_as_pickle(path: Path) -> bool:
    """Return whether a file starts like a pickle (protocol 2 or later), which no supported model file does."""
    with path.open("rb") as file:
        return file.read(1) == b"\x80"


def _open_skops(path: Path, trusted: Sequence[str]) -> Any:
    try:
        io = importlib.import_module("skops.io")
    except ImportError as error:
        raise MissingExtraError.of("skops", extra="skops", what=f"reading {path.name!r}") from error
    try:
        _refuse_bomb(path)
        asked = sorted(set(io.get_untrusted_types(file=path)) - set(trusted))
        model = None if asked else io.load(path, trusted=list(trusted))
    except GlasswoodError:
        raise
    except Exception as error:
        details = " ".join(str(error).split())[:200]
        message = f"{path.name!r} is not a skops file, or damaged ({type(error).__name__}: {details}); save it again"
        raise UnsupportedModelError(message) from error
    if asked:
        options = " ".join(f"--trust {name}" for name in asked)
        message = (
            f"{path.name!r} contains types that skops does not consider safe: {', '.join(asked)}. "
            f"If you trust the file and these types, add {options}"
        )
        raise UnsupportedModelError(message)
    return model


def _refuse_bomb(path: Path) -> None:
    """Refuse an archive whose members are far larger than the archive."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MANY_BYTES + 100 * path.stat().st_size:
        message = f"{path.name!r} expands from {path.stat().st_size:,} bytes to {size / 1e6:,.0f} MB, unlike any model"
        raise UnsupportedModelError(message)


def _open_pickle(path: Path, *, pickles: bool) -> Any:
    if not pickles:
        message = (
            f"{path.name!r} is a pickle, and opening a pickle can run arbitrary code. Save the model in "
            "its library's own format, or with skops; if you made the file yourself, add --trust-pickle"
        )
        raise UnsupportedModelError(message)
    try:
        return importlib.import_module("joblib").load(path)  # installed with scikit-learn; also opens plain pickles
    except (pickle.UnpicklingError, EOFError, ImportError, AttributeError, IndexError, KeyError) as error:
        message = f"{path.name!r} cannot be opened: {type(error).__name__}: {error}"
        raise UnsupportedModelError(message) from error


def proved(model: object, data: str, further: Sequence[str] = ()) -> Opened:
    """Return a model, read and checked on the first rows of a file, which may have additional columns.

    The rows are a pandas frame if pandas is installed: libraries do not accept Arrow's categories.
    """
    opened = open_model(model, read_rows(data, HEAD), further, whole=False)
    opened.refuse_own(raw=True)
    return opened


def open_data(data: str, *, in_memory: bool) -> Any:
    """Return the background in a file, its rows as a table, or the path if it is to be streamed."""
    if data.endswith(BACKGROUND):
        return Background.load(data)
    if in_memory or _is_csv(data):
        return read_rows(data)
    open_dataset(data)  # raises early if something is wrong with the path
    return data


def read_rows(data: str | Sequence[str], max_: int | None = None) -> Any:
    """Return the rows of a file (or the first ones) as a table in memory."""
    if isinstance(data, str) and data.endswith(BACKGROUND):
        message = f"{data!r} is a background, which only has counts; pass the rows themselves"
        raise TableError(message)
    if isinstance(data, str) and _is_csv(data):
        table = _read_csv(data)
        return table if max_ is None else table[:max_]
    dataset = open_dataset(data)
    table = dataset.to_table() if max_ is None else dataset.head(max_)
    try:
        importlib.import_module("pandas")
    except ImportError:
        return table
    return pandas_of(table)  # which most libraries accept, including categories


def _is_csv(data: str) -> bool:
    return data.lower().endswith((".csv", ".csv.gz"))


def _read_csv(path: str) -> Any:
    import narwhals as nw

    for backend in ("pandas", "polars", "pyarrow"):
        try:
            importlib.import_module(backend)
        except ImportError:
            continue
        return nw.read_csv(path, backend=backend).to_native()
    raise MissingExtraError.of_frames("reading CSV")
