"""Explain every miss."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from calipers.analyse.corpus_facts import CorpusFacts, study_corpus
from calipers.analyse.listing import list_results
from calipers.analyse.misses import (
    STAGES,
    Facts,
    best_ranks,
    lost_at,
    one_per_unit,
    reasons,
    siblings,
    waterfall,
)
from calipers.analyse.misses_table import (
    came_instead,
    false_positives,
    mark_useful,
    misses_table,
    ranks_or_null,
)
from calipers.api.inputs import read_pair
from calipers.api.prepare import Prepared, prepare
from calipers.audit.counts import audit_counts, enforce
from calipers.errors import InvalidInput, NoCommonIds
from calipers.io.corpus import open_corpus
from calipers.io.load import load
from calipers.match.choose import parse_matching
from calipers.metrics.spec import check_cutoff
from calipers.model.matches import EMPTY, FAILED, MISSING, Matches
from calipers.model.misses import REASONS, Misses
from calipers.model.run import Run
from calipers.suggest import did_you_mean


def misses(
    data: Any = None,
    *,
    ground_truth: Any = None,
    run: Any = None,
    k: int = 10,
    corpus: Any = None,
    candidates: Any = None,
    exact: Any = None,
    rel: float | None = None,
    **preparing: Any,
) -> Misses:
    """One reason for each piece of ground truth that is not in the first k results.

    ``corpus`` holds the chunks that are searched; with it, what is not there and what is split
    over chunks can be told. ``candidates`` (the list before the reranker) and ``exact`` (exact
    search beside an approximate index) are runs; records may hold them too, under ``stages``.

    >>> result = misses(ground_truth={"q": ["a", "b", "c"]}, run={"q": ["a", "x", "b"]}, k=2)
    >>> result.reasons
    {'below_k': 1, 'not_returned': 1}
    """
    k = check_cutoff(k)
    truth, results = read_pair(
        data, ground_truth, run, preparing.pop("progress", None), preparing.pop("store", None)
    )
    prepared = prepare(ground_truth=truth, run=results, rel=rel, **preparing)
    runs = _stage_runs(results, {"candidates": candidates, "exact": exact})
    if runs and prepared.settings["match"] == "document":
        raise InvalidInput(
            f"The level is document and the run has stages ({', '.join(runs)}); stages are "
            "followed chunk by chunk. Leave the level out, or the stages."
        )
    stages = {
        name: _matched(prepared, one, preparing, strict=one is not results.stages.get(name))
        for name, one in runs.items()
    }
    return explain(prepared, k, stages, corpus)


def explain(
    prepared: Prepared, k: int, stages: Mapping[str, Matches], corpus: Any = None
) -> Misses:
    """The misses of matches that are there already."""
    matches = prepared.matches
    enforce(prepared.policy, audit_counts(
        prepared.ground_truth, matches, prepared.tally, depth=k, rel=prepared.rel
    ))  # fmt: skip
    targets = prepared.ground_truth.targets[
        np.argsort(prepared.ground_truth.target_query, kind="stable")
    ]
    relevant = matches.relevant(prepared.rel)
    depth = max(k, int(matches.edge_rank.max(initial=0)))
    listing = list_results(prepared.run, matches, prepared.policy.ties, depth)
    shown = mark_useful(listing.filter(pl.col("rank") <= k), matches, relevant)
    studied = _study(corpus, prepared, targets, shown) if corpus is not None else None
    facts = _facts(matches, k, stages, listing, shown, targets, studied)
    at, steps = lost_at(facts)
    counted = np.flatnonzero(relevant & ~_left_out(prepared)[matches.target_query])
    missed, n_units, n_found = one_per_unit(
        matches.target_unit[counted], facts.found[counted], at[counted], facts.rank[counted]
    )
    missed = counted[missed]
    names = pl.Series([reason.name for reason in REASONS])
    stage_names = pl.Series([name for name, _ in steps])
    columns = {
        "reason": names.gather(reasons(facts)[missed]),
        "lost_at": stage_names.gather(at[missed]),
        "rank": ranks_or_null(facts.rank[missed]),
        "candidate_rank": ranks_or_null(facts.stage_rank["candidates"][missed]),
        "exact_rank": ranks_or_null(facts.stage_rank["exact"][missed]),
    }
    return Misses(
        k=k,
        targets=n_units,
        found=n_found,
        table=misses_table(
            matches, targets, missed, columns=columns, instead=came_instead(shown),
            tags=prepared.ground_truth.tags,
        ),
        waterfall=waterfall(at[missed], steps, n_units),
        false_positives=false_positives(shown, matches),
        notes=tuple(_notes(prepared, facts, counted)),
    )  # fmt: skip


def _facts(
    matches: Matches,
    k: int,
    stages: Mapping[str, Matches],
    listing: pl.DataFrame,
    shown: pl.DataFrame,
    targets: pl.DataFrame,
    corpus: CorpusFacts | None,
) -> Facts:
    query, rank = matches.target_query, best_ranks(matches)
    nobody = np.zeros(rank.size, dtype=np.bool_)
    known, stage_rank = {}, {}
    for name in STAGES:
        stage = stages.get(name)
        known[name] = nobody if stage is None else ~stage.having_status(MISSING)[query]
        never = np.full_like(rank, np.iinfo(np.int64).max)
        stage_rank[name] = never if stage is None else best_ranks(stage)
    repeats = (
        pl.DataFrame({"query": query, "rank": rank})
        .join(listing.select("query", "rank", "repeats"), on=["query", "rank"], how="left",
              maintain_order="left")["repeats"]
        .fill_null(0).to_numpy()
    )  # fmt: skip
    crowded = np.zeros(matches.n_queries, dtype=np.bool_)
    crowded[shown.filter("repeated")["query"].unique().to_numpy()] = True
    return Facts(
        k=k, rank=rank, repeats=repeats,
        status={name: matches.having_status(name)[query] for name in (FAILED, EMPTY, MISSING)},
        known=known, stage_rank=stage_rank,
        sibling=_siblings(matches, shown, targets, corpus),
        crowd=crowded[query], corpus=corpus,
    )  # fmt: skip


def _siblings(
    matches: Matches, shown: pl.DataFrame, targets: pl.DataFrame, corpus: CorpusFacts | None
) -> np.ndarray:
    """Whether another chunk of the target's document is shown; documents from run or corpus."""
    in_run = shown.select("item", "document").drop_nulls().unique("item", keep="first")
    document_of = {**dict(in_run.iter_rows()), **(corpus.document_of if corpus else {})}
    documents = corpus.document if corpus else targets["document"]
    from_run = targets["item"].replace_strict(document_of, default=None, return_dtype=pl.String)
    return siblings(matches.target_query, documents.fill_null(from_run), shown, document_of)


