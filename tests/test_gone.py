"""What is gone is answered with what to do instead, wherever it is typed."""

from pathlib import Path

import pytest

import calipers
from calipers.gone import GONE, gone
from calipers.io.registry import choose, named
from calipers.model.policy import Policy
from tests.command import calipers_command


def is_called(old: str) -> bool:
    """Whether it was a name or a keyword in Python too."""
    typed_only = ("--chart", "--max-errors", "--rate", "--temp", "compare --as")
    return not old.startswith((*typed_only, "eval ", "gate show", "history ", "labels "))


@pytest.mark.parametrize("typed", GONE)
def test_a_command_line_with_an_old_name_says_what_to_do(typed: str, tmp_path: Path) -> None:
    words = typed.split()
    if typed.startswith(("--from", "--to ")):
        words = ["convert", __file__, str(tmp_path / "out.jsonl"), *words]
    elif typed.startswith("--"):
        words = ["eval", "evals.jsonl", *words]
    done = calipers_command(*words)
    assert done.code == 2
    assert str(gone(typed)) in " ".join(done.err.split())


@pytest.mark.parametrize("typed", [*filter(is_called, GONE)])
def test_a_program_with_an_old_name_is_told_the_same(typed: str) -> None:
    with pytest.raises((AttributeError, ValueError)) as caught:
        _use(typed)
    assert str(caught.value) == gone(typed)


def _use(typed: str) -> None:
    name, _, option = typed.partition("--")
    keyword, _, value = option.partition(" ")
    if not option:
        getattr(calipers, name)
    elif name:
        getattr(calipers, name.strip())("evals.jsonl", **{keyword.replace("-", "_"): "x"})
    elif keyword == "from":
        named(value)
    elif keyword == "to":
        choose(Path("out"), value)
    elif keyword == "like":
        Policy.like(value)
    else:
        Policy(**{keyword: value})  # type: ignore[arg-type]


def test_what_was_never_there_is_answered_as_before() -> None:
    assert gone("evaluate") is None
    assert "no longer" not in calipers_command("eval", "x.jsonl", "--never").err
