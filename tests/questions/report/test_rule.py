"""Everything about a retriever, gathered."""

import json
from typing import Any

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.model.document import in_order
from calipers.operation import build
from calipers.questions.compare.settings import CompareSettings
from calipers.questions.report.rule import compare_runs, parts
from tests.reports import records, report_of


def test_the_parts_are_those_that_the_operations_give():
    report = report_of(records(), k=[1, 5])
    (system,) = report.systems
    assert report.k == 5
    alone = calipers.evaluate(records(), k=[1, 5])
    assert system.scores.to_dict() == alone.to_dict()
    assert report.scores is system.scores
    assert system.answers["misses"].to_dict() == calipers.misses(records(), k=5).to_dict()
    swept = calipers.sweep(records())
    assert system.answers["sweep"].to_dict() == swept.to_dict()
    found = calipers.diagnose(records(), k=5)
    assert system.answers["diagnosis"].to_dict() == found.to_dict()
    assert [row.value for row in system.answers["slices"].of("type")] == ["even"] * 3 + ["odd"] * 3
    assert {one["name"] for one in report.definitions} >= {"recall", "precision", "ndcg"}


def test_other_grades_and_levels_reach_every_part():
    made = records()
    for record in made:
        record["ground_truth"] = dict.fromkeys(record["ground_truth"], 2)
        record["ground_truth"][f"c{record['id'][1:]}-2"] = 1
    report = report_of(made, rel=2)
    assert report.systems[0].answers["misses"].targets == sum(
        len(r["ground_truth"]) - 1 for r in made
    )
    assert "recall@10" in report.to_html()


def test_it_is_named_for_its_file(tmp_path):
    path = tmp_path / "hybrid.v2.json"
    path.write_text(json.dumps(records(3)))
    assert report_of(str(path)).systems[0].name == "hybrid.v2"
    assert report_of(records(3)).systems[0].name == "the retriever"
    assert report_of(records(3), name="mine").systems[0].name == "mine"


def test_results_without_rankings_are_refused(tmp_path):
    path = tmp_path / "old.json"
    path.write_text(json.dumps(calipers.evaluate(records()).to_dict()))
    with pytest.raises(InvalidInput, match="a report shows rankings"):
        compare_runs({"old": path, "new": records()}, None, CompareSettings())


def test_a_page_of_two_retrievers_may_weigh_its_queries():
    systems = {"old": records(6), "new": records(6)}
    for made in systems.values():
        for number, record in enumerate(made, 1):
            record["tags"] = {"asked": number}
    made = compare_runs(systems, None, build(CompareSettings, {"weight_by": "asked"}))
    assert made.comparison.to_dict() == calipers.compare(systems, weight_by="asked").to_dict()


def test_a_deep_run_is_swept_only_as_far_as_the_eye_goes():
    items = [f"d{j}" for j in range(150)]
    made = [{"query": one, "ground_truth": [one], "retrieved": items} for one in items[:4]]
    points = report_of(made).systems[0].answers["sweep"].points
    # The deepest k stands there too: the advice is compared with it.
    assert [points[-2].k, points[-1].k] == [100, 150]
    assert len(points) < 50


def test_a_note_stands_once_on_a_page(tmp_path):
    """How the columns were read is a note of every answer: the page says it in the first."""
    rows = "".join(f"q{n},What is {n}?,d{n}\n" for n in range(12))
    (tmp_path / "truth.csv").write_text(f"id,question,doc_ids\n{rows}")
    run = {f"q{n}": [f"d{n + n % 2}", "x"] for n in range(12)}
    report = calipers.report(run=run, ground_truth=tmp_path / "truth.csv")
    note = "target ← doc_ids"
    every = [part.document for part in parts(report.systems[0])]
    answers: list[Any] = [*report.systems[0].answers.values()]
    assert any(note in str(found.document().notes) for found in answers)
    assert not any(note in line.text for one in every for line in in_order(one.notes))
    assert report.to_html().count(note) == 1
