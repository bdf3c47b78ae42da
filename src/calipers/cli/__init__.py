"""The command line: each command is a thin call of the library."""

import atexit
import codecs
import gc
import os
import signal
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import Any

import click

from calipers.errors import LOOK, CalipersError, as_sentence, command_line, said_by
from calipers.version import __version__

GROUPS = {
    "Start": {"init": "start", "eval": "eval", "retrieve": "live", "serve": "serve"},
    "Decide": {
        "compare": "compare",
        "sweep": "understand",
        "grow": "understand",
        "fuse": "compare",
        "gate": "decide",
        "grid": "live",
        "plan": "decide",
        "confirm": "truth",
    },
    "Understand": {
        **dict.fromkeys(("diagnose", "misses", "explain"), "understand"),
        "audit": "truth",
    },
    "Ground truth": {"labels": "labels", "convert": "truth", "seal": "truth"},
    "Over time": {"history": "history"},
    "More": {"metrics": "start", "mcp": "mcp"},
}
"""Every command in the order of help, with its module."""
COMMANDS = {name: module for group in GROUPS.values() for name, module in group.items()}
INTERRUPTED = 130
TERMINATED = 143
READER_LEFT = 141
"""Exit codes after Ctrl-C, after SIGTERM, and when the reader closed the pipe."""
_COMPLETING = "_CALIPERS_COMPLETE"
"""Set by a shell that asks for completions; click answers and exits by itself."""


