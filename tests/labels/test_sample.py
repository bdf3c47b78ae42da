"""A sample is drawn at random, judged blind, counted at its looks, and knows itself afterwards."""

import json
from typing import Any

import numpy as np
import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.io.records.label_files import write_labels
from calipers.labels.exchange import take_labels
from calipers.labels.sample import drawn_order
from calipers.store.label_pools import append_on
from calipers.store.pool import NewEntry
from tests.command import calipers_command, refused
from tests.questions.samples import write_lines

N = 120
FIRST = 30
DEPTH = 3


def data(seed=0, wrong=0.1, n=N):
    """Runs, what people find relevant, and a machine's ground truth."""
    rng = np.random.default_rng(seed)
    run, people, machine = {}, {}, []
    for i in range(n):
        query = f"q{i:03d} ?"
        run[query] = [f"d{i}-{j}" for j in range(DEPTH)]
        people[query] = {one for one in run[query] if rng.random() < 0.5} or {f"d{i}-9"}
        said = [one for one in run[query] if (one in people[query]) != (rng.random() < wrong)]
        tags = {"kind": "fact" if i % 3 else "how", "intent": f"i{i // 2}"}
        machine.append({"query": query, "tags": tags, "ground_truth": said or [f"d{i}-9"]})
    return run, people, machine


RUN, PEOPLE, MACHINE = data()
THEIRS = [{**one, "tags": {"judged_by": "person:anna"}} for one in MACHINE]


def draw(tmp_path, run=RUN, machine=MACHINE, name="run", **more):
    asked = {"metric": f"hit_rate@{DEPTH - 2}", "until": 0.15, "store": str(tmp_path / "l.db")}
    return calipers.labels_sample({name: run}, ground_truth=machine, **{**asked, **more})


def opened(tmp_path, pool="run-sample"):
    return calipers.labels_desk(pool, store=str(tmp_path / "l.db"))


def places(desk):
    """Which of the draw each item belongs to."""
    return {query: at for at, query in enumerate(desk._watch._places)}


def judge(tmp_path, upto, people=PEOPLE, but=()):
    """People judge the first of the draw."""
    desk = opened(tmp_path)
    at = places(desk)
    # One transaction for all of them: what is tested is not the disk.
    with desk.store.writing() as connection:
        for item in desk.next("me", len(desk.items)):
            query = item.label.query_id
            if at[query] < upto and at[query] not in but:
                grade = 3.0 if item.label.item in people[query] else 0.0
                new = NewEntry(item=item.position, judge="me", kind="label", grade=grade)
                append_on(connection, desk.content.number, new)
    return desk


def exported(tmp_path, upto, **more):
    draw(tmp_path, **more)
    desk = judge(tmp_path, upto)
    path = tmp_path / "people.jsonl"
    desk.export(path)
    return path


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """What people said of the first look of the draw."""
    return exported(tmp_path_factory.mktemp("judged"), FIRST)


def corrected(path, machine=MACHINE, **more):
    return calipers.corrected(
        ground_truth=machine, run=RUN, people=path, metrics=f"hit_rate@{DEPTH - 2}", **more
    )


def test_from_the_draw_to_the_corrected_metric(tmp_path):
    begun = draw(tmp_path)
    first = begun.draw.looks[0]
    assert (begun.judged, begun.width, begun.looks) == (0, None, ())
    assert "The first look is at" in begun.claims[0].range
    judge(tmp_path, first - 1)
    nearly = draw(tmp_path)
    assert (nearly.judged, nearly.looks) == (first - 1, ())
    assert nearly.width > 0
    desk = judge(tmp_path, first)
    state: Any = calipers.labels_sample(pool="run-sample", store=str(tmp_path / "l.db"))
    assert (state.judged, state.counted) == (first, first)
    assert "machine alone" in state.claims[0].fact
    # Where it is not narrow enough, more labels narrow it.
    while not state.reached:
        desk = judge(tmp_path, state.next_look)
        state = desk.sample()
    assert state.width <= 0.15
    assert state.claims[0].standing == "passed"
    desk.export(tmp_path / "people.jsonl")
    found = corrected(tmp_path / "people.jsonl")[f"hit_rate@{DEPTH - 2}"]
    assert found.sampled == state.counted
    [look] = state.looks
    assert (found.value, found.interval.low, found.interval.high) == pytest.approx(
        (look.value, look.interval.low, look.interval.high)
    )
    truth = np.mean([RUN[q][0] in PEOPLE[q] for q in RUN])
    assert found.interval.low < truth < found.interval.high


