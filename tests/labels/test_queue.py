"""One queue: everything is judged, looking hands out nothing, and nobody waits for who left."""

import re
from typing import Any

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.labels import desk as desks
from calipers.labels.new_pool import to_judge
from calipers.model.labels import Label
from calipers.store.label_pools import PoolClosedError, read_on
from calipers.store.pool import PoolItem
from tests.command import calipers_command, refused
from tests.store.judged import BM25, DENSE, TRUTH, entries, pool, run


def work(desk, judge, most=1000):
    """Judge what is handed out until nothing is; returns what was judged."""
    done: list[int] = []
    while len(done) < most and (items := desk.take(judge, 20)):
        desk.give(judge, items[0].position, 1)
        done.append(items[0].position)
    return done


def test_looking_writes_and_holds_nothing(tmp_path):
    desk = pool(str(tmp_path / "h.db"))
    before = read_on(desk.store, 1, 0)
    for _ in range(2):
        desk.next("anna", 4)
        desk.progress("ben")
        desk.agreement()
        desk.queue("carl")
    assert read_on(desk.store, 1, 0) == before
    assert desk.next("ben") == desk.next("anna")


@pytest.mark.parametrize("per_item", [1, 2, 3])
def test_an_item_goes_to_whoever_asks_next_until_it_has_its_labels(tmp_path, per_item):
    desk = pool(str(tmp_path / "h.db"), per_item=per_item)
    judges = ("anna", "ben", "carl")
    while sum(len(work(desk, judge, 1)) for judge in judges):
        assert all(desk.progress(judge).items == 10 for judge in judges)
    state = desk.state()
    assert {state.people(item.position) for item in desk.items} == {per_item}
    done = [desk.progress(judge).labelled for judge in judges]
    assert sum(done) == 10 * per_item
    assert max(done) - min(done) <= 1
    assert {desk.progress(judge).left for judge in judges} == {0}
    assert desk.progress("anna").judged == 10


