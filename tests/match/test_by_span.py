import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import evaluate, read
from calipers.match.by_span import _meeting

span = st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.integers(0, 12)).map(
    lambda s: (s[0], min(s[1:]), max(s[1:]))
)
targets = st.lists(span.filter(lambda s: s[1] < s[2]), min_size=1, max_size=3, unique=True)


def named(some):
    return [{"document": d, "start": a, "end": b} for d, a, b in some]


def records(chunks, wanted):
    return [{"query": "q", "retrieved": named(chunks), "ground_truth": named(wanted)}]


def characters(some) -> set[tuple[str, int]]:
    return {(document, at) for document, start, end in some for at in range(start, end)}


def naive(chunks, wanted, least, together):
    """Every edge, by sets of characters; a span that came before earns nothing."""
    edges = set()
    for number, target in enumerate(wanted):
        whole, found = characters([target]), False
        so_far: set[tuple[str, int]] = set()
        for rank, chunk in enumerate(chunks, 1):
            if chunk in chunks[: rank - 1]:
                continue
            alone = characters([chunk]) & whole
            so_far = so_far | alone if together else alone
            if len(alone) >= least * len(whole) or (
                not found and len(so_far) >= least * len(whole)
            ):
                edges.add((rank, number))
                found = True
    return edges


@given(
    st.lists(span, min_size=1, max_size=5),
    targets,
    st.sampled_from([0.25, 0.5, 1]),
    st.sampled_from(["evidence", "chunk"]),
)
def test_edges_are_those_of_the_naive_reference(chunks, wanted, least, level):
    found = read(
        records(chunks, wanted), match=f"span(min={least})", level=level, nothing_in_common="zero"
    ).matches
    edges = set(zip(found.edge_rank.tolist(), found.edge_target.tolist(), strict=True))
    assert edges == naive(chunks, wanted, least, level == "evidence")
    assert ((found.edge_overlap >= least) & (found.edge_overlap <= 1)).all()


def test_white_space_stripped_between_chunks_does_not_matter_by_default():
    rows = records([("a", 0, 50), ("a", 51, 100)], [("a", 10, 90)])
    assert read(rows).settings["match"] == "span(min=0.9)"
    assert read(rows).matches.edge_rank.tolist() == [2]
    assert read(rows, match="span(min=1)").matches.edge_rank.tolist() == []


@pytest.mark.parametrize(
    "text", ["Él está aquí: naïve café", "🙂 ok 👩‍👩‍👧 done 🙂", "one\r\ntwo\r\nthree"]
)
@pytest.mark.parametrize("n", [3, 5, 11])
def test_offsets_are_characters_and_not_bytes(text, n):
    assert len(text) != len(text.encode()) or "\r" in text
    chunks = [("d", at, min(at + n, len(text))) for at in range(0, len(text), n)]
    quote = text[4:10]
    rows = [
        {
            "query": "q",
            "retrieved": [
                {"document": d, "start": a, "end": b, "text": text[a:b]} for d, a, b in chunks
            ],
            "ground_truth": [{"document": "d", "start": 4, "end": 10, "quote": quote}],
        }
    ]
    by_span = evaluate(rows, match="span(min=1)", metrics="recall@99,span_recall@99")
    assert by_span["recall@99"].mean == 1
    assert by_span["span_recall@99"].mean == 1
    first = read(rows, match="span(min=1)").matches.edge_rank.tolist()
    assert first == [next(i for i, (_, _, end) in enumerate(chunks, 1) if end >= 10)]


def test_a_failed_query_shows_nothing():
    rows = records([("a", 0, 9)], [("a", 0, 9)])
    rows[0]["error"] = "timeout"
    scores = evaluate(rows, metrics="recall@1,span_recall@1,span_precision@1")
    assert [scores[name].mean for name in scores] == [0, 0, 0]


def test_a_place_is_the_name_of_a_result_without_an_id_in_every_format():
    """Repeats are counted, and other places are another run."""
    chunks = [("a", 0, 9), ("a", 0, 9), ("b", 0, 9)]
    truth = [{"query": "q", "ground_truth": named([("a", 0, 9)])}]
    table = pl.DataFrame(
        [{"query": "q", "rank": 1 + at, **one} for at, one in enumerate(named(chunks))]
    )
    in_records = evaluate(records(chunks, [("a", 0, 9)]))
    in_a_table = evaluate(ground_truth=truth, run=table)
    elsewhere = evaluate(records([*chunks[:2], ("b", 1, 9)], [("a", 0, 9)]))
    assert (in_records.audit.duplicates, in_a_table.audit.duplicates) == (1, 1)
    assert in_records.fingerprints["run"] == in_a_table.fingerprints["run"]
    assert in_records.fingerprints["run"] != elsewhere.fingerprints["run"]


def test_documents_of_one_query_are_apart_also_where_their_characters_have_the_same_numbers():
    wanted = [("a", 0, 10), ("b", 0, 10)]
    for chunks, characters_found in (
        ([("a", 5, 15), ("b", 8, 12)], 7),
        ([("b", 5, 15), ("b", 0, 2), ("a", 10, 20)], 7),
        ([("b", 10, 20), ("a", 0, 4)], 4),
    ):
        scores = evaluate(
            records(chunks, wanted), metrics="span_recall@3", nothing_in_common="zero"
        )
        assert scores["span_recall@3"].mean == pytest.approx(characters_found / 20)


def test_a_forbidden_place_is_met_by_what_overlaps_it_and_not_by_what_touches_it():
    def old_first(start, end):
        record = {
            "query": "q",
            "retrieved": named([("a", start, end)]),
            "ground_truth": named([("a", 0, 5)]),
            "forbidden": named([("a", 10, 20)]),
        }
        scores = evaluate([record], metrics="old_first@1", nothing_in_common="zero")
        return scores["old_first@1"].mean

    assert [old_first(*place) for place in ((5, 10), (20, 30), (5, 11), (19, 30))] == [0, 0, 1, 1]


@given(st.lists(span, min_size=1, max_size=40), st.lists(span, min_size=1, max_size=40))
def test_spans_meet_as_in_a_join_of_each_with_each(chunks, wanted):
    numbers = range(len(chunks))
    shown = pl.DataFrame(
        {
            "code": [at % 2 for at in numbers],
            "document": [document for document, _, _ in chunks],
            "rank": numbers,
            "start": [start for _, start, _ in chunks],
            "end": [end for _, _, end in chunks],
            "tied": [at % 3 == 0 for at in numbers],
        }
    )
    targets = pl.DataFrame(
        {
            "target": range(len(wanted)),
            "code": [at % 2 for at in range(len(wanted))],
            "document": [document for document, _, _ in wanted],
            "from": [start for _, start, _ in wanted],
            "to": [end for _, _, end in wanted],
        }
    )
    overlap = pl.max_horizontal("start", "from") < pl.min_horizontal("end", "to")
    met = _meeting(shown, targets).sort("target", "rank")
    each = shown.join(targets, on=["code", "document"]).filter(overlap).sort("target", "rank")
    assert met.rows() == each.select(met.columns).rows()


def test_ends_near_the_largest_number_do_not_run_over():
    far = 2**63 - 10
    rows = records([("a", far, far + 9), ("b", far, far + 5)], [("b", far + 1, far + 5)])
    assert read(rows).matches.edge_rank.tolist() == [2]
