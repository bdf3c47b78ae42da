"""Which test files run under the rules of Windows besides those that always do (`make windows`).

One part in twenty-four, by the hash of the commit: the same for the same commit, and another for
most others, so that every file has its turn in some run. A part's number may be given instead.
"""

import subprocess
import sys
import zlib
from pathlib import Path

PARTS = 24
ROOT = Path(__file__).parents[2]


def chosen(commit: str) -> int:
    """The part that is this commit's turn; the first where there is no repository."""
    return int(commit[:8] or "0", 16) % PARTS


def files(part: int) -> list[str]:
    """The files of a part; each file is in one."""
    found = (path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))
    return sorted(one for one in found if zlib.crc32(one.encode()) % PARTS == part)


if __name__ == "__main__":
    asked = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    part = int(sys.argv[1]) if len(sys.argv) > 1 else chosen(commit)
    print(*files(part))
    print(
        f"Under rules of Windows: what touches files, and part {part} of {PARTS} of the rest "
        f"({len(files(part))} files; make windows ARGS={part}).",
        file=sys.stderr,
    )
