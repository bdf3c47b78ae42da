"""The mutation tester: what it changes, which tests it runs, and what it says of the survivors."""

from pathlib import Path

import pytest

from tools import faults

HALF = """
def half(value):
    return value / 2.0

def untried(value):
    return value + 1.0
"""
TESTS = """
from calipers.rules.half import half

def test_half():
    assert half(0) == 0
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A small repository."""
    for path, text in {
        "src/calipers/__init__.py": "",
        "src/calipers/rules/__init__.py": "",
        "src/calipers/rules/half.py": HALF,
        "src/calipers/rules/show.py": "WIDTH = 3\n",
        "tests/rules/test_half.py": TESTS,
        "tests/questions/gate/test_rule.py": "",
        "pyproject.toml": "[tool.pytest.ini_options]\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    # Our own plugin is not in this source.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return tmp_path


def test_survivors_are_named_and_their_share_decides(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    assert faults.main(["rules/half"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "  survived src/calipers/rules/half.py:3: value / 2.0 → value * 2.0",
        "  survived src/calipers/rules/half.py:3: 2.0 → 4.0",
        # No test executes this function.
        "  survived src/calipers/rules/half.py:6: return value + 1.0 → return None",
        "  survived src/calipers/rules/half.py:6: value + 1.0 → value - 1.0",
        "  survived src/calipers/rules/half.py:6: 1.0 → 2.0",
        "rules/half.py: 1 of 6 noticed",
        "1 of 6 mutations were noticed; 83% survived.",
    ]


def test_tests_that_fail_already_notice_nothing(root, monkeypatch):
    monkeypatch.chdir(root)
    (root / "tests/rules/test_half.py").write_text("def test():\n    assert False\n")
    with pytest.raises(SystemExit, match="Without any mutation pytest ends with 1"):
        faults.main(["rules/half"])


def test_a_draw_is_the_same_with_the_same_seed(root):
    every = list(faults.mutations(root / "src/calipers", Path("rules/half.py")))
    drawn = faults.choose(every, 3, seed=1)
    assert len(drawn) == 3
    assert drawn == [mutation for mutation in every if mutation in drawn]
    assert drawn == faults.choose(every, 3, seed=1)
    assert drawn != faults.choose(every, 3, seed=2)
    assert faults.choose(every, None, seed=1) == every
