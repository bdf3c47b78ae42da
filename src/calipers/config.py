"""Settings from a file, calipers.toml, so that a check in CI is one word.

The file is searched for in the working folder and then in each folder above it, up to the
repository's.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from importlib import import_module
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput, UnreadableFile
from calipers.frozen import dataclass
from calipers.operation import OPERATIONS, Argument, Setting, arguments, convert
from calipers.shell import join_words
from calipers.words import did_you_mean

PLAIN = "calipers.toml"
STORE = "CALIPERS_STORE"
"""The environment variable that names the history; it overrides the file."""

GATE = "gate"
GRID = "grid"
"""Tables for one command; `calipers grid` checks its own."""
INPUTS = ("data", "ground_truth", "run", "retriever")
CONTAINERS = ("/.dockerenv", "/run/.containerenv")
"""Files that exist in a container, where root works on mounted files of other users."""
RESULTS = ("run", "retriever")
"""The inputs that give results, not the ground truth."""
_TABLE = re.compile(rb"^\s*\[tool\.calipers[\].]", re.MULTILINE)


@dataclass(frozen=True)
class Config:
    """The checked settings of one file; paths are relative to its folder."""

    path: Path | None = None
    shared: Mapping[str, Any] = field(default_factory=dict)
    gate: Mapping[str, object] = field(default_factory=dict)
    grid: Mapping[str, object] = field(default_factory=dict)
    """Not checked here: its user checks the keys."""

    def filled(
        self,
        keywords: Mapping[str, object],
        keys: Mapping[str, str],
        *,
        gate: bool = False,
    ) -> dict[str, Any]:
        """The file's values for keywords that are not given; ``keys`` are their keys in the file.

        If any input is given, no other is taken from the file, as they may not belong
        together. But a run alone is scored against the file's ground truth, and a
        retriever gets its questions.

        >>> keys = {"ground_truth": "ground-truth", "run": "run", "by": "by"}
        >>> file = Config(shared={"ground-truth": "a.json", "run": "old.json", "by": "type"})
        >>> file.filled({"run": "new.json"}, keys)
        {'ground_truth': 'a.json', 'by': 'type'}
        >>> file.filled({"ground_truth": "b.json"}, keys)
        {'by': 'type'}
        """
        file = {**self.shared, **(self.gate if gate else {})}
        inputs = [name for name in INPUTS if name in keywords]
        others = {"retriever": RESULTS, "run": ("data", *RESULTS)}
        for name in others.get("".join(inputs), INPUTS) if inputs else ():
            file.pop(_key(name), None)
        if os.environ.get(STORE, "").strip():
            file.pop("store", None)
        key_of = {name: key.removeprefix(f"{GATE}.") for name, key in keys.items()}
        return {
            name: file[key]
            for name, key in key_of.items()
            if key in file and name not in keywords
        }


def _key(name: str) -> str:
    return name.replace("_", "-")


def find_config(start: str | Path | None = None) -> Config:
    """Find the settings for a folder (default: the working folder); empty if there is no file."""
    here = Path(start or Path.cwd()).resolve()
    for folder in _searched(here):
        path = folder / PLAIN
        if path.is_file():
            _refuse_stranger(path, here)
            return read_config(path)
    return Config()


def _searched(here: Path) -> Iterator[Path]:
    """The folders in which settings are looked for, nearest first."""
    for folder in (here, *here.parents):
        yield folder
        if (folder / ".git").exists():
            return  # what stands above a repository is not part of it


def ignored_settings(start: str | Path | None = None) -> Path | None:
    """A pyproject.toml with a table [tool.calipers], which nothing reads; None if there is none."""
    for folder in _searched(Path(start or Path.cwd()).resolve()):
        path = folder / "pyproject.toml"
        try:
            holds = _TABLE.search(path.read_bytes()) is not None
        except OSError:
            holds = False
        if holds:
            return path
        if (folder / PLAIN).is_file():
            return None
    return None


def _refuse_stranger(path: Path, here: Path) -> None:
    """Refuse a file of another user that nobody named: it may run code."""
    if not hasattr(os, "getuid"):
        return
    mine = {os.getuid()}
    if mine == {0} and any(map(os.path.exists, CONTAINERS)):
        mine.add(here.stat().st_uid)
    if path.stat().st_uid not in mine:
        raise InvalidInput(
            f"{path} belongs to another user and may run code. Look at it, and if you "
            f"trust it name it yourself: --config {join_words([str(path)])}"
        )


def read_config(path: str | Path) -> Config:
    """Read the settings file that the caller names."""
    from calipers.io.files.open import check_no_device

    file = Path(path)
    check_no_device(file)
    import tomllib

    try:
        text = file.read_text(encoding="utf-8-sig")
        if "\0" in text:  # UTF-16 without its mark reads as UTF-8 of every other byte
            raise UnicodeError
        table = tomllib.loads(text)
    except FileNotFoundError:
        raise UnreadableFile(f"There is no file {path}; check the path.") from None
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeError:
        raise UnreadableFile(
            f"{path} is not in UTF-8, as TOML must be; save it as UTF-8 (PowerShell: "
            "Set-Content -Encoding utf8)."
        ) from None
    except (
        ValueError,
        RecursionError,
    ) as error:  # also an integer of thousands of digits
        raise UnreadableFile(
            f"{path} is not valid TOML: {error}; correct it there."
        ) from None
    return check_config(table, file)


def check_config(table: Mapping[str, object], path: Path) -> Config:
    """Check the settings of a table; raise for the first invalid one.

    Valid keys are those that operations declare (``Setting(file=…)``).

    >>> check_config({"k": "ten"}, Path("calipers.toml"))
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The key k of calipers.toml is 'ten'; it must be a whole number \
or a list.
    """
    inner: dict[str, Mapping[str, object]] = {}
    for name in (GATE, GRID):
        value = table.get(name, {})
        if not isinstance(value, dict):
            raise InvalidInput(
                f"{path} has {name!r} as {value!r}; it must be a table [{name}]."
            )
        inner[name] = value
    outer = {name: value for name, value in table.items() if name not in inner}
    try:
        return _checked(outer, inner, path)
    except InvalidInput:
        # Another operation may know the key, or accept more values.
        import_module("calipers.operations")
        return _checked(outer, inner, path)


def _checked(
    outer: Mapping[str, object], inner: Mapping[str, Mapping[str, object]], path: Path
) -> Config:
    """The settings of the file, checked; ``inner`` has the tables of gate and grid."""
    shared = _values(outer, _declared(""), path, "")
    gate = _values(inner[GATE], _declared(GATE), path, f"{GATE}.")
    return Config(path, shared, gate, inner[GRID])


def _declared(table: str) -> dict[str, list[Argument]]:
    """The arguments that loaded operations take from a table of the file, by key.

    The table of an operation overrides the top level, and may have every key that it
    takes.
    """
    takers: dict[str, list[Argument]] = {}
    for name, operation in OPERATIONS.items():
        for argument in arguments(operation.function).values():
            place, _, key = (argument.setting or Setting("")).file.rpartition(".")
            if key and (place == table or name == table):
                takers.setdefault(key, []).append(argument)
    return takers


def _values(
    table: Mapping[str, object],
    known: Mapping[str, list[Argument]],
    path: Path,
    place: str,
) -> dict[str, object]:
    result: dict[str, object] = {}
    for written, value in table.items():
        name = _key(written)
        if name not in known:
            words = [*sorted(known), *(() if place else (GATE, GRID))]
            raise InvalidInput(
                f"{path} has the key {place + written!r}, which means nothing to "
                "Calipers; the keys there are "
                f"{', '.join(words)}.{did_you_mean(name, words)}"
            )
        result[name] = _value(
            known[name], value, f"The key {place}{written} of {path}", path
        )
    return result


def _value(takers: Sequence[Argument], value: object, where: str, path: Path) -> object:
    """Convert a value for the first operation that accepts it."""
    settings = [taker.setting for taker in takers if taker.setting is not None]
    is_path = any(setting.path for setting in settings)
    # Python callers may pass other types, but in the file it is a text.
    if is_path and not isinstance(value, str):
        raise InvalidInput(f"{where} is {value!r:.60}; it must be a text.")
    refusals = []
    for argument in takers:
        try:
            value = convert(argument, value, where)
            break
        except InvalidInput as error:
            refusals.append(error)
    else:
        # The longest message lists most of what is allowed, whatever the order of
        # loading.
        raise max(refusals, key=lambda error: len(str(error)))
    # A history or a baseline may also be an address or a reference instead of a path.
    if not isinstance(value, str):
        return value
    if is_path and "://" not in value and not value.startswith("@"):
        return _from_folder(value, path)
    return _target(value, path) if settings[0].file == "retriever" else value


def inside(value: str, path: Path, where: str) -> str:
    """Return the path of a file to write; refuse one outside the settings file's folder."""
    folder = path.parent.resolve()
    if not (folder / value).resolve().is_relative_to(folder):
        raise InvalidInput(
            f"{where} is {value!r:.200}; what is written stays inside of {folder}. Name "
            "a file there, or another on the command line."
        )
    return value


