"""Tables as text, CSV, JSON and Parquet. Names and categories are escaped so that they are never interpreted."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from glasswood.tables._files import write_whole
from glasswood.tables._parquet import write_parquet
from glasswood.tables._tables import frame_of
from glasswood.text._csv import safe_cell
from glasswood.text._printable import printable

__all__ = [
    "FORMATS",
    "check_destination",
    "check_folder",
    "columns_of",
    "describe",
    "note",
    "print_json",
    "write_table",
]

FORMATS = ("text", "csv", "json", "parquet")

Columns = Mapping[str, Any]

LONGEST = 60  # maximum number of characters of a cell in text tables


def columns_of(result: object) -> dict[str, Any]:
    """Return a frame, or the frame of a result, as columns."""
    frame = frame_of(result.to_frame() if hasattr(result, "to_frame") else result)
    return {} if frame is None else {name: frame[name].to_list() for name in frame.columns}


def write_table(columns: Columns, destination: tuple[str, str | None], default: str = "text") -> None:
    """Write a table to a file or to standard output.

    Parameters
    ----------
    columns : mapping from names to sequences
    destination : (path or "-", format or None)
    default : str
        The format on standard output.
    """
    path, form = destination
    form = form or _form_of(path, default)
    if form == "parquet":
        write_parquet(path, [{name: _uniform(values) for name, values in columns.items()}], {})
    else:
        text = {"text": _as_text, "csv": _as_csv, "json": _as_json}[form](columns)
        if path == "-":
            click.echo(_for_terminals(text), nl=False)
        else:
            write_whole(path, text.encode())
    if path != "-":
        note(f"wrote {path}")


def _for_terminals(text: str) -> str:
    """Return a text as it is, or without what a terminal would obey, if there is one."""
    if not sys.stdout.isatty():
        return text
    return "\n".join(map(printable, text.split("\n")))


def _form_of(path: str, default: str) -> str:
    if path == "-":
        return default
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix == "txt":
        return "text"
    if suffix not in FORMATS:
        message = (
            f"-o {path}: the suffix determines the format: one of .csv, .json, .parquet and .txt; or pass --format"
        )
        raise click.UsageError(message)
    return suffix


def _uniform(values: Iterable[object]) -> object:
    """Return a column of one type: texts, if there is any among the values."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        return values
    if any(isinstance(value, str) for value in values):
        return [None if value is None else str(value) for value in values]
    return list(values)


def _rows(columns: Columns) -> list[tuple[Any, ...]]:
    return list(zip(*(_listed(values) for values in columns.values()), strict=True))


def _listed(values: Iterable[object]) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _as_csv(columns: Columns) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in columns])
    writer.writerows([[safe_cell(value) for value in row] for row in _rows(columns)])
    return text.getvalue()


def _as_json(columns: Columns) -> str:
    rows = _rows(columns)
    lines = ",\n ".join(_dumped(dict(zip(columns, row, strict=True))) for row in rows)
    return f"[{lines}]\n"


def _dumped(value: object, indent: int | None = None) -> str:
    text = json.dumps(_finite(value), allow_nan=False, ensure_ascii=False, default=str, indent=indent)
    # Non-ASCII control characters, which JSON allows and terminals may interpret.
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _finite(value: object) -> Any:
    """Return the value with null for numbers that JSON does not have: missing and infinite."""
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return _finite(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def print_json(facts: Mapping[str, Any]) -> None:
    """Print names and values as JSON."""
    click.echo(_dumped({name.replace(" ", "_"): value for name, value in facts.items()}, indent=2))


def _as_text(columns: Columns) -> str:
    """Return aligned columns: numbers to the right, strings to the left."""
    names = [_short(name) for name in columns]
    shown = [[_shown(value) for value in _listed(values)] for values in columns.values()]
    right = [all(not isinstance(value, str) for value in _listed(values)) for values in columns.values()]
    widths = [max(map(_width, [name, *cells])) for name, cells in zip(names, shown, strict=True)]
    lines = [
        "  ".join(_padded(*cell) for cell in zip(row, widths, right, strict=True)).rstrip()
        for row in [names, ["-" * width for width in widths], *zip(*shown, strict=True)]
    ]
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return "" if math.isnan(value) else f"{value:.6g}"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    return "" if value is None else _short(str(value))


def _short(text: str) -> str:
    text = printable(text)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _width(text: str) -> int:
    """Return the number of terminal columns that a string takes."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def _padded(text: str, width: int, right: bool) -> str:  # noqa: FBT001 (one of a row of columns)
    blanks = " " * (width - _width(text))
    return blanks + text if right else text + blanks


def describe(facts: Mapping[str, Any]) -> None:
    """Print names and values, one per line."""
    width = max(map(len, facts))
    for name, value in facts.items():
        click.echo(f"{name:<{width}}  {_shown(value) if not isinstance(value, str) else printable(value)}")


def note(message: str) -> None:
    """Print a message to standard error if it is a terminal."""
    if sys.stderr.isatty():
        click.echo(printable(message), err=True)


def check_destination(destination: tuple[str, str | None]) -> None:
    """Raise an error early if the destination cannot be written."""
    path, form = destination
    if path != "-":
        check_folder(Path(path))
    if (form or _form_of(path, "text")) == "parquet" and path == "-":
        message = "Parquet cannot be written to standard output; pass a file with -o"
        raise click.UsageError(message)


def check_folder(path: Path) -> None:
    """Raise an error early if the folder of a file does not exist."""
    if not path.absolute().parent.is_dir():
        message = f"-o {path}: there is no folder {str(path.parent)!r}"
        raise click.UsageError(message)
