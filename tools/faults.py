"""Mutation testing: break one expression of a rule at a time, and see whether its tests fail.

A wrong number is found by comparison with other tools; a wrong rule looks like any other sentence.
Each mutation is made in a copy of the source, and the tests that mirror its module are run with it.
Mutations that no test notices are listed. Run it from the root of the repository:

    make faults ARGS=statistics/paired_rows
    make faults ARGS="questions/gate --most 40"
"""

import argparse
import ast
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

RULES = (
    "statistics",
    "questions/gate",
    "questions/history",
    "questions/slices",
    "questions/sweep",
    "questions/diagnose",
    "questions/compare",
)
"""What is tried when nothing is named, below src/calipers."""
ALLOWED = 0.25
"""The share of mutations that may survive: some change nothing that can be seen."""
PASSED, FAILED = 0, 1
"""Exit codes of pytest; any other says that the tests could not be run."""

# The first example that fails is enough: finding the smallest one takes minutes.
PLUGIN = """
from hypothesis import Phase, settings

def pytest_configure():
    settings.register_profile(
        "faults", deadline=None, derandomize=True, database=None, max_examples=60,
        phases=(Phase.explicit, Phase.generate),
    )
    settings.load_profile("faults")
"""

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

    def __str__(self) -> str:
        return f"src/calipers/{self.module.as_posix()}:{self.line}: {self.old} → {self.new}"


def mutations(source: Path, module: Path) -> Iterator[Mutation]:
    """Every mutation of a module, in the order of its tree."""
    text = (source / module).read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _nodes(ast.parse(text)):
        for other in _others(node):
            new = ast.unparse(other)
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            # Parentheses keep the rest of the expression as it was.
            put = new if isinstance(node, ast.stmt) else f"({new})"
            changed = text[:begin] + put.encode() + text[end:]
            yield Mutation(module, node.lineno, ast.unparse(node), new, changed)


def _nodes(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Expressions and statements that decide something: no annotations, texts or refusals."""
    for name, field in ast.iter_fields(tree):
        if name in UNTRIED:
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.JoinedStr | ast.Raise) or not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.expr | ast.stmt):
                yield child
            yield from _nodes(child)


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
    """The tests that mirror a module: its own file, else those of its folder or of its parent."""
    folder = tests / module.parent
    own = sorted(folder.glob(f"test_{module.stem}*.py"))
    # The rules of a question work together, and so do their tests.
    if own and module.parts[0] != "questions":
        return own
    for place in (folder / module.stem, folder):
        if any(place.glob("test_*.py")) and place != tests / "questions":
            return [place]
    return own or sorted(folder.parent.glob(f"test_{folder.name}*.py"))


class Copies:
    """Copies of the source, one for each worker, and a run of tests on one of them."""

    def __init__(self, source: Path, folder: Path, workers: int) -> None:
        (folder / "without_shrinking.py").write_text(PLUGIN, encoding="utf-8")
        self.folder = folder
        self.source = source
        self.free: queue.Queue[Path] = queue.Queue()
        for number in range(workers):
            place = folder / str(number)
            shutil.copytree(
                source, place / source.name, ignore=shutil.ignore_patterns("__pycache__")
            )
            self.free.put(place)

    def run(self, tests: Sequence[Path], timeout: float, mutation: Mutation | None = None) -> int:
        """The exit code of pytest, with a mutation in the copy; FAILED where time ran out."""
        place = self.free.get()
        try:
            if mutation:
                self._write(place, mutation.module, mutation.text)
            return self._pytest(place, tests, timeout)
        except subprocess.TimeoutExpired:
            return FAILED
        finally:
            if mutation:
                self._write(place, mutation.module, (self.source / mutation.module).read_bytes())
            self.free.put(place)

    def _write(self, place: Path, module: Path, text: bytes) -> None:
        path = place / self.source.name / module
        path.write_bytes(text)
        # Two texts of one size within one second would share their bytecode.
        Path(cache_from_source(str(path))).unlink(missing_ok=True)

    def _pytest(self, place: Path, tests: Sequence[Path], timeout: float) -> int:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no"]
        command += ["-p", "no:cacheprovider", "-p", "without_shrinking"]
        command += ["-o", f"pythonpath={place} .", *map(str, tests)]
        paths = os.pathsep.join([str(place), str(self.folder)])
        done = subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": paths, "CI": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=timeout,
            check=False,
        )
        return done.returncode


def survivors(
    source: Path, tests: Path, module: Path, most: int | None, copies: Copies, workers: int
) -> tuple[int, list[Mutation]]:
    """How many mutations of a module were tried, and those that no test noticed."""
    chosen = list(mutations(source, module))
    if most is not None and len(chosen) > most:
        chosen = [chosen[at * len(chosen) // most] for at in range(most)]
    mirrored = tests_of(module, tests)
    if not chosen or not mirrored:
        return 0, []
    begun = time.monotonic()
    if copies.run(mirrored, 600.0) != PASSED:
        raise SystemExit(f"The tests of {module} fail without any mutation: {mirrored}")
    # With all workers busy a run takes longer; an endless loop takes for ever.
    timeout = 20.0 + 5.0 * (time.monotonic() - begun)
    with ThreadPoolExecutor(workers) as pool:
        codes = list(pool.map(lambda one: copies.run(mirrored, timeout, one), chosen))
    return len(chosen), [one for one, code in zip(chosen, codes, strict=True) if code == PASSED]


def main(arguments: Sequence[str]) -> int:
    """0 where no more than the allowed share of the mutations survives."""
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    parser.add_argument("modules", nargs="*", help="below src/calipers, or folders; else the rules")
    parser.add_argument("--most", type=int, help="at most so many mutations of each module")
    parser.add_argument("--allow", type=float, default=ALLOWED, help="the share that may survive")
    asked = parser.parse_args(arguments)
    source, tests = Path("src/calipers"), Path("tests")
    workers = os.cpu_count() or 1
    tried, survived = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        copies = Copies(source, Path(folder), workers)
        for module in modules(source, asked.modules or RULES):
            count, left = survivors(source, tests, module, asked.most, copies, workers)
            print(f"{module.as_posix()}: {count - len(left)} of {count} noticed", flush=True)
            print(*(f"  survived {one}" for one in left), sep="\n", end="\n" * bool(left))
            tried, survived = tried + count, survived + len(left)
    share = survived / tried if tried else 1.0
    print(f"{tried - survived} of {tried} mutations were noticed; {share:.0%} survived.")
    return int(share > asked.allow)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
