"""Detect the type of a retriever: an address, a command, a function."""

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import calipers.plugins as plugins
from calipers.errors import InvalidInput, said_by
from calipers.live.adapters.base import Retriever, Secrets
from calipers.live.adapters.callable import caller, from_callable, name_of
from calipers.live.answers import LAYOUT, Layout
from calipers.live.code import code_of, file_named, file_of, local_files, reload_stale
from calipers.live.keywords import RetrieverOptions
from calipers.operation import flat
from calipers.words import did_you_mean

FORMS = (
    "an address (http://host/search?q={query}&k={k}), a command (cmd:./search), a tool "
    "of an MCP server (mcp:COMMAND#TOOL, mcp:http://host/mcp#TOOL), a Python function "
    "(package.module:function or file.py:function), or word matching (words:FOLDER)"
)

METHODS = (
    "invoke",
    "retrieve",
    "get_relevant_documents",
    "search",
    "ainvoke",
    "aretrieve",
    "aget_relevant_documents",
    "asearch",
)
"""Methods that are called with a question, the first that an object has; async ones
last."""
RETRIEVING = ("search", "retriev", "query", "find", "lookup", "similar")
"""Parts of names of methods that retrieve."""
MOST_METHODS = 8
"""Methods that a sentence names."""

KINDS: dict[str, tuple[str, str, tuple[str, ...], str]] = {
    "http:": ("adapters.http", "from_address", ("request", "headers"), "an address"),
    "https:": ("adapters.http", "from_address", ("request", "headers"), "an address"),
    "cmd:": ("adapters.command", "from_command", (), "a command"),
    "mcp:": ("adapters.mcp", "from_mcp", ("request", "headers"), "a tool of MCP"),
    "words:": ("word_matching", "from_words", (), "word matching"),
}
"""How a text begins, what makes a retriever of it, the options that it takes, and its
name."""


def as_retriever(value: object, options: RetrieverOptions | None = None) -> Retriever:
    """Return the retriever that a text names or an object provides."""
    chosen = options or RetrieverOptions()
    paths = {name: path for name, path in flat(chosen).items() if name in LAYOUT}
    named = _own_options(chosen)
    if isinstance(value, Retriever):
        set_paths = {name: path for name, path in paths.items() if path is not None}
        _check({**named, **set_paths}, (), "a retriever")
        return value
    layout = Layout.from_texts(paths)
    if isinstance(value, str):
        scheme, _, target = value.partition(":")
        if f"{scheme}:" in KINDS:
            place, make, takes, what = KINDS[f"{scheme}:"]
            _check(named, takes, what)
            # Imported lazily: the network modules take longer to load than a small
            # evaluation.
            maker = getattr(importlib.import_module(f"calipers.live.{place}"), make)
            whole = value if scheme.startswith("http") else target
            return cast("Retriever", maker(whole, layout=layout, **named))
        if scheme in plugins.declared(plugins.RETRIEVERS):
            return _from_plugin(scheme, target, layout, chosen)
        loaded, module = load_target(value)
        return _from_object(loaded, layout, chosen, value, code_of(loaded, module))
    return _from_object(value, layout, chosen, None, code_of(value))


def _own_options(options: RetrieverOptions) -> dict[str, object]:
    """The options that are set, by name, without the paths into an answer."""
    return {
        name: option
        for name, option in flat(options).items()
        if option is not None and name not in LAYOUT
    }


def _from_plugin(
    scheme: str, target: str, layout: Layout, options: RetrieverOptions
) -> Retriever:
    """The retriever that a plug-in makes of the text after its name and a colon."""
    name = f"{scheme}:{target}" if target else scheme
    make = plugins.load(plugins.RETRIEVERS, scheme)
    try:
        retriever = make(target) if make is not None else None
        if retriever is None:
            raise ValueError("it gives nothing")
    except Exception as error:
        raise InvalidInput(
            f"The retriever {name!r} cannot be made: its plug-in raises "
            f"{type(error).__name__}: {Secrets().redact(said_by(error))[:300]}; check "
            "what stands after the colon."
        ) from error
    if isinstance(retriever, Retriever):
        _check(_own_options(options), (), "a retriever")
        return retriever
    return _from_object(retriever, layout, options, name, code_of(retriever))


