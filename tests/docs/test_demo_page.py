"""The demo runs to its end, and its page shows what it prints, apart from numbers.

Numbers hang on the language reference of the Python at hand, and, in the last digits, on its
linear algebra; so they are not compared here.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def masked(line):
    return re.sub(r"[\s▲*█]+", " ", re.sub(r"[+−]?\d[\d.,]*", "#", line)).strip()


def test_every_line_that_is_shown_is_printed(tmp_path):
    pytest.importorskip("bm25s", reason="the demo needs bm25s: pip install 'calipers[demo]'")
    pytest.importorskip("faiss", reason="the demo needs FAISS: pip install 'calipers[demo]'")
    output = tmp_path / "output"
    done = subprocess.run(
        [sys.executable, "examples/demo/run.py", "--output", output],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
        cwd=ROOT,
        env={"COLUMNS": "80", "PATH": "", "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    page = (output / "report.html").read_text(encoding="utf-8")
    # One chart for three widths of the screen, and every query that changed with its rankings.
    assert page.count("<svg") == 3
    assert page.count('<details class="query">') > 10
    assert page.count("<mark>") > 10
    # One answer of each kind, in few lines.
    text = done.stdout
    assert [sign for sign in "▲~✗" if f"\n{sign} " not in text] == []
    assert "not in the corpus" in text
    assert len(text.splitlines()) <= 120
    text = done.stdout.replace(str(output), "examples/demo/output")
    first = PAGE.partition("\nCorpus: ")[2].partition("\n")[0]
    for words in ("calipers compare", "calipers sweep", "calipers gate", "calipers misses"):
        assert words in text
    if first not in text:
        pytest.skip("another Python has another language reference")
    printed = {masked(line) for line in text.splitlines()}
    shown = [
        line
        for block in BLOCK.findall(PAGE)
        for line in block.splitlines()
        if line not in ("…", "$ make demo")
    ]
    assert len(shown) > 25
    assert [line for line in shown if masked(line) not in printed] == []
