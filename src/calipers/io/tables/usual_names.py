"""Recognise the columns of a table by their usual names, which are in ``calipers.names``."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from calipers.model.ground_truth import TARGET_SCHEMA
from calipers.model.matched import Role
from calipers.model.run import RUN_SCHEMA
from calipers.names import (
    QUERY_ID,
    QUERY_TEXT,
    ROW,
    WANTED_IDS,
    WEAK_QUOTE,
    plain_name,
)

IGNORED = " (not read)"
"""Suffix for the name of a column that should not be read."""
IDENTITIES = ("item", "quote", "document", "text", "retrieved")
_NUMBERED = re.compile(r"(.*\D|)(\d{1,3})")
"""A column name with a number; the first of several may have none, and ``#1`` has no more."""
_NUMBERED_INSIDE = re.compile(r"(.*\D|)(\d{1,3})(?:st|nd|rd|th)?_([^\d_].*)")
"""A column name with a number inside of it: ``top_1_id``, ``1st result``."""
_SCALE = re.compile(r"[(\[]\s*-?\d\s*(?:-|–|to|bis|a|à|/)\s*([2-9]|10)\s*[)\]]\s*$")
"""The scale of a judge at the end of a name: ``score (0-3)``."""
_LETTERED = re.compile(r"(.*[^\W_])_([a-f])")
"""A column name with a letter: ``gold_a``."""


def as_meant(name: str) -> str:
    """The name of a column as it was meant, from polars or from another reader.

    polars keeps the quotes of a name doubled. A reader that knows no byte order mark takes it and
    the quotes behind it as part of the first name, and writes them back.

    >>> as_meant('\\ufeff""query_id""'), as_meant('5"')
    ('query_id', '5"')
    """
    name = name.replace('""', '"')
    return name.strip('\ufeff"') if name.startswith("\ufeff") else name


def is_long(columns: Iterable[str]) -> bool:
    """Whether one of the columns names the query."""
    return "query" in renaming(sorted(columns)).values()


def renaming(columns: list[str]) -> dict[str, str]:
    """The recognised columns, each with our name for it.

    Where one column is the id of the query and another its text, the id becomes the query.

    >>> renaming(["qid", "query", "docno", "rank", "note"])
    {'qid': 'query', 'query': 'query_text', 'docno': 'item', 'rank': 'rank'}
    >>> renaming(["Question", "Relevant"])
    {'Question': 'query', 'Relevant': 'item'}
    >>> renaming(["question", "chunk_id", "relevant"])
    {'question': 'query', 'chunk_id': 'item', 'relevant': 'grade'}
    >>> renaming(["question", "results", "relevant"])
    {'question': 'query', 'results': 'retrieved', 'relevant': 'item'}
    """
    return dict(_renaming(tuple(columns)))


@lru_cache(maxsize=256)
def _renaming(columns: tuple[str, ...]) -> dict[str, str]:
    plain = _by_plain_name(columns)
    chosen: dict[str, str] = {}
    ident = next((name for name in QUERY_ID if name in plain), None)
    text = next((name for name in QUERY_TEXT if name in plain), None)
    if text and (ident or (text == "query_text" and "query" in plain)):
        chosen[plain[text]] = "query_text"
        chosen[plain[ident or "query"]] = "query"
    for ours in (*TARGET_SCHEMA, *RUN_SCHEMA, "retrieved"):
        free = (
            plain[n]
            for n in ROW.get(ours, (ours,))
            if n in plain and plain[n] not in chosen
        )
        theirs = next(free, None)
        if theirs is not None and ours not in chosen.values():
            chosen[theirs] = ours
    if "grade" not in chosen.values():
        # A score from 0 to 3 is the grade of a judge, and no score of a retriever.
        chosen = {
            theirs: "grade" if ours == "score" and _SCALE.search(theirs) else ours
            for theirs, ours in chosen.items()
        }
    if not set(chosen.values()) & {*IDENTITIES} - {"retrieved"}:
        # "relevant" alone lists relevant ids; beside a single id it says whether that one is.
        chosen = {
            theirs: "item" if plain_name(theirs) == "relevant" else ours
            for theirs, ours in chosen.items()
        }
    if "document" not in chosen.values():
        # A page without a document is of no use.
        chosen = {theirs: ours for theirs, ours in chosen.items() if ours != "page"}
    return {column: chosen[column] for column in columns if column in chosen}


