"""Words of sentences: numbers with their nouns, names in a row, the nearest known word."""

from collections.abc import Iterable, Sequence


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


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A short question naming the nearest known word, or nothing.

    >>> did_you_mean("recal", ["recall", "precision"])
    ' Did you mean recall?'
    >>> did_you_mean("zzz", ["recall"])
    ''
    """
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]}?" if near else ""
