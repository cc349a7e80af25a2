"""Figures of matplotlib that appear: pyplot knows them, so that windows, notebooks and `plt.show()` show them, once."""

from __future__ import annotations

import io
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import ReferenceType, ref

from glasswood.errors import MissingExtraError

try:
    import matplotlib as mpl
    from matplotlib.figure import Figure
except ImportError as error:
    raise MissingExtraError.of(
        "matplotlib", extra="plot", what="drawing figures", otherwise="pass backend='plotly'"
    ) from error

__all__ = ["Drawing", "new_figure"]

HEADLESS = frozenset({"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"})  # backends that show nothing
KEPT = 10  # figures that pyplot holds where nothing shows them; it warns of more than twenty, the user's included
_held: deque[ReferenceType[Drawing]] = deque()


class Drawing(Figure):
    """A figure that notebooks show once: where it is displayed, or else at the end of the cell, as pyplot does."""

    def _ipython_display_(self) -> None:
        if _is_inline():
            _close(self)  # otherwise it would be shown again at the end of the cell
        raise NotImplementedError  # IPython then uses the formats that the user has chosen

    def _repr_png_(self) -> bytes | None:
        if _has_window(self):
            return None
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=self.dpi, bbox_inches="tight")
        return buffer.getvalue()

    def show(self, warn: bool = True) -> None:  # noqa: FBT001, FBT002 (matplotlib's signature)
        """Show the figure, in a window or in the notebook."""
        if _is_inline():
            from IPython.display import display

            display(self)
        else:
            super().show(warn)


@contextmanager
def new_figure(figsize: tuple[float, float]) -> Iterator[Drawing]:
    """Create a figure to draw on, which is not shown if drawing fails.

    Outside of the main thread pyplot does not know it: its state and its windows belong to the main thread.
    """
    options: dict[str, Any] = {"figsize": figsize, "layout": "constrained"}
    if threading.current_thread() is not threading.main_thread():
        yield Drawing(**options)
        return
    if _backend() in HEADLESS:
        _forget_old()
    figure = _known_to_pyplot(options)
    try:
        yield figure
    except BaseException:
        _close(figure)
        raise
    if _backend() in HEADLESS:
        _held.append(ref(figure))


def _known_to_pyplot(options: dict[str, Any]) -> Drawing:
    """Return a new figure that pyplot knows, however many there are; pyplot warns of more than twenty."""
    import matplotlib.pyplot as plt

    settings = mpl.rcParams
    max_ = settings["figure.max_open_warning"]
    settings["figure.max_open_warning"] = 0  # rc_context would undo what the backend sets when it is loaded
    try:
        figure: Drawing = plt.figure(FigureClass=Drawing, **options)
    finally:
        settings["figure.max_open_warning"] = max_
    return figure


def _forget_old() -> None:
    """Let pyplot forget the oldest figures, which nothing would show: scripts that save thousands keep their memory."""
    while len(_held) >= KEPT:
        figure = _held.popleft()()
        if figure is not None:
            _close(figure)


def _close(figure: Figure) -> None:
    """Remove a figure from pyplot if it is registered there. The figure itself is unchanged and can be saved."""
    import matplotlib.pyplot as plt

    plt.close(figure)


def _backend() -> str:
    return str(mpl.get_backend()).lower()


def _is_inline() -> bool:
    """Return whether figures are shown in the cells of a notebook, as pictures."""
    return "inline" in _backend()


def _has_window(figure: Figure) -> bool:
    """Return whether pyplot shows a figure by itself, in a window or a widget."""
    import matplotlib.pyplot as plt

    number = getattr(figure, "number", None)
    return number is not None and plt.fignum_exists(number) and not _is_inline() and _backend() not in HEADLESS
