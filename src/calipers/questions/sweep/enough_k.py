"""The smallest k that gives away no more recall than a margin: the best guess, and the safe one.

The best guess is the smallest k that loses at most half of the margin in these queries: a loss
nearer to it would take thousands of queries to settle. For the safe one a walk goes down from the
largest k. Each smaller k must show, with the confidence asked for,
that it loses at most the margin of recall against the largest; the walk ends at the first that
does not show it. As true recall never grows with a smaller k, a k that loses too much is only
ever called safe where its own test was wrong, so the walk needs no correction for its many steps.

The losses are not negative and mostly zero. Their bound is `largest_mean`, which holds for few
queries too: with no loss at all, a margin of 0.05 takes 59 queries.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput, check_number
from calipers.model.arrays import Floats
from calipers.model.claim import Claim
from calipers.questions.sweep.result import RecallAdvice
from calipers.statistics.clusters import as_shares, exact_mean
from calipers.statistics.largest_share import largest_mean
from calipers.words import number, plural

MARGIN = 0.05
CONFIDENCE = 0.95
_MOST_TIMES = 1000.0
"""More than so many times as many queries are no advice."""


def advise_recall(
    ks: Sequence[int],
    recall: ArrayLike,
    margin: float = MARGIN,
    confidence: float = CONFIDENCE,
    clusters: ArrayLike | None = None,
) -> RecallAdvice | None:
    """From recall per query (rows) at each rising k (columns); None without any whole row.

    >>> table = np.repeat([[0.0, 1.0, 1.0]], 70, axis=0)
    >>> found = advise_recall([1, 5, 20], table)
    >>> found.best_guess, found.safe_k, round(found.safe_bound, 3), found.below, found.below_loss
    (5, 5, 0.042, 1, 1.0)
    >>> found = advise_recall([1, 5, 20], table[:40])
    >>> found.best_guess, round(found.best_guess_bound, 3), found.more, found.safe_k
    (5, 0.072, 19, 20)
    """
    values = np.asarray(recall, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(ks):
        raise InvalidInput(
            f"The recall has the shape {values.shape}; one column for each of {len(ks)} k "
            "is needed."
        )
    check_number("The margin", margin, above=0, below=1, such_as=0.05)
    whole = ~np.isnan(values).any(axis=1)
    values = values if whole.all() else values[whole]
    if not len(values):
        return None
    named = None if clusters is None else np.asarray(clusters)[whole]
    # Recall is a share with few places; what subtraction leaves below that is rounding.
    losses = values[:, -1:] - values
    losses[losses < 1e-12] = 0.0
    safe, bound = len(ks) - 1, 0.0
    while safe > 0:
        next_bound = _bound(losses[:, safe - 1], named, confidence)
        if next_bound > margin:
            break
        safe, bound = safe - 1, next_bound
    little = 0.5 * margin
    guess = next(i for i in range(safe + 1) if i == safe or exact_mean(losses[:, i]) <= little)
    is_largest = guess == len(ks) - 1
    found = RecallAdvice(
        claim=Claim("no clear difference", ""),
        best_guess=ks[guess],
        best_guess_recall=exact_mean(values[:, guess]),
        best_guess_loss=exact_mean(losses[:, guess]),
        best_guess_bound=0.0 if is_largest else _bound(losses[:, guess], named, confidence),
        more=None if guess == safe else _more(losses[:, guess], named, margin, confidence),
        safe_k=ks[safe],
        safe_recall=exact_mean(values[:, safe]),
        safe_bound=bound,
        below=ks[guess - 1] if guess else None,
        below_loss=exact_mean(losses[:, guess - 1]) if guess else None,
        largest_k=ks[-1],
        largest_recall=exact_mean(values[:, -1]),
        margin=margin,
        confidence=confidence,
        n=len(values) if named is None else len(np.unique(named)),
    )
    return replace(found, claim=_claim(found))


def _bound(losses: Floats, named: ArrayLike | None, confidence: float) -> float:
    values, scale = as_shares(losses, named)
    return min(1.0, scale * largest_mean(values, confidence))


def _more(losses: Floats, named: ArrayLike | None, margin: float, confidence: float) -> int | None:
    """How many more queries like these would do, were their losses as they are now."""
    if exact_mean(losses) >= margin:
        return None
    values, scale = as_shares(losses, named)

    def enough(times: float) -> bool:
        return scale * largest_mean(values, confidence, times) <= margin

    return more_needed(enough, len(losses), within=0.01)


def more_needed(enough: Callable[[float], bool], n: int, *, within: float) -> int | None:
    """How many more than ``n`` queries do, where ``enough`` says it of so many times as many.

    To the next query, or ``within`` a share of them; None where too many would be needed.
    """
    low, high = 1.0, 2.0
    while not enough(high):
        low, high = high, 2.0 * high
        if high > _MOST_TIMES:
            return None
    while (high - low) * n > 0.5 and high - low > within * low:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return max(1, math.ceil(high * n - 1e-6) - n)


def _claim(found: RecallAdvice) -> Claim:
    """What was seen, what is not ruled out, what would settle it, and what is safe until then."""
    here = f"by {found.n:,} queries" if found.n > 1 else "by one query"
    if not found.largest_recall:
        return Claim(
            "no clear difference",
            f"Nothing is found up to k = {found.largest_k}: no k can be chosen by recall.",
        )
    if found.best_guess == found.largest_k:
        return _no_smaller(found)
    most, guess = _percents(found.largest_recall, found.best_guess_recall)
    seen = f"Use k = {found.best_guess}: it finds {guess}, as much as k = {found.largest_k}"
    if found.best_guess_loss:
        seen = f"Use k = {found.best_guess}: it finds {guess}; k = {found.largest_k} finds {most}"
    lost = f"k = {found.best_guess} may lose up to {number(found.best_guess_bound)}"
    if found.safe_k == found.best_guess:
        sure = f"{lost} on new queries ({100 * found.confidence:g}%), within the {found.margin:g} "
        return Claim("passed", f"{seen}.", f"{sure}allowed.")
    settles = f"that is too near {found.margin:g} to be settled by more queries like these."
    if found.more is not None:
        more = plural(found.more, "more query", "more queries")
        settles = f"about {more} would settle {found.margin:g}."
    return Claim(
        "no clear difference",
        f"{seen}.",
        f"Not settled {here}: {lost}; k = {found.safe_k} is the safe choice.",
        f"{settles[:1].upper()}{settles[1:]}",
    )


def _no_smaller(found: RecallAdvice) -> Claim:
    if found.below is None:
        return Claim(
            "no clear difference", f"k = {found.largest_k} is the only k here: nothing to choose."
        )
    most, below = _percents(found.largest_recall, found.largest_recall - (found.below_loss or 0.0))
    return Claim(
        "passed",
        f"Use k = {found.largest_k}: it finds {most}; k = {found.below} finds {below}.",
        None,
        "Recall may still grow: retrieve more and sweep again.",
    )


def _percents(most: float, less: float) -> tuple[str, str]:
    """Two shares in percent, with as many digits as it takes to see which is larger.

    >>> _percents(0.84, 0.77), _percents(0.8441, 0.8438), _percents(0.5, 0.5)
    (('84%', '77%'), ('84.41%', '84.38%'), ('50%', '50%'))
    """
    for digits in (0, 1, 2):
        first, second = f"{most:.{digits}%}", f"{less:.{digits}%}"
        if first != second or most - less < 1e-9:
            break
    return first, second
