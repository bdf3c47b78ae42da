"""How far judges agree beyond chance: Cohen's and Fleiss' kappa, Krippendorff's alpha.

Every coefficient is computed from a table with one row per thing that was judged and one column
per judge; NaN is a label that is missing. A value of 1 is full agreement, 0 is what chance gives,
below 0 is worse than chance. Where only one grade was ever used, chance alone explains everything
and there is no value.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from calipers.errors import InvalidInput
from calipers.labels.choices import SCALES, WEIGHTS, Scale, Weights
from calipers.labels.result import Coefficient, MachineCheck
from calipers.model.arrays import Floats, Ints
from calipers.model.scores import Interval
from calipers.statistics.against_people import against_people
from calipers.statistics.agreement_interval import agreement_interval
from calipers.statistics.score_interval import Ends
from calipers.words import did_you_mean

NOTHING_SHARED = "nobody judged the same thing"
ONE_GRADE = "only one grade was used"


def cohen_kappa(
    table: Floats, judges: Sequence[str] = ("first", "second"), weights: Weights = "none"
) -> Coefficient:
    """Cohen's kappa of two judges, over what both judged.

    Weighted, a disagreement counts by the steps between the two grades (linear) or their square
    (quadratic), on the ladder of all grades in the table.

    >>> table = np.array([[1, 1]] * 20 + [[1, 0]] * 5 + [[0, 1]] * 10 + [[0, 0]] * 15, float)
    >>> round(cohen_kappa(table).value, 3)
    0.4
    """
    check_choice("weights", weights, WEIGHTS)
    name = "Cohen's kappa" + ("" if weights == "none" else f", {weights} weights")
    grades = np.unique(table[~np.isnan(table)])
    both = table[~np.isnan(table).any(axis=1)]
    n, steps = len(both), len(grades)
    if not n:
        return Coefficient(name, tuple(judges), None, 0, why_not=NOTHING_SHARED)
    first, second = (np.searchsorted(grades, both[:, column]) for column in (0, 1))
    share = np.zeros((steps, steps))
    np.add.at(share, (first, second), 1 / n)
    apart = np.abs(np.subtract.outer(np.arange(steps), np.arange(steps))).astype(float)
    cost = {"none": (apart > 0).astype(float), "linear": apart, "quadratic": apart**2}[weights]
    observed = float((share * cost).sum())
    expected = float((np.outer(share.sum(1), share.sum(0)) * cost).sum())
    # Of shares that come from whole numbers nothing can be this small but not 0.
    if expected * n * n < 0.5:
        return Coefficient(name, tuple(judges), None, n, why_not=ONE_GRADE)
    shown = (observed, expected) if weights != "none" else (1 - observed, 1 - expected)
    return Coefficient(name, tuple(judges), 1 - observed / expected, n, *shown)


def fleiss_kappa(table: Floats, judges: Sequence[str]) -> Coefficient:
    """Fleiss' kappa over what all judges judged; grades are names, not numbers.

    >>> table = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1]], float)
    >>> round(fleiss_kappa(table, ["a", "b", "c"]).value, 3)
    0.55
    """
    name = "Fleiss' kappa"
    complete = table[~np.isnan(table).any(axis=1)]
    n, raters = complete.shape
    if not n or raters < 2:
        return Coefficient(name, tuple(judges), None, 0, why_not=NOTHING_SHARED)
    counts = _counts(complete)[1]
    alike = float((counts * (counts - 1)).sum()) / (n * raters * (raters - 1))
    chance = float(((counts.sum(axis=0) / (n * raters)) ** 2).sum())
    if counts.shape[1] == 1:
        return Coefficient(name, tuple(judges), None, n, why_not=ONE_GRADE)
    return Coefficient(name, tuple(judges), (alike - chance) / (1 - chance), n, alike, chance)


def krippendorff_alpha(
    table: Floats, judges: Sequence[str], scale: Scale = "ordinal"
) -> Coefficient:
    """Krippendorff's alpha over everything that at least two judged; labels may be missing.

    >>> table = np.array([[1, 1, 1], [0, 0, np.nan], [1, 0, 1], [0, np.nan, np.nan]])
    >>> found = krippendorff_alpha(table, ["a", "b", "c"])
    >>> round(found.value, 3), found.n
    (0.533, 3)
    """
    check_choice("scale", scale, SCALES)
    name = f"Krippendorff's alpha, {scale}"
    judged = (~np.isnan(table)).sum(axis=1)
    paired = table[judged >= 2]
    if not len(paired):
        return Coefficient(name, tuple(judges), None, 0, why_not=NOTHING_SHARED)
    grades, counts = _counts(paired)
    labels = counts.sum(axis=1)
    # How often two judges of the same thing say c and k; each label counts once in all.
    share = counts / (labels - 1)[:, None]
    together = share.T @ counts - np.diag(share.sum(axis=0))
    used = counts.sum(axis=0).astype(float)
    if len(grades) == 1:
        return Coefficient(name, tuple(judges), None, len(paired), why_not=ONE_GRADE)
    distance = _distance(grades, used, scale)
    total = used.sum()
    observed = float((together * distance).sum() / total)
    expected = float((np.outer(used, used) * distance).sum() / (total * (total - 1)))
    return Coefficient(
        name, tuple(judges), 1 - observed / expected, len(paired), observed, expected
    )


def coefficients(
    table: Floats,
    judges: Sequence[str],
    scale: Scale = "ordinal",
    weights: Weights = "none",
    confidence: float = 0.95,
) -> tuple[Coefficient, ...]:
    """Alpha and Fleiss' kappa over all judges, and Cohen's kappa for every two of them."""
    check_choice("scale", scale, SCALES)
    check_choice("weights", weights, WEIGHTS)
    if len(judges) < 2:
        return ()
    # To these two it is no matter who gave which grade: far fewer rows are then different.
    alike = np.sort(table, axis=1)
    found = [
        _with_interval(alike, lambda some: krippendorff_alpha(some, judges, scale), confidence),
        _with_interval(alike, lambda some: fleiss_kappa(some, judges), confidence),
    ]
    rungs = _rungs(table)
    for a, b in combinations(range(len(judges)), 2):
        names = (judges[a], judges[b])

        def kappa(some: Floats, names: tuple[str, str] = names) -> Coefficient:
            return cohen_kappa(np.vstack([some, rungs]), names, weights)

        found.append(_with_interval(table[:, [a, b]], kappa, confidence))
    return tuple(found)


def _with_interval(
    table: Floats, measure: Callable[[Floats], Coefficient], confidence: float
) -> Coefficient:
    one = measure(table)
    ends = agreement_interval(table, lambda some: measure(some).value, confidence)
    return replace(one, interval=ends and Interval(*ends, confidence, "jackknife"))


def check_machine(
    table: Floats, judges: Sequence[str], machine: str, confidence: float = 0.95
) -> MachineCheck:
    """The labels of one judge against those of the others; a grade above 0 is relevant.

    Several people decide by majority.
    """
    check_choice("machine", machine, judges)
    people = np.delete(table, list(judges).index(machine), axis=1)
    told = table[:, list(judges).index(machine)]
    known = (~np.isnan(people)).sum(axis=1)
    relevant = (people > 0).sum(axis=1)
    shared = ~np.isnan(told) & (known > 0)
    split = shared & (2 * relevant == known)
    used = shared & ~split
    if not used.any():
        raise InvalidInput(
            f"The machine {machine!r} and the people judged nothing in common on which people "
            "agree; let people label a sample of the same pairs."
        )
    counts = against_people(told[used] > 0, 2 * relevant[used] > known[used])

    def interval(ends: Ends | None) -> Interval | None:
        return ends and Interval(*ends, confidence, "wilson")

    return MachineCheck(
        machine,
        counts.both,
        counts.missed,
        counts.invented,
        counts.neither,
        counts.sensitivity(),
        interval(counts.sensitivity_interval(confidence)),
        counts.specificity(),
        interval(counts.specificity_interval(confidence)),
        int(split.sum()),
    )


def check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse a word that is not among those allowed."""
    if value not in allowed:
        raise InvalidInput(
            f"{name} is {value!r}; it can be {', '.join(allowed)}."
            f"{did_you_mean(str(value), allowed)}"
        )


def _rungs(table: Floats) -> Floats:
    """Rows for two judges that only hold the grades anybody used.

    A step between two grades then means the same for every two judges.
    """
    grades = np.unique(table[~np.isnan(table)])
    return np.column_stack([grades, np.full_like(grades, np.nan)])


def _counts(table: Floats) -> tuple[Floats, Ints]:
    """The grades in use, and how often each row has each."""
    grades = np.unique(table[~np.isnan(table)])
    rows, columns = np.nonzero(~np.isnan(table))
    counts = np.zeros((len(table), len(grades)), dtype=np.int64)
    np.add.at(counts, (rows, np.searchsorted(grades, table[rows, columns])), 1)
    return grades, counts


def _distance(grades: Floats, used: Floats, scale: Scale) -> Floats:
    """The square of how far two grades lie apart."""
    if scale == "nominal":
        return 1 - np.eye(len(grades))
    # On an ordinal scale, as many labels lie between two grades as were given in between.
    place = grades if scale == "interval" else np.cumsum(used) - used / 2
    squared: Floats = np.subtract.outer(place, place) ** 2
    return squared
