"""Mutation testing: break one expression of a rule at a time, and see whether its tests fail.

A wrong number is found by comparison with other tools; a wrong rule looks like any other sentence.
Each mutation is made in a copy of the source. The tests near it are run with it, until the first
one fails: those of its folder that execute its line, as a traced run of them all has shown. What no
near test notices is listed. Run it from the root of the repository:

    make faults ARGS=statistics/paired_rows
    make faults ARGS="questions/gate --most 12 --seed 1"
    make faults ARGS="io/tables --most 5 --tests tests/io"
"""

import argparse
import ast
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import cache_from_source
from pathlib import Path

from tools.fault_tests import EVERY, Lines, Run

RULES = (
    "statistics",
    "questions/gate",
    "questions/history",
    "questions/slices",
    "questions/sweep",
    "questions/diagnose",
    "questions/compare",
    "io/tables",
    "match",
)
"""What is tried when nothing is named, below src/calipers."""
ALLOWED = 0.25
"""The share of mutations that may survive: some change nothing that can be seen."""
PASSED = 0
"""The exit code of pytest where no test failed."""
LONGEST = 900.0
"""Seconds that the tests of one folder may take without a mutation."""

COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}
OPERATORS: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Div(),
    ast.Div: ast.Mult(),
    ast.FloorDiv: ast.Mult(),
    ast.Pow: ast.Mult(),
}
SHOWING = {"settings", "show"}
"""Modules of a folder that print or declare, and decide nothing."""
UNTRIED = {"annotation", "returns", "decorator_list", "type_params"}
"""Fields of the tree that decide nothing at run time, or only how fast."""


@dataclass(frozen=True)
class Mutation:
    """One expression of a module, and what stands in its place."""

    module: Path
    """Below src/calipers."""
    line: int
    old: str
    new: str
    text: bytes
    """The whole module with the change in it."""
    first: int
    """The first line that a test which executes it has executed,"""
    last: int
    """and the last one."""

    def __str__(self) -> str:
        return f"src/calipers/{self.module.as_posix()}:{self.line}: {self.old} → {self.new}"


def mutations(source: Path, module: Path) -> Iterator[Mutation]:
    """Every mutation of a module, in the order of its tree."""
    text = (source / module).read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(text)
    for node, (first, last) in _nodes(tree, (1, len(starts))):
        for other in _others(node):
            new = ast.unparse(other)
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            # Parentheses keep the rest of the expression as it was.
            put = new if isinstance(node, ast.stmt) else f"({new})"
            changed = text[:begin] + put.encode() + text[end:]
            old = ast.unparse(node)
            yield Mutation(module, node.lineno, old, new, changed, first, last)


def _nodes(
    tree: ast.AST, lines: tuple[int, int]
) -> Iterator[tuple[ast.expr | ast.stmt, tuple[int, int]]]:
    """What decides something, with the lines of its statement: no annotations, texts, refusals."""
    for name, field in ast.iter_fields(tree):
        if name in UNTRIED:
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.JoinedStr | ast.Raise) or not isinstance(child, ast.AST):
                continue
            within = _lines(child, lines) if isinstance(child, ast.stmt) else lines
            if isinstance(child, ast.expr | ast.stmt):
                yield child, within
            yield from _nodes(child, within)


def _lines(statement: ast.stmt, around: tuple[int, int]) -> tuple[int, int]:
    """The lines of which a test has executed one, if it has executed a statement.

    What stands outside of functions is executed by an import, before any test: all that executes
    the module, or the function of a default, counts.
    """
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return statement.lineno, statement.end_lineno or statement.lineno
        case ast.ClassDef():
            return around
        case _ if not around[0] > 1:
            return around
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if body else statement.end_lineno
    return statement.lineno, max(last or 0, statement.lineno)


def _others(node: ast.expr | ast.stmt) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    match node:
        case ast.Compare(left, ops, comparators):
            for at, op in enumerate(ops):
                yield ast.Compare(
                    left, [*ops[:at], COMPARISONS[type(op)], *ops[at + 1 :]], comparators
                )
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(op)], right)
        case ast.AugAssign(target, op, value) if type(op) in OPERATORS:
            yield ast.AugAssign(target, OPERATORS[type(op)], value)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Constant(float(value)):
            yield ast.Constant(value * 2.0 if value else 1.0)
        case ast.Return(ast.Compare() | ast.BoolOp() | ast.UnaryOp(ast.Not())):
            yield from (ast.Return(ast.Constant(value)) for value in (True, False))
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))


def modules(source: Path, wanted: Sequence[str]) -> list[Path]:
    """The modules below the source that are named, whole folders too."""
    found: dict[Path, None] = {}
    for name in wanted:
        place = source / name.removesuffix(".py")
        several = [place.with_suffix(".py")] if not place.is_dir() else sorted(place.rglob("*.py"))
        if not several[0].is_file():
            raise SystemExit(f"There is no {place}.py and no folder {place}.")
        found |= {one.relative_to(source): None for one in several if one.stem not in SHOWING}
    return list(found)


def tests_of(module: Path, tests: Path) -> list[Path]:
    """The tests near a module: those of its folder, else those of its parent that name it."""
    folder = tests / module.parent
    if any(folder.glob("test_*.py")) and folder != tests / "questions":
        return sorted(folder.rglob("test_*.py"))
    own = sorted(folder.glob(f"test_{module.stem}*.py"))
    return own or sorted(folder.parent.glob(f"test_{folder.name}*.py"))


