"""Every result prints as an answer that fits a screen, and is one line at a prompt."""

import re

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.present.printers import _PRINTED, SCREEN, as_text
from tests.present.results import MAKERS, hostile

WIDTHS = (60, 80, 200)


def test_every_kind_of_result_is_made_here():
    assert {kind.__name__ for kind in _PRINTED} == set(MAKERS)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("width", WIDTHS)
def test_print_fits_a_screen(kind, width, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(width))
    result = MAKERS[kind]()
    assert type(result).__name__ == kind
    lines = str(result).splitlines()
    assert 0 < len(lines) <= SCREEN
    assert max(map(len, lines)) <= min(width, 100)


@pytest.mark.parametrize("kind", sorted(set(MAKERS) - {"Scores"}))
def test_a_prompt_shows_the_verdict_in_one_line(kind, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = MAKERS[kind]()
    shown = repr(result)
    assert shown.startswith(f"<{kind}: ")
    assert "\n" not in shown
    words = re.escape(shown.removeprefix(f"<{kind}: ").removesuffix(">")).replace(r"\ ", r"\s+")
    assert re.match(words, str(result))


@pytest.mark.parametrize("kind", ["Comparison", "Diff", "Misses", "Scores", "Slices", "Sweep"])
def test_hostile_text_steers_no_terminal(kind, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with hostile():
        result = MAKERS[kind]()
        assert not re.search(r"[\x1b\u202e]", str(result) + repr(result))


def test_a_long_answer_says_how_much_is_left_out(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    made = calipers.bounds(
        [{"query": "q", "retrieved": ["a", "b"], "ground_truth": ["a"]}],
        metrics=",".join(f"recall@{k}" for k in range(1, 61)),
    )
    lines = as_text(made).splitlines()
    assert len(lines) == SCREEN
    assert re.fullmatch(r"… \d+ more lines; to_dict\(\) has everything.", lines[-1])


def test_other_values_are_refused():
    with pytest.raises(InvalidInput, match="int has no looks"):
        as_text(3)
