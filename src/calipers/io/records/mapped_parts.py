"""Results and judgements of all queries in one object, each a mapping of the queries."""

from collections.abc import Mapping
from typing import Any

from calipers.io.files.probe import Probe
from calipers.io.records.json_files import opened
from calipers.io.records.layout import side_of
from calipers.names import (
    ANSWER_LISTS,
    RETURNED_IDS,
    WANTED_IDS,
    plain_name,
    words_in,
)

_RUNS = frozenset(words_in("run runs ranking rankings prediction predictions"))
_TRUTHS = frozenset(words_in("qrel qrels judgements judgments labels"))
"""Further names of the results and of the judgements of all queries."""
_MOST_PARTS = 20
Mapped = Mapping[Any, Any]


def parts_by_query(probe: Probe) -> dict[str, Mapped] | None:
    """The mappings of queries in an object, by what their names say; None where one is missing.

    They have a query in common, so that a mapping whose queries are called so is none.
    """
    look = probe.look
    if look is None or look.shape != "object" or not 1 < len(look.first) <= _MOST_PARTS:
        return None
    sides: dict[str, list[str]] = {"run": [], "ground_truth": []}
    for key in look.first:
        side = _side_of_all(str(key))
        if side:
            sides[side].append(key)
    if any(len(keys) != 1 for keys in sides.values()):
        return None
    named = {side: keys[0] for side, keys in sides.items()}
    named["queries"] = "queries"
    parts = {side: opened(look.first.get(key, {})) for side, key in named.items()}
    if not all(isinstance(part, Mapping) for part in parts.values()):
        return None
    if not parts["run"].keys() & parts["ground_truth"].keys():
        return None
    collections = [*parts["run"].values(), *parts["ground_truth"].values()]
    return parts if all(isinstance(one, list | dict) for one in collections) else None


def _side_of_all(key: str) -> str:
    """Whether a name says that a field has the results or the judgements of all queries."""
    name = plain_name(key)
    if (
        name in _TRUTHS
        or name in (*WANTED_IDS, "ground_truth")
        or side_of(key) == "wanted"
    ):
        return "ground_truth"
    known = name in _RUNS or name in (*RETURNED_IDS, *ANSWER_LISTS)
    return "run" if known or side_of(key) == "returned" else ""
