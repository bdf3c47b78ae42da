"""Why a retriever fails: every cure is tried on the run as it was recorded, and tested.

The first line is the largest cure that is certain and significant in recall or ndcg; else a group
of queries that holds over half of what is missing; else the largest leak; else that nothing known
is wrong. After the best cure all are tried once more on the cured run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

import numpy as np

from calipers.engines.scoring import compute, score
from calipers.errors import InvalidInput
from calipers.match.near_ids import NearPairs
from calipers.measures import parse
from calipers.measures.counts import recall
from calipers.measures.spec import check_cutoff
from calipers.measures.views import Found
from calipers.model.arrays import Bools, Floats
from calipers.model.fact import Fact, Sentence, joined
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.model.slicing import clusters_in
from calipers.questions.diagnose.cures import (
    CERTAIN,
    Seen,
    Trial,
    as_the_rest,
    best_order,
    right_document,
)
from calipers.questions.diagnose.groups import Group, groups
from calipers.questions.diagnose.lists import Lists
from calipers.questions.diagnose.result import (
    CuredValue,
    Diagnosis,
    Leak,
    TriedCure,
    leak_fact,
    whole_percents,
)
from calipers.questions.misses.result import REASONS
from calipers.questions.misses.rule import CorpusSource, StageSource, Study, study_misses
from calipers.questions.misses.table import best_ranks, near_pairs
from calipers.questions.shown_results import Context, ceilings
from calipers.questions.sweep.result import RecallAdvice
from calipers.questions.sweep.rule import advise_recall, usual_cutoffs
from calipers.statistics.clusters import exact_mean
from calipers.statistics.paired_rows import PairedRow, paired_rows
from calipers.words import number, plural

METRICS = ("recall", "precision", "ndcg", "mrr", "hit_rate", "judged")
DECIDING = ("recall", "ndcg")
DEFAULT_K = 10
LEAST = 0.03
"""A cure that gains less is not advised."""
LEAST_LEAK = 0.05
"""A leak below this share of the targets is not named in the first line."""
ROUNDS = 2
MOST_CURES = 5
FEW = 20
"""Below this number of queries the first line says how few they are."""
SHORT = 8
"""Lists of fewer results, on average, are too short to be blamed for anything else."""
WORTH = 0.3
"""A smaller k that saves less than this share of the results is not advised."""
WIDE = 0.3
"""A gap of this size between precision and recall is worth a sentence."""


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
        *chain.from_iterable(_group_trial(tester, seen, group) for group in asked),
    ]
    wider = _other_k(seen, advice)
    leaks = _leaks(study)
    others = [*wider, *(one.cure for one in at_most)]
    shown = _that_matter(tester, advised, others, cured)
    first = _first_line(seen, study, advised, asked, leaks, shown)
    return Diagnosis(
        k=k,
        queries=len(scores),
        n=int(seen.measured_queries.sum()),
        summaries=tuple(scores.summaries.values()),
        sentence=first.sentence,
        named=first.named,
        cures=tuple(shown),
        tried=tuple(one.cure for one in [*tried, *at_most]) + tuple(wider),
        leak=leaks,
        gap=_gap(seen, None if advised else advice, price),
        next=first.next,
        fingerprints=scores.fingerprints,
        settings={**scores.settings, "policy": scores.policy.to_dict()},
    )


def _read(
    pair: Matched, k: int, corpus: CorpusSource, candidates: StageSource
) -> tuple[Study, Seen]:
    """Where every target was lost, and the results as arrays; the run is read once for both."""
    lists: list[Lists] = []
    elsewhere: list[NearPairs] = []
    by_id = pair.matching.rule.kind == "id"

    def beside(block: Context) -> None:
        lists.append(Lists.of(block))
        if by_id:
            elsewhere.append(near_pairs(block, best_ranks(block.matches), elsewhere=True))

    study = study_misses(pair, k, corpus=corpus, candidates=candidates, beside=beside, names=False)
    recorded = Lists.joined(lists, pair.matches.n_queries)
    metrics = tuple(metric.with_rel(pair.rel) for metric in parse(DECIDING, [k]))
    by_chance = NearPairs.joined(elsewhere)
    return study, Seen(
        pair, pair.matches, recorded, recorded, k, metrics, study.shown.near, by_chance
    )


@dataclass(frozen=True, eq=False)
class Tested:
    """A cure with what its test says, and the run as it would be."""

    trial: Trial
    cure: TriedCure
    significant: tuple[bool, ...]
    """By deciding metric: significantly better, and more than chance would give."""

    @property
    def gain(self) -> float:
        """The largest significant gain; 0 where there is none that is worth it."""
        if self.trial.at_full_depth is not None:
            whole = float(np.nanmean(self.trial.at_full_depth))
            return whole if any(self.significant) and whole >= LEAST else 0.0
        gains = (
            value.gain
            for value, sure in zip(self.cure.values, self.significant, strict=True)
            if sure and value.gain >= LEAST
        )
        return max(gains, default=0.0)

    @property
    def after(self) -> Seen:
        """The run as it would be."""
        if self.trial.after is None:
            raise ValueError(f"{self.trial.name} is no certain cure")
        return self.trial.after()

    @property
    def leading(self) -> CuredValue:
        """The metric that the first line names: recall where it gains enough, else ndcg."""
        pairs = zip(self.cure.values, self.significant, strict=True)
        return next(
            (value for value, sure in pairs if sure and value.gain >= LEAST), self.cure.values[0]
        )


@dataclass(frozen=True, eq=False)
class Tester:
    """Tests cures together, by the one paired rule."""

    scores: Scores
    alpha: float

    def tried(self, seen: Seen, trials: Iterable[Trial], *, tested: bool = True) -> list[Tested]:
        """Each cure with the means before and after; all of them are one family of tests."""
        listed = list(trials)
        columns: list[Floats] = []
        for trial in listed:
            gains = trial.values - seen.values
            if trial.at_full_depth is not None:
                gains = np.column_stack([trial.at_full_depth] * gains.shape[1])
            beyond = gains if trial.beyond_chance is None else trial.beyond_chance
            columns += [*gains.T, *beyond.T]
        rows = paired_rows(columns, clusters_in(self.scores), alpha=self.alpha) if tested else []
        width = 2 * len(seen.metrics)
        return [
            self._tested(seen, trial, rows[at * width : (at + 1) * width])
            for at, trial in enumerate(listed)
        ]

    def _tested(self, seen: Seen, trial: Trial, rows: Sequence[PairedRow]) -> Tested:
        """One cure with its rows of the test: the gains, then what is beyond chance."""
        values: list[CuredValue] = []
        significant: list[bool] = []
        n = len(seen.metrics)
        for at, metric in enumerate(seen.metrics):
            before, after = seen.values[:, at], trial.values[:, at]
            known = ~np.isnan(before) & ~np.isnan(after)
            row = rows[at] if rows else None
            sure = bool(rows) and rows[at].standing == rows[n + at].standing == "better"
            standing = None if row is None else row.standing
            values.append(
                CuredValue(
                    str(metric),
                    exact_mean(before[known]),
                    exact_mean(after[known]),
                    int((after[known] > before[known]).sum()),
                    int((after[known] < before[known]).sum()),
                    None if row is None else row.adjusted,
                    "no clear difference" if standing == "better" and not sure else standing,
                )
            )
            significant.append(sure)
        cure = TriedCure(
            trial.name,
            trial.title,
            trial.kind,
            tuple(values),
            trial.option,
            trial.advice,
            seen.k,
        )
        return Tested(trial, cure, tuple(significant))


def _advised(tester: Tester, tried: list[Tested]) -> list[Tested]:
    """The best certain cure, and the best one after it; none where nothing is significant."""
    advised: list[Tested] = []
    for _ in range(ROUNDS):
        best = max(tried, key=lambda one: one.gain, default=None)
        if best is None or not best.gain:
            break
        advised.append(best)
        if len(advised) == ROUNDS:
            break
        now = best.after
        further = (trial for cure in CERTAIN for trial in cure(now))
        done = "" if best.cure.name == "ids" else best.cure.name
        tried = tester.tried(now, [trial for trial in further if trial.name != done])
    return advised


def _sweep(seen: Seen, scores: Scores) -> RecallAdvice | None:
    """The k that ``sweep`` advises for the same run."""
    depth = int(seen.matches.retrieved.max(initial=0))
    if not depth:
        return None
    found = Found.of(seen.matches, seen.pair.rel)
    ks = usual_cutoffs(depth)
    columns = [np.where(seen.measured_queries, recall(found, k), np.nan) for k in ks]
    return advise_recall(
        ks,
        np.column_stack(columns),
        confidence=scores.recorded.confidence,
        clusters=clusters_in(scores),
    )


def _other_k(seen: Seen, advice: RecallAdvice | None) -> list[TriedCure]:
    """The k that ``sweep`` would take in place of this one, larger or smaller."""
    if advice is None or not advice.largest_recall or advice.best_guess == seen.k:
        return []
    k = advice.best_guess
    if 0 < seen.k - k < WORTH * seen.k:
        return []
    metrics = tuple(metric.with_rel(seen.pair.rel) for metric in parse(DECIDING, [k]))
    values = compute(seen.matches, metrics, seen.pair.policy)
    cured = []
    for at, metric in enumerate(metrics):
        before, after = seen.values[:, at], values[:, at]
        known = ~np.isnan(before) & ~np.isnan(after)
        cured.append(
            CuredValue(
                str(metric),
                exact_mean(before[known]),
                exact_mean(after[known]),
                int((after[known] > before[known]).sum()),
                int((after[known] < before[known]).sum()),
                None,
                None,
            )
        )
    now, then = seen.lists.tokens_at(seen.k), seen.lists.tokens_at(k)
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


def _group_trial(tester: Tester, seen: Seen, group: Group) -> list[Tested]:
    """A group of queries as good as the rest."""
    trial = as_the_rest(seen, group.which, group.name, group.title, group.says, group.advice)
    return tester.tried(seen, list(trial), tested=False)


def _that_matter(
    tester: Tester,
    advised: list[Tested],
    others: list[TriedCure],
    cured: Seen,
) -> list[TriedCure]:
    """The rows of the table: certain cures, then what gains enough, also after them."""
    rows = [one.cure for one in advised[:1]]
    for before, one in pairwise(advised):
        now = zip(rows[0].values, one.cure.values, strict=True)
        values = tuple(replace(new, before=old.before) for old, new in now)
        rows.append(
            replace(
                one.cure,
                title=f"then {one.cure.title}",
                values=values,
                after=before.cure.name,
                option=one.cure.option,
            )
        )
    useful = [one for one in others if one.gain >= LEAST or one.name == "smaller_k"]
    if advised:
        # What the first cure mends as well is no cure of its own.
        left = {
            one.cure.name: one.cure.gain
            for one in tester.tried(cured, list(best_order(cured)), tested=False)
        }
        useful = [
            one
            for one in useful
            if one.name not in ("larger_k", "smaller_k") and left.get(one.name, 1.0) >= LEAST
        ]
    return [*rows, *sorted(useful, key=lambda one: -one.gain)][:MOST_CURES]


def _leaks(study: Study) -> tuple[Leak, ...]:
    """All targets: found, then those that were lost by reason, the most first."""
    total = max(1, study.targets)
    found = Leak("found", f"found in the first {study.facts.k}", study.found, study.found / total)
    means = {reason.name: reason for reason in REASONS}
    lost = [
        Leak(name, means[name].means, count, count / total, means[name].remedy)
        for name, count in study.reasons.items()
    ]
    return (found, *sorted(lost, key=lambda leak: -leak.targets))


_TO_DO = {
    "reverse": "Sort the other way round: distances may be taken for similarities.",
    "reverse_first": "See what orders them, such as a reranker whose lowest score is the best.",
    "sort_distances": "Sort by score, the smallest first.",
    "sort_scores": "Sort by score, the largest first.",
    "repeated_ids": "Remove repetitions before the cut at k; look for what was indexed twice.",
    "repeated_texts": "Remove repetitions before the cut at k; look for what was indexed twice.",
    "ids": "Write the ids alike in both.",
    "hub": "See why it is near to everything: boilerplate, an empty or a very long chunk.",
}
"""What to do about a certain cure that no option applies."""


def _promised(value: CuredValue, queries: int) -> Sentence:
    """What a metric would be, and is."""
    text = f"{value.metric} is {number(value.after)}, not {number(value.before)}."
    return Sentence(text, [_difference(value, queries, "would be")])


def _difference(value: CuredValue, queries: int, kind: str) -> Fact:
    """A metric after a cure, against the run as it was recorded."""
    return Fact(
        about="difference",
        system=kind,
        against="as recorded",
        metric=value.metric,
        value=value.after,
        before=value.before,
        difference=value.gain,
        better=value.better,
        worse=value.worse,
        queries=queries,
        direction="better" if value.gain > 0 else "worse" if value.gain < 0 else "same",
        sure=None if value.standing is None else value.standing == "better",
    )


def _mean(seen: Seen) -> Fact:
    """The recall as it is."""
    known = seen.values[seen.measured_queries, 0]
    return Fact(
        about="mean", metric=str(seen.metrics[0]), value=exact_mean(known), queries=known.size
    )


def _k(seen: Seen) -> Fact:
    """The k that was asked for."""
    return Fact(about="setting", k=seen.k, text="k")


def _choice(cure: TriedCure) -> Fact:
    """Another k, and what it finds."""
    return Fact(about="choice", metric="recall", k=cure.k, value=cure.values[0].after)


@dataclass(frozen=True)
class _First:
    """The first line, what it is about, and what to do next."""

    sentence: str
    named: str | None
    next: str


def _first_line(
    seen: Seen,
    study: Study,
    advised: list[Tested],
    asked: list[Group],
    leaks: Sequence[Leak],
    shown: list[TriedCure],
) -> _First:
    """The largest certain cure, else a group, else a leak, else that nothing known is wrong."""
    if advised:
        best = advised[0]
        value = best.leading
        sentence = joined(best.trial.says, _promised(value, int(seen.measured_queries.sum())))
        options = [one.cure.option for one in advised if one.cure.option]
        # A later --map-ids holds the earlier one.
        command = f"Try it: `calipers eval {options[0]}`" if options else ""
        return _First(sentence, best.cure.name, command or _TO_DO[best.cure.name])
    missing = np.where(seen.measured_queries, 1.0 - seen.values[:, 0], 0.0)
    for group in asked:
        if missing[group.which].sum() > 0.5 * missing.sum() and missing.sum():
            return _First(group.says, group.name, group.next)
    return _leaking(seen, study, leaks, shown)


def _leaking(seen: Seen, study: Study, leaks: Sequence[Leak], shown: list[TriedCure]) -> _First:
    """The largest leak, be it targets that are lost or an order that is not the best."""
    lost = [leak for leak in leaks[1:] if leak.share >= LEAST_LEAK]
    ndcg = _best_of_first(seen)
    largest = lost[0] if lost else None
    if ndcg.gain >= max(LEAST_LEAK, largest.share if largest else 0.0):
        text = (
            f"Found, but not ranked first: {ndcg.metric} is {number(ndcg.before)}, at most "
            f"{number(ndcg.after)} with these in the best order."
        )
        fact = _difference(ndcg, int(seen.measured_queries.sum()), "at most")
        return _First(Sentence(text, [fact]), "best_order", _rerank(seen))
    if largest is None:
        return _nothing_wrong(seen, shown)
    too_many = _more_targets_than_places(seen)
    if too_many is not None:
        return too_many
    percents = whole_percents([leak.targets for leak in leaks])
    share = Sentence(
        f"{percents[leaks.index(largest)]}% of the targets", [leak_fact(largest, study.targets)]
    )
    why = "Why: `calipers misses`"
    if largest.name == "below_k":
        larger = next((one for one in shown if one.name == "larger_k"), None)
        if larger is not None:
            value = larger.values[0]
            rest = Sentence(
                f"are ranked below {seen.k}: k = {larger.k} finds {value.after:.0%}, "
                f"k = {seen.k} finds {value.before:.0%}.",
                [_choice(larger), replace(_mean(seen), k=seen.k)],
            )
            command = f"Try it: `calipers eval -k {larger.k}`"
            return _First(joined(share, rest), "larger_k", Sentence(command, [_choice(larger)]))
        below = Sentence(f"are ranked below {seen.k}.", [_k(seen)])
        return _First(joined(share, below), "below_k", why)
    if largest.name == "not_returned":
        return _not_returned(seen, study, share, why)
    return _First(joined(share, f": {largest.means}.", by=""), largest.name, why)


def _nothing_wrong(seen: Seen, shown: list[TriedCure]) -> _First:
    """That nothing known is wrong, and the smaller k where there is one."""
    n = int(seen.measured_queries.sum())
    mean = number(float(np.nanmean(seen.values[:, 0])))
    text = f"Nothing known is wrong: {seen.metrics[0]} is {mean} on {n:,} queries."
    if n < FEW:
        told = f"as far as {plural(n, 'query', 'queries')} can tell"
        text = f"Nothing known is wrong, {told}: {seen.metrics[0]} is {mean}."
    sentence = Sentence(text, [_mean(seen)])
    smaller = next((one for one in shown if one.name == "smaller_k"), None)
    if smaller is not None:
        command = f"Try a smaller k: `calipers eval -k {smaller.k}`"
        return _First(sentence, None, Sentence(command, [_choice(smaller)]))
    return _First(sentence, None, "Each miss: `calipers misses`")


def _more_targets_than_places(seen: Seen) -> _First | None:
    """That k cannot hold all targets, where that is what keeps recall down; else None."""
    if not seen.matches.is_one_to_one:
        return None
    wanted = seen.wanted[seen.measured_queries]
    highest, _ = ceilings(wanted, seen.k)
    mean = float(np.nanmean(seen.values[:, 0]))
    if highest is None or highest > 0.9 or mean < 0.9 * highest:
        return None
    enough = int(np.sort(wanted)[int(np.ceil(0.95 * wanted.size)) - 1])
    text = (
        f"k = {seen.k} holds too few: {seen.metrics[0]} is {number(mean)} and cannot be above "
        f"{number(highest)}."
    )
    bound = Fact(about="bound", metric=str(seen.metrics[0]), k=seen.k, value=highest)
    room = Fact(about="setting", k=enough, value=0.95, count=95, of=100, text="queries")
    following = f"k = {enough} holds all targets of 95 of 100 queries."
    return _First(Sentence(text, [_mean(seen), bound]), "k_too_small", Sentence(following, [room]))


def _rerank(seen: Seen) -> str:
    """What to do about an order that is not the best."""
    judged = compute(seen.matches, parse(["judged"], [seen.k]), seen.pair.policy)[:, 0]
    unjudged = 1.0 - float(np.nanmean(judged)) if not np.isnan(judged).all() else 0.0
    if unjudged < 0.5:
        return "Rerank the results."
    text = f"Rerank, or judge what stands above: {unjudged:.0%} of the results were never judged."
    return Sentence(text, [Fact(about="mean", metric="unjudged", value=unjudged, k=seen.k)])


def _from_both_ends(seen: Seen) -> Floats:
    """ndcg of lists read from both ends: the best first and last is a good order, too."""
    lists = seen.lists
    last = np.minimum(lists.lengths, seen.k)[lists.query]
    behind = last + 1 - lists.rank
    between = np.where(lists.rank <= behind, 2 * lists.rank - 1, 2 * behind)
    place = np.where(lists.rank <= seen.k, between, lists.rank)
    return seen.moved(place).values[:, 1]


def _best_of_first(seen: Seen) -> CuredValue:
    """ndcg with the first k in the best order: what stands below k is another leak."""
    before = seen.values[:, 1]
    ends = _from_both_ends(seen)
    before = ends if np.nanmean(ends) > np.nanmean(before) else before
    after = next(best_order(seen, seen.k)).values[:, 1]
    known = ~np.isnan(before)
    better = int((after[known] > before[known]).sum())
    means = exact_mean(before[known]), exact_mean(after[known])
    return CuredValue(str(seen.metrics[1]), *means, better, 0, None, None)


def _not_returned(seen: Seen, study: Study, share: Sentence, why: str) -> _First:
    """Targets that are in no list: the lists may be too short."""
    short = _length_where_missed(seen, study)
    if short < SHORT:
        length = Fact(about="count", value=short, text="results per query")
        rest = f"are not in the results, which are only {short:.3g} per query: retrieve more."
        return _First(joined(share, Sentence(rest, [length])), "too_few_results", why)
    lacking = "--candidates" if "candidates" not in study.given else "--corpus"
    known = "" if {"candidates", "corpus"} <= study.given else f"; give {lacking} to see why"
    return _First(joined(share, f"are not in the results{known}."), "not_returned", why)


def _length_where_missed(seen: Seen, study: Study) -> float:
    """The mean number of results of the queries that miss a target."""
    missed: Bools = np.zeros(seen.matches.n_queries, dtype=np.bool_)
    missed[seen.matches.target_query[study.missed]] = True
    some = seen.matches.retrieved[missed]
    return float(some.mean()) if some.size else 0.0


def _gap(seen: Seen, advice: RecallAdvice | None, price: float | None) -> Sentence | None:
    """The gap between precision and recall, where it says what to do."""
    found = float(np.nanmean(seen.values[:, 0]))
    matching = Found.of(seen.matches, seen.pair.rel)
    shown = np.minimum(seen.matches.retrieved, seen.k)
    useful = matching.useful(seen.k)[seen.measured_queries].sum()
    precise = float(useful / max(1, shown[seen.measured_queries].sum()))
    both = f"precision is {number(precise)} and recall {number(found)}"
    facts = [
        Fact(about="mean", metric=f"precision@{seen.k}", value=precise),
        replace(_mean(seen), value=found),
    ]
    if precise - found >= WIDE:
        more = "retrieve more results"
        if advice is not None and advice.best_guess > seen.k:
            more = f"k = {advice.best_guess} finds {advice.best_guess_recall:.0%}"
            facts.append(_advised_k(advice))
        text = f"Gap between precision and recall: {both}, so it is too selective; {more}."
        return Sentence(text, facts)
    if advice is None or found - precise < WIDE:
        return None
    if seen.k - advice.best_guess < WORTH * seen.k:
        return None
    now, then = seen.lists.tokens_at(seen.k), seen.lists.tokens_at(advice.best_guess)
    saved = f"{1 - advice.best_guess / seen.k:.0%} of the results"
    less = 1 - advice.best_guess / seen.k
    if now and then is not None:
        less = 1 - then / now
        saved = f"{less:.0%} of the tokens"
        if price is not None:
            cost = (now - then) * price / 1000
            saved += f" ({cost:,.2f} per 1,000 queries)"
            facts.append(Fact(about="count", value=cost, queries=1000, text="cost saved"))
    facts += [Fact(about="count", value=less, text="saved"), _advised_k(advice)]
    kept = "keeps the recall"
    if f"{advice.best_guess_recall:.0%}" != f"{found:.0%}":
        kept = f"finds {advice.best_guess_recall:.0%} instead of {found:.0%}"
    doubt = ""
    if advice.safe_k > advice.best_guess:
        doubt = f"; on new queries it may lose up to {number(advice.best_guess_bound)}"
        facts.append(Fact(about="bound", metric="recall", value=advice.best_guess_bound))
    text = (
        f"Gap between precision and recall: {both}, so it is too wide; k = {advice.best_guess} "
        f"{kept} and saves {saved}{doubt}."
    )
    return Sentence(text, facts)


def _advised_k(advice: RecallAdvice) -> Fact:
    """The k that sweep advises, and what it finds."""
    return Fact(
        about="choice", metric="recall", k=advice.best_guess, value=advice.best_guess_recall
    )