@dataclass(frozen=True)
class NearTests:
    """Which of the tests of a folder execute which lines, and how long each of them takes."""

    files: list[Path]
    lines: Lines
    seconds: dict[str, float]

    def of(self, mutation: Mutation, path: Path) -> list[str]:
        """The tests that execute a mutation, quick ones and those of its own file first."""
        everywhere = self._executes(EVERY, mutation, path)
        chosen = []
        for test in self.seconds:
            # What a fixture executes is noted for the file, as it may serve all tests of it.
            within = (test, test.split("::")[0])
            if everywhere or any(self._executes(name, mutation, path) for name in within):
                chosen.append(test)
        own = f"test_{path.stem}"
        return sorted(chosen, key=lambda test: (own not in test, self.seconds[test]))

    def _executes(self, test: str, mutation: Mutation, path: Path) -> bool:
        """Whether one of the lines of a mutation was executed during a test."""
        executed = self.lines.get(test, {}).get(str(path), [])
        return any(mutation.first <= line <= mutation.last for line in executed)


class Copy:
    """A copy of the source that is mutated, and the process that runs tests on it."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source = source
        self.folder = folder
        self.package = folder / source.name
        shutil.copytree(source, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("fault_tests.py"))],
            env={**os.environ, "PYTHONPATH": str(folder), "CI": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """End the process."""
        self.process.communicate()

    def trace(self, files: list[Path]) -> NearTests:
        """What each test executes, in a run without a mutation, which has to pass."""
        notes = self.folder / "lines.json"
        if code := self._run(files, [], LONGEST, trace=str(self.package), notes=str(notes)):
            raise SystemExit(f"Without any mutation pytest ends with {code}: {files[0].parent}")
        return NearTests(files, **json.loads(notes.read_text(encoding="utf-8")))

    def notices(self, mutation: Mutation, near: NearTests) -> bool:
        """Whether a test fails with a mutation, or takes so long that it never ends."""
        tests = near.of(mutation, self.package / mutation.module)
        if not tests:
            return False
        # On a busy machine a run takes longer; an endless loop takes for ever.
        longest = 20.0 + 5.0 * sum(near.seconds[test] for test in tests)
        wanted = {test.split("::")[0] for test in tests}
        files = [file for file in near.files if file.as_posix() in wanted]
        self._write(mutation.module, mutation.text)
        try:
            return self._run(files, tests, longest) != PASSED
        finally:
            self._write(mutation.module, (self.source / mutation.module).read_bytes())

    def _write(self, module: Path, text: bytes) -> None:
        path = self.package / module
        path.write_bytes(text)
        # Two texts of one size within one second would share their bytecode.
        Path(cache_from_source(str(path))).unlink(missing_ok=True)

    def _run(
        self,
        files: list[Path],
        tests: list[str],
        seconds: float,
        trace: str | None = None,
        notes: str | None = None,
    ) -> int:
        """The exit code of pytest."""
        if self.process.stdin is None or self.process.stdout is None:
            raise SystemExit("The process that runs tests has no pipes.")
        run = Run([str(file) for file in files], tests, seconds, trace, notes)
        print(json.dumps(asdict(run)), file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())


def choose(every: list[Mutation], most: int | None, seed: int) -> list[Mutation]:
    """At most so many mutations, drawn with a seed, in the order of the file."""
    if most is None or len(every) <= most:
        return every
    places = sorted(random.Random(seed).sample(range(len(every)), most))  # noqa: S311
    return [every[place] for place in places]


def try_module(
    module: Path, chosen: list[Mutation], of: int, copy: Copy, near: NearTests
) -> list[Mutation]:
    """The mutations of a module that no near test notices, each printed when it is known."""
    survivors = []
    for mutation in chosen:
        if not copy.notices(mutation, near):
            survivors.append(mutation)
            print(f"  survived {mutation}", flush=True)
    noticed = len(chosen) - len(survivors)
    sampled = f", of {of:,} that there are" if of > len(chosen) else ""
    print(f"{module.as_posix()}: {noticed} of {len(chosen)} noticed{sampled}", flush=True)
    return survivors


def main(arguments: Sequence[str]) -> int:
    """0 where no more than the allowed share of the mutations survives."""
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    parser.add_argument("modules", nargs="*", help="below src/calipers, or folders; else the rules")
    parser.add_argument("--most", type=int, help="at most so many mutations of each module, drawn")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--tests", type=Path, help="a folder of tests, else the one near a module")
    parser.add_argument("--allow", type=float, default=ALLOWED, help="the share that may survive")
    options = parser.parse_args(arguments)
    source = Path("src/calipers")
    tried = 0
    survived = 0
    traced: dict[tuple[Path, ...], NearTests] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(Copy(source, Path(folder).resolve())) as copy,
    ):
        for module in modules(source, options.modules or RULES):
            every = list(mutations(source, module))
            files = tests_of(module, Path("tests"))
            if options.tests is not None:
                files = sorted(options.tests.rglob("test_*.py"))
            if not every or not files:
                continue
            # The tests of a folder are traced once for all of its modules.
            if tuple(files) not in traced:
                traced[tuple(files)] = copy.trace(files)
            chosen = choose(every, options.most, options.seed)
            left = try_module(module, chosen, len(every), copy, traced[tuple(files)])
            tried += len(chosen)
            survived += len(left)
    share = survived / tried if tried else 1.0
    print(f"{tried - survived} of {tried} mutations were noticed; {share:.0%} survived.")
    return int(share > options.allow)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
