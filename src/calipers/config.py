"""Settings from a file, so that a check in CI is one word.

They stand under ``[tool.calipers]`` in pyproject.toml, or at the top of calipers.toml. The file
is looked for in the working folder and then in each folder above it.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput, UnreadableFile
from calipers.model.policy import CHOICES, LIKE
from calipers.suggest import did_you_mean

PLAIN, PROJECT = "calipers.toml", "pyproject.toml"
TEXT, NUMBER, SWITCH = "a text", "a number", "true or false"
TEXTS = "a text or a list of texts"
NUMBERS = "a whole number or a list of them"
WEIGHTS = "a table of metrics with their weights"
NAMES = "a table of what a column is and its name in the file"

POLICIES = {name.replace("_", "-"): words for name, words in CHOICES.items()}
"""The words of each policy, by its key in the file."""
SHARED: dict[str, str] = {
    "data": TEXT,
    "ground-truth": TEXT,
    "run": TEXT,
    "retriever": TEXT,
    "ask-for": NUMBER,
    "workers": NUMBER,
    "corpus": TEXT,
    "candidates": TEXT,
    "exact": TEXT,
    "metrics": TEXTS,
    "k": NUMBERS,
    "rel": NUMBER,
    "match": TEXT,
    "level": TEXT,
    "score": WEIGHTS,
    "primary": TEXT,
    "cluster": TEXT,
    "store": TEXT,
    "like": TEXT,
    "map-ids": TEXT,
    "columns": NAMES,
    **dict.fromkeys(POLICIES, TEXT),
}
"""What every command that reads the file understands, and what each value must be."""
GATE: dict[str, str] = {
    "require": TEXTS,
    "baseline": TEXT,
    "by": TEXTS,
    "primary": TEXT,
    "allow": NUMBER,
    "strict": SWITCH,
    "confidence": NUMBER,
    "max-age": TEXT,
    "anyway": SWITCH,
    "junit": TEXT,
    "markdown": TEXT,
    "metrics": TEXTS,
}
FORMER = {
    "seed": "'seed' does nothing any more: nothing random is left in intervals and tests",
    "gate.tolerance": "'tolerance' is called 'allow' now",
    "gate.alpha": "'alpha' is written as 'confidence' now, which is 1 - alpha",
}
"""Keys of the release before; the next one will not know them."""
TABLES: dict[str, dict[str, str]] = {"gate": GATE}
GRID = "grid"
"""A table that `calipers grid` checks by itself."""
INPUTS = ("data", "ground_truth", "run", "retriever")
RESULTS = ("run", "retriever")
"""The inputs that say what was found, not what should be."""
STORE = "CALIPERS_STORE"
"""The environment variable that names the history; it goes before the file."""
PATHS = (
    "data",
    "ground-truth",
    "run",
    "corpus",
    "candidates",
    "exact",
    "baseline",
    "junit",
    "markdown",
    "store",
)


@dataclass(frozen=True)
class Config:
    """The settings of one file, checked; paths are meant from the folder of the file."""

    path: Path | None = None
    shared: Mapping[str, Any] = field(default_factory=dict)
    gate: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Any] = field(default_factory=dict)
    """As it stands in the file: its keys are checked by whoever uses them."""
    notes: tuple[str, ...] = ()
    """What should be changed in the file before the next release."""

    def fill(self, given: Mapping[str, Any], *, gate: bool = False) -> dict[str, Any]:
        """The given settings, with those of the file where nothing is given.

        Names are those of the library: ``ground_truth``, ``max_age``, ``weights``. Where any
        input is given, no input is taken from the file: halves of two pairs make no pair. A
        retriever alone is asked the questions of the file.

        >>> Config(shared={"data": "a.json", "k": 5}).fill({"data": None, "run": "b.json", "k": ()})
        {'data': None, 'run': 'b.json', 'k': 5}
        """
        named = {_plain(name): value for name, value in self._of(gate).items()}
        inputs = [name for name in INPUTS if given.get(name) is not None]
        for name in RESULTS if inputs == ["retriever"] else INPUTS if inputs else ():
            named.pop(name, None)
        if os.environ.get(STORE, "").strip():
            named.pop("store", None)
        return {
            name: named.get(name, value)
            if value is None or value is False or value == ()
            else value
            for name, value in given.items()
        }

    def filled(
        self, given: Mapping[str, Any], keys: Mapping[str, str], table: str = ""
    ) -> dict[str, Any]:
        """What stands in the file for keywords that are not given; ``keys`` are their keys there.

        Where any input is given, no input is taken from the file: halves of two pairs make no
        pair. A retriever alone is asked the questions of the file.

        >>> keys = {"data": "data", "run": "run", "weights": "score"}
        >>> file = Config(shared={"data": "a.json", "score": {"mrr": 1}})
        >>> file.filled({}, keys), file.filled({"run": "b.json"}, keys)
        ({'data': 'a.json', 'weights': {'mrr': 1}}, {'weights': {'mrr': 1}})
        """
        held = {**self.shared, **(self.gate if table == "gate" else {})}
        inputs = [name for name in INPUTS if name in given]
        for name in RESULTS if inputs == ["retriever"] else INPUTS if inputs else ():
            held.pop(name.replace("_", "-"), None)
        if os.environ.get(STORE, "").strip():
            held.pop("store", None)
        return {name: held[key] for name, key in keys.items() if key in held and name not in given}

    def _of(self, gate: bool) -> dict[str, Any]:
        return {**self.shared, **(self.gate if gate else {})}

    def to_dict(self) -> dict[str, Any]:
        """The file, and each setting in it: its key, its value, and who reads it."""
        rows = [
            {"key": name, "value": value, "table": None, "used_by": "every command"}
            for name, value in self.shared.items()
        ]
        rows += [
            {"key": name, "value": value, "table": "gate", "used_by": "calipers gate"}
            for name, value in self.gate.items()
        ]
        rows += [
            {"key": name, "value": value, "table": GRID, "used_by": "calipers grid"}
            for name, value in self.grid.items()
        ]
        return {"file": None if self.path is None else str(self.path), "settings": rows}


def _plain(name: str) -> str:
    return "weights" if name == "score" else name.replace("-", "_")


def find_config(start: str | Path | None = None) -> Config:
    """The settings that hold in a folder (default: the working folder); none is no error."""
    here = Path(start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        found = [
            (path, table)
            for path in (folder / PLAIN, folder / PROJECT)
            if path.is_file() and (table := _table(path)) is not None
        ]
        if len(found) > 1:
            raise InvalidInput(
                f"There are two configurations in {folder}: {PLAIN}, and [tool.calipers] in "
                f"{PROJECT}; keep one of them."
            )
        if found:
            return check_config(found[0][1], found[0][0])
    return Config()


def read_config(path: str | Path) -> Config:
    """The settings in a file that the caller names."""
    file = Path(path)
    table = _table(file)
    if table is None:
        raise InvalidInput(f"{path} has no [tool.calipers]; add it, or name another file.")
    return check_config(table, file)


def check_config(table: Mapping[str, Any], path: Path) -> Config:
    """The settings of a table, or a sentence about the first one that cannot be used.

    >>> check_config({"gate": {"requires": "mrr >= 0.5"}}, Path("calipers.toml"))
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: calipers.toml has the key 'gate.requires', which means nothing \
to Calipers; the keys there are require, baseline, by, primary, allow, strict, confidence, \
max-age, anyway, junit, markdown, metrics. Did you mean require?
    """
    inner = {name: table[name] for name in (*TABLES, GRID) if name in table}
    for name, value in inner.items():
        if not isinstance(value, dict):
            raise InvalidInput(f"{path} has {name!r} as {value!r}; it must be a table [{name}].")
    outer = {name: value for name, value in table.items() if name not in inner}
    outer, said = _renamed(outer, "")
    own, also_said = _renamed(inner.get("gate", {}), "gate.")
    shared = _checked(outer, SHARED, path, "", [*SHARED, *TABLES, GRID])
    gate = _checked(own, GATE, path, "gate.", GATE)
    notes = tuple(f"in {path}, {what}; the next release will not know it." for what in said)
    notes += tuple(f"in {path}, {what}; the next release will not know it." for what in also_said)
    return Config(path, shared, gate, inner.get(GRID, {}), notes)


def _renamed(table: Mapping[str, Any], place: str) -> tuple[dict[str, Any], list[str]]:
    """The table under the names of today, and what to say of those of yesterday."""
    kept: dict[str, Any] = {}
    said = []
    for name, value in table.items():
        what = FORMER.get(f"{place}{name}")
        if what is None:
            kept[name] = value
            continue
        said.append(what)
        if name == "tolerance":
            kept.setdefault("allow", value)
        elif name == "alpha" and isinstance(value, int | float) and not isinstance(value, bool):
            kept.setdefault("confidence", round(1.0 - value, 12))
    return kept, said


def _reason(error: Exception) -> str:
    """What is wrong with a file; the interpreter speaks of its own limits, we of the file."""
    if isinstance(error, RecursionError):
        return "its lists or tables are nested too deeply"
    return "a number in it has thousands of digits" if "digits" in str(error) else str(error)


_MAY_HOLD_OURS = re.compile(
    r"""tool["'\s]*\.["'\s]*calipers|^\s*\[\s*["']?tool["']?\s*\]|^\s*["']?tool["']?\s*=|\\[uU]""",
    re.M,
)
"""All ways to write the table of ours; without one the file of a project need not be parsed."""


def _table(path: Path) -> Mapping[str, Any] | None:
    from calipers.io.files.open import check_no_device

    check_no_device(path)
    try:
        text = path.read_text(encoding="utf-8")
        if path.name == PROJECT and not _MAY_HOLD_OURS.search(text):
            return None
        import tomllib

        content = tomllib.loads(text)
    except FileNotFoundError:
        raise UnreadableFile(f"There is no file {path}; check the path.") from None
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:  # also an integer of thousands of digits
        if path.name == PROJECT and b"[tool.calipers" not in path.read_bytes():
            return None
        raise UnreadableFile(
            f"{path} is not valid TOML: {_reason(error)}; correct it there."
        ) from None
    if path.name != PROJECT:
        return content
    tool = content.get("tool")
    found = tool.get("calipers") if isinstance(tool, dict) else None
    if found is not None and not isinstance(found, dict):
        raise InvalidInput(f"{path} has tool.calipers as {found!r}; it must be a table.")
    return found


def _checked(
    table: Mapping[str, Any], known: Mapping[str, str], path: Path, place: str, named: Iterable[str]
) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for given, value in table.items():
        name = given.replace("_", "-")
        if name not in known:
            words = list(named)
            raise InvalidInput(
                f"{path} has the key {place + given!r}, which means nothing to Calipers; the keys "
                f"there are {', '.join(words)}.{did_you_mean(name, words)}"
            )
        if not _fits(value, known[name]):
            raise InvalidInput(f"{path} has {place}{given} = {value!r}; it must be {known[name]}.")
        _check_choice(name, value, path)
        # A history or a baseline may also be an address or a reference: no path then.
        is_path = name in PATHS and "://" not in value and not value.startswith("@")
        result[name] = _from_folder(value, path) if is_path else value
        if name == "retriever":
            result[name] = _target(value, path)
    return result


def _fits(value: Any, kind: str) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    several = value if isinstance(value, list) else [value]
    if kind == TEXTS:
        return all(isinstance(one, str) for one in several)
    if kind == NUMBERS:
        return all(isinstance(one, int) and not isinstance(one, bool) for one in several)
    if kind == WEIGHTS:
        return isinstance(value, dict) and all(_fits(one, NUMBER) for one in value.values())
    if kind == NAMES:
        return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    if kind == NUMBER:
        return number
    return isinstance(value, bool) if kind == SWITCH else isinstance(value, str)


def _check_choice(name: str, value: Any, path: Path) -> None:
    allowed = tuple(LIKE) if name == "like" else POLICIES.get(name)
    if allowed is not None and value not in allowed:
        raise InvalidInput(
            f"{path} has {name} = {value!r}; {name} can be {', '.join(allowed)}."
            f"{did_you_mean(str(value), allowed)}"
        )


def _target(value: str, path: Path) -> str:
    """A function beside the file, as it is found from the working folder too."""
    module, colon, name = value.rpartition(":")
    file = module if module.endswith(".py") else f"{module.replace('.', '/')}.py"
    if not colon or path.parent.resolve() == Path.cwd() or not (path.parent / file).is_file():
        return value
    return f"{_from_folder(file, path)}:{name}"


def _from_folder(value: str, path: Path) -> str:
    """A path as it is meant from the working folder, short where it lies below it."""
    whole = path.parent / value
    try:
        return str(whole.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(whole)
