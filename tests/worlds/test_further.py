"""Switches, first questions and pages of drawn worlds."""

import json
from random import Random

import pytest

from tests.command import typed
from tests.worlds.ask import inside
from tests.worlds.counted import untrue_plan
from tests.worlds.draw import (
    KINDS,
    nothing_changed,
    questions,
    ranked,
    reversed_lists,
    some_changed,
    third_missing,
)
from tests.worlds.further import (
    on_a_page,
    wrong_with_grid,
    wrong_with_init,
    wrong_with_pages,
    wrong_with_report,
    wrong_with_site,
    wrong_with_switch,
)
from tests.worlds.world import World

assert len(KINDS) > 15


@pytest.mark.parametrize("n", [3, 12, 40])
@pytest.mark.parametrize("kind", [some_changed, nothing_changed, reversed_lists])
def test_a_switch_says_what_the_labels_say(kind, n):
    world = kind(Random(n), n)
    with inside(world):
        assert list(wrong_with_switch(world)) == []


@pytest.mark.parametrize("seed", range(3))
def test_first_questions_name_commands_that_work_there(seed: int) -> None:
    with inside(nothing_changed(Random(seed), 2)):
        assert list(wrong_with_init(Random(seed))) == []


@pytest.mark.parametrize("kind", [some_changed, third_missing])
def test_pages_say_what_the_alarm_says_and_their_commands_run(kind):
    world = kind(Random(1), 12)
    with inside(world):
        assert list(wrong_with_pages(world)) == []


@pytest.mark.parametrize("kind", [some_changed, reversed_lists])
def test_the_report_says_what_the_commands_say(kind):
    world = kind(Random(2), 12)
    with inside(world):
        assert list(wrong_with_report(world)) == []


def test_a_site_says_what_the_alarm_says_and_its_commands_run():
    world = some_changed(Random(3), 12)
    with inside(world):
        assert list(wrong_with_site(world)) == []


@pytest.mark.parametrize("kind", [some_changed, third_missing])
def test_a_grid_says_what_its_lists_say(kind):
    world = kind(Random(4), 12)
    with inside(world):
        assert list(wrong_with_grid(world)) == []


def test_the_checker_hears_a_range_that_its_pilot_does_not_ask_for() -> None:
    draw = Random(9)
    asked = questions(draw, 60, 3)
    world = World("plan", asked, {"a": ranked(draw, asked, 0.5), "b": ranked(draw, asked, 0.8)})
    line = "plan a.jsonl b.jsonl --difference 0.1"
    with inside(world):
        answer = json.loads(typed(f"{line} --json").out)
    assert list(untrue_plan(world, line, answer)) == []
    for false in ({"low": 300}, {"high": 200}, {"pilot": 59}, {"difference": 0.05}):
        assert list(untrue_plan(world, line, {**answer, **false})), false


def test_a_page_says_settings_where_the_terminal_has_options() -> None:
    assert on_a_page("Half is missed; give --candidates.") == "Half is missed; give candidates."
