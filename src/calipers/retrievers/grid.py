"""A grid: retrievers with parameters, every combination a run of its own."""

import hashlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.retrievers.base import Retriever
from calipers.retrievers.recognise import as_retriever, find
from calipers.retrievers.secrets import Secrets, without_secrets
from calipers.suggest import did_you_mean

DEFAULT_OUTPUT = "grid"
LONGEST_NAME = 80
KEYS = (
    "retrievers", "params", "k", "questions", "output", "baseline",
    "workers", "timeout", "retries", "rate", "max-errors",
)  # fmt: skip
RETRIEVER_KEYS = ("make", "search", "params", "k", "label")
PACE = ("workers", "timeout", "retries", "rate", "max-errors")
EXAMPLE = '[grid.retrievers.bm25]\nmake = "mypackage.search:bm25"'


@dataclass(frozen=True)
class Combination:
    """One retriever with one set of parameters."""

    name: str
    retriever: str
    target: str
    """The function: ``package.module:function`` or ``file.py:function``."""
    is_factory: bool
    """Whether the function makes the search function, or is it."""
    params: Mapping[str, Any]
    k: int
    output: Path
    label: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the answers, without secrets; known before anything is built."""
        return {
            "make" if self.is_factory else "search": self.target,
            "params": msgspec.to_builtins(without_secrets(self.params), enc_hook=str),
            **({} if self.label is None else {"label": self.label}),
        }

    def to_dict(self) -> dict[str, Any]:
        """The combination as plain values."""
        return {"name": self.name, "retriever": self.retriever, **self.settings, "k": self.k,
                "run": str(self.output)}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """What a grid file asks for."""

    path: Path
    combinations: tuple[Combination, ...]
    questions: str | None
    output: Path
    baseline: str | None
    pace: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """Where the file stands: paths in it, and modules, are looked for from there."""
        return self.path.parent


def read_plan(table: Mapping[str, Any], path: Path, depth: int) -> Plan:
    """The combinations of a ``[grid]`` table, checked; ``depth`` is k where the file has none."""
    if not table:
        raise InvalidInput(f"{path} has no [grid]; write one, such as:\n{EXAMPLE}")
    grid = _checked(table, KEYS, path, "grid")
    retrievers = grid.get("retrievers")
    if not isinstance(retrievers, Mapping) or not retrievers:
        raise InvalidInput(f"{path} names no retriever in [grid]; write one, such as:\n{EXAMPLE}")
    output = path.parent / _text(grid, "output", path, "grid", DEFAULT_OUTPUT)
    shared = _params(grid.get("params", {}), path, "grid.params")
    combinations = [
        one
        for name, given in retrievers.items()
        for one in _combinations(name, given, shared, grid.get("k", depth), output, path)
    ]
    _check_names(combinations, path)
    questions = _text(grid, "questions", path, "grid", None)
    pace = {name.replace("-", "_"): grid[name] for name in PACE if name in grid}
    baseline = _baseline(_text(grid, "baseline", path, "grid", None), combinations, str(path))
    where = None if questions is None else str(path.parent / questions)
    return Plan(path, tuple(combinations), where, output, baseline, pace)


def with_baseline(plan: Plan, baseline: str | None) -> Plan:
    """The plan with another baseline, where one is given."""
    if baseline is None:
        return plan
    return replace(plan, baseline=_baseline(baseline, list(plan.combinations), "--baseline"))


def check_functions(plan: Plan) -> None:
    """Every function exists and takes its parameters: said before the first question is asked."""
    for one in plan.combinations:
        if one.is_factory:
            _check_call(_factory(one, plan.folder), one)
        else:
            Workshop(plan.folder).build(one)


class _InErrorsOnly(Secrets):
    """A parameter that looks secret may be a plain word, so answers keep what they say."""

    def redact_line(self, line: bytes) -> bytes:
        """The answer as it is: a function does not echo what it was made with."""
        return line


def _hiding(values: list[str]) -> Secrets:
    secrets = _InErrorsOnly()
    secrets.add(*values)
    return secrets


class Workshop:
    """Builds retrievers. What differs in k alone is built once, as an index may take hours."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: tuple[str, Mapping[str, Any]] | None = None
        self._searcher: Any = None

    def build(self, combination: Combination) -> Retriever:
        """The retriever of a combination; a factory is called with its parameters now."""
        shown = without_secrets(combination.params)
        hidden = [str(value) for n, value in combination.params.items() if shown[n] != value]
        if combination.is_factory:
            made = as_retriever(self._made(combination, hidden))
        else:
            params = {"params": dict(combination.params)} if combination.params else {}
            made = as_retriever(_target(combination, self._folder), **params)
        if hidden:
            made = replace(made, secrets=_hiding(hidden))
        return replace(made, name=combination.name, settings=combination.settings)

    def _made(self, combination: Combination, hidden: list[str]) -> Any:
        wanted = (combination.target, combination.params)
        if self._last == wanted:
            return self._searcher
        # Let go of the old one first: two indexes may not fit into memory.
        self._last = self._searcher = None
        try:
            self._searcher = _factory(combination, self._folder)(**combination.params)
        except Exception as error:  # a user's factory may raise anything
            secrets = _hiding(hidden)
            raise InvalidInput(
                f"The retriever {combination.name!r} cannot be made: {combination.target} raises "
                f"{type(error).__name__}: {secrets.redact(str(error))[:300]}"
            ) from error
        self._last = wanted
        return self._searcher


