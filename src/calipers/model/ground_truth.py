"""What should be found."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.arrays import (
    Floats,
    Ints,
    Picklable,
    WhenAsked,
    as_series,
    table_of_ours,
)
from calipers.model.fingerprint import (
    fingerprint_rows,
    fingerprint_settings,
    mixed_hashes,
    suspected_duplicates,
)
from calipers.model.ranking import query_starts

TARGET_SCHEMA: dict[str, pl.DataType] = {
    "query": pl.String(),
    "grade": pl.Float64(),
    "item": pl.String(),
    "quote": pl.String(),
    "document": pl.String(),
    "start": pl.Int64(),
    "end": pl.Int64(),
    "group": pl.String(),
}
FORBIDDEN_SCHEMA = {
    name: kind for name, kind in TARGET_SCHEMA.items() if name not in ("grade", "group")
}
WAYS = {"item": "item", "quote": "quote", "span": "start"}
"""The ways to recognise a target, each with the column that it needs."""
IDENTITY = ("query", "item", "quote", "document", "start", "end", "group")

Where = Callable[[int], str]
"""Turns the number of a row into words: the place it was read from."""


def row_number(row: int) -> str:
    """The place of a row that came from memory."""
    return f"row {row}"


@dataclass(frozen=True, eq=False)
class GroundTruth(Picklable):
    """Targets with grades, one way to recognise each, and the queries they belong to.

    A query may have no target at all: then no answer exists, and that is known.
    """

    targets: WhenAsked[pl.DataFrame] = WhenAsked()
    """query, grade, and item, or quote, or document + start + end; optional group."""
    queries: WhenAsked[pl.DataFrame] = WhenAsked()
    """query and text, in order of appearance."""
    tags: Mapping[str, pl.Series] = field(default_factory=dict)
    """What is known about each query, such as its type: one column per tag, one row per
    query."""
    repeated: int = 0
    """Judgements that were given twice with the same grade."""
    notes: tuple[str, ...] = ()
    """Notes about how it was read."""
    forbidden: pl.DataFrame | None = None
    """What must not be found: query, and item, or quote, or document with or without
    start and end; None where nothing is forbidden."""
    excluded: pl.DataFrame | None = None
    """Results that count neither for nor against a ranking, in the same form as
    ``forbidden``."""
    said_to_be_quotes: str = ""
    """The note that a reader took texts of a tool's field as quotes; empty where the author
    of the file says what they are."""
    only_returned: bool = False
    """Whether only what a retriever returned was judged, so that nobody knows what it
    missed."""

    @classmethod
    def from_targets(
        cls,
        targets: pl.DataFrame,
        *,
        queries: pl.DataFrame | None = None,
        tags: Mapping[str, pl.Series] | None = None,
        where: Where = row_number,
    ) -> Self:
        """A ground truth from a table of targets, checked.

        ``queries`` (query, text) may name queries without targets; ``where`` says where a
        row of the table came from, for errors.
        """
        table_of_ours(targets, "The targets")
        targets = pl.DataFrame(
            [_column(targets, name, dtype) for name, dtype in TARGET_SCHEMA.items()]
        )
        _check_grades(targets, where)
        _check_ids(targets, where)
        check_direction(targets, where)
        kept = _once_each(targets, where)
        if queries is None:
            queries = each_query_once(kept.select("query"))
        else:
            _check_queries(kept, queries)
        if "text" not in queries.columns:
            queries = queries.hstack([_column(queries, "text", pl.String())])
        return cls(kept, queries, dict(tags or {}), targets.height - kept.height)

    def knowing(self, **facts: object) -> Self:
        """A copy with values of the properties below that are already known."""
        vars(self).update(facts)
        return self

    def without_quotes(self) -> Self:
        """A copy whose notes do not say that texts are quotes, as they turned out to be ids."""
        notes = tuple(note for note in self.notes if note != self.said_to_be_quotes)
        return replace(self, notes=notes, said_to_be_quotes="")

    def only(self, chosen: pl.Series) -> Self:
        """The chosen queries, with all that is known of them."""
        queries = self.queries.filter(chosen)

        def kept(table: pl.DataFrame) -> pl.DataFrame:
            return table.join(queries, on="query", how="semi", maintain_order="left")

        return replace(
            self,
            targets=kept(self.targets),
            queries=queries,
            tags={name: values.filter(chosen) for name, values in self.tags.items()},
            **self.changing_further(kept),
        )

    def changing_further(
        self, change: Callable[[pl.DataFrame], pl.DataFrame]
    ) -> dict[str, Any]:
        """What is forbidden and what is excluded, each changed; None where nothing is left."""
        tables = {}
        for name in ("forbidden", "excluded"):
            table = getattr(self, name)
            changed = None if table is None else change(table)
            tables[name] = changed if changed is not None and changed.height else None
        return tables

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same judgements, whatever file or order they came in."""
        for name in ("excluded", "forbidden"):
            table = getattr(self, name)
            if table is not None:
                less: dict[str, Any] = {name: None}
                without: str = replace(self, **less).fingerprint
                marks = [name] if name == "excluded" else []
                return fingerprint_settings(
                    [without, fingerprint_rows(table, FORBIDDEN_SCHEMA), *marks]
                )
        has_targets = np.bincount(self.target_query, minlength=self.queries.height) > 0
        if has_targets.all():
            return fingerprint_rows(self.targets, TARGET_SCHEMA)
        silent = self.queries.select("query").filter(pl.Series(~has_targets))
        bare = silent.with_columns(
            pl.lit(None, dtype=dtype).alias(name)
            for name, dtype in TARGET_SCHEMA.items()
            if name != "query"
        )
        rows = pl.concat(
            [self.targets, bare.with_columns(grade=pl.lit(0.0))], how="diagonal"
        )
        return fingerprint_rows(rows, TARGET_SCHEMA)

    @cached_property
    def target_query(self) -> Ints:
        """The code of each target's query: its row in ``queries``."""
        query = self.targets["query"]
        starts = query_starts(query)
        if _first_of_each(query, starts).equals(self.queries["query"]):
            # The targets are grouped by query, in the order of the queries.
            if starts.size == len(query):
                return starts
            return np.repeat(np.arange(starts.size), np.diff(starts, append=len(query)))
        codes = self.queries.select("query").with_row_index("code")
        joined = self.targets.select("query").join(
            codes, on="query", how="left", maintain_order="left"
        )
        return joined["code"].to_numpy().astype(np.int64)

    @cached_property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.queries.height

    @cached_property
    def is_grouped(self) -> bool:
        """Whether the targets are grouped by query, in the order of the queries."""
        return bool((self.target_query[1:] >= self.target_query[:-1]).all())

    @property
    def is_listed(self) -> bool:
        """Whether names and ids are available as lists."""
        return "ids" in vars(self)

    @cached_property
    def names(self) -> list[str]:
        """The queries as a list."""
        return self.queries["query"].to_list()

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the targets as a list."""
        return self.targets["item"].to_list()

    @cached_property
    def grades(self) -> Floats:
        """The grades of the targets, in order."""
        return self.targets["grade"].to_numpy()

    @cached_property
    def has_groups(self) -> bool:
        """Whether any targets are alternatives of one another."""
        return self.targets["group"].null_count() < self.targets.height

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The ways in which its targets can be recognised: item, quote, span."""
        return frozenset(
            kind
            for kind, column in WAYS.items()
            if self.targets[column].null_count() < self.targets.height
        )

    @cached_property
    def complete(self) -> frozenset[str]:
        """The columns of these ways that have a value for every target."""
        return frozenset(
            column for column in WAYS.values() if not self.targets[column].null_count()
        )


