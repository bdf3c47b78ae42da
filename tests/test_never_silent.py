"""What does not change what was found does not change a value, or is refused in words."""

import csv
import io
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers import evaluate
from calipers.errors import InvalidInput, NoCommonIds

METRICS = "recall@3,mrr,map,ndcg@5,precision@2"
Judged = dict[str, dict[str, int]]
Found = dict[str, dict[str, float]]


@st.composite
def pairs(draw: Any) -> tuple[Judged, Found]:
    """Judgements and scores, many of them equal, with something in common."""
    items = [f"d{i}" for i in range(8)]
    queries = [f"q{i}" for i in range(draw(st.integers(1, 4)))]
    truth = {
        q: draw(st.dictionaries(st.sampled_from(items), st.integers(0, 2), min_size=1))
        for q in queries
    }
    run = {
        q: draw(
            st.dictionaries(st.sampled_from(items), st.sampled_from([1.0, 2.0, 3.0]), min_size=1)
        )
        for q in queries
    }
    truth["q0"]["d0"], run["q0"]["d0"] = 1, 2.0
    return truth, run


def values(truth: Any, run: Any, **options: Any) -> list[float]:
    scores = evaluate(run, ground_truth=truth, metrics=METRICS, **options)
    means = (scores[facts.name].mean for facts in scores.metrics)
    return [round(one, 12) for one in means if one is not None]


