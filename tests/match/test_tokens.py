"""Tokens: those of the data, else an estimate of four characters each, rounded up."""

import polars as pl

from calipers.io.load import load_run
from calipers.match.tokens import count_tokens, token_table


def counted(**columns):
    return {source: counts.tolist() for source, counts in count_tokens(pl.DataFrame(columns))}


def test_four_characters_are_a_token_and_a_part_of_one_is_one():
    texts = ["", "a", "four", "fives", "é" * 8]
    assert counted(text=texts) == {"estimate": [0, 1, 1, 2, 2]}


def test_a_source_that_does_not_know_every_result_counts_nothing():
    assert counted(tokens=[3, None], text=["four", "five5"]) == {"estimate": [1, 2]}
    assert counted(tokens=[3, 7], text=["four", None]) == {"data": [3, 7]}
    assert counted(item=["a"]) == {}


def test_the_table_is_of_the_source_that_knows_most():
    queries = pl.Series(["q"])
    plain = load_run([{"query": "q", "retrieved": ["a", "b"]}])
    assert token_table(queries, plain, None) is None
    results = [{"id": "a", "text": "four", "tokens": 9}, {"id": "b", "text": "fives"}]
    table = token_table(queries, load_run([{"query": "q", "retrieved": results}]), None)
    assert table is not None
    assert (table.source, table.before.tolist()) == ("estimate", [0, 1, 3])
    given = [{"id": "a", "tokens": 9}, {"id": "b", "tokens": 4}]
    table = token_table(queries, load_run([{"query": "q", "retrieved": given}]), None)
    assert table is not None
    assert (table.source, table.before.tolist()) == ("data", [0, 9, 13])


def test_texts_alone_are_counted_and_of_two_sources_that_know_as_much_the_data_is():
    queries = pl.Series(["q"])
    texts = load_run([{"query": "q", "retrieved": [{"id": "a", "text": "fives"}]}])
    assert token_table(queries, texts, None).before.tolist() == [0, 2]
    both = load_run([{"query": "q", "retrieved": [{"id": "a", "text": "fives", "tokens": 9}]}])
    assert token_table(queries, both, None).source == "data"
