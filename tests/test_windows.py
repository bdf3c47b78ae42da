"""The rules of Windows that `make windows` holds the tests to."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RULES = """
import os
from pathlib import Path

Path("open.txt").write_text("x")
for step in (
    lambda: os.replace("other.txt", "open.txt"),
    lambda: Path("open.txt").rename("new.txt"),
    lambda: Path("open.txt").unlink(),
):
    Path("other.txt").write_text("y")
    with open("open.txt") as file:
        try:
            step()
        except PermissionError as error:
            assert error.winerror == 32
        else:
            raise AssertionError("an open file was moved")
for flags, written in ((0, b"a\\r\\nb"), (os.O_BINARY, b"a\\nb")):
    file = os.open("lines.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | flags)
    os.write(file, b"a\\nb")
    os.close(file)
    assert Path("lines.txt").read_bytes() == written
try:
    import fcntl
except ImportError:
    print("held")
"""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are read from /proc")
def test_the_rules_of_windows_hold(tmp_path: Path) -> None:
    path = os.pathsep.join(str(one) for one in (HERE / "windows", HERE.parent / "src"))
    done = subprocess.run(
        [sys.executable, "-c", RULES],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stdout == "held\n", done.stderr


def test_every_file_has_its_turn_under_the_rules() -> None:
    known = runpy.run_path(str(HERE / "windows" / "part.py"))
    parts = [known["files"](part) for part in range(known["PARTS"])]
    assert sorted(one for part in parts for one in part) == sorted(
        str(path.relative_to(HERE.parent)) for path in HERE.rglob("test_*.py")
    )
    assert {known["chosen"](f"{i:08x}") for i in range(48)} == set(range(known["PARTS"]))
    assert known["chosen"]("") == 0
