"""The scores of every query as JSON, made without an object of Python per value."""

from collections.abc import Iterator, Mapping

import msgspec
import polars as pl

from calipers.model.scores import Scores

AT_ONCE = 20_000
"""Queries whose rows are in memory together."""


def score_rows(scores: Scores) -> Iterator[bytes]:
    """The rows of ``Scores.to_dict`` in pieces, indented as members of a list in a document."""
    names = [*(metric.name for metric in scores.metrics), *(["score"] if scores.weights else [])]
    members: dict[str, pl.Expr] = {
        name: _value(name, kind) for name, kind in scores.queries.schema.items()
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


def _value(name: str, kind: pl.DataType) -> pl.Expr:
    return _text(name) if kind == pl.String else _number(name)


def _number(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String).fill_null("null")


def _text(name: str) -> pl.Expr:
    """A text as JSON spells it."""
    member = pl.struct(pl.col(name).alias("")).struct.json_encode()
    return member.str.strip_prefix('{"":').str.strip_suffix("}")
