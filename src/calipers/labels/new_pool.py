"""What a pool to judge is made of: its settings, its results, and the name it is kept under."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from calipers.engines.scoring import choose_metrics
from calipers.errors import InvalidInput, NoCommonIds
from calipers.labels.draft import draft, known_texts, read_asked
from calipers.labels.judged_truth import matching_of
from calipers.match.pair import match_pair
from calipers.model.fingerprint import fingerprint_rows, fingerprint_settings
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label, QueueOrder, TargetsAs
from calipers.model.run import Run
from calipers.questions import pooling
from calipers.store.label_pools import check_judge, list_pools, make_pool
from calipers.store.open import Store
from calipers.store.pool import PoolSettings

if TYPE_CHECKING:
    from calipers.labels.settings import Pooling

LONGEST_GUIDELINES = 20_000
"""Characters of the text that judges see beside every item."""


def pool_settings(
    pool: "Pooling", *, depth: int, order: QueueOrder = "moves", per_item: int = 1
) -> PoolSettings:
    """The settings that a pool is saved with; wrong ones are refused before files are read."""
    judges = tuple(check_judge(judge, person=True) for judge in pool.judges)
    settings = PoolSettings(
        metric=pool.metric,
        scale=pool.scale,
        order=order,
        per_item=per_item,
        depth=depth,
        seed=pool.seed,
        guidelines=pool.guidelines,
        judges=judges,
        rel=pool.rel,
    )
    if len(choose_metrics(settings.metric, None)) != 1:
        raise InvalidInput(
            f"Name one metric to watch, such as ndcg@10; not {settings.metric!r}."
        )
    if not judges:
        raise InvalidInput("Nobody is named to judge; name at least one judge.")
    if len(settings.guidelines) > LONGEST_GUIDELINES:
        raise InvalidInput(
            f"Shorten the guidelines to {LONGEST_GUIDELINES:,} characters."
        )
    return settings


def to_judge(
    runs: Mapping[str, Run],
    truth: GroundTruth | None,
    settings: PoolSettings,
    *,
    questions: object = None,
    corpus: object = None,
    queries: Collection[str] | None = None,
    again: bool = False,
) -> list[Label]:
    """The results to judge, each once, shuffled.

    ``queries`` selects the questions. With ``again`` the targets of the ground truth are
    judged too, returned or not.
    """
    texts = read_asked(questions)
    if texts is None and truth is not None:
        known = known_texts((truth, *runs.values()))
        texts = {query: known.get(query, query) for query in truth.queries["query"]}
    drafted = draft(
        [*runs.values()],
        texts,
        k=settings.depth,
        seed=settings.seed,
        truth=None if again else truth,
        corpus=corpus,
    )
    rows = [row for row in drafted.rows if queries is None or row.query_id in queries]
    if again and truth is not None:
        kept = texts or {}
        some = {
            query: kept[query] for query in kept if queries is None or query in queries
        }
        rows = with_targets(rows, truth, runs.values(), some, settings.seed)
    if not rows:
        why = "none of the questions has a result"
        if drafted.judged:
            why = (
                f"the ground truth has all {drafted.judged} first results; look deeper "
                "(--depth)"
            )
        raise InvalidInput(f"There is nothing to judge: {why}.")
    return rows


def with_targets(
    rows: Sequence[Label],
    truth: GroundTruth,
    runs: Iterable[Run],
    questions: dict[str, str],
    seed: int,
) -> list[Label]:
    """The rows and the targets of the ground truth, shuffled so that the order reveals nothing.

    Without this a wrong target that no run returns could never be corrected. A span whose
    text no run has is left out: there is nothing to read.

    >>> truth = GroundTruth.from_targets(pl.DataFrame({"query": ["q"], "item": ["a"]}))
    >>> rows = [Label("q", "Why?", item="b")]
    >>> sorted(label.item for label in with_targets(rows, truth, [], {"q": "Why?"}, seed=0))
    ['a', 'b']
    """
    targets = truth.targets.filter(pl.col("query").is_in(list(questions)))
    every = [*rows]
    for label in _targets_to_read(targets, list(runs)):
        every.append(replace(label, query=questions[label.query_id]))
    by_query: dict[str, dict[str, Label]] = {}
    for label in every:
        by_query.setdefault(label.query_id, {}).setdefault(label.pair[1], label)
    return [
        label
        for query in questions
        if query in by_query
        for label in pooling.shuffled(by_query[query].values(), seed)
    ]


def _targets_to_read(targets: pl.DataFrame, runs: Sequence[Run]) -> Iterator[Label]:
    """The targets of which there is something to read: an id, a quote, or the text of a span."""
    texts = _texts_of_items(targets, runs)
    chunks = _chunks_of_documents(targets, runs)
    for row in targets.iter_rows(named=True):
        label = Label(
            row["query"],
            item=row["item"],
            document=row["document"],
            start=row["start"],
            end=row["end"],
            text=row["quote"] or texts.get(row["item"] or ""),
        )
        if label.text is None:
            text = _text_of_span(label, chunks.get(label.document or "", ()))
            label = replace(label, text=text)
        if label.item is not None or label.text is not None:
            yield label


def _texts_of_items(targets: pl.DataFrame, runs: Sequence[Run]) -> dict[str, str]:
    """The texts that the runs have of targets that are ids."""
    items = targets["item"].drop_nulls().unique().implode()
    texts: dict[str, str] = {}
    for run in runs:
        if {"item", "text"} <= set(run.frame.columns):
            some = run.frame.filter(pl.col("item").is_in(items)).select("item", "text")
            texts.update(some.drop_nulls().unique("item").iter_rows())
    return texts


class _Chunk(NamedTuple):
    """A text of a document, and where it stands."""

    start: int
    end: int
    text: str


def _chunks_of_documents(
    targets: pl.DataFrame, runs: Sequence[Run]
) -> dict[str, list[_Chunk]]:
    """The chunks that the runs have of documents in which a target is a span."""
    spans = targets.filter(pl.col("start").is_not_null())
    documents = spans["document"].unique().implode()
    chunks: dict[str, list[_Chunk]] = {}
    for run in runs:
        if {"document", "start", "end", "text"} <= set(run.frame.columns):
            some = run.frame.filter(pl.col("document").is_in(documents))
            some = some.select("document", "start", "end", "text").drop_nulls().unique()
            for document, start, end, text in some.iter_rows():
                chunks.setdefault(document, []).append(_Chunk(start, end, text))
    return chunks


def _text_of_span(label: Label, chunks: Iterable[_Chunk]) -> str | None:
    """The text of a span, cut out of the first chunk that holds it whole."""
    if label.start is None or label.end is None:
        return None
    for chunk in chunks:
        holds = chunk.start <= label.start and label.end <= chunk.end
        # A text that was stripped or rewritten does not tell where its characters stood.
        if holds and len(chunk.text) == chunk.end - chunk.start:
            return chunk.text[label.start - chunk.start : label.end - chunk.start]
    return None


def matched_alike(
    settings: PoolSettings,
    truth: GroundTruth | None,
    runs: Mapping[str, Run],
    labels: Sequence[Label],
) -> PoolSettings:
    """The settings with the matching that the ground truth needs, checked on the runs."""
    if truth is None or not truth.targets.height:
        by_id = any(label.item is not None for label in labels)
        return replace(settings, targets_as="id" if by_id else "quote")
    strange: NoCommonIds | None = None
    for run in runs.values():
        try:
            pair = match_pair(truth, run, matching_of(settings))
        except NoCommonIds as error:
            # One run may match nothing; if none does, the files do not belong together.
            strange = error
            continue
        word = str(pair.recorded.match).partition("(")[0]
        targets_as: TargetsAs = "id"
        if word == "quote":
            targets_as = "quote"
        elif word == "span":
            targets_as = "span"
        return replace(settings, targets_as=targets_as)
    raise strange or InvalidInput(
        "No run is given; give at least one, and better several."
    )


def keep(
    store: Store,
    name: str,
    labels: Sequence[Label],
    runs: Mapping[str, Run],
    truth: GroundTruth | None,
    settings: PoolSettings,
    another: bool = False,
    made_of: Mapping[str, str] | None = None,
) -> int:
    """Save a pool, or find the existing one with the same content; returns its number.

    If one with other content has the name, it is refused, or the new one gets ``another``
    name.
    """
    if made_of is None:
        made_of = _fingerprints(labels, runs, truth)
    known = {pool.name: pool for pool in list_pools(store).pools}
    called = name
    turn = 1
    new = _compared(made_of, settings)
    while called in known:
        old = _compared(known[called].made_of, known[called].settings)
        changed = [
            name.replace("_", " ")
            for name in {**old, **new}
            if old.get(name) != new.get(name)
        ]
        if not changed:
            return known[called].number
        if not another:
            raise InvalidInput(
                f"There is a pool called {name!r} already, with another "
                f"{', '.join(changed[:4])}; take another name, or go on with that one "
                f"(`calipers serve --pool {name}`)."
            )
        turn += 1
        called = f"{name}-{turn}"
    return make_pool(
        store,
        called,
        labels,
        runs=runs,
        ground_truth=truth,
        settings=settings,
        made_of=made_of,
    )


def _fingerprints(
    labels: Sequence[Label], runs: Mapping[str, Run], truth: GroundTruth | None
) -> dict[str, str]:
    """What a pool is made of: the same name may mean other data tomorrow."""
    made_of = {}
    for name, run in runs.items():
        made_of[f"run {name}"] = fingerprint_rows(run.frame, sorted(run.frame.columns))
    made_of["ground truth"] = "" if truth is None else truth.fingerprint
    pairs = sorted(str(label.pair) for label in labels)
    made_of["results to judge"] = fingerprint_settings(pairs)
    return made_of


def _compared(made_of: Mapping[str, str], settings: PoolSettings) -> dict[str, object]:
    """What must be the same in two pools that are one."""
    return {**made_of, **asdict(settings), "targets_as": None, "judges": None}
