"""One reason for each piece of ground truth that is not in the first k results.

The rules are tried in a fixed order and the first that matches gives the reason. Rules never
guess at inputs that were not given (the corpus, the candidates, exact search).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from calipers.engines.summary import audit_counts, enforce
from calipers.errors import InvalidInput
from calipers.io.corpus import open_corpus
from calipers.io.load import load
from calipers.match.pair import match_again
from calipers.measures.views import NEVER
from calipers.model.arrays import Bools, Ints
from calipers.model.matched import EMPTY, FAILED, MISSING, Matched, Matches
from calipers.model.run import Run
from calipers.questions.misses.corpus_facts import CorpusFacts, study_corpus
from calipers.questions.misses.result import REASONS, Misses
from calipers.questions.misses.table import (
    CUT,
    MissFacts,
    best_ranks,
    misses_table,
    ranks_or_null,
)
from calipers.questions.shown_results import Context, known_in_run, over_contexts, with_documents
from calipers.words import did_you_mean

CANDIDATES, EXACT = "candidates", "exact"
STAGES = (CANDIDATES, EXACT)


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known about every target, found or not; the rules read nothing else."""

    k: int
    rank: Ints
    repeats: Ints
    """The number of repeated results above the target's rank."""
    status: Mapping[str, Bools]
    """Whether its query failed, came back empty, or is missing from the run."""
    known: Mapping[str, Bools]
    """By stage, whether its list was recorded for the target's query."""
    stage_rank: Mapping[str, Ints]
    sibling: Bools
    """Another chunk of its document is in the first k."""
    crowd: Bools
    """The first k results of its query contain a repetition."""
    corpus: CorpusFacts | None = None

    @property
    def found(self) -> Bools:
        """Which targets are in the first k."""
        return self.rank <= self.k

    @property
    def listed(self) -> Bools:
        """Which targets were returned at all."""
        return self.rank < NEVER

    def on(self, stage: str) -> Bools:
        """Which targets are in the list of a stage."""
        return self.stage_rank[stage] < NEVER

    @property
    def demoted(self) -> Bools:
        """Which targets the reranker moved from the first k candidates to below k."""
        return self.listed & ~self.found & (self.stage_rank[CANDIDATES] <= self.k)

    @property
    def seen(self) -> Bools:
        """Which targets are in any list, and so certainly in the corpus."""
        return self.listed | self.on(CANDIDATES) | self.on(EXACT)


def explain_misses(
    pair: Matched,
    k: int,
    *,
    corpus: Any = None,
    candidates: Any = None,
    exact: Any = None,
) -> Misses:
    """Explain the misses of a pair; ``candidates`` and ``exact`` override stages in the records."""
    runs = _stage_runs(pair.as_read[1], {"candidates": candidates, "exact": exact})
    if runs and pair.recorded.match == "document":
        raise InvalidInput(
            f"The level is document and the run has stages ({', '.join(runs)}); stages are "
            "followed chunk by chunk. Leave the level out, or the stages."
        )
    own = pair.as_read[1].stages
    stages = {
        name: _matched(pair, one, strict=one is not own.get(name)) for name, one in runs.items()
    }
    matches = pair.matches
    enforce(
        pair.policy, audit_counts(pair.ground_truth, matches, pair.tally, depth=k, rel=pair.rel)
    )
    named, studied = _documents(pair, k, corpus)
    facts = _facts(matches, k, stages, studied)
    counted = np.flatnonzero(matches.relevant(pair.rel) & ~_left_out(pair)[matches.target_query])
    missed, n_units, n_found = one_per_unit(
        matches.target_unit[counted],
        facts.found[counted],
        came_to(facts)[counted],
        facts.rank[counted],
    )
    missed = counted[missed]
    wanted = np.zeros(matches.n_queries, dtype=np.bool_)
    wanted[matches.target_query[missed]] = True
    targets = pair.targets
    if studied is not None:
        targets = targets.with_columns(document=studied.document)
    targets = with_documents(pair, targets)
    look = partial(MissFacts.of, k=k, named=named, wanted=wanted)
    shown = MissFacts.merged([*over_contexts(pair, look, targets)], matches)
    facts = replace(facts, repeats=shown.repeats, sibling=shown.sibling, crowd=shown.crowd)
    why = reasons(facts)[missed]
    names = pl.Series([reason.name for reason in REASONS])
    columns = {
        "reason": names.gather(why),
        "rank": ranks_or_null(facts.rank[missed]),
        "candidate_rank": ranks_or_null(facts.stage_rank["candidates"][missed]),
        "exact_rank": ranks_or_null(facts.stage_rank["exact"][missed]),
        "expected_text": _expected_text(pair, missed, studied),
    }
    counts = np.bincount(why, minlength=len(REASONS)).tolist()
    return Misses(
        k=k,
        targets=n_units,
        found=n_found,
        missed=missed.size,
        reasons={one.name: n for one, n in zip(REASONS, counts, strict=True) if n},
        table=misses_table(
            matches,
            pair.targets,
            missed,
            columns=columns,
            instead=shown.instead,
            tags=pair.ground_truth.tags,
        ),
        numbers=missed,
        given=frozenset(
            [
                *(["corpus"] if studied is not None else []),
                *(name for name in STAGES if facts.known[name].any()),
            ]
        ),
        notes=tuple(_notes(pair, facts, counted)),
    )


