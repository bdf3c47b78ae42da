"""calipers gate, and gate save and show, as a user meets them."""

import json

import pytest

from tests.command import calipers_command, refused
from tests.questions.gate.test_rule import N, records


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.json").write_text(json.dumps(records(N)))
    (tmp_path / "bad.json").write_text(json.dumps(records(0)))
    return tmp_path


@pytest.fixture
def baseline(folder):
    saved = calipers_command("gate", "save", "good.json", "-m", "mrr", "-o", "main.json")
    assert saved.code == 0, saved.err
    return folder / "main.json"


def test_reports_are_written_for_passes_failures_and_errors(folder, baseline):
    reports = ("--markdown", "summary.md")
    assert calipers_command("gate", "good.json", "-b", baseline, *reports).code == 0
    assert "## ✓ " in (folder / "summary.md").read_text()
    assert calipers_command("gate", "bad.json", "-b", baseline, *reports).code == 1
    assert "## ✗ " in (folder / "summary.md").read_text()
    refused("gate", "nowhere.json", "-b", baseline, *reports)
    assert "Could not be checked" in (folder / "summary.md").read_text()


def test_one_word_in_ci(folder, baseline):
    (folder / "calipers.toml").write_text(
        'data = "good.json"\n[gate]\nrequire = ["mrr >= 0.9", "recall@1 >= 0.9 for type=odd"]\n'
        'baseline = "main.json"\nby = "type"\n'
    )
    printed = calipers_command("gate")
    assert printed.code == 0, printed.err
    assert "recall@1 >= 0.9 for type=odd" in printed.out
    assert calipers_command("gate", "bad.json").code == 1


def test_a_baseline_is_json(folder):
    assert "end its name in .json" in refused("gate", "save", "good.json", "-o", "main.csv")
    assert "there is no folder" in refused("gate", "save", "good.json", "-o", "no/main.json")
