"""Check how the house is built: imports in src/calipers run one way, and no part grows too large.

Run it from the root of the repository. It reads the source and does not need the layers to
exist; a module that has no place in LAYERS is reported, so that someone gives it one.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# Lowest first: a layer may import itself and what stands before it.
LAYERS = tuple(
    frozenset(rooms.split())
    for rooms in (
        "errors",
        "frozen input_types keywords names operation plugins prefetch shell text version words",
        "functions",
        "model",
        "checks io match measures present statistics",
        "config",
        "engines live store",
        "questions",
        "labels",
        "integrations operations",
        "cli pytest_plugin web",
        "start",
        "__main__",
    )
)
FACES = frozenset({"cli", "pytest_plugin", "web"})
# A folder in here is a room of its own: one question may build on another, never both ways.
OWN_ROOMS = frozenset({"questions"})
NEVER = frozenset({("measures", "match"), ("measures", "polars")})
ONLY_IN = {"click": "cli"}
STANDARD_LIBRARY_ONLY = frozenset().union(*LAYERS[:3]) - {"input_types", "operation"}
# Rooms that are loaded only by the library they serve.
HOST_LIBRARY = {
    "pytest_plugin": frozenset({"pytest"}),
    "web": frozenset({"h11", "starlette", "uvicorn"}),
}
INPUT_TYPES = "calipers.input_types"
# What `import calipers` must leave alone, so that it stays quick.
SLOW = ("numpy", "polars")

MOST_LINES = 600
MOST_MODULES = 30
MOST_WAYS_UP = 3

# Imports inside a function that may break a wall, each with its reason. A circle is never excused.
WAYS_UP: Mapping[tuple[str, str], str] = {
    ("calipers.cli.serve", "calipers.web"): "the commands that start the other face",
}
# Where a module may be loaded by a name that is a string, which this check cannot follow.
BY_STRING = {
    "calipers": "the nouns, each when it is first used",
    "calipers.cli": "the command that was typed",
    "calipers.cli.command": "the operation that a command asks, when it is run",
    "calipers.config": "every operation, where a key is of none that is loaded",
    "calipers.io.files.lock": "the module of this system that locks",
    "calipers.io.registry": "the forms in their folder",
    "calipers.live.adapters.recognise": "the user's retriever",
    "calipers.model.result": "the module that shows a result, when somebody looks",
    "calipers.operations": "the modules that the package lists as homes of its operations",
}

PACKAGE = "calipers"

Graph = dict[str, set[str]]


@dataclass(frozen=True)
class Import:
    """One imported module: its full name, its line, and whether importing the file loads it."""

    name: str
    line: int
    at_load: bool


@dataclass(frozen=True)
class Module:
    """One file of the package: its dotted name, where it is, its length, and what it imports."""

    name: str
    path: Path
    lines: int
    imports: tuple[Import, ...]
    loads_by_string: bool


def room_of(name: str) -> str:
    """Return the folder or file of the package that a module stands in.

    >>> room_of("calipers.io.trec"), room_of("calipers")
    ('io', '')
    """
    return name.partition(".")[2].partition(".")[0]


def imports_of(tree: ast.Module, module: str, *, is_package: bool = False) -> Iterator[Import]:
    """Yield what a module imports, relative imports spelled out, ours with what is taken from it.

    >>> list(imports_of(ast.parse("from ..model import run"), "calipers.io.trec"))
    [Import(name='calipers.model.run', line=1, at_load=True)]
    >>> list(imports_of(ast.parse("from polars import Series"), "calipers.cli.eval"))
    [Import(name='polars', line=1, at_load=True)]
    """
    package = module if is_package else module.rpartition(".")[0]

    def visit(node: ast.AST, at_load: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, at_load)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                parents = parents[: len(parents) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            ours = base.partition(".")[0] == PACKAGE
            for alias in node.names:
                yield Import(f"{base}.{alias.name}" if ours else base, node.lineno, at_load)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for child in ast.iter_child_nodes(node):
                yield from visit(child, False)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for child in node.body:
                yield from (one for one in visit(child, False) if not _only_named(module, one))
            for child in node.orelse:
                yield from visit(child, at_load)
        else:
            for child in ast.iter_child_nodes(node):
                yield from visit(child, at_load)

    yield from visit(tree, True)


def _only_named(module: str, found: Import) -> bool:
    """Whether a type is only named for the type checker where it may be.

    A rule names the settings of its own folder, whose operation loads the rule when it is called.
    What may be handed in names nouns that it must not load.
    """
    if module == INPUT_TYPES:
        return True
    return found.name.startswith(f"{module.rpartition('.')[0]}.settings.")


def read_modules(package: Path) -> Iterator[Module]:
    """Yield every module under the folder of the package."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join([PACKAGE, *(parts[:-1] if is_package else parts)])
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        imports = tuple(imports_of(tree, name, is_package=is_package))
        yield Module(name, path, len(source.splitlines()), imports, loads_by_string(tree))