def _expected_text(pair: Matched, missed: Ints, corpus: CorpusFacts | None) -> pl.Series:
    """The text of each target: its quote, or its text from the corpus or the run."""
    targets = pair.targets[missed].select("item", pl.col("quote").str.slice(0, CUT))
    without_quote = targets.filter(pl.col("quote").is_null())["item"]
    in_run = known_in_run(pair, "text", without_quote).with_columns(
        pl.col("text").str.slice(0, CUT)
    )
    texts = {**dict(in_run.iter_rows()), **(corpus.text_of if corpus else {})}
    known = targets["item"].replace_strict(texts, default=None, return_dtype=pl.String)
    return targets["quote"].fill_null(known)


def _documents(
    pair: Matched, k: int, corpus: Any
) -> tuple[pl.DataFrame | None, CorpusFacts | None]:
    """The documents of results that name none, and the corpus facts of the targets."""
    if corpus is None and not pair.run.has("document"):
        return None, None
    unnamed = [*over_contexts(pair, partial(_unnamed, k))] if pair.run.has("item") else []
    items = pl.concat(unnamed).drop_nulls().unique() if unnamed else pl.Series([], dtype=pl.String)
    studied = None if corpus is None else _study(corpus, pair, items)
    known = known_in_run(pair, "document", items)
    documents = {**dict(known.iter_rows()), **(studied.document_of if studied else {})}
    columns = {"item": list(documents), "document": list(documents.values())}
    return pl.DataFrame(columns, schema={"item": pl.String, "document": pl.String}), studied


def _unnamed(k: int, block: Context) -> pl.Series:
    """The items of results that do not name their document."""
    shown = block.first(k)
    if "document" in shown.columns:
        shown = shown.filter(pl.col("document").is_null())
    return shown["item"].unique()


def _facts(
    matches: Matches, k: int, stages: Mapping[str, Matches], corpus: CorpusFacts | None
) -> Facts:
    """The facts that the matches give; those that need the results are added later."""
    query, rank = matches.target_query, best_ranks(matches)
    nobody = np.zeros(rank.size, dtype=np.bool_)
    known, stage_rank = {}, {}
    for name in STAGES:
        stage = stages.get(name)
        known[name] = nobody if stage is None else ~stage.having_status(MISSING)[query]
        stage_rank[name] = np.full_like(rank, NEVER) if stage is None else best_ranks(stage)
    return Facts(
        k=k,
        rank=rank,
        repeats=np.zeros_like(rank),
        status={name: matches.having_status(name)[query] for name in (FAILED, EMPTY, MISSING)},
        known=known,
        stage_rank=stage_rank,
        sibling=nobody,
        crowd=nobody,
        corpus=corpus,
    )


def _study(corpus: Any, pair: Matched, items: pl.Series) -> CorpusFacts:
    opened = open_corpus(corpus)
    facts = study_corpus(opened.batches, pair.targets, pair.matching.rule, items)
    returned = np.unique(pair.matches.edge_target)
    if returned.size and not (facts.whole | facts.split)[returned].any():
        raise InvalidInput(
            f"The corpus {opened.name} holds nothing of the ground truth that the retriever "
            "returned, so it is not the one that was searched; give the chunks themselves, with "
            "the ids that the run uses."
        )
    return facts


