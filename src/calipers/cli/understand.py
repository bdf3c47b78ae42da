"""Commands that explain a result: sweep, grow, diagnose, misses and explain."""

from typing import Any

from calipers.cli.command import command
from calipers.cli.options import AS, HTML, FileOption


@command(AS)
def _floor() -> None:
    """Find the score below which to return nothing.

    Every result needs a score; a query with an empty ground truth is one without an answer.

    \b
    Examples:
      calipers sweep evals.jsonl --floor
      calipers sweep evals.jsonl --floor -k 5 --keep 0.9
    """


@command(
    HTML,
    AS,
    short_help="Find the k to use; with --floor a lowest score instead.",
    commands={"--floor": _floor},
)
def sweep() -> None:
    """Measure at every k, and find the k to use.

    DATA is a file that holds results and ground truth; or give --ground-truth and --run; or
    questions and --retriever. Metrics are named without a cut-off, as they are measured at
    every k; those of the settings file, and its k, are for other commands.

    \b
    Examples:
      calipers sweep evals.jsonl
      calipers sweep -g qrels.txt -r run.txt -k 1,5,10,20,50,100 -m recall,ndcg --as csv
    """


@command(HTML, AS, short_help="Say how much is found when the corpus grows.")
def grow() -> None:
    """Say how much is found when the corpus grows, from one recorded run.

    DATA is a file that holds results and ground truth; or give --ground-truth and --run; or
    questions and --retriever. Values that these queries cannot settle are left out, with what they
    need. --times 0.5 asks what half of the corpus would find.

    \b
    Examples:
      calipers grow evals.jsonl
      calipers grow run.jsonl -g questions.jsonl --times 2,4,10 -k 5,10,20
      calipers grow evals.jsonl --corpus-size 15000 --to 500000 --html grow.html
    """


@command(short_help="Say why a retriever fails, and which change would help most.")
def diagnose() -> None:
    """Try every known cure on the recorded results, and say which would help most.

    A cure changes the results on paper: their order, repetitions, how ids are written, k. What
    it gains is tested query by query. All targets are accounted for: found, ranked below k,
    under another id, not returned. A gap between precision and recall is explained: too
    selective, or too wide.

    DATA is a file that holds results and ground truth; or give --ground-truth and --run; or
    questions and --retriever.

    \b
    Examples:
      calipers diagnose evals.jsonl
      calipers diagnose evals.jsonl -k 20 --corpus chunks.jsonl
    """


def _write_misses(answer: Any, path: str) -> None:
    from calipers.io.files.write import ending_or, write_table
    from calipers.questions.misses.document import flat

    lists = ending_or(path, ".csv") in (".csv", ".tsv")
    write_table(flat(answer.table) if lists else answer.table, path)


@command(
    FileOption(
        "--output -o",
        "Write one line per miss to a .jsonl, .csv, .tsv, .json or .parquet file.",
        "table",
        _write_misses,
    ),
    short_help="Say why each piece of ground truth was not found.",
)
def misses() -> None:
    """Give one reason for each piece of ground truth that is not in the first k results.

    The rules are tried in a fixed order: under another id; not in the corpus; split over
    chunks; below rank k; right document, wrong chunk; crowded out by duplicates; retriever
    error or nothing returned; lost by the reranker; missed by the index; never a candidate.

    \b
    Examples:
      calipers misses evals.jsonl -k 10 --corpus chunks.jsonl -o misses.jsonl
      calipers misses -g qrels.txt -r reranked.txt --candidates bm25.txt
    """


@command(short_help="Explain one question: ranks, and why targets are missing.")
def explain() -> None:
    """Explain one question: what comes back for it, and why targets are not among it.

    QUESTION is a text, or the id of a question in the ground truth. It is asked of a live
    retriever, or looked up in a run; a run may hold the ground truth too. Every target gets its
    rank or the reason why it is missing (see `calipers misses`).

    \b
    Examples:
      calipers explain q17 -r run.jsonl -g truth.jsonl
      calipers explain "Who gave the party?" --retriever my_app.search:search -g truth.jsonl
      calipers explain q17 --retriever 'mcp:./server#search' -g truth.jsonl -c chunks.jsonl
    """
