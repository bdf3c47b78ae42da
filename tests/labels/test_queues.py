"""Who is given what: everything is judged, nothing is handed out by looking."""

from datetime import UTC, datetime
from typing import Any

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.labels.desk import Desk
from calipers.store.label_pools import PoolClosedError, entries_after, lend, read_on
from calipers.web.pages import graded_by
from tests.command import calipers_command
from tests.labels.test_sample import draw
from tests.store.judged import BM25, DENSE, TRUTH, pool, run


def everything(store):
    """All that a store knows of its first pool, to see that nothing was written."""
    news = read_on(store, 1, 0)
    return news.version, len(news.entries), news.leases


def work(desk, judge, most=1000):
    """Judge what is handed out until nothing is; returns what was judged."""
    done: list[int] = []
    while len(done) < most and (items := desk.take(judge)[0]):
        desk.give(judge, items[0].position, 1)
        done.append(items[0].position)
    return done


def test_looking_hands_out_nothing_and_makes_nobody_a_judge(tmp_path):
    desk = pool(str(tmp_path / "h.db"), overlap=0.0)
    before = everything(desk.store)
    for _ in range(2):
        desk.next("anna", 4)
        desk.progress("ben")
        desk.agreement()
        desk.queue("anna")
    assert everything(desk.store) == before
    with pytest.raises(InvalidInput, match="not among those of the pool"):
        desk.progress("carl")
    assert desk.take("carl")[0]
    assert desk.judges == ("anna", "ben", "carl")


def test_what_a_judge_who_left_was_given_is_judged_by_the_others(tmp_path):
    place = str(tmp_path / "h.db")
    desk = pool(place, overlap=0.0, judges=("anna", "ben", "gone"))
    assert desk.take("gone", 2)[0]
    # A server that is started again: anna and ben do their parts, and then what is left.
    again = calipers.labels_desk("first", store=place)
    first = work(again, "anna")
    assert again.progress("anna").remaining == 0
    kept = again.progress("anna").elsewhere
    assert kept > 0
    assert len(first) + kept == len(desk.items)
    # Half an hour later.
    held = read_on(again.store, 1, 0).leases
    lend(again.store, 1, "gone", held, datetime.now(UTC))
    second = work(Desk(again.store, 1), "ben")
    assert sorted(first + second) == list(range(len(desk.items)))


def test_two_who_take_at_once_get_different_questions(tmp_path):
    desk = pool(str(tmp_path / "h.db"), overlap=0.0, judges=("anna",))
    other = Desk(desk.store, 1)
    mine = {one.label.query_id for one in desk.take("anna", 4)[0]}
    theirs = {one.label.query_id for one in other.take("ben", 4)[0]}
    assert mine
    assert theirs
    assert not mine & theirs


def test_two_processes_see_what_the_other_made_of_the_pool(tmp_path):
    place = str(tmp_path / "h.db")
    one = pool(place, queries={"q0"}, overlap=1.0)
    other = calipers.labels_desk("first", store=place)
    before = len(other.items)
    from calipers.labels.make import enlarge, to_judge

    content = one.content
    enlarge(one, to_judge(content.runs, content.ground_truth, settings=content.settings))
    last = one.items[-1].position
    for judge, grade in (("anna", 3), ("ben", 0)):
        one.give(judge, last, grade)
    assert [each.item.position for each in other.agreement().conflicts] == [last]
    assert len(other.items) == len(one.items) > before
    assert other.truth().unsettled == 1
    other.give("anna", last, 0)
    assert other.export(tmp_path / "out.jsonl").labels == 1


def test_a_closed_pool_takes_nothing_until_it_is_opened(tmp_path):
    desk = pool(str(tmp_path / "h.db"))
    desk.give("anna", 0, 3)
    desk.change("close", "lead", "the budget is spent")
    for doing in (lambda: desk.give("anna", 1, 3), lambda: desk.take("carl")):
        with pytest.raises(PoolClosedError, match="is closed since"):
            doing()
    assert desk.truth().labels == 1
    assert calipers.labels_list(str(tmp_path / "h.db")).pools[0].closed
    desk.change("reopen", "lead")
    desk.give("anna", 1, 3)
    log = entries_after(desk.store, 1)
    assert [(one.kind, one.judge) for one in log] == [
        ("label", "anna"),
        ("close", "lead"),
        ("reopen", "lead"),
        ("label", "anna"),
    ]
    assert log[1].note == "the budget is spent"


def test_a_deleted_pool_is_gone_and_its_log_is_not(tmp_path):
    place = str(tmp_path / "h.db")
    desk = pool(place)
    desk.give("anna", 0, 3)
    other = calipers.labels_desk("first", store=place)
    desk.change("delete", "lead")
    assert calipers.labels_list(place).pools == ()
    for doing in (other.state, lambda: other.give("anna", 1, 3)):
        with pytest.raises(InvalidInput, match="There is no pool number 1"):
            doing()
    assert [one.kind for one in entries_after(desk.store, 1)] == ["label", "delete"]
    # The name is free, the number is not used again.
    assert pool(place).content.number == 2


