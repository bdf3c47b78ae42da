"""What the charts show is what was measured."""

import pytest

import calipers
from calipers.present.charts import Band, Dot, Stroke
from calipers.questions.compare.document import differences_chart as differences
from calipers.questions.slices.document import slices_chart
from calipers.questions.sweep.document import over_k
from tests.reports import records, report_of, reversed_records


@pytest.fixture(scope="module")
def system():
    return report_of(records()).systems[0]


@pytest.fixture(scope="module")
def comparison():
    return calipers.compare({"old": records(), "new": reversed_records()})


def dots(panel):
    return [mark for mark in panel.marks if isinstance(mark, Dot)]


def test_over_k_has_every_mean_with_its_interval(system):
    chart = over_k(system.answers["sweep"])
    assert [panel.title for panel in chart.panels] == list(system.answers["sweep"].metrics)
    for panel in chart.panels:
        band = next(mark for mark in panel.marks if isinstance(mark, Band))
        for dot, (k, low, high) in zip(dots(panel), band.points, strict=True):
            value = system.answers["sweep"].at(int(dot.x)).values[panel.title]
            assert (k, dot.y) == (dot.x, value.mean)
            assert (low, high) == (value.interval.low, value.interval.high)
    assert chart.title == system.answers["sweep"].document().sentence


def test_over_k_marks_the_best_guess_and_the_safe_k(system):
    found = system.answers["sweep"].recall
    chart = over_k(system.answers["sweep"])
    guides = [
        mark
        for mark in chart.panels[0].marks
        if isinstance(mark, Stroke) and mark.colour == "worse"
    ]
    assert {mark.points[0][0] for mark in guides} == {found.best_guess, found.safe_k}
    assert chart.legend[-1] == ("line", "worse", f"k = {found.safe_k}, safe")


def test_slices_show_their_means(system):
    panel = slices_chart(system.answers["slices"], "A sentence.").panels[0]
    means = {
        row.value: row.mean for row in system.answers["slices"].rows if row.metric == "recall@10"
    }
    names = [text.split(" (")[0] for _, text in panel.y.ticks]
    assert dict(zip(names, (dot.x for dot in dots(panel)), strict=True)) == means


def test_differences_are_those_of_the_comparison(comparison):
    (panel,) = differences(comparison).panels
    assert len(dots(panel)) == len(panel.y.ticks) > 1
    for dot, (_, metric) in zip(dots(panel), panel.y.ticks, strict=True):
        assert dot.x == comparison.difference("new", metric).difference


def test_equal_systems_are_drawn(comparison):
    (panel,) = differences(calipers.compare({"a": records(), "b": records()})).panels
    assert {dot.x for dot in dots(panel)} == {0.0}
    assert panel.x.low < 0 < panel.x.high
