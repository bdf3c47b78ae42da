"""The first files of a project: questions, a search function, settings, a check for CI.

Everything works at once, so that the first thing a newcomer sees is an answer; and every file
is short enough to be replaced.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from calipers.config import PLAIN
from calipers.errors import WriteFailed, check_number
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


def start_project(folder: Path, *, retriever: str | None, k: int) -> Started:
    """Write the files that do not exist yet; existing ones are not touched."""
    check_number("k", k, whole=True, least=1)
    files = {QUESTIONS: _text(QUESTIONS)}
    target = retriever
    if target is None:
        free = (name for name in FUNCTION_FILES if not (folder / name).exists())
        name = next(free, FUNCTION_FILES[-1])
        files[name] = _text("search.txt")
        target = f"{name.removesuffix('.py')}:search"
    # TOML strings are escaped like those of JSON.
    written_as = msgspec.json.encode(target).decode()
    files[PLAIN] = _text(PLAIN, questions=QUESTIONS, retriever=written_as, k=str(k))
    package, origin = requirement()
    files[WORKFLOW] = _text("retrieval.yml", package=package, origin=origin)
    written, left = _write(folder, files)
    return Started(tuple(written), tuple(left), target, retriever is None, origin)


def _text(name: str, **values: str) -> str:
    """One of the texts, with its {names} filled in."""
    text = (TEXTS / name).read_text(encoding="utf-8")
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], text)


def requirement() -> tuple[str, str]:
    """What pip must install in CI to get the Calipers that runs here, and a sentence about it.

    CI does not have a folder of this machine: a variable of the repository says what it installs.
    """
    address = installed_from()[0]
    if not address:
        package = f"calipers=={__version__}"
        return package, f"The workflow installs {package}, as here."
    if not address.startswith("file:"):
        address = re.sub(r"//[^/@]*:[^/@]*@", "//", address)  # a password stays here
        return f"calipers @ {address}", f"The workflow installs Calipers from {address}, as here."
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
                f"The folder {path.parent} cannot be made: {error.strerror}; make room for it."
            ) from error
        with whole_file(path) as file:
            file.write(text.encode())
        written.append(name)
    return written, left