def loads_by_string(tree: ast.Module) -> bool:
    """Whether a module loads others by names that it makes up or reads.

    >>> loads_by_string(ast.parse("import_module('calipers.questions.sweep.show')"))
    True
    """
    names = (
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    )
    return not {"import_module", "__import__"}.isdisjoint(names)


def layer_of(room: str) -> int | None:
    """Return the height of a room, or None if it has no place."""
    return next((height for height, layer in enumerate(LAYERS) if room in layer), None)


def broken_wall(room: str, found: Import, base_libraries: frozenset[str]) -> str | None:
    """Say which wall an import of this room breaks, or None.

    >>> broken_wall("model", Import("calipers.cli.eval", 1, True), frozenset())
    'model may not import cli, which stands above it'
    """
    top = found.name.partition(".")[0]
    if top == PACKAGE:
        return broken_inner_wall(room, room_of(found.name))
    if top in sys.stdlib_module_names:
        return None
    if room in STANDARD_LIBRARY_ONLY:
        return f"{room} may import only the standard library, not {top}"
    if (room, top) in NEVER:
        return f"{room} may not import {top}"
    if ONLY_IN.get(top, room) != room:
        return f"{room} may not import {top}, which belongs to {ONLY_IN[top]} alone"
    if found.at_load and top not in base_libraries and top not in HOST_LIBRARY.get(room, ()):
        return f"{top} is optional, so it must be imported inside the function that needs it"
    return None


def broken_inner_wall(room: str, target: str) -> str | None:
    """Say which wall is broken when one room of the package imports another, or None."""
    own, other = layer_of(room), layer_of(target)
    if target == room or own is None or other is None:
        return None
    if room in STANDARD_LIBRARY_ONLY and target not in STANDARD_LIBRARY_ONLY:
        return f"{room} may import only the standard library, not {PACKAGE}.{target}"
    if other > own:
        return f"{room} may not import {target}, which stands above it"
    if room in FACES and target in FACES:
        return f"{room} may not import {target}: a face never imports another face"
    if (room, target) in NEVER:
        return f"{room} may not import {target}"
    return None


def way_up(module: Module, found: Import) -> tuple[str, str] | None:
    """Return the entry of WAYS_UP that an import goes by, or None."""
    for start, end in WAYS_UP:
        if module.name == start and f"{found.name}.".startswith(f"{end}.") and not found.at_load:
            return start, end
    return None


def broken_walls(modules: list[Module], base_libraries: frozenset[str]) -> Iterator[str]:
    """Yield one sentence for each import that breaks a wall or cannot be followed."""
    for module in modules:
        room = room_of(module.name)
        if room and layer_of(room) is None:
            yield (
                f"{module.path}: {room} has no place in LAYERS of tools/check_walls.py; give it one"
            )
        if module.name not in BY_STRING and module.loads_by_string:
            yield (
                f"{module.path}: loads a module by a string, which this check cannot follow; "
                "import it by name, or enter the module in BY_STRING of tools/check_walls.py "
                "with its reason"
            )
        told = set[str]()
        for found in module.imports:
            sentence = broken_wall(room, found, base_libraries)
            problem = f"{module.path}:{found.line}: {sentence}"
            if sentence and problem not in told and not way_up(module, found):
                told.add(problem)
                yield problem


