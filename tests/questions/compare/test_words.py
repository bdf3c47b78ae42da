import csv
import io

import pytest
from rich.console import Console

from calipers import compare
from calipers.model.claim import Visibility
from calipers.questions.compare.export import (
    comparison_csv,
    comparison_markdown,
)
from calipers.questions.compare.show import print_comparison
from calipers.questions.compare.words import power_sentence, power_sentences, told
from tests.systems import records

OLD = [3, 2, None, 5, 4, 2, 7, 3, 9, 2, None, 4]
NEW = [1, 1, 4, 2, 1, 1, 2, 1, 3, 1, 5, 12 - 10]
HOSTILE = "=x|<b>\x1b[31m_$"


def compared(names=("old", "new"), **settings):
    made = dict(zip(names, (records(OLD), records(NEW)), strict=False))
    return compare(made, metrics=settings.pop("metrics", "mrr,recall@5"), **settings, primary="mrr")


def shown(comparison, width, **settings):
    out = io.StringIO()
    console = Console(width=width, file=out, highlight=False)
    print_comparison(comparison, console, **settings)
    return out.getvalue()


@pytest.mark.parametrize("width", [50, 80, 120])
def test_the_terminal_shows_everything_at_any_width(width):
    text = shown(compared(), width, explain=True)
    for piece in ("old (baseline)", "▲", "p = ", "/0/", "mrr and recall@5 decide", "gained most"):
        assert piece in text, piece
    assert max(map(len, text.splitlines())) <= width
    assert "would be missed more than one time in five" in " ".join(text.split())


SEVERAL = {
    "old": OLD,
    "new": NEW,
    "same": OLD,
    "worse": [9, 8, None, 9, 9, 9, None, 9, None, 9, None, 9],
}


@pytest.mark.parametrize("width", [50, 80, 120])
def test_the_answer_comes_first_and_the_whole_of_it_fits_a_screen(width):
    made = compare(
        {n: records(r) for n, r in SEVERAL.items()},
        metrics="mrr,recall@5,10,ndcg@5,10",
        primary="mrr",
    )
    lines = shown(made, width).splitlines()
    said = " ".join(" ".join(lines).partition("  system ")[0].split())
    signs = ["▲ old → new: mrr", "▼ old → worse: mrr", "? old → same: mrr"]
    assert [said.find(sign) for sign in signs] == sorted(said.find(sign) for sign in signs)
    assert said.startswith(signs[0])
    assert "old → same: mrr 0.260 → 0.260: 0 better, 0 worse of 12 (no difference)" in said
    assert max(map(len, lines)) <= width
    assert len(lines) <= (40 if width >= 80 else 62)
    table = lines[next(at for at, line in enumerate(lines) if line.split()[:1] == ["system"]) :]
    order = [line.split()[0] for line in table if line.split()[:1] and line.split()[0] in SEVERAL]
    assert order[:4] == ["new", "old", "same", "worse"]
    assert "The metrics that were named decide:" in " ".join(" ".join(lines).split())


def test_the_intervals_stand_in_the_table_where_there_is_room():
    text = shown(compared(), 100)
    found = compared().difference("new", "mrr")
    assert f"(+{found.interval.low:.3f} to +{found.interval.high:.3f})" in text


def test_a_mark_beside_what_is_often_missed_is_no_contradiction():
    # Eight of thirteen queries lost everything: shown, though as many would often not show it.
    old, new = [1] * 8 + [None] * 4 + [1], [None] * 12 + [1]
    lost = compare({"old": records(old), "new": records(new)}, metrics="recall@5")
    text = " ".join(power_sentences(lost))
    assert told(lost)[0].standing == "worse"
    assert "would be missed more than one time in five" in text
    assert "shown all the same" in text
    same = compare({"old": records(old), "new": records(old[::-1])}, metrics="recall@5")
    assert "all the same" not in " ".join(power_sentences(same))


def test_nothing_shown_is_never_said_without_what_is_possible_and_what_would_settle_it():
    near = [2, 2, None, 5, 4, 6, 7, 3, 9, 2, None, 4]
    same = compare({"old": records(OLD), "new": records(near)}, metrics="mrr,recall@5")
    first = told(same)[0]
    assert (first.standing, "not shown" in first.shown) == ("no clear difference", True)
    assert "is not ruled out" in first.range
    assert "more queries" in first.next
    text = " ".join(shown(same, 100, explain=True).split())
    assert "recall@5" in text.partition("With these")[2]
    assert "would be missed" in text or "would often be missed" in text


def test_the_power_sentence():
    seen = Visibility(40, 0.8, 0.05, 6, 0.1134, 0.05, 190)
    assert power_sentence("recall@10", seen) == (
        "With these 40 queries a difference below 0.11 in recall@10 would be missed more than one "
        "time in five; to see 0.05 takes about 190 (`calipers plan --difference 0.05`)."
    )
    assert "corrected for 6 tests" in power_sentence("recall@10", seen, 6)
    flat = Visibility(9, 0.8, 0.05, 6, None, None, None, "no spread")
    assert power_sentence("mrr", flat) is None


