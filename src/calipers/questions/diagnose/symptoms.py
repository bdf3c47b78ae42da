"""What is not found, how that shows in the data, and what to do about it."""

import shlex

import numpy as np

from calipers.model.matched import FAILED
from calipers.present.escape import printable
from calipers.questions.diagnose.evidence import Evidence, Fact
from calipers.questions.diagnose.result import FEW
from calipers.questions.diagnose.words import (
    Symptom,
    Thresholds,
    confidence,
    in_percent,
    in_words,
    multi_hop,
    raise_k,
    worst_slices,
)
from calipers.questions.sweep.rule import ceilings


def retriever_fails(seen: Evidence, at: Thresholds) -> Symptom | None:
    """The retriever raised an error."""
    failed = seen.matches.having_status(FAILED) & seen.answerable
    share = seen.fact(np.where(seen.answerable, failed.astype(np.float64), np.nan))
    if not share or not failed.any() or share.value < at["share"]:
        return None
    return Symptom(
        "high" if int(failed.sum()) > 1 else "moderate",
        (
            f"The retriever failed on {int(failed.sum())} of {share.n} queries, {in_percent(share)}"
            ": each of them counts as a miss.",
            *_named(seen, failed),
        ),
        (
            "Repair this before anything else is read from the numbers (`calipers misses` lists "
            "the queries).",
            *_without(seen, failed, "fail"),
        ),
        {"share": share.value},
    )


def same_answer(seen: Evidence, at: Thresholds) -> Symptom | str | None:
    """Every question gets the same list."""
    alike = seen.has_commonest_list
    share = None if alike is None else seen.fact(alike)
    if not share or share.value < at["share"]:
        return None
    return Symptom(
        confidence((share, at["share"], 1)),
        (
            f"{in_percent(share)} of the queries get the very same list of results, though they "
            "look for different things.",
        ),
        (
            "See whether the question reaches the retriever at all: a constant query vector, a "
            "cache with the wrong key, a filter that leaves the same few items.",
        ),
        {"share": share.value},
    )


def hub(seen: Evidence, at: Thresholds) -> Symptom | str | None:
    """One document stands first, whatever is asked."""
    found = seen.hub
    if found is None:
        return "the results have no ids"
    name, is_first = found
    share = seen.fact(is_first)
    if not share or share.value < at["share"]:
        return None
    called, n = printable(name, 40), int(np.nansum(is_first))
    now = seen.metric("mrr")
    # A hit at rank r moves up by one place: 1 / r becomes 1 / (r - 1).
    then = np.where(is_first == 1.0, now / np.maximum(1.0 - now, 1e-9), now)
    return Symptom(
        confidence((share, at["share"], 1)),
        (f"{called} stands first for {n} of {share.n} queries that look for something else.",),
        (
            f"See why {called} is near to everything (an empty or very long chunk, boilerplate, a "
            f"vector of zeros): without it mrr@{seen.k} would be {np.nanmean(then):.3f}, it is "
            f"{np.nanmean(now):.3f}.",
            "Normalise the vectors, or leave such chunks out of the index.",
        ),
        {"share": share.value},
    )


def nothing_returned(seen: Evidence, at: Thresholds) -> Symptom | None:
    """Some questions get no results at all."""
    empty = seen.answerable & (seen.shown == 0) & ~seen.matches.having_status(FAILED)
    share = seen.fact(np.where(seen.answerable, empty.astype(np.float64), np.nan))
    if not share or not empty.any() or share.value < at["share"]:
        return None
    return Symptom(
        confidence((share, at["share"], 1)),
        (
            f"{int(empty.sum())} of {share.n} queries with something to find got no results, "
            f"{in_percent(share)}.",
            *_named(seen, empty),
        ),
        (
            "Look for what empties these lists: a filter, a score threshold, a word that is not in "
            "the index.",
            *_without(seen, empty, "get nothing"),
        ),
        {"share": share.value},
    )


def duplicates(seen: Evidence, at: Thresholds) -> Symptom | None:
    """The same thing several times over."""
    share = seen.fact(seen.repeated_share)
    if not share or share.value < at["share"]:
        return None
    repeated = int(seen.facts.repeated.sum())
    each = repeated / seen.matches.n_queries
    return Symptom(
        confidence((share, at["share"], 1)),
        (
            f"{in_percent(share)} of what is shown repeats an earlier result of the same query, by "
            f"id or word for word ({repeated:,} results).",
        ),
        (
            f"Remove repetitions before the list is cut at k: that frees {each:.1f} of {seen.k} "
            "places per query.",
            "Look for documents that were indexed twice.",
        ),
        {"share": share.value},
    )


def k_too_small(seen: Evidence, at: Thresholds) -> Symptom | str | None:
    """More targets than places."""
    if not seen.matches.is_one_to_one:
        return "one result may hold several targets here, so there is no ceiling"
    wanted = seen.wanted[seen.answerable]
    ceiling, _ = ceilings(wanted, seen.k)
    if ceiling is None or ceiling > at["recall"]:
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
        {"recall": ceiling},
    )


