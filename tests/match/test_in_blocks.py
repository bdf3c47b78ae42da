"""A run that is read in blocks gives what it gives as a whole, however targets are recognised."""

import random
from dataclasses import replace

import polars as pl
import pytest

import calipers
from calipers.match import by_span
from calipers.model.run import Run

WORDS = ["lock", "thread", "time", "place", "half", "whole", "part", "line", "word", "text"]


def made(order: random.Random) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Quotes, spans and a run over the same documents, in which many chunks come back twice."""
    documents = {f"d{d}": " ".join(order.choices(WORDS, k=60)) for d in range(8)}
    quotes, spans, run = [], [], []
    for q in range(40):
        for _ in range(2):
            name = f"d{order.randrange(8)}"
            start = order.randrange(150)
            end = start + order.randrange(12, 60)
            quotes.append((f"q{q}", name, documents[name][start:end].strip()))
            spans.append((f"q{q}", name, start, end, float(order.choice((1, 2)))))
        for rank in range(order.choice((0, 3, 9))):
            name, start = f"d{order.randrange(8)}", 25 * order.randrange(8)
            if order.random() < 0.5:
                name, start = spans[-1][1], spans[-1][2] // 25 * 25
            text = documents[name][start : start + 80]
            run.append((f"q{q}", rank, f"{name}:{start}", text, name, start, start + 80))
    run.append(("unknown", 1, "d0:0", "text", "d0", 0, 80))
    return (
        pl.DataFrame(quotes, schema=["query", "document", "quote"], orient="row"),
        pl.DataFrame(spans, schema=["query", "document", "start", "end", "grade"], orient="row"),
        pl.DataFrame(
            run, schema=["query", "rank", "item", "text", "document", "start", "end"], orient="row"
        ),
    )


QUOTES, SPANS, RUN = made(random.Random(16))
IDS = SPANS.select("query", pl.format("{}:{}", "document", (pl.col("start") // 25) * 25)).unique()
IDS = IDS.rename({IDS.columns[1]: "item"}).sort("query", "item")


def in_pieces(frame: pl.DataFrame, rows: int = 7) -> Run:
    return replace(
        Run.from_frame(frame),
        scan=lambda: (frame[i : i + rows] for i in range(0, frame.height, rows)),
        in_memory=False,
    )


@pytest.mark.parametrize("is_mixed", [False, True])
@pytest.mark.parametrize(
    ("truth", "how"),
    [
        (QUOTES, {}),
        (QUOTES, {"level": "chunk"}),
        (QUOTES, {"match": "quote(min=0.7)"}),
        (QUOTES, {"level": "document"}),
        (SPANS, {}),
        (SPANS, {"level": "chunk", "match": "span(min=0.3)"}),
        (SPANS, {"level": "document"}),
        (IDS, {"level": "document"}),
    ],
)
def test_every_way_of_matching(truth, how, is_mixed, monkeypatch):
    monkeypatch.setattr(by_span, "ROWS_PER_JOIN", 20)
    metrics = ["recall@1,3", "ndcg@5", "map", "first_rank"]
    if "start" in truth.columns and how.get("level") != "document":
        metrics += ["span_recall@3", "span_precision@3", "iou@2"]
    # Ids of chunks that never came back are no documents anybody knows.
    truth = truth.filter(pl.col("item").is_in(RUN["item"].implode())) if "item" in truth else truth
    whole = calipers.evaluate(ground_truth=truth, run=RUN, metrics=metrics, **how)
    rows = RUN.sample(fraction=1.0, shuffle=True, seed=3) if is_mixed else RUN
    found = calipers.evaluate(ground_truth=truth, run=in_pieces(rows), metrics=metrics, **how)
    assert found.to_dict() == whole.to_dict()
    assert found["recall@3"].mean > 0
