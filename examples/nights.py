"""Twelve nights of a retriever that gets worse, kept as a history: what docs/history.md shows.

Run it in an empty folder; then ask `calipers history`, `calipers history trend nightly` and
`calipers history alarm nightly`. Questions and results are made up, with a fixed seed.
"""

import random
from datetime import UTC, datetime, timedelta

import calipers

QUERIES = 180
NIGHTS = 12
CHANGED_FROM = 4
"""The night from which twelve questions have one more chunk to find."""
WORSE_FROM = 9
"""The night from which one target in six is lost."""


def truth(night: int) -> dict[str, list[str]]:
    """What should be found: one chunk, and a second one where people looked again."""
    found = {f"q{n}": [f"chunk{n}"] for n in range(QUERIES)}
    if night >= CHANGED_FROM:
        for n in range(12):
            found[f"q{n}"].append(f"more{n}")
    return found


def results(night: int, luck: random.Random) -> dict[str, list[str]]:
    """Ten chunks for each question; most have the right one, at some rank."""
    found = {}
    for n in range(QUERIES):
        ranked = [f"other{n}-{rank}" for rank in range(10)]
        lost = night >= WORSE_FROM and n % 6 == 0
        # Four questions in five are easy, the others depend on the index of the night.
        if not lost and (n % 5 or luck.random() < 0.3):
            ranked[n * 7 % 10] = f"chunk{n}"
        found[f"q{n}"] = ranked
    return found


def main() -> None:
    """Measure and save every night."""
    luck = random.Random(5)
    for night in range(NIGHTS):
        wanted, run = truth(night), results(night, luck)
        scores = calipers.evaluate(
            ground_truth=wanted, run=run, metrics="recall@10,precision@5,mrr"
        )
        when = datetime(2026, 3, 1, 6, night, tzinfo=UTC) + timedelta(days=night)
        calipers.save(scores, "nightly", ground_truth=wanted, run=run, now=when)


if __name__ == "__main__":
    main()
