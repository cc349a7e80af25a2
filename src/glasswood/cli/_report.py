"""glasswood report: one page for model validation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from glasswood import Explainer
from glasswood.terminal._files import open_data
from glasswood.terminal._options import MODEL, Command, model_options, output_file, response_option
from glasswood.terminal._output import check_folder, note

__all__ = ["COMMANDS"]


@click.command(
    cls=Command,
    short_help="Write a one-page HTML report about a model and its rows.",
    examples=[
        "glasswood report model.json rows.parquet -o model.html",
        "glasswood report model.json rows.parquet --by year --title 'Claims 2026'",
        "glasswood report model.json rows.parquet --response probability",
    ],
)
@click.argument("model", type=MODEL)
@click.argument("data")
@output_file("The page", "model.html")
@click.option("--title", help="The title of the page.")
@click.option("--by", metavar="COLUMN", help="Compare groups of rows: predictions, curves and columns.")
@response_option()
@click.option("--notes", multiple=True, metavar="TEXT", help="A paragraph of your own; can be repeated.")
@click.option(
    "--interactions",
    "n_interactions",
    type=click.IntRange(0),
    metavar="N",
    default=10,
    show_default=True,
    help="The number of strongest pairs to draw.",
)
@model_options
def report(*, opened: Callable[[Path], Any], model: Path, data: str, output: Path, **settings: Any) -> None:
    """Write a self-contained HTML page about MODEL and DATA: curves, interactions, checks."""
    check_folder(output)
    rows = open_data(data, in_memory=True)
    settings["title"] = settings["title"] or model.name
    explainer = Explainer(opened(model), rows, response=settings.pop("response"))
    explainer.report(output, **settings)
    note(f"wrote {output}")


COMMANDS = [report]
