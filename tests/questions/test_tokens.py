import polars as pl

from calipers.match.tokens import count_tokens

TEXTS = pl.DataFrame({"text": ["four", "five and more", "four", ""], "tokens": [7, 8, 9, 0]})


def counted(results):
    return {source: counts.tolist() for source, counts in count_tokens(results)}


def test_tokens_of_the_data_go_before_an_estimate():
    assert next(iter(counted(TEXTS).items())) == ("data", [7, 8, 9, 0])


def test_an_estimate_takes_a_quarter_of_the_characters_rounded_up():
    assert counted(TEXTS.select("text")) == {"estimate": [1, 4, 1, 0]}


def test_a_gap_in_the_tokens_falls_back_to_the_texts_or_to_nothing():
    gap = TEXTS.with_columns(tokens=pl.Series([1, None, 3, 4]))
    assert list(counted(gap)) == ["estimate"]
    assert counted(gap.select("tokens")) == {}
    assert counted(pl.DataFrame({"item": ["a"]})) == {}
