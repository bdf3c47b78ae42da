"""The notes and the chart of a comparison."""

from typing import Any

from calipers import compare
from calipers.present.charts import Dot
from calipers.questions.compare.document import differences_chart
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
