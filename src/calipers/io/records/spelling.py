"""Fields of our records that are misspelt: what is nearly a name of ours was meant to be it.

A record may hold any further fields, but ``ground_thruth`` or a target's ``garde`` would be passed
over in silence, and the numbers would be wrong without a word.
"""

from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, get_type_hints

import msgspec

from calipers.errors import InvalidInput
from calipers.io.records.records import Record, Result, Target

NEAR = 0.85
"""How alike two names must be: ``retreived`` is ``retrieved``, ``document_id`` not ``document``."""
_FIELDS: dict[type, dict[str, Any]] = {
    kind: get_type_hints(kind) for kind in (Record, Result, Target)
}


def check_spelling(record: Any, place: str) -> None:
    """Refuse a record in which a field of ours is misspelt, at any depth.

    >>> check_spelling({"query": "Who?", "retreived": ["c1"], "note": "mine"}, "evals.jsonl:3 $")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: A field is misspelt at evals.jsonl:3 $: found 'retreived'. Did \
you mean 'retrieved'? Rename it; fields of your own may have any name that is not nearly one of \
Calipers'.
    """
    if not isinstance(record, Mapping):
        return
    _check_fields(record, Record, place)
    _check_listed(record.get("retrieved"), Result, f"{place}.retrieved")
    _check_listed(record.get("ground_truth"), Target, f"{place}.ground_truth")
    _check_listed(record.get("forbidden"), Target, f"{place}.forbidden")
    stages = record.get("stages")
    for name, listed in stages.items() if isinstance(stages, Mapping) else ():
        _check_listed(listed, Result, f"{place}.stages.{name}")


def _check_listed(listed: Any, kind: type, place: str) -> None:
    if isinstance(listed, list | tuple):
        for i, one in enumerate(listed):
            if isinstance(one, Mapping):
                _check_fields(one, kind, f"{place}[{i}]")


def _check_fields(given: Mapping[str, Any], kind: type, place: str) -> None:
    fields = _FIELDS[kind]
    lacking = [name for name in fields if given.get(name) is None]
    for key, value in given.items():
        if key in fields or value is None:
            continue
        meant = next((f for f in lacking if is_near(str(key), f) and _fits(value, fields[f])), None)
        if meant is not None:
            raise InvalidInput(
                f"A field is misspelt at {place}: found {key!r:.60}. Did you mean {meant!r}? "
                "Rename it; fields of your own may have any name that is not nearly one of "
                "Calipers'."
            )


@lru_cache(maxsize=4096)
def is_near(key: str, name: str) -> bool:
    """Whether a key is a name in other dress (groundTruth), with letters swapped, or nearly it."""
    squashed, wanted = (_squashed(one) for one in (key, name))
    if len(squashed) < 4 or _means_something_else(key, name):
        return False
    if sorted(squashed) == sorted(wanted):
        return True
    return SequenceMatcher(None, key, name).ratio() >= NEAR


def _means_something_else(key: str, name: str) -> bool:
    """Whether a key differs by its unit (``latency_us``), or is several of what the name is.

    ``ground_truths`` of other tools are answers in words, and renamed they would be ids.
    """
    unit, other = (one.lower().rpartition("_")[2] for one in (key, name))
    return (unit in UNITS and unit != other) or key.lower() == f"{name}s"


UNITS = frozenset({"s", "sec", "secs", "seconds", "ms", "us", "ns", "min", "minutes", "h"})


def _squashed(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _fits(value: Any, wanted: Any) -> bool:
    """Whether the value is one of the field: a ``retriever`` with a name is no ``retrieved``."""
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError:
        return False
    return True
