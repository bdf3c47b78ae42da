"""One-query functions: worked values, the usual faults, and the reference of every metric."""

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import evaluate
from calipers.errors import CalipersError, InvalidInput
from calipers.functions import (
    Confusion,
    average_precision,
    confusion_at_k,
    f1_at_k,
    hit_rate_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
    reciprocal_rank,
)
from tests import reference
from tests.reference_query import Query

ORACLES: dict[Callable[..., float], Callable[..., float | None]] = {
    precision_at_k: reference.precision,
    recall_at_k: reference.recall,
    hit_rate_at_k: reference.hit_rate,
    f1_at_k: reference.f1,
    reciprocal_rank: reference.mrr,
    average_precision: reference.average_precision,
    ndcg_at_k: reference.ndcg,
}
VALUES = [*ORACLES]
EVALUATED: dict[str, Callable[..., float]] = {
    "precision": precision_at_k,
    "recall": recall_at_k,
    "hit_rate": hit_rate_at_k,
    "f1": f1_at_k,
    "mrr": reciprocal_rank,
    "map": average_precision,
    "ndcg": ndcg_at_k,
}
EVERY: list[Callable[..., Any]] = [*VALUES, confusion_at_k]

ids = st.sampled_from("abcdefgh")
rankings = st.lists(ids, max_size=12)
judgements = st.dictionaries(ids, st.sampled_from([-1, 0, 0.5, 1, 2, 3]), max_size=8)
depths = st.integers(1, 14)
# Letters over a tiny alphabet: chunks overlap, repeat, and hold several targets at once.
chunks = st.lists(st.text("xyz", max_size=4), max_size=8)
wanted = st.dictionaries(st.text("xyz", min_size=1, max_size=3), st.integers(0, 3), max_size=5)


@dataclass
class Document:
    page_content: str
    id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def documents(*texts: str) -> list[Document]:
    return [Document(text) for text in texts]


def agree(retrieved: list[Any], query: Query, k: int) -> None:
    for function, oracle in ORACLES.items():
        expected = oracle(query, k) or 0.0
        assert function(retrieved, query.grades, k) == pytest.approx(expected, abs=1e-12), function


@given(rankings, judgements, depths)
def test_ids_equal_the_reference(retrieved, grades, k) -> None:
    query = Query(retrieved, grades, corpus_size=20)
    agree(retrieved, query, k)
    expected = reference.ndcg(query, k, "exp") or 0.0
    assert ndcg_at_k(retrieved, grades, k, gain="exp") == pytest.approx(expected, abs=1e-12)
    counts = (reference.tp, reference.fp, reference.fn, reference.tn)
    assert confusion_at_k(retrieved, grades, k, corpus_size=20) == tuple(
        count(query, k) for count in counts
    )


@given(chunks, wanted, depths)
def test_texts_equal_the_reference(texts, grades, k) -> None:
    inside = {text: {target for target in grades if target in text} for text in texts}
    agree(documents(*texts), Query(texts, grades, inside=inside), k)


@given(rankings, judgements)
@pytest.mark.parametrize("function", [reciprocal_rank, average_precision])
def test_no_k_is_the_whole_ranking(function, retrieved, grades) -> None:
    assert function(retrieved, grades) == function(retrieved, grades, len(retrieved) + 1)


@pytest.mark.parametrize(
    ("function", "retrieved", "truth", "k", "value"),
    [
        pytest.param(recall_at_k, "a", {"a": 1, "x": 0, "y": -1}, 1, 1.0, id="grade 0 counted"),
        pytest.param(recall_at_k, "aa", "a", 2, 1.0, id="a copy found twice"),
        pytest.param(precision_at_k, "aa", "a", 2, 0.5, id="a copy relevant twice"),
        pytest.param(average_precision, "aab", "ab", 3, (1 + 2 / 3) / 2, id="a copy paid twice"),
        pytest.param(ndcg_at_k, "aa", "a", 2, 1.0, id="a copy gained twice"),
        pytest.param(confusion_at_k, "aa", "a", 2, Confusion(1, 1, 0, None), id="a copy is a fp"),
        pytest.param(recall_at_k, "a", "abc", 1, 1 / 3, id="rounded"),
        pytest.param(precision_at_k, "a", "a", 5, 0.2, id="divided by what came back"),
        pytest.param(average_precision, "a", "ab", 1, 0.5, id="divided by what was found"),
        pytest.param(
            ndcg_at_k, "a", {"a": 1, "b": 3}, 2, 1 / (3 + 1 / math.log2(3)), id="ideal of the list"
        ),
        pytest.param(ndcg_at_k, "abc", {"a": 2.7, "b": 0.3, "c": 0.1}, 3, 1.0, id="not exactly 1"),
    ],
)
def test_the_faults_of_the_usual_hand_written_versions(
    function, retrieved, truth, k, value
) -> None:
    assert function(list(retrieved), truth if isinstance(truth, dict) else list(truth), k) == value


