"""The Tab key, as the page on configuration sets it up."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = "import sys; sys.argv[0] = 'calipers'; from calipers.cli import main; main()"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_are_completed(shell):
    page = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
    assert f"_CALIPERS_COMPLETE={shell}_source calipers > " in page
    typed = {"COMP_WORDS": "calipers sw", "COMP_CWORD": "sw" if shell == "fish" else "1"}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={
            **typed,
            "PATH": "",
            "PYTHONPATH": str(ROOT / "src"),
            "_CALIPERS_COMPLETE": f"{shell}_complete",
        },
    )
    assert "sweep" in done.stdout, done.stderr
