"""Draws the figures of the pages: each docs/figures/NAME.py has a function `draw`, which returns a figure.

Pages show them as `/_figures/NAME.png`.
"""

from __future__ import annotations

import runpy
import sys
import warnings
from pathlib import Path
from typing import Any


def draw_figures(app: Any) -> None:
    """Draw each figure whose script is newer than its file."""
    import matplotlib.pyplot as plt

    source = Path(app.srcdir)
    folder = source / "_figures"
    folder.mkdir(exist_ok=True)
    sys.path.insert(0, str(source / "figures"))  # for what figures share
    for script in sorted((source / "figures").glob("[!_]*.py")):
        target = folder / f"{script.stem}.png"
        if target.exists() and target.stat().st_mtime > script.stat().st_mtime:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            figure = runpy.run_path(str(script))["draw"]()
            figure.savefig(target, dpi=150, bbox_inches="tight", facecolor="white")
        plt.close(figure)


def setup(app: Any) -> dict[str, bool]:
    """Draw when the build begins."""
    app.connect("builder-inited", draw_figures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
