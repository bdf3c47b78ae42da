"""The list of deliberate faults fits the source; `make faults` tries them, which takes longer."""

from pathlib import Path

from tools.faults import Fault, faults, stale

ROOT = Path(__file__).parents[2]


def test_every_fault_still_has_its_place_and_its_tests():
    assert stale(list(faults()), ROOT) == []


def test_there_are_many_and_each_has_a_name_of_its_own():
    names = [f"{fault.rule}: {fault.name}" for fault in faults()]
    assert len(names) == len(set(names)) >= 40


def test_a_text_that_is_gone_is_said(tmp_path):
    file = tmp_path / "src" / "calipers" / "rule.py"
    file.parent.mkdir(parents=True)
    file.write_text("a = 1\nb = 1\n")
    (tmp_path / "test_rule.py").write_text("def test_a(): ...\n")
    tests = ("test_rule.py",)
    good = Fault("r", "good", "rule.py", "a = 1", "a = 2", tests, "test_a")
    twice = Fault("r", "twice", "rule.py", " = 1", " = 2", tests, "")
    gone = Fault("r", "gone", "rule.py", "c = 1", "c = 2", tests, "test_a test_b")
    assert stale([good], tmp_path) == []
    assert stale([twice, gone], tmp_path) == [
        "twice: its text stands 2 times in rule.py, not once",
        "gone: its text stands 0 times in rule.py, not once",
        "gone: there is no test_b in test_rule.py",
    ]
    with good.inside(file.parent):
        assert file.read_text() == "a = 2\nb = 1\n"
    assert file.read_text() == "a = 1\nb = 1\n"
