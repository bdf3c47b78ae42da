import random
import re
import sys
from itertools import product, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import MissingExtra
from calipers.match.cover import Assembly, union
from calipers.match.locate import Shelf
from calipers.match.quote import Quote
from calipers.match.similar import ANCHOR, _around
from calipers.version import pip_install

# Two letters and a space, so that beginnings and ends meet by themselves.
words = st.text("ab ", min_size=1, max_size=14).map(lambda text: " ".join(text.split()))
some_words = words.filter(bool)


def positions(quote: str, covered: set[int]) -> set[int]:
    """Numbers of the covered characters when spaces are not counted."""
    counted = [at for at, character in enumerate(quote) if character != " "]
    return {number for number, at in enumerate(counted) if at in covered}


def naive_pieces(quote: str, text: str) -> set[frozenset[int]]:
    """Every stretch of the quote that the text shows at an edge or is, none inside another."""
    n, shown = len(quote), []
    for start in range(n):
        for end in range(start + 1, n + 1):
            stretch = quote[start:end]
            first = end == n and start > 0 and text.startswith(stretch)
            last = start == 0 and end < n and text.endswith(stretch)
            if first or last or (len(text) >= ANCHOR and text == stretch):
                shown.append(frozenset(positions(quote, set(range(start, end)))))
    return {one for one in shown if one and not any(one < other for other in shown)}


@given(some_words, words)
def test_edge_pieces_are_those_of_the_naive_reference(quote, text):
    if quote in text:
        return
    pieces = {frozenset(range(*piece)) for piece in Quote(quote).edge_pieces(text)}
    longest = {one for one in pieces if not any(one < other for other in pieces)}
    assert longest == naive_pieces(quote, text)
    assert Quote(quote).length == len(quote.replace(" ", ""))


SENTENCE = (
    "The global interpreter lock makes sure that only one thread runs Python code at a time, "
    "which is simple for extensions and slow for programs with many busy threads."
)


def noise(seed: int, n: int) -> str:
    chosen = random.Random(seed)
    return "".join(chosen.choice("etaoinshrdlucmfwyp ") for _ in range(n))


def tolerant_pieces(quote: Quote, text: str, needed: int = 1):
    return dict(quote.on_shelf(Shelf([text]), needed)).get(0, ())


@given(st.text("ab cdé", max_size=90), st.text("ab cdé", max_size=200))
def test_tolerant_pieces_are_in_the_text_word_for_word(raw, other):
    quote, text = " ".join(raw.split()), " ".join(other.split())
    if not quote:
        return
    bare = quote.replace(" ", "")
    for start, end in tolerant_pieces(Quote(quote), text):
        assert bare[start:end] in text.replace(" ", "")


def share(quote: str, text: str) -> float:
    one = Quote(quote)
    return sum(end - start for start, end in union(tolerant_pieces(one, text))) / one.length


@given(
    st.text("ab dé", min_size=1, max_size=60),
    st.lists(st.tuples(st.integers(0, 59), st.integers(1, 60), st.text("abdé", max_size=9))),
    st.integers(1, 30),
)
def test_a_shelf_of_many_texts_shows_what_each_shows_alone(raw, cuts, needed):
    """Texts are parts of the quote among other letters, so that pieces of all sizes meet."""
    quote = " ".join(raw.split()) or "a"
    texts = [" ".join((more + quote[at : at + size] + more).split()) for at, size, more in cuts]
    one = Quote(quote)
    alone = {n: tolerant_pieces(one, text, needed) for n, text in enumerate(texts)}
    found = dict(one.on_shelf(Shelf(texts), needed))
    assert found == {n: pieces for n, pieces in alone.items() if pieces}


@pytest.mark.parametrize("quote", [SENTENCE, SENTENCE[:50]])
@pytest.mark.parametrize("seed", range(10))
def test_a_few_wrong_letters_cost_a_few_letters(quote, seed):
    chosen = random.Random(seed)
    letters = list(quote)
    wrong = chosen.sample(range(len(letters)), len(letters) // 40 + 1)
    for at in wrong:
        letters[at] = "#"
    text = f"{noise(seed, 300)} {''.join(letters)} {noise(seed + 1, 300)}"
    # A wrong letter can hide the three letters on one side of it that stand alone.
    assert 1 - len(wrong) * 2 * ANCHOR / len(quote) <= share(quote, text) < 1


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9])
def test_a_quote_cut_by_the_end_of_a_chunk_keeps_its_share(kept):
    text = noise(5, 400) + " " + SENTENCE[: int(len(SENTENCE) * kept)]
    assert share(SENTENCE, text) == pytest.approx(kept, abs=0.05)
    # A text shorter than the quote is compared as a whole.
    assert share(SENTENCE, SENTENCE[40:80]) == pytest.approx(40 / len(SENTENCE), abs=0.03)


