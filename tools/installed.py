"""Install what `make package` built into empty environments, and run every command from there.

`python tools/installed.py [PYTHON …]` takes interpreters (the one that runs it, unless told): each
gets the wheel in a new environment, where every command runs outside of the checkout, and the sdist
in another, where the first ones run: a wheel is made of it, with the same content.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
SEARCH = """
WORDS = "amber birch cedar dune ember fjord grove heath inlet juniper".split()
CHUNKS = {f"c{i}": f"{WORDS[i % 10]} {WORDS[i // 10 % 10]} {i}" for i in range(100)}


def order(query, weigh):
    asked = query.lower().strip("?").split()
    weights = {n: sum(weigh(w) for w in CHUNKS[n].split() if w in asked) for n in CHUNKS}
    return sorted(CHUNKS, key=lambda name: -weights[name])


def old(query, k):
    return [{"id": one, "text": CHUNKS[one]} for one in order(query, str.isalpha)[:k]]


def new(query, k):
    return [{"id": one, "text": CHUNKS[one]} for one in order(query, len)[:k]]


def make(weight):
    return lambda query, k: order(query, lambda word: weight * word.isdigit() + 1)[:k]
"""
GRID = """
ground-truth = "truth.open.jsonl"
metrics = "recall@3,mrr"
[grid]
k = 5
[grid.params]
weight = [0, 3]
[grid.retrievers.words]
make = "search:make"
"""
WALK = """
eval -g truth.jsonl --retriever search.py:old --html report.html --markdown report.md
audit truth.jsonl
seal truth.jsonl
retrieve search.py:old truth.open.jsonl -k 10 -o old.jsonl
retrieve search.py:new truth.open.jsonl -k 10 -o new.jsonl
retrieve search.py:old truth.sealed.jsonl -k 10 -o old.sealed.jsonl
retrieve search.py:new truth.sealed.jsonl -k 10 -o new.sealed.jsonl
eval -g truth.open.jsonl --run old.jsonl --by kind
compare old.jsonl new.jsonl -g truth.open.jsonl --chart compare.svg
compare old.jsonl new.jsonl
sweep -g truth.open.jsonl --run old.jsonl
plan old.jsonl new.jsonl -g truth.open.jsonl -k 1 --difference 0.05
confirm new.sealed.jsonl old.sealed.jsonl --sealed truth.sealed.jsonl
grid grid.toml
diagnose -g truth.open.jsonl --run old.jsonl
misses -g truth.open.jsonl --run old.jsonl -k 3 --corpus chunks.jsonl
explain "Where is amber birch 10?" --retriever search.py:new -g truth.jsonl -c chunks.jsonl
gate save old.jsonl -g truth.open.jsonl -o main.json
gate show main.json
gate new.jsonl -g truth.open.jsonl --baseline main.json --require "recall@10 >= 0.1"
1 gate old.jsonl -g truth.open.jsonl --require "recall@1 >= 1"
2 gate nothing.jsonl --require "mrr >= 0"
convert old.jsonl run.trec
eval -g truth.open.jsonl --run old.jsonl --save nightly
eval -g truth.open.jsonl --run new.jsonl --save nightly
history
history show @nightly
history trend nightly
history alarm nightly
labels draft old.jsonl new.jsonl --corpus chunks.jsonl -o label.jsonl
2 labels judge label.jsonl --endpoint http://127.0.0.1:9/v1 --model small -o machine.jsonl
labels sample old.jsonl -g truth.open.jsonl --pool drawn --until 0.3
labels export --list
labels export drawn -o exported.jsonl
metrics
metrics ndcg
config
"""
"""What the README and the docs name, one command a line; a number before it is its exit code."""


def write_project(folder: Path) -> None:
    """A search, its chunks and a ground truth, as somebody has them."""
    (folder / "search.py").write_text(SEARCH, encoding="utf-8")
    (folder / "grid.toml").write_text(GRID, encoding="utf-8")
    known: dict[str, dict[str, str]] = {}
    exec(SEARCH, known)  # noqa: S102 - written above
    chunks = known["CHUNKS"]
    corpus = [{"id": one, "text": text} for one, text in chunks.items()]
    truth = [
        {"query": f"Where is {text}?", "ground_truth": [one], "tags": {"kind": text.split()[0]}}
        for one, text in chunks.items()
    ]
    for name, rows in (("chunks", corpus), ("truth", truth)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")


class Installed:
    """Calipers in an environment of its own, and a folder to use it in."""

    def __init__(self, python: str, package: str, folder: Path) -> None:
        self._bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self._folder = folder / "project"
        self._folder.mkdir()
        strange = ("CALIPERS", "PYTHON", "VIRTUAL_ENV")
        self._env = {name: v for name, v in os.environ.items() if not name.startswith(strange)}
        subprocess.run([python, "-m", "venv", str(folder / "venv")], check=True, env=self._env)
        subprocess.run(
            [str(self._bin / "python"), "-m", "pip", "install", "-q", package],
            check=True,
            env=self._env,
        )

    def begin(self) -> list[str]:
        """The first commands of a newcomer: what went wrong."""
        return self._run("init") + self._run("eval") + self._run("gate")

    def walk(self) -> list[str]:
        """Every command: what went wrong."""
        wrong = self.begin()
        for path in self._folder.iterdir():
            if path.is_file():
                path.unlink()
        write_project(self._folder)
        for line in WALK.strip().splitlines():
            wrong += self._run(line)
        return wrong + self._serve()

    def _run(self, line: str) -> list[str]:
        code, _, rest = line.partition(" ") if line[0].isdigit() else ("0", "", line)
        done = subprocess.run(
            [str(self._bin / "calipers"), *shlex.split(rest)],
            cwd=self._folder,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode == int(code) and "Traceback" not in done.stderr:
            return []
        return [f"calipers {rest}: exit code {done.returncode}\n{done.stdout}{done.stderr}"]

    def _serve(self) -> list[str]:
        """The web app answers, and ends when it is told to."""
        server = subprocess.Popen(
            [str(self._bin / "calipers"), "serve", "--port", "0"],
            cwd=self._folder,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert server.stdout is not None  # noqa: S101 - for the types
        said, until = "", time.monotonic() + 60
        while "/enter?" not in said and time.monotonic() < until and server.poll() is None:
            said += server.stdout.readline()
        try:
            address = next(word for word in said.split() if "/enter?" in word)
            with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310 - ours
                page = answer.read().decode()
        except (OSError, StopIteration) as error:
            return [f"calipers serve: {error}\n{said}"]
        finally:
            server.terminate()
            server.wait(60)
        return [] if "<title>" in page else [f"calipers serve: {page[:500]}"]


def main(pythons: list[str]) -> int:
    """Walk through every package on every interpreter; 1 where anything went wrong."""
    wheels, sdists = ([*(ROOT / "build/dist").glob(one)] for one in ("*.whl", "*.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1:
        print("Run `make package` first: build/dist should hold one wheel and one sdist.")
        return 2
    failed = False
    for python in pythons or [sys.executable]:
        version = subprocess.run([python, "-VV"], check=True, capture_output=True, text=True)
        for package in (*wheels, *sdists):
            with tempfile.TemporaryDirectory(prefix="calipers-installed-") as folder:
                here = Installed(python, f"{package}[web]", Path(folder))
                wrong = here.walk() if package in wheels else here.begin()
            failed |= bool(wrong)
            number = len(WALK.strip().splitlines()) + 4 if package in wheels else 3
            name = version.stdout.split("(")[0].strip()
            print(f"{name}, {package.name}: {number - len(wrong)} of {number} commands")
            print("\n".join(wrong), end="", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
