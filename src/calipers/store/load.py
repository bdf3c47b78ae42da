"""Evaluations read back: the list of them, and one with all its numbers."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
import numpy as np
import polars as pl
from sqlalchemy import Connection, Row, Select, and_, or_, select

from calipers.errors import InvalidInput, UnreadableFile
from calipers.model.arrays import frozen_array
from calipers.model.audit import Audit
from calipers.model.dataset import Dataset
from calipers.model.evaluation import Evaluation, SliceSummary, from_moment, moment
from calipers.model.ground_truth import GroundTruth
from calipers.model.interval import Interval
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.model.scores import MetricFacts, Scores, Summary
from calipers.store.blob import check, unpack
from calipers.store.open import Store
from calipers.store.save import JUDGEMENTS, TAG
from calipers.store.schema import CONTENT, EVALUATION, PART, SUMMARY
from calipers.store.schema import TAG as TAGS

QUERY_COLUMNS = ("query", "text", "status", "retrieved", "targets")
AT_ONCE = 500
"""How many numbers one question to the database may hold."""


class _Facts(msgspec.Struct):
    settings: dict[str, Any]
    policy: Policy
    audit: Audit
    weights: dict[str, float]
    fingerprints: dict[str, str]


def evaluations(
    store: Store,
    *,
    name: str | None = None,
    branch: str | None = None,
    tags: Mapping[str, str] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    last: int | None = None,
    metrics: Iterable[str] | None = None,
    slices: Sequence[str] = (),
    where: Sequence[Any] = (),
) -> list[Evaluation]:
    """Evaluations, newest first, with their summaries and what changed before each.

    ``metrics`` and ``slices`` (tags of the queries) say which summaries to bring along; None
    brings every metric. ``where`` are further conditions on the table of evaluations.
    """
    wanted = _newest_first(*_conditions(name, branch, tags, since, until), *where)
    if last is not None:
        wanted = wanted.limit(last)
    with store.reading() as connection:
        rows = connection.execute(wanted).all()
        numbers = [row.number for row in rows]
        their_tags = _tags_of(connection, numbers)
        summaries = _summaries_of(connection, numbers, metrics, slices)
    return [
        _evaluation(row, their_tags.get(row.number, {}), summaries.get(row.number, []))
        for row in rows
    ]


def count(store: Store) -> int:
    """How many evaluations there are."""
    from sqlalchemy import func

    with store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(EVALUATION)).scalar_one())


def _conditions(
    name: str | None,
    branch: str | None,
    tags: Mapping[str, str] | None,
    since: datetime | None,
    until: datetime | None,
) -> list[Any]:
    found: list[Any] = []
    if name is not None:
        found.append(EVALUATION.c.name == name)
    if branch is not None:
        found.append(EVALUATION.c.git_branch == branch)
    if since is not None:
        found.append(EVALUATION.c.saved >= moment(since))
    if until is not None:
        found.append(EVALUATION.c.saved < moment(until))
    for tag, value in (tags or {}).items():
        has = select(TAGS.c.evaluation).where(TAGS.c.name == tag, TAGS.c.value == value)
        found.append(EVALUATION.c.number.in_(has))
    return found


def _newest_first(*conditions: Any) -> Select[Any]:
    before = EVALUATION.alias("before")
    earlier = (
        select(before.c.number)
        .where(
            before.c.name == EVALUATION.c.name,
            or_(
                before.c.saved < EVALUATION.c.saved,
                and_(before.c.saved == EVALUATION.c.saved, before.c.number < EVALUATION.c.number),
            ),
        )
        .order_by(before.c.saved.desc(), before.c.number.desc())
        .limit(1)
        .correlate(EVALUATION)
        .scalar_subquery()
    )
    previous = EVALUATION.alias("previous")
    shown = [column for column in EVALUATION.c if column.name != "facts"]
    return (
        select(
            *shown,
            previous.c.ground_truth.label("ground_truth_before"),
            previous.c.corpus.label("corpus_before"),
            previous.c.number.label("number_before"),
        )
        .select_from(EVALUATION.outerjoin(previous, previous.c.number == earlier))
        .where(*conditions)
        .order_by(EVALUATION.c.saved.desc(), EVALUATION.c.number.desc())
    )


def _evaluation(row: Row[Any], tags: Mapping[str, str], summaries: list[Row[Any]]) -> Evaluation:
    fingerprints = {"ground_truth": row.ground_truth, "run": row.run}
    if row.corpus is not None:
        fingerprints["corpus"] = row.corpus
    whole = [_summary(one) for one in summaries if one.slice_tag is None]
    return Evaluation(
        id=row.id,
        name=row.name,
        saved=from_moment(row.saved),
        calipers=row.calipers,
        commit=row.git_commit,
        branch=row.git_branch,
        dirty=row.git_dirty,
        queries=row.queries,
        tags=tags,
        fingerprints=fingerprints,
        changed=tuple(_changed(row)),
        summaries={summary.metric: summary for summary in whole},
        slices=tuple(
            SliceSummary(one.slice_tag, one.slice_value, _summary(one))
            for one in summaries
            if one.slice_tag is not None
        ),
        number=row.number,
    )


def _changed(row: Row[Any]) -> Iterable[str]:
    if row.number_before is None:
        return
    if row.ground_truth != row.ground_truth_before:
        yield "ground truth"
    if row.corpus is not None and row.corpus_before not in (None, row.corpus):
        yield "corpus"


def _summary(row: Row[Any]) -> Summary:
    interval = None if row.low is None else Interval(row.low, row.high, row.level, row.method)
    return Summary(row.metric, row.mean, row.median, interval, row.n, row.undefined)


def _tags_of(connection: Connection, numbers: Sequence[int]) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    for some in _portions(numbers):
        statement = select(TAGS).where(TAGS.c.evaluation.in_(some)).order_by(TAGS.c.name)
        for row in connection.execute(statement):
            found.setdefault(row.evaluation, {})[row.name] = row.value
    return found


def _summaries_of(
    connection: Connection,
    numbers: Sequence[int],
    metrics: Iterable[str] | None,
    slices: Sequence[str],
) -> dict[int, list[Row[Any]]]:
    chosen: list[Any] = [SUMMARY.c.slice_tag.is_(None)]
    if slices:
        chosen = [or_(SUMMARY.c.slice_tag.is_(None), SUMMARY.c.slice_tag.in_(slices))]
    if metrics is not None:
        chosen.append(SUMMARY.c.metric.in_(list(metrics)))
    found: dict[int, list[Row[Any]]] = {}
    for some in _portions(numbers):
        statement = (
            select(SUMMARY)
            .where(SUMMARY.c.evaluation.in_(some), *chosen)
            .order_by(SUMMARY.c.evaluation, SUMMARY.c.position)
        )
        for row in connection.execute(statement):
            found.setdefault(row.evaluation, []).append(row)
    return found


def _portions(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[i : i + AT_ONCE] for i in range(0, len(numbers), AT_ONCE))


def load_scores(store: Store, evaluation: Evaluation) -> Scores:
    """The scores of an evaluation exactly as they were saved; nothing is computed again."""
    whose = f"The evaluation {evaluation.name} ({evaluation.short}) in {store.place.shown}"
    with store.reading() as connection:
        text = connection.execute(
            select(EVALUATION.c.facts).where(EVALUATION.c.number == evaluation.number)
        ).scalar_one()
        summaries = _summaries_of(connection, [evaluation.number], None, ())
        parts = _contents(connection, evaluation.number, ("definitions", "queries", "scores"))
    facts = _decoded(text.encode(), _Facts, whose)
    for kind in ("definitions", "queries", "scores"):
        if kind not in parts:
            raise UnreadableFile(
                f"{whose} is not whole: its {kind} are missing; put back a copy of the history."
            )
    digest, content = parts["definitions"]
    check(content, digest, whose)
    metrics = _decoded(content, tuple[MetricFacts, ...], whose)
    known = unpack(parts["queries"][1], parts["queries"][0], whose)
    measured = unpack(parts["scores"][1], parts["scores"][0], whose)
    queries = pl.DataFrame([*known, *measured.select(pl.exclude(r"^\d+$"))])
    rest = [
        name
        for name in queries.columns
        if name not in QUERY_COLUMNS and name != JUDGEMENTS and not name.startswith(TAG)
    ]
    values = np.column_stack([measured[str(i)].to_numpy() for i in range(len(metrics))])
    kept = tuple(_summary(row) for row in summaries[evaluation.number])
    return Scores(
        metrics=metrics,
        values=frozen_array(values),
        queries=queries.select(*QUERY_COLUMNS, *rest),
        tags={
            name.removeprefix(TAG): known[name].alias(name.removeprefix(TAG))
            for name in known.columns
            if name.startswith(TAG)
        },
        audit=facts.audit,
        policy=facts.policy,
        fingerprints=facts.fingerprints,
        settings=facts.settings,
        summarise=lambda _: kept,
        weights=facts.weights,
    )


def load_judgements(store: Store, evaluation: Evaluation) -> pl.DataFrame:
    """query and judgements: for each query a digest of what should be found, null if unknown."""
    whose = f"The evaluation {evaluation.name} ({evaluation.short}) in {store.place.shown}"
    with store.reading() as connection:
        parts = _contents(connection, evaluation.number, ("queries",))
    digest, content = parts["queries"]
    return unpack(content, digest, whose).select("query", "text", JUDGEMENTS)


def load_retrieved(store: Store, evaluation: Evaluation) -> Dataset:
    """What should be found and what came back, where it was kept."""
    whose = f"The evaluation {evaluation.name} ({evaluation.short}) in {store.place.shown}"
    kinds = ("queries", "targets", "results", "texts", "asked")
    with store.reading() as connection:
        parts = _contents(connection, evaluation.number, kinds)
    if "results" not in parts:
        raise InvalidInput(
            f"{whose} was saved without what was retrieved; its scores can be shown and compared, "
            "not its results. Save without --no-results."
        )
    tables = {kind: unpack(part[1], part[0], whose) for kind, part in parts.items()}
    known = tables["queries"]
    results = tables["results"]
    if "texts" in tables:
        texts = tables["texts"]["text"]
        results = results.with_columns(texts.gather(results["text_row"])).drop("text_row")
    truth = GroundTruth.from_targets(
        tables["targets"],
        queries=known.select("query", "text"),
        tags={
            name.removeprefix(TAG): known[name].alias(name.removeprefix(TAG))
            for name in known.columns
            if name.startswith(TAG)
        },
    )
    run = Run.from_frame(results, order="rank", queries=tables.get("asked"), name=evaluation.name)
    return Dataset(truth, run, f"the evaluation {evaluation.name} of the history")


def _contents(
    connection: Connection, number: int, kinds: Sequence[str]
) -> dict[str, tuple[str, bytes]]:
    statement = (
        select(PART.c.kind, CONTENT.c.digest, CONTENT.c.bytes)
        .join(CONTENT, CONTENT.c.digest == PART.c.digest)
        .where(PART.c.evaluation == number, PART.c.kind.in_(kinds))
    )
    return {row.kind: (row.digest, bytes(row.bytes)) for row in connection.execute(statement)}


def _decoded(content: bytes, kind: Any, whose: str) -> Any:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UnreadableFile(
            f"{whose} cannot be read: what it says of itself is damaged ({error}); put back a "
            "copy of the history."
        ) from None
