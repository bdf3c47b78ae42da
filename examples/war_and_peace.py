"""Ask War and Peace a dozen questions, and measure what dense retrieval finds.

    python examples/war_and_peace.py war_and_peace.txt [-k 10] [--chunk 1000] [--model NAME]

The text is the Maude translation, in the public domain: Project Gutenberg offers it as plain
text (e-book 2600). The ground truth of each question are short quotes, found wherever the chunks
happen to be cut: try another --chunk and the same ground truth still holds.
"""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "demo"))

import searchers  # noqa: E402 - found in the demo's folder
from corpus import Chunk  # noqa: E402

import calipers  # noqa: E402

OVERLAP = 0.1
"""How much of a chunk the next one repeats, so that fewer quotes are cut in two."""

QUESTIONS: dict[str, list[str]] = {
    "Who is Anna Pávlovna?": [
        "Anna Pávlovna Schérer, maid of honor and favorite of the Empress Márya Fëdorovna",
        "Anna Pávlovna Schérer on the contrary, despite her forty years",
    ],
    "Who was the stout young man with spectacles?": [
        "One of the next arrivals was a stout, heavily built young man with close-cropped hair",
        "young man was an illegitimate son of Count Bezúkhov",
    ],
    "What did Pierre look like?": ["Pierre was ungainly. Stout, about the average height, broad"],
    "What does Prince Andrew Bolkónski look like?": [
        "He was a very handsome young man, of medium height, with firm, clearcut features",
    ],
    "Who lives at Bald Hills?": [
        "At Bald Hills, Prince Nicholas Andréevich Bolkónski’s estate",
        "with his daughter, Princess Mary, and her companion, Mademoiselle Bourienne",
    ],
    "What was the old Prince Bolkónski's nickname?": [
        "nicknamed in society, “the King of Prussia”",
    ],
    "Who is Dólokhov, and what was he betting on?": [
        "Dólokhov was of medium height, with curly hair and light-blue eyes",
        "explaining that Dólokhov was betting with Stevens, an English naval",
    ],
    "How beautiful was Hélène?": ["Hélène was so lovely that not only"],
    "What did Prince Vasíli say about his sons Hippolyte and Anatole?": [
        "Hippolyte is at least a quiet fool, but Anatole is an active one",
        "that Anatole is costing me forty thousand",
    ],
    "What was the comet of 1812 said to foretell?": [
        "the comet which was said to portend all kinds of woes",
    ],
    "When was Speránski at the height of his fame?": [
        "when the youthful Speránski was at the zenith of his fame",
    ],
    "What is the full name of Platón the prisoner?": [
        "My name is Platón, and the surname is Karatáev",
    ],
    "What kind of boy was Pétya?": ["Pétya was a big handsome boy of thirteen, merry, witty"],
}


def main() -> None:
    options = _options()
    text = options.text.read_text(encoding="utf-8")
    k = options.k
    chunks = cut(text, options.chunk)
    print(f"{len(text):,} characters in {len(chunks):,} chunks.")
    search = searchers.dense(chunks, options.model)
    run = calipers.retrieve(search, list(QUESTIONS), k=k)
    truth = [
        {"query": query, "ground_truth": [{"quote": quote} for quote in quotes]}
        for query, quotes in QUESTIONS.items()
    ]
    names = [f"{name}@{k}" for name in ("hit_rate", "precision", "recall", "f1")]
    scores = calipers.evaluate(ground_truth=truth, run=run, match="quote", metrics=names)

    print(f"\n{f'Hit@{k}':>8} {f'Prec@{k}':>8} {f'Rec@{k}':>8} {f'F1@{k}':>8}")
    for row in scores.per_query.iter_rows(named=True):
        print(*(f"{row[name]:8.2f}" for name in names), "", row["query"])
    print(*(f"{scores[name].mean:8.2f}" for name in names), "", "on average")


def cut(text: str, length: int) -> list[Chunk]:
    """Chunks of one length that overlap a little."""
    step = max(1, round(length * (1 - OVERLAP)))
    return [
        Chunk(str(start), "novel", start, min(start + length, len(text)), text[start:][:length])
        for start in range(0, max(1, len(text)), step)
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Ask War and Peace a dozen questions.")
    parser.add_argument("text", type=Path, help="the novel as plain text, UTF-8")
    parser.add_argument("-k", type=int, default=10, help="how many chunks are retrieved")
    parser.add_argument("--chunk", type=int, default=1000, help="characters per chunk")
    parser.add_argument("--model", help="a sentence-transformers model, if it is installed")
    options = parser.parse_args()
    if not options.text.is_file():
        parser.error(
            f"there is no file {options.text}; the top of this script says where to get it"
        )
    return options


if __name__ == "__main__":
    main()