def _factory(combination: Combination, folder: Path) -> Callable[..., Any]:
    found = find(_target(combination, folder))
    if not callable(found):
        raise InvalidInput(
            f"{combination.target} of the retriever {combination.retriever!r} is a "
            f"{type(found).__name__}; 'make' names a function that returns the search function."
        )
    function: Callable[..., Any] = found
    return function


def _target(combination: Combination, folder: Path) -> str:
    here = str(folder.resolve())
    if here not in sys.path:
        sys.path.insert(0, here)
    place, _, attribute = combination.target.rpartition(":")
    if place.endswith(".py") and not place.startswith(("http:", "https:", "cmd:")):
        return f"{folder / place}:{attribute}"
    return combination.target


def _check_call(function: Callable[..., Any], one: Combination) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(**one.params)
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "nothing"
        raise InvalidInput(
            f"The retriever {one.name!r} cannot be made: {one.target} does not take its "
            f"parameters ({error}); it takes {takes}."
        ) from None


def _combinations(
    name: str, given: Any, shared: Mapping[str, list[Any]], depth: Any, output: Path, path: Path
) -> Iterator[Combination]:
    place = f"grid.retrievers.{name}"
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{path} has {place} as {given!r:.60}; it must be a table [{place}].")
    table = _checked(given, RETRIEVER_KEYS, path, place)
    kinds = [kind for kind in ("make", "search") if kind in table]
    if len(kinds) != 1:
        raise InvalidInput(
            f"{path} has {'both' if kinds else 'neither'} 'make' and 'search' in [{place}]; give "
            "one: 'make' names a function that is called with the parameters and returns the "
            "search function, 'search' the search function itself."
        )
    target = _text(table, kinds[0], path, place, "")
    own = _params(table.get("params", {}), path, f"{place}.params")
    choices = {**shared, **own}
    depths = _depths(table.get("k", depth), path)
    for values in product(*choices.values()):
        params = dict(zip(choices, values, strict=True))
        for k in depths:
            varying = [f"{n}={_said(n, params[n], own)}" for n, own in choices.items() if own[1:]]
            varying += [f"k={k}"] if len(depths) > 1 else []
            full = " ".join([str(name), *varying])
            yield Combination(
                full, str(name), target, kinds[0] == "make", params, k,
                output / f"{_file_name(full)}.jsonl", _text(table, "label", path, place, None),
            )  # fmt: skip


def _params(given: Any, path: Path, place: str) -> dict[str, list[Any]]:
    """Each parameter with the values it is to take: a list is one combination each."""
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{path} has {place} as {given!r:.60}; it must be a table [{place}].")
    for name, value in given.items():
        if value == []:
            raise InvalidInput(f"{path} has {place}.{name} = []; give it at least one value.")
    return {name: value if isinstance(value, list) else [value] for name, value in given.items()}


def _depths(given: Any, path: Path) -> list[int]:
    several = given if isinstance(given, list) else [given]
    for k in several:
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise InvalidInput(
                f"{path} has k = {given!r} in [grid]; it must be a whole number of at least 1, or "
                "a list of them."
            )
    if not several:
        raise InvalidInput(f"{path} has k = [] in [grid]; give at least one.")
    return several


def _checked(
    table: Mapping[str, Any], known: tuple[str, ...], path: Path, place: str
) -> dict[str, Any]:
    found = {}
    for given, value in table.items():
        name = given.replace("_", "-")
        if name not in known:
            raise InvalidInput(
                f"{path} has the key '{place}.{given}', which means nothing to Calipers; the keys "
                f"there are {', '.join(known)}.{did_you_mean(name, known)}"
            )
        found[name] = value
    return found


def _text(table: Mapping[str, Any], name: str, path: Path, place: str, default: Any) -> Any:
    value = table.get(name, default)
    if value is not default and (not isinstance(value, str) or not value):
        raise InvalidInput(f"{path} has {place}.{name} = {value!r:.60}; it must be a text.")
    return value


def _check_names(combinations: list[Combination], path: Path) -> None:
    if len(combinations) < 2:
        raise InvalidInput(
            f"{path} has one combination in [grid], {combinations[0].name!r}, and nothing to "
            "compare it with; name a second retriever, or a list of values for a parameter."
        )
    seen: set[str] = set()
    for one in combinations:
        if one.name in seen or str(one.output).casefold() in seen:
            raise InvalidInput(
                f"{path} has two combinations called {one.name!r}; take out a value that is there "
                "twice, or give the retrievers names that differ in more than case."
            )
        seen |= {one.name, str(one.output).casefold()}


def _baseline(given: str | None, combinations: list[Combination], where: str) -> str | None:
    names = [one.name for one in combinations]
    if given is None or given in names:
        return given
    own = [one.name for one in combinations if one.retriever == given]
    if len(own) == 1:
        return own[0]
    if own:
        raise InvalidInput(
            f"The baseline {given!r} ({where}) stands for {len(own)} combinations; name one of "
            f"them: {', '.join(own)}."
        )
    raise InvalidInput(
        f"There is no combination {given!r} to be the baseline ({where}); there are "
        f"{', '.join(names)}.{did_you_mean(given, names)}"
    )


def _said(name: str, value: Any, values: list[Any]) -> str:
    if without_secrets({name: value})[name] != value:
        return f"#{values.index(value) + 1}"
    return value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()


def _file_name(name: str) -> str:
    r"""A name for a file on any system, another for another combination.

    >>> _file_name("bm25 chunk_size=200"), _file_name("a/b")
    ('bm25-chunk_size=200', 'a-b-c14cddc0')
    """
    plain = name.replace(" ", "-")
    safe = re.sub(r"[^A-Za-z0-9_.=+-]", "-", plain).lstrip(".")[:LONGEST_NAME]
    if safe == plain:
        return safe
    return f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
