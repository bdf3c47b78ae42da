"""Turn scores into a record to save: everything that is stored of an evaluation."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime

import msgspec
import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.corpus import open_corpus
from calipers.io.load import load
from calipers.io.records.kept_notes import kept_notes
from calipers.model.evaluation import Evaluation
from calipers.model.fact import text_of
from calipers.model.fingerprint import RankingFingerprint
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.ranking import NotGroupedError
from calipers.model.result import moment
from calipers.model.run import RUN_SCHEMA, Run
from calipers.model.scores import Scores, Summary
from calipers.store.blob import digest_of, pack
from calipers.store.git import GitState, git_state
from calipers.store.listing import evaluations
from calipers.store.load import load_judgements
from calipers.store.open import open_store
from calipers.store.place import Where
from calipers.store.record import (
    JUDGEMENTS,
    TAG_COLUMN,
    EvaluationRecord,
    check_name,
    check_tags,
    new_id,
    write,
)
from calipers.store.schema import EVALUATION

DEPTH = 100
"""Results beyond this rank, and beyond every cut-off in use, are not saved."""
NIGHTS_TO_ASK = 30
"""How many earlier evaluations to check for the same ground truth."""
SHARED = ("query", "text", "targets")
"""What is known of a query before retrieval: the same from night to night."""


def save(
    scores: Scores,
    name: str,
    *,
    tags: Mapping[str, str] | None = None,
    store: Where = None,
    ground_truth: object = None,
    run: object = None,
    results: bool = True,
    corpus: object = None,
    now: datetime | None = None,
) -> Evaluation:
    """Save scores under a name, in one transaction, with the git commit they were made on.

    An invalid name or tag is refused before anything is read.
    """
    check_name(name)
    checked = check_tags(tags or {})
    if "run" not in scores.fingerprints:
        raise InvalidInput(
            "These scores have no fingerprints, by which what was measured is known "
            "again; measure without fingerprints=False to save them."
        )
    searched = None
    if corpus is not None:
        searched, size = corpus_facts(open_corpus(corpus).batches())
        # A later comparison says how much the growth of the corpus explains.
        size = scores.recorded.corpus_size or size
        scores = replace(scores, settings={**scores.settings, "corpus_size": size})
    truth = (
        None if ground_truth is None else load(ground_truth, "ground_truth").ground_truth
    )
    returned = None if run is None or not results else load(run, "run").run
    record = record_of(
        scores,
        name,
        tags=checked,
        git=git_state(),
        ground_truth=truth,
        run=returned,
        corpus=searched,
        now=now,
    )
    opened = open_store(store, create=True)
    write(opened, record)
    return evaluations(opened, where=[EVALUATION.c.id == record.id])[0]


def knows(ground_truth: GroundTruth, name: str, store: Where = None) -> bool:
    """Whether an earlier evaluation of this name found something of the same ground truth."""
    opened = open_store(store, create=True)
    mine = _judgements(ground_truth)
    for evaluation in evaluations(opened, name=name, last=NIGHTS_TO_ASK):
        if any(summary.mean for summary in evaluation.summaries.values()):
            earlier = load_judgements(opened, evaluation)
            if earlier.join(mine, on=["query", JUDGEMENTS], how="semi").height:
                return True
    return False


def record_of(
    scores: Scores,
    name: str,
    *,
    tags: Mapping[str, str] | None = None,
    git: GitState | None = None,
    ground_truth: GroundTruth | None = None,
    run: Run | None = None,
    corpus: str | None = None,
    now: datetime | None = None,
) -> EvaluationRecord:
    """The record of an evaluation.

    With the ``ground_truth``, later changes of judgements can be detected; with the
    ``run`` too, the results are saved. ``corpus`` is the fingerprint of what was
    searched.
    """
    git = git or GitState()
    row = {
        "name": check_name(name),
        "saved": moment(now or datetime.now(UTC)),
        "calipers": scores.recorded.version,
        "git_commit": git.commit,
        "git_branch": git.branch,
        "git_dirty": git.dirty,
        "queries": len(scores),
        "ground_truth": scores.fingerprints["ground_truth"],
        "run": scores.fingerprints["run"],
        "corpus": corpus,
        "facts": _json(_facts(scores)).decode(),
    }
    contents = {
        "definitions": _json([asdict(metric) for metric in scores.metrics]),
        "queries": pack(_queries(scores, ground_truth)),
        "scores": pack(_scores(scores)),
    }
    if ground_truth is not None and run is not None:
        contents |= _retrieved(scores, ground_truth, run)
    return EvaluationRecord(
        new_id(),
        row,
        check_tags(tags or {}),
        [_summary(summary) for summary in scores.summaries.values()],
        {kind: (digest_of(content), content) for kind, content in contents.items()},
    )


def corpus_facts(batches: Iterator[pl.DataFrame]) -> tuple[str, int]:
    """A fingerprint of the chunks that does not depend on their order or file, and their number."""
    sums = RankingFingerprint()
    size = 0
    for batch in batches:
        sums.add(batch["id"], batch["text"], np.arange(batch.height))
        size += batch.height
    return sums.hexdigest(), size


def _facts(scores: Scores) -> dict[str, object]:
    return {
        "settings": dict(scores.settings),
        "policy": scores.policy.to_dict(),
        "audit": asdict(scores.audit),
        "fingerprints": dict(scores.fingerprints),
        "sentences": kept_notes(scores.settings),
    }


def _queries(scores: Scores, ground_truth: GroundTruth | None) -> pl.DataFrame:
    frame = scores.queries.select(SHARED)
    known = pl.lit(None, dtype=pl.String).alias(JUDGEMENTS)
    if ground_truth is not None:
        frame = frame.join(
            _judgements(ground_truth), on="query", how="left", maintain_order="left"
        )
    else:
        frame = frame.with_columns(known)
    return frame.with_columns(
        tag.alias(TAG_COLUMN + name) for name, tag in scores.tags.items()
    )


def _judgements(ground_truth: GroundTruth) -> pl.DataFrame:
    """A short digest of each query's ground truth, to detect changes."""
    grades = ground_truth.targets["grade"].to_numpy() + 0.0
    texts = ground_truth.targets.with_columns(
        grade=pl.Series(grades.view(np.int64)).cast(pl.String)
    ).select(
        "query",
        row=pl.concat_str(
            [
                pl.col(n).cast(pl.String).fill_null("\x00")
                for n in TARGET_SCHEMA
                if n != "query"
            ],
            separator="\x1f",
        ),
    )
    joined = (
        texts.sort("query", "row").group_by("query").agg(pl.col("row").str.join("\x1e"))
    )
    of_query = ground_truth.queries.select("query").join(joined, on="query", how="left")
    digests = [
        hashlib.sha256((row or "").encode()).hexdigest()[:16]
        for row in of_query["row"].to_list()
    ]
    return of_query.select("query", pl.Series(JUDGEMENTS, digests, dtype=pl.String))


