"""List evaluations with their summaries, and resolve references to one of them.

References are @nightly, @nightly~2 and @3f2a91c0.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, func, or_, select

from calipers.errors import InvalidInput
from calipers.model.evaluation import Evaluation
from calipers.model.result import from_moment, moment
from calipers.model.scores import Interval, Summary
from calipers.store.open import Store
from calipers.store.record import (
    CHECKSUM,
    check,
    checksum_listed,
    checksum_summary,
    sound,
)
from calipers.store.schema import EVALUATION, SUMMARY
from calipers.store.schema import TAG as TAGS
from calipers.words import did_you_mean

AT_ONCE = 500
"""How many numbers one database query may contain."""
FORMS = "@name, @name~2 (two before the latest) or @id"
MOST_CANDIDATES = 8

_FORM = re.compile(r"@([^:~]+)(?:~(\d{1,6}))?")
_BEGINNING = re.compile(r"[0-9a-f]{4,}", re.IGNORECASE)
"""The beginning of an id; fewer characters would match too many."""


@sound
def evaluations(
    store: Store,
    *,
    name: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    last: int | None = None,
    metrics: Iterable[str] | None = None,
    where: Sequence[object] = (),
) -> list[Evaluation]:
    """Evaluations, newest first, with their summaries and the changes before each.

    ``metrics`` select the summaries to load; None loads all. ``where`` are further
    conditions on the table of evaluations.
    """
    conditions = [
        None if name is None else EVALUATION.c.name == name,
        None if since is None else EVALUATION.c.saved >= moment(since),
        None if until is None else EVALUATION.c.saved < moment(until),
    ]
    wanted = _newest_first(
        *(condition for condition in conditions if condition is not None), *where
    ).limit(last)
    place = store.place.shown
    with store.reading() as connection:
        rows = connection.execute(wanted).all()
        numbers = [row.number for row in rows]
        their_tags = _tags_of(connection, numbers)
        summaries = summaries_of(connection, numbers, metrics, place)
    listed = []
    for row in rows:
        its_tags = their_tags.get(row.number, {})
        shown = {
            column.name: getattr(row, column.name)
            for column in EVALUATION.c
            if column.name != "facts"
        }
        what = f"the evaluation {row.id!s:.20}"
        check(row.checksum[:CHECKSUM], checksum_listed(shown, its_tags), what, place)
        listed.append(_evaluation(row, its_tags, summaries.get(row.number, [])))
    return listed


def count(store: Store) -> int:
    """How many evaluations there are."""
    with store.reading() as connection:
        return int(
            connection.execute(select(func.count()).select_from(EVALUATION)).scalar_one()
        )


def _newest_first(*conditions: Any) -> Select[Any]:
    """Evaluations with the ground truth and the corpus of the one before, of the same name."""
    number = EVALUATION.c.number
    order = (EVALUATION.c.saved, EVALUATION.c.number)
    shown = [column for column in EVALUATION.c if column.name != "facts"]
    before = select(
        number,
        *(
            func.lag(column)
            .over(partition_by=EVALUATION.c.name, order_by=order)
            .label(label)
            for column, label in (
                (EVALUATION.c.ground_truth, "ground_truth_before"),
                (EVALUATION.c.corpus, "corpus_before"),
            )
        ),
    ).subquery()
    return (
        select(*shown, before.c.ground_truth_before, before.c.corpus_before)
        .join(before, before.c.number == number)
        .where(*conditions)
        .order_by(*(column.desc() for column in order))
    )


def _evaluation(
    row: Row[Any], tags: Mapping[str, str], summaries: list[Row[Any]]
) -> Evaluation:
    fingerprints = {"ground_truth": row.ground_truth, "run": row.run}
    if row.corpus is not None:
        fingerprints["corpus"] = row.corpus
    whole = [summary_of(summary) for summary in summaries]
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
        number=row.number,
    )


def _changed(row: Row[Any]) -> Iterable[str]:
    if row.ground_truth_before not in (None, row.ground_truth):
        yield "ground truth"
    if row.corpus is not None and row.corpus_before not in (None, row.corpus):
        yield "corpus"


def summary_of(row: Row[Any]) -> Summary:
    """Convert a row of the summaries table."""
    interval = (
        None if row.low is None else Interval(row.low, row.high, row.level, row.method)
    )
    return Summary(row.metric, row.mean, row.median, interval, row.n, row.undefined)


def _tags_of(connection: Connection, numbers: Sequence[int]) -> dict[int, dict[str, str]]:
    tags: dict[int, dict[str, str]] = {}
    for some in _portions(numbers):
        statement = select(TAGS).where(TAGS.c.evaluation.in_(some)).order_by(TAGS.c.name)
        for row in connection.execute(statement):
            tags.setdefault(row.evaluation, {})[row.name] = row.value
    return tags


def summaries_of(
    connection: Connection,
    numbers: Sequence[int],
    metrics: Iterable[str] | None,
    place: str,
) -> dict[int, list[Row[Any]]]:
    """Summaries by evaluation number."""
    chosen = [] if metrics is None else [SUMMARY.c.metric.in_(list(metrics))]
    summaries: dict[int, list[Row[Any]]] = {}
    for some in _portions(numbers):
        statement = (
            select(SUMMARY)
            .where(SUMMARY.c.evaluation.in_(some), *chosen)
            .order_by(SUMMARY.c.evaluation, SUMMARY.c.position)
        )
        for row in connection.execute(statement):
            what = f"a summary of evaluation number {row.evaluation}"
            check(row.checksum, checksum_summary(dict(row._mapping)), what, place)
            # Histories of development versions hold summaries of slices, too.
            if row.slice_tag is None:
                summaries.setdefault(row.evaluation, []).append(row)
    return summaries


def _portions(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[i : i + AT_ONCE] for i in range(0, len(numbers), AT_ONCE))


class Reference(NamedTuple):
    """A parsed reference to an evaluation."""

    word: str
    """A name or the beginning of an id."""
    back: int


def parse_reference(text: str) -> Reference:
    """Parse a reference.

    >>> parse_reference("@nightly~3")
    Reference(word='nightly', back=3)
    """
    match = _FORM.fullmatch(text)
    if not match:
        raise InvalidInput(f"The reference {text!r} cannot be read; write {FORMS}.")
    return Reference(match[1], int(match[2] or 0))


def resolve(store: Store, text: str) -> Evaluation:
    """Return the one evaluation that a reference names; raise if there is none or several."""
    word, back = parse_reference(text)
    names = names_of(store)
    where = []
    if word not in names:
        fitting = []
        if _BEGINNING.fullmatch(word):
            its = [EVALUATION.c.id.startswith(word.lower())]
            fitting = evaluations(store, where=its, metrics=())
        if len(fitting) > 1:
            several = " or ".join(
                f"@{evaluation.id}" for evaluation in fitting[:MOST_CANDIDATES]
            )
            raise InvalidInput(
                f"The reference {text} fits several evaluations; write {several}."
            )
        if not fitting:
            known = [f"@{name}" for name in names]
            raise unknown_reference(store, text.partition("~")[0], known)
        # Those before it have the same name.
        at = fitting[0]
        word = fitting[0].name
        where = [or_(EVALUATION.c.saved < moment(at.saved), EVALUATION.c.id == at.id)]
    newest = evaluations(store, name=word, where=where, last=back + 1, metrics=())
    if len(newest) <= back:
        n = len(newest)
        raise InvalidInput(
            f"The reference {text} goes back too far: there "
            f"{'is one such evaluation' if n == 1 else f'are {n} such evaluations'}, the "
            f"oldest is {text.partition('~')[0]}~{n - 1}."
        )
    return newest[back]


def names_of(store: Store) -> list[str]:
    """The names of the evaluations, the latest saved first."""
    known = select(EVALUATION.c.name).group_by(EVALUATION.c.name)
    with store.reading() as connection:
        latest = func.max(EVALUATION.c.saved).desc()
        return list(connection.execute(known.order_by(latest)).scalars())


def unknown_reference(store: Store, text: str, known: Sequence[str]) -> InvalidInput:
    """The error that there is no such evaluation, with those that there are."""
    more = ", …" if len(known) > MOST_CANDIDATES else ""
    return InvalidInput(
        f"There is no evaluation {text} in {store.place.shown}; there are "
        f"{', '.join(known[:MOST_CANDIDATES]) or 'none'}{more}.{did_you_mean(text, known)}"
    )
