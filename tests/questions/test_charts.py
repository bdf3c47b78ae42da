"""What the charts show is what was measured."""

import pytest

import calipers
from calipers.present import charts
from calipers.present.charts import LIGHT, PAGE
from calipers.questions.compare.charts import differences, head_to_head
from calipers.questions.misses.show import waterfall
from calipers.questions.slices.show import slices_chart
from calipers.questions.sweep.charts import over_k, precision_recall
from tests.reports import records, report_of, reversed_records


@pytest.fixture(scope="module")
def system():
    return report_of(records()).systems[0]


@pytest.fixture(scope="module")
def comparison():
    return calipers.compare({"old": records(), "new": reversed_records()})


def every_chart(system, comparison, **looks):
    recall = system.head["recall@10"].mean
    return [
        over_k(system.sweep, **looks),
        precision_recall(system.sweep, **looks),
        waterfall(system.misses, **looks),
        slices_chart(system.slices, "recall@10", recall, **looks),
        differences(comparison, **looks),
        head_to_head(comparison, "new", "recall@10", **looks),
    ]


def test_over_k_has_every_mean_with_its_interval(system):
    rows = over_k(system.sweep)["data"]["values"]
    for row in rows:
        value = system.sweep.at(row["k"]).values[row["metric"]]
        assert row["mean"] == value.mean
        assert row["low"] <= row["mean"] <= row["high"]
    assert {row["metric"] for row in rows} == set(system.sweep.metrics)
    only = over_k(system.sweep, metrics=["recall"])
    assert {row["metric"] for row in only["data"]["values"]} == {"recall"}


def test_the_curve_marks_the_best_guess_and_the_safe_k(system):
    rows = precision_recall(system.sweep)["data"]["values"]
    found = system.sweep.recall
    marked = {row["k"]: row["label"] for row in rows if row["advised"]}
    assert set(marked) == {found.best_guess, found.safe_k}
    assert marked[found.safe_k] == f"k = {found.safe_k}, safe"
    assert all(row["labelled"] for row in rows if row["advised"])


def test_the_waterfall_goes_down_to_what_was_found(system):
    rows = waterfall(system.misses)["data"]["values"]
    assert rows[0]["to"] == system.misses.targets
    assert rows[-1]["to"] == system.misses.found
    left = rows[0]["to"]
    for row in rows[1:-1]:
        assert row["to"] == left
        left = row["from"]
    assert left == system.misses.found


def test_slices_show_their_means(system):
    rows = slices_chart(system.slices, "recall@10", 0.5)["data"]["values"]
    means = {row.value: row.mean for row in system.slices.rows if row.metric == "recall@10"}
    assert {row["slice"].split(" (")[0]: row["mean"] for row in rows} == means


def test_head_to_head_counts_every_query_once(comparison):
    rows = head_to_head(comparison, "new", "recall@10")["data"]["values"]
    found = comparison.difference("new", "recall@10")
    counted = {
        kind: sum(row["count"] for row in rows if row["outcome"] == kind)
        for kind in ("better", "worse", "equal")
    }
    assert counted == {"better": found.wins, "worse": found.losses, "equal": found.ties}


def test_differences_are_those_of_the_comparison(comparison):
    rows = differences(comparison)["data"]["values"]
    for row in rows:
        assert row["difference"] == comparison.difference("new", row["metric"]).difference


@pytest.mark.parametrize("width", [charts.NARROW, charts.WIDE])
def test_every_chart_can_be_drawn(system, comparison, width):
    for spec in every_chart(system, comparison, width=width, palette=PAGE):
        drawn = charts.inline_svg(spec, "a label")
        assert drawn.startswith('<svg role="img" aria-label="a label"')
        assert "var(--" in drawn
        assert " style=" not in drawn
        assert "<script" not in drawn
        assert "href=" not in drawn


def test_pictures_use_plain_colours(system, comparison):
    for spec in every_chart(system, comparison):
        assert "var(--" not in charts.as_json(spec)
        assert LIGHT.accent in charts.as_json(spec)
    assert charts.png(every_chart(system, comparison)[0]).startswith(b"\x89PNG")


def test_tags_in_a_chart_are_only_text():
    made = records()
    for record in made:
        record["tags"] = {"<script>": f"</text><script>{record['tags']['type']}\u202e"}
    system = report_of(made).systems[0]
    spec = slices_chart(system.slices, "recall@10", 0.5)
    assert "<script" not in charts.svg(spec)
    empty = {**spec, "data": {"values": []}, "description": ""}
    plain, tagged = (charts.interactive(one, one, "<script>") for one in (empty, spec))
    assert tagged.count("<script") == plain.count("<script") == 2
