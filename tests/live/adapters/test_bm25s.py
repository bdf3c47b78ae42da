"""An index of bm25s, asked as the retriever that it is."""

import pytest

from calipers import evaluate, retrieve
from calipers.errors import InvalidInput

bm25s = pytest.importorskip("bm25s", reason="needs bm25s")

TEXTS = ["Lists grow by an eighth.", "The interpreter holds one lock.", "Sets are hash tables."]
IDS = ["lists#1", "gil#2", "sets#3"]
TRUTH = {"How do lists grow?": ["lists#1"], "Which lock does the interpreter hold?": ["gil#2"]}


def index(corpus=None, tokens=None):
    made = bm25s.BM25(corpus=corpus)
    made.index(tokens or bm25s.tokenize(TEXTS, show_progress=False), show_progress=False)
    return made


def first_items(run):
    return run.frame.filter(rank=1)["item"].to_list()


def test_an_index_with_its_corpus_of_records():
    records = [{"id": one, "text": text} for one, text in zip(IDS, TEXTS, strict=True)]
    run = retrieve(index(records), list(TRUTH), k=2)
    assert first_items(run) == ["lists#1", "gil#2"]
    assert run.frame.filter(rank=1)["text"].to_list() == TEXTS[:2]
    assert (run.frame["score"] >= 0).all()
    scores = evaluate(TRUTH, retriever=index(records), metrics="mrr")
    assert scores["mrr"].mean == 1.0


def test_an_index_of_texts_takes_ids():
    run = retrieve(index(TEXTS), list(TRUTH), k=10, ids=IDS)
    assert first_items(run) == ["lists#1", "gil#2"]
    assert run.frame.height == 6
    assert first_items(retrieve(index(TEXTS), list(TRUTH), k=1)) == ["0", "1"]
    assert first_items(retrieve(index(), list(TRUTH), k=1, ids=IDS, texts=TEXTS)) == IDS[:2]


def stems(text):
    return [word.lower().strip(".?")[:4] for word in text.split()]


def test_an_index_made_otherwise_needs_its_tokenizer():
    other = index(TEXTS, [stems(text) for text in TEXTS])
    with pytest.raises(InvalidInput, match="made tokens in another way, such as by stems"):
        retrieve(other, list(TRUTH))
    run = retrieve(other, list(TRUTH), k=1, ids=IDS, tokenize=stems)
    assert first_items(run) == ["lists#1", "gil#2"]
    with pytest.raises(InvalidInput, match="does not say how its texts were made tokens"):
        retrieve(index(), list(TRUTH), ids=IDS)


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(InvalidInput, match=r"is empty; call its index\(…\)"):
        retrieve(bm25s.BM25(), list(TRUTH))
    with pytest.raises(InvalidInput, match="holds 3 entries and ids has 2"):
        retrieve(index(TEXTS), list(TRUTH), ids=IDS[:2])
    with pytest.raises(InvalidInput, match="embed"):
        retrieve(index(TEXTS), list(TRUTH), embed=len)
