"""What results say, asked of one block of whole queries at a time, wherever their rows are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

import polars as pl

from calipers.match.pair import match_block
from calipers.model.arrays import Floats
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched
from calipers.model.matching import Matching
from calipers.model.run import Block, remote_rows
from calipers.questions.shown_results import MOST_ROWS, Context, contexts

Answer = TypeVar("Answer")


def over_contexts(
    pair: Matched, work: Callable[[Context], Answer], targets: pl.DataFrame | None = None
) -> Iterator[Answer]:
    """What ``work`` makes of each block of ``contexts``, in any order.

    Where the rows of the run are on other machines the work goes there, and only what it makes of
    them comes back.
    """
    there = remote_rows(pair.run)
    if there is None:
        yield from map(work, contexts(pair, targets=targets))
        return
    # Rows in the order in which the matches number targets.
    truth = GroundTruth(pair.targets if targets is None else targets, pair.ground_truth.queries)
    grades = pair.matches.between(0, 0).grades_in_all
    for found in there.over_blocks(truth, partial(_in_block, pair.matching, grades, work)):
        yield from found


def _in_block(
    matching: Matching,
    grades: Floats | None,
    work: Callable[[Context], Answer],
    block: Block,
) -> list[Answer]:
    if not block.codes.size:
        return []  # nobody asks about these queries
    matches, tally = match_block(block, matching, fingerprint=False)
    both = block.ground_truth, block.run
    matches = replace(matches, grades_in_all=grades)
    pair = Matched(*both, matches, tally, matching, {}, both, matching)
    return [
        work(replace(one, codes=block.codes[one.codes], target_rows=block.rows[one.target_rows]))
        for one in contexts(pair, rows=MOST_ROWS)
    ]


def known_in_run(pair: Matched, wanted: Mapping[str, pl.Series]) -> dict[str, pl.DataFrame]:
    """What the results say of some items, column by column: the document or the text of each.

    An item may stand in the lists of many queries: what is said first, in the order of the ground
    truth, counts.
    """
    sought = {
        name: items.drop_nulls().unique()
        for name, items in wanted.items()
        if pair.run.has("item", name)
    }
    sought = {name: items for name, items in sought.items() if len(items)}
    found: dict[str, list[pl.DataFrame]] = {name: [] for name in wanted}
    for said in over_contexts(pair, partial(_said, sought)) if sought else ():
        for name, part in said.items():
            found[name].append(part)
    empty = pl.DataFrame(schema={"item": pl.String()})
    return {
        name: pl.concat(parts)
        .sort("code", "rank")
        .unique("item", keep="first", maintain_order=True)
        .select("item", name)
        if parts
        else empty.with_columns(pl.lit(None, dtype=pl.String).alias(name))
        for name, parts in found.items()
    }


def _said(sought: Mapping[str, pl.Series], context: Context) -> dict[str, pl.DataFrame]:
    """What the results of some queries say first of the items that are sought."""
    found = {}
    for name, items in sought.items():
        said = context.frame.select("code", "rank", "item", name).drop_nulls()
        said = said.join(items.to_frame("item"), on="item", how="semi", maintain_order="left")
        first = said.unique("item", keep="first", maintain_order=True)
        code = pl.Series("code", context.codes[first["code"].to_numpy()])
        found[name] = first.with_columns(code)
    return found


def with_documents(pair: Matched, targets: pl.DataFrame | None = None) -> pl.DataFrame:
    """The targets of a pair with the documents that the run names for their ids."""
    targets = pair.targets if targets is None else targets
    unnamed = targets.filter(pl.col("document").is_null())["item"]
    known = known_in_run(pair, {"document": unnamed})["document"]
    if known.is_empty():
        return targets
    named = targets.select("item").join(known, on="item", how="left", maintain_order="left")
    return targets.with_columns(pl.coalesce("document", named["document"]))
