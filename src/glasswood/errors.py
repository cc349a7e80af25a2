"""Every error that Glasswood raises on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Self

__all__ = [
    "ArgumentError",
    "BackgroundError",
    "FileError",
    "GlasswoodError",
    "MissingExtraError",
    "MissingFileError",
    "ModelMismatchError",
    "ScaleError",
    "TableError",
    "TooLargeError",
    "UnsupportedModelError",
    "WorkerVersionError",
]


class GlasswoodError(Exception):
    """Base class of all errors of this package.

    Examples
    --------
    >>> import glasswood as gw
    >>> try:
    ...     gw.read_model("not a model")
    ... except gw.errors.GlasswoodError as error:
    ...     print(type(error).__name__)
    UnsupportedModelError
    """


class UnsupportedModelError(GlasswoodError):
    """The model, or a part of it, cannot be read exactly; the message says what to do instead.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.read_model(object())
    Traceback (most recent call last):
    ...
    glasswood.errors.UnsupportedModelError: ...
    """


class ModelMismatchError(GlasswoodError):
    """The scores computed from a model's trees differ from the predictions of its own library.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.ModelMismatchError, gw.errors.GlasswoodError)
    True
    """


class TableError(GlasswoodError, ValueError):
    """A table or feature does not fit the model: a missing column, values of the wrong type, an unknown name.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.TableError, ValueError)
    True
    """

    @classmethod
    def no_feature(cls, name: object, known: Sequence[str], *, hint: str = "") -> Self:
        """Return the error for an unknown feature: it suggests the nearest name and lists at most ten.

        Parameters
        ----------
        name : str or int
            The name that was asked for.
        known : sequence of str
            The names that exist.
        hint : str, optional
            An explanation to show instead of the nearest name.

        Examples
        --------
        >>> import glasswood as gw
        >>> print(gw.errors.TableError.no_feature("AGE", ["age", "income"]))
        there is no feature 'AGE' (did you mean 'age'?); the features are 'age', 'income'
        """
        lower = {one.lower(): one for one in known}
        nearest = [lower[alike] for alike in get_close_matches(str(name).lower(), lower, 1)]
        advice = hint or "".join(f"did you mean {one!r}?" for one in nearest)
        listed = ", ".join([*map(repr, known[:10]), *(["..."] if len(known) > 10 else [])])
        return cls(f"there is no feature {name!r}{f' ({advice})' if advice else ''}; the features are {listed}")


class MissingExtraError(GlasswoodError, ImportError):
    """A required optional library is not installed; the message names the extra that installs it.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.MissingExtraError, ImportError)
    True
    """

    @classmethod
    def of(cls, library: str, *, extra: str, what: str, otherwise: str = "") -> Self:
        """Return the error for a missing library.

        Parameters
        ----------
        library : str
            The name of the library.
        extra : str
            The extra of Glasswood that installs it.
        what : str
            The task that requires it.
        otherwise : str, optional
            An alternative to installing it.

        Examples
        --------
        >>> import glasswood as gw
        >>> print(gw.errors.MissingExtraError.of("pyarrow", extra="parquet", what="reading Parquet"))
        reading Parquet requires pyarrow; install it with: pip install 'glasswood[parquet]'
        """
        remedy = f"install it with: pip install 'glasswood[{extra}]'"
        return cls(f"{what} requires {library}; {remedy}{f', or {otherwise}' if otherwise else ''}")

    @classmethod
    def of_frames(cls, what: str) -> Self:
        """Return the error for a task that requires any library of data frames.

        Examples
        --------
        >>> import glasswood as gw
        >>> print(gw.errors.MissingExtraError.of_frames("reading CSV"))
        reading CSV requires pandas, polars or pyarrow; install one of them
        """
        return cls(f"{what} requires pandas, polars or pyarrow; install one of them")


class BackgroundError(GlasswoodError, ValueError):
    """A background does not fit: it has a different model or order, or its file is damaged.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.BackgroundError, ValueError)
    True
    """


class ScaleError(BackgroundError, UnsupportedModelError):
    """A question that cannot be answered on a scale with these rows, but can be for the score.

    It is raised if the scale was asked for. Otherwise the question is answered for the score.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.ScaleError, gw.errors.BackgroundError)
    True
    """


class TooLargeError(GlasswoodError, ValueError):
    """The work would take too long or too much memory; the message has an estimate and suggests a smaller question.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.TooLargeError, gw.errors.GlasswoodError)
    True
    """


class ArgumentError(GlasswoodError, ValueError, TypeError):
    """An argument has an invalid value; the message lists the valid ones.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.ArgumentError, ValueError)
    True
    """


class FileError(GlasswoodError, OSError):
    """A file cannot be found or written.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.FileError, OSError)
    True
    """


class MissingFileError(FileError, FileNotFoundError):
    """There is no file of this name.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.MissingFileError, FileNotFoundError)
    True
    """


class WorkerVersionError(GlasswoodError, RuntimeError):
    """A worker of a cluster has other versions than the driver; the message has both and says what to install.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.WorkerVersionError, gw.errors.GlasswoodError)
    True
    """
