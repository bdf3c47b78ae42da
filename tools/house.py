"""Print what counts in the house: how typed and how plain the code of src/calipers is.

Each row is counted from the syntax tree, beside its goal. Run it from the root of the repository:
`python tools/house.py`, or `python tools/house.py --rooms` for each room on its own. It exits with
1 where a row misses its goal.
"""

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path("src") / "calipers"
EDGE = frozenset({"settings.py", "config.py", "operation.py", "command.py", "options.py"})
"""The files that build settings from texts, where a key is what there is."""
SETTINGS = frozenset({"settings", "asked", "options"})
VAGUE = frozenset({"one", "found", "made", "said", "given", "asked"})
"""Names that say nothing of what they hold."""
LONGEST_FUNCTION = 70
LONGEST_LINE = 90


@dataclass(frozen=True)
class Source:
    """One file of the house, read and parsed."""

    path: Path
    lines: Sequence[str]
    nodes: Sequence[ast.AST]


@dataclass(frozen=True)
class Row:
    """One thing that is counted, and the most of it that is wanted."""

    title: str
    count: Callable[[Source], int]
    goal: float
    per_thousand: bool = False
    """Whether the count is per 1,000 lines."""
    percent_of: Callable[[Source], int] | None = None
    """What the count is a share of."""


def read_source(folder: Path) -> Iterator[Source]:
    """Every file of the folder, parsed."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield Source(path, text.splitlines(), list(ast.walk(ast.parse(text))))


def settings_by_key(source: Source) -> int:
    """Settings that are read by a string, below the edge."""
    if source.path.name in EDGE:
        return 0
    return sum(_is_key(node) for node in source.nodes)


def _is_key(node: ast.AST) -> bool:
    """Whether a node is ``settings["x"]`` or ``settings.get("x")``, of a name or an attribute."""
    if isinstance(node, ast.Subscript):
        owner: ast.expr = node.value
        key: ast.expr | None = node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr != "get" or not node.args:
            return False
        owner = node.func.value
        key = node.args[0]
    else:
        return False
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return name in SETTINGS and isinstance(key, ast.Constant) and isinstance(key.value, str)


def loose_parameters(source: Source) -> int:
    """Parameters that are mappings of texts to anything."""
    loose = {"Mapping[str, Any]", "dict[str, Any]"}
    total = 0
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                kind = parameter.annotation
                total += kind is not None and ast.unparse(kind).strip("'\"") in loose
    return total


def anything(source: Source) -> int:
    """How often the name ``Any`` stands."""
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in source.nodes)


def _functions(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def long_functions(source: Source) -> int:
    """Functions that are longer than a screen."""
    lengths = ((node.end_lineno or 0) - node.lineno + 1 for node in _functions(source))
    return sum(length > LONGEST_FUNCTION for length in lengths)


def tuple_assignments(source: Source) -> int:
    """Several values assigned to several names at once."""
    return sum(
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.value, ast.Tuple)
        for node in source.nodes
    )


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def nested_comprehensions(source: Source) -> int:
    """Comprehensions that hold another one."""
    total = 0
    for node in source.nodes:
        if isinstance(node, _COMPREHENSIONS):
            inner = (child for child in ast.walk(node) if child is not node)
            total += any(isinstance(child, _COMPREHENSIONS) for child in inner)
    return total


def lists_times_tests(source: Source) -> int:
    """A list times a comparison, which hides a condition."""
    total = 0
    for node in source.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = (node.left, node.right)
            has_list = any(isinstance(side, ast.List) for side in sides)
            total += has_list and any(_is_test(side) for side in sides)
    return total


def _is_test(node: ast.expr) -> bool:
    """Whether an expression is true or false."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "bool"
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return is_not or isinstance(node, ast.Compare | ast.BoolOp)


def vague_names(source: Source) -> int:
    """Variables and parameters whose names say nothing."""
    stored = sum(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE
        for node in source.nodes
    )
    return stored + sum(isinstance(node, ast.arg) and node.arg in VAGUE for node in source.nodes)


def long_lines(source: Source) -> int:
    """Lines that are wider than a reader's window."""
    return sum(len(line) > LONGEST_LINE for line in source.lines)


def functions(source: Source) -> int:
    """How many functions there are."""
    return sum(1 for _ in _functions(source))


def undocumented(source: Source) -> int:
    """Functions without a docstring."""
    return sum(ast.get_docstring(node) is None for node in _functions(source))


_NOUNS = frozenset({"Run", "GroundTruth"})


def builders(source: Source) -> int:
    """1 for a file of io that makes a run or a ground truth itself: each is a way to build one."""
    if "io" not in source.path.parts:
        return 0
    return int(any(_makes_a_noun(node) for node in source.nodes))


def _makes_a_noun(node: ast.AST) -> bool:
    """Whether a node is a call of ``Run`` or ``GroundTruth``, or of a method of the class."""
    if not isinstance(node, ast.Call):
        return False
    owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return isinstance(owner, ast.Name) and owner.id in _NOUNS


def comments(source: Source) -> int:
    """Lines that are a comment."""
    return sum(line.lstrip().startswith("#") for line in source.lines)


ROWS = (
    Row("settings read by a string below the edge", settings_by_key, 0),
    Row("parameters that are Mapping[str, Any] or dict[str, Any]", loose_parameters, 20),
    Row("the name Any per 1,000 lines", anything, 8, per_thousand=True),
    Row("functions of more than 70 lines", long_functions, 0),
    Row("tuples assigned to tuples per 1,000 lines", tuple_assignments, 3, per_thousand=True),
    Row("comprehensions in comprehensions per 1,000", nested_comprehensions, 1, per_thousand=True),
    Row("a list times a test", lists_times_tests, 0),
    Row("one, found, made, said, given, asked as names", vague_names, 800),
    Row("lines of more than 90 characters per 1,000", long_lines, 25, per_thousand=True),
    Row("functions without a docstring, percent", undocumented, 24, percent_of=functions),
    Row("files of io that make a run or a ground truth", builders, 1),
)


def measured(row: Row, house: Sequence[Source]) -> float:
    """The value of a row over some files."""
    total = sum(row.count(source) for source in house)
    if row.per_thousand:
        return round(1000 * total / max(1, _lines(house)), 1)
    if row.percent_of is not None:
        return round(100 * total / max(1, sum(row.percent_of(source) for source in house)), 1)
    return total


def _lines(house: Sequence[Source]) -> int:
    return sum(len(source.lines) for source in house)


def table(house: Sequence[Source]) -> Iterator[str]:
    """The rows as lines, with their goals; a star marks one that misses its goal."""
    yield f"{_lines(house):,} lines in {len(house)} files"
    for row in ROWS:
        value = measured(row, house)
        star = " " if value <= row.goal else "*"
        yield f"{star} {row.title:<60} {value:>8g}   goal {row.goal:g}"
    per_thousand = 1000 * sum(comments(source) for source in house) / max(1, _lines(house))
    yield f"  {'comments per 1,000 lines':<60} {per_thousand:>8.1f}"


def main() -> int:
    """Print the table, of the whole house or of each room."""
    house = list(read_source(SOURCE))
    for line in table(house):
        print(line)
    if "--rooms" in sys.argv:
        rooms = sorted({source.path.relative_to(SOURCE).parts[0] for source in house})
        for room in rooms:
            inside = [one for one in house if one.path.relative_to(SOURCE).parts[0] == room]
            print(f"\n{room}")
            for line in table(inside):
                print(line)
    return any(measured(row, house) > row.goal for row in ROWS)


if __name__ == "__main__":
    sys.exit(main())
