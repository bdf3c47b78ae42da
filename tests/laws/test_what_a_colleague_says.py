"""What a colleague says who looks at the same queries: `compare` must say it first."""

import json
from pathlib import Path

import pytest

from tests.command import calipers_command

OTHERS = [f"x{n}" for n in range(10)]
FIRST, FOURTH = ["t", "u", *OTHERS[:8]], [*OTHERS[:3], "t", OTHERS[3], "u", *OTHERS[4:8]]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def written(name, rankings, targets=("t",)):
    """A file of results: one ranking for each query."""
    Path(f"{name}.json").write_text(
        json.dumps(
            [
                {
                    "id": f"q{at:02d}",
                    "query": f"question {at}",
                    "ground_truth": list(targets),
                    "retrieved": ranking,
                }
                for at, ranking in enumerate(rankings)
            ]
        ),
        encoding="utf-8",
    )
    return f"{name}.json"


def hits(name, found):
    """Each query has its one target first, or not at all."""
    return written(name, [["t", "x"] if hit else ["x", "y"] for hit in found])


def first_line(*words):
    done = calipers_command("compare", *words, columns=400)
    assert done.code == 0, done.err
    return done.out.splitlines()[0]


def counted(won, lost, tied, *words):
    """The first line and the JSON for so many queries; the tied ones are found by both."""
    files = (
        hits("old", [0] * won + [1] * (lost + tied)),
        hits("new", [1] * won + [0] * lost + [1] * tied),
    )
    found = json.loads(calipers_command("compare", *files, *words, "--json").out)
    return first_line(*files, *words), found["differences"][0]


def test_the_same_targets_ranked_worse_in_every_query():
    files = written("A", [FIRST] * 30, "tu"), written("B", [FOURTH] * 30, "tu")
    assert first_line(*files) == (
        "▼ A → B: recall@10 is the same; ranked worse: ndcg@10 1.000 → 0.482: 0 better, 30 worse "
        "of 30 (shown, p < .001)"
    )
    assert first_line(*files, "-m", "recall@10,mrr").startswith(
        "▼ A → B: recall@10 is the same; ranked worse: mrr 1.000 → 0.250: 0 better, 30 worse of 30"
    )


@pytest.mark.parametrize("won", [8, 9, 10, 11])
def test_one_more_query_that_is_won_says_more(won):
    line, found = counted(won, 0, 12 - won, "-m", "recall@1")
    before = f"{(12 - won) / 12:.3f}"
    assert line.startswith(
        f"▲ old → new: recall@1 {before} → 1.000: {won} better, 0 worse of 12 (shown, p = .0"
        if won < 11
        else f"▲ old → new: recall@1 {before} → 1.000: {won} better, 0 worse of 12 (shown, p < .001"
    )
    assert found["p_value"] == pytest.approx(2 / 2**won)
    assert found["interval"]["low"] > 0


@pytest.mark.parametrize(
    ("counts", "sign"),
    [
        ((9, 0, 3), "▲"),
        ((10, 0, 2), "▲"),
        ((7, 0, 1), "▲"),
        ((0, 7, 1), "▼"),
        ((0, 13, 3), "▼"),
        ((0, 7, 40), "▼"),
        ((3, 0, 1), "?"),
        ((0, 3, 9), "?"),
        ((1, 0, 11), "?"),
        ((6, 5, 1), "?"),
        ((0, 5, 195), "?"),
    ],
)
def test_wins_and_losses_are_said_and_what_they_show(counts, sign):
    won, lost, tied = counts
    line, _ = counted(*counts)
    n = sum(counts)
    fact = f"{(lost + tied) / n:.3f} → {(won + tied) / n:.3f}: {won} better, {lost} worse of {n}"
    shown = "not shown" if sign == "?" else "shown"
    assert line.startswith(f"{sign} old → new: recall@10 {fact} ({shown}, p ")


def test_six_that_all_moved_one_way_are_shown_by_one_test_and_not_by_two():
    assert counted(6, 0, 1, "-m", "recall@1")[0].startswith("▲ old → new: recall@1 0.143 → 1.000")
    assert counted(6, 0, 1)[0].endswith(
        "6 better, 0 worse of 7 (not shown over 2 tests, p = .062; in one alone p = .031)"
    )


