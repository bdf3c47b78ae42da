"""The list of evaluations, with their summaries and without their per-query data."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, func, or_, select

from calipers.model.evaluation import Evaluation, SliceSummary
from calipers.model.result import from_moment, moment
from calipers.model.scores import Interval, Summary
from calipers.store import checksum
from calipers.store.open import Store
from calipers.store.schema import EVALUATION, SUMMARY
from calipers.store.schema import TAG as TAGS

AT_ONCE = 500
"""How many numbers one question to the database may hold."""


@checksum.sound
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
        summaries = summaries_of(connection, numbers, metrics, slices, store.place.shown)
    for row in rows:
        _check(row, their_tags.get(row.number, {}), store.place.shown)
    return [
        _evaluation(row, their_tags.get(row.number, {}), summaries.get(row.number, []))
        for row in rows
    ]


def _check(row: Row[Any], tags: Mapping[str, str], place: str) -> None:
    names = [column.name for column in EVALUATION.c if column.name != "facts"]
    shown = {name: getattr(row, name) for name in names}
    kept = row.checksum and row.checksum[: checksum.LENGTH]
    checksum.check(kept, checksum.of_listed(shown, tags), f"the evaluation {row.id!s:.20}", place)


def count(store: Store) -> int:
    """How many evaluations there are."""
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
    whole = [summary_of(one) for one in summaries if one.slice_tag is None]
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
            SliceSummary(one.slice_tag, one.slice_value, summary_of(one))
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


def summary_of(row: Row[Any]) -> Summary:
    """A row of the table of summaries as a value."""
    interval = None if row.low is None else Interval(row.low, row.high, row.level, row.method)
    return Summary(row.metric, row.mean, row.median, interval, row.n, row.undefined)


def _tags_of(connection: Connection, numbers: Sequence[int]) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    for some in _portions(numbers):
        statement = select(TAGS).where(TAGS.c.evaluation.in_(some)).order_by(TAGS.c.name)
        for row in connection.execute(statement):
            found.setdefault(row.evaluation, {})[row.name] = row.value
    return found


def summaries_of(
    connection: Connection,
    numbers: Sequence[int],
    metrics: Iterable[str] | None,
    slices: Sequence[str],
    place: str,
) -> dict[int, list[Row[Any]]]:
    """The summaries of some evaluations, by number: of all queries, and of the slices named."""
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
            what = f"a summary of evaluation number {row.evaluation}"
            checksum.check(row.checksum, checksum.of_summary(dict(row._mapping)), what, place)
            found.setdefault(row.evaluation, []).append(row)
    return found


def _portions(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[i : i + AT_ONCE] for i in range(0, len(numbers), AT_ONCE))
