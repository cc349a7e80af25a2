"""Figures of matplotlib appear: pyplot knows them, notebooks show each once, scripts can save thousands of them."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import types
import warnings
import weakref

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends import backend_agg
from matplotlib.figure import Figure
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from glasswood.plots._draw import draw
from glasswood.plots._spec import Bars, Sheet
from glasswood.plots.matplotlib._figure import KEPT, Drawing

BARS = Bars("title", "x", ("a", "b"), ((2.0, 1.0),))


@pytest.fixture(scope="module")
def curve():
    X = np.arange(8.0)[:, None]
    return gw.Explainer(DecisionTreeRegressor().fit(X, X[:, 0]), X).partial_dependence(0)


@pytest.fixture(autouse=True)
def pyplot_as_before():
    before = mpl.get_backend()
    plt.close("all")
    yield
    plt.close("all")
    plt.switch_backend(before)


def backend_of(monkeypatch, name):
    """Switch to a backend that opens windows, as far as pyplot can tell; return the list of figures that are shown."""
    shown = []

    class Manager(FigureManagerBase):
        def show(self):
            shown.append(self.canvas.figure)

        @classmethod
        def pyplot_show(cls, *, block=None):
            shown.extend(plt.figure(number) for number in plt.get_fignums())

    class Canvas(backend_agg.FigureCanvasAgg):
        manager_class = Manager

    module = types.ModuleType(name)
    module.FigureCanvas, module.FigureManager = Canvas, Manager
    monkeypatch.setitem(sys.modules, name, module)
    plt.switch_backend(f"module://{name}")
    return shown


@pytest.fixture
def windows(monkeypatch):
    return backend_of(monkeypatch, "fake_windows")


@pytest.fixture
def inline(monkeypatch):
    return backend_of(monkeypatch, "fake_inline")


def test_nothing_is_imported_before_a_figure_is_asked_for():
    code = (
        "import sys, numpy as np, glasswood as gw; from sklearn.tree import DecisionTreeRegressor;"
        "X = np.arange(8.0)[:, None]; ex = gw.Explainer(DecisionTreeRegressor().fit(X, X[:, 0]), X);"
        "curve = ex.partial_dependence(0); assert 'matplotlib' not in sys.modules; figure = curve.plot();"
        "import matplotlib.pyplot as plt; assert plt.gcf() is figure; assert figure._repr_png_()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_figure_is_the_current_one_of_pyplot(curve, tmp_path):
    figure = curve.plot()
    assert plt.gcf() is figure
    plt.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 3000


def test_a_hundred_figures_in_windows_are_all_shown_without_a_warning(windows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures = [draw(Sheet((BARS,))) for _ in range(100)]
        plt.show()
    assert windows == figures
    figures[3].show()
    assert windows[-1] is figures[3]
    assert figures[3]._repr_png_() is None  # the window shows it


def test_where_nothing_is_shown_pyplot_holds_the_last_figures_only(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = draw(Sheet((BARS,)))
        gone = weakref.ref(draw(Sheet((BARS,))))
        for _ in range(3 * KEPT):
            last = draw(Sheet((BARS,)))
    assert len(plt.get_fignums()) == KEPT
    assert plt.gcf() is last
    gc.collect()
    assert gone() is None
    first.savefig(tmp_path / "first.png")  # pyplot has forgotten it, the user has not


def test_a_figure_of_a_notebook_is_shown_where_it_is_displayed_and_not_again(inline):
    figure = draw(Sheet((BARS,)))
    assert plt.get_fignums()
    with pytest.raises(NotImplementedError):  # IPython then takes the format that the user has chosen
        figure._ipython_display_()
    assert not plt.get_fignums()
    assert figure._repr_png_()[:4] == b"\x89PNG"


def test_a_figure_that_fails_is_not_left_behind(windows):
    with pytest.raises(TypeError):
        draw(Sheet((Bars("title", "x", ("a",), (("no number",),)),)))
    assert not plt.get_fignums()


def test_other_threads_leave_pyplot_alone():
    found = []
    thread = threading.Thread(target=lambda: found.append(draw(Sheet((BARS,)))))
    thread.start()
    thread.join()
    assert isinstance(found[0], Drawing)
    assert found[0]._repr_png_()
    assert not plt.get_fignums()


def test_a_title_is_above_the_legend(curve):
    figure = curve.plot(title="A $title$", std=True)
    figure.canvas.draw()
    (legend,) = figure.legends
    assert figure.get_suptitle() == ""
    assert legend.get_title().get_text() == "A $title$"
    title = legend.get_title().get_window_extent()
    assert all(title.y0 >= text.get_window_extent().y1 for text in legend.get_texts())


def test_titles_and_sizes(curve):
    figure = curve.plot(title="A title", figsize=(3, 2))
    assert figure.get_suptitle() == "A title"
    assert figure.get_size_inches().tolist() == [3, 2]
    figure = curve.plot(title="A title", figsize=(3, 2), backend="plotly")
    assert figure.layout.title.text == "A title"
    assert (figure.layout.width, figure.layout.height) == (300, 200)


def test_axes_that_are_given_are_returned(curve):
    ax = Figure().subplots()
    assert curve.plot(ax=ax, title="A title") is ax
    assert ax.get_title() == "A title"
    assert not plt.get_fignums()
    with pytest.raises(ValueError, match="figsize= is for a new figure"):
        curve.plot(ax=ax, figsize=(1, 1))


def test_heights_are_shared_if_asked_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    ex = gw.Explainer(DecisionTreeRegressor(random_state=0).fit(X, 2 * X[:, 0] + X[:, 1]), X)
    limits = {ax.get_ylim() for ax in ex.plot().axes}
    assert len(limits) == 1
    assert len({ax.get_ylim() for ax in ex.plot(sharey=False).axes}) == 2


NOTEBOOK = [
    ("last line", "curve.plot()", 1),
    ("in a loop", "for _ in range(3):\n    curve.plot()", 3),
    ("a name", "figure = curve.plot()", 1),
    ("a name, then shown", "figure = curve.plot()\nplt.show()", 1),
    ("a name, then its own show", "figure = curve.plot()\nfigure.show()", 1),
    ("displayed", "figure = curve.plot()\ndisplay(figure)\n1", 1),
    ("as the last line", "figure = curve.plot()\nfigure", 1),
    ("again in another cell", "figure", 1),
    ("on axes", "fig, ax = plt.subplots()\ncurve.plot(ax=ax)", 1),
    ("beside others", "plt.subplots()\ncurve.plot()", 2),
    ("thirty", "for _ in range(30):\n    curve.plot()", 30),
    ("plotly", "curve.plot(backend='plotly')", 1),
    ("in a format", "%config InlineBackend.figure_formats = ['svg']\ncurve.plot()", 1),
]


def test_notebooks_show_each_figure_once():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    setup = (
        "import warnings; warnings.simplefilter('error', RuntimeWarning)\n"
        "import numpy as np, matplotlib.pyplot as plt, glasswood as gw\n"
        "from sklearn.tree import DecisionTreeRegressor\n"
        "X = np.arange(8.0)[:, None]\n"
        "curve = gw.Explainer(DecisionTreeRegressor().fit(X, X[:, 0]), X).partial_dependence(0)"
    )
    cells = [nbformat.v4.new_code_cell(code) for code in (setup, *(code for _, code, _ in NOTEBOOK))]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    pictures = {"image/png", "image/svg+xml", "application/vnd.plotly.v1+json"}
    found = [
        (name, sum(bool(pictures & set(output.get("data", {}))) for output in cell["outputs"]))
        for (name, _, _), cell in zip(NOTEBOOK, notebook.cells[1:], strict=True)
    ]
    assert found == [(name, n) for name, _, n in NOTEBOOK]
