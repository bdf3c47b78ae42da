"""The command line as a user meets it: what it prints, where, and with which exit code."""

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from calipers.cli import main

CALIPERS = (sys.executable, "-B", "-c", "from calipers.cli import main; main()")
"""How a process of its own begins, where this one will not do."""


@dataclass(frozen=True)
class Printed:
    code: int
    out: str
    err: str


def calipers_command(*arguments: str | Path, columns: int = 80, encoding: str = "utf-8") -> Printed:
    """Run ``calipers ...`` in this process, on no terminal."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    argv = ["calipers", *map(str, arguments)]
    code = 0
    with (
        mock.patch.object(sys, "argv", argv),
        mock.patch.dict("os.environ", {"COLUMNS": str(columns)}),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
    return Printed(code, _text(out), _text(err))


_APART = """
import json, sys
from tests.command import typed
print(json.dumps([vars(typed(one, columns=200)) for one in json.loads(sys.argv[1])]))
"""


def typed_apart(lines: Sequence[str], folder: Path, *paths: Path) -> list[Printed]:
    """Run lines one after the other in one process, with these folders to import from."""
    done = subprocess.run(
        [sys.executable, "-c", _APART, json.dumps(lines)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Printed(**one) for one in json.loads(done.stdout)]


def typed(line: str, columns: int = 80) -> Printed:
    """Run what follows ``calipers`` on a line, as a shell would divide it."""
    return calipers_command(*shlex.split(line), columns=columns)


def refused(*arguments: str | Path) -> str:
    """The sentence with which a command refuses its input: exit code 2, no result."""
    printed = calipers_command(*arguments)
    assert (printed.code, printed.out) == (2, ""), printed
    assert "Traceback" not in printed.err
    return " ".join(printed.err.split())


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode(stream.encoding)
