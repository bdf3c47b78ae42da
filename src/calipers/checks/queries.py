"""What can be wrong with the queries of a ground truth."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from calipers.checks import catalogue
from calipers.checks.similar import SimilarTexts, letter_shingles, plain_words
from calipers.model.ground_truth import GroundTruth
from calipers.model.health import EXAMPLES, Example, HealthFinding

SIMILAR_QUERIES = 0.8
"""Shared stretches of three letters from which two questions are almost the same."""
QUERIES_AT_ONCE = 5_000


def query_texts(ground_truth: GroundTruth) -> pl.Series:
    """What each query asks; its id where no text is given."""
    return ground_truth.queries.select(pl.coalesce("text", "query")).to_series()


def without_ground_truth(ground_truth: GroundTruth) -> HealthFinding:
    """Queries without a relevant target; an error where none has one."""
    answered = ground_truth.targets.filter(pl.col("grade") > 0)["query"].unique()
    silent = ground_truth.queries.filter(~pl.col("query").is_in(answered.to_list()))
    of = ground_truth.queries.height
    examples = (
        Example(query, detail=None if text in (None, query) else f"asks {text!r}")
        for query, text in silent.select("query", "text").head(EXAMPLES).iter_rows()
    )
    return HealthFinding.of_kind(
        catalogue.NO_GROUND_TRUTH,
        examples,
        count=silent.height,
        of=of,
        severity="error" if silent.height == of else None,
    )


def same_queries(ground_truth: GroundTruth) -> pl.DataFrame:
    """The queries with what makes them the same: query, text, plain, in order."""
    texts = query_texts(ground_truth)
    plain = plain_words(texts)
    # A question in which only signs are left, such as "?!", is compared as it stands.
    return pl.DataFrame({"query": ground_truth.queries["query"], "text": texts}).with_columns(
        plain=pl.when(plain == "").then(texts).otherwise(plain)
    )


def duplicates(ground_truth: GroundTruth) -> HealthFinding:
    """Questions that are asked under several ids."""
    groups = (
        same_queries(ground_truth)
        .group_by("plain", maintain_order=True)
        .agg("query", pl.col("text").first())
        .filter(pl.col("query").list.len() > 1)
    )
    examples = (
        Example(queries[0], detail=f"asked again as {_names(queries[1:])}: {text!r}")
        for _, queries, text in groups.head(EXAMPLES).iter_rows()
    )
    count = int(groups["query"].list.len().sum())
    return HealthFinding.of_kind(
        catalogue.DUPLICATE_QUERIES, examples, count=count, of=ground_truth.queries.height
    )


def near_duplicates(ground_truth: GroundTruth) -> HealthFinding:
    """Pairs of questions that are almost the same, exact copies left aside."""
    queries = same_queries(ground_truth).unique("plain", keep="first", maintain_order=True)
    shingled = letter_shingles(queries["plain"], np.arange(queries.height))
    index = SimilarTexts(shingled, SIMILAR_QUERIES)
    count = 0
    examples: list[Example] = []
    for start in range(0, queries.height, QUERIES_AT_ONCE):
        some = shingled.filter(pl.col("owner").is_between(start, start + QUERIES_AT_ONCE - 1))
        pairs = index.find(some).filter(pl.col("owner") < pl.col("other"))
        count += pairs.height
        examples += _pairs(queries, pairs.head(EXAMPLES - len(examples)))
    return HealthFinding.of_kind(catalogue.NEAR_DUPLICATE_QUERIES, examples, count=count)


def _pairs(queries: pl.DataFrame, pairs: pl.DataFrame) -> Iterator[Example]:
    for other, owner, similarity in pairs.iter_rows():
        first, second = queries.row(owner, named=True), queries.row(other, named=True)
        yield Example(
            first["query"],
            detail=f"{similarity:.0%} like {second['query']!r}: {first['text']!r} and "
            f"{second['text']!r}",
        )


def _names(queries: list[str]) -> str:
    shown = ", ".join(repr(query) for query in queries[:3])
    return shown + (", …" if len(queries) > 3 else "")
