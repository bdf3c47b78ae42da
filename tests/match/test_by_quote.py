import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import f1_at_k, hit_rate_at_k, precision_at_k, read, recall_at_k
from calipers.engines.scoring import score
from calipers.errors import InvalidInput
from calipers.measures import parse


def records(texts, quotes, **more):
    retrieved = [{"text": text} if isinstance(text, str) else text for text in texts]
    truth = [{"quote": quote} if isinstance(quote, str) else quote for quote in quotes]
    return [{"query": "q", "retrieved": retrieved, "ground_truth": truth, **more}]


def edges(texts, quotes, **how):
    """Rank, target and share of every edge."""
    found = read(records(texts, quotes), **{"nothing_in_common": "zero", **how}).matches
    columns = (found.edge_rank, found.edge_target, found.edge_overlap)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def scored(names, texts, quotes, **how):
    how = {"nothing_in_common": "zero", **how}
    return score(read(records(texts, quotes), **how), parse(names))


def mean(name, texts, quotes, **how):
    return scored(name, texts, quotes, **how)[name].mean


few = st.text("ab \n", min_size=1, max_size=6).filter(str.strip)


def by_plain_definition(texts, quotes, k):
    """Copies earn nothing, white space is one space: the definitions, word for word."""
    shown = []
    for text in (" ".join(text.split()) for text in texts[:k]):
        shown.append(text if text not in shown else "")
    wanted = {" ".join(quote.split()) for quote in quotes}
    useful = sum(any(quote in text for quote in wanted) for text in shown)
    found = sum(any(quote in text for text in shown) for quote in wanted)
    return useful / k, found / len(wanted)


@given(st.lists(few, min_size=1, max_size=5), st.lists(few, min_size=1, max_size=3))
def test_whole_quotes_equal_the_classic_text_functions(texts, raw_quotes):
    quotes = list({" ".join(quote.split()): quote for quote in raw_quotes}.values())
    names = "precision@1,3,hit_rate@1,3,recall@1,3,f1@1,3"
    alone = scored(names, texts, quotes, level="chunk")
    together = scored(names, texts, quotes, level="evidence")
    objects = [{"text": text} for text in texts]
    for k in (1, 3):
        assert alone[f"precision@{k}"].mean == pytest.approx(precision_at_k(objects, quotes, k))
        assert alone[f"recall@{k}"].mean == pytest.approx(recall_at_k(objects, quotes, k))
        assert alone[f"hit_rate@{k}"].mean == pytest.approx(hit_rate_at_k(objects, quotes, k))
        assert alone[f"f1@{k}"].mean == pytest.approx(f1_at_k(objects, quotes, k))
        precision, recall = by_plain_definition(texts, quotes, k)
        assert alone[f"precision@{k}"].mean == pytest.approx(precision)
        assert alone[f"recall@{k}"].mean == pytest.approx(recall)
        # Several chunks together can only find more.
        assert together[f"recall@{k}"].mean >= alone[f"recall@{k}"].mean


HELD = "the lock is held"
LONG = "the lock is held by one thread"
HALVES = ["It began: the lock is", "something else", "held by one thread. And then"]
AGAIN = ["so the lock", "is held. Next", "no", "yes, the lock is held"]
APART = [{"text": "so the lock", "document": "a"}, {"text": "is held. Next", "document": "b"}]
TWO = ["first fact. second fact.", "again the second fact."]
ANY_ORDER = ["thread. And then", "It began: the lo", "ck is held by one"]
# The first chunk ends with the first letter of the quote, and begins with its last.
LETTER = ["s of the interpreter: a l", "ock for threads."]
EDGES: dict[str, tuple[list[Any], list[str], dict[str, str], list[tuple[int, int]]]] = {
    "over a line end": (["said Anna\r\n  Pávlovna"], ["Anna Pa\u0301vlovna"], {}, [(1, 0)]),
    "where two chunks complete it": (HALVES, [LONG], {}, [(3, 0)]),
    "no chunk alone": (HALVES, [LONG], {"level": "chunk"}, []),
    "three chunks in any order": (ANY_ORDER, [LONG], {}, [(3, 0)]),
    "one letter at the other edge": (LETTER, ["lock for threads"], {}, [(2, 0)]),
    "both edges of one chunk": (["ock for threads. It is a l"], ["lock for threads"], {}, []),
    "whole after it was completed": (AGAIN, [HELD], {}, [(2, 0), (4, 0)]),
    "pieces of two documents": (APART, [HELD], {}, []),
    "of one document": ([one | {"document": "a"} for one in APART], [HELD], {}, [(2, 0)]),
    "a text again": ([HELD, "the  lock\nis held", f"{HELD}!"], [HELD], {}, [(1, 0), (3, 0)]),
    "two in one": (TWO, ["first fact", "second fact"], {}, [(1, 0), (1, 1), (2, 1)]),
    "another case": (["THE LOCK"], ["the lock"], {}, []),
    "case ignored": (["THE LOCK"], ["the lock"], {"match": "quote(case=ignore)"}, [(1, 0)]),
}


