"""Why a retriever fails: every cure is tried on the run as it was recorded, and tested.

The first line is the largest cure that is certain and significant in recall or ndcg; else a group
of queries that holds over half of what is missing; else the largest leak; else that nothing known
is wrong. After the best cure all are tried once more on the cured run.
"""

from dataclasses import replace
from itertools import chain, pairwise

import numpy as np

from calipers.engines.scoring import compute, missed_is_unknown, score
from calipers.errors import InvalidInput
from calipers.measures import parse
from calipers.measures.spec import check_cutoff
from calipers.measures.views import Found, ratio
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.model.slicing import copies_in_words, units_in
from calipers.questions.diagnose.by_chance import ByChance
from calipers.questions.diagnose.cures import (
    CERTAIN,
    Seen,
    as_the_rest,
    best_order,
    deciding,
)
from calipers.questions.diagnose.first_line import (
    WORTH,
    first_line,
    gap_between,
    is_too_wide,
    last_are_best,
)
from calipers.questions.diagnose.groups import Group, groups
from calipers.questions.diagnose.lists import Lists
from calipers.questions.diagnose.pieces import (
    first_piece_ranks,
    pieces,
    right_document,
    together,
    uncut,
)
from calipers.questions.diagnose.result import (
    NEARLY,
    Diagnosis,
    Leak,
    TriedCure,
)
from calipers.questions.diagnose.testing import LEAST, Tested, Tester, cured_value
from calipers.questions.misses.result import REASONS
from calipers.questions.misses.rule import CorpusSource, StageSource, Study, study_misses
from calipers.questions.recall_advice import RecallAdvice, advise_recall, usual_cutoffs
from calipers.questions.shown_results import Context

METRICS = ("recall", "precision", "ndcg", "mrr", "hit_rate", "judged")
DEFAULT_K = 10
ROUNDS = 2
MOST_CURES = 5


def diagnose_pair(
    pair: Matched,
    *,
    k: int | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    corpus: CorpusSource = None,
    candidates: StageSource = None,
    price: float | None = None,
) -> Diagnosis:
    """Diagnose one pair; ``price`` is what a million tokens cost."""
    if pair.ground_truth.only_returned:
        raise missed_is_unknown()
    k = check_cutoff(k) if k is not None else min(DEFAULT_K, pair.depth or DEFAULT_K)
    metrics = [metric.with_rel(pair.rel) for metric in parse(METRICS, [k])]
    scores = score(pair, metrics, confidence=confidence, cluster=cluster)
    study, seen = _read(pair, k, corpus, candidates)
    if not seen.measured_queries.any():
        raise InvalidInput(
            "There is nothing to diagnose: no query has a relevant target that was measured."
        )
    alpha = round(1.0 - confidence, 12)
    tester = Tester(scores, alpha)
    tried = tester.tried(seen, chain.from_iterable(cure(seen) for cure in CERTAIN))
    advised = _advised(tester, tried)
    cured = seen if not advised else advised[-1].after
    asked = list(groups(seen, scores))
    advice = _sweep(seen, scores)
    at_most = [
        *tester.tried(seen, best_order(seen), tested=False),
        *tester.tried(seen, right_document(seen, study.facts.sibling), tested=False),
        *tester.tried(seen, pieces(seen, study.facts.piece <= k), tested=False),
        *tester.tried(seen, together(seen), tested=False),
        *tester.tried(seen, uncut(seen), tested=False),
        *chain.from_iterable(_group_trial(tester, seen, group) for group in asked),
    ]
    wider = _other_k(seen, advice)
    whole = _whole_corpus(seen, advice)
    if whole:
        # To return most of what there is is no cure.
        wider = [cure for cure in wider if 2 * (cure.k or 0) <= pair.depth]
    leaks = _leaks(study, one_thing=any(outcome.cure.name == "ids" for outcome in tried))
    respelled = _not_shown_ids(tried, advised)
    others = [*wider, *respelled, *(outcome.cure for outcome in at_most)]
    shown = _that_matter(tester, advised, others, cured)
    first = first_line(seen, study, advised, asked, leaks, shown)
    with_copies = scores.with_notes(
        [*whole, *copies_in_words(scores.queries, scores.recorded.cluster)]
    )
    return Diagnosis(
        k=k,
        is_far=pair.matches.is_far(k),
        queries=len(scores),
        n=int(seen.measured_queries.sum()),
        summaries=tuple(scores.summaries.values()),
        sentence=first.sentence,
        named=first.named,
        cures=tuple(shown),
        tried=tuple(outcome.cure for outcome in [*tried, *at_most]) + tuple(wider),
        leak=leaks,
        gap=gap_between(seen, None if advised else advice, price),
        next=first.next,
        fingerprints=scores.fingerprints,
        settings={**with_copies.settings, "policy": scores.policy.to_dict()},
    )