def test_what_is_on_a_screen_is_passed_over_for_ten_minutes_and_no_longer(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(desks, "monotonic", lambda: now[0])
    desk = pool(str(tmp_path / "h.db"), per_item=1)
    left, *ahead = desk.take("gone", 20)
    # What was only fetched ahead goes to who has nothing else; what is shown does not.
    assert {one.position for one in desk.take("anna", 20)} == {one.position for one in ahead}
    assert len(work(desk, "anna")) == 9
    assert (desk.take("anna"), desk.progress("anna").left) == ([], 1)
    now[0] += desks.HELD_FOR
    assert desk.take("anna") == [left]
    # Nothing of it is in the store: a server that is started again hands it out at once.
    assert desks.PoolSession(desk.store, 1).take("ben") == [left]


def test_a_skip_goes_to_the_next_and_a_language_model_fills_nothing(tmp_path):
    desk = pool(str(tmp_path / "h.db"), per_item=1)
    desk.give("anna", 0, kind="skip")
    desk.give("machine:small", 1, 2)
    assert {0, 1} <= {one.position for one in desk.next("ben", 99)}
    assert 0 not in {one.position for one in desk.next("anna", 99)}
    assert desk.items[0] in desk.queue("anna")


def test_two_processes_see_what_the_other_made_of_the_pool(tmp_path):
    place = str(tmp_path / "h.db")
    one = pool(place, queries={"q0"})
    other = calipers.labels_desk("first", store=place)
    before = len(other.items)
    content = one.content
    one.enlarge(to_judge(content.runs, content.ground_truth, content.settings))
    last = one.items[-1].position
    for judge, grade in (("anna", 3), ("ben", 0)):
        one.give(judge, last, grade)
    assert [each.item.position for each in other.agreement().conflicts] == [last]
    assert len(other.items) == len(one.items) > before
    assert other.truth().left_out == 1
    other.give("anna", last, 0)
    assert other.export(tmp_path / "out.jsonl").labels == 1


def test_a_closed_pool_takes_nothing_until_it_is_opened_and_a_deleted_one_is_gone(tmp_path):
    place = str(tmp_path / "h.db")
    desk = pool(place)
    desk.give("anna", 0, 3)
    desk.change("close", "me")
    with pytest.raises(PoolClosedError, match="is closed since"):
        desk.give("anna", 1, 3)
    assert len(desk.truth().grades) == 1
    assert calipers.labels_list(place).pools[0].closed
    desk.change("reopen", "me")
    desk.give("anna", 1, 3)
    log = [(one.kind, one.judge) for one in entries(place, 1)]
    assert log == [("label", "anna"), ("close", "me"), ("reopen", "me"), ("label", "anna")]
    # A deleted pool is gone, and its log is not.
    other = calipers.labels_desk("first", store=place)
    desk.change("delete", "me")
    assert calipers.labels_list(place).pools == ()
    for doing in (other.state, lambda: other.give("anna", 1, 3)):
        with pytest.raises(InvalidInput, match="There is no pool number 1"):
            doing()
    # The name is free, the number is not used again.
    assert pool(place).content.number == 2


def test_a_pool_is_what_it_was_made_of(tmp_path):
    place = str(tmp_path / "h.db")
    first = pool(place, guidelines="Be kind.", judges=("anna",))

    def make(name="first", runs=None, **settings):
        settings = {"per_item": 2, "ground_truth": TRUTH, "guidelines": "Be kind.", **settings}
        runs = runs or {"bm25": BM25, "dense": DENSE}
        return calipers.labels_pool(name, runs, store=place, judges=("ben",), **settings)

    assert make().content.number == first.content.number
    other = run(("d1", "d2", "d3"), *[("d5", "d3", "d4")] * 3)
    refusals: dict[str, dict[str, Any]] = {
        "another run dense": {"runs": {"bm25": BM25, "dense": other}},
        "another ground truth": {"ground_truth": TRUTH[:2]},
        "another guidelines": {"guidelines": "Be strict."},
        "another metric": {"metric": "recall@2"},
        "another scale": {"scale": "yes/no"},
    }
    for words, settings in refusals.items():
        with pytest.raises(InvalidInput, match=words):
            make(**settings)
    second = make(another=True, metric="recall@2")
    assert second.name == "first-2"
    assert make(another=True, metric="recall@2").content.number == second.content.number


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"scale": "1-5"}, "it must be one of 0-3, yes/no"),
        ({"scale": {"bad": 0, "good": 1}}, "it must be one of 0-3, yes/no"),
        ({"per_item": 0}, "per_item"),
        ({"judges": ()}, "Nobody is named to judge"),
        ({"judges": ("machine:x",)}, "how the labels of a language model are named"),
    ],
)
def test_what_cannot_be_meant_gets_a_sentence(tmp_path, settings, words):
    with pytest.raises(InvalidInput, match=words):
        pool(str(tmp_path / "h.db"), **settings)


def test_pools_are_listed_closed_opened_and_deleted_by_command(tmp_path):
    store = str(tmp_path / "h.db")
    pool(store)
    for more, words in {
        ("first", "--close"): r"first +0 of 10.* +20..-..-.. +20..-..-..$",
        ("--list",): r"first +0 of 10.* +20..-..-.. +20..-..-..$",
        ("first", "--reopen"): r"first +0 of 10.*[0-9] +20..-..-.. *$",
        ("first", "--delete"): "There is no pool",
    }.items():
        printed = calipers_command("labels", "export", *more, "--store", store).out
        assert re.search(words, printed, re.MULTILINE), printed
    assert "do not go together" in refused("labels", "export", "--list", "--close")
    assert "is for one pool" in refused("labels", "export", "--close", "--store", store)


def test_what_stands_high_comes_first_and_its_rank_is_not_shown():
    pool = [
        PoolItem(at, Label(f"q{at // 3}", item=f"d{at}", text=f"text {at}")) for at in range(30)
    ]
    high = load({f"q{n}": [f"d{3 * n + i}" for i in range(3)] for n in (7, 3)}, "run").run
    low = load({f"q{n}": ["x", "y", f"d{3 * n}", f"d{3 * n + 1}"] for n in (5, 7)}, "run").run
    for seed in range(5):
        plain, found = (desks.in_order(pool, runs, 4, seed) for runs in (None, [high, low]))
        asked = list(dict.fromkeys(one.label.query_id for one in found))
        assert asked == ["q7", "q3", "q5", "q0", "q1", "q2", "q4", "q6", "q8", "q9"]
        for query in asked:
            assert [one for one in found if one.label.query_id == query] == [
                one for one in plain if one.label.query_id == query
            ]
    assert [one.label.query_id for one in plain] == [one.label.query_id for one in pool]
