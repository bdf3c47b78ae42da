"""Tests."""

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import evaluate, resolve
from calipers.errors import InvalidInput
from calipers.io.corpus import open_corpus
from calipers.questions.convert.resolve import MOST_PLACES, Located, QuotePlace, resolve_quotes
from calipers.text import normalise

DOCS = {
    "gil.md": "The GIL  is\r\na lock. It lets one thread run.",
    "copy.md": "It lets one thread run.",
}


def record(*targets, **more):
    return {"query": "What is the GIL?", **more, "ground_truth": list(targets)}


def test_everything_else_that_is_read_is_kept():
    given = record(
        {"quote": "is a lock", "grade": 2, "group": "g"},
        {"id": "x"},
        {"document": "gil.md", "start": 0, "end": 3},
        id="q1",
        tags={"type": "fact"},
        retrieved=[{"id": "c1", "text": "is a lock"}],
    )
    before = json.dumps(given)
    found = resolve([{**given, "owner": "me"}], DOCS)
    [written] = found.records
    first, *others = written["ground_truth"]
    assert first == {
        "quote": "is a lock",
        "grade": 2,
        "group": "g",
        "document": "gil.md",
        "start": 9,
        "end": 19,
    }
    assert others == given["ground_truth"][1:]
    assert {k: v for k, v in written.items() if k != "ground_truth"} == {
        k: v for k, v in given.items() if k != "ground_truth"
    }
    assert json.dumps(given) == before


def test_several_places_are_left():
    given = [record({"quote": "lets one thread"}, {"quote": "not there"})]
    left = resolve(given, DOCS)
    assert left.counts == {"once": 0, "several": 1, "none": 1}
    assert left.records[0]["ground_truth"] == given[0]["ground_truth"]
    assert [one["outcome"] for one in left.to_dict()["unclear"]] == ["several", "none"]


@pytest.mark.parametrize("form", ["jsonl", "json", "pretty"])
def test_files_in_and_out(tmp_path, form):
    given = [record({"quote": "is a lock"}), {"query": "b", "ground_truth": []}]
    content = {
        "jsonl": "".join(json.dumps(one) + "\n" for one in given),
        "json": json.dumps(given),
        "pretty": json.dumps(given, indent=2),
    }
    source, docs, out = tmp_path / "evals", tmp_path / "docs", tmp_path / "spans.jsonl"
    source.write_text(content[form])
    docs.mkdir()
    (docs / "gil.md").write_bytes(DOCS["gil.md"].encode())
    found = resolve(source, docs)
    found.write(out)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert rows == list(found.records)
    assert rows[0]["ground_truth"][0]["end"] == 19


@pytest.mark.parametrize(
    "targets", [["chunk-1"], ["is a lock"], [{"document": "gil.md", "start": 0, "end": 3}], []]
)
def test_nothing_to_resolve_is_an_error(targets):
    with pytest.raises(InvalidInput, match="no quote to resolve"):
        resolve([record(*targets)], DOCS)


def test_another_form_becomes_ours(tmp_path):
    path = tmp_path / "evals.csv"
    path.write_text("query,quote,grade\nq1,is a lock,2\nq1,not there,1\nq2,The GIL,1\n")
    found = resolve(path, DOCS)
    assert [one["query"] for one in found.records] == ["q1", "q2"]
    assert found.records[0]["ground_truth"] == [
        {"grade": 2.0, "quote": "is a lock", "document": "gil.md", "start": 9, "end": 19},
        {"quote": "not there"},
    ]


def test_what_was_resolved_scores_by_span(tmp_path):
    retrieved = [{"id": "c", "document": "gil.md", "start": 0, "end": 20}]
    found = resolve([record({"quote": "is a lock"}, retrieved=retrieved)], DOCS)
    found.write(tmp_path / "spans.jsonl")
    scores = evaluate(tmp_path / "spans.jsonl", metrics="recall@1", match="span")
    assert scores["recall@1"].mean == 1.0


TEXT = st.text(st.sampled_from("ab é\r\n😀"), max_size=40)


def find_places(quotes, rows, document=None):
    wanted = [Located("q", quote, document) for quote in quotes]
    return list(resolve_quotes(wanted, open_corpus(rows).batches(), "corpus"))


@given(st.lists(TEXT, min_size=1, max_size=4), TEXT.filter(lambda text: normalise(text) != ""))
def test_every_place_holds_the_quote_and_none_is_missing(texts, quote):
    rows = [{"id": f"d{n}", "document": f"d{n}", "text": text} for n, text in enumerate(texts)]
    [found] = find_places([quote], rows)
    for place in found.places:
        original = texts[int(place.document[1:])]
        assert normalise(original[place.start : place.end]) == normalise(quote)
    expected = sum(
        normalise(text).startswith(normalise(quote), at)
        for text in texts
        for at in range(len(normalise(text)))
    )
    assert len(found.places) == min(expected, MOST_PLACES)
    assert found.outcome == ("none" if not expected else "once" if expected == 1 else "several")


@given(st.integers(5, 60), st.integers(0, 4))
def test_overlapping_chunks_give_the_place_in_the_document_once(size, overlap):
    document = "Zwölf Boxkämpfer 😀 jagen\r\nViktor quer über den großen Sylter Deich."
    chunks = [
        {"id": str(at), "document": "d", "text": document[at : at + size], "start": at}
        for at in range(0, len(document), size - overlap)
    ]
    [found] = find_places(["jagen"], chunks)
    assert set(found.places) <= {QuotePlace("d", 19, 24)}
    if any("jagen" in str(chunk["text"]) for chunk in chunks):
        assert found.outcome == "once"


def test_chunks_without_a_start_and_empty_quotes_are_refused():
    rows = [{"id": "1", "document": "d", "text": "x"}, {"id": "2", "document": "d", "text": "y"}]
    with pytest.raises(InvalidInput, match="'start'"):
        find_places(["x"], rows)
    assert find_places(["x"], rows[:1])[0].places == (QuotePlace("d", 0, 1),)
    with pytest.raises(InvalidInput, match="empty"):
        find_places([" \n"], {"a": "x"})


def test_a_quote_is_found_in_the_document_it_names():
    batch = pl.concat(open_corpus({"gil": "a lock", "list": "an array"}).batches())
    asked = [
        Located("q", "a lock", "docs/gil.md"),
        Located("q", "a lock", "gil"),
        Located("q", "a lock", "list"),
    ]
    unknown, found, other = resolve_quotes(asked, [batch], "corpus")
    assert found.places == (QuotePlace("gil", 0, 6),)
    assert unknown.outcome == other.outcome == "none"


def test_a_quote_that_others_are_full_of_is_found_in_the_document_it_names(monkeypatch):
    monkeypatch.setattr("calipers.questions.convert.resolve.MOST_PLACES", 2)
    corpus = open_corpus({"a": "It is. It is. It is.", "b": "It is."})
    [found] = resolve_quotes([Located("q", "It is", "b")], corpus.batches(), corpus.name)
    assert found.places == (QuotePlace("b", 0, 5),)