def table(rows: list[tuple[Any, ...]], names: tuple[str, ...]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    return text.getvalue()


def triples(mapping: dict[str, dict[str, Any]]) -> list[tuple[str, str, Any]]:
    return [(q, item, number) for q, items in mapping.items() for item, number in items.items()]


def as_tables(truth: Judged, run: Found, shuffle: Callable[[list[Any]], None]) -> tuple[str, str]:
    judged, found = triples(truth), triples(run)
    shuffle(judged)
    shuffle(found)
    return table(judged, ("query", "item", "grade")), table(found, ("query", "item", "score"))


def as_trec(truth: Judged, run: Found, shuffle: Callable[[list[Any]], None]) -> tuple[str, str]:
    judged = [f"{q} 0 {item} {grade}" for q, item, grade in triples(truth)]
    found = [f"{q} Q0 {item} 1 {score} t" for q, item, score in triples(run)]
    shuffle(judged)
    shuffle(found)
    return "\n".join(judged) + "\n", "\n".join(found) + "\n"


@pytest.mark.parametrize("write", [as_tables, as_trec])
@settings(max_examples=15)
@given(pair=pairs(), seed=st.integers(0, 9))
def test_the_order_of_a_file_with_scores_changes_nothing(write, pair, seed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, content in zip("gr", write(*pair, random.Random(seed).shuffle), strict=True):
        (folder / name).write_text(content)
    assert values(folder / "g", folder / "r") == values(*pair)


@settings(max_examples=20)
@given(pair=pairs(), seed=st.integers(0, 9))
def test_the_order_of_a_mapping_and_of_records_changes_nothing(pair, seed):
    truth, run = pair
    shuffled = {
        q: dict(random.Random(seed).sample(list(items.items()), len(items)))
        for q, items in reversed(run.items())
    }
    assert values(truth, shuffled) == values(truth, run)
    records = [{"query": q, "retrieved": items} for q, items in shuffled.items()]
    assert values(truth, records) == values(truth, run)


RULES = {
    "prefix=docs/": lambda name: f"docs/{name}",
    "extension": lambda name: f"{name}.md",
    "case": str.upper,
    "prefix=docs/,extension,case": lambda name: f"docs/{name.upper()}.md",
}


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=10)
@given(pair=pairs())
def test_other_names_on_one_side_are_refused_and_mapped_on_request(rule, pair):
    truth, run = pair
    renamed = {q: {RULES[rule](item): n for item, n in items.items()} for q, items in truth.items()}
    for other, found in (
        (renamed, run),
        (truth, {q: {RULES[rule](i): s for i, s in items.items()} for q, items in run.items()}),
    ):
        with pytest.raises(NoCommonIds, match="map_ids=" if "," not in rule else "in common"):
            values(other, found)
        assert values(other, found, map_ids=rule, ties="input") == values(truth, run, ties="input")


@pytest.mark.parametrize("rename", RULES.values(), ids=list(RULES))
def test_other_names_of_documents_are_refused_for_spans(rename):
    truth = [{"query": "q", "ground_truth": [{"document": "a", "start": 0, "end": 9}]}]
    found = {"document": rename("a"), "start": 0, "end": 20}
    with pytest.raises(NoCommonIds, match="no document in common"):
        values(truth, [{"query": "q", "retrieved": [found]}])


@settings(max_examples=20)
@given(
    cuts=st.sets(st.integers(1, 99), min_size=1, max_size=6),
    start=st.integers(0, 80),
    length=st.integers(1, 20),
)
def test_a_chunk_cut_in_two_or_joined_holds_what_it_held(cuts, start, length):
    text = "".join(random.Random(3).choices("abcdefghij", k=100))
    target = {"document": "a", "start": start, "end": start + length}
    quote = {"quote": text[start : start + length]}
    edges = [0, *sorted(cuts), 100]
    pieces = [
        {"document": "a", "start": a, "end": b, "text": text[a:b]} for a, b in pairwise(edges)
    ]
    joined = [{"document": "a", "start": 0, "end": 100, "text": text}]
    for wanted, match in ((target, "span(min=1)"), (quote, "quote")):
        truth = [{"query": "q", "ground_truth": [wanted]}]
        for retrieved in (pieces, joined):
            run = [{"query": "q", "retrieved": retrieved}]
            if match == "quote" and retrieved is pieces and len(cuts & set(inner(target))):
                # A quote that no chunk holds alone is put together from the places of its parts.
                continue
            scores = evaluate(run, ground_truth=truth, metrics="recall@100", match=match)
            assert scores["recall@100"].mean == 1


def inner(target: dict[str, Any]) -> range:
    return range(target["start"] + 1, target["end"])


@pytest.mark.parametrize(
    ("truth", "run", "said"),
    [
        ("question,chunk_id\nq,1.0\n", "query,item,score\nq,1,1\n", "a trailing '.0'"),
        ("question,chunk_id\nq,001\n", "query,item,score\nq,1,1\n", "leading zeros"),
        ("question,chunk_id\nq,a\n", "query,item,score\nq,7,1\n", "are all numbers"),
        ("question,chunk_id\nq,a;b|c\n", "query,item,score\nq,a,1\n", "two kinds of dividers"),
        ("question,relevant\nq,1\n", "query,item,score\nq,a,1\n", "could be two things"),
    ],
)
def test_what_could_be_two_things_is_a_sentence(truth, run, said, tmp_path):
    (tmp_path / "g.csv").write_text(truth)
    (tmp_path / "r.csv").write_text(run)
    with pytest.raises(InvalidInput, match=said):
        values(tmp_path / "g.csv", tmp_path / "r.csv")


def test_distances_are_sorted_the_other_way_round_with_a_note(tmp_path):
    (tmp_path / "r.csv").write_text("query,item,distance\nq,a,0.9\nq,b,0.1\n")
    scores = evaluate(tmp_path / "r.csv", ground_truth={"q": ["b"]}, metrics="mrr")
    assert scores["mrr"].mean == 1
    assert "score ← distance (a distance: the smallest comes first)" in scores.settings["notes"][0]


@pytest.mark.parametrize(
    ("run", "mean"),
    [
        ("q Q0 a 1 0.1 t\nq Q0 b 2 0.9 t\n", 1.0),
        ("query,item,score,rank\nq,a,0.1,1\nq,b,0.9,2\n", 0.5),
    ],
)
def test_scores_that_rise_with_the_ranks_are_said(run, mean, tmp_path):
    (tmp_path / "r").write_text(run)
    scores = evaluate(tmp_path / "r", ground_truth={"q": ["b"]}, metrics="mrr")
    assert scores["mrr"].mean == mean
    assert "rise" in scores.settings["notes"][0]
    fallen = run.replace("0.9", "0.05")
    (tmp_path / "r").write_text(fallen)
    scores = evaluate(tmp_path / "r", ground_truth={"q": ["b"]}, metrics="mrr")
    assert scores.settings["notes"] == []


def test_two_results_at_one_rank_are_refused(tmp_path):
    (tmp_path / "r.csv").write_text("query,item,rank\nq,a,1\nq,b,1\n")
    with pytest.raises(InvalidInput, match=r"'q' have the rank 1, one of them at .*r\.csv:3"):
        values({"q": {"b": 1}}, tmp_path / "r.csv")


def test_ranks_that_contradict_the_list_are_refused():
    retrieved = [{"id": "a", "rank": 2}, {"id": "b", "rank": 1}]
    with pytest.raises(InvalidInput, match=r"retrieved\[1\]\.rank: found 1 behind 2"):
        values({"q": {"b": 1}}, [{"query": "q", "retrieved": retrieved}])
    assert values({"q": {"b": 1}}, [{"query": "q", "retrieved": retrieved[::-1]}])


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_id_is_nothing_to_find(empty):
    with pytest.raises(InvalidInput, match="id of a target is empty"):
        values([{"query": "q", "ground_truth": ["a", empty]}], {"q": [empty]})


def test_grades_like_scores_and_scores_like_grades_are_said():
    judged, found = {"q": {"a": 1, "b": 2}}, {"q": {"a": 0.93, "b": 0.51}}
    exchanged = evaluate(judged, ground_truth=found, metrics="mrr")
    assert "not exchanged" in exchanged.settings["notes"][0]
    assert evaluate(found, ground_truth=judged, metrics="mrr").settings["notes"] == []
    without_scores = evaluate({"q": ["a", "b"]}, ground_truth=found, metrics="mrr")
    assert "(0.93) and the run has no scores" in without_scores.settings["notes"][0]


def test_grades_that_are_means_of_judges_are_no_scores():
    merged = {f"q{n}": {"a": n % 3 / 3 + 1, "b": 0.5} for n in range(9)}
    run = {query: ["b", "a"] for query in merged}
    assert evaluate(run, ground_truth=merged, metrics="mrr").settings["notes"] == []


@settings(max_examples=20)
@given(
    st.lists(st.sampled_from(["one", "two", "three"]), min_size=1, max_size=9), st.integers(1, 9)
)
def test_a_text_that_comes_back_is_the_same_text(drawn, length):
    """However texts are held in memory, what is read is what stands there."""
    texts = [word * (40 * length) for word in drawn]
    truth = [{"query": f"q{i}", "ground_truth": [{"quote": text}]} for i, text in enumerate(texts)]
    run = [{"query": f"q{i}", "retrieved": [{"text": text}]} for i, text in enumerate(texts)]
    scores = evaluate(run, ground_truth=truth, metrics="recall@1")
    assert scores["recall@1"].mean == 1
