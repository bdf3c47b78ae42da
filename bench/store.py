"""The history: how quickly it answers and how much room it takes, beside a row for every number.

The row for every number is what people write by hand: one table of (evaluation, query, metric,
value).
"""

import dataclasses
import os
import random
import sqlite3
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.measure import Measured, Row, calipers, compared, measure, quickest
from calipers import history, history_show
from calipers.engines.scoring import choose_metrics, score
from calipers.questions.inputs import matched
from calipers.store.blob import digest_of
from calipers.store.open import open_store
from calipers.store.record import EvaluationRecord, new_id, write_on
from calipers.store.save import record_of

QUERIES, ITEMS, CORPUS = 1000, 10, 20_000
BY_HAND = 10
"""Evaluations in the table by hand; 22,000 rows each."""
START = datetime(2026, 1, 1, tzinfo=UTC)


def rows(*, quick: bool = False) -> list[Row]:
    """One row per question; sizes stand in the notes."""
    evaluations = 300 if quick else 10_000
    with tempfile.TemporaryDirectory() as folder:
        place, by_hand = Path(folder) / "history.db", Path(folder) / "by_hand.db"
        scores, record = _made(texts=False)
        _fill(place, record, evaluations)
        _by_hand(by_hand, scores)
        size = f"{evaluations:,} evaluations of {QUERIES:,} queries, {len(scores.metrics)} metrics"
        peer = f"a row per number, {BY_HAND} evaluations"
        each, row_each = place.stat().st_size / evaluations, by_hand.stat().st_size / BY_HAND
        _, with_texts = _made(texts=True)
        note = (
            f"{each / 1000:,.0f} kB per evaluation with ids of results, {row_each / 1000:,.0f} "
            f"kB by hand without; of that scores {_kilobytes(record, 'scores')}, results "
            f"{_kilobytes(record, 'results')}; 10,000 chunks of 800 characters would add "
            f"{_kilobytes(with_texts, 'texts')}"
        )
        warm = {
            "list the latest 20": (lambda: history(store=place), LISTED, ""),
            "one evaluation again": (lambda: history_show("@nightly", store=place), READ, note),
        }
        found = [
            compared(f"store: {name}", size, quickest(ours), peer, _took(by_hand, sql), said)
            for name, (ours, sql, said) in warm.items()
        ]
        for command in ("history", "history show @nightly"):
            cold = measure(calipers(*command.split(), "--store", str(place)), times=2)
            found.append(compared(f"store: calipers {command}, from cold", size, cold))
        return found


def _kilobytes(record: EvaluationRecord, kind: str) -> str:
    return f"{len(record.contents[kind][1]) / 1000:,.0f} kB"


def _made(*, texts: bool) -> tuple[Any, EvaluationRecord]:
    """An evaluation as one meets it: one to four targets a query, some of them found."""
    chosen = random.Random(3)
    words = ["".join(chosen.choices("etaoinshrdlu", k=chosen.randint(2, 9))) for _ in range(4000)]
    chunks = {}
    if texts:
        chunks = {n: " ".join(chosen.choices(words, k=150))[:800] for n in range(CORPUS)}
    records = []
    for number in range(QUERIES):
        targets = chosen.sample(range(CORPUS), chosen.randint(1, 4))
        found = [one for one in targets if chosen.random() < 0.7]
        others = chosen.sample(range(CORPUS), ITEMS - len(found))
        items = found + others
        items.sort(key=lambda one: chosen.random() - 0.3 * (one in targets))
        records.append(
            {
                "id": f"q{number}",
                "query": " ".join(chosen.choices(words, k=9)),
                "retrieved": [
                    {"id": f"chunk-{n:06d}", "score": chosen.random()}
                    | ({"text": chunks[n]} if texts else {})
                    for n in items
                ],
                "ground_truth": {f"chunk-{n:06d}": 1 for n in targets},
                "tags": {"type": chosen.choice(("factual", "how-to", "multi-hop"))},
            }
        )
    pair = matched(records)
    scores = score(pair, choose_metrics(None, None))
    kept = record_of(scores, "nightly", ground_truth=pair.ground_truth, run=pair.run)
    return scores, kept


def _fill(place: Path, record: EvaluationRecord, evaluations: int) -> None:
    """So many evaluations, each with scores and results of its own.

    Making each anew would take an hour; instead some bytes behind their end tell them apart, so
    that nothing is kept once that would be kept many times. The latest is as it was made.
    """
    store = open_store(place, create=True)
    with store.writing() as connection:
        for number in range(evaluations):
            saved = START + timedelta(hours=number)
            row = {**record.row, "saved": saved.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}
            contents = dict(record.contents)
            if number < evaluations - 1:
                for kind in ("scores", "results"):
                    content = record.contents[kind][1] + os.urandom(16)
                    contents[kind] = (digest_of(content), content)
            write_on(
                connection, dataclasses.replace(record, id=new_id(), row=row, contents=contents)
            )


def _by_hand(path: Path, scores: Any) -> None:
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TABLE score (evaluation INTEGER, query TEXT, metric TEXT, value REAL,"
        " PRIMARY KEY (evaluation, query, metric))"
    )
    names = [metric.name for metric in scores.metrics]
    for number in range(BY_HAND):
        connection.executemany(
            "INSERT INTO score VALUES (?, ?, ?, ?)",
            (
                (number, query, name, value)
                for query, values in zip(scores.queries["query"], scores.values, strict=True)
                for name, value in zip(names, values.tolist(), strict=True)
            ),
        )
    connection.commit()
    connection.close()


LISTED = "SELECT evaluation, metric, avg(value) FROM score GROUP BY evaluation, metric"
READ = "SELECT * FROM score WHERE evaluation = 5"


def _took(path: Path, question: str) -> Measured:
    def ask() -> None:
        connection = sqlite3.connect(path)
        connection.execute(question).fetchall()
        connection.close()

    return quickest(ask)