def _from_object(
    value: object,
    layout: Layout,
    options: RetrieverOptions,
    name: str | None,
    code: Mapping[str, str],
) -> Retriever:
    """The retriever that calls a function, or the method by which an object retrieves."""
    ask = value if callable(value) else _method_of(value)
    if ask is None:
        raise InvalidInput(_cannot_be_asked(value, name))
    _check(_own_options(options), ("params",), "a function")
    return from_callable(
        ask,
        name=name or name_of(value),
        params=options.params,
        layout=layout,
        code=code,
    )


def _method_of(value: object) -> Callable[..., object] | None:
    """The method by which an object of LangChain, LlamaIndex or their kin retrieves."""
    for name in METHODS:
        method = getattr(value, name, None)
        if callable(method) and _takes_a_question(method):
            return cast("Callable[..., object]", method)
    return None


def _takes_a_question(method: Callable[..., object]) -> bool:
    """Whether a method can be called with a question, and a number of results."""
    try:
        caller(method, {}, "it")
    except InvalidInput:
        return False
    return True


def _cannot_be_asked(value: object, name: str | None) -> str:
    """The sentence about an object that is no retriever: it names the methods to choose from."""
    kind = type(value).__name__
    own = _methods_to_pass(value)
    has = next((name for name in METHODS if callable(getattr(value, name, None))), None)
    why = (
        f"it has none of the methods {', '.join(METHODS[:4])}"
        if has is None
        else f"its method {has} needs more than a question and a number of results"
    )
    advice = (
        "give a function of (query, k) that returns what the client answers, such as "
        "lambda query, k: store.similarity_search_with_score(query, k=k), or a text that "
        "names one."
    )
    if own and not isinstance(
        value, str | bytes | int | float | complex | Mapping | list | tuple
    ):
        some = ", ".join(own[:MOST_METHODS]) + (", …" if len(own) > MOST_METHODS else "")
        advice = (
            f"pass one of its methods ({some}) or a function of (query, k) that calls "
            f"one, such as lambda query, k: {kind.lower()}.{own[0]}(query)."
        )
    return (
        f"{name or 'The retriever'} is a {kind}, which Calipers does not know how to "
        f"ask: {why}; {advice}"
    )


def _methods_to_pass(value: object) -> list[str]:
    """The methods that a question may be passed to, those that are named so first."""
    own = [
        name
        for name in dir(type(value))
        if not name.startswith("_")
        and callable(getattr(type(value), name, None))
        and _takes_a_question(getattr(value, name))
    ]
    ranks = {name: sum(word in name for word in RETRIEVING) for name in own}
    # The shortest is the plain one: similarity_search before …_with_score.
    return sorted(
        own, key=lambda name: (not ranks[name], name[:1] == "a", len(name), name)
    )


def check_target(target: str) -> None:
    """Refuse a text that cannot name a retriever, without importing anything."""
    if target.startswith((*KINDS,)):
        return
    place, _, attribute = target.rpartition(":")
    declared = target.partition(":")[0] in plugins.declared(plugins.RETRIEVERS)
    if not declared and not (place and attribute):
        raise InvalidInput(f"The retriever {target!r} cannot be read; write {FORMS}.")


