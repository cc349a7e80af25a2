"""Messages of the library with the options of the command line instead of Python's arguments."""

from __future__ import annotations

import re

__all__ = ["in_options"]

# Python arguments in messages of the library, and the options to type instead.
WORDS = [
    (
        r"\bmake the Explainer with target=, or the Background with summarize\([^)]*\)",
        "use glasswood summarize --target COLUMN",
    ),
    (
        r"\bmake the Explainer with folds=(\d+), or the Background with\s+summarize\([^)]*\)",
        r"use glasswood summarize --folds \1",
    ),
    (r"\bask for kind='main'", "use --kind main"),
    (
        r"\bsummarize\(\w+, \w+, target=\.\.\., answers=\{'(\w+)': \{'(\w+)': '([^']*)'\}\}\)",
        r"glasswood summarize --target COLUMN --answer \1:\2=\3",
    ),
    (
        r"\bsummarize\(\w+, \w+, answers=\['(\w+)'\], response=\"(\w+)\"\)",
        r"glasswood summarize --answer \1 --response \2",
    ),
    (r"\banswers=(?= )", "--answer"),
    (r"\bsummarize\((?:\w+, \w+|\.\.\.), answers=\['(\w+)'\]\)", r"glasswood summarize --answer \1"),
    (r"\bmake the Explainer with rows and target=, or a Background", "use --target COLUMN, or a background"),
    (r"\ball_rows=True", "--all-rows"),
    (r"(?<!:)\bloss=(?:'([^']*)')?", r"--loss \1"),
    (r"\bsummarize\(\w+, \w+, order=(\d+)\), or order=None for all orders", r"glasswood summarize --order \1, or all"),
    (r"\bsummarize\(\w+, \w+, order=(\d+)\)", r"glasswood summarize --order \1"),
    (r'\bsummarize\(\w+, \w+, response="(\w+)"\)', r"glasswood summarize --response \1"),
    (r'\b(response|engine)="(\w+)"', r"--\1 \2"),
    (r"\bsample_weight\b=?", "--weight"),
    (r"\boutput=", "--label"),
    (r"\bmax_order\b=?", "--max-order"),
    (r"\bby=(?=['\"\[(])", "--by "),
    (r"\bfold_by\b=?", "--fold-by"),
    (r"\bfolds=(\d+)", r"--folds \1"),
    (r"\b(target|exposure|offset|prediction|folds)=(?=\W|$)", r"--\1"),
    (r"\b(by|engine|checkpoint|order|reference|title)=(?=\W|$)", r"--\1"),
    (r"\bExplainer\(model, X\)", "MODEL DATA"),
]


def in_options(message: str) -> str:
    """Return a message with the names of options.

    Examples
    --------
    >>> in_options("by= names the columns ['year'], which the table does not have")
    "--by names the columns ['year'], which the table does not have"
    >>> in_options('it is not a probability; use response="prediction"')
    'it is not a probability; use --response prediction'
    >>> in_options("make the Explainer with folds=20, or the Background with summarize(model, rows, folds=20)")
    'use glasswood summarize --folds 20'
    """
    for python, option in WORDS:
        message = re.sub(python, option, message)
    return message
