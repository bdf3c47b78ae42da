"""Several systems on one command line: their names, and the questions for those that are asked."""

from collections.abc import Mapping, Sequence
from pathlib import Path

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


def questions_beside(
    systems: tuple[str, ...], ground_truth: str | None, retrievers: Mapping[str, str]
) -> tuple[tuple[str, ...], str | None]:
    """The runs, and the questions: a file that stands alone beside retrievers is these."""
    if retrievers and ground_truth is None and len(systems) == 1:
        return (), systems[0]
    if retrievers and ground_truth is None and systems:
        raise InvalidInput(
            f"Retrievers are given together with {', '.join(systems)}; say which file holds the "
            "questions with their ground truth: --ground-truth FILE."
        )
    return systems, ground_truth
