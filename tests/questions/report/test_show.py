"""The page and the short form, as texts."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

import calipers
from calipers.errors import InvalidInput, WriteFailed
from calipers.present.scores import verdict
from calipers.questions.compare.settings import CompareSettings
from calipers.questions.report.page import page as page_module
from calipers.questions.report.rule import compare_runs
from tests.reports import hostile_records, records, report_of, reversed_records


class Reader(HTMLParser):
    """The elements of a page with their attributes, and its texts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)

    def of(self, name):
        return [attributes for tag, attributes in self.elements if tag == name]


@pytest.fixture(scope="module")
def page():
    return report_of(records(), name="hybrid").to_html()


def test_every_part_is_there(page):
    for part in (
        "Finds",
        "Which k",
        "Diagnosis",
        "recall is lost",
        "Slices",
        "Queries",
        "Definitions",
        "Settings and fingerprints",
    ):
        assert part in page
    formula = calipers.metrics("recall")[0]["formula"]
    assert formula in "".join(Reader(page).texts)


def test_the_numbers_are_those_of_the_scores():
    report = report_of(records(), name="hybrid")
    said = " ".join(Reader(report.to_html()).texts)
    scores = report.systems[0].scores
    for name in ("hit_rate@10", "recall@10", "precision@10", "ndcg@10"):
        assert f"{scores[name].mean:.3f}" in said
    # One third finds all, one third half, one third nothing.
    assert scores["recall@10"].mean == pytest.approx(0.5)
    assert verdict(scores) in said
    assert verdict(scores).startswith("Finds half of what it should in the first 10 results")


def test_only_our_style_may_be_used_and_nothing_runs_or_is_loaded(page):
    reader = Reader(page)
    policy = reader.of("meta")[1]["content"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "script-src" not in policy
    assert reader.of("script") == []
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy
    assert not re.search(r"<[^>]+ style=", page)
    pairs = (pair for _, attributes in reader.elements for pair in attributes.items())
    outside = [value for name, value in pairs if name in ("src", "href", "action")]
    assert outside
    assert all(value.startswith("#") for value in outside)


def test_hostile_texts_add_no_element():
    name = "</title><script>window.hacked = 1</script>"
    hostile = Reader(report_of(hostile_records(), name=name).to_html())
    assert hostile.of("script") == []
    assert len(hostile.of("style")) == 1
    for tag in ("img", "iframe", "b", "include"):
        assert hostile.of(tag) == []
    assert not any(n.startswith("on") for _, found in hostile.elements for n in found)
    assert "49" not in hostile.of("html")


def test_the_title_of_a_result_stands_above_its_text():
    titled = records(3)
    for record in titled:
        for result in record["retrieved"]:
            result["title"] = f"About <b>\n{result['id']}</b> {'x' * 1_000}"
    page = report_of(titled).to_html()
    assert '<p class="title" dir="auto">About &lt;b&gt; c0-1&lt;/b&gt; xxx' in page
    assert "x" * 201 not in page
    assert '<p class="title"' not in report_of(records(3)).to_html()


def test_a_megabyte_on_one_line_is_cut():
    assert len(report_of(hostile_records()).to_html()) < 700_000


def test_the_worst_queries_come_first_and_the_page_says_how_many_are_left_out(monkeypatch):
    monkeypatch.setattr(page_module, "MOST_QUERIES", 20)
    page = report_of(records(60)).to_html()
    assert page.count('<details class="query">') == 20
    assert "These are 20 of 60" in page
    # Twenty of them find nothing.
    listed = page[page.index("the worst first") : page.index('id="definitions"')]
    assert set(re.findall(r"recall@10</bdi> ([0-9.]+)", listed)) == {"0.000"}


def test_texts_are_cut_to_their_part_of_the_page(monkeypatch):
    monkeypatch.setattr(page_module, "TEXT_BYTES", 100_000)
    made = [
        {
            "query": f"question {i}?",
            "ground_truth": [f"c{i}-0"],
            "retrieved": [{"id": f"c{i}-{j}", "text": "word " * 200} for j in range(20)],
        }
        for i in range(50)
    ]
    assert len(report_of(made, k=20).to_html()) < 900_000


def test_two_systems_show_their_differences():
    systems = {"old": records(), "new": reversed_records()}
    report = compare_runs(systems, None, CompareSettings(baseline="new"))
    assert [one.name for one in report.systems] == ["new", "old"]
    page = report.to_html()
    assert f"{report.comparison.document().sentence}</h1>" in page
    for part in ("that got worse in recall@10", "that got better in recall@10"):
        assert part in page


def test_queries_without_anything_to_find_are_said_to_be_so():
    made = [
        {"query": "q", "retrieved": ["a"], "ground_truth": []},
        {"query": "r", "retrieved": ["a"], "ground_truth": {"a": 0}},
    ]
    page = report_of(made).to_html()
    assert "no query has anything to find" in page
    assert "nothing to diagnose" in page


def test_a_run_without_results_still_has_a_page():
    page = report_of([{"query": "q", "retrieved": [], "ground_truth": ["a"]}]).to_html()
    assert "Finds nothing of what it should" in page
    assert "there is no k to choose" in page


def test_saving_goes_by_the_ending(tmp_path):
    report = report_of(records(6))
    report.save(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    with pytest.raises(InvalidInput, match=r"'\.md'; a report is a page, so end it in \.html"):
        report.save(tmp_path / "a.md")
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]
    with pytest.raises(WriteFailed, match="no folder"):
        report.save(tmp_path / "no" / "a.html")


def test_what_can_be_reached_stands_beside_precision(page):
    # One or two targets are known for each query, so ten results cannot all be right.
    table = page[page.index("precision, at best") :]
    assert ">0.133</td>" in table[: table.index("</tr>")]
