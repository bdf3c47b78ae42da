"""A k by recall: the smallest that loses no more than a margin, as a best guess and a safe k.

The best guess is the smallest k that loses at most half of the margin in these queries: a loss
nearer to the margin would take thousands of queries to settle. The safe k is found by walking down
from the largest k. Each smaller k must show, with the confidence asked for, that it loses at most
the margin of recall against the largest; the walk ends at the first that does not. As true recall
never grows with a smaller k, a k that loses too much is called safe only if its own test was
wrong, so the walk needs no correction for multiple tests.

The losses are not negative and mostly zero. Their bound is `largest_mean`, which holds for few
queries too: with no loss at all, a margin of 0.05 takes 59 queries.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput, check_number
from calipers.frozen import dataclass
from calipers.model.arrays import Floats
from calipers.model.claim import Claim, QueriesToDetect
from calipers.model.fact import Fact, Sentence, sentence
from calipers.statistics.bounded_mean import largest_mean
from calipers.statistics.clusters import as_shares, exact_mean
from calipers.statistics.paired_rows import paired_rows
from calipers.statistics.queries_to_detect import queries_to_detect

MARGIN = 0.05
CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class RecallAdvice:
    """The smallest k that keeps recall: the best guess, its loss, and the safe k."""

    claim: Claim
    best_guess: int
    """The smallest k that loses at most half of the margin in these queries, or the safe
    k."""
    best_guess_recall: float
    best_guess_loss: float
    """Recall at the largest k minus recall at the best guess."""
    best_guess_bound: float
    """The upper confidence bound of the best guess's loss on queries like these."""
    takes: QueriesToDetect | None
    """How many queries detect a loss of the margin; None where the guess is safe, or
    where too few queries lost anything to tell."""
    fewest: int
    """With fewer queries no k below the largest is safe, even if none of them loses
    anything."""
    safe_k: int
    """The smallest k that is shown to lose at most the margin; the largest where none
    is."""
    safe_recall: float
    safe_bound: float
    """The upper confidence bound of the safe k's loss on queries like these."""
    below: int | None
    """The next smaller k than the best guess, or None."""
    below_loss: float | None
    largest_k: int
    largest_recall: float
    first_recall: float
    """Recall at the smallest k."""
    margin: float
    confidence: float
    n: int
    """The number of queries (or clusters) with a recall."""

    @property
    def says(self) -> str:
        """The claim in one paragraph."""
        further = (self.claim.range, self.claim.next)
        return " ".join(
            [self.claim.fact, *(sentence for sentence in further if sentence)]
        )


EVERY_K_UP_TO = 100
PER_DECADE = 12


def usual_cutoffs(depth: int) -> list[int]:
    """Every k up to 100, then about twelve per tenfold, and the depth itself.

    >>> usual_cutoffs(4)
    [1, 2, 3, 4]
    >>> usual_cutoffs(200)[98:]
    [99, 100, 121, 146, 177, 200]
    """
    ks = set(range(1, min(depth, EVERY_K_UP_TO) + 1))
    step = 1
    while EVERY_K_UP_TO * 10 ** (step / PER_DECADE) < depth:
        ks.add(int(EVERY_K_UP_TO * 10 ** (step / PER_DECADE)))
        step += 1
    return sorted({*ks, depth})


