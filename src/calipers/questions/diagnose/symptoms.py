"""How each failure mode is detected in the data, and what to do about it."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from calipers.model.matched import FAILED
from calipers.model.slicing import MOST_SLICES, auto_cuts
from calipers.present.escape import printable
from calipers.questions.diagnose.evidence import Evidence, Fact
from calipers.questions.diagnose.result import FEW, Confidence
from calipers.questions.shown_results import ceilings
from calipers.questions.slices.rule import slice_scores
from calipers.words import listed

Check = Callable[[Evidence], "Symptom | str | None"]
"""Returns the symptom, None if nothing is wrong, or a sentence if it cannot be checked."""


@dataclass(frozen=True)
class Rule:
    """One failure mode: its name, what is fine where it is not found, and its check."""

    name: str
    title: str
    fine: str
    check: Check
    unless: Mapping[str, str]
    """The rules whose finding makes this one redundant, and why."""


RULES: list[Rule] = []
"""First what spoils every number, then causes of misses, then what is found but ranked wrongly.

Every rule that applies is reported. The thresholds are a judgement; docs/diagnose.md lists them."""


def rule(
    title: str, fine: str, unless: Mapping[str, str] | None = None
) -> Callable[[Check], Check]:
    """Add a check to the rules, behind those above it."""

    def add(check: Check) -> Check:
        RULES.append(Rule(check.__name__, title, fine, check, unless or {}))
        return check

    return add


_NO_RANKING = {"same_answer": "every query gets the same list"}
_HUB = {"hub": "one document stands above everything"}


@dataclass(frozen=True)
class Symptom:
    """What one rule found."""

    confidence: Confidence
    evidence: tuple[str, ...]
    advice: tuple[str, ...]


def confidence(*deciding: tuple[Fact, float, int]) -> Confidence:
    """High if every interval lies beyond its threshold on the deciding side."""
    if min(fact.n for fact, _, _ in deciding) < FEW:
        return "low"
    for fact, threshold, side in deciding:
        if fact.interval is None:
            return "low"
        if (fact.interval.low < threshold) if side > 0 else (fact.interval.high > threshold):
            return "moderate"
    return "high"


def raise_k(seen: Evidence, recall: Fact) -> list[str]:
    """How much more a larger k finds, if it does."""
    depth = int(seen.matches.retrieved.max(initial=0))
    deeper = seen.fact(seen.recall_at(depth))
    if depth <= seen.k or not deeper or deeper.value <= recall.value + 0.01:
        return []
    cost = f"for up to {depth - seen.k} more results per query"
    return [f"Raise k: at k = {depth} recall is {deeper.value:.3f}, {cost} (`calipers sweep`)."]


def in_words(fact: Fact) -> str:
    """A mean with its interval."""
    ends = f" ({fact.interval.low:.3f}–{fact.interval.high:.3f})" if fact.interval else ""
    return f"{fact.value:.3f}{ends}"


def in_percent(fact: Fact) -> str:
    """A share with its interval."""
    ends = f" ({fact.interval.low:.0%}–{fact.interval.high:.0%})" if fact.interval else ""
    return f"{fact.value:.0%}{ends}"


@rule("the retriever fails on queries", "failures")
def retriever_fails(seen: Evidence) -> Symptom | None:
    """The retriever raised an error."""
    failed = seen.matches.having_status(FAILED) & seen.answerable
    share = seen.share(failed)
    if not share or not failed.any() or share.value < 0.001:
        return None
    return Symptom(
        "high" if int(failed.sum()) > 1 else "moderate",
        (
            f"The retriever failed on {int(failed.sum())} of {share.n} queries, {in_percent(share)}"
            ": each of them counts as a miss.",
            f"First {_names(seen, failed)}.",
        ),
        (
            "Repair this before anything else is read from the numbers (`calipers misses` lists "
            "the queries).",
            *_without(seen, failed, "fail"),
        ),
    )


@rule("the same answer for every query", "variety")
def same_answer(seen: Evidence) -> Symptom | str | None:
    """Every query gets the same list."""
    alike = seen.has_commonest_list
    share = None if alike is None else seen.fact(alike)
    if not share or share.value < 0.5:
        return None
    return Symptom(
        confidence((share, 0.5, 1)),
        (
            f"{in_percent(share)} of the queries get the very same list of results, though they "
            "look for different things.",
        ),
        (
            "See whether the question reaches the retriever at all: a constant query vector, a "
            "cache with the wrong key, a filter that leaves the same few items.",
        ),
    )


@rule("a hub document first in every list", "hubs", _NO_RANKING)
def hub(seen: Evidence) -> Symptom | str | None:
    """One document is ranked first for many unrelated queries."""
    found = seen.hub
    if found is None:
        return "the results have no ids"
    name, is_first = found
    share = seen.fact(is_first)
    if not share or share.value < 0.5:
        return None
    called, n = printable(name, 40), int(np.nansum(is_first))
    now = seen.metric("mrr")
    # A hit at rank r moves up by one place: 1 / r becomes 1 / (r - 1).
    then = np.where(is_first == 1.0, now / np.maximum(1.0 - now, 1e-9), now)
    return Symptom(
        confidence((share, 0.5, 1)),
        (f"{called} stands first for {n} of {share.n} queries that look for something else.",),
        (
            f"See why {called} is near to everything (an empty or very long chunk, boilerplate, a "
            f"vector of zeros): without it mrr@{seen.k} would be {np.nanmean(then):.3f}, it is "
            f"{np.nanmean(now):.3f}.",
            "Normalise the vectors, or leave such chunks out of the index.",
        ),
    )


@rule("nothing returned for some queries", "empty results")
def nothing_returned(seen: Evidence) -> Symptom | None:
    """Some queries get no results at all."""
    empty = seen.answerable & (seen.shown == 0) & ~seen.matches.having_status(FAILED)
    share = seen.share(empty)
    if not share or not empty.any() or share.value < 0.05:
        return None
    return Symptom(
        confidence((share, 0.05, 1)),
        (
            f"{int(empty.sum())} of {share.n} queries with something to find got no results, "
            f"{in_percent(share)}.",
            f"First {_names(seen, empty)}.",
        ),
        (
            "Look for what empties these lists: a filter, a score threshold, a word that is not in "
            "the index.",
            *_without(seen, empty, "get nothing"),
        ),
    )


@rule("duplicates crowd the list", "duplicates")
def duplicates(seen: Evidence) -> Symptom | None:
    """The list repeats the same result."""
    share = seen.fact(seen.repeated_share)
    if not share or share.value < 0.1:
        return None
    each = int(seen.repeated.sum()) / seen.matches.n_queries
    return Symptom(
        confidence((share, 0.1, 1)),
        (f"{in_percent(share)} of the results repeat an earlier one of the same query.",),
        (
            f"Remove repetitions before the list is cut at k: that frees {each:.1f} of {seen.k} "
            "places per query.",
            "Look for documents that were indexed twice.",
        ),
    )


@rule("k too small for this ground truth", "k")
def k_too_small(seen: Evidence) -> Symptom | str | None:
    """There are more targets than k."""
    if not seen.matches.is_one_to_one:
        return "one result may hold several targets here, so there is no ceiling"
    wanted = seen.wanted[seen.answerable]
    ceiling, _ = ceilings(wanted, seen.k)
    if ceiling is None or ceiling > 0.9:
        return None
    over = int((wanted > seen.k).sum())
    enough = int(np.sort(wanted)[int(np.ceil(0.95 * wanted.size)) - 1])
    return Symptom(
        "high",
        (
            f"{over} of {wanted.size} queries have more than {seen.k} targets (up to "
            f"{int(wanted.max())}): recall@{seen.k} cannot be above {ceiling:.3f}.",
        ),
        (
            f"Raise k where all of the targets are really needed: {enough} places hold all targets "
            "of 95 of 100 queries.",
            f"Else read capped_recall@{seen.k}, which counts what fits.",
        ),
    )


@rule("too selective", "length of the lists")
def too_selective(seen: Evidence) -> Symptom | None:
    """Lists are shorter than k, and targets are missing."""
    found = seen.fact(seen.answered)
    missing = ~(seen.answered >= 1.0) & ~np.isnan(seen.answered)
    used = seen.fact(np.where(missing, seen.shown / seen.k, np.nan))
    if not found or not used or found.value > 0.85 or used.value > 0.8:
        return None
    recall = seen.fact(seen.metric("recall"))
    precision = seen.fact(seen.useful_share)
    lines = [
        f"In the {used.n} queries that miss a target, {seen.k * used.value:.1f} of {seen.k} places "
        f"are used; recall@{seen.k} is {in_words(recall) if recall else 'unknown'}.",
        *([f"{in_percent(precision)} of the results hold a target."] if precision else []),
    ]
    free = seen.k * (1 - used.value)
    return Symptom(
        confidence((used, 0.8, -1), (found, 0.85, -1)),
        tuple(lines),
        (
            f"Let the retriever return more: {free:.1f} places are free in each of these queries. "
            "Raise its own limit, or lower its score threshold.",
            "For questions that need several pieces, retrieve for each part of the question.",
        ),
    )


@rule("right document, wrong chunk", "chunks")
def wrong_chunk(seen: Evidence) -> Symptom | str | None:
    """The document is found, the passage is not."""
    share = seen.wrong_chunk_share
    if share is None:
        return "the documents of results and targets are not known"
    near, recall = seen.fact(share), seen.fact(seen.answered)
    if not near or near.value < 0.3 or not recall or recall.value > 0.85:
        return None
    now = seen.metric("recall")
    then = now + np.nan_to_num(share) * (1 - now)
    return Symptom(
        confidence((near, 0.3, 1)),
        (
            f"In {near.n} queries with misses, {in_percent(near)} of the missed targets have "
            f"another chunk of their document among the first {seen.k}.",
        ),
        (
            "Return the neighbours of a chunk, or its whole section, with it: recall@"
            f"{seen.k} could rise from {np.nanmean(now):.3f} to {np.nanmean(then):.3f}.",
            "That makes what is read longer: see what it costs (`calipers sweep`).",
            "Cut larger chunks or let them overlap; put the title of the document into each.",
        ),
    )


@rule("a slice collapses", "slices", _NO_RANKING)
def slice_collapses(seen: Evidence) -> Symptom | str | None:
    """The mean hides a group of queries that fail."""
    scores, recall = seen.scores, seen.fact(seen.metric("recall"))
    few = [name for name, values in scores.tags.items() if 1 < values.n_unique() <= MOST_SLICES]
    cuts = list(dict.fromkeys([*few, *auto_cuts(scores)]))
    if not cuts:
        return "the queries have no tags with a few values, and are alike in length and targets"
    metric = next(one.name for one in scores.metrics if one.kind == "recall")
    found = [
        row
        for row in slice_scores(scores, cuts, metrics=[metric]).rows
        if row.is_worse and row.n >= 5 and (row.difference or 0.0) <= -0.2
    ]
    if not found or not recall:
        return None
    found.sort(key=lambda row: row.difference or 0.0)
    lines = tuple(
        f"recall@{seen.k} is {row.mean:.3f} on {row.n} queries of {row.by} = {row.value}, "
        f"{row.rest:.3f} on the rest."
        for row in found
    )
    worst = found[0]
    certain = worst.p_adjusted is not None and worst.p_adjusted <= 0.01
    chosen = shlex.quote(f"{worst.by}={worst.value}")
    return Symptom(
        "high" if certain else "moderate" if worst.n >= FEW else "low",
        (*lines, f"recall@{seen.k} is {in_words(recall)} over all queries."),
        (
            f"See why these {worst.n} fail; like the rest they would have {worst.rest:.3f}: "
            f"`calipers misses --where {chosen}`",
        ),
    )


@rule("finds too little", "recall", {**_NO_RANKING, "too_selective": "the lists end before k"})
def finds_little(seen: Evidence) -> Symptom | None:
    """Many targets are not found."""
    found = seen.fact(seen.answered)
    if not found or found.value > 0.8:
        return None
    recall = seen.fact(seen.metric("recall")) or found
    precision = seen.fact(seen.useful_share)
    lines = [f"recall@{seen.k} is only {in_words(recall)}."]
    look = "See the reason of every miss before changing anything: `calipers misses`"
    empty = seen.answerable & (seen.answered == 0.0)
    if empty.any():
        lines = [
            f"{int(empty.sum())} of {found.n} queries find nothing in the first {seen.k} results.",
            f"recall@{seen.k} is {in_words(recall)}.",
        ]
        look = f"See why nothing is found for {_names(seen, empty)}: `calipers misses`"
    if precision:
        lines.append(f"{in_percent(precision)} of the results hold a target.")
    return Symptom(
        confidence((found, 0.8, -1)),
        tuple(lines),
        (*raise_k(seen, recall), look),
    )


def _names(seen: Evidence, which: np.ndarray) -> str:
    """The first three of these queries, and how many more there are."""
    names = seen.matches.query_rows["query"].gather(np.flatnonzero(which)[:3]).to_list()
    more = int(which.sum()) - len(names)
    return listed([*map(str, names), *([f"{more} more"] if more else [])])


def _without(seen: Evidence, which: np.ndarray, what: str) -> list[str]:
    """Recall on the other queries."""
    recall = seen.metric("recall")
    others: Fact | None = seen.fact(np.where(which, np.nan, recall))
    if not others:
        return []
    return [
        f"Without the queries that {what}, recall@{seen.k} is {in_words(others)}; with them it is "
        f"{np.nanmean(recall):.3f}."
    ]


@rule("ground truth too thin", "labels", _HUB)
def thin_ground_truth(seen: Evidence) -> Symptom | None:
    """Too few results are judged to trust the metrics."""
    close = _just_below_unjudged(seen, 0.5)
    judged = _judged_of_a_pool(seen, 0.9)
    has_holes = judged is not None and judged.value <= 0.2
    lines: list[str] = []
    deciding: list[tuple[Fact, float, int]] = []
    if close:
        lines.append(
            f"in {in_percent(close)} of queries the only label stands below unjudged results."
        )
        deciding.append((close, 0.5, 1))
    if judged and has_holes:
        lines.append(
            f"Where the ranking falls short, only {in_percent(judged)} of the first {seen.k} "
            "results were ever judged."
        )
        deciding.append((judged, 0.2, -1))
    if not deciding:
        return None
    lines.append("A good result that nobody labelled counts as wrong here.")
    sure = confidence(*deciding)
    return Symptom(
        # Labels alone cannot distinguish a good unjudged result from a bad one.
        "moderate" if sure == "high" and not has_holes else sure,
        tuple(lines),
        (
            f"Judge the first {3 if close else seen.k} results of each query before the order is "
            "blamed, best those of several retrievers.",
            f"Until then recall@{seen.k} is less wrong than precision and ndcg, also between two "
            "systems.",
        ),
    )


@rule(
    "ordered badly",
    "order",
    {**_NO_RANKING, **_HUB, "thin_ground_truth": "nobody judged what stands above the targets"},
)
def ordered_badly(seen: Evidence) -> Symptom | None:
    """Targets are found, but ranked below results that hold none."""
    read, best, turned = seen.metric("ndcg"), seen.best_order_ndcg, seen.ndcg_from("the end")
    # The best first and last is a good order too: language models use these places most.
    ends = seen.ndcg_from("both ends")
    nearest = ends if np.nanmean(ends) > np.nanmean(read) else read
    gain = seen.fact(np.maximum(best - nearest, 0.0))
    if not gain or gain.value < 0.15:
        return None
    hits, mrr = np.nanmean(seen.metric("hit_rate")), np.nanmean(seen.metric("mrr"))
    now, most = np.nanmean(read), np.nanmean(best)
    lines = [
        f"ndcg@{seen.k} is {now:.3f}; the same results in the best order would have {most:.3f}.",
        f"{hits:.0%} of the queries have a hit; mrr@{seen.k} is {mrr:.3f} and could be {hits:.3f}.",
    ]
    advice = [
        f"Rerank the results: ndcg@{seen.k} can rise from {now:.3f} to {most:.3f} at most.",
        "If a reranker is in use already, compare what it returns with what it is given.",
    ]
    if np.nanmean(turned) - now >= 0.15:
        lines.insert(
            0,
            f"The list read backwards has an ndcg@{seen.k} of {np.nanmean(turned):.3f}, as it "
            f"stands {now:.3f}.",
        )
        advice.insert(
            0,
            "See whether the list is sorted the wrong way round: distances taken for similarities, "
            "or a reranker whose lowest score is the best.",
        )
    return Symptom(confidence((gain, 0.15, 1)), tuple(lines), tuple(advice))


@rule("k larger than needed", "tokens")
def k_too_large(seen: Evidence) -> Symptom | None:
    """All targets found are among the first few of many results."""
    recall, smaller = seen.fact(seen.metric("recall")), seen.enough_k
    if not recall or not smaller or recall.value < 0.8:
        return None
    now = float(seen.shown[seen.answerable].mean())
    fewer = now - float(np.minimum(seen.shown, smaller.best_guess)[seen.answerable].mean())
    if fewer < 10:
        return None
    is_safe = smaller.safe_k == smaller.best_guess
    kept = f"stays {smaller.largest_recall:.3f}"
    if smaller.best_guess_loss:
        kept = f"goes from {smaller.largest_recall:.3f} to {smaller.best_guess_recall:.3f}"
    until = "" if is_safe else f"; k = {smaller.safe_k} is safe until there are more queries"
    return Symptom(
        "low" if recall.n < FEW else "high" if is_safe else "moderate",
        (smaller.says,),
        (
            f"Lower k: at k = {smaller.best_guess} recall {kept} in these queries and could fall "
            f"by {smaller.best_guess_bound:.3f}; {fewer:.0f} results fewer per query{until}.",
        ),
    )


NEAR_THE_TOP = 3


def _just_below_unjudged(seen: Evidence, least: float) -> Fact | None:
    """The share of queries whose only label is second or third, below unjudged results.

    None unless it is large and nearly all found targets are that near to the top: targets
    further down are ordered badly in any case.
    """
    if not seen.judges_results:
        return None
    matches = seen.matches
    labels = np.bincount(matches.target_query, minlength=matches.n_queries)
    first = np.full(matches.n_queries, np.inf)
    np.minimum.at(first, matches.edge_query, matches.edge_rank)
    found = seen.answerable & (first <= seen.k)
    if not found.any() or np.mean(first[found] <= NEAR_THE_TOP) < 0.9:
        return None
    close = found & (labels == 1) & (first > 1) & (first <= NEAR_THE_TOP)
    share = seen.share(close)
    return share if share and share.value >= least else None


def _judged_of_a_pool(seen: Evidence, ndcg: float) -> Fact | None:
    """The share of judged results in queries whose ranking is not the best.

    None if the ground truth names targets only: then every other result is wrong.
    """
    if not seen.judges_results or not (seen.matches.target_grade <= 0).any():
        return None
    reached = seen.metric("ndcg")
    if np.nanmean(reached) > ndcg:
        return None
    return seen.fact(np.where(seen.answerable & (reached < 1.0), seen.metric("judged"), np.nan))
