"""What git says of the working folder."""

import subprocess

import pytest

from calipers.store.git import GitState, git_state


@pytest.fixture
def repository(tmp_path):
    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q", "-b", "trunk")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "-q", "-m", "first")
    return tmp_path, git


def test_a_clean_tree_and_a_changed_one(repository):
    folder, git = repository
    head = git("rev-parse", "HEAD")
    assert git_state(folder) == GitState(head, "trunk", dirty=False)
    (folder / "unknown").write_text("not in git")
    assert git_state(folder).dirty is False
    (folder / "file").write_text("two")
    assert git_state(folder) == GitState(head, "trunk", dirty=True)


def test_no_repository_no_commit_and_no_git(tmp_path, monkeypatch):
    assert git_state(tmp_path) == GitState()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert git_state(tmp_path) == GitState()
    monkeypatch.setenv("PATH", "")
    assert git_state(tmp_path) == GitState()


def test_no_program_of_the_repository_is_started(repository):
    folder, git = repository
    started = folder / "started"
    (folder / ".gitattributes").write_text("file filter=mine\n")
    git("config", "filter.mine.clean", f"touch {started}; cat")
    git("config", "filter.mine.required", "true")
    (folder / "file").write_text("two")
    assert git_state(folder).dirty is True
    assert not started.exists()
    git("status")
    assert started.exists()