@pytest.mark.parametrize("name", EDGES)
def test_a_quote_is_held(name):
    texts, quotes, how, expected = EDGES[name]
    assert edges(texts, quotes, **how) == [(*one, 1.0) for one in expected]


def test_a_typo_is_tolerated_from_the_given_share_on():
    text = "as we know, the global interpreter lokc is held by one thread at a time"
    quote = "the global interpreter lock is held by one thread"
    assert edges([text], [quote]) == []
    [(rank, _, share)] = edges([text], [quote], match="quote(min=0.8)")
    assert rank == 1
    assert 0.8 <= share < 1


@given(st.lists(few, min_size=1, max_size=4), st.lists(few, min_size=1, max_size=2, unique=True))
def test_a_lower_threshold_never_finds_less(texts, quotes):
    quotes = list({" ".join(quote.split()): quote for quote in quotes}.values())
    recalls = [mean("recall@9", texts, quotes, match=f"quote(min={m})") for m in (0.9, 0.5, 0.1)]
    assert recalls == sorted(recalls)


def test_many_tolerant_quotes_are_found_where_they_stand_and_nowhere_else():
    """No document is known and every word stands in many chunks: nothing is found by chance."""
    chosen, n = random.Random(0), 300
    vocabulary = ["".join(chosen.choices("etaoinshrdlu", k=2 + i % 8)) for i in range(400)]
    words = [chosen.choices(vocabulary, k=30) for _ in range(n)]
    quotes, expected = [], []
    for i, chunk in enumerate(words):
        if i % 3 == 0:  # in one chunk, with a slip
            quotes.append(" ".join(chunk[8:18]).replace("e", "#", 1))
            expected.append((i + 1, i))
        elif i % 3 == 1:  # over the end of one and the beginning of the next
            quotes.append(" ".join((*chunk[-5:], *words[(i + 1) % n][:5])))
            expected.append((i + 2, i))
        else:
            quotes.append(" ".join(chosen.choices(vocabulary, k=10)))
    found = edges([" ".join(chunk) for chunk in words], quotes, match="quote(min=0.8)")
    halves = set(range(1, n, 3))
    assert [i for i in range(n) if i % 3 < 2] == sorted({target for _, target, _ in found})
    # Of a split one a single chunk may have enough already.
    assert all((rank, i) in expected or (i in halves and rank == i + 1) for rank, i, _ in found)


def chunked(text: str, n: int) -> list[dict[str, str]]:
    return [{"text": text[at : at + n], "document": "d"} for at in range(0, len(text), n)]


@pytest.mark.parametrize("n", [200, 400, 1000])
@pytest.mark.parametrize("seed", range(2))
def test_recall_does_not_depend_on_the_chunk_size(n, seed):
    chosen = random.Random(seed)
    vocabulary = ["été", "naïve", "lock", "thread", "🙂", "日本語", "of", "the", "a", "x\r\ny"]
    text = " ".join(f"{chosen.choice(vocabulary)}{i}" for i in range(900))
    quotes = []
    for _ in range(6):
        at = chosen.randrange(len(text) - 300)
        quotes.append(text[at : at + chosen.randint(40, 300)])
    spans = [(text.index(quote), text.index(quote) + len(quote)) for quote in quotes]
    # The retriever returns exactly the chunks that touch the evidence.
    kept = [
        {**chunk, "id": str(i)}
        for i, chunk in enumerate(chunked(text, n))
        if any(a < (i + 1) * n and b > i * n for a, b in spans)
    ]
    assert mean("recall@100", kept, quotes) == 1
    assert mean("full_recall@100", kept, quotes) == 1


def test_a_result_without_a_text_is_named():
    with pytest.raises(InvalidInput, match=r"no text.*query 'q', rank 2"):
        read(records([{"id": "a", "text": "x"}, {"id": "b"}], ["some quote"]))


def test_a_failed_query_holds_nothing():
    rows = records(["the lock is held"], ["the lock is held"], error="timeout")
    assert read(rows).matches.edge_rank.size == 0
