"""A few worlds of every kind; ``python -m tests.worlds --worlds 10000 --seed 1`` asks many."""

# mypy: disable-error-code="arg-type,index"

import json
import random
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import calipers
from tests.command import typed
from tests.worlds.ask import inside, wrong_in
from tests.worlds.check import Asked, problems
from tests.worlds.draw import (
    KINDS,
    low_at_any_k,
    nothing_changed,
    one_outweighs,
    reversed_lists,
    sorted_backwards,
)
from tests.worlds.world import Question, World


@pytest.mark.parametrize("seed", range(500, 500 + len(KINDS)))
def test_every_sentence_of_a_world_is_true(seed: int) -> None:
    assert wrong_in(seed, most=2) == []


class _Fixed:
    """A stand-in for chance, where a world has none."""

    def sample(self, some: Any, n: int) -> list[Any]:
        return list(some)[:n]

    def randint(self, low: int, _: int) -> int:
        return low

    def random(self) -> float:
        return 0.0

    def choice(self, some: Any) -> Any:
        return some[0]

    def shuffle(self, some: Any) -> None:
        """Leave the order as it is."""


def said(world: World, line: str) -> str:
    """What a command prints in a world, on one line."""
    with inside(world):
        done = typed(line, columns=500)
    assert done.code in (0, 1), done.err
    return done.out


def hits(found: dict[str, list[int]]) -> World:
    """Systems that find each target first, or not at all."""
    n = len(next(iter(found.values())))
    asked = tuple(Question(f"q{at}", (f"t{at}",)) for at in range(n))
    systems = {
        name: {f"q{at}": [f"t{at}" if hit else "x", "y", "z"] for at, hit in enumerate(some)}
        for name, some in found.items()
    }
    return World("hits", asked, systems)


def test_all_systems_that_lost_are_named_and_none_may_be_as_good() -> None:
    text = said(reversed_lists(_Fixed(), 30), "compare a.jsonl b.jsonl c.jsonl")
    assert text.startswith("▼ b and c are worse than a: ndcg@10 is ")
    assert "may be as good" not in text


def test_a_large_change_is_said_before_the_doubt() -> None:
    text = said(hits({"a": [1] * 5, "b": [1, 0, 0, 0, 0]}), "compare a.jsonl b.jsonl")
    first = "~ recall@10 fell from 1.000 to 0.200 on 5 queries; this may be chance."
    assert text.startswith(first)


@pytest.mark.parametrize(
    ("lost", "sentence"),
    [
        (1, "~ b is better than a in ndcg@9 (0.975, it was 0.301); no clear difference in"),
        (4, "~ recall@9 fell from 1.000 to 0.900 on 40 queries; this may be chance. Better in n"),
        (20, "▼ b is worse than a: recall@9 is 0.500, it was 1.000; better in ndcg@9."),
    ],
)
def test_a_gain_beside_a_loss_is_no_chance(lost: int, sentence: str) -> None:
    """What is significant is said to be so, beside a metric that is not."""
    world = hits({"a": [1] * 40, "b": [0] * lost + [1] * (40 - lost)})
    late = {one: [*"stuvwxyz", *found[:1]] for one, found in world.systems["a"].items()}
    world = replace(world, systems={"a": late, "b": world.systems["b"]})
    line = "compare a.jsonl b.jsonl -m recall@9,ndcg@9"
    assert said(world, line).startswith(sentence)


def test_one_of_two_that_changed_asks_for_nothing() -> None:
    text = said(hits({"a": [1, 1], "b": [1, 0]}), "compare a.jsonl b.jsonl")
    assert "1 of 2 queries worse, none better." in text
    assert "settle" not in text
    assert "takes" not in text


