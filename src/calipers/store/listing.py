"""List evaluations with their summaries, and resolve references to one of them.

References are @nightly, @nightly~2, @3f2a91c0, @branch:main and @commit:abc123.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, func, or_, select

from calipers.errors import InvalidInput
from calipers.model.evaluation import Evaluation
from calipers.model.result import from_moment, moment
from calipers.model.scores import Interval, Summary
from calipers.store.open import Store
from calipers.store.record import CHECKSUM, check, checksum_listed, checksum_summary, sound
from calipers.store.schema import EVALUATION, SUMMARY
from calipers.store.schema import TAG as TAGS
from calipers.words import did_you_mean

AT_ONCE = 500
"""How many numbers one database query may contain."""
FORMS = (
    "@name, @name~2 (two before the latest), @id, @branch:main, @commit:abc123, and with a name "
    "behind it @branch:main:name"
)
FEWEST_CHARACTERS = 4
"""Fewest characters of an id or a commit; fewer would match too many."""
MOST_CANDIDATES = 8

_FORM = re.compile(r"@(?:(id|name|branch|commit):)?([^:~]+)(?::([^:~]+))?(?:~(\d{1,6}))?")
_HEX = re.compile(r"[0-9a-f]+")
_COLUMNS: Mapping[str, Any] = {
    "name": EVALUATION.c.name,
    "id": EVALUATION.c.id,
    "branch": EVALUATION.c.git_branch,
    "commit": EVALUATION.c.git_commit,
}


@sound
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
    where: Sequence[Any] = (),
) -> list[Evaluation]:
    """Evaluations, newest first, with their summaries and the changes before each.

    ``metrics`` select the summaries to load; None loads all. ``where`` are further conditions on
    the table of evaluations.
    """
    asked = [
        None if name is None else EVALUATION.c.name == name,
        None if branch is None else EVALUATION.c.git_branch == branch,
        None if since is None else EVALUATION.c.saved >= moment(since),
        None if until is None else EVALUATION.c.saved < moment(until),
    ]
    for tag, value in (tags or {}).items():
        has = select(TAGS.c.evaluation).where(TAGS.c.name == tag, TAGS.c.value == value)
        asked.append(EVALUATION.c.number.in_(has))
    wanted = _newest_first(*(one for one in asked if one is not None), *where).limit(last)
    place = store.place.shown
    with store.reading() as connection:
        rows = connection.execute(wanted).all()
        numbers = [row.number for row in rows]
        their_tags = _tags_of(connection, numbers)
        summaries = summaries_of(connection, numbers, metrics, place)
    found = []
    for row in rows:
        its_tags = their_tags.get(row.number, {})
        shown = {one.name: getattr(row, one.name) for one in EVALUATION.c if one.name != "facts"}
        what = f"the evaluation {row.id!s:.20}"
        check(row.checksum[:CHECKSUM], checksum_listed(shown, its_tags), what, place)
        found.append(_evaluation(row, its_tags, summaries.get(row.number, [])))
    return found


def count(store: Store) -> int:
    """How many evaluations there are."""
    with store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(EVALUATION)).scalar_one())


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
    whole = [summary_of(one) for one in summaries]
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
    if row.number_before is None:
        return
    if row.ground_truth != row.ground_truth_before:
        yield "ground truth"
    if row.corpus is not None and row.corpus_before not in (None, row.corpus):
        yield "corpus"


def summary_of(row: Row[Any]) -> Summary:
    """Convert a row of the summaries table."""
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
    place: str,
) -> dict[int, list[Row[Any]]]:
    """Summaries by evaluation number."""
    chosen = [] if metrics is None else [SUMMARY.c.metric.in_(list(metrics))]
    found: dict[int, list[Row[Any]]] = {}
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
                found.setdefault(row.evaluation, []).append(row)
    return found


def _portions(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[i : i + AT_ONCE] for i in range(0, len(numbers), AT_ONCE))


@dataclass(frozen=True)
class Reference:
    """A parsed reference to an evaluation."""

    text: str
    kind: str | None
    """id, name, branch or commit; None if it may be an id or a name."""
    word: str
    name: str | None
    """The required name of an evaluation on the branch or commit; None: any."""
    back: int


def parse_reference(text: str) -> Reference:
    """Parse a reference.

    >>> parse_reference("@branch:release/1.2:nightly~3")
    Reference(text='@branch:release/1.2:nightly~3', kind='branch', word='release/1.2', \
name='nightly', back=3)
    """
    found = _FORM.fullmatch(text)
    if not found or (found[3] and found[1] not in ("branch", "commit")):
        raise InvalidInput(f"The reference {text!r} cannot be read; write {FORMS}.")
    kind, word, name, back = found.groups()
    if kind in ("id", "commit") and not _is_beginning(word):
        raise InvalidInput(
            f"The reference {text!r} names the {kind} {word!r}; give at least "
            f"{FEWEST_CHARACTERS} of its characters, which are 0-9 and a-f."
        )
    return Reference(text, kind, word, name, int(back or 0))


def resolve(store: Store, text: str) -> Evaluation:
    """Return the one evaluation that a reference names; raise if there is none or several."""
    reference = parse_reference(text)
    fitting = _fitting(store, reference)
    if not fitting:
        raise InvalidInput(_nothing(store, reference))
    if len(fitting) > 1:
        raise InvalidInput(
            f"The reference {text} fits several evaluations; write "
            f"{' or '.join(list(fitting)[:MOST_CANDIDATES])}"
            f"{' or another' if len(fitting) > MOST_CANDIDATES else ''}."
        )
    [where] = fitting.values()
    found = evaluations(store, where=where, last=reference.back + 1, metrics=())
    if len(found) <= reference.back:
        n = len(found)
        raise InvalidInput(
            f"The reference {text} goes back too far: there "
            f"{'is one such evaluation' if n == 1 else f'are {n} such evaluations'}, the oldest "
            f"is {text.partition('~')[0]}~{n - 1}."
        )
    return found[reference.back]


def _fitting(store: Store, reference: Reference) -> dict[str, list[Any]]:
    """Map each exact reference that may be meant to conditions for it and earlier ones."""
    fitting: dict[str, list[Any]] = {}
    called = EVALUATION.c.name
    for kind in [reference.kind] if reference.kind else ["name", "id"]:
        column, word = _COLUMNS[kind], reference.word
        if kind in ("id", "commit") and not _is_beginning(word):
            continue
        exact = kind in ("name", "branch")
        where = [column == word if exact else column.startswith(word.lower())]
        if reference.name is not None:
            where.append(called == reference.name)
        latest = func.max(EVALUATION.c.saved)
        groups = select(column, called, latest).where(*where).group_by(column, called)
        with store.reading() as connection:
            rows = connection.execute(groups.order_by(latest.desc())).all()
        for value, name, saved in rows:
            if kind == "name":
                fitting[f"@name:{value}"] = [called == value]
            elif kind != "id":
                fitting[f"@{kind}:{value}:{name}"] = [column == value, called == name]
            elif f"@name:{name}" not in fitting:
                earlier = or_(EVALUATION.c.saved < saved, column == value)
                fitting[f"@id:{value}"] = [called == name, earlier]
    return fitting


def _is_beginning(word: str) -> bool:
    """Whether a word may be the beginning of an id or a commit."""
    return len(word) >= FEWEST_CHARACTERS and _HEX.fullmatch(word.lower()) is not None


def _nothing(store: Store, reference: Reference) -> str:
    kind = reference.kind or "name"
    column, prefix = _COLUMNS[kind], "@" if kind == "name" else f"@{kind}:"
    with store.reading() as connection:
        latest = func.max(EVALUATION.c.saved)
        statement = (
            select(column).where(column.is_not(None)).group_by(column).order_by(latest.desc())
        )
        words = [f"{prefix}{one!s:.40}" for one in connection.execute(statement).scalars()]
    if not words:
        return (
            f"There is no evaluation {reference.text} in {store.place.shown}: no evaluation there "
            f"has a {kind}; write {FORMS}."
        )
    asked = f"{prefix}{reference.word}"
    return (
        f"There is no evaluation {asked} in {store.place.shown}; there are "
        f"{', '.join(words[:MOST_CANDIDATES])}{', …' if len(words) > MOST_CANDIDATES else ''}."
        f"{did_you_mean(asked, words)}"
    )
