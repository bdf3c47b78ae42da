"""A sample that corrects is people's, and was drawn at random; anything else is refused."""

import json

import numpy as np
import pytest

import calipers
from calipers.errors import InvalidInput

N = 20
RUN = {f"q{i:02d}": ["a", "b", "c"] for i in range(N)}
MACHINE = {query: ["a"] for query in RUN}


def corrected(people, **settings):
    return calipers.corrected(
        ground_truth=MACHINE, run=RUN, people=people, metrics="mrr", **settings
    )


def some(n=12):
    return {query: ["b"] for query in list(RUN)[:n]}


def test_a_sample_of_unknown_origin_needs_the_word():
    for n, word in ((12, "at-random"), (N, "all")):
        with pytest.raises(InvalidInput, match=rf'not known who gave .* sampled="{word}"'):
            corrected(some(n))
        assert corrected(some(n), sampled=word).sampled == n
    assert corrected(some(N), sampled="all")["mrr"].value == 0.5
    with pytest.raises(InvalidInput, match="sampled of corrected is 'by-hand'; it must be one of"):
        corrected(some(), sampled="by-hand")
    with pytest.raises(InvalidInput, match="8 queries of the machine's are not among theirs"):
        corrected(some(), sampled="all")


def test_what_a_machine_wrote_is_not_peoples_whatever_is_said():
    written = [
        {"query": query, "tags": {"source": "machine:small"}, "ground_truth": ["b"]}
        for query in RUN
    ]
    with pytest.raises(InvalidInput, match="a machine as its source"):
        corrected(written, sampled="all")


def pool(tmp_path, judged, order, *, again):
    """A pool over the machine's ground truth of which people judged some questions."""
    desk = calipers.labels_pool(
        "first",
        {"run": RUN},
        ground_truth=MACHINE,
        order=order,
        again=again,
        store=str(tmp_path / "labels.db"),
    )
    for item in desk.queue("me"):
        if int(item.label.query_id[1:]) < judged:
            desk.give("me", item=item.position, grade=3 if item.label.item == "b" else 0)
    path = tmp_path / "people.jsonl"
    desk.export(path)
    return path


def test_labels_of_the_machine_are_not_counted_as_peoples(tmp_path):
    path = pool(tmp_path, 10, "plain", again=True)
    tags = [json.loads(line)["tags"]["judged_by"] for line in path.read_text().splitlines()]
    assert (tags.count("person:me"), tags.count("import")) == (10, 10)
    found = corrected(path, sampled="at-random")
    assert (found.sampled, found["mrr"].sampled, found["mrr"].people) == (10, 10, 0.5)


def test_a_query_that_keeps_a_label_of_the_machine_is_not_peoples(tmp_path):
    path = pool(tmp_path, 10, "plain", again=False)
    with pytest.raises(InvalidInput, match="None of 20 queries was judged by people alone"):
        corrected(path, sampled="at-random")


def test_a_queue_by_what_moves_the_metric_is_no_sample(tmp_path):
    path = pool(tmp_path, 10, "moves", again=True)
    with pytest.raises(InvalidInput, match="no random sample: their queue was not finished"):
        corrected(path, sampled="at-random")


def test_a_queue_that_was_finished_has_no_order(tmp_path):
    path = pool(tmp_path, N, "moves", again=True)
    found = calipers.corrected(
        ground_truth={**MACHINE, "more": ["a"]},
        run={**RUN, "more": ["a", "b"]},
        people=path,
        sampled="at-random",
        metrics="mrr",
    )
    assert found.sampled == N


def test_a_metric_that_people_leave_undefined_is_one_of_fewer_queries():
    rng = np.random.default_rng(3)
    queries = [f"q{i:03d}" for i in range(300)]
    run = {query: ["a", "b", "c"] for query in queries}
    truth = {
        query: [one for one in ("a", "b") if rng.random() < 0.45] + ["z"] * (rng.random() < 0.1)
        for query in queries
    }
    # Where nothing is relevant the machine invents something that nobody returns.
    machine = {query: found or ["y"] for query, found in truth.items()}
    people = [{"query": q, "ground_truth": dict.fromkeys(truth[q], 1)} for q in queries[:120]]
    found = calipers.corrected(
        ground_truth=machine, run=run, people=people, sampled="at-random", metrics="mrr"
    )["mrr"]
    whole = calipers.evaluate(
        ground_truth=[{"query": q, "ground_truth": dict.fromkeys(truth[q], 1)} for q in queries],
        run=run,
        metrics="mrr",
    )["mrr"].mean
    assert found.machine < whole - 0.15
    assert abs(found.value - whole) < 0.03
    assert found.interval.low < whole < found.interval.high


def test_a_sample_of_which_people_judged_no_drawn_query_is_refused():
    tags = {"q1": {"judged_by": "machine:small", "drawn": "{}"}, "q2": {"judged_by": "person:anna"}}
    people = [{"query": q, "ground_truth": ["a"], "tags": one} for q, one in tags.items()]
    run = {q: ["a", "b"] for q in tags}
    with pytest.raises(InvalidInput, match="export it again"):
        calipers.corrected(ground_truth={q: ["a"] for q in tags}, run=run, people=people)
