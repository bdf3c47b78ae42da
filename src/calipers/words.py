"""Numbers with their nouns, and names in a row."""

from collections.abc import Sequence


def listed(names: Sequence[str]) -> str:
    """Some names as a sentence has them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def plural(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> plural(1, "query", "queries"), plural(2000, "chunk")
    ('1 query', '2,000 chunks')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