def _study(
    corpus: Any, prepared: Prepared, targets: pl.DataFrame, shown: pl.DataFrame
) -> CorpusFacts:
    opened = open_corpus(corpus)
    match = prepared.settings["match"]
    matching = parse_matching("id" if match == "document" else match)
    items = shown.filter(pl.col("document").is_null())["item"].drop_nulls().unique()
    facts = study_corpus(opened.batches, targets, matching, items)
    returned = np.unique(prepared.matches.edge_target)
    if returned.size and not (facts.whole | facts.split)[returned].any():
        raise InvalidInput(
            f"The corpus {opened.name} holds nothing of the ground truth that the retriever "
            "returned, so it is not the one that was searched; give the chunks themselves, with "
            "the ids that the run uses."
        )
    return facts


def _stage_runs(results: Run, given: Mapping[str, Any]) -> dict[str, Run]:
    """The stages that stand in the records, and those given apart, which go before."""
    runs = dict(results.stages)
    for name in runs:
        if name not in STAGES:
            raise InvalidInput(
                f"The run has a stage {name!r}; the stages are {' and '.join(STAGES)}: the list "
                f"before the reranker, and exact search.{did_you_mean(name, STAGES)}"
            )
    for name, value in given.items():
        if value is None:
            continue
        found = load(value, "run").run
        if found is None:
            raise InvalidInput(
                f"The stage {name} is no run: found no results in it; give what was returned at "
                "that stage, as a run."
            )
        runs[name] = found
    return runs


def _matched(
    prepared: Prepared, run: Run, preparing: Mapping[str, Any], *, strict: bool
) -> Matches:
    try:
        return prepare(
            ground_truth=prepared.ground_truth, run=run, rel=prepared.rel, **preparing
        ).matches
    except NoCommonIds:
        # A file of its own may be the wrong one. A stage inside the records cannot be: then it
        # simply holds no target.
        if strict:
            raise
        return _without_edges(prepared.matches, run)


def _without_edges(matches: Matches, run: Run) -> Matches:
    asked = run.queries["query"] if run.queries is not None else run.frame["query"]
    status = matches.queries.select(
        pl.when(pl.col("query").is_in(asked.to_list()))
        .then(pl.lit("answered")).otherwise(pl.lit(MISSING)).alias("status")
    )["status"]  # fmt: skip
    none = np.empty(0, dtype=np.int64)
    return replace(
        matches, queries=matches.queries.with_columns(status=status),
        edge_query=none, edge_rank=none, edge_target=none, edge_overlap=np.empty(0),
    )  # fmt: skip


def _left_out(prepared: Prepared) -> np.ndarray:
    """The queries that the policies take out of every metric; they have no misses either."""
    out = np.zeros(prepared.matches.n_queries, dtype=np.bool_)
    for status, choice in (
        (MISSING, prepared.policy.missing),
        (FAILED, prepared.policy.errors),
    ):
        if choice == "exclude":
            out |= prepared.matches.having_status(status)
    return out


def _notes(prepared: Prepared, facts: Facts, counted: np.ndarray) -> list[str]:
    lines = list(prepared.settings["notes"])
    if facts.corpus is None:
        lines.append(
            "No corpus is given (--corpus), so what is not in it, or split over its chunks, "
            "cannot be told."
        )
    else:
        stale = ~facts.corpus.whole & ~facts.corpus.split & facts.listed
        if count := int(stale[counted].sum()):
            lines.append(
                f"{count} of the targets that were returned are not in the corpus given: it is "
                "not quite the one that was searched."
            )
    if not any(facts.known[name].any() for name in STAGES):
        lines.append(
            "The run holds no stages (--candidates, --exact), so a reranker or an index cannot "
            "be named as the cause."
        )
    lines += _partly_recorded(prepared.matches, facts, counted)
    if (out := int(_left_out(prepared).sum())) > 0:
        lines.append(f"{out} queries are left out by the policies in force.")
    return lines


def _partly_recorded(matches: Matches, facts: Facts, counted: np.ndarray) -> Iterator[str]:
    """One line for each stage that some queries have and others lack."""
    queries = matches.target_query[counted]
    for name, culprit in (("candidates", "a reranker"), ("exact", "an index")):
        without = np.unique(queries[facts.unrecorded(name)[counted]]).size
        if without and facts.known[name].any():
            asked = np.unique(queries[~facts.silent[counted]]).size
            yield (
                f"The stage {name!r} is not recorded for {without} of {asked} answered queries, so "
                f"{culprit} cannot be named as the cause of what they miss."
            )