def are_reversed(pair: Matched, *, confidence: float, cluster: str | None) -> bool:
    """Whether the lists are surely in reverse order: the answer of `diagnose`, for `sweep`."""
    k = min(DEFAULT_K, pair.depth or DEFAULT_K)
    scores = score(pair, deciding(pair, k), confidence=confidence, cluster=cluster)
    seen = _read(pair, k, None, None)[1]
    if not seen.measured_queries.any():
        return False
    tester = Tester(scores, round(1.0 - confidence, 12))
    tried = tester.tried(seen, chain.from_iterable(cure(seen) for cure in CERTAIN))
    sure = any(outcome.cure.name == "reverse" and outcome.gain for outcome in tried)
    return sure and not last_are_best(seen, _advised(tester, tried))


def _read(
    pair: Matched, k: int, corpus: CorpusSource, candidates: StageSource
) -> tuple[Study, Seen]:
    """Where every target was lost, and the results as arrays; the run is read once for both."""
    lists: list[Lists] = []
    blocks: list[Context] = []
    first_piece = np.zeros(pair.matches.target_grade.size, dtype=np.int64)

    def beside(block: Context) -> None:
        lists.append(Lists.of(block))
        if pair.run.is_held:
            # What is in memory as it is need not be put together twice.
            blocks.append(block)
        first_piece[block.target_rows] = first_piece_ranks(block, pair.matching)

    study = study_misses(
        pair, k, corpus=corpus, candidates=candidates, beside=beside, names=False
    )
    recorded = Lists.joined(lists, pair.matches.n_queries)
    return study, Seen(
        pair,
        pair.matches,
        recorded,
        recorded,
        k,
        deciding(pair, k),
        study.shown.near,
        ByChance(pair),
        # They are asked for again where ids may be alike.
        blocks if study.near else (),
        first_piece,
    )


def _advised(tester: Tester, tried: list[Tested]) -> list[Tested]:
    """The best certain cure, and the best one after it; none where nothing is significant."""
    advised: list[Tested] = []
    for _ in range(ROUNDS):
        best = max(tried, key=lambda outcome: outcome.gain, default=None)
        if best is None or not best.gain:
            break
        advised.append(best)
        if len(advised) == ROUNDS:
            break
        now = best.after
        further = (trial for cure in CERTAIN for trial in cure(now))
        done = "" if best.cure.name == "ids" else best.cure.name
        tried = tester.advisable(now, [trial for trial in further if trial.name != done])
    return advised


def _not_shown_ids(tried: list[Tested], advised: list[Tested]) -> list[TriedCure]:
    """The rule that meets most ids where too few queries show that it helps.

    The ids differ all the same, and the option beside it is worth a try.
    """
    ids = [outcome.cure for outcome in tried if outcome.cure.name == "ids"]
    if not ids or any(outcome.cure.name == "ids" for outcome in advised):
        return []
    return [max(ids, key=lambda cure: cure.gain)]


def _sweep(seen: Seen, scores: Scores) -> RecallAdvice | None:
    """The k that ``sweep`` advises for the same run."""
    depth = int(seen.matches.retrieved.max(initial=0))
    if not depth:
        return None
    found = Found.of(seen.matches, seen.pair.rel)
    ks = usual_cutoffs(depth)
    recall = ratio(found.hits_at_each(ks), found.total[:, np.newaxis])
    return advise_recall(
        ks,
        np.where(seen.measured_queries[:, np.newaxis], recall, np.nan),
        confidence=scores.recorded.confidence,
        clusters=units_in(scores),
    )


