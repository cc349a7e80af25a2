"""The command line: `glasswood report`, `summarize`, `merge`, `curve`, ... Nothing here is imported by the library.

Files: `_app` (the group of commands, and what becomes of errors), `_options` (what commands share), `_models` (files of
models and data), `_output` (tables as text, CSV, JSON, Parquet), and with the commands `_pages`, `_checks`, `_counts`,
`_questions`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of this process by default.

    Examples
    --------
    >>> from glasswood.cli import main
    >>> main(["--version"])
    glasswood ...
    0
    """
    try:
        import click  # noqa: F401 (only to say what is missing)
    except ImportError:
        sys.stderr.write(
            "glasswood: error: the command line needs click; install it with: pip install 'glasswood[cli]'\n"
        )
        return 2
    from glasswood.cli._app import run

    return run(arguments)
