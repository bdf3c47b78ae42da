"""Which results hold something that the ground truth forbids, or that does not count.

A result holds a forbidden item by its id, a forbidden document by coming from it, a
forbidden span by any character of it, and a forbidden quote by the whole of it.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.match.id_hashes import Ids
from calipers.match.near_ids import near_ids
from calipers.match.notes import likely_reason
from calipers.model.fact import Fact, named, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import FAILED, Leaked
from calipers.model.policy import Ties
from calipers.model.ranking import NotGroupedError
from calipers.model.run import Run, with_ranking_changed
from calipers.text import normalise

_NEEDS = {
    "item": "an id",
    "quote": "a text",
    "document": "a document",
    "start": "start and end",
}
_COLUMN = {"item": "item", "quote": "text", "document": "document", "start": "start"}


def match_forbidden(
    truth: GroundTruth, run: Run, ties: Ties | None, status: pl.Series
) -> tuple[Leaked | None, list[str]]:
    """Every result that holds something forbidden for its query, and near matches.

    None where nothing is forbidden.
    """
    if truth.forbidden is None:
        return None, []
    codes = truth.queries.select("query").with_row_index("code")
    forbidden = _with_kinds(truth.forbidden.join(codes, on="query", how="inner"))
    failed = truth.queries.filter(status == FAILED)["query"]
    try:
        matched = _found(forbidden, run, ties)
    except NotGroupedError:
        matched = _found(forbidden, run.grouped(), ties)
    matched = matched.filter(~pl.col("query").is_in(failed.implode())).sort(
        "code", "rank", "name"
    )
    nearly = matched.filter("nearly")
    matched = matched.filter(~pl.col("nearly"))
    counts = np.bincount(forbidden["code"].to_numpy(), minlength=truth.queries.height)
    leaked = Leaked(
        counts.astype(np.int64),
        matched["code"].to_numpy().astype(np.int64),
        matched["rank"].to_numpy().astype(np.int64),
        matched["result"],
        matched["name"],
    )
    return leaked, _nearly(nearly)


def without_excluded(excluded: pl.DataFrame, run: Run, ties: Ties | None) -> Run:
    """The run without the results that are excluded for their query; later ones move up.

    A result without a text, document or span to recognise it by stays.
    """
    entries = _with_kinds(excluded).with_columns(code=0)

    def kept(frame: pl.DataFrame) -> pl.DataFrame:
        numbered = frame.drop("rank", strict=False).with_row_index("rank")
        excluded = entries.join(frame.select("query").unique(), on="query", how="semi")
        usable = [kind for kind, column in _COLUMN.items() if column in frame.columns]
        known = excluded.filter(pl.col("kind").is_in(usable))
        tables = _by_kind(known, numbered.with_columns(result=pl.lit(None, pl.String)))
        held = [table.select("rank") for table in tables]
        left = numbered.join(pl.concat(held), on="rank", how="anti") if held else numbered
        return left.drop("rank")

    return with_ranking_changed(run, ties, kept)


def _nearly(rows: pl.DataFrame) -> list[str]:
    if not rows.height:
        return []
    first = rows.row(0, named=True)
    why = likely_reason(rows["result"].to_list(), rows["name"].to_list())
    return [
        sentence(
            "{it.count:result is|results are} called nearly as what is forbidden, and not "
            "counted as a leak: {result.text} for {name.text}, query {query.text}. {why.text}",
            it=Fact(about="count", count=rows.height, text="nearly forbidden"),
            result=named(f"{first['result']!r:.60}"),
            name=named(f"{first['name']!r:.60}"),
            query=named(f"{first['query']!r:.60}"),
            why=named(why),
        )
    ]


def _with_kinds(forbidden: pl.DataFrame) -> pl.DataFrame:
    """The forbidden entries, each with how it is recognised and its name in messages."""
    kind = (
        pl.when(pl.col("item").is_not_null())
        .then(pl.lit("item"))
        .when(pl.col("quote").is_not_null())
        .then(pl.lit("quote"))
        .when(pl.col("start").is_not_null())
        .then(pl.lit("start"))
        .otherwise(pl.lit("document"))
    )
    place = pl.format("{}:{}-{}", "document", "start", "end")
    return forbidden.with_columns(
        kind=kind, name=pl.coalesce("item", "quote", place, "document")
    )


_FOUND = {
    "query": pl.String,
    "code": pl.Int64,
    "rank": pl.Int64,
    "result": pl.String,
    "name": pl.String,
    "nearly": pl.Boolean,
}


def _found(forbidden: pl.DataFrame, run: Run, ties: Ties | None) -> pl.DataFrame:
    tables = [pl.DataFrame(schema=_FOUND)]
    for batch in run.ranked(ties):
        frame = batch.frame.with_columns(pl.Series("rank", batch.rank, dtype=pl.Int64))
        frame = frame.join(
            forbidden.select("query").unique(),
            on="query",
            how="semi",
            maintain_order="left",
        )
        if not frame.height:
            continue
        _check_columns(forbidden["kind"].unique().to_list(), frame)
        called = [name for name in ("item", "document") if name in frame.columns]
        frame = frame.with_columns(
            result=pl.coalesce(*called) if called else pl.lit(None, dtype=pl.String)
        )
        for table in _by_kind(forbidden, frame):
            tables.append(_as_found(table.with_columns(nearly=pl.lit(value=False))))
        for column in called:
            tables.append(_as_found(_near_matches(forbidden, frame, column)))
    return pl.concat(tables).unique()


def _as_found(table: pl.DataFrame) -> pl.DataFrame:
    return table.select(pl.col(name).cast(dtype) for name, dtype in _FOUND.items())


def _near_matches(
    forbidden: pl.DataFrame, frame: pl.DataFrame, column: str
) -> pl.DataFrame:
    """Results whose name is another spelling of something forbidden."""
    closed = forbidden.filter(pl.col(column).is_not_null() & (pl.col("kind") != "quote"))
    closed = closed.select("query", "code", "name", closed=column)
    results = frame.filter(pl.col(column).is_not_null()).select(
        "query", "rank", result=column
    )
    if not closed.height or not results.height:
        return pl.DataFrame(schema=_FOUND)
    codes = closed.select("query", "code").unique()
    coded = results.join(codes, on="query", how="left", maintain_order="left")["code"]
    near = near_ids(
        _ids(closed["code"], closed["closed"]), _ids(coded, results["result"])
    )
    tables = [
        results[rule.result].hstack(closed[rule.target].select("code", "name"))
        for rule in near
    ]
    if not tables:
        return pl.DataFrame(schema=_FOUND)
    return (
        pl.concat(tables)
        .unique(maintain_order=True)
        .with_columns(nearly=pl.lit(value=True))
    )


def _ids(code: pl.Series, name: pl.Series) -> Ids:
    """Names with the codes of their queries."""
    return Ids(code.to_numpy().astype(np.int64), name)


def _by_kind(forbidden: pl.DataFrame, frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    some = {kind: forbidden.filter(pl.col("kind") == kind) for kind in _COLUMN}
    results = frame.select(
        "query", "rank", "result", *(c for c in _USED if c in frame.columns)
    )
    if some["item"].height:
        named = some["item"].select("query", "code", "name", "item")
        yield results.join(named, on=["query", "item"], how="inner")
    if some["document"].height:
        named = some["document"].select("query", "code", "name", "document")
        yield results.join(named, on=["query", "document"], how="inner")
    if some["start"].height:
        named = some["start"].select(
            "query", "code", "name", "document", since="start", until="end"
        )
        yield results.join(named, on=["query", "document"], how="inner").filter(
            pl.max_horizontal("start", "since") < pl.min_horizontal("end", "until")
        )
    if some["quote"].height:
        yield _holding_quotes(
            some["quote"].select("query", "code", "name", "quote"), results
        )


_USED = ("item", "text", "document", "start", "end")


def _holding_quotes(quotes: pl.DataFrame, results: pl.DataFrame) -> pl.DataFrame:
    together = results.filter(pl.col("text").is_not_null()).join(
        quotes, on="query", how="inner"
    )
    holds = [
        normalise(quote) in normalise(text)
        for quote, text in together.select("quote", "text").iter_rows()
    ]
    return together.filter(pl.Series(holds, dtype=pl.Boolean))


def _check_columns(kinds: list[str], frame: pl.DataFrame) -> None:
    """Refuse results in which a leak could not be recognised."""
    for kind in kinds:
        column = _COLUMN[kind]
        if column not in frame.columns or (
            kind != "quote" and frame[column].null_count()
        ):
            raise InvalidInput(
                "The ground truth forbids something by its "
                f"{kind if kind != 'start' else 'span'}, and not every result has "
                f"{_NEEDS[kind]}, so it could leak unseen; give every result "
                f"{_NEEDS[kind]}."
            )
