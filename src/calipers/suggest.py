"""The "did you mean" at the end of an error."""

from collections.abc import Iterable


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
