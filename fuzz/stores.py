"""Damaged histories: every command answers as from the whole one, or with a sentence."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from fuzz.run import printed

NAME = "history.db"
COMMANDS = (
    *("history", "history show @nightly", "history trend nightly"),
    "history show @nightly~1 --json",
)
HEAD = 100
"""The head of an SQLite file: without it there is no history, which is no test."""


def damaged(content: bytes, number: int, seed: int) -> Iterator[bytes]:
    """Copies with a byte, a few or many changed, or with their end cut off."""
    random = Random(seed)  # noqa: S311 - nothing is kept secret by it
    for _ in range(number):
        if random.random() < 0.2:
            yield _pages(content, random)
            continue
        at, size = random.randrange(HEAD, len(content)), random.choice((1, 1, 4, 200, 4096))
        rest = b"" if random.random() < 0.05 else content[at + size :]
        yield content[:at] + random.randbytes(size) + rest


PAGE = 4096


def _pages(content: bytes, random: Random) -> bytes:
    """Whole pages that are not where they belong: swapped, doubled, or empty."""
    pages = [content[at : at + PAGE] for at in range(0, len(content), PAGE)]
    one, other = random.sample(range(1, len(pages)), 2)
    what = random.choice(("swap", "double", "empty"))
    if what == "swap":
        pages[one], pages[other] = pages[other], pages[one]
    else:
        pages[one] = pages[other] if what == "double" else bytes(len(pages[one]))
    return b"".join(pages)


def attack(content: bytes, number: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """What became of every command on every copy, counted; and what should not have happened."""
    os.chdir(folder)
    right = {one: _answer(one, content) for one in COMMANDS}
    counts: Counter[str] = Counter()
    findings = []
    for copy, bad in enumerate(damaged(content, number, seed)):
        for command in COMMANDS:
            code, out, err = _answer(command, bad)
            what = f"copy {copy} of seed {seed}, {command}"
            if code not in (0, 2) or "Traceback" in err:
                findings.append(f"{what}: exit code {code}: {err[-300:]}")
            elif code == 0 and out != right[command][1]:
                findings.append(f"{what}: another answer than from the whole history")
            counts["refused" if code else "the same answer"] += 1
    return counts, findings


def _answer(command: str, content: bytes) -> tuple[int, str, str]:
    for left in Path().iterdir():
        left.unlink()
    Path(NAME).write_bytes(content)
    return printed([*command.split(), "--store", NAME])
