"""Every error that Glasswood raises on purpose."""

__all__ = [
    "ArgumentError",
    "BackgroundError",
    "FileError",
    "GlasswoodError",
    "MissingExtraError",
    "ModelMismatchError",
    "TableError",
    "TooLargeError",
    "UnsupportedModelError",
]


class GlasswoodError(Exception):
    """The parent of all errors of this package.

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
    """A model, or a part of one, that Glasswood cannot read exactly; the message says what to do instead.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.read_model(object())
    Traceback (most recent call last):
    ...
    glasswood.errors.UnsupportedModelError: ...
    """


class ModelMismatchError(GlasswoodError):
    """The scores rebuilt from a model's trees differ from the ones its own library gives.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.ModelMismatchError, gw.errors.GlasswoodError)
    True
    """


class TableError(GlasswoodError, ValueError):
    """A table that does not fit the model: a column is absent, holds the wrong kind of values, or an unknown category.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.TableError, ValueError)
    True
    """


class MissingExtraError(GlasswoodError, ImportError):
    """An optional library is needed and not installed; the message names the extra that brings it.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.MissingExtraError, ImportError)
    True
    """


class BackgroundError(GlasswoodError, ValueError):
    """A background that does not fit: of another model, another order, or a damaged file.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.BackgroundError, ValueError)
    True
    """


class TooLargeError(GlasswoodError, ValueError):
    """Work that would take too long or too much memory; the message has an estimate and says what to ask instead.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.TooLargeError, gw.errors.GlasswoodError)
    True
    """


class ArgumentError(GlasswoodError, ValueError, TypeError):
    """A setting that is not one of those that there are; the message lists them.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.ArgumentError, ValueError)
    True
    """


class FileError(GlasswoodError, OSError):
    """A file that cannot be found, or a place where none can be written.

    Examples
    --------
    >>> import glasswood as gw
    >>> issubclass(gw.errors.FileError, OSError)
    True
    """
