"""The stub that editors read says what the settings of the operations say."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.write_stub import STUB, main, stub

ROOT = Path(__file__).parents[2]


def test_the_stub_is_what_the_settings_say(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["write_stub.py", "--check"])
    assert (main(), capsys.readouterr().out) == (0, "")


def test_every_keyword_stands_in_it_and_inputs_have_types():
    text = stub()
    assert "def evaluate(" in text
    assert "    data: DataInput | None = None,\n" in text
    assert "    ground_truth: GroundTruthInput | None = None,\n" in text
    assert "ground_truth: Any" not in text


PLANTED = """
from calipers.questions.gate.settings import GateSettings


def misspelt(settings: GateSettings) -> bool:
    return settings.anywya
"""


def test_a_misspelt_setting_fails_the_type_checker(tmp_path):
    """One is planted below the edge: mypy must see it."""
    pytest.importorskip("mypy")
    planted = tmp_path / "planted.py"
    planted.write_text(PLANTED)
    # Without the stubs of libraries, which take most of the time and say nothing of settings.
    alone = ["--follow-imports=silent", "--no-site-packages", "--ignore-missing-imports"]
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", *alone, "--cache-dir", tmp_path / "cache", planted],
        cwd=ROOT,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 1, checked.stderr
    assert '"GateSettings" has no attribute "anywya"' in checked.stdout
    assert STUB.exists()