def test_a_pool_is_what_it_was_made_of(tmp_path):
    place = str(tmp_path / "h.db")
    first = pool(place, guidelines="Be kind.", judges=("anna",))

    def make(name="first", runs=None, **settings):
        settings = {"overlap": 1.0, "ground_truth": TRUTH, "guidelines": "Be kind.", **settings}
        runs = runs or {"bm25": BM25, "dense": DENSE}
        return calipers.labels_pool(name, runs, store=place, judges=("ben",), **settings)

    again = make(if_there="same")
    assert again.content.number == first.content.number
    assert again.judges == ("anna", "ben")
    other = run(("d1", "d2", "d3"), *[("d5", "d3", "d4")] * 3)
    refused: dict[str, dict[str, Any]] = {
        "the run dense is another": {"runs": {"bm25": BM25, "dense": other}},
        "the ground truth is another": {"ground_truth": TRUTH[:2]},
        "other guidelines": {"guidelines": "Be strict."},
        r"other metric \(ndcg@10, now recall@2\)": {"metric": "recall@2"},
        r"other scale \(0-3, now yes/no\)": {"scale": "yes/no"},
    }
    for words, settings in refused.items():
        with pytest.raises(InvalidInput, match=words):
            make(if_there="same", **settings)
    second = make(if_there="another", metric="recall@2")
    assert second.name == "first-2"
    assert make(if_there="another", metric="recall@2").content.number == second.content.number


def test_a_sample_is_judged_in_its_order_by_several(tmp_path):
    """Nobody waits for the question of a judge who does not come."""
    draw(tmp_path, judges=("gone", "anna", "ben"), pool="s")
    desk = calipers.labels_desk("s", store=str(tmp_path / "l.db"))
    shares = []
    for judge in ("anna", "ben") * 8:
        item = desk.take(judge)[0][0]
        desk.give(judge, item.position, 1)
        shares.append(item.share)
    assert sorted(set(shares)) == list(range(max(shares) + 1))
    assert not {*shares[::2]} & {*shares[1::2]}
    # What both are in the middle of is not counted yet.
    assert len(set(shares)) - 2 <= desk.sample().judged <= len(set(shares))


TAGGED = [{**one, "tags": {"topic": "law" if n < 2 else "tax"}} for n, one in enumerate(TRUTH)]


def test_a_slice_that_is_assigned_goes_to_its_judges_alone(tmp_path):
    for overlap in (0.0, 1.0):
        desk = pool(
            str(tmp_path / "h.db"),
            f"assigned-{overlap}",
            ground_truth=TAGGED,
            overlap=overlap,
            judges=("anna", "ben", "carl"),
            assign=["topic=law:anna", "topic=tax:ben,carl"],
        )
        asked = {
            who: {desk.items[at].label.query_id for at in work(desk, who)}
            for who in ("carl", "anna", "ben")
        }
        assert asked["anna"] == {"q0", "q1"}
        assert asked["ben"] | asked["carl"] == {"q2", "q3"}
        assert (asked["ben"] == asked["carl"]) == (overlap == 1)
    for assign, words in {
        "topic=law:zoe": "'zoe', who is not among the judges",
        "topic=lav:anna": "there are law, tax. Did you mean law",
        "tropic=law:anna": "no tag of the ground truth; there are topic",
        "anna": "write TAG=VALUE:JUDGES",
    }.items():
        with pytest.raises(InvalidInput, match=words):
            pool(str(tmp_path / "h.db"), "x", ground_truth=TAGGED, assign=[assign])


def test_a_scale_of_ones_own_is_kept_with_its_names(tmp_path):
    (tmp_path / "scale.toml").write_text("poor = 0\nfair = 0.5\n'very good' = 10\n")
    (tmp_path / "scale.json").write_text('{"poor": 0, "fair": 0.5, "very good": 10}')
    for n, ending in enumerate(("toml", "json")):
        desk = pool(str(tmp_path / "h.db"), f"p{n}", scale=str(tmp_path / f"scale.{ending}"))
        again = calipers.labels_desk(f"p{n}", store=str(tmp_path / "h.db"))
        assert list(again.content.settings.grades) == [0, 0.5, 10]
        assert list(again.content.settings.grade_names) == ["poor", "fair", "very good"]
        again.give("anna", 0, 10)
        with pytest.raises(InvalidInput, match=r"it can be 0, 0\.5, 10"):
            desk.give("anna", 0, 3)
    keys = [one["keys"] for one in graded_by(desk.content.settings)]
    assert keys == [["1"], ["2"], ["3"]]


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ("1-5", "it can be 0-3, yes/no, or a .toml or .json"),
        ("nowhere.toml", "cannot be read: No such file"),
        (5, "it can be 0-3, yes/no, or a .toml or .json"),
        ({"only": 1}, "must hold 2 to 9"),
        ({"a": 1, "b": True}, "a grade is a number from 0"),
        ({"a": 1, "b": 1.0}, "the same grade twice"),
        ({"a": 1, " ": 2}, "1 to 40 printable"),
    ],
)
def test_a_scale_that_cannot_be_meant_gets_a_sentence(tmp_path, scale, words):
    with pytest.raises(InvalidInput, match=words):
        pool(str(tmp_path / "h.db"), scale=scale)


def test_a_pool_is_closed_opened_and_deleted_by_command(tmp_path):
    store = str(tmp_path / "h.db")
    pool(store)
    for more, words in {
        ("close", "first", "--why", "done"): "The pool first is closed",
        ("list",): "closed",
        ("close", "first", "--reopen"): "open again",
        ("close", "first", "--delete"): "its log is kept",
    }.items():
        assert words in calipers_command("labels", *more, "--store", store).out
    assert "There is no pool" in calipers_command("labels", "list", "--store", store).out
