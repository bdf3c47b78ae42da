"""One reason for every piece of ground truth that is not in the first k results."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from calipers.engines.summary import audit_counts, enforce
from calipers.errors import InvalidInput, NoCommonIds
from calipers.io.corpus.read import open_corpus
from calipers.io.load import load
from calipers.match.choose import parse_matching
from calipers.match.pair import edges_by_call, match_again
from calipers.model.matched import ANSWERED, EMPTY, FAILED, MISSING, STATUSES, Matched, Matches
from calipers.model.run import Run
from calipers.questions.misses.corpus_facts import CorpusFacts, study_corpus
from calipers.questions.misses.reasons import (
    STAGES,
    Facts,
    best_ranks,
    lost_at,
    one_per_unit,
    reasons,
    siblings,
    waterfall,
)
from calipers.questions.misses.result import REASONS, Misses
from calipers.questions.misses.table import (
    calls_of,
    came_instead,
    expected_text,
    false_positives,
    mark_useful,
    misses_table,
    ranks_or_null,
)
from calipers.questions.shown_results import list_results
from calipers.words import did_you_mean


def explain_misses(
    pair: Matched, k: int, *, corpus: Any = None, candidates: Any = None, exact: Any = None
) -> Misses:
    """The misses of a pair; a stage that is given stands before one that the records hold."""
    runs = _stage_runs(pair.as_read[1], {"candidates": candidates, "exact": exact})
    if runs and pair.settings["match"] == "document":
        raise InvalidInput(
            f"The level is document and the run has stages ({', '.join(runs)}); stages are "
            "followed chunk by chunk. Leave the level out, or the stages."
        )
    own = pair.as_read[1].stages
    stages = {
        name: _matched(pair, one, strict=one is not own.get(name)) for name, one in runs.items()
    }
    return _explain(pair, k, stages, corpus)


def _explain(pair: Matched, k: int, stages: Mapping[str, Matches], corpus: Any) -> Misses:
    matches = pair.matches
    enforce(
        pair.policy, audit_counts(pair.ground_truth, matches, pair.tally, depth=k, rel=pair.rel)
    )
    targets = pair.targets
    relevant = matches.relevant(pair.rel)
    depth = max(k, int(matches.edge_rank.max(initial=0)))
    listing = list_results(pair.run, matches, pair.policy.ties, depth)
    first = listing if depth == k else listing.filter(pl.col("rank") <= k)
    shown = mark_useful(first, matches, relevant)
    studied = _study(corpus, pair, targets, shown) if corpus is not None else None
    facts = _facts(matches, k, stages, listing, shown, targets, studied)
    at, steps = lost_at(facts)
    counted = np.flatnonzero(relevant & ~_left_out(pair)[matches.target_query])
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
        "expected_text": expected_text(
            targets[missed], listing, studied.text_of if studied else {}
        ),
    }
    by_call = edges_by_call(pair)
    if by_call is not None:
        columns |= calls_of(by_call, missed, matches.target_query[missed])
    return Misses(
        k=k,
        targets=n_units,
        found=n_found,
        table=misses_table(
            matches,
            targets,
            missed,
            columns=columns,
            instead=came_instead(shown),
            tags=pair.ground_truth.tags,
        ),
        waterfall=waterfall(at[missed], steps, n_units),
        false_positives=false_positives(shown, matches),
        notes=tuple(_notes(pair, facts, counted)),
    )


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
        .join(
            listing.select("query", "rank", "repeats"),
            on=["query", "rank"],
            how="left",
            maintain_order="left",
        )["repeats"]
        .fill_null(0)
        .to_numpy()
    )
    crowded = np.zeros(matches.n_queries, dtype=np.bool_)
    crowded[shown.filter("repeated")["query"].unique().to_numpy()] = True
    return Facts(
        k=k,
        rank=rank,
        repeats=repeats,
        status={name: matches.having_status(name)[query] for name in (FAILED, EMPTY, MISSING)},
        known=known,
        stage_rank=stage_rank,
        sibling=_siblings(matches, shown, targets, corpus),
        crowd=crowded[query],
        corpus=corpus,
    )


def _siblings(
    matches: Matches, shown: pl.DataFrame, targets: pl.DataFrame, corpus: CorpusFacts | None
) -> np.ndarray:
    """Whether another chunk of the target's document is shown; documents from run or corpus."""
    in_run = shown.select("item", "document").drop_nulls().unique("item", keep="first")
    document_of = {**dict(in_run.iter_rows()), **(corpus.document_of if corpus else {})}
    documents = corpus.document if corpus else targets["document"]
    from_run = targets["item"].replace_strict(document_of, default=None, return_dtype=pl.String)
    return siblings(matches.target_query, documents.fill_null(from_run), shown, document_of)


def _study(corpus: Any, pair: Matched, targets: pl.DataFrame, shown: pl.DataFrame) -> CorpusFacts:
    opened = open_corpus(corpus)
    match = pair.settings["match"]
    matching = parse_matching("id" if match == "document" else match)
    items = shown.filter(pl.col("document").is_null())["item"].drop_nulls().unique()
    facts = study_corpus(opened.batches, targets, matching, items)
    returned = np.unique(pair.matches.edge_target)
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


def _matched(pair: Matched, run: Run, *, strict: bool) -> Matches:
    try:
        return match_again(pair, run).matches
    except NoCommonIds:
        # A file of its own may be the wrong one. A stage inside the records cannot be: then it
        # simply holds no target.
        if strict:
            raise
        return _without_edges(pair.matches, run)


def _without_edges(matches: Matches, run: Run) -> Matches:
    asked = run.queries["query"] if run.queries is not None else run.frame["query"]
    answered = matches.asked["query"].is_in(asked.to_list()).to_numpy()
    status = np.where(answered, STATUSES.index(ANSWERED), STATUSES.index(MISSING))
    none = np.empty(0, dtype=np.int64)
    return replace(
        matches,
        status=status.astype(np.uint8),
        edge_query=none,
        edge_rank=none,
        edge_target=none,
        edge_overlap=np.empty(0),
    )


def _left_out(pair: Matched) -> np.ndarray:
    """The queries that the policies take out of every metric; they have no misses either."""
    out = np.zeros(pair.matches.n_queries, dtype=np.bool_)
    for status, choice in (
        (MISSING, pair.policy.missing),
        (FAILED, pair.policy.errors),
    ):
        if choice == "exclude":
            out |= pair.matches.having_status(status)
    return out


def _notes(pair: Matched, facts: Facts, counted: np.ndarray) -> list[str]:
    lines = list(pair.settings["notes"])
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
    lines += _partly_recorded(pair.matches, facts, counted)
    if (out := int(_left_out(pair).sum())) > 0:
        lines.append(f"{out} queries are left out by the policies in force.")
    return lines


def _partly_recorded(matches: Matches, facts: Facts, counted: np.ndarray) -> Iterator[str]:
    """One line for each stage that some queries have and others lack."""
    queries = matches.target_query[counted]
    for name, culprit in (("candidates", "a reranker"), ("exact", "an index")):
        if not facts.known[name].any():
            continue
        without = np.unique(queries[facts.unrecorded(name)[counted]]).size
        if without:
            asked = np.unique(queries[~facts.silent[counted]]).size
            yield (
                f"The stage {name!r} is not recorded for {without} of {asked} answered queries, so "
                f"{culprit} cannot be named as the cause of what they miss."
            )
