"""What is found and stands in the wrong place, how that shows, and what to do about it."""

import numpy as np

from calipers.questions.diagnose.evidence import Evidence, Fact
from calipers.questions.diagnose.result import FEW
from calipers.questions.diagnose.words import (
    Symptom,
    Thresholds,
    confidence,
    in_percent,
    in_words,
    waste,
)


def thin_ground_truth(seen: Evidence, at: Thresholds) -> Symptom | None:
    """Too little was judged to believe the rest."""
    close = _just_below_unjudged(seen, at["close"])
    judged = _judged_of_a_pool(seen, at["ndcg"])
    has_holes = judged is not None and judged.value <= at["judged"]
    lines: list[str] = []
    deciding: list[tuple[Fact, float, int]] = []
    if close:
        lines.append(
            f"In {in_percent(close)} of the queries the only label stands second or third, and "
            "nobody judged what stands above it."
        )
        deciding.append((close, at["close"], 1))
    if judged and has_holes:
        lines.append(
            f"Where the ranking falls short, only {in_percent(judged)} of the first {seen.k} "
            "results were ever judged."
        )
        deciding.append((judged, at["judged"], -1))
    if not deciding:
        return None
    lines.append("A good result that nobody labelled counts as wrong here.")
    sure = confidence(*deciding)
    return Symptom(
        # Labels alone cannot tell a good result that nobody judged from a bad one.
        "moderate" if sure == "high" and not has_holes else sure,
        tuple(lines),
        (
            f"Judge the first {3 if close else seen.k} results of each query before the order is "
            "blamed, best those of several retrievers.",
            f"Until then recall@{seen.k} is less wrong than precision and ndcg, also between two "
            "systems.",
        ),
        {
            **({"close": close.value} if close else {}),
            **({"judged": judged.value} if judged else {}),
        },
    )


def ordered_badly(seen: Evidence, at: Thresholds) -> Symptom | None:
    """Found, but where it is read late or least."""
    (read, from_ends), best = seen.reading, seen.best_order_ndcg
    gain = seen.fact(np.maximum(best - read, 0.0))
    if not gain or gain.value < at["gain"]:
        return None
    turned = seen.fact(seen.ndcg_in("reversed") - read, bounds=(-1.0, 1.0))
    is_turned = turned is not None and turned.value >= at["gain"]
    if is_turned:
        read, from_ends = seen.metric("ndcg"), False
    hits, mrr = np.nanmean(seen.metric("hit_rate")), np.nanmean(seen.metric("mrr"))
    lines = [
        f"ndcg@{seen.k} is {np.nanmean(read):.3f}{', read from both ends' if from_ends else ''}; "
        f"the same results in the best order would have {np.nanmean(best):.3f}"
        f"{'.' if is_turned else f', {in_words(gain)} more.'}",
        f"{hits:.0%} of the queries have a hit; mrr@{seen.k} is {mrr:.3f} and could be {hits:.3f}.",
    ]
    advice = [
        f"Rerank the results: what is needed has been found. ndcg@{seen.k} can rise from "
        f"{np.nanmean(read):.3f} to {np.nanmean(best):.3f} at most.",
        "If a reranker is in use already, compare what it returns with what it is given.",
    ]
    middle = seen.fact(seen.middle_excess, bounds=(-1.0, 1.0))
    if is_turned:
        lines.insert(
            0,
            f"The list read backwards has an ndcg@{seen.k} of "
            f"{np.nanmean(seen.ndcg_in('reversed')):.3f}, as it stands {np.nanmean(read):.3f}.",
        )
        advice.insert(
            0,
            "See whether the list is sorted the wrong way round: distances taken for similarities, "
            "or a reranker whose lowest score is the best.",
        )
    elif middle and middle.value >= at["middle"]:
        lines.insert(
            0,
            "The middle third of the list holds more of the hits than chance would put there, by "
            f"{in_percent(middle)} of them: language models use that part of a context least.",
        )
        advice.insert(
            0, "Put the best results first, or first and last: either order counts as good here."
        )
    numbers = {"gain": gain.value} | ({"middle": middle.value} if middle else {})
    return Symptom(confidence((gain, at["gain"], 1)), tuple(lines), tuple(advice), numbers)


def k_too_large(seen: Evidence, at: Thresholds) -> Symptom | None:
    """All that is found stands in the first few of many places."""
    recall, smaller = seen.fact(seen.metric("recall")), seen.enough_k
    if not recall or not smaller or recall.value < at["recall"]:
        return None
    now = float(seen.shown[seen.answerable].mean())
    fewer = now - float(np.minimum(seen.shown, smaller.best_guess)[seen.answerable].mean())
    if fewer < at["results"]:
        return None
    is_safe = smaller.safe_k == smaller.best_guess
    kept = f"stays {smaller.largest_recall:.3f}"
    if smaller.best_guess_loss:
        kept = f"goes from {smaller.largest_recall:.3f} to {smaller.best_guess_recall:.3f}"
    until = "" if is_safe else f"; k = {smaller.safe_k} is safe until there are more queries"
    saved = f"{fewer:.0f} results fewer per query"
    before, after = seen.tokens_at(seen.k), seen.tokens_at(smaller.best_guess)
    if before is not None and after is not None:
        saved = f"tokens per query from {before:,.0f} to {after:,.0f}"
    return Symptom(
        "low" if recall.n < FEW else "high" if is_safe else "moderate",
        (smaller.says, *waste(seen)),
        (
            f"Lower k: at k = {smaller.best_guess} recall {kept} in these queries and could fall "
            f"by {smaller.best_guess_bound:.3f}; {saved}{until}.",
        ),
        {"recall": recall.value, "results": fewer},
    )


NEAR_THE_TOP = 3


def _just_below_unjudged(seen: Evidence, least: float) -> Fact | None:
    """The share of queries whose only label stands second or third, below what nobody judged.

    None unless it is large, and nearly all that is found stands that near to the top: targets
    further down are ordered badly, whoever judged what.
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
    share = seen.fact(np.where(seen.answerable, close.astype(np.float64), np.nan))
    return share if share and share.value >= least else None


def _judged_of_a_pool(seen: Evidence, ndcg: float) -> Fact | None:
    """The share of what is shown that was judged, in queries whose ranking is not the best.

    None where the ground truth names targets only: all else is meant to be wrong.
    """
    if not seen.judges_results or not (seen.matches.target_grade <= 0).any():
        return None
    reached = seen.metric("ndcg")
    if np.nanmean(reached) > ndcg:
        return None
    return seen.fact(np.where(seen.answerable & (reached < 1.0), seen.metric("judged"), np.nan))
