"""Every result prints as an answer that fits a screen, and is one line at a prompt."""

import pkgutil
import re
from importlib import import_module

import pytest

import calipers
from calipers.model.result import LOOKS, ShowsItself
from calipers.model.scores import Scores
from calipers.present.terminal import SCREEN
from tests.present.results import MAKERS, hostile

WIDTHS = (60, 80, 200)


def test_every_kind_of_result_is_made_here():
    for module in pkgutil.walk_packages(calipers.__path__, "calipers."):
        if module.name.rpartition(".")[2] in ("result", "rule"):
            import_module(module.name)
    kinds = set(_below(ShowsItself)) - {Scores, *_below(Scores)} | {Scores}
    for kind in kinds:
        import_module(kind.shown_by)
    assert {kind.__name__ for kind in kinds} == {kind.__name__ for kind in LOOKS} == set(MAKERS)


def _below(kind):
    for one in pkgutil.walk_packages(calipers.__path__, "calipers."):
        if one.name.endswith((".result", "_result")) or one.name.startswith("calipers.model."):
            import_module(one.name)
    found = kind.__subclasses__()
    return [*found, *(deeper for one in found for deeper in one.__subclasses__())]


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
    lines = str(made).splitlines()
    assert len(lines) == SCREEN
    assert re.fullmatch(r"… \d+ more lines; to_dict\(\) has everything.", lines[-1])