@pytest.mark.parametrize("empty", [{}, [], set(), {"a": 0}])
@pytest.mark.parametrize("function", VALUES)
def test_nothing_wanted_or_retrieved_gives_0(function, empty) -> None:
    assert function(["a", "b"], empty, 2) == 0.0
    assert function([], ["a"], 3) == 0.0


@pytest.mark.parametrize("k", [0, -1, True, 2.0, "3", math.nan, [1]])
@pytest.mark.parametrize("function", EVERY)
def test_k_must_be_a_whole_number_above_0(function, k) -> None:
    with pytest.raises(InvalidInput, match="k is not a whole number above 0: found"):
        function(["a"], ["a"], k)


def test_k_may_be_left_out_only_where_it_means_the_whole_ranking() -> None:
    with pytest.raises(InvalidInput, match="k is not a whole number above 0: found None"):
        recall_at_k(["a"], ["a"], None)
    assert reciprocal_rank(["x", "a"], ["a"], None) == 0.5


@pytest.mark.parametrize("grade", [1e-300, 1e-17, 5000.0, 1e308])
@pytest.mark.parametrize("gain", ["linear", "exp"])
def test_extreme_grades_keep_ndcg_finite(gain, grade) -> None:
    grades = {"a": grade, "b": grade, "c": grade}
    assert ndcg_at_k(["a", "b", "c"], grades, 3, gain=gain) == 1.0
    assert ndcg_at_k(["x", "a"], {"a": grade}, 2, gain=gain) == pytest.approx(1 / math.log2(3))


@given(rankings.filter(bool), judgements, depths)
def test_the_values_of_evaluate_to_the_last_bit(retrieved, grades, k) -> None:
    if not any(grade > 0 for grade in grades.values()):
        return  # undefined there, 0.0 here
    scores = evaluate(
        ground_truth={"q": grades},
        run={"q": retrieved},
        metrics=[f"{name}@{k}" for name in EVALUATED],
        nothing_in_common="zero",
    )
    for name, function in EVALUATED.items():
        assert function(retrieved, grades, k) == scores[f"{name}@{k}"].mean, name


def test_ndcg_and_average_precision_add_from_the_first_rank_on() -> None:
    ranking = list("abcdefgh")
    grades = {"a": 0.5, "c": 3, "d": 1, "f": 2, "h": 0.5, "z": 3}
    metrics = "ndcg@8,ndcg@8(gain=exp),map@8"
    scores = evaluate(ground_truth={"q": grades}, run={"q": ranking}, metrics=metrics)
    assert ndcg_at_k(ranking, grades, 8) == scores["ndcg@8"].mean
    assert ndcg_at_k(ranking, grades, 8, gain="exp") == scores["ndcg@8(gain=exp)"].mean
    assert average_precision(ranking, grades, 8) == scores["map@8"].mean


# By id or by text.

REFUND = "The refund period is 30 days."


@pytest.mark.parametrize("function", VALUES)
def test_by_text_is_containment_as_for_objects_with_a_text(function) -> None:
    strings = ["Nothing of it.", REFUND]
    expected = function([{"text": text} for text in strings], ["refund period is 30 days"], 2)
    assert function(strings, ["refund period is 30 days"], 2, by="text") == expected > 0


@pytest.mark.parametrize("function", EVERY)
def test_a_text_that_was_taken_as_an_id_is_refused(function) -> None:
    with pytest.raises(InvalidInput, match=r"stands inside retrieved\[1\]. Pass by='text'"):
        function(["other", REFUND], ["refund period is 30 days"], 2)
    by_id = function(["other", REFUND], ["refund period is 30 days"], 2, by="id")
    assert by_id == (Confusion(0, 2, 1, None) if function is confusion_at_k else 0.0)


@pytest.mark.parametrize(
    ("retrieved", "ground_truth"),
    [
        (["my file.pdf", "x"], ["other file.pdf"]),  # ids with blanks that do not meet
        (["my file.pdf", "x"], ["my file.pdf", "file.pdf b"]),  # an id meets
        ([REFUND], ["refund"]),  # one word may stand anywhere
        ([REFUND], {"refund period": 0}),  # nothing to find
    ],
)
def test_ids_stay_ids_where_nothing_says_otherwise(retrieved, ground_truth) -> None:
    by_default = recall_at_k(retrieved, ground_truth, 2)
    assert by_default == recall_at_k(retrieved, ground_truth, 2, by="id")


def test_by_id_takes_the_ids_of_objects_with_a_text() -> None:
    chunks = [Document(REFUND, "c1"), {"id": "c2", "text": "Other."}]
    assert recall_at_k(chunks, ["c2", "c1"], 1, by="id") == 0.5
    with pytest.raises(InvalidInput, match=r"needs an id for every result: retrieved\[0\]"):
        recall_at_k([Document(REFUND)], ["c1"], 1, by="id")
    with pytest.raises(InvalidInput, match=r"needs a text for every result: retrieved\[0\] is 7"):
        recall_at_k([7], ["c1"], 1, by="text")
    with pytest.raises(InvalidInput, match="by is not known: found 'span'"):
        recall_at_k(["a"], ["a"], 1, by="span")  # type: ignore[arg-type]