def _target(value: str, path: Path) -> str:
    """A function in a module beside the file, as a path from the working folder."""
    module, colon, name = value.rpartition(":")
    file = module if module.endswith(".py") else f"{module.replace('.', '/')}.py"
    if (
        not colon
        or path.parent.resolve() == Path.cwd()
        or not (path.parent / file).is_file()
    ):
        return value
    return f"{_from_folder(file, path)}:{name}"


def _from_folder(value: str, path: Path) -> str:
    """A path relative to the working folder if it is below it, else the full one."""
    whole = path.parent / value
    try:
        return str(whole.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(whole)


def without_cutoffs(metrics: str | list[str], k: list[int]) -> list[str]:
    """The metrics of the settings file without cut-offs, for the k of the command line."""
    from calipers.measures.spec import parse

    parsed = parse(metrics, k)
    return list(
        dict.fromkeys(
            str(metric) if metric.k is None else metric.stem for metric in parsed
        )
    )


def runs_code(retriever: object) -> bool:
    """Whether a retriever is code on this machine, not an address.

    >>> runs_code("search:search"), runs_code("cmd:./search"), runs_code("https://host/q={query}")
    (True, True, False)
    """
    if not isinstance(retriever, str):
        return False
    return not retriever.removeprefix("mcp:").startswith(("http://", "https://"))
