"""What a gate and a baseline say: the table, the queries behind a failure, and the sentences."""

from datetime import UTC, datetime

import pytest

from calipers import gate, gate_save
from calipers.model.document import Lines, Table
from calipers.present.terminal import first_line
from calipers.questions.baseline import read_baseline
from calipers.questions.gate.document import baseline_document, error_markdown
from tests import systems

NOW = datetime(2024, 5, 1, 12, 30, tzinfo=UTC)


@pytest.fixture
def baseline(tmp_path):
    path = tmp_path / "main.json"
    gate_save(systems.tagged({"odd": [1] * 6, "even": [1] * 6}), to=path, metrics="mrr", now=NOW)
    return path


def test_slices_that_passed_are_detail_and_what_decides_is_not(baseline):
    now = systems.tagged({"odd": [1] * 6, "even": [2] * 6})
    blocks = gate(now, baseline=baseline, by="type", now=NOW).document().blocks
    tables = [block for block in blocks if isinstance(block, Table)]
    assert [(table.title, table.detail) for table in tables] == [
        ("", False),
        ("Slices that passed", True),
    ]
    assert [row[1] for row in tables[0].rows] == ["mrr", "mrr type=even"]


def test_a_baseline_says_when_it_was_saved_and_what_was_accepted(baseline):
    plain = baseline_document(read_baseline(baseline))
    assert first_line(plain).startswith("Baseline main, saved on 2024-05-01 at 12:30 UTC: ")
    assert not [note for note in plain.notes if "Accepted" in str(note)]
    worse = systems.tagged({"odd": [1] * 6, "even": [2] * 6})
    gate(worse, baseline=baseline, accept="cheaper", now=NOW)
    assert "Accepted: cheaper" in baseline_document(read_baseline(baseline)).notes


def test_a_gate_that_could_not_be_decided_looks_like_no_pass():
    assert error_markdown("No <b> file.") == "## ✗ Could not be checked\n\nNo &lt;b&gt; file.\n"


def test_queries_are_named_of_what_failed_alone(baseline):
    """One of twelve fell: too little for the whole, too much for a condition on its slice."""
    now = systems.tagged({"odd": [1] * 6, "even": [1] * 5 + [10]})
    verdict = gate(now, baseline=baseline, allow=0.1, require="mrr >= 0.9 for type=even", now=NOW)
    passed = [check for check in verdict.checks if check.status != "failed"]
    assert [len(check.worst) for check in passed] == [1]
    blocks = [block for block in verdict.document().blocks if isinstance(block, Lines)]
    assert [block.title for block in blocks] == [
        "mrr >= 0.9 for type=even: the queries that weigh most"
    ]
