"""Builds that a colleague would judge by eye: the first line and the exit code of the gate."""

import json
from pathlib import Path

import numpy as np
import pytest

import calipers
from simulations.results import result
from tests.command import calipers_command


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(n, ranking, targets=("t",), **tags):
    return {
        "id": f"q{n}",
        "query": f"question {n}",
        "retrieved": list(ranking),
        "ground_truth": list(targets),
        "tags": tags,
    }


def found(n, *, hit=True, **tags):
    return record(n, ["t", "x"] if hit else ["x", "y"], **tags)


def gate(before, now, *words):
    """The exit code and the first line of the real command, as wide as it likes."""
    Path("before.json").write_text(json.dumps(before))
    Path("now.json").write_text(json.dumps(now))
    saved = calipers_command("gate", "save", "before.json", "-o", "main.json")
    assert saved.code == 0, saved.err
    return again(*words)


def again(*words):
    done = calipers_command("gate", "now.json", "-b", "main.json", *words, columns=400)
    assert done.code in (0, 1), done.err
    return done.code, done.out.splitlines()[0]


def test_the_same_targets_ranked_worse_in_every_query(folder):
    first = [f"x{n}" for n in range(10)]
    good = ["t", "u", *first[:8]]
    bad = [*first[:3], "t", first[3], "u", *first[4:8]]
    code, line = gate(
        [record(n, good, ("t", "u")) for n in range(30)],
        [record(n, bad, ("t", "u")) for n in range(30)],
    )
    assert code == 1
    assert line.startswith("✗ Failed: ndcg@10 fell from 1.000 to 0.")
    assert line.endswith("; 30 of 30 queries worse, none better.")


def test_a_slice_that_collapses(folder):
    kinds = [f"kind {n // 16}" for n in range(96)]
    before = [found(n, type=kind) for n, kind in enumerate(kinds)]
    now = [found(n, hit=n >= 13, type=kind) for n, kind in enumerate(kinds)]
    code, line = gate(before, now, "--by", "type")
    assert code == 1
    assert line.startswith("✗ Failed: recall@10 (type=kind 0) fell from 1.000 to 0.188; 13 of 16 ")


def test_seven_of_eight_lost(folder):
    code, line = gate([found(n) for n in range(8)], [found(n, hit=n == 0) for n in range(8)])
    assert code == 1
    assert line.startswith("✗ Failed: recall@10 fell from 1.000 to 0.125; 7 of 8 queries worse")


def test_three_of_twelve_fixed_questions_got_worse(folder):
    targets = ("t", "u", "v", "w", "s", "r")
    before = [record(n, [*targets, "x"], targets) for n in range(12)]
    now = [record(n, ["t", "x"] if n < 3 else [*targets, "x"], targets) for n in range(12)]
    code, line = gate(before, now, "-m", "recall@10,ndcg@10")
    assert code == 1
    assert line.startswith("✗ Failed: recall@10 fell from 1.000 to 0.792; 3 of 12 queries worse")
    code, line = again("-m", "recall@10,ndcg@10", "--only-shown")
    assert code == 0
    assert line.startswith("~ recall@10 fell from 1.000 to 0.792; 3 of 12 queries worse")


def test_one_of_three_questions_raises(folder, monkeypatch):
    (folder / "broken_search.py").write_text(
        "def search(query, k):\n"
        "    if query == 'who?':\n"
        "        raise ValueError('no such index')\n"
        "    return ['t', 'x']\n"
    )
    monkeypatch.syspath_prepend(folder)
    asked = [{"query": one, "ground_truth": ["t"]} for one in ("who?", "what?", "when?")]
    (folder / "truth.json").write_text(json.dumps(asked))
    words = ("gate", "-g", "truth.json", "--retriever", "broken_search:search")
    done = calipers_command(*words, "--require", "recall@10 >= 0.5", columns=400)
    line = done.out.splitlines()[0]
    assert done.code == 0
    assert line.startswith(
        "~ 1 of 3 questions fails in the retriever: who? (ValueError: no such index)"
    )
    done = calipers_command(*words, "--require", "recall@10 >= 0.9", columns=400)
    assert done.code == 1
    assert done.out.startswith(
        "✗ Failed: recall@10 is 0.667 on 3 queries; at least 0.9 is required."
    )
    assert "who? (ValueError: no such index)" in done.out


def test_a_tick_never_stands_beside_a_loss(folder):
    code, line = gate([found(n) for n in range(100)], [found(n, hit=n > 0) for n in range(100)])
    assert code == 0
    assert line.startswith(
        "~ No clear difference in recall@10 (1.000, now 0.990): 1 of 100 queries"
    )


def test_five_of_two_hundred_lost_have_the_p_of_compare(folder):
    builds = [found(n) for n in range(200)], [found(n, hit=n >= 5) for n in range(200)]
    code, line = gate(*builds)
    assert code == 0
    assert line.startswith("~ No clear difference in recall@10 (1.000, now 0.975): 5 of 200 ")
    words = "--json"
    change = json.loads(calipers_command("gate", "now.json", "-b", "main.json", words).out)[
        "checks"
    ][0]["change"]
    row = json.loads(calipers_command("compare", "before.json", "now.json", words).out)
    row = row["differences"][0]
    same = ("p_value", "p_adjusted", "interval", "difference")
    assert {key: change[key] for key in same} == {key: row[key] for key in same}
    assert change["p_value"] == 0.0625


