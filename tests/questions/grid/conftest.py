"""A folder with questions and a module of retrievers."""

import json
import sys

import pytest

from tests.questions.grid.grids import MODULE


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "finders.py").write_text(MODULE)
    records = [{"query": f"question {i}", "ground_truth": ["good"]} for i in range(12)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "finders", raising=False)
    yield tmp_path
    sys.modules.pop("finders", None)
