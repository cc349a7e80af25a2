"""The format of the help of commands, and options shared by several commands."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from glasswood.terminal._files import load_model
from glasswood.terminal._output import FORMATS

__all__ = [
    "DEBUG",
    "MODEL",
    "Command",
    "as_json",
    "model_options",
    "output_file",
    "output_options",
    "response_option",
    "table_options",
]

DEBUG = "--debug"

MODEL = click.Path(exists=True, dir_okay=False, path_type=Path)

Function = Callable[..., Any]


class Command(click.Command):
    """A command whose help ends in examples.

    Parameters
    ----------
    examples : sequence of str
        Command lines.
    """

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples
        self.params.append(
            click.Option([DEBUG], is_flag=True, expose_value=False, help="Show the traceback of an error.")
        )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(" " * formatter.current_indent + line + "\n")


def model_options(function: Function) -> Function:
    """Add the options for opening models to a command; it receives `opened`, a function from paths to models."""

    @click.option(
        "--trust",
        "trusted",
        multiple=True,
        metavar="TYPE",
        help="A type that a .skops file may contain; can be repeated.",
    )
    @click.option(
        "--trust-pickle",
        "pickles",
        is_flag=True,
        help="Open pickle and joblib files. They can run arbitrary code: only open files that you made yourself.",
    )
    @functools.wraps(function)
    def command(*, trusted: tuple[str, ...], pickles: bool, **options: object) -> Any:
        return function(opened=lambda path: load_model(path, trusted=trusted, pickles=pickles), **options)

    return command


def as_json(function: Function) -> Function:
    """Add --json to a command."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def output_file(what: str, default: str) -> Callable[[Function], Function]:
    """Add -o to a command, for a file that is always written."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, writable=True, path_type=Path),
        default=default,
        show_default=True,
        help=f"{what}. It is overwritten if it exists.",
    )


def output_options(function: Function) -> Function:
    """Add the options for choosing an output to a command; it receives `asked`, the arguments of questions."""

    @click.option(
        "--label",
        metavar="LABEL",
        help="The class, or the number of the target, to explain. By default all; for binary models, the second class.",
    )
    @functools.wraps(function)
    def command(*, label: str | None, **options: object) -> Any:
        return function(asked={"output": label}, **options)

    return command


DEFAULT_SCALE = "Default: what the link of the model gives, such as a probability; the raw score if it has no link."


def response_option(further: str = DEFAULT_SCALE) -> Callable[[Function], Function]:
    """Add --response to a command, with what its help says after the meaning of the scales."""
    return click.option(
        "--response",
        type=click.Choice(["raw", "probability", "prediction"]),
        help="The scale: the raw score (a sum over trees), a classifier's probability, or the output of predict. "
        + further,
    )


def table_options(function: Function) -> Function:
    """Add -o, --format and --json to a command that prints a table; it receives `destination`."""

    @click.option(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        help="A .csv, .json or .parquet file; - for standard output, which is the default.",
    )
    @click.option("--format", "form", type=click.Choice(FORMATS), help="By default, determined by the suffix of -o.")
    @click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
    @functools.wraps(function)
    def command(*, output: str, form: str | None, as_json: bool, **options: object) -> Any:
        return function(destination=(output, "json" if as_json else form), **options)

    return command
