"""One reason for each piece of ground truth that is not in the first k results.

The rules are tried in a fixed order and the first that holds is the reason. What a rule needs
and nobody gave (the corpus, the candidates, exact search) it does not guess.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calipers.measures.views import NEVER
from calipers.model.arrays import Bools, Ints
from calipers.model.matched import EMPTY, FAILED, MISSING, Matches
from calipers.questions.misses.corpus_facts import CorpusFacts
from calipers.questions.misses.result import REASONS, Step

CANDIDATES, EXACT = "candidates", "exact"
STAGES = (CANDIDATES, EXACT)


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known about every target, found or not; the rules read nothing else."""

    k: int
    rank: Ints
    repeats: Ints
    """How many results above the target's rank were repetitions."""
    status: Mapping[str, Bools]
    """Whether its query failed, came back empty, or is missing from the run."""
    known: Mapping[str, Bools]
    """Stage by stage, whether the stage's list for its query is known."""
    stage_rank: Mapping[str, Ints]
    sibling: Bools
    """Another chunk of its document stands in the first k."""
    crowd: Bools
    """The first k results of its query hold a repetition."""
    corpus: CorpusFacts | None = None

    @property
    def found(self) -> Bools:
        """Which targets stand in the first k."""
        return self.rank <= self.k

    @property
    def listed(self) -> Bools:
        """Which targets were returned at all."""
        return self.rank < NEVER

    def on(self, stage: str) -> Bools:
        """Which targets are in the list of a stage."""
        return self.stage_rank[stage] < NEVER

    @property
    def silent(self) -> Bools:
        """The targets of queries that the retriever did not answer."""
        return self.status[FAILED] | self.status[EMPTY] | self.status[MISSING]

    def unrecorded(self, stage: str) -> Bools:
        """The targets of answered queries for which nobody recorded the stage."""
        return ~self.known[stage] & ~self.silent

    @property
    def demoted(self) -> Bools:
        """Which targets the reranker moved from the first k candidates to below k."""
        return self.listed & ~self.found & (self.stage_rank[CANDIDATES] <= self.k)

    @property
    def seen(self) -> Bools:
        """Which targets stand in any list, so that they are in the corpus for certain."""
        return self.listed | self.on(CANDIDATES) | self.on(EXACT)


def best_ranks(matches: Matches) -> Ints:
    """The best rank that holds each target."""
    best = np.full(matches.target_grade.size, NEVER, dtype=np.int64)
    np.minimum.at(best, matches.edge_target, matches.edge_rank)
    return best


def reasons(facts: Facts) -> Ints:
    """For each target the number of its reason in ``REASONS``; without meaning where found."""
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


def lost_at(facts: Facts) -> tuple[Ints, tuple[tuple[str, str], ...]]:
    """For each target the step that lost it, and the steps, as name and meaning.

    A step that nothing is known about is left out; a target that a later step has was not lost
    before. Without meaning where found.
    """
    listed, demoted = facts.listed, facts.demoted
    before_list = listed | facts.on(CANDIDATES)
    steps: list[tuple[str, str, Bools]] = []
    if facts.corpus is not None:
        steps.append(("corpus", "in the corpus", _nowhere(facts)))
        steps.append(("chunking", "whole in one chunk", _split(facts)))
    steps.append(("answer", "the retriever answered", facts.silent))
    if facts.known[EXACT].any():
        missing = facts.known[EXACT] & ~facts.on(EXACT) & ~before_list
        steps.append(("exact", "found by exact search", missing))
    reranked = facts.known[CANDIDATES]
    if reranked.any():
        steps.append(("candidates", "among the candidates", reranked & ~before_list))
        lost = reranked & (~listed | demoted)
        steps.append(("reranker", "returned by the reranker", lost))
    if facts.unrecorded(CANDIDATES).any() or not reranked.any():
        means = "returned (no candidates recorded)" if reranked.any() else "returned"
        steps.append(("list", means, ~reranked & ~listed))
    steps.append(("k", f"in the first {facts.k}", np.ones_like(listed)))
    at = np.select([lost for _, _, lost in steps], list(range(len(steps))))
    return at.astype(np.int64), tuple((name, means) for name, means, _ in steps)


def waterfall(at: Ints, steps: tuple[tuple[str, str], ...], targets: int) -> tuple[Step, ...]:
    """What each step lost of all the ground truth, and what it left."""
    left = targets
    result = []
    for number, (name, means) in enumerate(steps):
        lost = int((at == number).sum())
        left -= lost
        result.append(Step(name, means, lost, left))
    return tuple(result)


def one_per_unit(unit: Ints, found: Bools, at: Ints, rank: Ints) -> tuple[Ints, int, int]:
    """The targets that stand for missed units, and how many units there are and were found.

    Of alternatives the one that came nearest speaks for all: lost last, then the best rank.
    """
    units, dense = np.unique(unit, return_inverse=True)
    has = np.zeros(units.size, dtype=np.bool_)
    has[dense[found]] = True
    order = np.lexsort((np.arange(unit.size), rank, -at, dense))
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
