"""Questions that a language model writes, held to the words they were written from."""

from collections.abc import Iterator

import pytest

import calipers
from calipers import labels_questions
from calipers.errors import InvalidInput, RetrieverFailed
from tests.live.chat.model_server import ModelServer, running

FILLER = " This goes on for a while, so that the chunk is long enough to ask something about it."


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with running() as one:
        yield one


def chunk(name, text, **more):
    return {"id": name, "text": f"{text}.{FILLER}", **more}


def written(server, chunks, **settings):
    return labels_questions(chunks, endpoint=server.endpoint, model="m", **settings)


def test_a_question_comes_with_the_quote_that_answers_it(server):
    found = written(server, [chunk("c1", "The lock\n  is held by Anna", document="gil.md")])
    assert found.records == (
        {
            "query": "What about Anna?",
            "tags": {"source": "machine:m"},
            "ground_truth": [{"quote": "The lock is held by Anna", "document": "gil.md"}],
        },
    )
    found_text = {"text": "The lock\n  is held by Anna, and more"}
    run = [{"query": "What about Anna?", "retrieved": [found_text]}]
    scores = calipers.evaluate(ground_truth=list(found.records), run=run, metrics="recall@1")
    assert scores["recall@1"].mean == 1.0


def test_what_does_not_hold_is_rejected_and_counted(server):
    names = ["invents", "short", "nothing", "same", "same again", "prose", "no quote"]
    chunks = [chunk(n, f"[{n}] Here is the same question") for n in names]
    found = written(server, [chunk("good", "The lock is held by Anna"), *chunks])
    assert found.rejected == {
        "the quote does not stand in the chunk": 1,
        "the quote has fewer than 8 characters": 1,
        "nothing to ask": 1,
        "the same question was asked before": 1,
    }
    assert dict(found.report.errors) == {"malformed": 2}
    assert len(found.records) == 2
    assert found.chunks == 8


def test_where_no_question_holds_there_is_a_sentence(server):
    with pytest.raises(RetrieverFailed, match=r"can be used \(1 times: the quote does not stand"):
        written(server, [chunk("a", "[invents] Here it is")])


def test_the_seed_draws_the_chunks_whatever_their_order(server):
    chunks = [chunk(f"c{i}", f"The number is {i}") for i in range(30)]

    def drawn(given, seed):
        return {one["query"] for one in written(server, given, n=5, seed=seed).records}

    assert drawn(chunks, 0) == drawn(chunks[::-1], 0)
    assert drawn(chunks, 0) != drawn(chunks, 1)
    assert len(drawn(chunks, 0)) == 5


def test_short_chunks_are_not_drawn_from(server):
    found = written(server, [{"id": "a", "text": "Short."}, chunk("b", "The lock is held by Anna")])
    assert (found.too_short, found.chunks) == (1, 1)
    with pytest.raises(InvalidInput, match="no chunk of at least 100 characters"):
        written(server, [{"id": "a", "text": "Short."}])


@pytest.mark.parametrize("n", [0, -1])
def test_how_many_must_be_positive(server, n):
    with pytest.raises(InvalidInput, match=f"^n is {n}"):
        written(server, [chunk("a", "x")], n=n)


@pytest.mark.parametrize("n", [True, 1.5])
def test_how_many_must_be_a_number(server, n):
    with pytest.raises(InvalidInput, match=f"^The argument n of .* is {n}; it must be"):
        written(server, [chunk("a", "x")], n=n)
