"""Load an evaluation with all its numbers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import polars as pl
from sqlalchemy import Connection, select

from calipers.errors import InvalidInput
from calipers.io.records.kept_notes import KeptSentence, with_facts
from calipers.measures.spec import find_name
from calipers.model.arrays import frozen_array
from calipers.model.evaluation import Evaluation
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset
from calipers.model.policy import Policy
from calipers.model.recorded import Recorded
from calipers.model.run import RUN_SCHEMA, Run
from calipers.model.scores import InputCounts, MetricFacts, Scores
from calipers.store.blob import check_content, unpack
from calipers.store.listing import summaries_of, summary_of
from calipers.store.open import Store
from calipers.store.record import (
    CHECKSUM,
    JUDGEMENTS,
    TAG_COLUMN,
    check,
    checksum_facts,
    sound,
)
from calipers.store.schema import CONTENT, EVALUATION, PART

QUERY_COLUMNS = ("query", "text", "status", "retrieved", "targets")


class _Facts(msgspec.Struct):
    settings: dict[str, Any]
    policy: Policy
    audit: InputCounts
    fingerprints: dict[str, str]
    sentences: list[KeptSentence] | None = None


@sound
def load_scores(store: Store, evaluation: Evaluation) -> Scores:
    """The scores of an evaluation exactly as saved; nothing is recomputed."""
    whose = _whose(store, evaluation)
    with store.reading() as connection:
        summaries = summaries_of(connection, [evaluation.number], None, store.place.shown)
        text, parts = read_parts(
            store, connection, evaluation, ("definitions", "queries", "scores")
        )
    facts = msgspec.json.decode(text, type=_Facts)
    digest, content = parts["definitions"]
    check_content(content, digest, whose)
    metrics = msgspec.json.decode(content, type=tuple[MetricFacts, ...])
    known = unpack(parts["queries"][1], parts["queries"][0], whose)
    measured = unpack(parts["scores"][1], parts["scores"][0], whose)
    queries = pl.DataFrame([*known, *measured.select(pl.exclude(r"^\d+$"))])
    rest = [
        name
        for name in queries.columns
        if name not in QUERY_COLUMNS
        and name != JUDGEMENTS
        and not name.startswith(TAG_COLUMN)
    ]
    values = np.column_stack([measured[str(i)].to_numpy() for i in range(len(metrics))])
    kept = tuple(summary_of(row) for row in summaries[evaluation.number])
    return Scores(
        metrics=metrics,
        values=frozen_array(values),
        queries=queries.select(*QUERY_COLUMNS, *rest),
        tags=query_tags(known),
        audit=facts.audit,
        policy=facts.policy,
        fingerprints=facts.fingerprints,
        settings=with_facts(facts.settings, facts.sentences),
        summaries={summary.metric: summary for summary in kept},
        find_name=find_name,
    )


@sound
def load_judgements(store: Store, evaluation: Evaluation) -> pl.DataFrame:
    """Columns query and judgements: a digest of each query's ground truth, null if unknown."""
    with store.reading() as connection:
        _, parts = read_parts(store, connection, evaluation, ("queries",))
    digest, content = parts["queries"]
    return unpack(content, digest, _whose(store, evaluation)).select(
        "query", "text", JUDGEMENTS
    )


@sound
def load_retrieved(store: Store, evaluation: Evaluation) -> Dataset:
    """The ground truth and the results, if they were saved."""
    whose = _whose(store, evaluation)
    wanted = ("queries", "targets", "results", "texts", "asked")
    with store.reading() as connection:
        text, parts = read_parts(store, connection, evaluation, wanted)
    if "results" not in parts:
        raise InvalidInput(
            f"{whose} was saved without what was retrieved; its scores can be shown and "
            "compared, not its results. Save without --no-results."
        )
    tables = {kind: unpack(part[1], part[0], whose) for kind, part in parts.items()}
    known = tables["queries"]

    results = tables["results"]
    if "texts" in tables:
        results = results.with_columns(
            tables["texts"]["text"].gather(results["text_row"])
        )
    kinds = {name: kind for name, kind in RUN_SCHEMA.items() if name in results.columns}
    truth = GroundTruth.from_targets(
        tables["targets"], queries=known.select("query", "text"), tags=query_tags(known)
    )
    facts = msgspec.json.decode(text, type=_Facts)
    truth = replace(truth, only_returned=Recorded(facts.settings).only_returned)
    run = Run.from_frame(
        results.select(pl.col(name).cast(kind) for name, kind in kinds.items()),
        order="rank",
        queries=tables.get("asked"),
        name=evaluation.name,
    )
    return Dataset(truth, run, f"the evaluation {evaluation.name} of the history")


def query_tags(known: pl.DataFrame) -> dict[str, pl.Series]:
    """The tags in a table of queries, by name."""
    names = [
        name.removeprefix(TAG_COLUMN)
        for name in known.columns
        if name.startswith(TAG_COLUMN)
    ]
    return {name: known[TAG_COLUMN + name].alias(name) for name in names}


@sound
def read_parts(
    store: Store, connection: Connection, evaluation: Evaluation, kinds: Sequence[str]
) -> tuple[str, dict[str, tuple[str, bytes]]]:
    """The facts of an evaluation as JSON, and its contents of the given kinds, by kind."""
    mine = PART.c.evaluation == evaluation.number
    facts, checksum = connection.execute(
        select(EVALUATION.c.facts, EVALUATION.c.checksum).where(
            EVALUATION.c.number == evaluation.number
        )
    ).one()
    digests = {
        row.kind: row.digest
        for row in connection.execute(select(PART.c.kind, PART.c.digest).where(mine))
    }
    what = f"the evaluation {evaluation.name} ({evaluation.short})"
    check(checksum[CHECKSUM:], checksum_facts(facts, digests), what, store.place.shown)
    contents = connection.execute(
        select(PART.c.kind, CONTENT.c.digest, CONTENT.c.bytes)
        .join(CONTENT, CONTENT.c.digest == PART.c.digest)
        .where(mine, PART.c.kind.in_(kinds))
    )
    return facts, {row.kind: (row.digest, bytes(row.bytes)) for row in contents}


def _whose(store: Store, evaluation: Evaluation) -> str:
    return f"The evaluation {evaluation.name} ({evaluation.short}) in {store.place.shown}"