def test_one_gain_that_hides_many_losses_is_said_in_compare_and_gate() -> None:
    world = one_outweighs(_Fixed(), 31)
    text = said(world, "compare a.jsonl b.jsonl -m recall@10")
    assert text.startswith("~ recall@10: 9 of 31 queries worse, 1 better; that one decides ")
    with inside(world):
        typed("gate save a.jsonl -m recall@10 -o main.json")
        gate = typed("gate b.jsonl --baseline main.json", columns=500).out
        for name in "ab":
            typed(f"eval {name}.jsonl -m recall@10 --save nightly --store history.db")
        alarm = typed("history alarm nightly --store history.db", columns=500).out
    for text in (gate, alarm):
        assert "9 of 31 queries worse, 1 better" in text
        assert "; that one decides the mean." in text


def test_one_gain_that_balances_many_losses_is_said() -> None:
    targets = {f"q{at}": tuple(f"t{at}-{j}" for j in range(20)) for at in range(31)}
    asked = tuple(Question(name, wanted) for name, wanted in targets.items())
    old = {
        name: [*(wanted[:12] if at else ()), f"x{at}"]
        for at, (name, wanted) in enumerate(targets.items())
    }
    new = {
        name: [*(wanted[: 11 if at <= 20 else 12] if at else wanted), f"x{at}"]
        for at, (name, wanted) in enumerate(targets.items())
    }
    world = World("balanced", asked, {"a": old, "b": new})
    text = said(world, "compare a.jsonl b.jsonl -m recall@20")
    first = "~ recall@20: 20 of 31 queries worse, 1 better; that one makes up for all others."
    assert text.startswith(first)
    assert text.count("20 of 31 queries worse") == 1


def test_k_that_does_not_matter_is_no_advice() -> None:
    text = said(low_at_any_k(_Fixed(), 30), "sweep a.jsonl")
    assert text.startswith("k does not matter: it finds 10% at any k.")
    assert "✓" not in text


def test_lists_that_are_sorted_backwards_are_no_matter_of_k() -> None:
    text = said(sorted_backwards(_Fixed(), 30), "sweep a.jsonl")
    assert text.startswith("k is not the problem: the lists are in reverse order.")
    assert "Turned round, recall@1 is 1.000, not 0.000." in text
    assert "may still grow" not in text


@pytest.mark.parametrize("ks", ["1", "3", "1,3", "2,5,8"])
@pytest.mark.parametrize("n", [12, 40])
def test_a_reverse_order_is_seen_below_the_k_that_are_asked_for(ks: str, n: int) -> None:
    asked = tuple(Question(f"q{at}", (f"t{at}",)) for at in range(n))
    lists = {
        one.id: [f"x{at}-{rank}" for rank in range(20 - at % 8)] + [f"t{at}"]
        for at, one in enumerate(asked)
    }
    lists = {
        name: [*some, *(f"y{name}{at}" for at in range(21 - len(some)))]
        for name, some in lists.items()
    }
    text = said(World("reversed", asked, {"a": lists}), f"sweep a.jsonl -k {ks}")
    assert text.startswith("k is not the problem: the lists are in reverse order.")
    assert "etrieve more" not in text


def test_distances_that_rise_are_as_they_were_said_to_be() -> None:
    asked = tuple(Question(f"q{at}", (f"t{at}",)) for at in range(4))
    lists = {one.id: [*one.targets, "x", "y"] for one in asked}
    scores = {one.id: [0.1, 0.2, 0.3] for one in asked}
    world = World("distances", asked, {"a": lists}, scores)
    assert "rise along the list" in said(world, "eval a.jsonl --explain")
    for line in ("eval", "diagnose"):
        text = said(world, f"{line} a.jsonl --distance score --explain")
        assert "rise along" not in text


def test_an_audit_has_no_standing_on_any_face() -> None:
    with inside(hits({"a": [1, 0] * 20})):
        assert json.loads(typed("audit truth.jsonl --json").out)["claim"]["standing"] is None


def test_precision_divides_by_k_where_lists_end_early() -> None:
    world = hits({"a": [1, 0] * 20})
    text = said(world, "eval a.jsonl -m precision,recall -k 10")
    assert "Lists end at 3 results; precision@10 still divides by 10." in text
    assert "Lists end" not in said(world, "eval a.jsonl -m recall -k 10")


