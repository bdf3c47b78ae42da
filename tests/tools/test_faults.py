"""The mutation tester: what it changes, which tests it runs, and what it says of the survivors."""

from pathlib import Path

import pytest

from tools import faults

RULE = '''"""A rule. 1 + 1."""
LIMIT: int = 10
def many(found: int, gone: bool = False) -> bool:
    if not gone and found < LIMIT:
        return found >= 2
    return f"{found + 1}"
'''
HALF = "def half(value):\n    return value / 2.0\n"
TESTS = "from calipers.rules.half import half\ndef test_half():\n    assert half(0) == 0\n"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A small repository."""
    for path, text in {
        "src/calipers/__init__.py": "",
        "src/calipers/rules/__init__.py": "",
        "src/calipers/rules/many.py": RULE,
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


def test_what_decides_is_changed_and_texts_and_types_are_not(root):
    source, module = root / "src" / "calipers", Path("rules/many.py")
    made = list(faults.mutations(source, module))
    assert [(one.line, one.old, one.new) for one in made] == [
        (2, "10", "11"),
        (2, "10", "9"),
        (3, "False", "True"),
        (4, "not gone and found < LIMIT", "not gone or found < LIMIT"),
        (4, "not gone", "gone"),
        (4, "found < LIMIT", "found <= LIMIT"),
        (5, "return found >= 2", "return True"),
        (5, "return found >= 2", "return False"),
        (5, "found >= 2", "found > 2"),
        (5, "2", "3"),
        (5, "2", "1"),
        (6, "return f'{found + 1}'", "return None"),
    ]
    for one in made:
        compile(one.text, "module", "exec")
        assert one.text != RULE.encode()


def test_survivors_are_named_and_their_share_decides(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    assert faults.main(["rules/half"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "rules/half.py: 1 of 3 noticed",
        "  survived src/calipers/rules/half.py:2: value / 2.0 → value * 2.0",
        "  survived src/calipers/rules/half.py:2: 2.0 → 4.0",
        "1 of 3 mutations were noticed; 67% survived.",
    ]
