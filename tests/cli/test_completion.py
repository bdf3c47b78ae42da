"""The Tab key: what a shell is offered, asked as bash asks."""

import os
from contextlib import chdir
from pathlib import Path
from unittest import mock

import pytest

from tests.command import calipers_command

EXAMPLE = Path(__file__).parents[2] / "examples" / "python_questions.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tab")
    (folder / "evals.json").write_bytes(EXAMPLE.read_bytes())
    with chdir(folder):
        assert calipers_command("eval", "evals.json", "--save", "nightly").code == 0
    return folder


def offered(folder: Path, line: str) -> list[str]:
    words = line.split(" ")
    asking = {"_CALIPERS_COMPLETE": "bash_complete", "COMP_WORDS": line}
    with chdir(folder), mock.patch.dict(os.environ, asking, COMP_CWORD=str(len(words) - 1)):
        asked = calipers_command()
    assert (asked.code, asked.err) == (0, "")
    return [one for one in asked.out.splitlines() if one]


@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("calipers comp", "plain,compare"),
        ("calipers eval --metr", "plain,--metrics"),
        ("calipers eval -m recall@5,ndc", "plain,recall@5,ndcg"),
        ("calipers eval ev", "file,ev"),
        ("calipers eval -g ", "file,"),
        ("calipers eval evals.json --html ", "file,"),
        ("calipers eval --ties ", "plain,trec"),
        ("calipers compare @", "plain,@nightly"),
        ("calipers history show ", "plain,@nightly"),
        ("calipers history trend ni", "plain,nightly"),
    ],
)
def test_what_is_offered(folder, line, some):
    assert some in offered(folder, line)


def test_what_is_not_known_or_cannot_be_read_says_nothing_into_the_line(tmp_path, folder):
    (tmp_path / "calipers.toml").write_text("this is no TOML")
    assert offered(tmp_path, "calipers history show @") == []
    for line in ("calipers history show @zz", "calipers nosuch ", "calipers eval -k "):
        assert offered(folder, line) == []