def stale_entries(modules: list[Module]) -> Iterator[str]:
    """Yield one sentence for each line of the tables above that nothing in the house answers to."""
    rooms = {room_of(module.name) for module in modules}
    for room in sorted(frozenset().union(*LAYERS) - rooms):
        yield f"LAYERS names {room}, which is not there; take it out"
    for name in sorted(set(BY_STRING) - {m.name for m in modules if m.loads_by_string}):
        yield f"BY_STRING names {name}, which loads nothing by a string; take it out"
    used = {way_up(module, found) for module in modules for found in module.imports}
    for start, end in sorted(set(WAYS_UP) - used):
        yield f"WAYS_UP lets {start} import {end}, which it does not; take it out"
    if len(WAYS_UP) > MOST_WAYS_UP:
        yield f"WAYS_UP has {len(WAYS_UP)} entries, {MOST_WAYS_UP} allowed"


def import_graph(modules: list[Module]) -> Graph:
    """Return which module imports which, whenever it does so and if only for its types."""
    names = {module.name for module in modules}

    def module_of(name: str) -> str:
        while name not in names and name:
            name = name.rpartition(".")[0]
        return name

    return {
        module.name: {module_of(found.name) for found in module.imports} - {"", module.name}
        for module in modules
    }


def room_graph(graph: Graph) -> Graph:
    """Return which room imports which by its right; each question is a room of its own."""

    def own_room(name: str) -> str:
        return ".".join(name.split(".")[: 3 if room_of(name) in OWN_ROOMS else 2])

    rooms: Graph = {}
    for name, targets in graph.items():
        room = own_room(name)
        # An import that breaks a wall is told already, and would draw many circles.
        rightful = [at for at in targets if not broken_inner_wall(room_of(name), room_of(at))]
        rooms.setdefault(room, set()).update({own_room(at) for at in rightful} - {room})
    return rooms


def circles(graph: Graph) -> Iterator[list[str]]:
    """Yield ways that lead back to where they start, the shortest for each that stands on one.

    >>> list(circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}))
    [['b', 'c', 'b']]
    """
    told: set[str] = set()
    for start in sorted(graph):
        ways, seen = [[start]], set[str]()
        while ways and start not in told:
            ways = [[*way, step] for way in ways for step in sorted(graph.get(way[-1], ()))]
            ways = list({way[-1]: way for way in reversed(ways) if way[-1] not in seen}.values())
            seen.update(way[-1] for way in ways)
            if start in seen:
                found = next(way for way in ways if way[-1] == start)
                told.update(found)
                yield found


def too_large(modules: list[Module]) -> Iterator[str]:
    """Yield one sentence for each file that is too long and each folder with too many modules."""
    for module in modules:
        if module.lines > MOST_LINES:
            yield f"{module.path}: {module.lines} lines, {MOST_LINES} allowed; split it by noun"
    folders = Counter(m.path.parent for m in modules if m.path.name != "__init__.py")
    for folder, count in folders.items():
        if count > MOST_MODULES:
            yield f"{folder}: {count} modules, {MOST_MODULES} allowed; make it two folders"


def check(modules: list[Module], base_libraries: frozenset[str]) -> Iterator[str]:
    """Yield one sentence for each thing that is wrong with how the modules are put together."""
    yield from broken_walls(modules, base_libraries)
    graph = import_graph(modules)
    for way in circles(graph):
        yield f"a circle of imports: {' → '.join(way)}"
    for way in circles(room_graph(graph)):
        yield f"a circle of rooms: {' → '.join(way)}"
    yield from too_large(modules)


def slow_imports(source_folder: Path) -> list[str]:
    """Return the slow libraries that a bare `import calipers` loads."""
    code = (
        f"import sys; sys.path.insert(0, sys.argv[1]); import {PACKAGE}; "
        f"print(*[name for name in {SLOW!r} if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(source_folder)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def base_libraries(pyproject: Path) -> frozenset[str]:
    """Return the import names of the libraries that every install has."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    names = (re.match(r"[\w-]+", line) for line in project["dependencies"])
    return frozenset(name[0].lower().replace("-", "_") for name in names if name)


def main() -> int:
    """Print everything that is wrong; 0 if there is nothing, else 1."""
    modules = list(read_modules(Path("src") / PACKAGE))
    problems = [*check(modules, base_libraries(Path("pyproject.toml"))), *stale_entries(modules)]
    problems += [
        f"import {PACKAGE} loads {name}; load it lazily" for name in slow_imports(Path("src"))
    ]
    for problem in problems:
        print(problem)
    print(f"walls and sizes: {f'{len(problems)} broken' if problems else 'all stand'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