def test_a_notebook_names_keywords_and_no_options() -> None:
    with inside(sorted_backwards(_Fixed(), 30)):
        for found in (calipers.diagnose("a.jsonl"), calipers.sweep("a.jsonl")):
            shown = [found._repr_html_(), found.explain()]
            for text in shown:
                outside = re.sub(r"`calipers [^`]*`|<code>.*?</code>|<style>.*?</style>", "", text)
                assert not re.search(r"(?<![\w-])--[a-z]", outside), text


def test_what_is_found_whole_cannot_grow() -> None:
    asked = (Question("q0", ("t0",)), Question("q1", ("t1",)))
    lists = {"q0": ["t0", "x", "y"], "q1": ["x", "y", "t1"]}
    text = said(World("whole", asked, {"a": lists}), "sweep a.jsonl")
    assert text.startswith("Use k = 3: it finds 100%; k = 2 finds 50%.")
    assert "may still grow" not in text


@pytest.mark.parametrize("line", ["sweep a.jsonl", "audit truth.jsonl", "diagnose a.jsonl"])
def test_what_is_no_verdict_has_no_sign(line: str) -> None:
    first = said(hits({"a": [1, 0] * 20}), line).split("\n")[0]
    assert not first.startswith(("✓", "✗", "▲", "▼", "~")), first


@pytest.mark.parametrize(
    "line",
    [
        "eval a.jsonl",
        "compare a.jsonl b.jsonl",
        "gate b.jsonl --baseline main.json",
        "gate a.jsonl --require 'recall@10 >= 0.5'",
    ],
)
def test_who_leaves_a_mean_is_said(line: str) -> None:
    asked = (*(Question(f"q{at}", (f"t{at}",)) for at in range(7)), Question("b", ()))
    lists = {one.id: [*one.targets, "x"] for one in asked}
    with inside(World("left out", asked, {"a": lists, "b": lists})):
        typed("gate save a.jsonl -m recall@10 -o main.json")
        text = typed(line, columns=500).out
        answer = json.loads(typed(f"{line} --json").out)
    left = [fact for each in answer["sentences"] for fact in each["facts"]]
    assert {"about": "left out", "metric": "recall", "count": 1, "of": 8, "text": "b"} in left
    who = "1 of 8 queries is left out of recall: nothing relevant is known for it (b)."
    assert text.count(who) == 1


def test_a_query_that_one_system_lacks_leaves_a_comparison() -> None:
    asked = tuple(Question(f"q{at}", (f"t{at}",)) for at in range(4))
    lists = {one.id: [*one.targets, "x"] for one in asked}
    with inside(World("lacking", asked, {"a": lists, "b": lists})):
        rows = Path("b.jsonl").read_text("utf-8").splitlines()
        Path("b.jsonl").write_text("\n".join([*rows[:3]]) + "\n", "utf-8")
        line = "compare a.jsonl b.jsonl -g truth.jsonl --missing exclude -m recall@10 --anyway"
        text = typed(line, columns=500)
    why = "1 of 4 queries is left out of recall: not every system has a value for it (q3)."
    assert why in text.out, text


def test_only_returned_rows_that_were_judged() -> None:
    with inside(nothing_changed(_Fixed(), 2)):
        rows = ["question,doc_id,rank,is_relevant", "a,1,1,1", "a,2,2,0", "b,3,1,0", "b,4,2,0"]
        Path("judged.csv").write_text("\n".join(rows) + "\n")
        text = typed("eval judged.csv -k 2", columns=500).out
    assert text.startswith("For half of the queries a target stands in the first 2 results")
    assert "precision  0.250" in text
    assert "recall" not in text.split("\n\n")[1]


def test_the_first_metric_named_leads() -> None:
    world = hits({"a": [1, 0] * 10, "b": [1, 1] * 10})
    with inside(world):
        done = json.loads(typed("fuse a.jsonl b.jsonl -m mrr@10,recall@5 --json").out)
        compared = json.loads(typed("compare a.jsonl b.jsonl -m mrr@5,recall@5 --json").out)
        first = typed("eval a.jsonl -m ndcg@10,recall@100", columns=500).out
    assert done["primary"] == "mrr@10"
    assert compared["primary"] == "mrr@5"
    assert first.startswith("ndcg@10 is ")


