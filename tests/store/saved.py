"""Evaluations to save, with known values."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import text

from calipers.engines.scoring import choose_metrics, score
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.operation import build
from calipers.questions.inputs import matched
from calipers.questions.reading import Reading
from calipers.store.git import GitState
from calipers.store.listing import evaluations
from calipers.store.load import load_retrieved, load_scores
from calipers.store.open import Store, open_store
from calipers.store.record import EvaluationRecord, write
from calipers.store.save import record_of
from tests.systems import records

START = datetime(2026, 1, 1, 6, tzinfo=UTC)


def hostile() -> list[dict[str, Any]]:
    """Records with everything that a database or a terminal could stumble over."""
    odd = ["\x00", "=1+1", "<script>", "'; DROP TABLE x; --", "\x1b[31m", "ü" * 300, "💥"]
    made = records([1, 2, None, 4, 3, None, 1])
    for record, word in zip(made, odd, strict=True):
        record["id"] = f"q{word}"
        record["query"] = f"what is {word}?"
        record["tags"] = {"kind": word, f"t{odd[0]}": "x"}
        record["retrieved"] = [f"{item}{word}" for item in record["retrieved"]]
        record["ground_truth"] = {f"target{word}": 1}
    made[3]["ground_truth"] = {}
    return made


def measure(
    data: Any = None, metrics: str | None = None, **settings: Any
) -> tuple[Matched, Scores]:
    """What was matched, and its scores."""
    pair = matched(data, build(Reading, settings))
    return pair, score(pair, choose_metrics(metrics, None, settings.get("rel")))


def record(
    data: Any,
    name: str = "nightly",
    *,
    day: int = 0,
    tags: dict[str, str] | None = None,
    git: GitState | None = None,
    results: bool = True,
    corpus: str | None = None,
    metrics: str = "recall@5,mrr",
    **settings: Any,
) -> tuple[Scores, EvaluationRecord]:
    """The scores of some records, and what is kept of them."""
    pair, scores = measure(data, metrics=metrics, **settings)
    kept = record_of(
        scores,
        name,
        tags=tags,
        git=git,
        ground_truth=pair.ground_truth,
        run=pair.run if results else None,
        corpus=corpus,
        now=START + timedelta(days=day),
    )
    return scores, kept


def filled(place: str, hits: Sequence[Sequence[int | None]], name: str = "nightly") -> Store:
    """A history with one evaluation a day, each given by the ranks of its targets."""
    store = open_store(place, create=True)
    for day, ranks in enumerate(hits):
        write(store, record(records(ranks), name, day=day)[1])
    return store


def read_all(store: Store) -> None:
    """Read everything that is kept; damage is an error."""
    for one in evaluations(store):
        load_scores(store, one)
        load_retrieved(store, one)
    if store.place.kind == "sqlite":
        with store.reading() as connection:
            assert connection.execute(text("PRAGMA integrity_check")).scalars().all() == ["ok"]
