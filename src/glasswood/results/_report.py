"""Report: a page about a model, which notebooks show and which can be saved as a file."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from glasswood.errors import FileError
from glasswood.tables._files import write_whole
from glasswood.text._arguments import new_file

__all__ = ["Report"]

HEIGHT = "min(80vh, 900px)"


@dataclass(repr=False)
class Report:
    """A page about a model: one self-contained HTML document.

    Notebooks show it in a frame of its own, whose scripts can neither see the notebook nor load anything. A report that
    was saved can be passed wherever a path can.

    Parameters
    ----------
    title : str
    html : str
        The page.
    path : Path or None
        The file in which the page was last saved.

    Examples
    --------
    >>> import os, tempfile, glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> report = gw.Explainer(HistGradientBoostingRegressor(max_iter=5).fit(X, y), X).report(title="Diabetes")
    >>> report
    Report('Diabetes', 0.1 MB, not saved)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report.save(folder + "/model.html")
    ...     os.path.basename(report)
    'model.html'
    """

    title: str
    html: str = field(repr=False)
    path: Path | None = None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file atomically: an existing file is kept until the new one is complete."""
        target = new_file(path)
        write_whole(target, self.html.encode())
        self.path = target

    def __fspath__(self) -> str:
        if self.path is None:
            message = "this report has no file yet; save it first: report.save('model.html')"
            raise FileError(message)
        return str(self.path)

    def __repr__(self) -> str:
        where = "not saved" if self.path is None else repr(str(self.path))
        return f"Report({self.title!r}, {len(self.html) / 1e6:.1f} MB, {where})"

    def _repr_html_(self) -> str:
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" title="{html.escape(self.title)}" '
            f'style="width: 100%; height: {HEIGHT}; border: 1px solid #8888; border-radius: 4px" '
            f'srcdoc="{html.escape(self.html)}"></iframe>'
        )