def _by_plain_name(columns: Sequence[str]) -> dict[str, str]:
    """The columns by their plain names; those of promptfoo (``__expected``) are assertions."""
    read = (column for column in reversed(columns) if not column.startswith("__"))
    return {plain_name(one): one for one in read if not one.endswith(IGNORED)}


def numbered_groups(columns: list[str]) -> dict[str, list[str]]:
    """Groups of two or more columns that differ only in their number or letter, from the first on.

    >>> numbered_groups(["q", "chunk", "chunk.1", "gold_a", "gold_b"])
    {'chunk': ['chunk', 'chunk.1'], 'gold': ['gold_a', 'gold_b']}
    >>> numbered_groups(["q", "#1", "#2", "top_1_id", "top_2_id"])
    {'': ['#1', '#2'], 'top_id': ['top_1_id', 'top_2_id']}
    """
    found: dict[str, dict[int, str]] = {}
    for column in columns:
        plain = plain_name(column)
        if numbered := _NUMBERED.fullmatch(plain):
            found.setdefault(numbered[1].rstrip("_"), {}).setdefault(
                int(numbered[2]), column
            )
        elif numbered := _NUMBERED_INSIDE.fullmatch(plain):
            stem = f"{numbered[1]}{numbered[3]}"
            found.setdefault(stem, {}).setdefault(int(numbered[2]), column)
        elif lettered := _LETTERED.fullmatch(plain):
            found.setdefault(lettered[1], {}).setdefault(
                ord(lettered[2]) - ord("a") + 1, column
            )
    plain_names = {plain_name(column): column for column in columns}
    for stem, numbers in found.items():
        if stem in plain_names and min(numbers) in (1, 2):
            # The first has no number: expected_doc, expected_doc_2; pandas writes chunk, chunk.1.
            numbers[min(numbers) - 1] = plain_names[stem]
    return {
        stem: [numbers[n] for n in sorted(numbers)]
        for stem, numbers in found.items()
        if len(numbers) > 1
        and sorted(numbers) == list(range(min(numbers), max(numbers) + 1))
        if min(numbers) in (0, 1)
    }


def is_flat_table(columns: Iterable[str]) -> bool:
    """Whether the fields of a record are those of a flat table: a query and one item."""
    listed = sorted(columns)
    known = set(renaming(listed).values())
    if "query" not in known or not all(isinstance(one, str) for one in listed):
        return False
    return bool(known & {"item", "quote", "retrieved"} or numbered_groups(listed))


def says_wanted(theirs: str) -> bool:
    """Whether a column's name says that its ids are targets."""
    return plain_name(theirs) in (*WANTED_IDS, "ground_truth")


def may_be_texts(theirs: str) -> bool:
    """Whether a column of ids may hold texts instead: ``expected_chunks``, ``gold``."""
    name = plain_name(theirs)
    return not name.endswith(("id", "ids", "docno")) and name not in (
        "item",
        "items",
        "pid",
    )


def weak_quote(columns: list[str], names: Mapping[str, str], role: Role) -> str | None:
    """The text column to use as quotes, in a ground truth without other targets."""
    known = set(names.values())
    if role == "run" or known & {
        "item",
        "quote",
        "document",
        "score",
        "rank",
        "retrieved",
    }:
        return None
    plain = _by_plain_name(columns)
    usable = (
        n for n in WEAK_QUOTE if n in plain and (n != "text" or role == "ground_truth")
    )
    return next((plain[name] for name in usable), None)


def either_name(known: str | None, further: str) -> str:
    """The names of a field that is called so or so, with a comma between them.

    >>> either_name("URL", "url"), either_name("URL,url", "url"), either_name(None, "url")
    ('URL,url', 'URL,url', 'url')
    """
    names = [] if known is None else known.split(",")
    return ",".join([*names, *(one for one in further.split(",") if one not in names)])


def is_ignored(key: object) -> bool:
    """Whether a field of a record is one that the user does not want to be read."""
    return isinstance(key, str) and key.endswith(IGNORED)
