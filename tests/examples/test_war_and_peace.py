"""The novel's example, on a small text in its shape and on the novel where it is there."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from calipers.text import normalise

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "war_and_peace.py"
NOVEL = ROOT.parent / "shared" / "data" / "war_and_peace.txt"

pytest.importorskip("bm25s", reason="the example needs bm25s: pip install 'calipers[demo]'")
pytest.importorskip("faiss", reason="the example needs FAISS: pip install 'calipers[demo]'")

SMALL = """CHAPTER I

The guests came late, and the candles were lit. The hostess was the well-known Anna Pávlovna
Schérer, maid of honor and favorite of the Empress Márya Fëdorovna, and nobody dared to yawn.
Anna Pávlovna Schérer on the contrary, despite her forty years, never tired of a new face.

CHAPTER II

Of Pierre everybody said the same: Pierre was ungainly. Stout, about the average height, broad in
the shoulders, he sat down on every chair as if it were his last. He read much and remembered it.

CHAPTER III

At night the whole town looked up to the sky, and at the comet which was said to portend all kinds
of woes and the end of the world. Pétya was a big handsome boy of thirteen, merry, witty, and slept.
"""


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("war_and_peace", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(text: Path, *options: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, SCRIPT, text, *options],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def values(lines: list[str], query: str) -> list[float]:
    line = next(line for line in lines if line.endswith(query))
    return [float(cell) for cell in line.split()[:4]]


def test_on_a_small_text(tmp_path):
    text = tmp_path / "small.txt"
    text.write_text(SMALL, encoding="utf-8")
    lines = run(text, "-k", "3", "--chunk", "400")
    # Both quotes on Anna Pávlovna stand in the first chunk: one useful result of three.
    assert values(lines, "Who is Anna Pávlovna?") == [1.0, 0.33, 1.0, 0.5]
    assert values(lines, "Who lives at Bald Hills?") == [0.0, 0.0, 0.0, 0.0]
    assert lines[-1].endswith("on average")


@pytest.mark.skipif(not NOVEL.exists(), reason="the novel is not beside the repository")
def test_every_quote_stands_once_in_the_novel(example):
    novel = normalise(NOVEL.read_text(encoding="utf-8"))
    quotes = [quote for several in example.QUESTIONS.values() for quote in several]
    assert {quote: novel.count(normalise(quote)) for quote in quotes} == dict.fromkeys(quotes, 1)
