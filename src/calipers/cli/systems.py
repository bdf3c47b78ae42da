"""Several systems on one command line: their names, and the questions for those that are asked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput


def named_systems(given: Sequence[str]) -> list[str] | dict[str, str]:
    """The systems by name, where any is written NAME=FILE; else the paths as they are."""
    if not any("=" in one and not Path(one).exists() for one in given):
        return list(given)
    from calipers.questions.systems import name_systems

    named: dict[str, str] = {}
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or Path(one).exists():
            name, path = next(iter(name_systems([one]).items()))
        if name in named:
            raise InvalidInput(f"Two systems are called {name!r}; give each a name of its own.")
        named[name] = path
    return named


def files_and_retrievers(
    given: dict[str, Any], keyword: str
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The systems among the settings, taken out: files, and retrievers to ask by their names.

    A file that stands alone beside retrievers holds the questions for them.
    """
    files, live = given.pop(keyword, ()), given.pop("retrievers", {})
    if live and files and "ground_truth" not in given:
        if len(files) > 1:
            raise InvalidInput(
                f"Retrievers are given together with {', '.join(files)}; say which file holds the "
                "questions with their ground truth: --ground-truth FILE."
            )
        given["ground_truth"], files = files[0], ()
    return files, live
