"""Checks of the queries, targets and grades of a ground truth."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

import numpy as np
import polars as pl

from calipers.checks import catalogue
from calipers.checks.similar import WORDS, SimilarTexts, letter_shingles, plain_words
from calipers.errors import InvalidInput
from calipers.match.choose import check_target_spans
from calipers.model.arrays import Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.health import EXAMPLES, Example, HealthFinding
from calipers.model.slicing import ASKED
from calipers.statistics.clusters import cluster_sizes
from calipers.text import normalise
from calipers.words import plural

SIMILAR_QUERIES = 0.8
"""The share of common three-letter shingles from which two questions are
near-duplicates."""
FEWER = 0.9
"""The share of queries that must remain when those that ask the same count once."""
_PAIRS_AT_ONCE = 1 << 17
"""Pairs whose targets are compared at once: the memory beside the queries themselves."""


def query_texts(ground_truth: GroundTruth) -> pl.Series:
    """The text of each query, or its id if it has none."""
    return ground_truth.queries.select(pl.coalesce("text", "query")).to_series()


def asked(ground_truth: GroundTruth) -> dict[str, str]:
    """The text of each query that has one."""
    known = ground_truth.queries.select("query", asks=ASKED).drop_nulls("asks")
    return dict(known.iter_rows())


def without_ground_truth(ground_truth: GroundTruth) -> HealthFinding:
    """Queries without a relevant target; an error if no query has one."""
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
    """The queries with the text that identifies duplicates: query, text, plain, in order."""
    texts = query_texts(ground_truth)
    plain = plain_words(texts)
    # A question of punctuation only, such as "?!", is compared unchanged.
    return pl.DataFrame(
        {"query": ground_truth.queries["query"], "text": texts}
    ).with_columns(plain=pl.when(plain == "").then(texts).otherwise(plain))


def duplicates(ground_truth: GroundTruth) -> HealthFinding:
    """Questions with several ids."""
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


def near_duplicates(ground_truth: GroundTruth) -> tuple[HealthFinding, float]:
    """Pairs of questions that are almost the same, without exact copies.

    Also the effective number of different queries (Kish): duplicates, and near-duplicates
    with a common target, succeed and fail together.
    """
    everyone = same_queries(ground_truth).with_row_index("number")
    queries = everyone.unique("plain", keep="first", maintain_order=True)
    shingled = letter_shingles(queries["plain"], np.arange(queries.height))
    index = SimilarTexts.of(shingled, SIMILAR_QUERIES)
    cluster = (
        everyone.select(pl.col("number").first().over("plain").cast(pl.Int64))
        .to_series()
        .to_numpy()
    )
    pairs = index.find_pairs()
    joined = _with_common_target(ground_truth, queries, pairs)
    number = queries["number"].to_numpy()
    ends = [number[joined[name].to_numpy()] for name in ("owner", "other")]
    cluster = linked(cluster, ends[0], ends[1])
    different = cluster_sizes(cluster).effective
    n = ground_truth.queries.height
    finding = HealthFinding.of_kind(
        catalogue.NEAR_DUPLICATE_QUERIES,
        _pairs(queries, pairs.head(EXAMPLES)),
        count=pairs.height,
        detail=f"Those that ask the same counted once, the {plural(n, 'query', 'queries')} tell as "
        f"much as {different:,.0f} different ones.",
        severity="warning" if joined.height and different < FEWER * n else None,
    )
    return finding, different


def _with_common_target(
    ground_truth: GroundTruth, queries: pl.DataFrame, pairs: pl.DataFrame
) -> pl.DataFrame:
    """Those of some pairs of queries that have a relevant target in common."""
    names = pl.concat_str(
        "item", "quote", "document", "start", separator="\0", ignore_nulls=True
    )
    numbered = queries.select("query", owner=pl.int_range(pl.len(), dtype=pl.Int64))
    targets = (
        ground_truth.targets.filter(pl.col("grade") > 0)
        .select("query", target=names)
        .join(numbered, on="query")
        .select("owner", "target")
        .unique()
    )
    parts = [pairs[:0]]
    for first in range(0, pairs.height, _PAIRS_AT_ONCE):
        some = pairs[first : first + _PAIRS_AT_ONCE]
        common = some.join(targets, on="owner").join(
            targets.rename({"owner": "other"}), on=["other", "target"], how="semi"
        )
        parts.append(some.join(common, on=["other", "owner"], how="semi"))
    return pl.concat(parts)


def linked(cluster: Ints, one: Ints, other: Ints) -> Ints:
    """The clusters, as numbers, after those of each pair of members were made one.

    >>> linked(np.array([0, 1, 2, 2, 4]), np.array([0]), np.array([3])).tolist()
    [0, 1, 0, 0, 4]
    """
    label = np.arange(int(cluster.max(initial=-1)) + 1)
    while True:
        first = label[cluster[one]]
        second = label[cluster[other]]
        apart = first != second
        if not apart.any():
            return label[cluster]
        low = np.minimum(first, second)[apart]
        np.minimum.at(label, np.maximum(first, second)[apart], low)
        # Each label points to a lower one, so that all end at the lowest of their cluster.
        while (label[label] != label).any():
            label = label[label]


def _pairs(queries: pl.DataFrame, pairs: pl.DataFrame) -> Iterator[Example]:
    for other, owner, similarity in pairs.iter_rows():
        first = queries.row(owner, named=True)
        second = queries.row(other, named=True)
        yield Example(
            first["query"],
            detail=f"{similarity:.0%} like {second['query']!r}: {first['text']!r} and "
            f"{second['text']!r}",
        )


def _names(queries: list[str]) -> str:
    shown = ", ".join(repr(query) for query in queries[:3])
    return shown + (", …" if len(queries) > 3 else "")


COPIED_WORDS = 5
COPIED_SHARE = 0.7
"""A question copies if a run of so many words, and of this share of its words, is in its
target."""
FEW_COPIES = 0.05
"""Up to this share (or one question) is normal where terms are long: 1 of 300 in
SciFact."""


def copied_wording(
    texts: Mapping[str, str], passages: Mapping[str, Sequence[str]]
) -> HealthFinding:
    """The questions (id to text) that copy one of their passages (id to texts)."""
    queries = [query for query in texts if passages.get(query)]
    copied: dict[str, Sequence[str]] = {}
    for query, words in zip(
        queries, _words(texts[query] for query in queries), strict=True
    ):
        run = max(
            (_longest_run(words, word) for word in _words(passages[query])), key=len
        )
        if len(run) >= max(COPIED_WORDS, COPIED_SHARE * len(words)):
            copied[query] = run
    count = len(copied) if len(copied) > max(1, FEW_COPIES * len(queries)) else 0
    return HealthFinding.of_kind(
        catalogue.COPIED_WORDING,
        (
            Example(
                query, detail=f"“{' '.join(run)}” stands in its target: {texts[query]!r}"
            )
            for query, run in list(copied.items())[:EXAMPLES]
        ),
        count=count,
        of=len(queries),
    )


def _words(texts: Iterable[str]) -> list[list[str]]:
    """The words of each text."""
    listed = pl.Series(list(texts), dtype=pl.String).str.to_lowercase()
    words: list[list[str]] = listed.str.extract_all(WORDS).to_list()
    return words


def _longest_run(words: Sequence[str], passage: Sequence[str]) -> Sequence[str]:
    """The longest run of words that occurs in a passage.

    >>> _longest_run("who is the keeper of the light".split(), "the keeper of it".split())
    ['the', 'keeper', 'of']
    """
    block = SequenceMatcher(None, passage, words, autojunk=False).find_longest_match()
    return words[block.b : block.b + block.size]


def with_plain_quotes(ground_truth: GroundTruth) -> pl.DataFrame:
    """The targets with ``plain``, the normalised quote or null."""
    quotes = ground_truth.targets["quote"].unique()
    plain = [None if quote is None else normalise(quote) for quote in quotes]
    table = pl.DataFrame({"quote": quotes, "plain": pl.Series(plain, dtype=pl.String)})
    targets = ground_truth.targets.join(
        table, on="quote", how="left", nulls_equal=True, maintain_order="left"
    )
    empty = targets.filter(pl.col("plain") == "")
    if empty.height:
        raise InvalidInput(
            f"A quote is empty: query {empty['query'][0]!r} has the quote "
            f"{empty['quote'][0]!r}; a quote is a passage of the text that should be "
            "found. Write it, or remove the target."
        )
    return targets


def quotes_by_query(ground_truth: GroundTruth) -> dict[str, list[str]]:
    """The relevant quotes of each query that has any."""
    quoted = ground_truth.targets.filter(
        pl.col("grade") > 0, pl.col("quote").is_not_null()
    )
    grouped = quoted.group_by("query", maintain_order=True).agg("quote")
    return dict(grouped.iter_rows())


def check_spans(ground_truth: GroundTruth) -> None:
    """Raise on invalid spans before they are checked."""
    spans = ground_truth.targets.filter(
        pl.col("item").is_null(),
        pl.col("start").is_not_null() | pl.col("quote").is_null(),
    )
    if spans.height:
        check_target_spans(GroundTruth(spans, ground_truth.queries))


def target_name(row: dict[str, object]) -> str:
    """The name of a target: its id, its quote, or its place."""
    if row["item"] is not None:
        return str(row["item"])
    if row["quote"] is not None:
        return str(row["quote"])
    return f"{row['document']}[{row['start']}:{row['end']}]"