def too_selective(seen: Evidence, at: Thresholds) -> Symptom | None:
    """Lists end before k, and targets are missing in them."""
    found = seen.fact(seen.answered)
    missing = ~(seen.answered >= 1.0) & ~np.isnan(seen.answered)
    used = seen.fact(np.where(missing, seen.shown / seen.k, np.nan))
    if not found or not used or found.value > at["recall"] or used.value > at["places"]:
        return None
    recall = seen.fact(seen.metric("recall"))
    precision = seen.fact(seen.useful_share)
    lines = [
        f"In the {used.n} queries that miss a target, {seen.k * used.value:.1f} of {seen.k} places "
        f"are used; recall@{seen.k} is {in_words(recall) if recall else 'unknown'}.",
        *([f"{in_percent(precision)} of what is shown holds a target."] if precision else []),
        *multi_hop(seen),
    ]
    free = seen.k * (1 - used.value)
    return Symptom(
        confidence((used, at["places"], -1), (found, at["recall"], -1)),
        tuple(lines),
        (
            f"Let the retriever return more: {free:.1f} places are free in each of these queries. "
            f"Raise its own limit, or lower its score threshold{_floor(seen)}.",
            "For questions that need several pieces, retrieve for each part of the question.",
        ),
        {"recall": found.value, "places": used.value},
    )


def _floor(seen: Evidence) -> str:
    if not seen.facts.has_scores:
        return ""
    return " (`calipers sweep --floor` shows how many that have no answer would be answered)"


def wrong_chunk(seen: Evidence, at: Thresholds) -> Symptom | str | None:
    """The document is there, the passage is not."""
    share = seen.wrong_chunk_share
    if share is None:
        return "the documents of results and targets are not known"
    near, recall = seen.fact(share), seen.fact(seen.answered)
    if not near or near.value < at["share"] or not recall or recall.value > at["recall"]:
        return None
    now = seen.metric("recall")
    then = now + np.nan_to_num(share) * (1 - now)
    return Symptom(
        confidence((near, at["share"], 1)),
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
        {"share": near.value, "recall": recall.value},
    )


def slice_collapses(seen: Evidence, at: Thresholds) -> Symptom | str | None:
    """The mean hides a group of queries that fail."""
    recall = seen.fact(seen.metric("recall"))
    if not recall or recall.value < at["mean"]:
        return None
    found = worst_slices(seen.scores, gap=at["gap"], least=int(at["queries"]), cuts=seen.cuts)
    if isinstance(found, str):
        return found
    if not found:
        return None
    lines = tuple(
        f"{row.by} = {row.value}: recall {row.mean:.3f} over {row.n} queries, against "
        f"{row.rest:.3f} for the rest (p = {row.p_adjusted:.3g} after correction)."
        for row in found
    )
    worst = found[0]
    certain = worst.p_adjusted is not None and worst.p_adjusted <= 0.01
    chosen = shlex.quote(f"{worst.by}={worst.value}")
    return Symptom(
        "high" if certain else "moderate" if worst.n >= FEW else "low",
        (f"recall@{seen.k} is {in_words(recall)} over all queries.", *lines),
        (
            f"See why the queries of {worst.by} = {worst.value} fail: `calipers misses --where "
            f"{chosen}`. Were they like the rest, their recall@{seen.k} would be {worst.rest:.3f}.",
        ),
        {"mean": recall.value, "gap": -(worst.difference or 0.0), "queries": float(worst.n)},
    )


def finds_little(seen: Evidence, at: Thresholds) -> Symptom | None:
    """Most of what is needed does not come back."""
    found = seen.fact(seen.answered)
    if not found or found.value > at["recall"]:
        return None
    recall = seen.fact(seen.metric("recall")) or found
    precision = seen.fact(seen.useful_share)
    lines = [f"recall@{seen.k} is only {in_words(recall)}."]
    if precision:
        lines.append(f"{in_percent(precision)} of what is shown holds a target.")
    return Symptom(
        confidence((found, at["recall"], -1)),
        (*lines, *multi_hop(seen)),
        (
            *raise_k(seen, recall),
            "See `calipers misses` for the reason of every miss before changing anything.",
        ),
        {"recall": found.value},
    )


def _named(seen: Evidence, which: np.ndarray) -> list[str]:
    """The first of these queries by name."""
    names = seen.matches.asked["query"].gather(np.flatnonzero(which)[:3]).to_list()
    more = int(which.sum()) - len(names)
    return [f"First {', '.join(map(str, names))}{f', and {more} more' if more else ''}."]


def _without(seen: Evidence, which: np.ndarray, what: str) -> list[str]:
    """What recall is among the other queries."""
    recall = seen.metric("recall")
    others: Fact | None = seen.fact(np.where(which, np.nan, recall))
    if not others:
        return []
    return [
        f"Without the queries that {what}, recall@{seen.k} is {in_words(others)}; with them it is "
        f"{np.nanmean(recall):.3f}."
    ]
