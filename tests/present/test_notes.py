"""Notes: what can turn a decision first, nothing twice, the rest on request."""

from typing import Any

from calipers.present.notes import Note, PythonConsole, in_order, print_notes


def printed(notes, **how):
    console: Any = PythonConsole(80)
    print_notes(notes, console, **how)
    return console.file.getvalue().strip().splitlines()


def test_the_weight_decides_the_order_and_nothing_is_said_twice():
    given: list[Note | str] = [
        Note("method", "t"),
        Note("counted", "3 queries"),
        "ids were split",
        Note("counted", "ids were split"),
        Note("missing", "q2"),
        Note("failed", "q1 (boom)"),
        Note("unjudged", "9%"),
    ]
    order = ["q1 (boom)", "q2", "9%", "ids were split", "3 queries", "t"]
    assert [one.text for one in in_order(given)] == order
    assert printed(given, explain=True) == order


def test_what_is_always_so_waits_without_a_word():
    assert printed([Note("method", "t")]) == []
    assert printed([Note("counted", "3 queries"), Note("method", "t")]) == ["3 queries"]


def test_what_could_matter_is_said_to_wait():
    many = [Note("counted", f"{n}") for n in range(5)]
    assert printed([*many, Note("method", "t")]) == ["0", "1", "2", "2 more notes: .explain()"]
    failed = [Note("failed", f"q{n}") for n in range(9)]
    shown = printed([*many, *failed])
    assert shown == [*(f"q{n}" for n in range(6)), "0", "7 more notes: .explain()"]


def test_options_are_keywords_in_python_and_commands_stay_commands():
    said = printed(["Give --when-tied max; `calipers plan --primary mrr` says more."])
    assert said == ["Give when_tied max; `calipers plan --primary mrr` says more."]