def test_ten_won_and_ten_lost_are_no_tick(folder):
    before = [found(n, hit=n < 10) for n in range(20)]
    code, line = gate(before, [found(n, hit=n >= 10) for n in range(20)])
    assert code == 0
    assert line.startswith("~ No clear difference in recall@10 (0.500, now 0.500): 10 of 20 ")
    done = calipers_command("gate", "now.json", "-b", "main.json", columns=400)
    assert "10 better, 10 worse: no clear difference" in done.out
    assert "✓" not in done.out


def test_one_better_and_twenty_worse_are_no_tick(folder):
    deep = [f"x{n}" for n in range(9)]
    before = [record(0, deep)] + [record(n, ["t", *deep]) for n in range(1, 40)]
    now = [record(n, [deep[0], "t", *deep[1:]] if n > 19 else ["t", *deep]) for n in range(40)]
    code, line = gate(before, now, "-m", "mrr", "--allow", "0.9")
    assert code == 1, "twenty worse are significant"
    assert line.startswith("✗ Failed: mrr fell")


def test_slices_need_three_lost_to_fail_by_their_mean(folder):
    kinds = [f"kind {n % 6}" for n in range(60)]
    before = [found(n, type=kind) for n, kind in enumerate(kinds)]
    two = [found(n, hit=n not in (0, 6), type=kind) for n, kind in enumerate(kinds)]
    assert gate(before, two, "--by", "type")[0] == 0
    three = [found(n, hit=n not in (0, 6, 12), type=kind) for n, kind in enumerate(kinds)]
    code, line = gate(before, three, "--by", "type")
    assert code == 1
    assert line.startswith("✗ Failed: recall@10 (type=kind 0) fell from 1.000 to 0.700; 3 of 10 ")


def test_noisy_slices_of_an_unchanged_build_seldom_stop_it():
    """60 queries in 6 slices, one in twenty by chance: it stopped in .46 of the builds."""
    rng, stopped = np.random.default_rng(13), 0
    tags = {"type": [f"{at % 6}" for at in range(60)]}
    for _ in range(40):
        before = (rng.random(60) < 0.8) * 1.0
        now = np.where(rng.random(60) < 0.05, 1.0 - before, before)
        stopped += calipers.gate(result(now, tags), baseline=result(before, tags), by="type").stops
    assert stopped <= 8


def test_a_question_that_must_not_fail(folder):
    before = [found(n, priority="high" if n < 3 else "low") for n in range(100)]
    now = [found(n, hit=n != 1, priority="high" if n < 3 else "low") for n in range(100)]
    code, line = gate(before, now, "--must", "priority=high")
    assert code == 1
    assert line == (
        "✗ Failed: 2 of 3 questions that must not fail find something (priority=high, recall@10); "
        "question 1 does not."
    )
    (folder / "ids.txt").write_text("q1\nq7\n")
    assert again("--must", "ids.txt")[0] == 1
    (folder / "ids.txt").write_text("q7\n")
    assert again("--must", "ids.txt")[0] == 0


def test_twenty_losses_of_a_hundredth_do_not_pass_one_by_one(folder):
    def build(lost):
        return [found(n, hit=n >= lost) for n in range(100)]

    codes = [gate(build(0), build(1), "--move-up")[0]]
    for lost in (2, 3, 4, 5, 6, 7, 20):
        (folder / "now.json").write_text(json.dumps(build(lost)))
        codes.append(again("--move-up")[0])
    first = codes.index(1)
    assert first <= 5, "five losses of 0.01 are allowed, or shown before"
    assert set(codes[first:]) == {1}


def test_a_baseline_moves_down_when_somebody_says_why(folder):
    code, _ = gate([found(n) for n in range(30)], [found(n, hit=n > 9) for n in range(30)])
    assert code == 1
    done = calipers_command("gate", "now.json", "-b", "main.json", "--accept", "half the price")
    assert done.code == 0
    assert done.out.startswith("✗ Failed: recall@10 fell from 1.000 to 0.667")
    assert "half the price" in done.out
    assert again()[0] == 0
    assert '"accepted": "half the price"' in Path("main.json").read_text()
    assert calipers_command("gate", "now.json", "-b", "main.json", "--accept", " ").code == 2


def test_a_baseline_moves_up_by_itself_where_a_gain_is_shown(folder):
    code, _ = gate(
        [found(n, hit=n > 9) for n in range(30)], [found(n) for n in range(30)], "--move-up"
    )
    assert code == 0
    assert again()[1].startswith("✓ No worse than the baseline in recall@10: no query changed.")
    (folder / "now.json").write_text(json.dumps([found(n, hit=n > 0) for n in range(30)]))
    again("--move-up")
    assert again()[1].startswith("~ No clear difference in recall@10 (1.000, now 0.967)"), (
        "a loss moves nothing"
    )


def at_rank(n, rank):
    return record(n, [f"x{at}" if at != rank else "t" for at in range(1, 11)])


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param([0] * 2 + [1] * 28, [1] * 30, id="two more found of thirty are no proof"),
        pytest.param(
            [0] * 10 + [1] * 30, [10] * 10 + [2] * 9 + [1] * 21, id="more is found, ranked lower"
        ),
    ],
)
def test_a_baseline_stays_unless_a_gain_is_shown_and_nothing_is_lost(folder, before, now):
    builds = [[at_rank(n, rank) for n, rank in enumerate(ranks)] for ranks in (before, now)]
    code, _ = gate(*builds)
    kept = (folder / "main.json").read_bytes()
    assert (code, again("--move-up")[0]) == (0, 0)
    assert (folder / "main.json").read_bytes() == kept
