import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers import read
from calipers.errors import InvalidInput, NoCommonIds
from calipers.model.matching import MatchRule, parse_matching

SPAN = {"document": "d", "start": 0, "end": 20}
TEXT = "the lock is held by one"


def settings(result, target, **how):
    rows = [{"query": "q", "retrieved": [result], "ground_truth": [target]}]
    return read(rows, **how).settings


@given(st.sampled_from(["id", "quote", "span"]), st.integers(1, 100), st.booleans())
def test_a_printed_matching_is_read_back(kind, hundredths, ignore_case):
    least = 1.0 if kind == "id" else hundredths / 100
    matching = MatchRule(kind, least, ignore_case and kind == "quote")
    assert parse_matching(str(matching)) == matching


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("qoute", "Did you mean quote"),
        ("quote(min=0)", "above 0 and at most 1"),
        ("quote(min=80%)", "above 0 and at most 1"),
        ("quote(min=1.2)", "above 0 and at most 1"),
        ("quote(least=1)", "these parameters.*min, case"),
        ("quote(min=1,min=1)", "each once"),
        ("quote(case=x)", "keep or ignore"),
        ("id(min=0.5)", "none"),
        ("span(case=ignore)", "min"),
        ("quote(", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_explained(text, words):
    with pytest.raises(InvalidInput, match=words):
        parse_matching(text)


@pytest.mark.parametrize(
    ("result", "target", "chosen"),
    [
        ({"id": "a"}, "a", "id"),
        ({"id": "a", "text": TEXT}, "a", "id"),
        ({"text": TEXT}, {"quote": "lock is held"}, "quote"),
        ({"id": "a", "text": TEXT}, {"quote": "lock is held"}, "quote"),
        (SPAN, SPAN, "span(min=0.9)"),
        ({"id": "a", **SPAN}, SPAN, "span(min=0.9)"),
    ],
)
def test_where_one_way_is_possible_it_is_taken_without_a_word(result, target, chosen):
    found = settings(result, target)
    assert (found["match"], found["notes"]) == (chosen, [])


@pytest.mark.parametrize(
    ("result", "target", "said"),
    [
        ({"text": TEXT}, "lock is held", "the results carry texts and no ids"),
        ({"id": "a", "text": TEXT}, "lock is held", "--match id takes them as ids"),
        ({"id": "a", "text": TEXT}, {"id": "a", "quote": "lock is held"}, "--match id"),
    ],
)
def test_texts_go_before_ids_where_both_are_possible_and_that_is_said(result, target, said):
    found = settings(result, target)
    assert found["match"] == "quote"
    assert said in found["notes"][0]


def test_plain_strings_on_both_sides_are_texts_when_quotes_are_asked_for():
    assert settings(TEXT, "lock is held", match="quote")["match"] == "quote"
    with pytest.raises(InvalidInput, match="no column 'text'"):
        settings("chunk-1", "lock is held", match="quote")


@pytest.mark.parametrize(
    ("result", "target", "how", "words"),
    [
        ({"id": "a"}, {"quote": "lock is held"}, None, "no column 'text'"),
        ({"text": TEXT}, SPAN, None, "no column 'document' and no column 'start'"),
        ({"text": TEXT}, "a", "id", "no column 'item'"),
        ({"id": "a"}, "a", "span", "1 of 1 targets cannot be matched by span.*query 'q'"),
        ({"text": TEXT}, {"quote": "lock"}, "id", "1 of 1 targets cannot be matched by id"),
        ({"text": TEXT}, {"quote": "lock"}, "span", "`calipers convert --resolve` finds the spans"),
    ],
)
def test_a_missing_column_is_an_error_before_any_work(result, target, how, words):
    with pytest.raises(InvalidInput, match=words):
        settings(result, target, match=how)


def test_targets_of_different_kinds_cannot_be_matched_in_one_way():
    both = [{"id": "a"}, {"quote": "lock is held"}]
    with pytest.raises(InvalidInput, match="1 with an id, 1 with a quote, 0 with a span"):
        read([{"query": "q", "retrieved": [{"id": "a", "text": TEXT}], "ground_truth": both}])


def test_the_size_of_the_corpus_is_of_no_use_with_quotes():
    with pytest.raises(InvalidInput, match="size of the corpus is given"):
        settings({"text": TEXT}, {"quote": "lock is held"}, corpus_size=10)


GOOD = {"document": "d", "start": 2, "end": 5}


def check(chunk, target):
    rows = [{"query": "why", "retrieved": [GOOD, chunk], "ground_truth": [GOOD, target]}]
    return read(rows, match="span")


@pytest.mark.parametrize(
    "bad", [{"document": "d", "start": -1, "end": 4}, {"document": "d", "start": 1}]
)
def test_a_span_that_is_no_place_is_an_error_that_names_it(bad):
    shown = rf"document 'd', start {bad['start']}, end {bad.get('end')}"
    with pytest.raises(InvalidInput, match=rf"target's span.*query 'why', {shown}"):
        check(GOOD | {"start": 3}, bad)
    with pytest.raises(InvalidInput, match=rf"result's span.*query 'why', rank 2, {shown}"):
        check(bad, GOOD | {"start": 3})


def test_an_empty_chunk_is_possible_and_an_empty_target_is_not():
    empty = {"document": "d", "start": 4, "end": 4}
    assert check(empty, GOOD | {"start": 3}).matches.edge_rank.tolist() == [1, 1]
    with pytest.raises(InvalidInput, match="at least one character"):
        check(GOOD | {"start": 3}, empty)


def rows(*quotes):
    retrieved = [{"text": "some text with a long enough quote"}]
    truth = [{"quote": quote} for quote in quotes]
    return [{"query": "why", "retrieved": retrieved, "ground_truth": truth}]


@pytest.mark.parametrize("quote", ["", "  \n", "\u200b"])
def test_an_empty_quote_is_an_error_that_names_the_query(quote):
    with pytest.raises(InvalidInput, match="A quote is empty: query 'why'"):
        read(rows("a long enough quote", quote))


def test_short_quotes_are_noted_with_examples():
    [note] = read(rows("a", "bc", "def", "ghij", "a long enough quote")).settings["notes"]
    assert note.startswith("4 quotes have fewer than 8 characters ('a', 'bc', 'def', …)")


PROSE = [{"text": "I found 12 documents. The 7 best of them are about wars, 東京都 and 1805."}]


SENTENCE = "東京都庁舎はどこにありますか。新宿です"


@pytest.mark.parametrize("target", ["7", "12", "doc-17", "東京都", SENTENCE])
def test_what_looks_like_an_id_is_not_looked_for_in_texts(target):
    record = {"query": "Who?", "retrieved": PROSE, "ground_truth": [target]}
    with pytest.raises(NoCommonIds, match="The results carry no id, only text"):
        calipers.evaluate([record], metrics="recall@1")
    beside = [{"id": "c1", **PROSE[0]}]
    with pytest.raises(NoCommonIds):
        calipers.evaluate([{**record, "retrieved": beside}], metrics="recall@1")


@pytest.mark.parametrize("target", ["7", "12", "東京都"])
def test_a_short_target_is_looked_for_where_that_is_said(target):
    record = {"query": "Who?", "retrieved": PROSE, "ground_truth": [target]}
    assert calipers.evaluate([record], metrics="recall@1", match="quote")["recall@1"].mean == 1
    record = {**record, "ground_truth": [{"quote": target}]}
    assert calipers.evaluate([record], metrics="recall@1")["recall@1"].mean == 1


@pytest.mark.parametrize("target", ["the 7 best", "Wars", "documentsandwars"])
def test_a_plain_target_is_a_text_if_it_has_a_blank_or_is_long(target):
    text = "documentsandwars: the 7 best. Wars"
    record = {"query": "Who?", "retrieved": [{"text": text}], "ground_truth": [target]}
    if target == "Wars":
        with pytest.raises(NoCommonIds):
            calipers.evaluate([record], metrics="recall@1")
        return
    assert calipers.evaluate([record], metrics="recall@1")["recall@1"].mean == 1
