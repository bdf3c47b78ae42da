"""Lists of texts and of ids that stand side by side, as several tools write them."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from calipers.errors import InvalidInput
from calipers.io.records.records import Id, Result, Target
from calipers.io.records.rows import At

T = TypeVar("T")
R = TypeVar("R", Result, Target)


def side_by_side(
    texts: Sequence[str] | None, ids: Sequence[Id] | None, at: At, names: tuple[str, str]
) -> list[tuple[str | None, Id | None]] | None:
    """Pairs of text and id; None where neither list is there.

    >>> side_by_side(["a", "b"], None, lambda: "here", ("texts", "ids"))
    [('a', None), ('b', None)]
    """
    if texts is None and ids is None:
        return None
    if texts is not None and ids is not None and len(texts) != len(ids):
        raise InvalidInput(
            f"Two lists that belong together differ in length at {at()}: {len(texts)} in "
            f"{names[0]!r} and {len(ids)} in {names[1]!r}; give one id for each text, or leave "
            "one of the lists out."
        )
    if texts is None:
        return [(None, one) for one in ids or ()]
    if ids is None:
        return [(text, None) for text in texts]
    return list(zip(texts, ids, strict=True))


def each(make: Callable[[T], R], listed: Iterable[T] | None) -> list[Id | R] | None:
    """What is made of each of a list; None where there is no list."""
    return None if listed is None else [make(one) for one in listed]


def results(pairs: list[tuple[str | None, Id | None]] | None) -> list[Id | Result] | None:
    """Results with what is known of each."""
    return each(lambda pair: Result(id=pair[1], text=pair[0]), pairs)


def targets(pairs: list[tuple[str | None, Id | None]] | None) -> list[Id | Target] | None:
    """Targets of grade 1 with what is known of each."""
    return each(lambda pair: Target(id=pair[1], quote=pair[0]), pairs)