def test_what_is_judged_after_a_look_counts_at_the_next(tmp_path):
    state = draw(tmp_path)
    first, second = state.draw.looks[:2]
    assert corrected(exported(tmp_path, first + 3)).sampled == first
    assert draw(tmp_path).judged == first + 3 < second


def test_looks_widen_the_interval(judged):
    looked = corrected(judged)
    lines = [json.loads(line) for line in judged.read_text().splitlines()]
    plain = [one for one in lines if one["tags"]["judged_by"].startswith("person:")]
    for one in plain:
        del one["tags"]
    fixed = corrected(plain, sampled="at-random")
    one, other = (each.metrics[0] for each in (looked, fixed))
    assert one.value == other.value
    assert one.interval.low < other.interval.low < other.interval.high < one.interval.high


def test_results_that_people_never_saw_are_said(judged):
    assert corrected(judged).unjudged == 0.0
    other = {query: ["x", *found] for query, found in RUN.items()}
    found = calipers.corrected(
        ground_truth=MACHINE, run=other, people=judged, metrics="hit_rate@1,hit_rate@2"
    )
    assert found.unjudged == 0.5
    assert "50% of the results" in str(found)


def test_the_history_knows_who_judged(tmp_path, judged):
    place, pair = str(tmp_path / "h.db"), calipers.read(ground_truth=judged, run=RUN)
    scores = calipers.evaluate(pair, metrics="mrr")
    calipers.save(scores, "a", store=place, ground_truth=pair.ground_truth, run=pair.run)
    kept = calipers.read("@a", store=place).ground_truth.tags["judged_by"]
    assert sorted(kept.value_counts().iter_rows()) == [("import", N - FIRST), ("person:me", FIRST)]


@pytest.mark.parametrize(
    "change",
    [
        lambda first: [],
        lambda first: [
            {**first, "ground_truth": {o: 3 - g for o, g in first["ground_truth"].items()}}
        ],
        lambda first: [_tagged(first, '"seed":0', '"seed":9')],
        lambda first: [_tagged(first, "{", "[")],
    ],
)
def test_an_edited_sample_is_refused(tmp_path, judged, change):
    rows = [json.loads(line) for line in judged.read_text().splitlines()]
    rows.sort(key=lambda one: "drawn" not in one["tags"])
    path = tmp_path / "people.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in [*change(rows[0]), *rows[1:]]))
    with pytest.raises(InvalidInput, match="not as `calipers labels export` wrote it"):
        corrected(path)


def _tagged(row, old, new):
    return {**row, "tags": {**row["tags"], "drawn": row["tags"]["drawn"].replace(old, new)}}


def test_another_ground_truth_is_refused(judged):
    with pytest.raises(InvalidInput, match="drawn of another ground truth"):
        corrected(judged, machine=data(seed=4)[2])


def test_too_few_labels_say_nothing(tmp_path):
    path = exported(tmp_path, 7)
    with pytest.raises(InvalidInput, match=r"7 queries of the sample, and nothing .* before 30"):
        corrected(path)


def test_a_sample_of_queries_corrects_no_mean_of_clusters(judged):
    with pytest.raises(InvalidInput, match="counts every query as one"):
        corrected(judged, cluster="intent")


def test_the_sample_waits_for_nobody_who_left_with_a_question_on_the_screen(tmp_path):
    draw(tmp_path)
    # Nobody judges the first and the fifth of the draw: all others count.
    desk = judge(tmp_path, 32, but=(0, 4))
    state = desk.sample()
    assert (state.judged, state.waiting) == (30, None)
    assert state.counted is not None
    desk.export(tmp_path / "people.jsonl")
    assert corrected(tmp_path / "people.jsonl").sampled == state.counted