def test_ties_and_a_whole_corpus_are_said() -> None:
    asked = tuple(Question(f"q{at}", (f"d{at % 12}",)) for at in range(24))
    every = {one.id: [f"d{rank}" for rank in range(20)] for one in asked}
    scores = {one.id: [1.0] * 12 + [0.5 - rank / 100 for rank in range(8)] for one in asked}
    text = said(World("ties", asked, {"a": every}, scores), "eval a.jsonl -k 20")
    assert "Every query gets the same 20 results, the whole corpus as it seems" in text
    assert "Equal scores decide ndcg@20: it is 0.270 in their worst order and 1.000 in " in text
    # The targets of eight documents stand below 10, and to return everything is no cure.
    cured = said(World("ties", asked, {"a": every}), "diagnose a.jsonl")
    assert "Every query gets the same 20 results, the whole corpus as it seems" in cured
    assert "eval a.jsonl -k" not in cured


def test_ties_across_the_last_rank_decide_what_leads_and_grades_count() -> None:
    grades = {"a": 3.0, "b": 1.0}
    asked = (Question("q0", ("a", "b"), {}, grades), Question("q1", ("c",)))
    lists = {"q0": ["b", "x", "a"], "q1": ["c", "y", "z"]}
    scores = {"q0": [0.5, 0.5, 0.5], "q1": [0.9, 0.8, 0.7]}
    text = said(World("ties", asked, {"a": lists}, scores), "eval a.jsonl -m recall,ndcg -k 1")
    assert "Equal scores decide recall@1: it is 0.500 in their worst order and 0.750 in" in text
    assert "ndcg@1 is 0.500 and 1.000." in text


def test_the_checker_hears_a_false_fact_and_a_number_that_is_none() -> None:
    world = hits({"a": [1, 1], "b": [1, 0]})
    fact = {"about": "mean", "metric": "recall@10", "value": 0.5, "queries": 2}
    wrong = {"sentences": [{"text": "recall@10 is 0.500 on 3 queries.", "facts": [fact]}]}
    found = list(problems(world, Asked("eval a.jsonl"), wrong))
    assert len(found) == 2
    both = [
        {"about": "difference", "system": "b", "against": "a", "metric": "m", "sure": True},
        {"about": "not separated", "system": "b", "against": "a"},
    ]
    both[0]["direction"] = "worse"
    answer = {"sentences": [{"text": "", "facts": [both[0], both[1]]}]}
    assert any("may be as good" in one for one in problems(world, Asked("compare"), answer))


def test_the_checker_hears_what_is_false_of_lanes_and_of_missed_targets() -> None:
    world = hits({"a": [1, 1, 0, 0], "b": [1, 0, 1, 0]})
    with inside(world):
        fusion = json.loads(typed("fuse a.jsonl b.jsonl --json").out)
        missed = json.loads(typed("misses a.jsonl --json").out)
    assert list(problems(world, Asked("fuse a.jsonl b.jsonl"), fusion)) == []
    assert list(problems(world, Asked("misses a.jsonl"), missed)) == []
    bound = {"about": "bound", "metric": "recall", "value": 0.8}
    moved = {"about": "difference", "system": "a alone", "against": "RRF 60", "metric": "recall@1"}
    for fact in (bound, {**moved, "value": 0.5, "before": 0.9}):
        wrong = {**fusion, "sentences": [{"text": "", "facts": [fact]}]}
        assert len(list(problems(world, Asked("fuse a.jsonl b.jsonl"), wrong))) == 1
    count = {"about": "count", "count": 1, "of": 4, "text": "targets"}
    wrong = {**missed, "sentences": [{"text": "", "facts": [count]}]}
    assert len(list(problems(world, Asked("misses a.jsonl"), wrong))) == 1


