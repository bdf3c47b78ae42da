"""Ask git which commit was measured."""

import subprocess
from pathlib import Path

from calipers.frozen import dataclass

PATIENCE_SECONDS = 10


@dataclass(frozen=True)
class GitState:
    """A commit, its branch, and whether there are uncommitted changes; None if unknown."""

    commit: str | None = None
    branch: str | None = None
    dirty: bool | None = None


def git_state(folder: Path | None = None) -> GitState:
    """The state of the repository around a folder (default: the working folder)."""
    where = folder or Path.cwd()
    commit = _git(where, "rev-parse", "--verify", "HEAD")
    if commit is None:
        return GitState()
    branch = _git(where, "symbolic-ref", "--short", "HEAD")
    # Untracked files (results, the history itself) do not change what was measured.
    status = (
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--ignore-submodules=dirty",
    )
    changed = _git(where, *_without_filters(where), *status)
    return GitState(commit, branch, None if changed is None else bool(changed))


def _without_filters(folder: Path) -> list[str]:
    """Options that disable the filters configured by the repository itself.

    A filter is a program that git runs to compare a file. The user's own filters stay.
    """
    own = (
        "config",
        "--local",
        "--includes",
        "--null",
        "--name-only",
        "--get-regexp",
        r"^filter\.",
    )
    names = (_git(folder, *own) or "").split("\0")
    filters = {name.removeprefix("filter.").rpartition(".")[0] for name in names} - {""}
    return [
        part
        for name in sorted(filters)
        for key in ("clean", "process", "required")
        for part in ("-c", f"filter.{name}.{key}=")
    ]


def _git(folder: Path, *arguments: str) -> str | None:
    # A repository may configure a file monitor program, which must not run here.
    command = ["git", "-c", "core.fsmonitor=false", "--no-optional-locks", *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            command,
            cwd=folder,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else None
