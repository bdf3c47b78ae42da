"""An editor and mypy see every keyword of the public operations: `make check` reads this file.

A mistake that is not marked fails the check, as an ignored error that is none does.
"""

# mypy: strict-optional, warn-unused-ignores

import calipers


def right() -> tuple[calipers.Scores, calipers.Verdict, calipers.Report]:
    pair: calipers.Matched = calipers.read(
        "evals.jsonl", match="quote", like="trec_eval", ties="trec"
    )
    scores = calipers.evaluate(pair, metrics=["recall@10", "mrr"], k=5)
    calipers.evaluate(ground_truth={"q": ["a"]}, run={"q": ["a"]}, missing="exclude", rel=2)
    calipers.sweep(pair, margin=0.1)
    calipers.diagnose("evals.jsonl", k=10, store="history.db")
    calipers.misses(pair, k=10, corpus="chunks.jsonl")
    calipers.compare({"old": pair, "new": "run.jsonl"}, "truth.jsonl", unanswerable="zero")
    verdict = calipers.gate(pair, require=["recall@10 >= 0.8"])
    report = calipers.report(pair, name="bm25")
    return scores, verdict, report


def wrong() -> None:
    pair = calipers.read("evals.jsonl")
    calipers.evaluate(pair, metric="mrr")  # type: ignore[call-arg]
    calipers.evaluate(pair, missing="skip")  # type: ignore[arg-type]
    calipers.evaluate(pair, ties=3)  # type: ignore[arg-type]
    calipers.read("evals.jsonl", mach="id")  # type: ignore[call-arg]
    calipers.sweep(pair, budget=4000)  # type: ignore[call-arg]
    calipers.misses(pair, k="10")  # type: ignore[arg-type]
    calipers.diagnose(pair, treshold={})  # type: ignore[call-arg]
    calipers.gate(pair, requires="recall@10 >= 0.8")  # type: ignore[call-arg]
    calipers.compare({"old": pair}, run="run.jsonl")  # type: ignore[call-arg]
    calipers.report(pair, html="x.html")  # type: ignore[call-arg]
    calipers.evaluate(pair)["mrr"].median.hex()  # type: ignore[union-attr]
    calipers.evalute(pair)  # type: ignore[attr-defined]