def nights(store: str, means: list[float], n: int = 20) -> None:
    """Evaluations of as many nights, each of which finds the first targets."""
    first = datetime(2026, 1, 1, 6, tzinfo=UTC)
    truth = {f"q{at:02}": [f"t{at}"] for at in range(n)}
    for night, mean in enumerate(means):
        run = {q: [t[0] if at < mean * n else "x"] for at, (q, t) in enumerate(truth.items())}
        scores = calipers.evaluate(ground_truth=truth, run=run, metrics="recall@10")
        now = first + timedelta(days=night)
        calipers.save(scores, "search", store=store, ground_truth=truth, run=run, now=now)


def test_a_reference_held_since_the_night_it_became_so(tmp_path: Path) -> None:
    store = str(tmp_path / "history.db")
    nights(store, [0.5, *[0.95] * 10, 0.75])
    found = calipers.history_trend("search", store=store)
    assert found.document().sentence == (
        "search got worse: recall@10 is 0.750, it was 0.950 since 2 January."
    )


@pytest.mark.parametrize(
    ("last", "sentence"),
    [
        ([0.6, 0.65], "search got worse: recall@10 is 0.650, it was 0.800 until 8 January."),
        ([0.6, 0.8], "search is no worse: recall@10 is 0.800, as on 8 January."),
        ([0.6, 0.8, 0.8], "search is no worse: recall@10 is 0.800, unchanged since 10 January."),
    ],
)
def test_a_reference_that_held_no_more_is_not_said_to_hold_since(
    tmp_path: Path, last: list[float], sentence: str
) -> None:
    store = str(tmp_path / "history.db")
    nights(store, [*[0.8] * 8, *last])
    assert calipers.history_trend("search", store=store).checks[0].claim.fact == sentence


def test_a_large_fall_that_does_not_ring_is_said_before_the_doubt(tmp_path: Path) -> None:
    store = str(tmp_path / "history.db")
    nights(store, [0.5, *[0.95] * 10, 0.85])
    assert calipers.history_trend("search", store=store).checks[0].claim.fact == (
        "search fell: recall@10 is 0.850, it was 0.950 since 2 January; this may be chance."
    )


def test_a_gain_over_nights_is_better_and_says_on_which_night(tmp_path: Path) -> None:
    store = str(tmp_path / "history.db")
    nights(store, [0.5, 0.9])
    claim = calipers.history_trend("search", store=store).checks[0].claim
    assert claim.fact == "search is better: recall@10 is 0.900, it was 0.500 on 1 January."


def test_the_newest_row_of_a_site_says_what_its_index_and_badge_say(tmp_path: Path) -> None:
    store = str(tmp_path / "history.db")
    nights(store, [*[0.95] * 8, 0.8, 0.75])
    site = tmp_path / "site"
    assert typed(f"history search --store {store} --html {site}").code == 0
    index = (site / "index.html").read_text("utf-8")
    first = "search got worse: recall@10 is 0.750, it was 0.950 until 8 January."
    assert first in index
    newest = calipers.history_trend("search", store=store).id
    assert first in (site / "evaluations" / f"{newest}.html").read_text("utf-8")
    assert json.loads((site / "badge.json").read_text("utf-8"))["color"] == "red"


def test_an_audit_counts_what_a_test_can_use() -> None:
    empty = tuple(Question(f"q{at}", (f"t{at}",) if at < 8 else ()) for at in range(24))
    lists = {one.id: [*one.targets, "x"] for one in empty}
    text = said(World("few targets", empty, {"a": lists}), "audit truth.jsonl")
    assert text.startswith("8 queries with a target cannot show less than 0.75; to detect")


def test_an_audit_of_copies_says_no_more_than_a_comparison(tmp_path: Path) -> None:
    """Where ten texts of sixteen got worse, a comparison is significant."""
    asked = [{"id": f"q{at}", "query": "Why?" if at % 2 else f"Why {at}?"} for at in range(30)]
    rows = [{**one, "ground_truth": [f"t{at}"]} for at, one in enumerate(asked)]
    found = calipers.audit(rows)
    assert "30 queries (16 different) cannot show less than 0.2;" in " ".join(str(found).split())
    old, new = (
        [{**one, "retrieved": ["x" if lost(at) else f"t{at}"]} for at, one in enumerate(rows)]
        for lost in (lambda _: False, lambda at: at % 2 == 0 and at < 20)
    )
    compared = calipers.compare({"old": old, "new": new}, metrics="recall@1")
    assert compared.difference("new", "recall@1").verdict == "worse"