def advise_recall(
    ks: Sequence[int],
    recall: ArrayLike,
    margin: float = MARGIN,
    confidence: float = CONFIDENCE,
    clusters: ArrayLike | None = None,
) -> RecallAdvice | None:
    """Advise a k from recall per query (rows) and rising k (columns); None without a complete row.

    >>> table = np.repeat([[0.0, 1.0, 1.0]], 70, axis=0)
    >>> found = advise_recall([1, 5, 20], table)
    >>> found.best_guess, found.safe_k, round(found.safe_bound, 3), found.below, found.below_loss
    (5, 5, 0.042, 1, 1.0)
    >>> found = advise_recall([1, 5, 20], table[:40])
    >>> found.best_guess, round(found.best_guess_bound, 3), found.fewest, found.safe_k
    (5, 0.072, 59, 20)
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
    # Differences below 1e-12 are rounding errors.
    losses = values[:, -1:] - values
    losses[losses < 1e-12] = 0.0
    safe, bound = _smallest_safe(losses, named, margin, confidence)
    little = 0.5 * margin
    guess = next(
        i for i in range(safe + 1) if i == safe or exact_mean(losses[:, i]) <= little
    )
    is_largest = guess == len(ks) - 1
    recall_advice = RecallAdvice(
        claim=Claim(None, ""),
        best_guess=ks[guess],
        best_guess_recall=exact_mean(values[:, guess]),
        best_guess_loss=exact_mean(losses[:, guess]),
        best_guess_bound=0.0
        if is_largest
        else _bound(losses[:, guess], named, confidence),
        takes=None if guess == safe else _takes(losses[:, guess], named, margin),
        fewest=fewest_without_loss(margin, confidence),
        safe_k=ks[safe],
        safe_recall=exact_mean(values[:, safe]),
        safe_bound=bound,
        below=ks[guess - 1] if guess else None,
        below_loss=exact_mean(losses[:, guess - 1]) if guess else None,
        largest_k=ks[-1],
        largest_recall=exact_mean(values[:, -1]),
        first_recall=exact_mean(values[:, 0]),
        margin=margin,
        confidence=confidence,
        n=len(values) if named is None else len(np.unique(named)),
    )
    return replace(recall_advice, claim=_claim(recall_advice))


def _smallest_safe(
    losses: Floats, named: ArrayLike | None, margin: float, confidence: float
) -> tuple[int, float]:
    """The first column whose bound is within the margin, and that bound.

    Nothing is lost in the last one; losses fall with k, and so do their bounds.
    """
    # A bound is never below the mean, which costs far less.
    unsafe = int((losses.mean(axis=0) > margin).sum()) - 1
    safe = losses.shape[1] - 1
    bound = 0.0
    while safe - unsafe > 1:
        middle = (safe + unsafe) // 2
        next_bound = _bound(losses[:, middle], named, confidence)
        if next_bound > margin:
            unsafe = middle
        else:
            safe = middle
            bound = next_bound
    return safe, bound


def _bound(losses: Floats, named: ArrayLike | None, confidence: float) -> float:
    """The upper bound of the mean loss."""
    values, scale = as_shares(losses, named)
    return min(1.0, scale * largest_mean(values, confidence))


def _takes(
    losses: Floats, named: ArrayLike | None, margin: float
) -> QueriesToDetect | None:
    """How many queries detect a loss of the margin."""
    return queries_to_detect(paired_rows([losses], named)[0], margin)


def fewest_without_loss(margin: float, confidence: float) -> int:
    """The fewest queries that rule out a loss of the margin where none of them loses anything.

    >>> fewest_without_loss(0.05, 0.95)
    59
    """
    return math.ceil(math.log(1.0 - confidence) / math.log1p(-margin) - 1e-9)


def _claim(recall_advice: RecallAdvice) -> Claim:
    """The observed loss, its bound, what the margin takes, and what is safe until then.

    It has no standing: a choice of k is no verdict.
    """
    k = recall_advice.best_guess
    largest = recall_advice.largest_k
    below = recall_advice.below
    last = _at(recall_advice, largest, recall_advice.largest_recall)
    if not recall_advice.largest_recall:
        nothing = "Nothing is found up to k = {it.k}: no k can be chosen by recall."
        return Claim(None, sentence(nothing, it=last))
    if k == largest and below is None:
        return Claim(
            None, sentence("k = {it.k} is the only k here: nothing to choose.", it=last)
        )
    if (
        recall_advice.first_recall == recall_advice.largest_recall
        and recall_advice.largest_recall < LITTLE
    ):
        same = "k does not matter: it finds {it.value:.0%} at any k."
        return Claim(None, sentence(same, it=last))
    if k == largest:
        less = _at(
            recall_advice,
            below or 0,
            recall_advice.largest_recall - (recall_advice.below_loss or 0),
        )
        grows = Sentence("Recall may still grow: retrieve more and sweep again.")
        # Where everything is found there is nothing left to grow.
        is_whole = recall_advice.largest_recall >= 1.0 - 1e-12
        used = _used(last, less, "; k = {other.k} finds {less}.")
        return Claim(None, used, None, None if is_whole else grows)
    guess = _at(recall_advice, k, recall_advice.best_guess_recall)
    behind = "; k = {other.k} finds {less}." if recall_advice.best_guess_loss else ALIKE
    bound = Fact(
        about="bound",
        metric="recall",
        k=k,
        value=recall_advice.best_guess_bound,
        queries=recall_advice.n,
    )
    lost = sentence("k = {it.k} may lose up to {it.value}", it=bound)
    if recall_advice.safe_k == k:
        sure = sentence(
            "{lost} on new queries ({level.value:g%}), within the {margin.value:g} allowed.",
            lost=lost,
            level=Fact(
                about="setting", value=recall_advice.confidence, text="confidence"
            ),
            margin=Fact(about="setting", value=recall_advice.margin, text="margin"),
        )
        return Claim(None, _used(guess, last, behind), sure)
    here = "by {it.queries:query|queries}" if recall_advice.n > 1 else "by one query"
    safe = sentence(
        "Not settled " + here + ": {lost}; k = {safe.k} is the safe choice.",
        it=bound,
        lost=lost,
        safe=_at(recall_advice, recall_advice.safe_k, recall_advice.safe_recall),
    )
    return Claim(None, _used(guess, last, behind), safe, _what_it_takes(recall_advice))


def _what_it_takes(recall_advice: RecallAdvice) -> Sentence | None:
    """How many queries a loss of the margin takes, where there are fewer."""
    if recall_advice.n < recall_advice.fewest:
        fewest = Fact(
            about="takes",
            difference=recall_advice.margin,
            count=recall_advice.fewest,
            text="queries",
        )
        return sentence(
            "To rule out a loss of {it.difference:g} takes at least {it.count} queries.",
            it=fewest,
        )
    if recall_advice.takes is None or recall_advice.takes.high <= recall_advice.n:
        return None
    return recall_advice.takes.sentence


LITTLE = 0.5
"""Where recall is below this and the same at every k, k is not what is wrong."""
ALIKE = ", as much as k = {other.k}."


def _at(recall_advice: RecallAdvice, k: int, recall: float) -> Fact:
    """What one k finds."""
    return Fact(
        about="choice", metric="recall", k=k, value=recall, queries=recall_advice.n
    )


def _used(it: Fact, other: Fact, behind: str) -> Sentence:
    """The k to use, what it finds, and what another one finds."""
    shares = sorted((it.value or 0.0, other.value or 0.0), reverse=True)
    most, less = _percents(*shares)
    swapped = (it.value or 0.0) < (other.value or 0.0)
    return sentence(
        "Use k = {it.k}: it finds {much}" + behind,
        it=it,
        other=other,
        much=less if swapped else most,
        less=most if swapped else less,
    )


def _percents(most: float, less: float) -> tuple[str, str]:
    """Two shares in percent, with enough digits to show which is larger.

    >>> _percents(0.84, 0.77), _percents(0.8441, 0.8438), _percents(0.5, 0.5)
    (('84%', '77%'), ('84.41%', '84.38%'), ('50%', '50%'))
    """
    for digits in (0, 1, 2):
        first = f"{most:.{digits}%}"
        second = f"{less:.{digits}%}"
        if first != second or most - less < 1e-9:
            break
    return first, second
