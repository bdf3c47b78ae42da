"""Matching by quote against the double loop that people write by hand, as ratios.

The loop by hand finds no quote that was split over chunks; ours does more work in that row.

The last row is ``calipers eval`` on as many in JSON lines, from cold start.
"""

import json
import random
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl

from bench.measure import Row, calipers, compared, measure, quickest
from calipers.match.by_quote import QuoteRule, match_by_quote
from calipers.model.ground_truth import GroundTruth
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.text import normalise

CHUNKS, QUOTES = 50, 3
CHUNK_LENGTH, QUOTE_LENGTH = 800, 120
TOLERANT = 0.8


def rows(quick: bool = False) -> list[Row]:
    """One row per way of matching: seconds of both, and how many times faster ours is."""
    queries = 100 if quick else 1_000
    truth, run = _made(queries)
    pairs = _pairs(truth, run)
    size = f"{queries:,} queries × {CHUNKS} chunks × {QUOTES} quotes"
    found = []
    for name, rule, naive in (
        ("exact, one chunk", QuoteRule(together=False), _contains),
        ("exact, split quotes too", QuoteRule(), _contains),
        (f"tolerant, min={TOLERANT}", QuoteRule(TOLERANT), _is_similar),
    ):
        ours = quickest(partial(match_by_quote, truth, run, Policy(), rule))
        theirs = quickest(partial(_double_loop, pairs, naive))
        found.append(compared(f"quotes: {name}", size, ours, "double loop by hand", theirs))
    return [*found, _in_a_file(truth, run)]


def _made(queries: int, seed: int = 1) -> tuple[GroundTruth, Run]:
    """Texts of made-up words; half of the quotes are in a chunk, a part of them with a typo."""
    chosen = random.Random(seed)
    words = ["".join(chosen.choices("etaoinshrdlu", k=chosen.randint(2, 9))) for _ in range(4000)]

    def text(length: int) -> str:
        return " ".join(chosen.choices(words, k=length // 6))[:length]

    corpus = [text(CHUNK_LENGTH) for _ in range(max(200, queries * 2))]
    results: list[tuple[str, int, str]] = []
    targets: list[tuple[str, str]] = []
    for number in range(queries):
        name = f"q{number}"
        shown = chosen.sample(corpus, CHUNKS)
        results += [(name, rank, chunk) for rank, chunk in enumerate(shown, 1)]
        for _ in range(QUOTES):
            source = chosen.choice(shown if chosen.random() < 0.5 else corpus)
            at = chosen.randrange(CHUNK_LENGTH - QUOTE_LENGTH)
            quote = source[at : at + QUOTE_LENGTH]
            if chosen.random() < 0.2:
                quote = f"{quote[:50]}#{quote[51:]}"
            targets.append((name, quote))
    return (
        GroundTruth.from_targets(pl.DataFrame(targets, schema=["query", "quote"], orient="row")),
        Run.from_frame(pl.DataFrame(results, schema=["query", "rank", "text"], orient="row")),
    )


def _pairs(truth: GroundTruth, run: Run) -> list[tuple[list[str], list[str]]]:
    texts = dict(run.frame.group_by("query").agg("text").iter_rows())
    quotes = truth.targets.group_by("query", maintain_order=True).agg("quote").iter_rows()
    return [(texts[query], wanted) for query, wanted in quotes]


def _double_loop(
    pairs: list[tuple[list[str], list[str]]], holds: Callable[[str, str], bool]
) -> int:
    return sum(holds(quote, text) for texts, quotes in pairs for quote in quotes for text in texts)


def _contains(quote: str, text: str) -> bool:
    return normalise(quote) in normalise(text)


def _is_similar(quote: str, text: str) -> bool:
    from rapidfuzz import fuzz

    return fuzz.partial_ratio(normalise(quote), normalise(text)) >= 100 * TOLERANT


def _in_a_file(truth: GroundTruth, run: Run) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "evals.jsonl"
        quotes = dict(truth.targets.group_by("query").agg("quote").iter_rows())
        with path.open("w") as file:
            for query, texts in run.frame.group_by("query").agg("text").iter_rows():
                record = {
                    "query": query,
                    "retrieved": [{"text": text} for text in texts],
                    "ground_truth": [{"quote": quote} for quote in quotes[query]],
                }
                file.write(json.dumps(record) + "\n")
        size = f"{path.stat().st_size / 1e6:.0f} MB"
        rule = f"quote(min={TOLERANT})"
        done = measure(calipers("eval", str(path), "--match", rule, "-m", "recall@10"), times=1)
    return compared("quotes: tolerant, a file", size, done)
