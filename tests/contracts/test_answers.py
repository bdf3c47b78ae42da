"""The same answers mean the same, however they are handed over: live, by query, as records."""

# mypy: disable-error-code="arg-type"

from types import SimpleNamespace
from typing import Any

import pytest

import calipers
from calipers.errors import InvalidInput

ITEMS = {"who is it": ["b", "a", "c"], "what is it": ["c", "d"], "where is it": []}
TRUTH = {"who is it": ["a"], "what is it": ["c", "x"], "where is it": ["a"]}


def document(item: str) -> Any:
    return SimpleNamespace(id=item, page_content=f"text {item}", metadata={"source": "s"})


SHAPES = {
    "ids": lambda items: list(items),
    "tuple": lambda items: tuple(items),
    "pairs": lambda items: [(item, 1 / (i + 1)) for i, item in enumerate(items)],
    "lists of two": lambda items: [[item, 1 / (i + 1)] for i, item in enumerate(items)],
    "scores first": lambda items: [(1 / (i + 1), item) for i, item in enumerate(items)],
    "dictionaries": lambda items: [{"id": item, "score": 0.5} for item in items],
    "other names": lambda items: [{"doc_id": item, "similarity": 0.5} for item in items],
    "with metadata": lambda items: [{"id": item, "metadata": {"source": "s"}} for item in items],
    "documents": lambda items: [document(item) for item in items],
    "documents with scores": lambda items: [(document(item), 0.5) for item in items],
    "columns": lambda items: {"ids": [list(items)], "distances": [[0.5] * len(items)]},
    "under a key": lambda items: {"documents": [document(item) for item in items]},
    "iterator": lambda items: iter(items),
}
METRICS = "recall@2,mrr,ndcg@3"


def ranking(pair: Any) -> list[tuple[Any, ...]]:
    frame = pair.run.frame
    known = [name for name in ("query", "rank", "item", "document") if name in frame.columns]
    return sorted(frame.select(known).rows())


@pytest.mark.parametrize("shape", SHAPES)
def test_a_function_a_mapping_and_records_are_read_alike(shape):
    answer = SHAPES[shape]
    pairs = {
        "function": calipers.read(
            ground_truth=TRUTH, retriever=lambda query, k: answer(ITEMS[query]), ask_for=5
        ),
        "mapping": calipers.read(ground_truth=TRUTH, run={q: answer(i) for q, i in ITEMS.items()}),
        "records": calipers.read(
            ground_truth=TRUTH,
            run=[{"query": q, "retrieved": answer(i)} for q, i in ITEMS.items()],
        ),
        "whole records": calipers.read(
            [
                {"query": q, "retrieved": answer(i), "ground_truth": TRUTH[q]}
                for q, i in ITEMS.items()
            ]
        ),
    }
    expected = calipers.evaluate(ground_truth=TRUTH, run=ITEMS, metrics=METRICS)
    for name, pair in pairs.items():
        assert ranking(pair) == ranking(pairs["function"]), name
        found = calipers.evaluate(pair, metrics=METRICS)
        assert found.values.tolist() == expected.values.tolist(), name


def test_an_answer_that_cannot_be_read_is_named():
    with pytest.raises(InvalidInput, match=r"is a list of 4.* at run\['q'\]\.retrieved\[0\]"):
        calipers.evaluate(ground_truth={"q": ["a"]}, run={"q": [(1, 2, 3, 4)]})


class NoArrow:
    """A table as pandas 3 hands it over where pyarrow is not installed."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise ImportError("Missing optional dependency 'pyarrow'.")


def test_a_table_whose_library_lacks_something_gets_a_sentence():
    with pytest.raises(InvalidInput, match="cannot hand it over: Missing optional dependency"):
        calipers.evaluate(ground_truth={"q": ["a"]}, run=NoArrow())
    with pytest.raises(InvalidInput, match="cannot hand it over"):
        calipers.misses(ground_truth={"q": ["a"]}, run={"q": ["b", "a"]}, corpus=NoArrow())


@pytest.mark.parametrize(
    ("operation", "settings"),
    [
        ("evaluate", {"metrics": "recall@2"}),
        ("sweep", {}),
        ("diagnose", {}),
        ("misses", {}),
        ("gate", {"require": "mrr >= 0.1"}),
        ("levels", {}),
        ("report", {}),
    ],
)
def test_every_operation_asks_a_retriever(operation, settings):
    asked = []

    def search(query: str, k: int) -> list[str]:
        asked.append((query, k))
        return ITEMS[query]

    assert getattr(calipers, operation)(TRUTH, retriever=search, **settings) is not None
    assert sorted({query for query, _ in asked}) == sorted(TRUTH)
    assert len(asked) == len(TRUTH), "each question once"


def test_a_retriever_is_asked_as_deep_as_the_metrics_look():
    depths = set()

    def search(query: str, k: int) -> list[str]:
        depths.add(k)
        return ["a", *(f"{i}" for i in range(k - 1))]

    calipers.evaluate(TRUTH, retriever=search, metrics="recall@50")
    assert depths == {50}
    pair = calipers.read(TRUTH, retriever=search, ask_for=20)
    with pytest.raises(InvalidInput, match=r"recall@50 looks at 50 results.*asked for 20.*ask_for"):
        calipers.evaluate(pair, metrics="recall@50")


def test_a_retriever_needs_one_place_to_ask_from():
    with pytest.raises(InvalidInput, match="one file is needed"):
        calipers.evaluate(retriever=len)
    with pytest.raises(InvalidInput, match="ask_for= is given without retriever="):
        calipers.evaluate(ground_truth=TRUTH, run=ITEMS, ask_for=3)
