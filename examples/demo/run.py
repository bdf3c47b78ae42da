"""The whole job on one page: three retrievers, one ground truth, and what to do next.

    python examples/demo/run.py [--model NAME] [--output FOLDER]

Builds three retrievers over Python's language reference, asks them the questions beside this
file, and runs the commands that a user would run, showing each.
"""

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import searchers  # noqa: E402 - found beside this file
from corpus import Chunk, chunks  # noqa: E402

import calipers  # noqa: E402
from calipers.cli import group  # noqa: E402

QUESTIONS = Path(os.path.relpath(HERE / "questions.jsonl"))
DEPTH = 20


def main() -> None:
    options = _options()
    folder = options.output
    folder.mkdir(parents=True, exist_ok=True)
    pieces = chunks()
    documents = len({chunk.document for chunk in pieces})
    print(
        f"Python {sys.version_info.major}.{sys.version_info.minor}'s language reference: "
        f"{documents} topics, {len(pieces)} chunks."
    )
    corpus = _write_corpus(pieces, folder / "chunks.jsonl")
    runs = {name: str(path) for name, path in _retrieve(pieces, folder, options.model).items()}

    truth = ["--ground-truth", str(QUESTIONS)]
    best = runs["hybrid"]
    _step("Can these questions tell retrievers apart?")
    given = [word for path in runs.values() for word in ("-r", path)]
    _calipers("audit", str(QUESTIONS), "--corpus", corpus, *given, "--quiet")
    _step("Which retriever is better, and is that real?")
    page = str(folder / "report.html")
    _calipers("compare", *runs.values(), *truth, "--html", page)
    _step("How good is the hybrid, per type of question?")
    _calipers("eval", "--run", best, *truth, "-k", "1,5,10", "--by", "type")
    _step("Which k should it use, and what does that cost?")
    _calipers("sweep", "--run", best, *truth, "--tokens", "2000", "--price", "2.50")
    _step("Why does it fail, and what can be done?")
    _calipers("diagnose", "--run", best, *truth)
    _step("What became of the evidence that was not found?")
    _calipers("misses", "--run", best, *truth, "-k", "10", "--corpus", corpus)
    _step("We looked at all of this: is the hybrid really better than BM25?")
    sealed = _seal(folder)
    _calipers("confirm", runs["bm25"], best, "--sealed", sealed)
    _where_next(folder, best, page)


def _seal(folder: Path) -> str:
    """A real project seals its questions before anybody tunes on them."""
    for part in ("open", "sealed", "ledger"):
        (folder / f"questions.{part}.jsonl").unlink(missing_ok=True)
    return calipers.seal(QUESTIONS, output=folder / "questions").files["sealed"]


def _retrieve(pieces: list[Chunk], folder: Path, model: str | None) -> dict[str, Path]:
    bm25 = searchers.bm25(pieces)
    dense = searchers.dense(pieces, model)
    systems = {"bm25": bm25, "dense": dense, "hybrid": searchers.hybrid(bm25, dense)}
    runs = {}
    for name, search in systems.items():
        runs[name] = folder / f"{name}.jsonl"
        # A demo starts afresh; a real run would go on where it was interrupted.
        run = calipers.retrieve(search, QUESTIONS, k=DEPTH, output=runs[name], restart=True)
        print(f"{name}: {run.report.answered} questions asked.")
    return runs


def _write_corpus(pieces: list[Chunk], path: Path) -> str:
    lines = (
        json.dumps(
            {"id": c.id, "document": c.document, "start": c.start, "end": c.end, "text": c.text},
            ensure_ascii=False,
        )
        for c in pieces
    )
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def _calipers(*words: str) -> None:
    shown = " ".join(f"'{word}'" if " " in word else word for word in words)
    print(f"\n$ calipers {shown}\n", flush=True)
    group.main(list(words), standalone_mode=False)


def _step(question: str) -> None:
    width = shutil.get_terminal_size().columns
    print(f"\n{'─' * min(width, 80)}\n{question}", flush=True)


def _where_next(folder: Path, best: str, page: str) -> None:
    _step("Where to look next")
    # `make demo` installs into .venv, which is on nobody's path.
    here = Path(sys.executable).parent / "calipers"
    program = "calipers" if shutil.which("calipers") or not here.exists() else os.path.relpath(here)
    print(
        f"""
Open {page} in a browser: charts, every query and what was found for it.
The runs and the chunks are in {folder}; the questions in {QUESTIONS}.
  {program} misses --run {best} -g {QUESTIONS} -k 10 -o misses.jsonl
      every miss on a line of its own, to read and to label
  {program} serve --judge {folder}/bm25.jsonl {folder}/dense.jsonl -g {QUESTIONS} -m recall@5
      two minutes in the browser: judge, and watch the metric move (docs/make-ground-truth.md)
  {program} gate --run {best} -g {QUESTIONS} --require "recall@10 >= 0.7"
      a build that turns red when retrieval gets worse
Your own data: docs/your-own-data.md. A new project: {program} init."""
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The whole job on one page.")
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="a sentence-transformers model for the dense retriever, instead of latent vectors",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path(os.path.relpath(HERE / "output")),
        metavar="FOLDER",
        help="where the runs are written",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