def _other_k(seen: Seen, advice: RecallAdvice | None) -> list[TriedCure]:
    """The k that ``sweep`` would take in place of this one, larger or smaller."""
    if advice is None or not advice.largest_recall or advice.best_guess == seen.k:
        return []
    k = advice.best_guess
    shown = seen.k_shown
    if k < seen.k and (shown - k < WORTH * shown or not is_too_wide(seen)):
        return []
    metrics = deciding(seen.pair, k)
    values = compute(seen.matches, metrics, seen.pair.policy)
    cured = []
    for at, metric in enumerate(metrics):
        cured.append(cured_value(metric, seen.values[:, at], values[:, at]))
    now = seen.lists.tokens_at(seen.k)
    then = seen.lists.tokens_at(k)
    more = None if now is None or then is None else then - now
    larger = k > seen.k
    advice_text = "more results" if larger else "fewer results"
    if more is not None:
        advice_text = f"{abs(more):,.0f} tokens {'more' if larger else 'fewer'}"
    return [
        TriedCure(
            "larger_k" if larger else "smaller_k",
            f"k = {k}",
            "would be",
            tuple(cured),
            f"-k {k}",
            advice_text,
            k,
            more,
        )
    ]


def _whole_corpus(seen: Seen, advice: RecallAdvice | None) -> list[str]:
    """A note where the lists hold all that there is; else empty."""
    every = seen.matches.retrieved
    depth = int(every.max(initial=0))
    finds_all = advice is not None and advice.largest_recall == 1.0
    if not finds_all or depth <= seen.k or depth != every.min() or len(every) < 2:
        return []
    # Few lists are all of the corpus, so most diagnoses never load it.
    from calipers.questions.cautions import whole_corpus

    return [*whole_corpus(seen.pair, depth)]


def _group_trial(tester: Tester, seen: Seen, group: Group) -> list[Tested]:
    """A group of queries as good as the rest."""
    trial = as_the_rest(
        seen, group.which, group.name, group.title, group.says, group.advice
    )
    return tester.tried(seen, list(trial), tested=False)


def _then(cure: TriedCure) -> str:
    """The title of a second cure; the option beside it says how ids are written."""
    return "then the ids" if cure.name == "ids" else f"then {cure.title}"


def _that_matter(
    tester: Tester,
    advised: list[Tested],
    others: list[TriedCure],
    cured: Seen,
) -> list[TriedCure]:
    """The rows of the table: certain cures, then what gains enough, also after them."""
    rows = [outcome.cure for outcome in advised[:1]]
    for before, outcome in pairwise(advised):
        recorded = {value.metric: value.before for value in rows[0].values}
        values = tuple(
            replace(new, before=recorded.get(new.metric, new.before))
            for new in outcome.cure.values
        )
        rows.append(
            replace(
                outcome.cure,
                title=_then(outcome.cure),
                values=values,
                after=before.cure.name,
                option=outcome.cure.option,
            )
        )
    useful = [
        other for other in others if other.gain >= LEAST or other.name == "smaller_k"
    ]
    if advised:
        # What the first cure mends as well is no cure of its own.
        left = {
            outcome.cure.name: outcome.cure.gain
            for outcome in tester.tried(cured, list(best_order(cured)), tested=False)
        }
        useful = [
            cure
            for cure in useful
            if cure.name not in ("larger_k", "smaller_k")
            and left.get(cure.name, 1.0) >= LEAST
        ]
    return [*rows, *sorted(useful, key=lambda cure: -cure.gain)][:MOST_CURES]


def _leaks(study: Study, *, one_thing: bool) -> tuple[Leak, ...]:
    """All targets: found, then those that were lost by reason, the most first.

    ``one_thing``: ids that nearly meet are one thing in two spellings, as far as the lists tell.
    """
    total = max(1, study.targets)
    k = study.facts.k
    where = "results" if study.pair.matches.is_far(k) else f"first {k}"
    found = Leak("found", f"found in the {where}", study.found, study.found / total)
    means = {reason.name: reason for reason in REASONS}
    if not one_thing:
        means[NEARLY.name] = NEARLY
    lost = [
        Leak(name, means[name].means, count, count / total, means[name].remedy)
        for name, count in study.reasons.items()
    ]
    return (found, *sorted(lost, key=lambda leak: -leak.targets))
