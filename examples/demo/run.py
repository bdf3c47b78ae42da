"""The whole job in half a minute: a win, no clear difference, a regression, its cause, a report.

    python examples/demo/run.py [--model NAME] [--output FOLDER]

Builds four retrievers over Python's language reference, asks them the questions beside this
file, and runs the commands that a user would run, showing each.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import searchers  # noqa: E402 - found beside this file
from corpus import Chunk, chunks  # noqa: E402

import calipers  # noqa: E402
from calipers.cli import group  # noqa: E402

DEPTH = 20
TRUTH = ("-g", "questions.jsonl")


def main() -> None:
    options = _options()
    options.output.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "questions.jsonl", options.output)
    print(f"Everything below runs in this folder: cd {options.output}")
    # Commands stay as short as those that a user types.
    os.chdir(options.output)
    pieces = chunks()
    print(
        f"Corpus: Python {sys.version_info.major}.{sys.version_info.minor}'s language reference, "
        f"{len({chunk.document for chunk in pieces})} topics, {len(pieces)} chunks."
    )
    bm25 = searchers.bm25(pieces)
    _write_chunks(pieces, Path("chunks.jsonl"))
    _write_chunks(_without_a_third(pieces), Path("chunks-rebuilt.jsonl"))
    _retrieve(
        {
            "counting": searchers.counting(pieces),
            "bm25": bm25,
            "hybrid": searchers.hybrid(bm25, searchers.dense(pieces, options.model)),
            "rebuilt": searchers.bm25(_without_a_third(pieces)),
        }
    )
    _step("We replaced counted words by BM25. Did it help?")
    _calipers("compare", "counting.jsonl", "bm25.jsonl", *TRUTH, "--html", "report.html")
    _step("BM25 and vectors together: is the hybrid better still?")
    _calipers("compare", "bm25.jsonl", "hybrid.jsonl", *TRUTH)
    _step("How many results should go into the prompt?")
    _calipers("sweep", "bm25.jsonl", *TRUTH, "-k", "1,3,5,10,20")
    _step("The index was rebuilt overnight. May this build ship?")
    _calipers("gate", "save", "bm25.jsonl", *TRUTH, "-m", "recall@10,ndcg@10", "-o", "main.json")
    _calipers("gate", "rebuilt.jsonl", *TRUTH, "--baseline", "main.json")
    _step("Why did it get worse?")
    lost = ("--worse-than", "main.json", "--corpus", "chunks-rebuilt.jsonl")
    _calipers("misses", "rebuilt.jsonl", *TRUTH, *lost)
    _step("Where to look next")
    page = options.output / "report.html"
    print(f"Open {page} in a browser. Your own data, without any labels: calipers init ./docs")


def _without_a_third(pieces: Sequence[Chunk]) -> list[Chunk]:
    """The chunks of two topics in three: a rebuilt index that stopped early."""
    topics = sorted({chunk.document for chunk in pieces})
    lost = set(topics[::3])
    return [chunk for chunk in pieces if chunk.document not in lost]


def _retrieve(systems: Mapping[str, searchers.Search]) -> None:
    for name, search in systems.items():
        # A demo starts afresh; a real run would go on where it was interrupted.
        output = Path(f"{name}.jsonl")
        run = calipers.retrieve(search, "questions.jsonl", k=DEPTH, output=output, restart=True)
    print(f"Asked {', '.join(systems)} the same {run.report.answered} questions.")


def _write_chunks(pieces: Sequence[Chunk], path: Path) -> None:
    lines = (
        json.dumps(
            {"id": c.id, "document": c.document, "start": c.start, "end": c.end, "text": c.text},
            ensure_ascii=False,
        )
        for c in pieces
    )
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def _calipers(*words: str) -> None:
    print(f"\n$ calipers {' '.join(words)}", flush=True)
    code = group.main(list(words), standalone_mode=False)
    if code:
        print(f"(exit code {code})", flush=True)


def _step(question: str) -> None:
    print(f"\n── {question}", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The whole job in half a minute.")
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
