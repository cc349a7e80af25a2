"""The group of all commands, and error handling: one line on standard error, and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence

import click
from click.shell_completion import get_completion_class

from glasswood import Explainer, __version__, compare
from glasswood.cli import _bench, _check, _report, _summarize
from glasswood.errors import GlasswoodError, ModelMismatchError
from glasswood.parallel._progress import hidden
from glasswood.questions import parts
from glasswood.terminal._context import Context
from glasswood.terminal._options import DEBUG, Command
from glasswood.terminal._words import in_options
from glasswood.text._printable import printable

__all__ = ["app", "run"]

FAILED, WRONG_INPUT, UNEXPECTED, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141

COMPLETE = "_GLASSWOOD_COMPLETE"  # the variable that a shell sets to request completions

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

EPILOG = """\b
Exit codes:
  0  done
  1  a check failed: scores differ from those of the model's library, a limit of compare is exceeded, or a
     declared monotone constraint is broken
  2  wrong usage, a file that cannot be read, or limits that cannot be judged
  3  an unexpected error (please report it)

\b
Start with:
  glasswood info model.json
  glasswood check model.json rows.parquet
  glasswood report model.json rows.parquet -o model.html
"""


class Commands(click.Group):
    """The commands, in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (the order is the same for all)
        """Return the names in the order in which they were added."""
        return list(self.commands)


@click.group(cls=Commands, context_settings=SETTINGS, epilog=EPILOG, invoke_without_command=True)
@click.version_option(__version__, "-V", "--version", message="glasswood %(version)s")
@click.option(DEBUG, is_flag=True, expose_value=False, help="Show the traceback of an error.")
@click.pass_context
def app(ctx: click.Context) -> None:
    """Show what a decision-tree ensemble has learned: exactly, on all rows.

    MODEL is a file of XGBoost (.json, .ubj), LightGBM (.txt) or CatBoost (.cbm, .json), or a scikit-learn model saved
    with skops (.skops). DATA is Parquet (a file, a folder, or a quoted pattern) or CSV. A background (.gw) is written
    by `glasswood summarize`.
    """
    ctx.obj = Context(Explainer, compare)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(WRONG_INPUT)


@click.command(
    cls=Command,
    short_help="Print a script that completes commands in a shell.",
    examples=["glasswood completion bash >> ~/.bashrc"],
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(*, shell: str) -> None:
    """Print a script that completes commands, options and files in SHELL."""
    kind = get_completion_class(shell)
    if kind is not None:  # always true: the Choice has checked it
        click.echo(kind(app, {}, "glasswood", COMPLETE).source())


for commands in (_report, _check, _summarize, *parts("_command"), _bench):
    for command in commands.COMMANDS:
        app.add_command(command)
app.add_command(completion)


def run(arguments: Sequence[str] | None) -> int:
    """Run a command and return the exit code."""
    if COMPLETE in os.environ:  # a shell requests completions
        app.main(prog_name="glasswood", complete_var=COMPLETE)
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with hidden(unless=sys.stderr.isatty()), app.make_context("glasswood", list(arguments)) as ctx:
            app.invoke(ctx)
        sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except BrokenPipeError:  # the output pipe was closed, for example by `head`
        _stop_writing()
        return BROKEN_PIPE
    except (click.Abort, KeyboardInterrupt):
        click.echo("glasswood: interrupted", err=True)
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the last place where an error can be reported)
        if DEBUG in arguments:
            traceback.print_exc()
        message, code = explained(error)
        click.echo(f"glasswood: error: {message}", err=True)
        return code
    return 0


def _stop_writing() -> None:
    """Discard unflushed output, so that Python does not raise an error at exit."""
    with contextlib.suppress(OSError), open(os.devnull, "w") as nowhere:  # noqa: PTH123 (a device)
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def explained(error: Exception) -> tuple[str, int]:
    """Return an error as a one-line message, and its exit code."""
    if isinstance(error, click.UsageError):
        where = "glasswood" if error.ctx is None else error.ctx.command_path
        return f"{_line(error.format_message())} (see: {where} --help)", WRONG_INPUT
    if isinstance(error, click.ClickException):
        return _line(error.format_message()), WRONG_INPUT
    if isinstance(error, ModelMismatchError):
        return _line(str(error)), FAILED
    if isinstance(error, GlasswoodError):
        return in_options(_line(str(error))), WRONG_INPUT
    if isinstance(error, OSError) and error.filename is not None:
        return f"{printable(str(error.filename))}: {error.strerror}", WRONG_INPUT
    if isinstance(error, ValueError | OSError):
        return _line(str(error)), WRONG_INPUT
    return f"unexpected {type(error).__name__}: {_line(str(error))} ({DEBUG} shows where)", UNEXPECTED


def _line(message: str) -> str:
    """Return a message on one line, without control characters."""
    return printable(" ".join(message.split()))
