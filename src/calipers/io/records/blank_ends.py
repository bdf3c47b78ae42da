"""Mappings without the blanks that exports and hands leave at the ends of questions and ids."""

from collections.abc import Iterable, Mapping
from itertools import chain, islice
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.records.gather import bare_name

SOME = 1_000
"""Items of a mapping that are looked at: what pads ids pads all of them."""


def have_blank_ends(value: Mapping[Any, Any]) -> bool:
    """Whether a query of a mapping, or one of its first items, begins or ends with a blank."""
    names = [*value, *islice(chain.from_iterable(value.values()), SOME)]
    try:
        return [*map(str.strip, names)] != names
    except TypeError:
        return any(isinstance(one, str) and one != one.strip() for one in names)


def bare_mapping(value: Mapping[Any, Any], name: str) -> dict[Any, Any]:
    """A mapping of query to items with bare names; two that become one are an error."""

    def items_of(items: Any) -> Any:
        if isinstance(items, Mapping):
            return _each_once(items.items(), "items", name)
        return type(items)(map(_bare, items))

    pairs = ((query, items_of(items)) for query, items in value.items())
    return _each_once(pairs, "queries", name)


def _bare(one: Any) -> Any:
    return bare_name(one) if isinstance(one, str) else one


def _each_once(pairs: Iterable[tuple[Any, Any]], what: str, name: str) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for one, held in pairs:
        if _bare(one) in made:
            raise InvalidInput(
                f"{name} has two {what} that differ only by blanks at their ends: {one!r:.60}; "
                "make them one."
            )
        made[_bare(one)] = held
    return made
