"""The mutation tester: what it changes, which tests it runs, and what it says of the survivors."""

import pytest

from tools import faults

HALF = "def half(value):\n    return value / 2.0\n"
TESTS = "from calipers.rules.half import half\ndef test_half():\n    assert half(0) == 0\n"


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
        "rules/half.py: 1 of 3 noticed",
        "  survived src/calipers/rules/half.py:2: value / 2.0 → value * 2.0",
        "  survived src/calipers/rules/half.py:2: 2.0 → 4.0",
        "1 of 3 mutations were noticed; 67% survived.",
    ]
