"""The notes and the chart of a comparison."""

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
