"""Write src/calipers/__init__.pyi: every public name, and every keyword of every operation.

Editors and type checkers read this stub. It is made from the settings that operations declare, so
that a keyword is written once. `--check` fails where the stub is not what would be written.
"""

import ast
import builtins
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import calipers
from calipers import _HOMES, input_types
from calipers.operation import Argument, arguments
from calipers.operations import OPERATIONS

STUB = Path(__file__).parents[1] / "src" / "calipers" / "__init__.pyi"
HEAD = '''"""Every public name, with every keyword: what editors and type checkers read.

Written by tools/write_stub.py from the settings of the operations; `make stub` writes it again.
"""
'''
ALIASES = [name for name in vars(input_types) if name.endswith("Input") or name == "PathText"]
"""The named unions, which the stub shows by their names."""


class Imports:
    """The imports that the stub needs, collected while types are written."""

    def __init__(self) -> None:
        self.names: dict[str, set[str]] = {}

    def use(self, module: str, name: str) -> str:
        """Import a name, and return it."""
        self.names.setdefault(module, set()).add(name)
        return name

    def lines(self) -> Iterator[str]:
        """The import statements, without those of names that the stub exports itself."""
        for module in sorted(self.names):
            for name in sorted(self.names[module]):
                yield f"from {module} import {name}"


def as_text(kind: Any, imports: Imports) -> str:
    """A type as it is written in a stub."""
    if kind is None or kind is types.NoneType:
        return "None"
    if kind is Any:
        return imports.use("typing", "Any")
    if kind is Ellipsis:
        return "..."
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _union(kind, imports)
    if origin is Literal:
        imports.use("typing", "Literal")
        return f"Literal[{', '.join(map(repr, get_args(kind)))}]"
    if isinstance(kind, list):
        return f"[{', '.join(as_text(member, imports) for member in kind)}]"
    if origin is not None:
        inner = get_args(kind)
        if origin is Callable or origin.__name__ == "Callable":
            imports.use("collections.abc", "Callable")
            takes, gives = inner[:-1], inner[-1]
            before = takes[0] if takes and isinstance(takes[0], list) else list(takes)
            shown = "..." if takes == (Ellipsis,) else as_text(before, imports)
            return f"Callable[{shown}, {as_text(gives, imports)}]"
        members = ", ".join(as_text(member, imports) for member in inner)
        return f"{_class(origin, imports)}[{members}]"
    return _class(kind, imports)


def _union(kind: Any, imports: Imports) -> str:
    """A union; the largest named unions within it are written by their names."""
    left = list(get_args(kind))
    parts: list[str] = []
    named = sorted(ALIASES, key=lambda name: -len(get_args(getattr(input_types, name))))
    for name in named:
        members = get_args(getattr(input_types, name))
        if len(members) > 1 and all(member in left for member in members):
            parts.append(imports.use("calipers.input_types", name))
            left = [member for member in left if member not in members]
    rest = [as_text(member, imports) for member in left if member is not types.NoneType]
    ends = ["None"] if types.NoneType in left else []
    return " | ".join([*parts, *rest, *ends])


def _class(kind: Any, imports: Imports) -> str:
    """A class by its name, imported unless it is built in."""
    module = "os" if kind.__module__ in ("posixpath", "ntpath") else kind.__module__
    if module == "builtins":
        return str(kind.__name__)
    if _HOMES.get(kind.__name__) == module:
        return str(kind.__name__)
    return imports.use(module, kind.__name__)


def _default(argument: Argument) -> str:
    """The default of an argument, as it is written in a stub."""
    value = argument.default
    simple = value is None or isinstance(value, str | int | float | bool)
    return repr(value) if simple or value == () else "..."


def _returned(function: Callable[..., Any], imports: Imports) -> str:
    """The return type, whose names the module of the function imports for type checkers."""
    annotation = inspect.signature(inspect.unwrap(function), follow_wrapped=False).return_annotation
    if not isinstance(annotation, str):
        return as_text(annotation, imports)
    tree = ast.parse(Path(inspect.getfile(inspect.unwrap(function))).read_text(encoding="utf-8"))
    known = {
        name.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for name in node.names
    }
    home = inspect.unwrap(function).__module__
    for node in ast.walk(ast.parse(annotation, mode="eval")):
        if isinstance(node, ast.Name) and not hasattr(builtins, node.id):
            module = known.get(node.id, home)
            if _HOMES.get(node.id) != module:
                imports.use(module, node.id)
    return annotation


def operation_stub(function: Callable[..., Any], imports: Imports) -> str:
    """The stub of one operation: its signature with every keyword, and its first line."""
    name = function.__name__
    raw = inspect.signature(inspect.unwrap(function), follow_wrapped=False).parameters
    known = arguments(function)
    placed: list[str] = []
    keywords: list[str] = []
    for parameter in raw.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            placed.append(f"*{parameter.name}: {as_text(parameter.annotation, imports)}")
        elif parameter.name in known:
            argument = known[parameter.name]
            is_keyword = parameter.kind is parameter.KEYWORD_ONLY
            (keywords if is_keyword else placed).append(_parameter(argument, imports))
    keywords += [_parameter(one, imports) for one in known.values() if one.is_member]
    starred = any(one.startswith("*") for one in placed)
    star = ["*"] if keywords and not starred else []
    lines = ",\n".join(f"    {one}" for one in (*placed, *star, *keywords))
    first = (inspect.getdoc(inspect.unwrap(function)) or "").partition("\n")[0]
    returned = _returned(function, imports)
    return f'def {name}(\n{lines},\n) -> {returned}:\n    """{first}"""\n'


def _parameter(argument: Argument, imports: Imports) -> str:
    kind = as_text(argument.kind, imports)
    return f"{argument.name}: {kind}" + ("" if argument.needed else f" = {_default(argument)}")


def stub() -> str:
    """The whole stub."""
    imports = Imports()
    exported: list[str] = []
    operations: list[str] = []
    for name, module in sorted(_HOMES.items(), key=lambda pair: (pair[1], pair[0])):
        value = getattr(calipers, name)
        if name in OPERATIONS or hasattr(value, "__wrapped__"):
            operations.append(operation_stub(value, imports))
        else:
            exported.append(f"from {module} import {name} as {name}")
    lines = sorted([*imports.lines(), *exported])
    names = ["__all__: list[str]", "", "_HOMES: dict[str, str]", ""]
    return "\n".join([HEAD, *lines, "", *names, *operations])


def main() -> int:
    """Write the stub, or compare it with `--check`."""
    import subprocess

    ruff = [sys.executable, "-m", "ruff"]
    written = stub()
    for arguments_ in (["check", "--select", "I", "--fix", "-q"], ["format", "-q"]):
        done = subprocess.run(
            [*ruff, *arguments_, "--stdin-filename", str(STUB), "-"],
            input=written,
            capture_output=True,
            text=True,
            check=False,
        )
        written = done.stdout or written
    if "--check" not in sys.argv:
        STUB.write_text(written, encoding="utf-8")
        return 0
    if STUB.read_text(encoding="utf-8") == written:
        return 0
    print("src/calipers/__init__.pyi is not what the settings say; write it: make stub")
    return 1


if __name__ == "__main__":
    sys.exit(main())
