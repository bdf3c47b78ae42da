"""One chart at a time."""

import json

import pytest

import calipers
from calipers.errors import InvalidInput
from tests.reports import records, reversed_records


def two():
    return {"old": records(), "new": reversed_records()}


@pytest.mark.parametrize("chart", ["over-k", "precision-recall", "waterfall", "slices"])
def test_charts_of_one_retriever(chart, tmp_path):
    made = calipers.plot(records(), chart)
    made.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    made.save(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == made.spec


@pytest.mark.parametrize("chart", ["differences", "head-to-head"])
def test_charts_of_several(chart):
    made = calipers.plot(systems=two(), chart=chart, metrics="recall@10")
    assert made.chart == chart
    assert made.spec["data"]["values"]


def test_only_the_metrics_asked_for_are_drawn():
    rows = calipers.plot(records(), metrics="recall,ndcg").spec["data"]["values"]
    assert {row["metric"] for row in rows} == {"recall", "ndcg"}


def test_a_waterfall_is_that_of_the_k_asked_for():
    rows = calipers.plot(records(), "waterfall", k=[1, 3]).spec["data"]["values"]
    assert rows[-1]["said"].startswith("found in the first 3:")


def test_slices_of_several_metrics_are_refused():
    bare = [{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a"]}]
    with pytest.raises(InvalidInput, match=r"one metric, and 2 are named: recall@5, mrr"):
        calipers.plot(bare, "slices", by="targets", metrics=["recall@5", "mrr@5"])


def test_slices_need_tags_and_take_others():
    bare = [{**record, "tags": {}} for record in records()]
    with pytest.raises(InvalidInput, match="nothing to slice by"):
        calipers.plot(bare, "slices")
    made = calipers.plot(bare, "slices", by="targets", metrics="ndcg@5")
    assert made.metrics == ("ndcg@5",)


def test_charts_that_do_not_fit_what_is_given():
    with pytest.raises(InvalidInput, match=r"no chart 'overk'.*Did you mean|no chart 'overk'"):
        calipers.plot(records(), "overk")
    with pytest.raises(InvalidInput, match="need two systems or more"):
        calipers.plot(records(), "differences")
    with pytest.raises(InvalidInput, match="need one retriever"):
        calipers.plot(systems=two(), chart="over-k")


def test_widths_and_endings_that_make_no_chart(tmp_path):
    made = calipers.plot(records())
    with pytest.raises(InvalidInput, match="width of the chart is 10"):
        made.save(tmp_path / "a.svg", width=10)
    with pytest.raises(InvalidInput, match=r"'\.gif'; a chart can be written to \.svg"):
        made.save(tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []
