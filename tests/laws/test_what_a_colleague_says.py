"""What a colleague says who looks at the same queries: `compare` must say it first."""

import json
from pathlib import Path

import pytest

from tests.command import calipers_command

OTHERS = [f"x{n}" for n in range(10)]


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


@pytest.mark.parametrize("won", [8, 9, 10, 11])
def test_one_more_query_that_is_won_says_more(won):
    line, found = counted(won, 0, 12 - won, "-m", "recall@1")
    before = f"{(12 - won) / 12:.3f}"
    assert line == f"▲ new is better than old: recall@1 is 1.000, it was {before}."
    assert found["p_value"] == pytest.approx(2 / 2**won)
    assert found["interval"]["low"] > 0
    assert found["verdict"] == "better"


@pytest.mark.parametrize(
    ("counts", "sign"),
    [
        ((9, 0, 3), "▲"),
        ((10, 0, 2), "▲"),
        ((7, 0, 1), "▲"),
        ((0, 7, 1), "▼"),
        ((0, 13, 3), "▼"),
        ((0, 7, 40), "▼"),
        ((3, 0, 1), "~"),
        ((0, 3, 9), "~"),
        ((1, 0, 11), "~"),
        ((6, 5, 1), "~"),
        ((0, 5, 195), "~"),
    ],
)
def test_wins_and_losses_are_said_and_what_they_show(counts, sign):
    won, lost, tied = counts
    line, _ = counted(*counts)
    n = sum(counts)
    fact = f"recall@10 is {(won + tied) / n:.3f}, it was {(lost + tied) / n:.3f}."
    said = {
        "▲": f"new is better than old: {fact}",
        "▼": f"new is worse than old: {fact}",
        "~": f"No clear difference between new and old on {n} queries.",
    }
    if abs(won - lost) / n >= 0.05 and sign == "~":
        moved = f"from {(lost + tied) / n:.3f} to {(won + tied) / n:.3f} on {n} queries"
        said["~"] = f"recall@10 {'rose' if won > lost else 'fell'} {moved}; this may be chance."
    assert line == f"{sign} {said[sign]}"


def test_recall_and_ndcg_of_one_target_are_one_test():
    assert counted(6, 0, 1, "-m", "recall@1")[0].startswith("▲ new is better than old: recall@1 ")
    line, found = counted(0, 6, 34)
    assert line == "▼ new is worse than old: recall@10 is 0.850, it was 1.000."
    assert (found["p_value"], found["p_adjusted"]) == (0.03125, 0.03125)


def test_nine_lost_and_three_won_of_two_thousand_whatever_did_not_change():
    assert [counted(3, 9, tied)[0][:22] for tied in (1_988, 1_989)] == [
        "~ No clear difference "
    ] * 2


def test_the_same_numbers_have_the_same_interval():
    counted(8, 0, 72)
    done = calipers_command("compare", "old.json", "new.json", "-k", "10", "--json")
    rows = {one["metric"]: one for one in json.loads(done.out)["differences"]}
    recall, hit_rate = rows["recall@10"], rows["hit_rate@10"]
    assert recall["p_value"] == hit_rate["p_value"] == 2 / 2**8
    assert recall["interval"] == hit_rate["interval"]


def test_three_of_twelve_got_worse():
    six = ["t", "u", "v", "w", "s", "r"]
    files = (
        written("old", [[*six, "x"]] * 12, six),
        written("new", [["t", "x"]] * 3 + [[*six, "x"]] * 9, six),
    )
    done = calipers_command("compare", *files, columns=400)
    line = "~ recall@10 fell from 1.000 to 0.792 on 12 queries; this may be chance.\n"
    assert done.out.startswith(line)
    assert "3 of 12 queries worse, none better.\n" in done.out
    assert "would settle it" not in done.out


def test_more_is_found_and_it_stands_lower():
    old = written("old", [["t", *OTHERS[:9]]] * 30, "tu")
    new = written("new", [[*OTHERS[:8], "u", "t"]] * 30, "tu")
    said = calipers_command("compare", old, new, columns=400).out
    first = "▼ new is worse than old: ndcg@10 is 0.362, it was 0.613; better in recall@10.\n"
    assert said.startswith(first)
    assert "1.000  +0.500 ▲" in said


def test_of_several_systems_the_better_one_is_named_and_each_has_its_sign():
    files = (
        hits("base", [1] * 10 + [0] * 20),
        hits("bad", [0] * 29 + [1]),
        hits("good", [1] * 25 + [0] * 5),
        hits("alike", [1] * 9 + [0] * 19 + [1] * 2),
    )
    lines = calipers_command("compare", *files, "-m", "recall@1", columns=400).out.splitlines()
    assert lines[0].startswith("▲ good is better than base: recall@1 ")
    signs = {
        line.split()[0]: line.split()[-1] for line in lines[2:] if line[-1:] in ("▲", "▼", "~")
    }
    assert signs == {"good": "▲", "alike": "~", "bad": "▼"}


def test_what_nobody_asked_for_decides_nothing():
    """Targets at rank 11 are lost: mrr looks that deep, the metrics that decide do not."""
    deep = [*OTHERS, "t"]
    old = written("old", [["t"], deep] * 12)
    new = written("new", [["t"], OTHERS] * 12)
    done = calipers_command("compare", old, new, columns=400)
    assert done.out.startswith("~ ")
    assert "▼" not in done.out
    assert first_line(old, new, "-m", "recall@10,mrr").startswith("▼ new is worse than old: mrr ")


def test_every_form_says_the_same_first():
    files = hits("old", [0] * 9 + [1] * 3), hits("new", [1] * 12)
    line = first_line(*files)
    found = json.loads(calipers_command("compare", *files, "--json").out)["claims"][0]
    assert f"▲ {found['fact']}" == line
    assert calipers_command("compare", *files, "--as", "markdown").out.startswith(f"## {line}")
    page = calipers_command("compare", *files, "--html", "page.html")
    assert page.code == 0, page.err
    heading = (
        Path("page.html").read_text(encoding="utf-8").partition("<h1")[2].partition("</h1>")[0]
    )
    assert line[2:] in heading
    assert '<span class="sign better">▲</span>' in heading
