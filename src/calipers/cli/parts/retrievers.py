"""Several live retrievers on one command line, and the file with the questions for them."""

from collections.abc import Mapping

from calipers.errors import InvalidInput


def named_retrievers(given: tuple[str, ...]) -> dict[str, str]:
    """Every --retriever by its name; one without a name is called what it is."""
    found: dict[str, str] = {}
    for one in given:
        name, equals, target = one.partition("=")
        if not equals or not name or not target or "/" in name or ":" in name:
            name, target = one, one
        if name in found:
            raise InvalidInput(f"Two retrievers are called {name!r}; give each a name of its own.")
        found[name] = target
    return found


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
