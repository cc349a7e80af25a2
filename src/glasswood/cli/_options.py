"""What commands share: the form of their help, and options that several of them have."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from glasswood.cli._files import load_model
from glasswood.cli._output import FORMATS

__all__ = ["DEBUG", "MODEL", "Command", "as_json", "model_options", "output_file", "output_options", "table_options"]

DEBUG = "--debug"

MODEL = click.Path(exists=True, dir_okay=False, path_type=Path)

Function = Callable[..., Any]


class Command(click.Command):
    """A command whose help ends in examples.

    Parameters
    ----------
    examples : sequence of str
        Lines to type.
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
    """Give a command what opening models takes; it gets `opened`, a function from paths to models."""

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
        help="Open pickle and joblib files. They can run any code: only for files that you made yourself.",
    )
    @functools.wraps(function)
    def command(*, trusted: tuple[str, ...], pickles: bool, **options: Any) -> Any:
        return function(opened=lambda path: load_model(path, trusted=trusted, pickles=pickles), **options)

    return command


def as_json(function: Function) -> Function:
    """Give a command --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def output_file(what: str, default: str) -> Callable[[Function], Function]:
    """Give a command -o, for a file that is always written."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, writable=True, path_type=Path),
        default=default,
        show_default=True,
        help=f"{what}. It is overwritten if it exists.",
    )


def output_options(function: Function) -> Function:
    """Give a command what asks for one output; it gets `asked`, as arguments of questions."""

    @click.option(
        "--output-name",
        metavar="LABEL",
        help="One output, by its label (a class, the number of a target); all by default, of two classes the second.",
    )
    @click.option("--output-index", type=int, metavar="N", help="The same, by its position among the labels, from 0.")
    @functools.wraps(function)
    def command(*, output_name: str | None, output_index: int | None, **options: Any) -> Any:
        return function(asked={"output": output_name, "output_index": output_index}, **options)

    return command


def table_options(function: Function) -> Function:
    """Give a command that prints a table -o and --format (--json for short); it gets `destination`."""

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
    def command(*, output: str, form: str | None, as_json: bool, **options: Any) -> Any:
        return function(destination=(output, "json" if as_json else form), **options)

    return command