def _scores(scores: Scores) -> pl.DataFrame:
    varying = [name for name in scores.queries.columns if name not in SHARED]
    values = {str(i): scores.values[:, i] for i in range(len(scores.metrics))}
    return scores.queries.select(varying).with_columns(
        pl.Series(name, column, dtype=pl.Float64) for name, column in values.items()
    )


def _summary(summary: Summary) -> dict[str, object]:
    interval = summary.interval
    return {
        # Slices are computed from the scores of the queries when somebody asks for them.
        "slice_tag": None,
        "slice_value": None,
        "metric": summary.metric,
        "mean": summary.mean,
        "median": summary.median,
        **(
            asdict(interval)
            if interval
            else dict.fromkeys(("low", "high", "level", "method"))
        ),
        "n": summary.n,
        "undefined": summary.undefined,
    }


def _retrieved(scores: Scores, ground_truth: GroundTruth, run: Run) -> dict[str, bytes]:
    """The ground truth and the results, packed, with each text once."""
    depth = max(DEPTH, scores.audit.depth or 0)
    try:
        results, texts = _listing(run, scores, depth)
    except NotGroupedError:
        results, texts = _listing(run.grouped(), scores, depth)
    kept = {"targets": pack(ground_truth.targets), "results": results}
    if texts is not None:
        kept["texts"] = pack(texts)
    if run.queries is not None:
        kept["asked"] = pack(run.queries)
    return kept


def _listing(run: Run, scores: Scores, depth: int) -> tuple[bytes, pl.DataFrame | None]:
    """The results of the measured queries, packed, and their distinct texts."""
    measured = scores.queries.select("query")
    rows: dict[str | None, int] = {}

    def listed() -> Iterator[pl.DataFrame]:
        for batch in run.ranked(scores.policy.ties):
            table = batch.first(depth).join(
                measured, "query", "semi", maintain_order="left"
            )
            columns = [name for name in RUN_SCHEMA if name in table.columns]
            if "text" in columns:
                for text in table["text"].unique(maintain_order=True):
                    rows.setdefault(text, len(rows))
                places = pl.Series(
                    "text_row", [rows[text] for text in table["text"]], pl.UInt32
                )
                table = table.with_columns(places)
                columns = [*(name for name in columns if name != "text"), "text_row"]
            yield table.select(columns)

    nothing = pl.DataFrame(
        schema={name: RUN_SCHEMA[name] for name in ("query", "rank", "item")}
    )
    # In one piece: the same table gives the same bytes, so that the history stores it
    # once.
    results = pl.concat(tuple(listed()) or (nothing,), rechunk=True)
    return pack(results), pl.DataFrame(
        {"text": list(rows)}, {"text": pl.String}
    ) if rows else None


def _json(value: object) -> bytes:
    """A value as JSON; a sentence is kept as its text."""
    return msgspec.json.encode(value, order="deterministic", enc_hook=text_of)