def _column(frame: pl.DataFrame, name: str, dtype: pl.DataType) -> pl.Series:
    """The column of that name and type; if missing, grades of 1, or nulls for any other column."""
    if name not in frame.columns:
        value = pl.Series(name, [1.0 if name == "grade" else None], dtype=dtype)
        return value.new_from_index(0, frame.height)
    return frame[name] if frame.schema[name] == dtype else frame[name].cast(dtype)


def each_query_once(rows: pl.DataFrame) -> pl.DataFrame:
    """The first row of each query, in order of appearance."""
    starts = query_starts(rows["query"])
    first = rows if starts.size == rows.height else rows[as_series(starts)]
    # Comparing hashes takes a fifth of the memory of comparing names.
    if not suspected_duplicates(first["query"].hash().to_numpy()).size:
        return first
    return first.unique("query", keep="first", maintain_order=True)


def _first_of_each(query: pl.Series, starts: Ints) -> pl.Series:
    """The queries at these rows, without a copy where these are all rows."""
    return query if starts.size == len(query) else query[as_series(starts)]


def _check_queries(targets: pl.DataFrame, queries: pl.DataFrame) -> None:
    names = queries["query"]
    if names.null_count() or targets["query"].null_count():
        raise InvalidInput("A query of the ground truth has no id; give every query one.")
    if suspected_duplicates(names.hash().to_numpy()).size and names.n_unique() < len(
        names
    ):
        name = names.filter(names.is_duplicated())[0]
        raise InvalidInput(
            f"Two queries of the ground truth have the same id {name!r}; give each its "
            "own."
        )
    if _first_of_each(targets["query"], query_starts(targets["query"])).equals(names):
        return
    strangers = targets["query"].filter(~targets["query"].is_in(names.implode()))
    if len(strangers):
        raise InvalidInput(
            f"A target belongs to the query {strangers[0]!r}, which is not among the "
            "queries of the ground truth; add the query, or remove the target."
        )


def _check_grades(targets: pl.DataFrame, where: Where) -> None:
    grade = targets["grade"]
    good = np.isfinite(grade.to_numpy())
    if not good.all():
        row = int(np.argmin(good))
        raise InvalidInput(
            f"A grade is not a number at {where(row)}: found {grade[row]}; "
            "a grade is a finite number, above 0 where the target is relevant."
        )


