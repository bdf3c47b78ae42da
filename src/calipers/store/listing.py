"""The list of evaluations with their summaries, and names for one of them.

An evaluation is called @nightly, @nightly~2, @3f2a91c0, @branch:main or @commit:abc123.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, func, or_, select

from calipers.errors import InvalidInput
from calipers.model.evaluation import Evaluation, SliceSummary
from calipers.model.result import from_moment, moment
from calipers.model.scores import Interval, Summary
from calipers.store.open import Store
from calipers.store.record import CHECKSUM, check, checksum_listed, checksum_summary, sound
from calipers.store.schema import EVALUATION, SUMMARY
from calipers.store.schema import TAG as TAGS
from calipers.words import did_you_mean

AT_ONCE = 500
"""How many numbers one question to the database may hold."""
FORMS = (
    "@name, @name~2 (two before the latest), @id, @branch:main, @commit:abc123, and with a name "
    "behind it @branch:main:name"
)
FEWEST_CHARACTERS = 4
"""Of an id or a commit; fewer would name too many."""
MOST_CANDIDATES = 8

_FORM = re.compile(r"@(?:(id|name|branch|commit):)?([^:~]+)(?::([^:~]+))?(?:~(\d{1,6}))?")
_HEX = re.compile(r"[0-9a-f]+")


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
    slices: Sequence[str] | None = (),
    where: Sequence[Any] = (),
) -> list[Evaluation]:
    """Evaluations, newest first, with their summaries and what changed before each.

    ``metrics`` and ``slices`` (tags of the queries) say which summaries to bring along; None
    brings all of them. ``where`` are further conditions on the table of evaluations.
    """
    wanted = _newest_first(*_conditions(name, branch, tags, since, until), *where)
    if last is not None:
        wanted = wanted.limit(last)
    place = store.place.shown
    with store.reading() as connection:
        rows = connection.execute(wanted).all()
        numbers = [row.number for row in rows]
        their_tags = _tags_of(connection, numbers)
        summaries = summaries_of(connection, numbers, metrics, slices, place)
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
    slices: Sequence[str] | None,
    place: str,
) -> dict[int, list[Row[Any]]]:
    """The summaries of some evaluations, by number: of all queries, and of the slices named."""
    chosen: list[Any] = []
    if slices is not None:
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
            check(row.checksum, checksum_summary(dict(row._mapping)), what, place)
            found.setdefault(row.evaluation, []).append(row)
    return found


def _portions(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[i : i + AT_ONCE] for i in range(0, len(numbers), AT_ONCE))


@dataclass(frozen=True)
class Reference:
    """One way to name an evaluation."""

    text: str
    kind: str | None
    """id, name, branch or commit; None where an id or a name may be meant."""
    word: str
    name: str | None
    """The name that an evaluation on the branch or commit must have; None: any."""
    back: int


def parse_reference(text: str) -> Reference:
    """The parts of a reference.

    >>> parse_reference("@branch:release/1.2:nightly~3")
    Reference(text='@branch:release/1.2:nightly~3', kind='branch', word='release/1.2', \
name='nightly', back=3)
    """
    found = _FORM.fullmatch(text)
    if not found or (found[3] and found[1] not in ("branch", "commit")):
        raise InvalidInput(f"The reference {text!r} cannot be read; write {FORMS}.")
    kind, word, name, back = found.groups()
    if kind in ("id", "commit"):
        word = word.lower()
        if not _HEX.fullmatch(word) or len(word) < FEWEST_CHARACTERS:
            raise InvalidInput(
                f"The reference {text!r} names the {kind} {word!r}; give at least "
                f"{FEWEST_CHARACTERS} of its characters, which are 0-9 and a-f."
            )
    return Reference(text, kind, word, name, int(back or 0))


def resolve(store: Store, text: str) -> Evaluation:
    """The evaluation that a reference names; none, or more than one, is an error that helps."""
    reference = parse_reference(text)
    if reference.kind in ("branch", "commit"):
        return _by_git(store, reference)
    by_name = []
    if reference.kind != "id":
        by_name = evaluations(store, name=reference.word, last=reference.back + 1, metrics=())
    by_id = [] if reference.kind == "name" else _with_id(store, reference.word)
    by_id = [one for one in by_id if one.name != reference.word]
    if by_name and by_id:
        shown = _candidates([f"@name:{reference.word}", *(f"@id:{one.id}" for one in by_id)])
        raise InvalidInput(f"The reference {text} names an evaluation and an id; write {shown}.")
    if len(by_id) > 1:
        shown = _candidates(
            [f"@{one.id} ({one.name}, {one.saved:%Y-%m-%d %H:%M})" for one in by_id]
        )
        raise InvalidInput(f"The reference {text} fits {len(by_id)} evaluations; write {shown}.")
    if by_id:
        return _back(store, reference, by_id[0])
    if len(by_name) > reference.back:
        return by_name[reference.back]
    if by_name:
        raise InvalidInput(_too_far(store, reference, EVALUATION.c.name == reference.word))
    raise InvalidInput(_nothing(store, reference))


def _with_id(store: Store, word: str) -> list[Evaluation]:
    word = word.lower()
    if not _HEX.fullmatch(word) or len(word) < FEWEST_CHARACTERS:
        return []
    return evaluations(
        store, where=[EVALUATION.c.id.startswith(word)], last=MOST_CANDIDATES + 1, metrics=()
    )


def _back(store: Store, reference: Reference, found: Evaluation) -> Evaluation:
    """The evaluation n before the one with an id, of the same name."""
    if not reference.back:
        return found
    older = evaluations(store, name=found.name, until=found.saved, last=reference.back, metrics=())
    if len(older) < reference.back:
        raise InvalidInput(
            f"The reference {reference.text} goes back too far: there are {len(older)} "
            f"evaluations called {found.name} before @{found.short}."
        )
    return older[-1]


def _by_git(store: Store, reference: Reference) -> Evaluation:
    column = EVALUATION.c.git_branch if reference.kind == "branch" else EVALUATION.c.git_commit
    where = [
        column == reference.word
        if reference.kind == "branch"
        else column.startswith(reference.word)
    ]
    if reference.name is not None:
        where.append(EVALUATION.c.name == reference.name)
    groups = _distinct(store, column, where)
    if not groups:
        raise InvalidInput(_nothing(store, reference))
    if len(groups) > 1:
        several_commits = len({word for word, _ in groups}) > 1
        found = [f"@{reference.kind}:{word}:{name}" for word, name in groups]
        what = "commits" if several_commits else "names"
        raise InvalidInput(
            f"The reference {reference.text} fits evaluations of several {what}; write "
            f"{_candidates(found)}."
        )
    newest = evaluations(store, where=where, last=reference.back + 1, metrics=())
    if len(newest) <= reference.back:
        raise InvalidInput(_too_far(store, reference, and_(*where)))
    return newest[reference.back]


def _distinct(store: Store, column: Any, where: Sequence[Any]) -> list[tuple[str, str]]:
    latest = func.max(EVALUATION.c.saved)
    statement = (
        select(column, EVALUATION.c.name)
        .where(*where)
        .group_by(column, EVALUATION.c.name)
        .order_by(latest.desc())
    )
    with store.reading() as connection:
        return [(row[0], row[1]) for row in connection.execute(statement)]


def _nothing(store: Store, reference: Reference) -> str:
    column = {
        "branch": EVALUATION.c.git_branch,
        "commit": EVALUATION.c.git_commit,
        "id": EVALUATION.c.id,
    }.get(reference.kind or "", EVALUATION.c.name)
    with store.reading() as connection:
        latest = func.max(EVALUATION.c.saved)
        statement = (
            select(column).where(column.is_not(None)).group_by(column).order_by(latest.desc())
        )
        known = [str(value) for value in connection.execute(statement).scalars()]
    if not known:
        what = reference.kind or "name"
        return (
            f"There is no evaluation {reference.text} in {store.place.shown}: no evaluation there "
            f"has a {what}; write {FORMS}."
        )
    plain = column is EVALUATION.c.name
    words = [f"@{word}" if plain else f"@{reference.kind}:{word[:40]}" for word in known]
    asked = f"@{reference.word}" if plain else f"@{reference.kind}:{reference.word}"
    return (
        f"There is no evaluation {asked} in {store.place.shown}; there are "
        f"{', '.join(words[:MOST_CANDIDATES])}{', …' if len(words) > MOST_CANDIDATES else ''}."
        f"{did_you_mean(asked, words)}"
    )


def _too_far(store: Store, reference: Reference, where: Any) -> str:
    with store.reading() as connection:
        n = connection.execute(select(func.count()).select_from(EVALUATION).where(where)).scalar()
    furthest = f"{reference.text.partition('~')[0]}~{(n or 1) - 1}"
    return (
        f"The reference {reference.text} goes back too far: there "
        f"{'is one such evaluation' if n == 1 else f'are {n} such evaluations'}, the oldest is "
        f"{furthest}."
    )


def _candidates(words: Sequence[str]) -> str:
    shown = list(words[:MOST_CANDIDATES])
    rest = len(words) - len(shown)
    return " or ".join(shown) + (f" or {rest} more" if rest else "")