def _stage_runs(results: Run, given: Mapping[str, Any]) -> dict[str, Run]:
    """The stages from the records, overridden by those given separately."""
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
    """The matches of a stage.

    A separate file may be the wrong one. A stage inside the records cannot be: where it has no
    known id, it simply contains no target.
    """
    if not strict:
        policy = replace(pair.asked.policy, nothing_in_common="zero")
        pair = replace(pair, asked=replace(pair.asked, policy=policy))
    return match_again(pair, run).matches


def _left_out(pair: Matched) -> np.ndarray:
    """The queries that the policies exclude from every metric; their misses do not count."""
    out = np.zeros(pair.matches.n_queries, dtype=np.bool_)
    for status, choice in ((MISSING, pair.policy.missing), (FAILED, pair.policy.errors)):
        if choice == "exclude":
            out |= pair.matches.having_status(status)
    return out


def _notes(pair: Matched, facts: Facts, counted: np.ndarray) -> list[str]:
    lines = list(pair.recorded.notes)
    if facts.corpus is None:
        lines.append(
            "No corpus is given (--corpus), so what is not in it, or split over its chunks, "
            "cannot be determined."
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
    if (out := int(_left_out(pair).sum())) > 0:
        lines.append(f"{out} queries are left out by the policies in force.")
    return lines


def reasons(facts: Facts) -> Ints:
    """The index in ``REASONS`` of each target's reason; meaningless for targets that were found."""
    listed, demoted = facts.listed, facts.demoted
    candidate, exact = facts.on(CANDIDATES), facts.on(EXACT)
    reachable = ~facts.known[CANDIDATES] | candidate
    room = facts.rank - facts.repeats <= facts.k
    rules = {
        "not_in_corpus": _nowhere(facts),
        "split_over_chunks": _split(facts),
        "below_k": listed & ~demoted & ~room,
        "wrong_chunk": ~listed & facts.sibling,
        "crowded_out": (listed & ~demoted & room) | (~listed & facts.crowd & reachable),
        "retriever_error": facts.status[FAILED],
        "nothing_returned": facts.status[EMPTY],
        "not_in_run": facts.status[MISSING],
        "lost_by_reranker": candidate,
        "missed_by_index": exact,
        "never_a_candidate": facts.known[CANDIDATES],
        "not_returned": np.ones_like(listed),
    }
    names = [reason.name for reason in REASONS]
    return np.select(
        [rules[name] for name in names], list(range(len(names))), default=len(names) - 1
    ).astype(np.int64)


def came_to(facts: Facts) -> Ints:
    """How far each target came, from not being in the corpus (0) to being in the list (5)."""
    earlier = facts.listed | facts.on(CANDIDATES)
    lost = [
        _nowhere(facts),
        _split(facts),
        facts.known[EXACT] & ~facts.on(EXACT) & ~earlier,
        facts.known[CANDIDATES] & ~earlier,
        ~facts.listed | facts.demoted,
    ]
    return np.select(lost, list(range(5)), default=5).astype(np.int64)


def one_per_unit(unit: Ints, found: Bools, came: Ints, rank: Ints) -> tuple[Ints, int, int]:
    """One target per missed unit, the number of units, and the number found.

    The alternative that came nearest represents its unit: lost last, then best rank.
    """
    units, dense = np.unique(unit, return_inverse=True)
    has = np.zeros(units.size, dtype=np.bool_)
    has[dense[found]] = True
    order = np.lexsort((np.arange(unit.size), rank, -came, dense))
    first = order[np.unique(dense[order], return_index=True)[1]]
    return np.sort(first[~has]), units.size, int(has.sum())


def _nowhere(facts: Facts) -> Bools:
    if facts.corpus is None:
        return np.zeros_like(facts.listed)
    return ~facts.corpus.whole & ~facts.corpus.split & ~facts.seen


def _split(facts: Facts) -> Bools:
    if facts.corpus is None:
        return np.zeros_like(facts.listed)
    return facts.corpus.split & ~facts.seen
