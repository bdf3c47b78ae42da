"""`python -m simulations`: some sections or all, kept, printed, and what left its band."""

import sys

import pytest

import simulations.page
from simulations import __main__ as command
from simulations.page import Part, page
from simulations.rates import Rate


def rates(value):
    return lambda draws: iter([Rate("a shape", 10, value, 1_000 * draws, highest=0.06)])


PARTS = {
    "good": Part("A promise that holds", "≤ 0.06", "Why.", 10, rates(0.05)),
    "bad": Part("One that does not", "≤ 0.06", "Why.", 10, rates(0.5)),
}


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Two sections, of which one leaves its band, and files of their own."""
    monkeypatch.setattr(command, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(command, "MEASURED", tmp_path / "measured.json")
    for module in (command, simulations.page):
        monkeypatch.setattr(module, "PARTS", PARTS)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["simulations", *arguments])
        return command.main()

    return run


def test_one_section_is_simulated_and_the_others_stay(run, capsys):
    assert run("bad") == 1
    assert "outside its band: Rate(shape='a shape'" in capsys.readouterr().err
    assert run("good") == 0
    kept = command.measured()
    assert [kept[name][0].value for name in PARTS] == [0.05, 0.5]
    text = command.PAGE.read_text(encoding="utf-8")
    assert text == page(kept)
    assert "**0.500**" in text
    assert "|**A promise that holds**: Why.|≤ 0.06|0.050|10,000|" in text
    assert "|**One that does not**: Why.|≤ 0.06|broken|10,000|" in text
    assert "|One that does not|a shape: **0.500** (n=10)|10,000|" in text
