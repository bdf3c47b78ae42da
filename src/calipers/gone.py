"""Removed commands, options and names, with the message that says what to use instead."""

_UNJUDGED = (
    "`calipers eval` prints the share of results that nobody judged; `calipers labels draft` "
    "writes them to a file to judge."
)
_CORRECTED = "`calipers eval --corrected-by` corrects the mean of each run by people's labels."
_FORM = "Write the queries, ids and grades as a table (CSV, Parquet) or as JSON lines."
_WRITTEN = "Take --to jsonl, which holds everything; a few lines of a script make the rest of it."
_WEIGHTED = "Name the metrics with -m: all of them decide, and --primary leads."
_BASELINE = "A baseline is JSON: `baseline` has its name and date, `summaries` the means."
_POOLS = "`calipers labels export` takes --list, --close, --reopen and --delete."

GONE = {
    "bounds": _UNJUDGED,
    "eval --bounds": _UNJUDGED,
    "index_recall": "Give the exact run to `calipers eval` as the ground truth: recall is then the "
    "recall of the index.",
    "exact_neighbours": "Search exactly with your vector store or with numpy, and give that run to "
    "`calipers eval` as the ground truth.",
    "--chart": "Take --html FILE: the page holds the chart.",
    "compare --as latex": "Take --as csv or --as markdown; pandoc makes LaTeX of either.",
    "compare --corrected-by": _CORRECTED,
    "gate --corrected-by": _CORRECTED,
    "gate --junit": "`pytest --junitxml` writes JUnit XML of gates in tests; --markdown a summary.",
    **dict.fromkeys(
        ("history check", "history_check"),
        "What is read is compared with its checksum, and refused if it is damaged.",
    ),
    "history --branch": "`calipers history NAME` lists what was saved under one name.",
    "plan --queries": "`calipers compare` says which difference its queries show.",
    **dict.fromkeys(("gate show", "gate_show"), _BASELINE),
    **dict.fromkeys(("eval --score", "gate --score", "compare --score"), _WEIGHTED),
    "gate --strict": "No clear difference passes, and says so; require what must hold, such as "
    '--require "recall@10 >= 0.8".',
    "--like trec_eval-c": "Take --like trec_eval --missing zero.",
    "--like trec_eval-9": "Take --like trec_eval, which is version 10.",
    "--ties trec-9": "Take --ties trec, as trec_eval has it from version 10 on.",
    **dict.fromkeys(
        ("--from rre", "--from ragchecker", "--from open_rag_eval", "--from trulens"), _FORM
    ),
    "audit --run": "`calipers compare A B` says on how many queries two runs differ.",
    "--from rank_eval_hits": "`calipers retrieve` records what a search returns.",
    "--to trec": "Take --to qrels for the judgements and --to run for the results.",
    **dict.fromkeys(("--to beir", "--to ragas", "--to llama_index"), _WRITTEN),
    "explain --keep": "Append the question and its targets to the ground truth by hand.",
    "diagnose --threshold": "docs/diagnose.md lists the thresholds of its rules; they are fixed.",
    "diagnose --by": "`calipers eval --by TAG` compares the slices of one tag.",
    "sweep --price": "The tokens at each k are in the table; multiply their price.",
    "sweep --tokens": "`calipers sweep --as csv` has the tokens at each k, mean and p95.",
    "retrieve --cache-file": "An interrupted run goes on by itself; --restart begins again.",
    "--temp": "The environment variable TMPDIR names the folder of temporary files.",
    "--rate": "--workers 1 asks one question at a time; after 429 there is a pause.",
    "--max-errors": "Failed questions are counted, and --retry-errors asks them again.",
    "compare --retriever": "Ask each with `calipers retrieve`, and compare the files it writes.",
    "eval --tag": "Give each kind a NAME of its own; `calipers.save(…, tags=…)` in Python tags.",
    "labels agreement": "`calipers labels export anna.csv ben.csv` says how far judges agree.",
    **dict.fromkeys(("labels list", "labels close"), _POOLS),
    "labels questions": "`calipers init CORPUS --endpoint URL --model NAME` writes questions.",
    "labels traces": "`calipers labels draft --from-traces FILE -o questions.jsonl` does it.",
    "labels draft --mask": "Mask in the file that it writes, such as with sed; it is JSON lines.",
}
"""Keys are as typed: a command or a name of the package, `COMMAND --option`, `--option value`."""


def gone(typed: str) -> str | None:
    """The message for something that no longer exists; None for anything else.

    >>> gone("bounds").startswith("bounds is no longer part of Calipers.")
    True
    >>> gone("eval") is None
    True
    """
    said = GONE.get(typed)
    return None if said is None else f"{typed} is no longer part of Calipers. {said}"


def gone_option(command: str, words: list[str]) -> str | None:
    """The message for the first removed option among a command's arguments.

    >>> gone_option("eval", ["a.json", "--bounds"]).partition(".")[0]
    'eval --bounds is no longer part of Calipers'
    >>> gone_option("compare", ["a", "b", "--as=latex"]).partition(".")[0]
    'compare --as latex is no longer part of Calipers'
    """
    line = f" {' '.join(words).replace('=', ' ')} "
    for typed in GONE:
        before, mark, after = typed.partition("--")
        if mark and before.strip() in ("", command) and f" --{after} " in line:
            return gone(typed)
    return None
