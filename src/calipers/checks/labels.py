"""What can be wrong with the targets of a ground truth and their grades."""

import polars as pl

from calipers.checks import catalogue
from calipers.checks.queries import same_queries
from calipers.errors import InvalidInput
from calipers.match.choose import FEW, check_target_spans
from calipers.model.ground_truth import GroundTruth
from calipers.model.health import EXAMPLES, Example, HealthFinding
from calipers.text import normalise

SHORT_QUOTE = FEW
"""Characters below which a quote is found by chance."""
CEILING_AT = (1, 3, 5, 10)
WIDEST_SCALE = 100
"""Steps beyond which grades are no scale but measurements."""


def with_plain_quotes(ground_truth: GroundTruth) -> pl.DataFrame:
    """The targets with ``plain``: their quote as it is compared, or null."""
    quotes = ground_truth.targets["quote"].unique()
    plain = [None if quote is None else normalise(quote) for quote in quotes]
    table = pl.DataFrame({"quote": quotes, "plain": pl.Series(plain, dtype=pl.String)})
    targets = ground_truth.targets.join(
        table, on="quote", how="left", nulls_equal=True, maintain_order="left"
    )
    empty = targets.filter(pl.col("plain") == "")
    if empty.height:
        raise InvalidInput(
            f"A quote is empty: query {empty['query'][0]!r} has the quote {empty['quote'][0]!r}; "
            "a quote is a passage of the text that should be found. Write it, or remove the target."
        )
    return targets


def quotes_by_query(ground_truth: GroundTruth) -> dict[str, list[str]]:
    """The relevant quotes of each query that has any."""
    quoted = ground_truth.targets.filter(pl.col("grade") > 0, pl.col("quote").is_not_null())
    grouped = quoted.group_by("query", maintain_order=True).agg("quote")
    return dict(grouped.iter_rows())


def check_spans(ground_truth: GroundTruth) -> None:
    """Refuse spans that are no places, before anything is said about them."""
    spans = ground_truth.targets.filter(
        pl.col("item").is_null(), pl.col("start").is_not_null() | pl.col("quote").is_null()
    )
    if spans.height:
        check_target_spans(GroundTruth(spans, ground_truth.queries))


def target_name(row: dict[str, object]) -> str:
    """A target in words: its id, its quote, or its place."""
    if row["item"] is not None:
        return str(row["item"])
    if row["quote"] is not None:
        return str(row["quote"])
    return f"{row['document']}[{row['start']}:{row['end']}]"


def contradictions(ground_truth: GroundTruth) -> HealthFinding:
    """One target with two grades, under two ids of a question or in two spellings."""
    targets = with_plain_quotes(ground_truth).join(
        same_queries(ground_truth).select("query", asks="plain"), on="query"
    )
    identity = ["asks", "item", "plain", "document", "start", "end"]
    groups = (
        targets.group_by(identity, maintain_order=True)
        .agg("query", "grade", pl.col("quote").first())
        .filter(pl.col("grade").list.n_unique() > 1)
    )
    examples = (
        Example(
            row["query"][0],
            target_name(row),
            "graded "
            + " and ".join(f"{grade:g} (query {query!r})" for grade, query in _distinct(row)),
        )
        for row in groups.head(EXAMPLES).iter_rows(named=True)
    )
    return HealthFinding.of_kind(
        catalogue.CONTRADICTORY_GRADES, examples, count=groups.height, of=targets.height
    )


def _distinct(row: dict[str, list[object]]) -> list[tuple[object, object]]:
    first: dict[object, object] = {}
    for grade, query in zip(row["grade"], row["query"], strict=True):
        first.setdefault(grade, query)
    return list(first.items())


def unused_grades(ground_truth: GroundTruth) -> HealthFinding:
    """Whole steps between the lowest and the highest grade that no target has."""
    grades = ground_truth.targets["grade"].unique().sort()
    if grades.is_empty() or not (grades == grades.round(0)).all():
        return HealthFinding.of_kind(catalogue.GRADE_NEVER_USED, count=0)
    low, high = int(grades[0]), int(grades[-1])
    if high - low > WIDEST_SCALE:
        return HealthFinding.of_kind(catalogue.GRADE_NEVER_USED, count=0)
    used = {int(grade) for grade in grades}
    unused = [grade for grade in range(low, high + 1) if grade not in used]
    detail = (
        f"Grades in use: {', '.join(map(str, sorted(used)))}. Never used: "
        f"{', '.join(map(str, unused))}."
    )
    return HealthFinding.of_kind(
        catalogue.GRADE_NEVER_USED, count=len(unused), of=high - low + 1, detail=detail
    )


def single_targets(ground_truth: GroundTruth) -> HealthFinding:
    """Queries with one relevant target, and the ceiling of precision@k that follows."""
    relevant = ground_truth.targets.filter(pl.col("grade") > 0)
    per_query = relevant.group_by("query", maintain_order=True).len("targets")
    single = per_query.filter(pl.col("targets") == 1)
    ceilings = ", ".join(f"{_ceiling(per_query['targets'], k):.3f} @{k}" for k in CEILING_AT)
    detail = f"Over all queries with targets, mean precision can be at most {ceilings}."
    if ground_truth.kinds - {"item"}:
        detail += " Only chunks that overlap, or say the same twice, can lift it above that."
    examples = (Example(query) for query in single["query"].head(EXAMPLES))
    return HealthFinding.of_kind(
        catalogue.ONE_TARGET, examples, count=single.height, of=per_query.height, detail=detail
    )


def _ceiling(targets: pl.Series, k: int) -> float:
    won = int(targets.clip(upper_bound=k).sum())
    return won / (k * targets.len()) if targets.len() else 0.0


def short_quotes(ground_truth: GroundTruth) -> HealthFinding:
    """Quotes too short to mean one place."""
    quotes = with_plain_quotes(ground_truth).drop_nulls("plain")
    short = quotes.filter(pl.col("plain").str.len_chars() < SHORT_QUOTE)
    examples = (
        Example(query, quote, f"{length} characters")
        for query, quote, length in short.select(
            "query", "quote", pl.col("plain").str.len_chars().alias("length")
        )
        .head(EXAMPLES)
        .iter_rows()
    )
    return HealthFinding.of_kind(
        catalogue.SHORT_QUOTES,
        examples,
        count=short.height,
        of=quotes.height,
        detail=f"Shorter than {SHORT_QUOTE} characters.",
    )


def repeated_targets(ground_truth: GroundTruth) -> HealthFinding:
    """Judgements that the reader dropped because they stood there already."""
    of = ground_truth.targets.height + ground_truth.repeated
    return HealthFinding.of_kind(catalogue.REPEATED_TARGETS, count=ground_truth.repeated, of=of)