def test_three_of_twelve_got_worse():
    six = ["t", "u", "v", "w", "s", "r"]
    files = (
        written("old", [[*six, "x"]] * 12, six),
        written("new", [["t", "x"]] * 3 + [[*six, "x"]] * 9, six),
    )
    done = calipers_command("compare", *files, columns=400)
    first, possible, settled, *_ = done.out.splitlines()
    assert first == (
        "? old → new: recall@10 1.000 → 0.792: 0 better, 3 worse of 12 (not shown, p = .5)"
    )
    assert possible.startswith("  A loss of up to 0.")
    assert settled == "  About 23 more queries like these would show it four times in five."


def test_equal_runs():
    same = [1] * 20 + [0] * 10
    done = calipers_command("compare", hits("old", same), hits("new", same), columns=400)
    assert done.out.startswith(
        "? old → new: recall@10 0.667 → 0.667: 0 better, 0 worse of 30 (no difference)\n"
        "  A gain or a loss of up to 0.12 is not ruled out.\n"
        "  42 more queries that stay the same would rule out more than 0.05.\n"
    )
    assert "or these are one run twice" in done.out


def test_more_is_found_and_it_stands_lower():
    old = written("old", [["t", *OTHERS[:9]]] * 30, "tu")
    new = written("new", [[*OTHERS[:8], "u", "t"]] * 30, "tu")
    first, _, second, *_ = calipers_command("compare", old, new, columns=400).out.splitlines()
    assert first.startswith("▼ old → new: ndcg@10 0.613 → 0.362: 0 better, 30 worse of 30 (shown")
    assert second.startswith(
        "▲ old → new: recall@10 0.500 → 1.000: 30 better, 0 worse of 30 (shown"
    )


def test_three_systems_have_a_line_each_and_the_better_one_comes_first():
    files = (
        hits("base", [1] * 10 + [0] * 20),
        hits("bad", [0] * 29 + [1]),
        hits("good", [1] * 25 + [0] * 5),
        hits("alike", [1] * 9 + [0] * 19 + [1] * 2),
    )
    lines = calipers_command("compare", *files, "-m", "recall@1", columns=400).out.splitlines()
    said = [line.partition(": ")[0] for line in lines if line[:1] in "▲▼?" and line]
    assert said == ["▲ base → good", "▼ base → bad", "? base → alike"]


def test_one_query():
    old, new = written("old", [FIRST], "t"), written("new", [FOURTH], "t")
    assert first_line(old, new) == (
        "? old → new: recall@10 is the same; ndcg@10 1.000 → 0.431: 0 better, 1 worse of 1 "
        "(not shown; 1 query can show none, 7 could)"
    )


def test_what_nobody_asked_for_decides_nothing():
    """Targets at rank 11 are lost: mrr looks that deep, the metrics that decide do not."""
    deep = [*OTHERS, "t"]
    old = written("old", [["t"], deep] * 12)
    new = written("new", [["t"], OTHERS] * 12)
    done = calipers_command("compare", old, new, columns=400)
    assert done.out.startswith("? old → new: recall@10 0.500 → 0.500: 0 better, 0 worse of 24 (no")
    assert "▼" not in done.out.partition("decide:")[0]
    assert first_line(old, new, "-m", "recall@10,mrr").startswith("▼ old → new: recall@10 is the")


def test_every_form_says_the_same_first():
    files = hits("old", [0] * 9 + [1] * 3), hits("new", [1] * 12)
    line = first_line(*files)
    found = json.loads(calipers_command("compare", *files, "--json").out)["claims"][0]
    assert f"▲ {found['seen']} ({found['shown']})" == line
    assert calipers_command("compare", *files, "--as", "markdown").out.startswith(f"- **{line}**")
    page = calipers_command("compare", *files, "--html", "page.html")
    assert page.code == 0, page.err
    heading = (
        Path("page.html").read_text(encoding="utf-8").partition("<h1")[2].partition("</h1>")[0]
    )
    assert line[2:] in heading
    assert '<span class="sign better">▲</span>' in heading
