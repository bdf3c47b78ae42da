"""The notes and the chart of a comparison."""

import json
from pathlib import Path
from typing import Any

import pytest

from calipers import compare
from calipers.present.charts import Dot
from calipers.questions.compare.document import differences_chart
from tests.command import calipers_command
from tests.systems import NEW, OLD, records


def compared(**systems):
    return compare({name: records(ranks) for name, ranks in systems.items()}, metrics="mrr")


def counts_in(comparison):
    texts = [str(getattr(note, "text", note)) for note in comparison.document().notes]
    return next(text.partition(" of ")[0] for text in texts if "queries" in text)


def test_a_count_names_its_system_where_there_are_several():
    old = [1] * 6 + [2] * 14
    new = [2] * 3 + [1] * 3 + [2] * 14
    assert counts_in(compared(old=old, new=new)) == "mrr: 3"
    assert counts_in(compared(old=old, new=new, same=old)) == "new, mrr: 3"


def test_the_chart_has_a_dot_for_each_difference_on_one_axis():
    comparison = compared(old=OLD, new=NEW, same=OLD)
    chart = differences_chart(comparison)
    assert chart.shares_axis
    assert [panel.title for panel in chart.panels] == ["new − old", "same − old"]
    dots = [mark for panel in chart.panels for mark in panel.marks if isinstance(mark, Dot)]
    differences = [comparison.difference(name, "mrr").difference for name in ("new", "same")]
    assert [dot.x for dot in dots] == differences
    assert chart.panels[0].x == chart.panels[1].x


def test_equal_systems_are_drawn_on_a_tenth():
    x = differences_chart(compared(old=OLD, new=OLD)).panels[0].x
    assert 0.1 <= x.high - x.low < 0.2


def _tied(rank: int, tied: int) -> list[dict[str, Any]]:
    """Twelve queries whose target stands at a rank, the first results with one score."""
    return [
        {
            "id": f"q{at}",
            "ground_truth": [f"t{at}"],
            "retrieved": [
                {"id": f"t{at}" if k == rank else f"x{at}-{k}", "score": 1.0 - max(0, k - tied)}
                for k in range(20)
            ],
        }
        for at in range(12)
    ]


def test_ties_stand_below_the_counts_unless_they_may_make_the_difference() -> None:
    """Where the first two are tied ndcg moves by 0.37: less than from rank 15, more than from 2."""
    for rank, is_shown in ((14, False), (1, True)):
        both = compare({"old": _tied(rank, 0), "new": _tied(0, 1)}, metrics="ndcg@20", ties="input")
        text = str(both)
        assert ("Equal scores decide" in text) == is_shown, text
        assert "12 of 12 queries better" in text


def test_how_many_queries_changed_comes_before_ties_and_latency() -> None:
    """A slice that fell, ties of each system and latencies leave the counts on the screen."""
    runs = {}
    for name, first in (("old", 0), ("new", 1)):
        runs[name] = [
            {**one, "latency_ms": 5.0, "ground_truth": [f"t{at}"]}
            for at, one in enumerate(_tied(first if at < 6 else 2, 3)[at] for at in range(12))
        ]
    text = str(compare(runs, metrics="recall@1,ndcg@20", ties="input"))
    counts = text.index("recall@1: 6 of 12 queries worse, none better")
    assert counts < text.index("Equal scores decide") < text.index("Median latency"), text


def test_the_ties_of_several_systems_are_one_line() -> None:
    """Four systems with ties of different lengths: three are named, and all are facts."""
    runs = {"none": _tied(0, 0), **{f"of{n}": _tied(0, n) for n in (1, 2, 3, 4)}}
    sentences = compare(runs, metrics="ndcg@20", ties="input").document().sentences
    ties = [line for line in sentences if "Equal scores decide" in line]
    assert ties == [
        "Equal scores decide ndcg@20: of4 is 0.387 in their worst order and 1.000 in their "
        "best, of3 0.431 and 1.000, of2 0.500 and 1.000, and 1 more."
    ]
    facts = [fact for fact in ties[0].facts if fact.about == "bound"]
    assert {fact.system for fact in facts} == {"of1", "of2", "of3", "of4"}
    assert [fact.low for fact in facts if fact.system == "of1"] == [pytest.approx(0.6309, abs=1e-4)]


def test_what_the_queries_cannot_separate_comes_before_how_to_slice(tmp_path: Path) -> None:
    """Both may be best; a column that could be a tag settles nothing."""
    files = []
    for name, found in {"old": 2, "new": 30, "other": 29, "low": 2}.items():
        rows = [
            {
                "id": f"q{at}",
                "query": f"What about number {at}?",
                "ground_truth": [f"t{at}"],
                "retrieved": [f"t{at}" if at < found else f"x{at}", f"y{at}"],
                "type": "table" if at % 5 else "text",
            }
            for at in range(40)
        ]
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    printed = calipers_command("compare", *files).out
    assert printed.index("may be as good as") < printed.index("To slice by type"), printed
