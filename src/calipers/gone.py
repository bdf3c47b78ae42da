"""Removed commands, options and names, with the message that says what to use instead."""

GONE = {
    "bounds": "`calipers eval` prints the share of results that nobody judged; `calipers labels "
    "draft` writes them to a file to judge.",
    **dict.fromkeys(
        ("eval --full", "compare --full"),
        "The page holds up to 1,000 queries; `calipers serve` lists all of them, with whole texts.",
    ),
    "eval --bounds": "`calipers eval` prints the share of results that nobody judged; `calipers "
    "labels draft` writes them to a file to judge.",
    "index_recall": "Give the exact run to `calipers eval` as the ground truth: recall is then the "
    "recall of the index.",
    "exact_neighbours": "Search exactly with your vector store or with numpy, and give that run to "
    "`calipers eval` as the ground truth.",
    **dict.fromkeys(
        ("--from quepid_export", "--from quepid_ratings"),
        "Leave --from out: it is read as any table, or as records, without a name of its own.",
    ),
    **dict.fromkeys(
        ("--from rank_eval_ratings",),
        "Give the request to _rank_eval as the ground truth: its answer rates returned hits alone.",
    ),
    **dict.fromkeys(
        ("--from open_rag_eval", "--from ragchecker", "--from rre", "--from trulens"),
        "Write the queries, ids and grades as a table (CSV, Parquet) or as JSON lines.",
    ),
    **dict.fromkeys(
        ("labels agreement", "labels_agreement"),
        "`calipers labels export anna.csv ben.csv` says how far judges agree, and with -o FILE "
        "writes one ground truth; of a pool, `calipers labels export POOL`.",
    ),
    "labels list": "`calipers labels export --list` lists the pools.",
    **dict.fromkeys(
        ("labels close", "labels_close"),
        "`calipers labels export POOL --close` closes a pool; --reopen and --delete are there too. "
        'In Python: `calipers.labels_desk(POOL).change("close")`.',
    ),
    "labels traces": "`calipers labels draft --from-traces FILE -o questions.jsonl` takes the "
    "questions from traces.",
    **dict.fromkeys(
        ("labels questions", "labels_questions", "init --from"),
        "`calipers init CORPUS --endpoint URL --model NAME` writes the questions with a model; in "
        "Python `calipers.first_questions`.",
    ),
    **dict.fromkeys(
        ("labels_pool --overlap", "serve --overlap"),
        "There is one queue; --per-item 2 lets two people label every result.",
    ),
    **dict.fromkeys(
        ("labels_pool --assign", "serve --assign"),
        "There is one queue for all; make a pool for each slice, or label in Label Studio or "
        "Argilla (`calipers labels export --to`).",
    ),
    **dict.fromkeys(
        ("labels_draft --by", "labels_draft --disagreement"),
        "The questions of traces are drawn at random.",
    ),
    **dict.fromkeys(
        ("labels_sample --by", "labels_sample --cluster"),
        "Every question is drawn alike, by itself.",
    ),
    **dict.fromkeys(
        ("labels_pool --only", "serve --only"),
        "Open the evaluation with `calipers serve`, show only failures, and judge what is on the "
        "page; of two runs, --changed judges only what differs.",
    ),
    "serve --order": "The questions whose results to judge stand highest come first; in Python, "
    'labels_pool(order="plain") takes them as they come.',
    "serve --lead": "Take --owner NAME.",
    "--csv": "Take --as csv.",
    "compare --as latex": "Take --as csv or --as markdown; pandoc makes LaTeX of either.",
    **dict.fromkeys(
        ("compare --corrected-by", "compare --sampled"),
        "`calipers eval --corrected-by` corrects the mean of each run by people's labels.",
    ),
    **dict.fromkeys(
        (
            "gate --corrected-by",
            "gate --sampled",
            "gate_save --corrected-by",
            "gate_save --sampled",
        ),
        "`calipers eval --corrected-by` corrects the mean of a run by people's labels.",
    ),
    **dict.fromkeys(
        ("compare --by", "compare --persistence"),
        "`calipers compare --changes` lists the queries that changed most; --json has all of them.",
    ),
    **dict.fromkeys(
        ("eval --mlflow", "log_to_mlflow"),
        'Take mlflow.log_dict(scores.to_dict(), "result.json"); inside MLflow, the scorer of '
        "calipers.integrations.mlflow measures.",
    ),
    "compare --output": "`calipers labels draft NEW -o label.csv` writes what nobody judged; "
    "`calipers serve --judge OLD NEW --changed` asks only for what differs.",
    "gate --max-age": "The verdict names the day of the baseline; save it again when it is "
    "too old.",
    "gate_save --add": "A baseline is one result; for a retriever that does not always answer "
    "alike take `calipers gate --only-shown`.",
    "gate --strict": "No clear difference passes, and says so; require what must hold, such as "
    '--require "recall@10 >= 0.8".',
    "seal --by": "Every value of a tag of few values is sealed in a like share, without a word.",
    "seal --error": "All looks share an error of 5%; --looks says how many there are.",
    "seal --seed": "The same ground truth is always sealed alike.",
    **dict.fromkeys(
        tuple(
            f"retrieve --{name}"
            for name in ("collection", "embed", "ids", "texts", "tokenize", "using")
        ),
        "Give a function that returns what the client answers, such as lambda query, k: "
        'client.query_points("chunks", query=embed(query), limit=k).points.',
    ),
    "plan_grid": "`calipers grid --dry-run` lists the combinations of a grid file.",
    "retrieve --stage-components": "Give a function that returns the results and their stages: "
    '{"retrieved": […], "stages": {"candidates": […]}}.',
    "retrieve --batch": "Give a function of one question; --workers asks several at a time.",
    **dict.fromkeys(
        ("retrieve --progress", "retrieve --total"),
        "Take watch=, a function of the counts and the number of questions.",
    ),
    "retrieve --method": "An address is asked by POST with --request, else by GET.",
    "retrieve --warm-up": "The first question of each worker, at most a tenth, is kept out of the "
    "latencies.",
    "retrieve --resume": "An interrupted run goes on by itself, --retry-errors also goes on after "
    "an edit, and --keep leaves a finished run.",
    "explain --keep": "Append the question and its targets to the ground truth by hand, or judge "
    "the results of several retrievers with `calipers labels draft`.",
    **dict.fromkeys(
        ("diagnose --threshold", "diagnose --thresholds"),
        "The thresholds are fixed; docs/diagnose.md lists them.",
    ),
    **dict.fromkeys(
        ("diagnose --rules", "rules"),
        "docs/diagnose.md lists the rules with their thresholds.",
    ),
    **dict.fromkeys(
        ("diagnose --before", "diagnose --anyway"),
        "`calipers compare OLD NEW` says what changed; diagnose both runs to see what is wrong.",
    ),
    "misses --cases": "-o FILE writes the misses, up to 100,000; counts are of all.",
    "diagnose --price": "`calipers sweep --price 2.50` says what the results cost at each k.",
    **dict.fromkeys(
        ("diagnose --tokenizer", "sweep --tokenizer"),
        "Give 'tokens' with every result; without them they are estimated from the texts.",
    ),
    "--like trec_eval-c": "Take --like trec_eval --missing zero.",
    "--like trec_eval-9": "Take --like trec_eval, which is version 10; it differs from version 9 "
    "in scores that are equal only in single precision.",
    "history_alarm --reference": "The reference is seven evaluations and moves up by itself; "
    "--since begins it anew.",
    **dict.fromkeys(
        ("sweep --folds", "sweep --seed"),
        "The bound of a floor holds on new queries; it is not tried on parts of these.",
    ),
    "sweep --recall": "Say with --keep which share of what is found a floor must keep.",
    "spark": "Give the DataFrames to `calipers.evaluate(run=…, ground_truth=…)` or to any other "
    "question; the scores come to the driver.",
    **dict.fromkeys(
        ("inst", "nerr8", "nerr9", "nerr10", "nerr11"),
        "Take err, nerr or rbp, or compute it with cwl-eval.",
    ),
    "--ties trec-9": "Take --ties trec, as trec_eval has it from version 10 on.",
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
