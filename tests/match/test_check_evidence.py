import pytest

from calipers.errors import InvalidInput
from calipers.questions.evaluate.settings import read

GOOD = {"document": "d", "start": 2, "end": 5}


def check(chunk, target):
    rows = [{"query": "why", "retrieved": [GOOD, chunk], "ground_truth": [GOOD, target]}]
    return read(rows, match="span")


@pytest.mark.parametrize(
    "bad",
    [
        {"document": "d", "start": -1, "end": 4},
        {"document": "d", "start": 1},
    ],
)
def test_a_span_that_is_no_place_is_an_error_that_names_it(bad):
    shown = rf"document 'd', start {bad['start']}, end {bad.get('end')}"
    with pytest.raises(InvalidInput, match=rf"target's span.*query 'why', {shown}"):
        check(GOOD | {"start": 3}, bad)
    # An answer is looked over as it is read, before anything is matched.
    read_so = "result 1 of the answer stands from -1 to 4"
    matched_so = rf"result's span.*query 'why', rank 2, {shown}"
    with pytest.raises(InvalidInput, match=matched_so if "end" not in bad else read_so):
        check(bad, GOOD | {"start": 3})


def test_an_empty_chunk_is_possible_and_an_empty_target_is_not():
    empty = {"document": "d", "start": 4, "end": 4}
    assert check(empty, GOOD | {"start": 3}).matches.edge_rank.tolist() == [1, 1]
    with pytest.raises(InvalidInput, match="at least one character"):
        check(GOOD | {"start": 3}, empty)


TEXT = "some text with a long enough quote"


def rows(*quotes):
    truth = [{"quote": quote} for quote in quotes]
    return [
        {
            "query": "why",
            "retrieved": [{"text": "some text with a long enough quote"}],
            "ground_truth": truth,
        }
    ]


@pytest.mark.parametrize("quote", ["", "  \n", "\u200b"])
def test_an_empty_quote_is_an_error_that_names_the_query(quote):
    with pytest.raises(InvalidInput, match="A quote is empty: query 'why'"):
        read(rows("a long enough quote", quote))


def test_short_quotes_are_noted_with_examples():
    [note] = read(rows("a", "bc", "def", "ghij", "a long enough quote")).settings["notes"]
    assert note.startswith("4 quotes have fewer than 8 characters ('a', 'bc', 'def', …)")


def test_quotes_of_a_usual_length_are_not_noted():
    assert read(rows("a long enough quote")).settings["notes"] == []