@pytest.mark.parametrize("grade", [np.complex128(1 + 2j), np.complex64(1), 1j])
def test_a_complex_grade_is_refused_without_a_warning(grade, recwarn) -> None:
    with pytest.raises(InvalidInput, match="is not a finite number"):
        ndcg_at_k(["a"], {"a": grade}, 1)
    assert not recwarn.list


# What may be passed in.


@pytest.mark.parametrize("function", EVERY)
def test_containers_of_ids_agree(function) -> None:
    expected = function(["x", "b", "a"], {"a": 1, "b": 1}, 3)
    assert function(("x", "b", "a"), ["a", "b", "b"], 3) == expected
    assert function(iter(["x", "b", "a"]), {"a", "b"}, 3) == expected
    assert function(np.array(["x", "b", "a"]), {"a": True, "b": np.float32(1)}, np.int64(3)) == (
        expected
    )
    assert function([{"id": "x"}, {"_id": "b"}, {"metadata": {"id": "a"}}], ["a", "b"], 3) == (
        expected
    )
    assert function([0, 2, 1], [1, 2], 3) == expected


@pytest.mark.parametrize("name", ["page_content", "text", "content"])
def test_texts_are_read_from_keys_and_attributes(name) -> None:
    as_object = type("Chunk", (), {name: "The GIL\r\n is a lo\u00adck."})()
    for item in (as_object, {name: "The GIL\r\n is a lo\u00adck."}):
        assert recall_at_k([item], ["GIL is a lock"], 1) == 1.0
        assert recall_at_k([item], ["gil is a lock"], 1) == 0.0


def test_a_set_of_texts_gives_the_same_value_in_every_process() -> None:
    code = (
        "from calipers.functions import average_precision as ap;"
        "print(ap([{'text': 'one two'}, {'text': 'one'}], {'one', 'two'}))"
    )
    values = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(2)
    }
    assert values == {"1.0\n"}


@pytest.mark.parametrize(
    ("retrieved", "ground_truth", "sentence"),
    [
        ("chunk_1", ["chunk_1"], "retrieved is not a list: found 'chunk_1'"),
        (["a"], "a", "ground_truth is not a list: found 'a'"),
        (None, ["a"], "retrieved is not a list: found None"),
        (["a"], 3, "ground_truth is not a list: found 3"),
        ({"a": 0.9}, ["a"], "retrieved has no order: found a dict"),
        ({"a"}, ["a"], "retrieved has no order: found a set"),
        (["a"], {"a": math.nan}, r"ground_truth\['a'\] is not a finite number: found nan"),
        (["a"], {"a": math.inf}, r"ground_truth\['a'\] is not a finite number: found inf"),
        (["a"], {"a": "2"}, r"ground_truth\['a'\] is not a finite number: found '2'"),
        (["a"], {"a": None}, r"ground_truth\['a'\] is not a finite number: found None"),
        (["a", ["b"]], ["a"], r"retrieved\[1\] is not an id: found \['b'\]"),
        ([None], ["a"], r"retrieved\[0\] is not an id: found None"),
        ([{"score": 1}], ["a"], r"retrieved\[0\] is not an id"),
        (["a"], [["a"]], r"ground_truth\[0\] is not an id: found \['a'\]"),
        ([1, 2], ["1"], "different kinds of ids: 1 in one, '1' in the other"),
        (["a", {"text": "b"}], ["b"], r"retrieved\[0\] is 'a'"),
        ([{"text": "b"}], [" "], "not a text: found ' '"),
        ([{"text": "b"}], [7], "not a text: found 7"),
        ([{"text": "b c"}], {"b c": 1, "b  c": 2}, "grades one text twice: 'b c' has 1 and 2"),
        ([{"id": "c1", "text": "b"}], ["c1"], r"'c1' is the id of retrieved\[0\]"),
        ([Document("b", metadata={"id": "c1"})], {"c1": 2}, "Pass the ids alone"),
    ],
)
@pytest.mark.parametrize("function", EVERY)
def test_input_that_cannot_be_meant_is_refused(function, retrieved, ground_truth, sentence) -> None:
    with pytest.raises(InvalidInput, match=sentence) as refusal:
        function(retrieved, ground_truth, 3)
    assert isinstance(refusal.value, CalipersError)
    assert isinstance(refusal.value, ValueError)


WHOLE = "corpus_size is not a whole number above 0"


@pytest.mark.parametrize(
    ("size", "retrieved", "sentence"),
    [
        *((size, ["a", "x"], WHOLE) for size in (0, True, 2.5, "9")),
        (2, ["a", "x"], r"found 2, but .* alone make 3"),
        (9, documents("a"), "corpus_size cannot be used with texts"),
    ],
)
def test_corpus_size_must_be_possible(size, retrieved, sentence) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        confusion_at_k(retrieved, ["a", "b"], 2, corpus_size=size)


def test_nothing_the_caller_passed_is_changed() -> None:
    retrieved, grades = ["a", "a", "x"], {"a": 2, "x": 0}
    for function in EVERY:
        function(retrieved, grades, 3)
    assert (retrieved, grades) == (["a", "a", "x"], {"a": 2, "x": 0})
