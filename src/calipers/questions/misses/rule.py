"""One reason for each piece of ground truth that is not in the first k results.

The rules are tried in a fixed order and the first that matches gives the reason. Rules never
guess at inputs that were not given (the corpus, the candidates, exact search).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from calipers.engines.scoring import missed_is_unknown
from calipers.engines.summary import audit_counts, enforce
from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.io.load import load
from calipers.match.near_ids import NearIds
from calipers.match.pair import match_again
from calipers.measures.views import NEVER
from calipers.model.arrays import Bools, Ints
from calipers.model.matched import EMPTY, FAILED, MISSING, Matched, Matches
from calipers.model.run import SAMPLE, Run, peek
from calipers.questions.misses.result import REASONS, Misses
from calipers.questions.misses.table import (
    CUT,
    MissFacts,
    best_ranks,
    misses_table,
    ranks_or_null,
)
from calipers.questions.shown_results import (
    Context,
    known_in_run,
    over_contexts,
    with_documents,
)
from calipers.words import did_you_mean

if TYPE_CHECKING:
    from calipers.checks.evidence import Batches
    from calipers.questions.misses.corpus_facts import CorpusFacts

CANDIDATES = "candidates"
EXACT = "exact"
STAGES = (CANDIDATES, EXACT)
CorpusSource: TypeAlias = Any
"""Whatever ``open_corpus`` takes: a path, rows, documents of other packages."""
StageSource: TypeAlias = Any
"""Whatever ``load`` takes for a run."""


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
    piece: Ints
    """The rank of the first result that holds a piece of it; ``NEVER`` where none does."""
    crowd: Bools
    """The first k results of its query contain a repetition."""
    another: Bools
    """A result of its query has its id in another spelling."""
    corpus: "CorpusFacts | None" = None

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


@dataclass(frozen=True, eq=False)
class Study:
    """Every target accounted for: found, or missed for one reason."""

    pair: Matched
    facts: Facts
    counted: Ints
    """The targets that count."""
    targets: int
    """How many there are; alternatives count as one."""
    found: int
    missed: Ints
    """One target for each that was missed."""
    why: Ints
    """The reason of each missed target: its place in ``REASONS``."""
    shown: MissFacts
    near: Sequence[NearIds]
    """The rules by which targets meet a result of their query, most targets first."""

    @property
    def reasons(self) -> dict[str, int]:
        """The number of misses per reason, in the order of the rules."""
        counts = np.bincount(self.why, minlength=len(REASONS)).tolist()
        return {reason.name: n for reason, n in zip(REASONS, counts, strict=True) if n}

    @property
    def given(self) -> frozenset[str]:
        """The inputs beside the run that help to explain: corpus, candidates, exact."""
        stages = (name for name in STAGES if self.facts.known[name].any())
        return frozenset(
            [*(["corpus"] if self.facts.corpus is not None else []), *stages]
        )

    @property
    def map_ids(self) -> str | None:
        """What ``--map-ids`` takes to match most of the targets that are under another id."""
        return next((near.option for near in self.near if near.option is not None), None)

    def near_names(self) -> pl.Series:
        """The id under which each missed target is there; null for all others."""
        names: dict[int, str] = {}
        for near in self.near:
            for target, name in zip(near.target.tolist(), near.called, strict=True):
                names.setdefault(target, name)
        return pl.Series(
            [names.get(row) for row in self.missed.tolist()], dtype=pl.String
        )


Beside = Callable[[Context], None]
"""More to do with each block of results while they are read."""


def study_misses(
    pair: Matched,
    k: int,
    *,
    corpus: CorpusSource = None,
    candidates: StageSource = None,
    exact: StageSource = None,
    beside: Beside | None = None,
    names: bool = True,
) -> Study:
    """Account for every target of a pair; the results are read once.

    ``candidates`` and ``exact`` override stages in the records. Without ``names`` it is left out
    what was returned instead of each target.
    """
    runs = _stage_runs(pair.as_read[1], {"candidates": candidates, "exact": exact})
    if runs and pair.recorded.match == "document":
        raise InvalidInput(
            f"The level is document and the run has stages ({', '.join(runs)}); stages are "
            "followed chunk by chunk. Leave the level out, or the stages."
        )
    own = pair.as_read[1].stages
    stages = {
        name: _matched(pair, run, strict=run is not own.get(name))
        for name, run in runs.items()
    }
    matches = pair.matches
    enforce(
        pair.policy,
        audit_counts(pair.ground_truth, matches, pair.tally, depth=k, rel=pair.rel),
    )
    named, studied = _documents(pair, k, corpus)
    facts = _facts(matches, k, stages, studied)
    counted = np.flatnonzero(
        matches.relevant(pair.rel) & ~_left_out(pair)[matches.target_query]
    )
    missed, n_units, n_found = one_per_unit(
        matches.target_unit[counted],
        facts.found[counted],
        came_to(facts)[counted],
        facts.rank[counted],
    )
    missed = counted[missed]
    wanted = np.zeros(matches.n_queries, dtype=np.bool_)
    wanted[matches.target_query[missed]] = names
    targets = pair.targets
    if studied is not None:
        targets = targets.with_columns(document=studied.document)
    targets = with_documents(pair, targets)

    def look(block: Context) -> MissFacts:
        if beside is not None:
            beside(block)
        return MissFacts.of(block, k, named, wanted, pair.matching.rule)

    shown = MissFacts.merged([*over_contexts(pair, look, targets)], matches)
    near = shown.near.rules()
    facts = replace(
        facts,
        repeats=shown.repeats,
        sibling=shown.sibling,
        piece=shown.piece,
        crowd=shown.crowd,
        another=_under_another_id(near, facts.rank.size),
    )
    why = reasons(facts)[missed]
    return Study(pair, facts, counted, n_units, n_found, missed, why, shown, near)


def _under_another_id(near: Iterable[NearIds], targets: int) -> Bools:
    """Which targets were returned under an id that is spelled otherwise."""
    another = np.zeros(targets, dtype=np.bool_)
    for rule in near:
        another[rule.target] = True
    return another


def explain_misses(
    pair: Matched,
    k: int,
    *,
    corpus: CorpusSource = None,
    candidates: StageSource = None,
    exact: StageSource = None,
) -> Misses:
    """Explain the misses of a pair; ``candidates`` and ``exact`` override stages in the records."""
    study = study_misses(pair, k, corpus=corpus, candidates=candidates, exact=exact)
    facts = study.facts
    missed = study.missed
    if pair.ground_truth.only_returned and not missed.size:
        raise missed_is_unknown()
    names = pl.Series([reason.name for reason in REASONS])
    columns = {
        "reason": names.gather(study.why),
        "rank": ranks_or_null(facts.rank[missed]),
        "near": study.near_names(),
        "candidate_rank": ranks_or_null(facts.stage_rank["candidates"][missed]),
        "exact_rank": ranks_or_null(facts.stage_rank["exact"][missed]),
        "expected_text": _expected_text(pair, missed, facts.corpus),
    }
    return Misses(
        k=k,
        targets=study.targets,
        found=study.found,
        missed=missed.size,
        reasons=study.reasons,
        table=misses_table(
            pair.matches,
            pair.targets,
            missed,
            columns=columns,
            instead=study.shown.instead,
            tags=pair.ground_truth.tags,
        ),
        numbers=missed,
        given=study.given,
        notes=tuple(_notes(pair, facts, study.counted)),
        is_far=pair.matches.is_far(k),
        map_ids=study.map_ids,
    )


def _expected_text(
    pair: Matched, missed: Ints, corpus: "CorpusFacts | None"
) -> pl.Series:
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
    pair: Matched, k: int, corpus: CorpusSource
) -> "tuple[pl.DataFrame | None, CorpusFacts | None]":
    """The documents of results that name none, and the corpus facts of the targets."""
    if corpus is None and not pair.run.has("document"):
        return None, None
    unnamed = [*over_contexts(pair, partial(_unnamed, k))] if pair.run.has("item") else []
    items = (
        pl.concat(unnamed).drop_nulls().unique()
        if unnamed
        else pl.Series([], dtype=pl.String)
    )
    studied = None if corpus is None else _study(corpus, pair, items)
    known = known_in_run(pair, "document", items)
    documents = {**dict(known.iter_rows()), **(studied.document_of if studied else {})}
    columns = {"item": list(documents), "document": list(documents.values())}
    return pl.DataFrame(
        columns, schema={"item": pl.String, "document": pl.String}
    ), studied


def _unnamed(k: int, block: Context) -> pl.Series:
    """The items of results that do not name their document."""
    shown = block.first(k)
    if "document" in shown.columns:
        shown = shown.filter(pl.col("document").is_null())
    return shown["item"].unique()


def _facts(
    matches: Matches, k: int, stages: Mapping[str, Matches], corpus: "CorpusFacts | None"
) -> Facts:
    """The facts that the matches give; those that need the results are added later."""
    query = matches.target_query
    rank = best_ranks(matches)
    nobody = np.zeros(rank.size, dtype=np.bool_)
    known = {}
    stage_rank = {}
    for name in STAGES:
        stage = stages.get(name)
        known[name] = nobody if stage is None else ~stage.having_status(MISSING)[query]
        stage_rank[name] = (
            np.full_like(rank, NEVER) if stage is None else best_ranks(stage)
        )
    return Facts(
        k=k,
        rank=rank,
        repeats=np.zeros_like(rank),
        status={
            name: matches.having_status(name)[query] for name in (FAILED, EMPTY, MISSING)
        },
        known=known,
        stage_rank=stage_rank,
        sibling=nobody,
        piece=np.full_like(rank, NEVER),
        crowd=nobody,
        another=nobody,
        corpus=corpus,
    )


def _study(corpus: CorpusSource, pair: Matched, items: pl.Series) -> "CorpusFacts":
    # Slow to import, and rarely needed.
    from calipers.io.corpus import open_corpus
    from calipers.questions.misses.corpus_facts import study_corpus

    opened = open_corpus(corpus)
    facts = study_corpus(opened.batches, pair.targets, pair.matching.rule, items)
    returned = np.unique(pair.matches.edge_target)
    nothing = returned.size and not (facts.whole | facts.split)[returned].any()
    if nothing and not _knows_results(opened.batches, pair.run):
        raise InvalidInput(
            f"The corpus {opened.name} holds nothing of the ground truth that the retriever "
            "returned, so it is not the one that was searched; give the chunks themselves, with "
            "the ids that the run uses."
        )
    return facts


def _knows_results(batches: "Batches", run: Run) -> bool:
    """Whether the corpus has the id or the text of one of the first results.

    Then it was searched, though every quote may be cut by the edge of a chunk.
    """
    some, _ = peek(run.as_matched, SAMPLE)
    if some is None:
        return False
    frame = some.frame.head(SAMPLE)
    known = {
        name: set(frame[name].drop_nulls()) for name in ("item", "text") if name in frame
    }
    return any(
        not known.get("item", set()).isdisjoint(batch["id"])
        or not known.get("text", set()).isdisjoint(batch["text"])
        for batch in batches()
    )


def _stage_runs(results: Run, given: Mapping[str, object]) -> dict[str, Run]:
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
    # The table counts ids that nearly meet in all results; a note would count the first of them.
    by_ids = bool((facts.another & ~facts.listed)[counted].any())
    lines = [
        line
        for line in pair.recorded.notes
        if not (by_ids and "called nearly so" in line)
    ]
    if pair.ground_truth.only_returned:
        lines.insert(
            0,
            "Only what was returned was judged, so what was not returned is not listed.",
        )
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
    listed = facts.listed
    demoted = facts.demoted
    candidate = facts.on(CANDIDATES)
    exact = facts.on(EXACT)
    reachable = ~facts.known[CANDIDATES] | candidate
    room = facts.rank - facts.repeats <= facts.k
    rules = {
        "another_id": facts.another & ~listed,
        "not_in_corpus": _nowhere(facts),
        "split_over_chunks": _split(facts),
        "below_k": listed & ~demoted & ~room,
        "in_pieces": ~listed & (facts.piece < NEVER),
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


def one_per_unit(
    unit: Ints, found: Bools, came: Ints, rank: Ints
) -> tuple[Ints, int, int]:
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
