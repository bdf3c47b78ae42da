"""A result as text is what its command prints, but for names: --explain is .explain() in Python."""

import re

import pytest

from calipers.cli import every_command
from calipers.names import words_in
from calipers.operations import OPERATIONS
from calipers.present.terminal import first_line
from tests.command import calipers_command
from tests.questions.live_samples import LIVE_SAMPLES
from tests.questions.samples import SAMPLES

SAME = words_in(
    "evaluate levels compare sweep floor calls diagnose misses gate audit plan history "
    "history_show history_trend history_alarm labels_sample metrics explain"
)
"""Operations whose commands print nothing beside the result."""
NAMES = {
    "--explain": ".explain()",
    "--as csv": ".to_polars()",
    "more: -o FILE": "more: .to_polars()",
    "-o FILE writes": "write() writes",
}
"""What has another name in Python; every other option is the keyword."""


def untimed(text: str) -> str:
    """A text without its milliseconds, which differ from one call to the next."""
    return re.sub(r"\b\d+ ms\b", "? ms", text)


def same_words(text: str, printed: str) -> bool:
    """Whether both say the same, up to a command: only a terminal knows what was typed."""
    # A keyword to be given has its sign behind it.
    text = re.sub(r"\b([Gg]ive|or|and)(\s+[a-z_]+)=(?=[\s,;.])", r"\1\2", text)
    ours, theirs = (
        " ".join(untimed(one).replace("`", "").split()).partition("calipers ")[0].strip()
        for one in (text, in_python(printed))
    )
    assert ours == theirs
    return True


def in_python(printed: str) -> str:
    """What a command prints with the names of Python, word by word: lines may break elsewhere.

    A line that is a command to paste is left out: only the command knows what was typed.
    """
    printed = re.sub(r"(?m)^ *calipers .*\n", "", printed)
    for option, name in NAMES.items():
        printed = printed.replace(option, name)
    parts = printed.split("`")
    parts[::2] = (re.sub(r"(?<![\w-])--(?=[a-z])", "", one) for one in parts[::2])
    return " ".join("`".join(parts).split())


@pytest.mark.parametrize("name", SAME)
def test_a_result_is_the_text_of_its_command(name, tmp_path, monkeypatch):
    sample = {**SAMPLES, **LIVE_SAMPLES}[name]
    monkeypatch.chdir(tmp_path)
    sample.prepare()
    result = sample.call()
    words = (one for one in sample.arguments if one != "--json")
    command = (*str(OPERATIONS[name].command).split(), *words)
    printed = calipers_command(*command)
    assert (printed.code in (0, 1), printed.err) == (True, "")
    if "calipers " not in printed.out and in_python(printed.out) == " ".join(printed.out.split()):
        assert untimed(str(result)) == untimed(printed.out).rstrip("\n")
    assert same_words(str(result), printed.out)
    quiet = calipers_command(*command, "--quiet")
    assert (quiet.code, quiet.err) == (printed.code, "")
    assert untimed(quiet.out).splitlines() == [untimed(first_line(result.document()))]
    whole = calipers_command(*command, "--explain")
    if "No such option" not in whole.err:
        assert same_words(result.explain(), whole.out)


def test_every_command_that_answers_can_be_asked_for_one_line():
    answering = {
        name: {option for one in command.params for option in one.opts}
        for name, command in every_command().items()
        if name not in ("config", "init") and any(one.name == "as_json" for one in command.params)
    }
    assert len(answering) > 25
    assert [name for name, options in answering.items() if "--quiet" not in options] == []
