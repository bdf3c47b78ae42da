"""An evaluation as a document, as CSV, and query by query as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec
import polars as pl

from calipers.model.document import Block, Document, Heading, Note, Rows
from calipers.model.scores import Scores
from calipers.present.scores import document as scores_document
from calipers.present.scores import summary_rows
from calipers.questions.evaluate.rule import EvaluationAnswer

AT_ONCE = 20_000
"""Queries whose rows are in memory together."""


def document(found: EvaluationAnswer) -> Document:
    """The scores, and a table for whatever else was asked of the same data."""
    scores = found.scores
    if not isinstance(scores, Scores):
        return scores.document()
    whole = scores_document(scores)
    blocks: list[Block] = [*whole.blocks]
    notes: list[Note | str] = [*whole.notes]
    for title, part in (("By slice", found.slices), ("Corrected", found.corrected)):
        if part is not None:
            inner = part.document()
            blocks += [Heading(inner.sentence or title), *inner.blocks]
            notes += inner.notes
    return replace(whole, blocks=blocks, notes=notes, rows=lambda: _rows(found))


def _rows(found: EvaluationAnswer) -> Rows:
    """The innermost of what was asked for: a CSV is one table."""
    for part in (found.slices, found.corrected):
        if part is not None and (make := part.document().rows) is not None:
            return make()
    return summary_rows(found.result)


def evaluation_rows(found: EvaluationAnswer) -> Iterator[bytes] | None:
    """The members of ``per_query`` in pieces; None where there are several such lists."""
    return score_rows(found.scores) if isinstance(found.scores, Scores) else None


def score_rows(scores: Scores) -> Iterator[bytes]:
    """The rows of ``Scores.to_dict`` in pieces, indented as members of a list in a document."""
    names = [*(metric.name for metric in scores.metrics), *(["score"] if scores.weights else [])]
    members: dict[str, pl.Expr] = {
        name: _text(name) if kind == pl.String else _number(name)
        for name, kind in scores.queries.schema.items()
    }
    members["tags"] = _object({name: _text(f"tag.{name}") for name in scores.tags}, 3)
    members["scores"] = _object({name: _number(name) for name in names}, 3)
    row = pl.concat_str(pl.lit("    "), _object(members, 2))
    for block in scores.query_blocks(AT_ONCE):
        if block.height:
            yield block.select(row.str.join(",\n")).item().encode()


def _object(members: Mapping[str, pl.Expr], depth: int) -> pl.Expr:
    """A JSON object with a line for each member; ``depth``: how far its end is indented."""
    if not members:
        return pl.lit("{}")
    parts: list[pl.Expr] = []
    for name, value in members.items():
        key = f"{'  ' * (depth + 1)}{msgspec.json.encode(name).decode()}: "
        parts += [pl.lit(f",\n{key}" if parts else f"{{\n{key}"), value]
    return pl.concat_str(*parts, pl.lit(f"\n{'  ' * depth}}}"))


def _number(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String).fill_null("null")


def _text(name: str) -> pl.Expr:
    """A text as JSON spells it."""
    member = pl.struct(pl.col(name).alias("")).struct.json_encode()
    return member.str.strip_prefix('{"":').str.strip_suffix("}")
