"""The Tab key: what a shell is offered, asked as bash asks."""

import os
from unittest import mock

import pytest

from tests.command import calipers_command


def offered(line: str) -> list[str]:
    asking = {"_CALIPERS_COMPLETE": "bash_complete", "COMP_WORDS": line}
    with mock.patch.dict(os.environ, asking, COMP_CWORD=str(line.count(" "))):
        asked = calipers_command()
    assert (asked.code, asked.err) == (0, "")
    return [one for one in asked.out.splitlines() if one]


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("calipers comp", "plain,compare"),
        ("calipers eval ev", "file,ev"),
        ("calipers eval -g ", "file,"),
        ("calipers gate sa", "plain,save"),
    ],
)
def test_what_is_offered(line, some):
    assert some in offered(line)


@pytest.mark.parametrize("line", ["history show @zz", "nosuch ", "eval -k "])
def test_what_is_not_known_says_nothing_into_the_line(line):
    assert offered(f"calipers {line}") == []
