"""Propose a mapping of columns where a table or records lack a part: one line to paste.

It is guessed from names and a sample of values, and never applied without the user.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from calipers.io.tables.cells import looks_like_texts
from calipers.io.tables.columns import (
    IDENTITIES,
    IGNORED,
    numbered_groups,
    renaming,
    say,
    with_settings,
)
from calipers.io.tables.grades import NO_GRADES, likely_grades
from calipers.model.matched import Role
from calipers.names import HARMLESS, plain_name, possible_meaning

Cells = Mapping[str, Sequence[Any]]
"""Columns or fields, each with some of its values; of a list they are one text."""
_OWN = frozenset({"id", "_id", "tags", "latency_ms", "error", "stages"})
"""Fields of our records that are no part of them."""
_ID = re.compile(r"[^\s;|,\[\](){}'\"、，]+")


def nothing_fits(name: str, columns: Cells, lacking: str, role: Role) -> str:
    """The error for a table without a column for the query or the item, with the fix first."""
    offers = _propose(columns, {lacking}, role)
    found = ", ".join(_listed(columns)) or "no name"
    why = f"{name} has no column for the {lacking}; found {found:.60}"
    if {ours for ours, _ in offers} & {lacking, "quote"}:
        return with_settings(f"Say {say(*offers)}; {why}.", *offers)
    usual = "question or query_id" if lacking == "query" else "chunk_id (ids) or quote (texts)"
    return f"Add a column {usual}, or give another file: {why}."


def missing_part(columns: Cells, role: Role, *, has_truth: bool, has_results: bool) -> str:
    """The options for a part that is lacking for a role; empty if no column could be it."""
    lacking = {"ground_truth"} if not has_truth and role != "run" else set[str]()
    if not has_results and role != "ground_truth":
        lacking.add("retrieved")
    if has_results and lacking and not _known(columns, "retrieved"):
        # One result in each row: what judges it stands beside it.
        return say(*(("grade", one) for one in likely_grades(_free(columns))))
    return say(*_propose(columns, lacking, role))


def _propose(columns: Cells, lacking: Collection[str], role: Role) -> list[tuple[str, str]]:
    """The fields that are lacking, each with the column that may be meant."""
    free = _free(columns, own=_OWN - {"id", "_id"} if "item" in lacking else _OWN)
    known = {*renaming(_listed(columns)).values(), *(["item"] if _numbered(columns) else [])}
    meant = {one: possible_meaning(one) for one in free}
    texts = [one for one, cells in free.items() if looks_like_texts(cells)]
    # Cells with several numbers list ids; of those that grade, each holds one.
    single = {one: cells for one, cells in free.items() if _count(cells) <= len(cells)}
    grades = [] if role == "run" else likely_grades(single)
    left = [one for one in free if not set(plain_name(one).split("_")) & HARMLESS]
    chosen: dict[str, str] = {}

    def take(ours: str, *found: str | None) -> None:
        if theirs := next(filter(None, found), None):
            chosen[ours] = theirs
            left[:] = [one for one in left if one != theirs]

    def hinted(*fields: str, among: Iterable[str] = free) -> str | None:
        unused = (one for one in among if one not in chosen.values())
        return next((one for one in unused if meant[one] in fields), None)

    def ids() -> list[str]:
        return [one for one in left if one not in texts and one not in grades]

    whole = bool({"query", "item"} & {*lacking})
    if "query" in lacking:
        take("query", hinted("query"), *sorted(left, key=lambda n: (n in grades, n not in texts)))
    if "retrieved" in lacking or (whole and role != "ground_truth" and "retrieved" not in known):
        among = ids() if role == "both" and not known & {"score", "rank"} else []
        take("retrieved", hinted("retrieved"), _returned(columns, among))
    if whole and not known & {*IDENTITIES}:
        found = hinted("item", "quote")
        called = "quote" if found and meant[found] == "quote" else "item"
        if "item" in lacking and "query_text" not in known:
            take("query_text", *(one for one in texts if one in left and _asks(free[one])))
        take(called, found, *sorted(left, key=lambda n: (n in grades, n in texts, _counts(n))))
    if "ground_truth" in lacking:
        returned = _ids(columns, _known(columns, "retrieved"))
        shared = [one for one in ids() if _ids(columns, [one]) & returned]
        # Few values for many questions are a kind of document, not the one that is meant.
        many = [one for one in left if 2 * len(set(free[one])) > len(free[one])]
        meant_by_name = hinted("item", "quote", among=many if returned else free)
        take("ground_truth", hinted("item", among=shared), *shared, meant_by_name)
    if whole and "grade" not in known:
        take("grade", *(one for one in grades if one in left))
    order = ("query", "query_text", "item", "quote", "ground_truth", "retrieved", "grade")
    return [(ours, chosen[ours]) for ours in order if ours in chosen]


def _asks(cells: Sequence[Any]) -> bool:
    return 2 * sum(str(one).rstrip().endswith("?") for one in cells) >= len(cells)


def _counts(name: str) -> bool:
    """Whether a name says that the column holds numbers: of pages, rows or years."""
    return bool(set(plain_name(name).split("_")) & NO_GRADES)


def _returned(columns: Cells, among: list[str]) -> str | None:
    """The column that shares ids with the targets, and has more of them: the results."""
    targets = [*_known(columns, "item"), *_numbered(columns)]
    hinted = [one for one in among if possible_meaning(one) == "item"]
    pairs = [
        (_count(columns[two]) - _count(columns[one]), two)
        for one in targets or hinted or among
        for two in among
        if one != two and _ids(columns, [one]) & _ids(columns, [two])
    ]
    more, found = max(pairs, default=(-1, None), key=lambda pair: pair[0])
    return found if more >= 0 else None


def _ids(columns: Cells, names: list[str]) -> set[str]:
    return {one for name in names for cell in columns[name] for one in _ids_in(cell)}


def _count(cells: Sequence[Any]) -> int:
    return sum(len(_ids_in(cell)) for cell in cells)


def _ids_in(cell: Any) -> list[str]:
    return [] if cell is None else _ID.findall(str(cell))


def as_cell(value: Any) -> str:
    """A value of a record as it would stand in a cell."""
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _listed(columns: Cells) -> list[str]:
    return [one for one in columns if one.strip() and not one.endswith(IGNORED)]


def _numbered(columns: Cells) -> list[str]:
    """The columns that differ in their number only: ``Chunk 1``, ``Chunk 2``."""
    return [one for group in numbered_groups(_listed(columns)).values() for one in group]


def _known(columns: Cells, ours: str) -> list[str]:
    return [theirs for theirs, what in renaming(_listed(columns)).items() if what == ours]


def _free(columns: Cells, own: frozenset[str] = _OWN) -> dict[str, Sequence[Any]]:
    """The columns of unknown name, but for those of our own records."""
    listed = _listed(columns)
    known = {*renaming(listed), *_numbered(columns), *own}
    return {one: columns[one] for one in listed if one not in known and not one.startswith("tag.")}
