"""Read a grid file: retrievers with parameters, and every combination of them."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from calipers.config import find_config, inside, read_config, refuse_code
from calipers.engines.scoring import choose_metrics, deepest
from calipers.errors import InvalidInput
from calipers.io.tables.columns import Columns
from calipers.live.adapters.base import without_secrets
from calipers.live.questions import Questions, read_questions
from calipers.live.settings import retrieve
from calipers.operation import Argument, arguments, convert, keys_of
from calipers.questions.compare.settings import compare
from calipers.questions.grid.result import Combination
from calipers.questions.reading import MatchingSettings, Measuring
from calipers.words import did_you_mean

DEPTH = 20
"""Results to ask for unless the file or its metrics need more."""
LONGEST_NAME = 80
PACE = {
    name.replace("_", "-"): arguments(retrieve)[name].kind
    for name in ("workers", "timeout", "retries", "rate", "max_errors")
}
"""The settings of ``retrieve`` for concurrency, timeouts and retries, with their types."""
KEYS: dict[str, Any] = {
    "retrievers": Mapping[str, Any],
    "params": Mapping[str, Any],
    "k": int | list[int],
    "questions": str,
    "output": str,
    "baseline": str,
    **PACE,
}
RETRIEVER_KEYS: dict[str, Any] = {
    "make": str,
    "search": str,
    "params": Mapping[str, Any],
    "k": int | list[int],
    "label": str,
}
MEASURES = frozenset({*Measuring.__annotations__, *MatchingSettings.__annotations__, "primary"})
"""The settings of ``compare`` that a grid accepts: how runs are measured."""
EXAMPLE = '[grid.retrievers.bm25]\nmake = "mypackage.search:bm25"'


@dataclass(frozen=True)
class Plan:
    """What a grid file asks for."""

    path: Path
    combinations: tuple[Combination, ...]
    output: Path
    baseline: str
    """The name of the combination that the others are compared with."""
    pace: Mapping[str, Any]
    measures: Mapping[str, Any]
    """Keyword arguments for ``compare``."""
    ground_truth: str
    asked: str
    """The file of the questions: the ground truth, unless another is named."""

    @property
    def folder(self) -> Path:
        """The folder of the file: paths and modules in it are relative to this."""
        return self.path.parent

    @property
    def questions(self) -> Questions:
        """The questions to ask."""
        return read_questions(self.asked, Columns.of(self.measures.get("columns")))


def read_grid(
    config: str | os.PathLike[str] | None, baseline: str | None = None, metrics: Any = None
) -> Plan:
    """Read the plan from a configuration file; ``baseline`` and ``metrics`` override its own."""
    found = find_config() if config is None else read_config(Path(config))
    if found.path is None:
        raise InvalidInput(
            "There is no calipers.toml here or in a folder above; write one with a table [grid], "
            "or name the file."
        )
    refuse_code(found, "the retrievers of its table [grid]", "calipers grid")
    path, shared = found.path, found.shared
    measures = {
        name: shared[key]
        for name, key in keys_of(compare).items()
        if name in MEASURES and key in shared
    }
    chosen = choose_metrics(*map(measures.get, ("metrics", "k", "rel", "weights")))
    if metrics is not None:
        choose_metrics(metrics, measures.get("k"))
        measures["metrics"] = metrics
    if not found.grid:
        raise InvalidInput(f"{path} has no [grid]; write one, such as:\n{EXAMPLE}")
    grid = _checked(found.grid, KEYS, path, "grid")
    if not grid.get("retrievers"):
        raise InvalidInput(f"{path} names no retriever in [grid]; write one, such as:\n{EXAMPLE}")
    truth = shared.get("ground-truth", shared.get("data"))
    if truth is None:
        raise InvalidInput(
            f'{path} names no ground truth; write ground-truth = "questions.jsonl" above [grid].'
        )
    output = path.parent / inside(
        grid.get("output", "grid"), path, f"The key grid.output of {path}"
    )
    usual = {"k": deepest(chosen, DEPTH), **grid}
    combinations = [
        one
        for name, given in grid["retrievers"].items()
        for one in _combinations(str(name), given, usual, output, path)
    ]
    _check_names(combinations, path)
    first = _baseline(grid.get("baseline", combinations[0].name), combinations, str(path))
    if baseline is not None:
        first = _baseline(baseline, combinations, "--against")
    return Plan(
        path,
        tuple(combinations),
        output,
        first,
        {name.replace("-", "_"): grid[name] for name in PACE if name in grid},
        measures,
        str(truth),
        str(path.parent / grid["questions"]) if "questions" in grid else str(truth),
    )


def _combinations(
    name: str, given: Any, grid: Mapping[str, Any], output: Path, path: Path
) -> Iterator[Combination]:
    place = f"grid.retrievers.{name}"
    table = _checked(given, RETRIEVER_KEYS, path, place)
    kinds = [kind for kind in ("make", "search") if kind in table]
    if len(kinds) != 1:
        raise InvalidInput(
            f"{path} has {'both' if kinds else 'neither'} 'make' and 'search' in [{place}]; give "
            "one: 'make' names a function that is called with the parameters and returns the "
            "search function, 'search' the search function itself."
        )
    [kind] = kinds
    choices = {
        **_listed(grid.get("params", {}), path, "grid.params"),
        **_listed(table.get("params", {}), path, f"{place}.params"),
    }
    [depths] = _listed({"k": table.get("k", grid["k"])}, path, "grid").values()
    if any(k < 1 for k in depths):
        raise InvalidInput(f"{path} has k = {min(depths)} in [grid]; it must be at least 1.")
    label = {"label": table["label"]} if "label" in table else {}
    for values in product(*choices.values()):
        params = dict(zip(choices, values, strict=True))
        for k in depths:
            varying = [f"{n}={_said(n, params[n], own)}" for n, own in choices.items() if own[1:]]
            varying += [f"k={k}"] if len(depths) > 1 else []
            full = " ".join([name, *varying])
            shown = msgspec.to_builtins(without_secrets(params), enc_hook=str)
            yield Combination(
                full,
                name,
                table[kind],
                kind == "make",
                params,
                k,
                output / f"{_file_name(full)}.jsonl",
                {kind: table[kind], "params": shown, **label},
            )


def _listed(given: Mapping[str, Any], path: Path, place: str) -> dict[str, list[Any]]:
    """Each parameter with its values; each member of a list is a separate combination."""
    for name, value in given.items():
        if value == []:
            raise InvalidInput(f"{path} has {place}.{name} = []; give it at least one value.")
    return {name: value if isinstance(value, list) else [value] for name, value in given.items()}


def _checked(table: Any, known: Mapping[str, Any], path: Path, place: str) -> dict[str, Any]:
    """The keys of a table, converted to their types; raises on an unknown key."""
    if not isinstance(table, Mapping):
        raise InvalidInput(f"{path} has {place} as {table!r:.60}; it must be a table [{place}].")
    found = {}
    for given, value in table.items():
        name = given.replace("_", "-")
        if name not in known:
            raise InvalidInput(
                f"{path} has the key '{place}.{given}', which means nothing to Calipers; the keys "
                f"there are {', '.join(known)}.{did_you_mean(name, known)}"
            )
        found[name] = convert(Argument(name, known[name]), value, f"{place}.{given} in {path}")
    return found


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


def _baseline(given: str, combinations: list[Combination], where: str) -> str:
    names = [one.name for one in combinations]
    own = [one.name for one in combinations if given in (one.name, one.retriever)]
    if given in names or len(own) == 1:
        return given if given in names else own[0]
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
    r"""A portable file name, different for every combination.

    >>> _file_name("bm25 chunk_size=200"), _file_name("a/b")
    ('bm25-chunk_size=200', 'a-b-c14cddc0')
    """
    plain = name.replace(" ", "-")
    safe = re.sub(r"[^A-Za-z0-9_.=+-]", "-", plain).lstrip(".")[:LONGEST_NAME]
    if safe == plain:
        return safe
    return f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
