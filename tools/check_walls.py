"""Check that imports in src/calipers run one way, and that libraries stay in their rooms.

Run it from the root of the repository. It reads the source and does not need the layers to
exist; a module that has no place in LAYERS is reported, so that someone gives it one.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Lowest first: a layer may import itself and what stands before it.
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"errors"}),
    frozenset({"ahead", "names", "plugins", "suggest", "version", "words"}),
    frozenset({"text"}),
    frozenset({"functions"}),
    frozenset({"model"}),
    frozenset({"checks", "config", "io", "match", "measures"}),
    frozenset({"analyse"}),
    frozenset({"retrievers", "engines", "store"}),
    frozenset({"chat", "grids"}),
    frozenset({"api", "spark"}),
    frozenset({"integrations"}),
    frozenset({"present"}),
    frozenset({"cli", "web", "pytest_plugin"}),
    frozenset({"__main__"}),
)
FACES = frozenset({"cli", "web", "pytest_plugin"})
NEVER = frozenset(
    {("measures", "match"), ("measures", "polars"), ("present", "analyse"), ("present", "api")}
)
ONLY_IN = {"click": "cli"}
STANDARD_LIBRARY_ONLY = frozenset(
    {"ahead", "errors", "functions", "names", "plugins", "suggest", "text", "words"}
)
# Rooms that are loaded only by the library they serve.
HOST_LIBRARY = {
    "pytest_plugin": frozenset({"pytest"}),
    "web": frozenset({"starlette", "uvicorn"}),
}
# What `import calipers` must leave alone, so that it stays quick.
SLOW = ("numpy", "polars")

# The one way up: a result that is asked to show or to save itself loads what does it, then; and
# the command that starts the other face.
WAYS_UP = {
    ("calipers.cli.serve", "calipers.web"),
    ("calipers.cli.serve", "calipers.web.sources"),
    ("calipers.labels.agreement_result", "calipers.io.records.kept"),
    ("calipers.questions.diff.result", "calipers.io.records.label_files"),
    ("calipers.labels.draft_result", "calipers.io.records.label_files"),
    ("calipers.model.machine", "calipers.io.records.kept"),
    ("calipers.model.machine", "calipers.io.records.label_files"),
    ("calipers.model.showing", "calipers.present.printers"),
    ("calipers.model.showing", "calipers.present.notebook"),
    ("calipers.questions.plot.result", "calipers.questions.plot.show"),
    ("calipers.questions.report.result", "calipers.questions.report.show"),
    ("calipers.model.scores", "calipers.measures.spec"),
    ("calipers.questions.resolve.result", "calipers.io.records.kept"),
    ("calipers.questions.traces.result", "calipers.io.records.kept"),
}
# Where a module may be loaded by a name that is a string, which this check cannot follow.
BY_STRING = {
    "calipers": "the nouns, each when it is first used",
    "calipers.cli": "the command that was typed",
    "calipers.operation": "the class that a quoted annotation names",
    "calipers.questions.tokens": "the user's tokenizer",
    "calipers.plugins": "what other packages bring",
    "calipers.live.adapters.recognise": "the user's retriever",
    "calipers.store.mlflow_log": "MLflow, which has no types",
}

PACKAGE = "calipers"


@dataclass(frozen=True)
class Import:
    """One imported module: its full name, its line, and whether importing the file loads it."""

    name: str
    line: int
    at_load: bool


def imports_of(source: str, module: str, *, is_package: bool = False) -> Iterator[Import]:
    """Yield what a module imports, relative imports spelled out.

    >>> list(imports_of("from ..model import run", "calipers.io.trec"))
    [Import(name='calipers.model', line=1, at_load=True)]
    >>> [found.name for found in imports_of("from calipers import api, io", "calipers.cli.eval")]
    ['calipers.api', 'calipers.io']
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
            names = [f"{base}.{alias.name}" for alias in node.names] if base == PACKAGE else [base]
            for name in names:
                yield Import(name, node.lineno, at_load)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for child in ast.iter_child_nodes(node):
                yield from visit(child, False)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for child in node.body:
                yield from visit(child, False)
            for child in node.orelse:
                yield from visit(child, at_load)
        else:
            for child in ast.iter_child_nodes(node):
                yield from visit(child, at_load)

    yield from visit(ast.parse(source), True)


def loads_by_string(source: str) -> bool:
    """Whether a module loads others by names that it makes up or reads.

    >>> loads_by_string("import_module('calipers.questions.plot.show')")
    True
    """
    names = (
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(ast.parse(source))
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
    top, _, rest = found.name.partition(".")
    if top == PACKAGE:
        return broken_inner_wall(room, rest.partition(".")[0])
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


def check(package: Path, base_libraries: frozenset[str]) -> Iterator[str]:
    """Yield one sentence for each broken wall under the folder of the package."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        room = "" if parts == ("__init__",) else parts[0]
        if room and layer_of(room) is None:
            yield f"{path}: {room} has no place in LAYERS of tools/check_walls.py; give it one"
        module = ".".join([PACKAGE, *(parts[:-1] if is_package else parts)])
        source = path.read_text(encoding="utf-8")
        if module not in BY_STRING and loads_by_string(source):
            yield (
                f"{path}: loads a module by a string, which this check cannot follow; import it by "
                "name, or enter the module in BY_STRING of tools/check_walls.py with its reason"
            )
        for found in imports_of(source, module, is_package=is_package):
            if not found.at_load and (module, found.name) in WAYS_UP:
                continue
            sentence = broken_wall(room, found, base_libraries)
            if sentence:
                yield f"{path}:{found.line}: {sentence}"


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
    """Print every broken wall; 0 if there is none, else 1."""
    problems = list(check(Path("src") / PACKAGE, base_libraries(Path("pyproject.toml"))))
    problems += [
        f"import {PACKAGE} loads {name}; load it lazily" for name in slow_imports(Path("src"))
    ]
    for problem in problems:
        print(problem)
    print(f"import walls: {f'{len(problems)} broken' if problems else 'all stand'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
