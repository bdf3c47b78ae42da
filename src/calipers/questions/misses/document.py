"""Misses as a document: why targets were not found, and some examples with texts."""

import polars as pl

from calipers.model.document import (
    Cell,
    Cells,
    Column,
    Document,
    Lines,
    Note,
    NoteKind,
    Table,
)
from calipers.model.fact import Fact, Sentence, named, sentence
from calipers.present.escape import printable, query_name
from calipers.questions.misses.result import REASONS, Misses
from calipers.words import first_results

EXAMPLES = 3
SHOWN = 60


def document(misses: Misses) -> Document:
    """The number of misses, the reasons with their remedies, and some examples."""
    left = misses.missed - EXAMPLES
    more = Fact(about="count", count=left, text="more misses")
    further = sentence("{it.count} more: -o misses.jsonl", it=more)
    following = [Note("next", further)] if left > 0 else []
    return Document(
        verdict(misses),
        blocks=[
            *([_reasons(misses)] if misses.missed else []),
            *map(_miss, misses.table.head(EXAMPLES).iter_rows(named=True)),
        ],
        notes=[*(Note(_weight(note), note) for note in misses.notes), *following],
        rows=lambda: misses.table,
    )


def _weight(note: str) -> NoteKind:
    """What was not given is said beside the reason already; how files were read is said first."""
    return (
        "counted"
        if note.startswith(("No corpus is given", "The run holds no stages"))
        else "input"
    )


def verdict(misses: Misses) -> str:
    """How many targets were not found."""
    within = Fact(about="setting", k=misses.k, text="k")
    first = Sentence(first_results(misses.k, is_far=misses.is_far), [within])
    if misses.worse_than is not None:
        return _lost(misses, first)
    if not misses.targets:
        return "Nothing can be missed: no query has anything to find."
    if not misses.missed:
        return sentence(
            "Nothing was missed: every target is in the {first}.", first=first
        )
    missed = Fact(about="count", count=misses.missed, of=misses.targets, text="targets")
    return sentence(
        "{it.count} of {it.of:target|targets} {verb} not in the {first}.",
        it=missed,
        verb="is" if misses.missed == 1 else "are",
        first=first,
    )


def _lost(misses: Misses, first: Sentence) -> Sentence:
    """How many queries find less than they did, and what they miss."""
    lost = Fact(
        about="count",
        count=misses.queries,
        text="queries that find less",
        against=misses.worse_than,
    )
    name = printable(misses.worse_than or "", SHOWN)
    if not misses.queries:
        return sentence("No query finds less than in {name.text}.", name=named(name))
    missed = Fact(about="count", count=misses.missed, of=misses.targets, text="targets")
    return sentence(
        "{it.count:query finds|queries find} less than in {name.text}: {missed.count} of "
        "{missed.of:target|targets} {verb} not in the {first}.",
        it=lost,
        name=named(name),
        missed=missed,
        verb="is" if misses.missed == 1 else "are",
        first=first,
    )


def _reasons(misses: Misses) -> Table:
    cells: list[Cells] = [
        (f"{count:,}", Cell(reason.means, strong=True), misses.remedy(reason.name))
        for reason in REASONS
        if (count := misses.reasons.get(reason.name))
    ]
    return Table(
        ("misses", Column("reason", words=True), Column("what to do", prose=True)), cells
    )


def _miss(row: dict[str, object]) -> Lines:
    means = next(reason.means for reason in REASONS if reason.name == row["reason"])
    place = f" (rank {row['rank']})" if row["rank"] is not None else ""
    question = None if row["question"] is None else str(row["question"])
    got = _instead(row)[:EXAMPLES]
    if not any("“" in text for text in got):
        got = [", ".join(got)] if got else []
    if row["near"] is not None:
        got = [printable(str(row["near"]), SHOWN)]
    lines = [
        f"  wanted  {_expected(row)}",
        f"          {means}{place}",
        *(f"  {'got' if not at else '':<6}  {one}" for at, one in enumerate(got)),
    ]
    return Lines(lines, query_name(str(row["query"]), question))


def _expected(row: dict[str, object]) -> str:
    if row["item"] is None and row["quote"] is None:
        place = f"characters {row['start']} to {row['end']}"
        return f"{printable(str(row['document']), SHOWN)}, {place}"
    return _with_text(row["item"], row["expected_text"])


def _instead(row: dict[str, object]) -> list[str]:
    items = row["instead"]
    texts = row["instead_text"]
    if not isinstance(items, list) or not isinstance(texts, list):
        return []
    return [_with_text(item, text) for item, text in zip(items, texts, strict=True)]


def _with_text(item: object, text: object) -> str:
    """An id and its text, where known."""
    quoted = "" if text is None else f"“{printable(' '.join(str(text).split()), SHOWN)}”"
    name = "" if item is None else printable(str(item), SHOWN if text is None else 24)
    return "  ".join(filter(None, (name, quoted))) or "?"


def flat(table: pl.DataFrame) -> pl.DataFrame:
    """The table with lists joined to text, for formats without lists."""
    return table.with_columns(
        pl.col(name)
        .list.eval(pl.element().cast(pl.String).fill_null(""))
        .list.join(" | ")
        for name, dtype in table.schema.items()
        if isinstance(dtype, pl.List)
    )
