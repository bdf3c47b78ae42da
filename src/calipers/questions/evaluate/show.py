"""An evaluation on a terminal, as CSV, and query by query as JSON."""

from collections.abc import Iterator, Mapping

import msgspec
import polars as pl
from rich.console import Console

from calipers.model.scores import Scores
from calipers.present.notes import Note, print_notes
from calipers.present.scores import notes_of, print_score_table, summary_rows, verdict
from calipers.present.terminal import csv_text, print_verdict
from calipers.questions.evaluate.rule import EvaluationAnswer

AT_ONCE = 20_000
"""Queries whose rows are in memory together."""


def print_evaluation(found: EvaluationAnswer, console: Console, *, explain: bool = False) -> None:
    """The scores, and a table for whatever else was asked."""
    scores = found.scores
    if not isinstance(scores, Scores):
        from calipers.questions.levels.show import print_levels

        print_levels(scores, console, explain=explain)
        return
    print_verdict(verdict(scores), console)
    print_score_table(scores, console)
    said: list[Note] = []
    if found.slices:
        from calipers.present.terminal import print_claims
        from calipers.questions.slices.show import print_slice_tables, slices_note

        console.print()
        print_claims(found.slices.claims, console)
        console.print()
        print_slice_tables(found.slices, console)
        said.append(slices_note(found.slices))
    if found.corrected:
        from calipers.questions.corrected.show import print_corrected

        console.print()
        print_corrected(found.corrected, console, explain=explain)
    print_notes([*said, *notes_of(scores)], console, explain=explain)


def evaluation_csv(found: EvaluationAnswer) -> str:
    """The innermost of what was asked for: a CSV is one table."""
    if found.slices:
        from calipers.questions.slices.show import slices_csv

        return slices_csv(found.slices)
    if found.corrected:
        from calipers.questions.corrected.show import corrected_csv

        return corrected_csv(found.corrected)
    return summary_csv(found.result)


def evaluation_rows(found: EvaluationAnswer) -> Iterator[bytes] | None:
    """The members of ``per_query`` in pieces; None where there are several such lists."""
    return score_rows(found.scores) if isinstance(found.scores, Scores) else None


def summary_csv(scores: Scores) -> str:
    """One line per metric: mean, median, interval, n, undefined; full precision."""
    return csv_text(summary_rows(scores))


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
