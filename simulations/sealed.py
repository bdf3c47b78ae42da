"""Sealed queries: what a tuner of many tries gets confirmed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calipers.questions.confirm.rule import look_at
from calipers.questions.seal.ledger import ERROR, LOOKS, per_look
from simulations.differences import EFFECTS
from simulations.rates import Rate
from simulations.shapes import SEED, Draw, Floats, Generator, among, choice, hits, real

PER_LOOK = per_look(LOOKS)
TRIES, OPEN = 200, 150
Try = Callable[[Generator, Floats, Floats], Floats]
"""From the scores of before and those that the tuner has now, another try: no better, no worse."""


# Tries that gain nothing on new queries: fixed, with the seed, before any of this was run.


def _anew(share: float, draw: Draw) -> Try:
    """Some queries are drawn anew, from what all are drawn from."""

    def another(rng: Generator, before: Floats, now: Floats) -> Floats:
        del before
        return np.where(rng.random(now.shape) < share, draw(rng, now.shape), now)

    return another


def _moved(differences: Draw) -> Try:
    """Every query moves away from where it was before, by differences with a mean of 0."""

    def another(rng: Generator, before: Floats, now: Floats) -> Floats:
        del now
        return before + differences(rng, before.shape)

    return another


_HITS = hits(0.65)
_NDCG = real("claims", "bm25", "ndcg@10")
_SKEWED = choice([-0.4, 0.2, 0.0], [0.15, 0.30, 0.55])


@dataclass(frozen=True)
class Tuning:
    """What the scores are before, and what a try makes of them."""

    before: Draw
    another: Try


TUNERS: dict[str, Tuning] = {
    "hits, one in eight drawn anew": Tuning(_HITS, _anew(0.125, _HITS)),
    "real nDCG, a fifth drawn anew": Tuning(among(_NDCG), _anew(0.2, among(_NDCG))),
    "nDCG, all move a little": Tuning(
        lambda rng, size: rng.uniform(0.3, 0.7, size),
        _moved(lambda rng, size: np.clip(rng.laplace(0.0, 0.08, size), -0.3, 0.3)),
    ),
    "15% lose 0.4, 30% gain 0.2": Tuning(
        lambda rng, size: rng.uniform(0.4, 0.6, size), _moved(_SKEWED)
    ),
}
SEALED = (40, 100)
GAINS = ("hits: 30% gained, 10% lost", "nDCG: normal, +0.08")


def false_confirmations(
    draws: int, sealed: Sequence[int] = SEALED, tuners: Sequence[str] = tuple(TUNERS)
) -> Iterator[Rate]:
    """How often anything is confirmed of tries that gain nothing, and how often otherwise.

    A try is kept where the open queries like it. The sealed ones are asked after every fortieth;
    what is not confirmed is given up, and the tuner begins again from what was before.
    """
    for name in tuners:
        tuning = TUNERS[name]
        for n in sealed:
            rng = np.random.default_rng([SEED, 31, n])
            before = tuning.before(rng, (draws, OPEN + n))
            best = before.copy()
            wrong, peeked = np.zeros(draws, dtype=bool), np.zeros(draws, dtype=bool)
            for number in range(1, TRIES + 1):
                tried = tuning.another(rng, before, best)
                better = tried[:, :OPEN].mean(axis=1) > best[:, :OPEN].mean(axis=1)
                best = np.where(better[:, None], tried, best)
                if number % (TRIES // LOOKS) == 0:
                    wrong_now, peeked_now = _decided(best[:, OPEN:] - before[:, OPEN:])
                    wrong, peeked = wrong | wrong_now, peeked | peeked_now
                    tuned = best[:, :OPEN] - before[:, :OPEN]
                    best = np.where(wrong[:, None], best, before)
            yield Rate(f"confirmed: {name}", n, float(wrong.mean()), draws, highest=ERROR)
            yield Rate(f"at .05 at any look: {name}", n, float(peeked.mean()), draws)
            naive = float(_decided(tuned)[1].mean())
            yield Rate(f"by the queries tuned on: {name}", n, naive, draws)


def true_confirmations(draws: int, gains: Sequence[str] = GAINS) -> Iterator[Rate]:
    """How often one look confirms a gain that everybody would want to know of."""
    for name in gains:
        rng = np.random.default_rng([SEED, 32])
        share = float(_decided(EFFECTS[name](rng, (draws, 100)))[0].mean())
        yield Rate(f"a true gain is confirmed: {name}", 100, share, draws, lowest=0.65)


def confirmations(draws: int) -> Iterator[Rate]:
    """Both, for the page."""
    yield from false_confirmations(draws)
    yield from true_confirmations(draws)


AT_ONCE = 100
"""Samples that share their random subsets, so that testing them takes no long time."""


def _decided(differences: Floats) -> tuple[Floats, Floats]:
    """Of each row: whether it is confirmed at one look, and whether at a whole budget of .05."""
    found = [
        (row.standing == "better", (row.difference or 0.0) > 0 and (row.p or 0.0) <= ERROR)
        for start in range(0, len(differences), AT_ONCE)
        for row in look_at(list(differences[start : start + AT_ONCE]), None, PER_LOOK)
    ]
    confirmed, shown = np.array(found, dtype=np.bool_).T
    return confirmed, shown
