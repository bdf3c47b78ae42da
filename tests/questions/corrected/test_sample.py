"""A sample that corrects is people's, and was drawn at random; anything else is refused."""

import json

import pytest

import calipers
from calipers.errors import InvalidInput

N = 40
RUN = {f"q{i:02d}": ["a", "b", "c"] for i in range(N)}
MACHINE = {query: ["a"] for query in RUN}


def corrected(people, **settings):
    return calipers.corrected(
        ground_truth=MACHINE, run=RUN, people=people, metrics="mrr", **settings
    )


def some(n=12):
    return {query: ["b"] for query in list(RUN)[:n]}


def test_a_sample_of_unknown_origin_needs_the_word():
    with pytest.raises(InvalidInput, match=r"not known how .* --sampled at-random"):
        corrected(some())
    assert corrected(some(), sampled="at-random").sampled == 12
    with pytest.raises(InvalidInput, match="sampled is 'by-hand'; it can be at-random"):
        corrected(some(), sampled="by-hand")


def test_where_people_judged_everything_nothing_was_drawn():
    assert corrected(some(N))["mrr"].value == 0.5


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
    assert (tags.count("people"), tags.count("import")) == (10, 30)
    found = corrected(path, sampled="at-random")
    assert (found.sampled, found["mrr"].sampled, found["mrr"].people) == (10, 10, 0.5)


def test_a_query_that_keeps_a_label_of_the_machine_is_not_peoples(tmp_path):
    path = pool(tmp_path, 10, "plain", again=False)
    with pytest.raises(InvalidInput, match="None of 40 queries was judged by people alone"):
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