def load_target(target: str) -> tuple[Any, ModuleType]:
    """The object that ``package.module:name`` or ``file.py:name`` names, and its module."""
    check_target(target)
    place, _, attribute = target.rpartition(":")
    is_file = place.endswith(".py")
    folder = Path(place).resolve().parent if is_file else Path.cwd()
    try:
        with _users_modules(folder):
            module = _from_file(Path(place)) if is_file else _from_module(place)
    except InvalidInput:
        raise
    except ModuleNotFoundError as error:
        beside = [file.stem for file in folder.glob("*.py")]
        raise InvalidInput(
            f"The retriever {target!r} cannot be loaded: there is no module "
            f"{error.name!r} here or among the installed ones; run from the folder that "
            f"holds it, or install it.{did_you_mean(error.name or place, beside)}"
        ) from None
    except (
        Exception,
        SystemExit,
    ) as error:  # a user's module may raise anything when imported
        raise InvalidInput(
            f"The retriever {target!r} cannot be loaded: it raises {type(error).__name__}: "
            f"{Secrets().redact(said_by(error))[:300]} while it is imported; repair it first (what "
            'runs as a program goes under `if __name__ == "__main__":`).'
        ) from error
    value: object = module
    for part in attribute.split("."):
        if not hasattr(value, part):
            names = [
                name
                for name in getattr(value, "__dict__", ())
                if not name.startswith("_")
            ]
            raise InvalidInput(
                f"There is no {attribute!r} in {place}; it has "
                f"{', '.join(names[:8]) or 'nothing'}.{did_you_mean(part, names)}"
            )
        value = getattr(value, part)
    return value, module


def _from_module(name: str) -> ModuleType:
    module = importlib.import_module(name)
    if (file := file_of(module)) is not None:
        # Pick up edits between two calls of one session.
        reload_stale(local_files(module, file))
    return sys.modules[module.__name__]


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InvalidInput(f"There is no file {path}; check the path of the retriever.")
    # Two files of the same name, such as old/search.py and new/search.py, are two
    # modules.
    suffix = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = f"calipers_retriever_{path.stem}_{suffix}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018 - it ends in .py
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    reload_stale(local_files(module, path.resolve()), but=module)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _users_modules(folder: Path) -> Iterator[None]:
    """Let a file import its neighbours, and keep those modules from everything else.

    old/search.py and new/search.py may each import their own helper.py. The second must
    not get that of the first, or its numbers would be wrong. A neighbour named html.py or
    rich.py is unloaded again, because our libraries need the real module.
    """
    path = list(sys.path)
    known = tuple(f"{known_folder}{os.sep}" for known_folder in _FOLDERS)
    is_there = str(folder) in path or ("" in path and folder == Path.cwd())
    is_there = _FOLDERS.setdefault(folder, is_there)
    # Nothing can be imported from a folder that cannot be listed.
    here: set[str] = set()
    with suppress(OSError):
        here = {entry.stem for entry in folder.iterdir()}
    for name, module in list(sys.modules.items()):
        # Thousands of modules may be loaded, and checking each on disk is slow.
        place = (
            getattr(module, "__file__", None) if name.partition(".")[0] in here else None
        )
        is_theirs = isinstance(place, str) and place.startswith(known)
        if is_theirs and file_named(name, folder) not in (None, file_of(module)):
            del sys.modules[name]
    # Python notices an edit only by size and whole seconds, so it keeps nothing compiled.
    compiles = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.dont_write_bytecode = compiles
        # In a user's own program its import path stays as it is.
        sys.path[:] = path if is_there or str(folder) in path else [*path, str(folder)]
        for name in () if is_there else here & sys.modules.keys():
            real = PathFinder.find_spec(name)
            mine = file_named(name, folder)
            if real is not None and file_of(sys.modules[name]) == mine != Path(
                real.origin or ""
            ):
                del sys.modules[name]


def add_to_path(folder: Path) -> None:
    """Let modules be imported from this folder, too."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


_FOLDERS: dict[Path, bool] = {}
"""Folders that retrievers were loaded from, and whether they were on the import path
before."""


def _check(options: Mapping[str, object], allowed: tuple[str, ...], what: str) -> None:
    for name in options:
        if name not in allowed:
            known = ", ".join((*allowed, *LAYOUT))
            raise InvalidInput(
                f"The option {name!r} means nothing for {what}; it takes {known}."
                f"{did_you_mean(name, [*allowed, *LAYOUT])}"
            )
