import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from tests.questions.samples import write_lines

IDS = "abcdef"
TEXTS = {one: f"The {one * 5} file is closed to visitors." for one in IDS}


@st.composite
def records(draw):
    made = [{"query": "anchor", "retrieved": ["z"], "ground_truth": ["z"]}]
    for i in range(draw(st.integers(1, 5))):
        made.append(
            {
                "query": f"q{i}",
                "retrieved": draw(st.lists(st.sampled_from(IDS), max_size=6)),
                "ground_truth": draw(st.lists(st.sampled_from(IDS), unique=True, max_size=2)),
                "forbidden": draw(st.lists(st.sampled_from(IDS), max_size=3)),
            }
        )
    made.append({"query": "last", "retrieved": ["a"], "ground_truth": ["z"], "forbidden": ["y"]})
    return made


def chunk(one):
    text = TEXTS.get(one, "free")
    return {"id": one, "text": text, "document": f"doc-{one}", "start": 100, "end": 200}


def ways(made):
    """The same data with what is forbidden named in every way."""
    yield made
    for write in (
        lambda one: {"id": one},
        lambda one: {"quote": TEXTS.get(one, "never said anywhere")[4:]},
        lambda one: {"document": f"doc-{one}"},
        lambda one: {"document": f"doc-{one}", "start": 199, "end": 300},
    ):
        yield [
            {
                **one,
                "retrieved": [chunk(r) for r in one["retrieved"]],
                "forbidden": [write(f) for f in one.get("forbidden", [])],
            }
            for one in made
        ]


@given(records(), st.integers(1, 4))
def test_leaks_are_those_that_a_loop_counts(made, k):
    wanted = []
    for one in made:
        forbidden = set(one.get("forbidden", ()))
        held = sum(result in forbidden for result in one["retrieved"][:k])
        wanted.append((held, float(held > 0)) if forbidden else (None, None))
    for way in ways(made):
        scores = calipers.evaluate(way, metrics=[f"leak@{k}", f"leak_rate@{k}"], match="id")
        assert scores.per_query.select(f"leak@{k}", f"leak_rate@{k}").rows() == wanted


def test_a_span_beside_the_forbidden_one_is_no_leak():
    beside = {"document": "doc-a", "start": 200, "end": 300}
    record = {"query": "q", "retrieved": [chunk("a")], "ground_truth": ["a"], "forbidden": [beside]}
    assert calipers.evaluate([record], metrics="leak@1", match="id")["leak@1"].mean == 0


def test_what_results_cannot_show_is_refused_and_not_passed():
    record = {"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}
    for forbidden, lacks in (({"quote": "secret"}, "a text"), ({"document": "d"}, "a document")):
        with pytest.raises(InvalidInput, match=f"not every result has {lacks}"):
            calipers.evaluate([{**record, "forbidden": [forbidden]}], metrics="leak@1")


def test_nothing_forbidden_is_said():
    with pytest.raises(InvalidInput, match="the ground truth forbids nothing"):
        calipers.evaluate(ground_truth={"q": ["a"]}, run={"q": ["a"]}, metrics="leak_rate@10")


def test_what_is_forbidden_is_part_of_the_ground_truth():
    record = {"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}
    plain, one, other = (
        calipers.evaluate([{**record, **more}], metrics="recall@1").fingerprints["ground_truth"]
        for more in ({}, {"forbidden": ["b"]}, {"forbidden": ["c"]})
    )
    assert len({plain, one, other}) == 3


def test_it_survives_being_written(tmp_path):
    record = {"query": "q", "retrieved": [chunk("a")], "ground_truth": ["a"]}
    source = tmp_path / "evals.jsonl"
    write_lines(source, [{**record, "forbidden": [{"id": "b"}, {"quote": "secret"}]}])
    wanted = calipers.evaluate(source, metrics="recall@1", match="id").fingerprints["ground_truth"]
    for name in ("copy.json", "copy.parquet", "copy.csv"):
        calipers.convert(source, tmp_path / name)
        again = calipers.evaluate(tmp_path / name, metrics="recall@1,leak@1", match="id")
        assert again.fingerprints["ground_truth"] == wanted, name
    done = calipers.convert(source, tmp_path / "out.qrels")
    assert done.lost["forbidden"] == 2


@given(records(), st.integers(1, 4))
def test_an_old_version_first_is_what_a_loop_finds(made, k):
    wanted = []
    for one in made:
        forbidden = set(one.get("forbidden", ()))
        value = 0.0
        for result in one["retrieved"][:k]:
            if result in one["ground_truth"]:
                break
            if result in forbidden:
                value = 1.0
                break
        wanted.append(value if forbidden else None)
    for way in ways(made):
        scores = calipers.evaluate(way, metrics=f"old_first@{k}", match="id")
        assert scores.per_query[f"old_first@{k}"].to_list() == wanted


def test_a_query_for_which_nothing_is_forbidden_is_left_out_by_that_name():
    old = {"query": "q1", "retrieved": ["b"], "ground_truth": ["a"], "forbidden": ["b"]}
    plain = {"query": "plain", "retrieved": ["a"], "ground_truth": ["a"]}
    why = "1 of 2 queries is left out of old_first: nothing is forbidden for it (plain)."
    measured = calipers.evaluate([old, plain], metrics="old_first@1")
    compared = calipers.compare({"x": [old, plain], "y": [old, plain]}, metrics="old_first@1")
    assert why in " ".join(str(measured).split())
    assert why in " ".join(str(compared).split())
