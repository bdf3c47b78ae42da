"""The Tab key: what a shell is offered, asked as bash, zsh and fish ask."""

import os
import shutil
import subprocess
import sys
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


COMPLETED = {
    "bash": 'source tab; COMP_WORDS=(calipers conv); COMP_CWORD=1; _calipers_completion "$(which '
    'calipers)"; echo "${COMPREPLY[@]}"',
    "fish": "source tab; complete -C 'calipers conv'",
    "zsh": "autoload -U compinit; compinit -u -d dump; source tab; echo $_comps[calipers]",
}


@pytest.mark.parametrize("shell", COMPLETED)
def test_the_script_of_each_shell_is_taken_by_it(folder, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    with mock.patch.dict(os.environ, {"_CALIPERS_COMPLETE": f"{shell}_source"}):
        script = calipers_command()
    assert script.code == 0
    (folder / "tab").write_text(script.out)
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    command = programs / "calipers"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m calipers "$@"\n')
    command.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [shell, "-c", COMPLETED[shell]],
        cwd=folder,
        env={**os.environ, "PATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    # zsh completes in a terminal alone; here it shows that it knows the function of the script.
    assert ("_calipers_completion" if shell == "zsh" else "convert") in done.stdout, done.stderr
