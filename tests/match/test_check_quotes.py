import pytest

from calipers.errors import InvalidInput
from calipers.questions.evaluate.settings import read

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
