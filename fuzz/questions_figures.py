"""Figures and the report: they are made, whatever the names and values are."""

from __future__ import annotations

from pathlib import Path

import glasswood as gw
from fuzz.session import Session

__all__ = ["QUESTIONS"]

RARELY = 0.15  # they take a second each


def figures(s: Session) -> None:
    """Every result that was asked for can be drawn, by matplotlib and by plotly."""
    if s.rng.random() > RARELY:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    for player in s.few(s.setting.players, 1):
        s.ask("partial_dependence", player.name)
    s.ask("importance")
    drawn = [call for call in s.calls if hasattr(call.keep, "plot")]
    drawn = [call for call in drawn if not isinstance(call.keep, gw.Curves) or len(call.keep)]
    for call in [drawn[k] for k in s.rng.permutation(len(drawn))[:3]]:
        backend = str(s.rng.choice(["matplotlib", "plotly"]))
        one = next(iter(call.keep.values())) if isinstance(call.keep, gw.Curves) else call.keep
        several = len(getattr(one, "outputs", ("",))) > 1 or isinstance(one, gw.Surface)
        outputs = getattr(one, "outputs", None) or getattr(one, "first", one).outputs if several else ()
        figure = call.keep.plot(backend=backend, **({"output": outputs[-1]} if several else {}))
        _render(figure, backend)
        s.true("figures", figure is not None)
    pyplot.close("all")


def _render(figure, backend: str) -> None:
    import io

    if backend == "matplotlib":
        figure.savefig(io.BytesIO(), format="svg")
    else:
        figure.to_json()


def report(s: Session) -> None:
    """The report is written, and is one page."""
    if s.rng.random() > RARELY:
        return
    path = s.explainer.report(Path(s.case["folder"]) / "report.html")
    text = Path(path).read_text()
    s.true("report", text.rstrip().endswith("</html>"), text[-100:])


QUESTIONS = (figures, report)