class _SilentErrors(FileIO):
    """Standard error that ignores write errors; Python would exit with 1, a failed gate."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


class _ReaderLeft(Exception):
    """The reader closed the pipe; click would exit with 1, which means a failed gate."""


class _Terminated(KeyboardInterrupt):
    """SIGTERM: the program cleans up as after Ctrl-C."""


def every_command() -> dict[str, click.Command]:
    """Every command, by what is typed after `calipers`; also `gate save` and `sweep --floor`."""
    context = click.Context(group)
    commands = dict[str, click.Command]()
    waiting = [(name, group.get_command(context, name)) for name in reversed(COMMANDS)]
    while waiting:
        name, command = waiting.pop()
        if command is not None:
            commands[name] = command
            inner = getattr(command, "commands", {})
            waiting += [(f"{name} {word}", inner[word]) for word in reversed(inner)]
    return commands


class LazyGroup(click.Group):
    """Loads only the module of the command that runs."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderLeft from error

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click calls it so
        """The names of all commands, those for beginners first."""
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in groups by purpose."""
        for title, names in GROUPS.items():
            with formatter.section(title):
                shown = {name: self.get_command(ctx, name) for name in names}
                formatter.write_dl(
                    [(n, c.get_short_help_str(62)) for n, c in shown.items() if c]
                )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return the command of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"{__name__}.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve the command; suggest the nearest name for an unknown one."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            from calipers.words import did_you_mean

            raise click.UsageError(
                f"There is no command {name!r}; the commands are {', '.join(COMMANDS)}."
                f"{did_you_mean(name, COMMANDS)}",
                ctx,
            )
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 success, 1 a gate failed, 2 bad use or bad input, "
    "70 a fault of Calipers itself.",
)
@click.version_option(__version__, prog_name="calipers")
def group() -> None:
    """Measure the retriever of a RAG pipeline.

    How good it is, at which k, why it fails, and whether the change helped.
    """


def forgiving(errors: TextIOWrapper) -> TextIOWrapper:
    """Wrap standard error so that a full or closed one does not change the exit code."""
    silent = BufferedWriter(_SilentErrors(errors.fileno(), "w", closefd=False))
    return TextIOWrapper(silent, errors.encoding, "backslashreplace", line_buffering=True)


def program() -> None:
    """The installed command: `main` with a fast exit.

    Freeing every object of the libraries would cost each command a tenth of a second, for
    memory that the system takes back anyway.
    """
    code: list[int] = []
    # Registered first, so called last, when threads are done and files are closed.
    atexit.register(_leave, code)
    signal.signal(signal.SIGTERM, _terminate)
    if isinstance(sys.stderr, TextIOWrapper):
        sys.stderr = forgiving(sys.stderr)
    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            code.append(end.code or 0)
        if end.code in (INTERRUPTED, TERMINATED):
            # A user who stops the program should not wait for prefetching threads.
            _leave(code)
        raise


def _terminate(*_: object) -> None:
    raise _Terminated


def _leave(code: list[int]) -> None:
    if (writing := sys.modules.get("calipers.io.files.write")) is not None:
        writing.remove_unfinished()
    # The interpreter reports output that can no longer be written.
    with suppress(OSError, ValueError):
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        if code:
            os._exit(code[0])


def main() -> None:
    """Run the command line; every expected error is one sentence and exit code 2, others 70."""
    # Imports make many objects and free few: the usual garbage collection would take a
    # tenth of the start.
    gc.set_threshold(100_000)
    check_streams()
    codecs.register_error(_SPELLED_OUT, _spelled_out)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A character that the terminal lacks is replaced; it must not end the
            # program.
            stream.reconfigure(errors=_SPELLED_OUT)
    try:
        # Outside of standalone mode click returns the exit code instead of exiting.
        with command_line():
            code = group.main(prog_name="calipers", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt) as error:
        sys.exit(_stopped(error))
    except (_ReaderLeft, BrokenPipeError):
        # The reader closed the pipe (head, a pager). Unwritten output is dropped, or the
        # interpreter would complain at exit. The code is the usual one for this, and no
        # success: the verdict of a gate may not have been read.
        _forget_output()
        sys.exit(READER_LEFT)
    except SystemExit as leaving:
        if _COMPLETING in os.environ:
            sys.exit(leaving.code)
        # No command does this itself: a retriever or a plug-in did.
        click.echo(
            "Error: Code that this command called ended the program (sys.exit with "
            f"{leaving.code!r:.60}); a function must return or raise an error.",
            err=True,
        )
        sys.exit(2)
    except BaseException as error:  # noqa: BLE001 - the last handler: also a panic of the table library
        # Python 3.11 reports Ctrl-C within the body of a class as a RuntimeError.
        by_user = isinstance(error.__cause__, KeyboardInterrupt)
        sys.exit(_stopped(error) if by_user else explain(error))
    else:
        sys.exit(code if isinstance(code, int) else 0)


def _stopped(error: BaseException) -> int:
    """Say that the user stopped the command, and return the exit code."""
    click.echo("Stopped.", err=True)
    # What click and Python raise instead has it as its cause.
    terminated = isinstance(error.__cause__ or error, _Terminated)
    return TERMINATED if terminated else INTERRUPTED


_SPELLED_OUT = "calipers"


def _spelled_out(error: UnicodeError) -> tuple[str, int]:
    from calipers.present.escape import spelled_out  # rarely needed

    return spelled_out(error)


BAD_INPUT = 2
UNEXPECTED = 70
"""EX_SOFTWARE of sysexits.h: an internal error, distinct from a failed gate (1)."""
VARIABLE = "CALIPERS_TRACEBACK"
"""The environment variable that shows where an unexpected error happened."""
LONGEST = 1200
"""The most characters of an error."""


def explain(error: BaseException) -> int:
    """Print the error to standard error, and return the exit code."""
    expected = error if isinstance(error, CalipersError) else as_sentence(error)
    if expected is not None:
        _say(str(expected))
        if isinstance(error, OSError):
            _forget_output()
        return BAD_INPUT
    if os.environ.get(VARIABLE):
        traceback.print_exception(error, file=sys.stderr)
    what = said_by(error).partition("\n")[0]
    _say(f"Calipers met a fault of its own: {type(error).__name__}: {what}")
    click.echo(
        f"Please report it with the command; {VARIABLE}=1 before it shows where it "
        "happened.",
        err=True,
    )
    return UNEXPECTED


def _say(sentence: str) -> None:
    from calipers.present.escape import printable

    first, *looks = sentence.split(LOOK)
    click.echo(f"Error: {printable(first, LONGEST)}", err=True)
    for look in looks:
        click.echo(f"  {printable(look, LONGEST)}", err=True)


def _forget_output() -> None:
    """Drop unwritten output, or the interpreter would complain at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_streams() -> None:
    """Exit at once without a standard output; replace a closed standard error."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end
    if sys.stdout is None:
        _say(
            "Standard output is closed, so nothing can be printed; let it lead somewhere."
        )
        sys.exit(BAD_INPUT)