def _check_ids(targets: pl.DataFrame, where: Where) -> None:
    """Refuse blank ids: two of them would be the same item."""
    item = targets["item"]
    # Blanks are below the first sign of ASCII, or beyond its last: few ids begin so.
    if not ((item < "!") | (item > "~")).any():
        return
    empty = (item.str.strip_chars() == "").arg_true()
    if len(empty):
        raise InvalidInput(
            f"The id of a target is empty at {where(int(empty[0]))}; give it the id of "
            "what should be found, or leave the target out."
        )


def _may_repeat(targets: pl.DataFrame, columns: list[str]) -> bool:
    hashes = np.zeros(targets.height, dtype=np.uint64)
    for name in columns:
        hashes = mixed_hashes(hashes, targets[name].hash().to_numpy())
    return bool(columns) and suspected_duplicates(hashes).size > 0


def _once_each(targets: pl.DataFrame, where: Where) -> pl.DataFrame:
    """The targets without repetitions, sorted by first appearance; contradictions are errors."""
    used = [name for name in IDENTITY if targets[name].null_count() < targets.height]
    if not _may_repeat(targets, used):
        return targets
    kept = targets.unique(used, keep="first", maintain_order=True)
    if kept.height == targets.height:
        return kept
    grades = (
        targets.with_row_index("row")
        .group_by(IDENTITY, maintain_order=True)
        .agg("grade", "row")
        .filter(pl.col("grade").list.n_unique() > 1)
    )
    if grades.height:
        first = grades.row(0, named=True)
        other = next(i for i, g in enumerate(first["grade"]) if g != first["grade"][0])
        name = first["item"] or first["quote"] or first["document"]
        raise InvalidInput(
            f"One target has two different grades: query {first['query']!r}, target "
            f"{name!r} is graded {first['grade'][0]:g} at {where(first['row'][0])} and "
            f"{first['grade'][other]:g} at {where(first['row'][other])}; keep one of "
            "them."
        )
    return kept


@dataclass(frozen=True, eq=False)
class SpanTable:
    """Chunks and targets as intervals of characters on one long line.

    Every document of every query has its own section of the line, so that intervals
    overlap only within the same query and document. Ends are exclusive.
    """

    chunk_query: Ints
    chunk_rank: Ints
    chunk_start: Ints
    chunk_end: Ints
    target_start: Ints
    """In the order of the targets in the matches."""
    target_end: Ints


def check_direction(
    rows: pl.DataFrame, where: Callable[[int], str], before: int = 0
) -> None:
    """Refuse a row whose span ends before it starts.

    ``where`` says where a row came from, by its number; ``before`` rows precede these.
    """
    if (
        not {"start", "end"} <= set(rows.columns)
        or rows["end"].null_count() == rows.height
    ):
        return
    wrong = (rows["end"] < rows["start"]).arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise InvalidInput(
            backwards(where(before + row), rows["start"][row], rows["end"][row])
        )


def backwards(place: str, start: int, end: int) -> str:
    """The error message about a span that ends before it starts.

    >>> backwards("evals.jsonl:2 $.retrieved[0]", 9, 4)
    'A span ends before it starts at evals.jsonl:2 $.retrieved[0]: found start 9 and end 4; the \
end is the place after the last character. Correct it.'
    """
    return (
        f"A span ends before it starts at {place}: found start {start} and end {end}; "
        "the end is the place after the last character. Correct it."
    )


MARK = "#page="
"""Between a document and the number or label of its page, as in the address of a PDF."""


def page_id(document: object, page: object, at: str, part: str = "ground_truth") -> str:
    """The id of a page, with ``at`` as its place in errors; 3 and 3.0 are one page.

    >>> page_id("a.pdf", 3.0, "here"), page_id("a.pdf", "iv", "here")
    ('a.pdf#page=3', 'a.pdf#page=iv')
    """
    if part in ("forbidden", "excluded"):
        raise InvalidInput(
            f"A page cannot be {part}, as at {at}; name the document, or the ids of its "
            "chunks."
        )
    if document is None:
        raise InvalidInput(
            f"A page is given without its document at {at}; add 'document'."
        )
    return f"{document}{MARK}{page_label(page)}"


def page_label(page: object) -> str:
    """The number or label of a page as a text."""
    whole = isinstance(page, float) and page.is_integer()
    return str(int(page)) if whole else str(page).strip()  # type: ignore[call-overload]


def are_pages(items: pl.Series) -> bool:
    """Whether all ids are names of pages."""
    return len(items) > 0 and bool(
        items.str.contains(MARK, literal=True).fill_null(False).all()
    )


def document_of(item: pl.Expr) -> pl.Expr:
    """The document in the id of a page; null for any other id."""
    return item.str.extract(rf"^(.+){MARK}.+$")
