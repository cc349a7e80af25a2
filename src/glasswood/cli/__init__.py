"""The command line: `glasswood report`, `summarize`, `merge`, `curve`, ... Nothing here is imported by the library.

Files: `_app` (the group of commands, and error handling), `_options` (shared options), `_files` (model and data files),
`_output` (tables as text, CSV, JSON, Parquet), `_words` (messages in terms of options), and the commands in `_report`,
`_check`, `_summarize`, `_ask`, `_importance`, `_rows`, `_proofs`, `_table` and `_compare`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from glasswood.errors import MissingExtraError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Defaults to the arguments of this process.

    Examples
    --------
    >>> from glasswood.cli import main
    >>> main(["--version"])
    glasswood ...
    0
    """
    try:
        import click  # noqa: F401 (to report that it is missing)
    except ImportError:
        sys.stderr.write(f"glasswood: error: {MissingExtraError.of('click', extra='cli', what='the command line')}\n")
        return 2
    try:
        from glasswood.cli._app import run
    except ImportError as error:  # of the core: the exit code of a traceback would mean that a check failed
        sys.stderr.write(f"glasswood: error: {error}\n")
        return 2
    return run(arguments)
