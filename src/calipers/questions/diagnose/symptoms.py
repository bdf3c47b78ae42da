"""How each failure mode shows in the data, and what to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calipers.questions.diagnose.evidence import (
    FEW,
    Evidence,
    Fact,
    confidence,
    in_percent,
    in_words,
    multi_hop,
    raise_k,
    waste,
    worst_slices,
)
from calipers.questions.diagnose.result import Confidence
from calipers.questions.sweep.rule import ceilings

Thresholds = Mapping[str, float]


@dataclass(frozen=True)
class Symptom:
    """What one rule saw."""

    confidence: Confidence
    evidence: tuple[str, ...]
    advice: tuple[str, ...]
    numbers: Mapping[str, float]


def too_selective(seen: Evidence, at: Thresholds) -> Symptom | None:
    """Precise, and most targets are missing."""
    precision, recall = seen.fact(seen.useful_share), seen.fact(seen.metric("recall"))
    if not precision or not recall or precision.value < at["precision"]:
        return None
    if recall.value > at["recall"]:
        return None
    lines = [
        f"{in_percent(precision)} of what is shown holds a target, and recall@{seen.k} is only "
        f"{in_words(recall)}.",
        *multi_hop(seen),
    ]
    advice = []
    shown = float(seen.shown[seen.answerable].mean())
    if shown < 0.8 * seen.k:
        lines.append(f"On average {shown:.1f} of {seen.k} places are used.")
        advice.append("Let the retriever return more: lower its score threshold or its own limit.")
    advice += raise_k(seen, recall) or ["Raise k."]
    advice.append("For questions that need several pieces, retrieve for each part of the question.")
    return Symptom(
        confidence((precision, at["precision"], 1), (recall, at["recall"], -1)),
        tuple(lines),
        tuple(advice),
        {"precision": precision.value, "recall": recall.value},
    )


def finds_little(seen: Evidence, at: Thresholds) -> Symptom | None:
    """Neither precise nor complete."""
    precision, recall = seen.fact(seen.useful_share), seen.fact(seen.metric("recall"))
    if not recall or recall.value > at["recall"]:
        return None
    if precision and precision.value >= at["precision"]:
        return None
    lines = [f"recall@{seen.k} is only {in_words(recall)}."]
    if precision:
        lines.append(f"{in_percent(precision)} of what is shown holds a target.")
    empty = int((seen.shown[seen.answerable] == 0).sum())
    if empty:
        lines.append(f"{empty} of {recall.n} queries got no results at all.")
    advice = [
        *raise_k(seen, recall),
        "See `calipers misses` for the reason of every miss before changing anything.",
    ]
    return Symptom(
        confidence((recall, at["recall"], -1)),
        (*lines, *multi_hop(seen)),
        tuple(advice),
        {"recall": recall.value, **({"precision": precision.value} if precision else {})},
    )


def too_wide(seen: Evidence, at: Thresholds) -> Symptom | None:
    """Complete, and most of what is shown is useless."""
    precision, recall = seen.fact(seen.useful_share), seen.fact(seen.metric("recall"))
    if not precision or not recall:
        return None
    if recall.value < at["recall"] or precision.value > at["precision"]:
        return None
    lines = [
        f"recall@{seen.k} is {in_words(recall)}, and only {in_percent(precision)} of what is shown "
        "holds a target.",
        *waste(seen),
    ]
    smaller = seen.enough_k
    if smaller and smaller.k < seen.k:
        advice = [
            f"Lower k: at k = {smaller.k} recall is {smaller.recall:.3f}; with "
            f"{smaller.confidence:.0%} confidence it loses at most {smaller.margin:g} "
            "(`calipers sweep` has the whole curve).",
            "A reranker would let k be smaller still.",
        ]
    elif smaller and smaller.more:
        advice = [
            "Rerank, then lower k. These queries are too few to say that a smaller k loses at "
            f"most {smaller.margin:g} of recall: about {smaller.more:,} more would do."
        ]
    else:
        advice = ["Rerank first: every smaller k loses recall. Then lower k."]
    return Symptom(
        confidence((precision, at["precision"], -1), (recall, at["recall"], 1)),
        tuple(lines),
        tuple(advice),
        {"precision": precision.value, "recall": recall.value},
    )


def ordered_badly(seen: Evidence, at: Thresholds) -> Symptom | None:
    """Found, but late."""
    ndcg, best = seen.metric("ndcg"), seen.best_order_ndcg
    gain = seen.fact(best - ndcg)
    if not gain or gain.value < at["gain"]:
        return None
    mrr, hits = seen.metric("mrr"), seen.metric("hit_rate")
    lines = [
        f"ndcg@{seen.k} is {np.nanmean(ndcg):.3f}; the same results in the best order would have "
        f"{np.nanmean(best):.3f}, {in_words(gain)} more.",
        f"{np.nanmean(hits):.0%} of the queries have a hit; mrr@{seen.k} is {np.nanmean(mrr):.3f} "
        f"and could be {np.nanmean(hits):.3f}.",
    ]
    advice = (
        "Rerank the results: what is needed has been found.",
        "If a reranker is in use already, compare with and without it (`calipers compare`).",
    )
    return Symptom(confidence((gain, at["gain"], 1)), tuple(lines), advice, {"gain": gain.value})


def buried_in_the_middle(seen: Evidence, at: Thresholds) -> Symptom | str | None:
    """Hits stand where language models read worst."""
    excess = seen.fact(seen.middle_excess, bounds=(-1.0, 1.0))
    if not excess:
        return "no list with hits has six results or more within k"
    if excess.value < at["excess"]:
        return None
    return Symptom(
        confidence((excess, at["excess"], 1)),
        (
            "The middle third of the list holds more of the hits than chance would put there, by "
            f"{in_percent(excess)} of them.",
        ),
        (
            "Put the best results first and last in the prompt: language models use the middle "
            "of a long context least.",
            "Rerank, or lower k so that there is less of a middle.",
        ),
        {"excess": excess.value},
    )


def wrong_chunk(seen: Evidence, at: Thresholds) -> Symptom | str | None:
    """The document is there, the passage is not."""
    share = seen.wrong_chunk_share
    if share is None:
        return "the documents of results and targets are not known"
    near = seen.fact(share)
    if not near or near.value < at["share"]:
        return None
    return Symptom(
        confidence((near, at["share"], 1)),
        (
            f"In {near.n} queries with misses, {in_percent(near)} of the missed targets have "
            f"another chunk of their document among the first {seen.k}.",
        ),
        (
            "Return the neighbours of a chunk, or its whole section, with it.",
            "Cut larger chunks or let them overlap; put the title of the document into each.",
        ),
        {"share": near.value},
    )


def duplicates(seen: Evidence, at: Thresholds) -> Symptom | None:
    """The same thing several times over."""
    share = seen.fact(seen.repeated_share)
    if not share or share.value < at["share"]:
        return None
    repeated = seen.context.repeats & (seen.context.rank <= seen.k)
    return Symptom(
        confidence((share, at["share"], 1)),
        (
            f"{in_percent(share)} of what is shown repeats an earlier result of the same query, by "
            f"id or word for word ({int(repeated.sum()):,} results).",
        ),
        (
            "Remove repetitions before the list is cut at k.",
            "Look for documents that were indexed twice.",
        ),
        {"share": share.value},
    )


def k_too_small(seen: Evidence, at: Thresholds) -> Symptom | str | None:
    """More targets than places."""
    if not seen.matches.is_one_to_one:
        return "one result may hold several targets here, so there is no ceiling"
    ceiling, _ = ceilings(seen.wanted[seen.answerable], seen.k)
    if ceiling is None or ceiling > at["recall"]:
        return None
    over = int((seen.wanted[seen.answerable] > seen.k).sum())
    largest = int(seen.wanted.max())
    return Symptom(
        "high",
        (
            f"{over} of {int(seen.answerable.sum())} queries have more than {seen.k} targets (up "
            f"to {largest}): recall@{seen.k} cannot be above {ceiling:.3f}.",
        ),
        (
            f"Measure at a larger k, or read capped_recall@{seen.k}, which counts what fits.",
            "Raise k where all of the targets are really needed.",
        ),
        {"recall": ceiling},
    )


def k_too_large(seen: Evidence, at: Thresholds) -> Symptom | str | None:
    """More places than targets."""
    if not seen.matches.is_one_to_one:
        return "one target may be held by several results here, so there is no ceiling"
    _, ceiling = ceilings(seen.wanted[seen.answerable], seen.k)
    if ceiling is None or ceiling > at["precision"]:
        return None
    mean = float(seen.wanted[seen.answerable].mean())
    return Symptom(
        "high",
        (
            f"A query has {mean:.1f} targets on average, so precision@{seen.k} cannot be above "
            f"{ceiling:.3f} (and f1@{seen.k} not near 1).",
        ),
        (
            "Do not tune by precision at this k; read recall, mrr, or r_precision, which adapts "
            "to the number of targets.",
            "If a reader needs that few results, lower k.",
        ),
        {"precision": ceiling},
    )


def thin_ground_truth(seen: Evidence, at: Thresholds) -> Symptom | None:
    """Too little was judged to believe the rest."""
    labels = np.bincount(seen.matches.target_query, minlength=seen.matches.n_queries)
    single = seen.fact(np.where(seen.answerable, (labels == 1).astype(np.float64), np.nan))
    judged = None
    if seen.judges_results:
        judged = seen.fact(np.where(seen.answerable, seen.metric("judged"), np.nan))
    is_single = single is not None and single.value >= at["single"]
    is_unjudged = judged is not None and judged.value <= at["judged"]
    lines: list[str] = []
    deciding: list[tuple[Fact, float, int]] = []
    if single and is_single:
        lines.append(f"{in_percent(single)} of the queries have a single label.")
        deciding.append((single, at["single"], 1))
    if judged and is_unjudged:
        lines.append(f"Only {in_percent(judged)} of the first {seen.k} results were ever judged.")
        deciding.append((judged, at["judged"], -1))
    if not deciding:
        return None
    lines.append("A good result that nobody labelled counts as wrong here.")
    return Symptom(
        confidence(*deciding),
        tuple(lines),
        (
            "Judge what stands in the first results of several retrievers, good and bad.",
            f"Until then compare systems by recall@{seen.k} or mrr rather than by precision, and "
            "look at `calipers eval --bounds`.",
        ),
        {
            **({"single": single.value} if single else {}),
            **({"judged": judged.value} if judged else {}),
        },
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
    certain = (worst.p_adjusted or 1.0) <= 0.01 and worst.n >= FEW
    return Symptom(
        "high" if certain else "moderate" if worst.n >= FEW else "low",
        (f"recall@{seen.k} is {in_words(recall)} over all queries.", *lines),
        (
            f"Look at the queries of {worst.by} = {worst.value} by themselves (`calipers misses`).",
            "Gate this slice too, so that the mean cannot hide it (`calipers gate --require … "
            "for tag=value`).",
        ),
        {"mean": recall.value, "gap": -(worst.difference or 0.0), "queries": float(worst.n)},
    )