def test_too_few_queries_are_said_in_the_first_line():
    small = compare({"a": records([1, 2, 3]), "b": records([2, 3, 1])}, metrics="mrr")
    assert power_sentences(small) == []
    first = shown(small, 120).splitlines()[0]
    assert first.endswith("(not shown, p = 1; 3 queries can show none, 6 could)")


def test_a_system_has_one_sentence_and_what_else_was_heard():
    """Rows in which nothing is shown and no mean fell stand in the table alone."""
    made = {"old": records([2] * 12), "new": records([1] * 12)}
    both = compare(made, metrics="recall@5,mrr,ndcg@5")
    assert [one.metric for one in both.deciding] == ["mrr", "ndcg@5", "recall@5"]
    assert [claim.fact.partition(": ")[2] for claim in told(both)] == [
        "recall@5 is the same; ranked better: mrr 0.500 → 1.000: 12 better, 0 worse of 12",
        "recall@5 is the same; ranked better: ndcg@5 0.631 → 1.000: 12 better, 0 worse of 12",
    ]
    assert len(both.claims) == 3


def test_many_systems_do_not_fill_a_screen_with_sentences():
    made = {f"s{i}": records([1 + i] * 12) for i in range(8)}
    comparison = compare(made, metrics="mrr")
    assert len(told(comparison)) == 4
    assert len(told(comparison, None)) == len(comparison.claims) == 7


def test_what_was_overridden_stands_right_under_the_verdict():
    made = {"old": records(OLD), "new": records(NEW[:-1])}
    comparison = compare(made, metrics="mrr", anyway=True)
    lines = shown(comparison, 200).splitlines()
    assert lines[0] == comparison.claims[0].line
    assert lines[2].startswith("This comparison was made anyway")
    markdown = comparison_markdown(comparison).splitlines()
    assert markdown[0].startswith("- **▲ old → new: mrr")
    assert markdown[2].startswith("> **This comparison was made anyway")
    rows = list(csv.DictReader(io.StringIO(comparison_csv(comparison))))
    assert all("only in old" in row["overridden"] for row in rows)


def test_csv_has_full_precision_and_one_row_per_metric_and_system():
    comparison = compared()
    rows = list(csv.DictReader(io.StringIO(comparison_csv(comparison))))
    assert [*rows[0]] == comparison.to_polars().columns
    assert [(row["metric"], row["system"]) for row in rows] == [
        ("mrr", "old"),
        ("mrr", "new"),
        ("recall@5", "old"),
        ("recall@5", "new"),
    ]
    found = comparison.difference("new", "mrr")
    assert float(rows[1]["difference"]) == found.difference
    assert float(rows[1]["difference_low"]) == found.interval.low
    assert float(rows[1]["p_adjusted"]) == found.p_adjusted
    assert (rows[1]["verdict"], rows[1]["best"], rows[0]["difference"]) == ("better", "yes", "")


def test_markdown_is_one_table_with_marks_power_and_queries():
    text = comparison_markdown(compared(), examples=2)
    first, *lines = text.splitlines()
    assert first.startswith("- **▲ old → new: mrr")
    lines = lines[lines.index("| metric | old (baseline) | new |") :]
    assert lines[1] == "|---|---|---|"
    assert "▲" in lines[2]
    assert lines[2].count("|") == 4
    assert "would be missed" in text
    assert text.count("q4: question 4") == 1
    assert text.count("\n- +") == 2


def test_hostile_names_stay_harmless():
    comparison = compared(names=("old", HOSTILE))
    terminal = shown(comparison, 120)
    assert "\x1b" not in terminal
    markdown = comparison_markdown(comparison)
    assert "<b>" not in markdown
    table = next(line for line in markdown.splitlines() if line.startswith("| metric"))
    assert table.replace(r"\|", "").count("|") == 4
    rows = list(csv.DictReader(io.StringIO(comparison_csv(comparison))))
    assert rows[1]["system"] == f"'{HOSTILE}"


def test_what_few_queries_may_lack_is_said_beside_a_small_difference():
    old = [9, 8, 9, 8, 9, 8, 9, 8, 9, 8]
    made = compare({"old": records(old), "new": records([one - 1 for one in old])}, metrics="mrr")
    found = made.difference("new", "mrr")
    assert found.verdict == "better"
    assert "may be of a kind that these happen to lack" in power_sentences(made)[-1]
    assert f"lost {found.unseen.change:.2g} or more in mrr" in power_sentences(made)[-1]
    large = compare({"old": records([9] * 10), "new": records([1] * 10)}, metrics="mrr")
    assert large.difference("new", "mrr").unseen is None
    assert not any("lack" in line for line in power_sentences(large))