def test_a_skip_holds_the_sample_up_and_says_so(tmp_path):
    draw(tmp_path)
    desk = opened(tmp_path)
    skipped = next(item for item in desk.items if places(desk)[item.label.query_id] == 4)
    desk.give("me", skipped.position, kind="skip")
    desk = judge(tmp_path, 30)
    state = desk.sample()
    assert state.judged == 4
    assert "was skipped" in state.waiting


def test_labels_of_a_machine_do_not_fill_the_sample_and_those_of_nobody_are_refused(tmp_path):
    draw(tmp_path)
    desk = opened(tmp_path)
    rows = [item.label.judged("machine:small", 1.0) for item in desk.items]
    write_labels(rows, tmp_path / "machine.jsonl")
    take_labels(desk, [tmp_path / "machine.jsonl"])
    assert desk.sample().judged == 0
    listed = calipers.labels_list(str(tmp_path / "l.db")).pools[0]
    assert (listed.labels, listed.judged, listed.by_machines) == (0, 0, len(rows))
    write_labels([desk.items[0].label.judged(None, 1.0)], tmp_path / "gpt.jsonl")
    with pytest.raises(InvalidInput, match="does not say who judged"):
        take_labels(desk, [tmp_path / "gpt.jsonl"])
    assert take_labels(desk, [tmp_path / "gpt.jsonl"], "machine:gpt").judges == ("machine:gpt",)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"until": 0.02}, r"±0.02 cannot be reached: .* leave about ±0\.\d+; ask for until=0"),
        ({"until": 0}, "width to reach is 0"),
        ({"most": 10}, "at most 10 are to be judged"),
        ({"depth": 0}, "k is 0; it must be a whole number"),
        ({"machine": MACHINE[:12]}, "There are 12 queries to draw from"),
        ({"machine": THEIRS}, "no machine to correct"),
    ],
)
def test_bad_input(tmp_path, more, says):
    with pytest.raises(InvalidInput, match=says):
        draw(tmp_path, **more)
    assert not (tmp_path / "l.db").exists()


def test_a_sample_is_drawn_once(tmp_path):
    draw(tmp_path)
    with pytest.raises(InvalidInput, match=r"with another .*seed"):
        draw(tmp_path, seed=1)
    with pytest.raises(InvalidInput, match=r"with another .*ground truth"):
        draw(tmp_path, machine=data(seed=4)[2])
    assert draw(tmp_path, name="my run (1)").pool == "my-run--1--sample"
    calipers.labels_pool("plain", {"run": RUN}, store=str(tmp_path / "l.db"))
    with pytest.raises(InvalidInput, match="already, with another"):
        draw(tmp_path, pool="plain")
    with pytest.raises(InvalidInput, match="The pool plain is no sample that was drawn"):
        calipers.labels_sample(pool="plain", store=str(tmp_path / "l.db"))


def test_the_draw_is_random_and_comes_back():
    queries = {f"q{i}" for i in range(60)}
    orders = [drawn_order(queries, seed) for seed in range(200)]
    assert all(set(one) == queries for one in orders)
    assert drawn_order(sorted(queries), 3) == orders[3]
    # Every query is among the first 20 about a third of the time.
    counts = [sum(query in one[:20] for one in orders) for query in queries]
    assert 40 < min(counts) <= max(counts) < 95


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines("machine.jsonl", MACHINE)
    write_lines("run.jsonl", [{"query": q, "retrieved": found} for q, found in RUN.items()])
    asked = ["labels", "sample", "run.jsonl", "-g", "machine.jsonl", "--until", "0.2"]
    asked += ["-m", "hit_rate@1", "--store", "l.db"]
    assert "0 of 120 questions judged" in calipers_command(*asked).out
    again = json.loads(calipers_command(*asked, "--json").out)
    assert (again["judged"], again["draw"]["until"]) == (0, 0.2)
    assert "--until" in refused(*asked[:5], "--until", "narrow")
    assert "machine's ground truth is not given" in refused("labels", "sample", "run.jsonl")