def test_a_part_counts_only_where_it_is_enough_or_the_text_is_cut_off():
    one, begin = Quote(SENTENCE), SENTENCE[:40]
    middle = f"{noise(1, 300)} {begin} {noise(2, 300)}"
    assert tolerant_pieces(one, middle, needed=30)
    assert not tolerant_pieces(one, middle, needed=60)
    assert tolerant_pieces(one, f"{noise(1, 300)} {begin}", needed=60)
    assert tolerant_pieces(one, f"Title. {SENTENCE[90:]} {noise(1, 300)}", needed=120)


@pytest.mark.parametrize("seed", range(20))
def test_an_unrelated_text_has_next_to_nothing(seed):
    assert share(SENTENCE, noise(seed, 1000)) < 0.15


def test_without_the_library_the_error_holds_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(MissingExtra, match=re.escape(pip_install("text"))):
        tolerant_pieces(Quote("a lock for threads"), "something else altogether, longer")


TRUE = "the interpreter lock makes sure that only one thread runs Python code at a time"


def test_the_most_similar_place_is_taken_and_not_the_longest_stretch():
    """A near-repeat with a long stretch stands before the sentence with two typos."""
    near = "the interpreter lock makes sure that only two workers see the same list"
    wrong = TRUE.replace("makes", "mkaes").replace("Python", "Pyhton")
    assert share(TRUE, near) < 0.6
    assert share(TRUE, f"{near}. And {wrong}.") == share(TRUE, wrong) > 0.8


@given(st.randoms(use_true_random=False))
def test_a_text_has_at_least_what_its_parts_have(chosen):
    def with_slips(most: int) -> str:
        letters = list(TRUE)
        for at in chosen.sample(range(len(letters)), chosen.randint(1, most)):
            letters[at] = "#"
        return "".join(letters)

    parts = [with_slips(20), noise(chosen.randint(0, 99), 50), with_slips(20)]
    best = max(share(TRUE, part) for part in parts)
    assert share(TRUE, " ".join(parts)) >= best - 1e-9


def naively_complete(quote: str, texts: list[str]) -> bool:
    """Whether some choice of one piece for each text, or none, makes up the quote."""
    choices = [[frozenset[int](), *naive_pieces(quote, text)] for text in texts]
    whole = positions(quote, set(range(len(quote))))
    return any(frozenset().union(*chosen) == whole for chosen in product(*choices))


@given(some_words, st.lists(words, max_size=4))
def test_texts_complete_a_quote_as_in_the_naive_reference(quote, texts):
    one, complete = Quote(quote), False
    assembly = Assembly(one.length)
    for n, text in enumerate(texts, 1):
        if quote in text:
            return
        complete = complete or assembly.add(one.edge_pieces(text))
        assert complete == naively_complete(quote, texts[:n])


@given(st.text("ab ", min_size=6, max_size=40), st.data())
def test_a_quote_is_found_wherever_its_document_is_cut(raw, data):
    """Two letters only: nearly every edge shows something of the quote by chance."""
    document = " ".join(raw.split())
    if len(document) < 6:
        return
    start = data.draw(st.integers(0, len(document) - 4))
    end = data.draw(st.integers(start + 2, len(document)))
    cut = data.draw(st.integers(1, len(document) - 1))
    quote = document[start:end].strip()
    chunks = [document[:cut].strip(), document[cut:].strip()]
    if quote and not any(quote in chunk for chunk in chunks):
        assembly = Assembly(Quote(quote).length)
        assert [assembly.add(Quote(quote).edge_pieces(chunk)) for chunk in chunks][-1]


def test_texts_that_repeat_themselves_take_no_time():
    """Whether such texts fit together is a puzzle; it is given up, not solved for hours."""
    quote = Quote("ab" * 300 + "c")
    assembly = Assembly(quote.length)
    assert not any(assembly.add(quote.edge_pieces("ab" * n)) for n in range(2, 60))


@given(st.text("ab", max_size=80), st.text("ab", max_size=80), st.data())
def test_stretches_agree_as_far_as_letter_by_letter(one_text, other, data):
    at = data.draw(st.integers(0, len(one_text)))
    there = data.draw(st.integers(0, len(other)))

    def naive(pairs):
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    before = naive(zip(reversed(one_text[:at]), reversed(other[:there]), strict=False))
    after = naive(zip(one_text[at:], other[there:], strict=False))
    assert _around(one_text, other, at, there, 0) == (before, after)


@given(st.lists(st.text("ab", min_size=1, max_size=6), max_size=6), st.text("ab", min_size=1))
def test_texts_are_found_by_their_edges(texts, part):
    shelf = Shelf(texts)
    assert [*shelf.beginning_with(part)] == [
        n for n, text in enumerate(texts) if text.startswith(part)
    ]
    assert [*shelf.ending_with(part)] == [n for n, text in enumerate(texts) if text.endswith(part)]