def test_what_changed_over_nights_leads_where_something_did_not(tmp_path: Path) -> None:
    store = str(tmp_path / "history.db")
    truth = {f"q{at:02}": [f"t{at}"] for at in range(20)}
    for late in (True, True, False):
        run = {q: ["x", t[0]] if late else [t[0], "x"] for q, t in truth.items()}
        scores = calipers.evaluate(ground_truth=truth, run=run, metrics="recall@10,ndcg@10")
        calipers.save(scores, "search", store=store, ground_truth=truth, run=run)
    text = str(calipers.history_trend("search", store=store))
    assert "search is better: ndcg@10 is 1.000" in text
    assert "20 of 20 queries better" in text
    assert "No query changed." not in text


def test_nights_of_other_queries_are_not_compared_and_the_verdict_is(tmp_path: Path) -> None:
    store = str(tmp_path / "history.db")
    nights(store, [0.9] * 3)
    truth = {f"q{at:02}": [f"t{at}"] for at in range(30)}
    run = {q: [t[0] if at < 18 else "x"] for at, (q, t) in enumerate(truth.items())}
    scores = calipers.evaluate(ground_truth=truth, run=run, metrics="recall@10")
    now = datetime(2026, 1, 4, 6, tzinfo=UTC)
    calipers.save(scores, "search", store=store, ground_truth=truth, run=run, now=now)
    found = calipers.history_trend("search", store=store)
    assert found.checks[0].change.n == 20
    text = " ".join(str(found).split())
    assert "the ground truth changed; means before and after are not comparable, and the " in text


def test_few_that_lost_much_are_said_to_have_lost_more_than_many_gained(tmp_path: Path) -> None:
    """Eight queries fail on one night in eight each; then they all succeed, and two others fail."""
    store = str(tmp_path / "history.db")
    first = datetime.now(UTC) - timedelta(days=16)
    truth = {f"q{at:02}": [f"t{at}"] for at in range(20)}
    for night in range(17):
        lost = {18, 19} if night == 16 else {night % 8}
        run = {q: ["x" if at in lost else t[0]] for at, (q, t) in enumerate(truth.items())}
        scores = calipers.evaluate(ground_truth=truth, run=run, metrics="recall@10")
        now = first + timedelta(days=night)
        calipers.save(scores, "search", store=store, ground_truth=truth, run=run, now=now)
    text = " ".join(calipers.history_trend("search", store=store).explain().split())
    assert "7 of 20 queries better, 2 worse (p = .51); those 2 decide the mean." in text, text


def _half_turned(draw: random.Random, n: int, depth: int) -> World:
    """Good lists of which some are turned round and the others in a random order."""
    asked = tuple(Question(f"q{at}", (f"t{at}",)) for at in range(n))
    lists = {}
    for at, one in enumerate(asked):
        some = [f"x{at}-{rank}" for rank in range(depth - 1)]
        some.insert(min(depth - 1, int(draw.expovariate(5 / depth))), one.targets[0])
        lists[one.id] = some[::-1] if draw.random() < 0.5 else draw.sample(some, depth)
    return World("half turned", asked, {"a": lists})


@pytest.mark.parametrize("seed", [9, 13, 24])
def test_sweep_and_diagnose_agree_whether_lists_are_reversed(seed: int) -> None:
    """The test of one alone found it in some of these."""
    draw = random.Random(seed)
    with inside(_half_turned(draw, draw.choice([20, 40, 60]), draw.choice([3, 5, 10]))):
        sweep = typed("sweep a.jsonl", columns=500).out
        diagnosis = typed("diagnose a.jsonl", columns=500).out
    reversed_lists = "ists are in reverse order"
    assert (reversed_lists in sweep) == (reversed_lists in diagnosis)
