"""The first files of a project: questions, a search function, settings, a check for CI.

Everything works at once, so that the first thing a newcomer sees is an answer; and every
file is short enough to be replaced.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from calipers.config import PLAIN, read_config
from calipers.errors import WriteFailed, check_number
from calipers.frozen import dataclass
from calipers.io.files.write import whole_file
from calipers.present.escape import printable
from calipers.version import __version__, installed_from

QUESTIONS = "questions.csv"
WORKFLOW = ".github/workflows/retrieval.yml"
FUNCTION_FILES = ("search.py", "calipers_search.py")
"""File names for the search function; the first free one is used."""

TEXTS = Path(__file__).with_name("starter_files")


@dataclass(frozen=True)
class Started:
    """The files that were written, and those that existed already."""

    written: tuple[str, ...]
    left: tuple[str, ...]
    retriever: str
    is_example: bool
    """Whether the retriever is our example."""
    origin: str
    """What the workflow installs, as a sentence."""
    command: tuple[str, ...]
    """What to call next."""
    missing: str | None = None
    """The file of questions that the settings name, if it is not there."""

    @property
    def file(self) -> str:
        """The file of the search function."""
        return _file_of(self.retriever)


def start_project(folder: Path, *, retriever: str | None, k: int) -> Started:
    """Write the files that do not exist yet; existing ones are not touched.

    Where there are settings, the questions and the search function are written only if
    the settings name them, or name none.
    """
    check_number("k", k, whole=True, least=1)
    package, origin = requirement()
    files = {WORKFLOW: _text("retrieval.yml", package=package, origin=origin)}
    plan = _Plan.of(folder, retriever)
    if not plan.has_settings:
        # TOML strings are escaped like those of JSON.
        quoted = msgspec.json.encode(plan.target).decode()
        files = {
            PLAIN: _text(PLAIN, questions=QUESTIONS, retriever=quoted, k=str(k)),
            **files,
        }
    texts = {
        QUESTIONS: _text(QUESTIONS),
        **dict.fromkeys(FUNCTION_FILES, _text("search.txt")),
    }
    files = {**{name: texts[name] for name in plan.named if name in texts}, **files}
    written, left = _write(folder, files)
    others = (PLAIN, *plan.named)
    left += [name for name in others if name not in files and (folder / name).is_file()]
    is_example = _file_of(plan.target) in texts
    questions = plan.named[0]
    is_missing = Path(questions).suffix != "" and not (folder / questions).exists()
    return Started(
        tuple(written),
        tuple(left),
        plan.target,
        is_example,
        origin,
        plan.command,
        questions if is_missing else None,
    )


@dataclass(frozen=True)
class _Plan:
    """The retriever, the files of questions and search function, and what measures them."""

    target: str
    named: tuple[str, ...]
    command: tuple[str, ...]
    has_settings: bool

    @classmethod
    def of(cls, folder: Path, retriever: str | None) -> "_Plan":
        """What existing settings name, and the usual names for what they do not."""
        table = _settings(folder)
        questions = table.get("ground-truth", QUESTIONS)
        target = retriever or table.get("retriever", f"{_free_name(folder)}:search")
        command: tuple[str, ...] = ("calipers", "eval")
        is_named = (
            not table or "run" in table or {"ground-truth", "retriever"} <= table.keys()
        )
        if retriever is not None and retriever != table.get("retriever"):
            command = ("calipers", "retrieve", target, questions, "-o", "run.jsonl")
        elif not is_named:
            command = (*command, "-g", questions, "--retriever", target)
        named = [questions]
        if retriever is None and "run" not in table:
            named.append(_file_of(target))
        return cls(target, tuple(named), command, bool(table))


def _settings(folder: Path) -> dict[str, str]:
    """The inputs that existing settings name, as they stand there; empty without settings."""
    path = folder / PLAIN
    if not path.exists():
        return {}
    read_config(path)  # a sentence where it is damaged
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    known = (name for name in ("ground-truth", "retriever", "run") if name in table)
    return {PLAIN: "", **{name: str(table[name]) for name in known}}


def _free_name(folder: Path) -> str:
    """The module of the search function whose file is free, else the last of them."""
    free = (name for name in FUNCTION_FILES if not (folder / name).exists())
    return next(free, FUNCTION_FILES[-1]).removesuffix(".py")


def _file_of(target: str) -> str:
    """The file of a retriever that is a function beside the settings.

    >>> _file_of("search:search"), _file_of("search.py:search")
    ('search.py', 'search.py')
    """
    return f"{target.rpartition(':')[0].removesuffix('.py')}.py"


def _text(name: str, **values: str) -> str:
    """One of the texts, with its {names} filled in."""
    text = (TEXTS / name).read_text(encoding="utf-8")
    return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], text)


def requirement() -> tuple[str, str]:
    """What pip must install in CI to get the Calipers that runs here, and a sentence about it.

    CI does not have a folder of this machine: a variable of the repository says what it
    installs.
    """
    address = installed_from()[0]
    if not address:
        package = f"calipers=={__version__}"
        return package, f"The workflow installs {package}, as here."
    if not address.startswith("file:"):
        address = re.sub(r"//[^/@]*:[^/@]*@", "//", address)  # a password stays here
        return (
            f"calipers @ {address}",
            f"The workflow installs Calipers from {address}, as here.",
        )
    return (
        "${{ vars.CALIPERS }}",
        "The workflow installs what the repository's variable CALIPERS says: set it to what pip "
        f"can install there, such as git+https://…, as CI does not have {printable(address)}.",
    )


def _write(folder: Path, files: Mapping[str, str]) -> tuple[list[str], list[str]]:
    written: list[str] = []
    left: list[str] = []
    for name, text in files.items():
        path = folder / name
        if path.exists():
            left.append(name)
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteFailed(
                f"The folder {path.parent} cannot be made: {error.strerror}; make room "
                "for it."
            ) from error
        with whole_file(path) as file:
            file.write(text.encode())
        written.append(name)
    return written, left
