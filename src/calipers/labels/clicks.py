"""Labels from clicks: clicks over expected clicks, which corrects for the place of a result.

People click what stands first. A result is therefore compared with what its places usually get:
the share of searches with a click at each rank, over all questions, says how many clicks a result
could expect. Twice as many, as many and fewer are the grades 3, 2 and 1, with one click added to
both, so that a single one says little. A result without a click is grade 0 only where at least one
was to be expected; otherwise nobody has judged it.
"""

from collections import Counter
from collections.abc import Callable, Mapping

from calipers.io.formats.ubi import Behaviour

JUDGE = "machine:clicks"
"""Who gave these labels: no person looked at a text."""
NOTE = (
    "Clicks are biased: people click what stands high, and never what was not shown. About thirty "
    "labels by people correct them: `calipers labels sample`."
)


def grades_by_clicks(
    found: Behaviour, key: Callable[[str], str]
) -> Mapping[str, Mapping[str, float]]:
    """The grade of each result by question; ``key`` says which questions are the same."""
    shown: Counter[int] = Counter()
    clicks: Counter[int] = Counter()
    for search in found.searches:
        clicked = found.clicked.get(search.id, frozenset())
        for rank, item in enumerate(search.hits):
            shown[rank] += 1
            clicks[rank] += item in clicked
    expected: dict[str, Counter[str]] = {}
    counted: dict[str, Counter[str]] = {}
    for search in found.searches:
        question, clicked = key(search.question), found.clicked.get(search.id, frozenset())
        hoped, got = (each.setdefault(question, Counter()) for each in (expected, counted))
        for rank, item in enumerate(search.hits):
            hoped[item] += clicks[rank] / shown[rank]  # type: ignore[assignment]
            got[item] += item in clicked
    return {
        question: {
            item: _grade(counted[question][item], much)
            for item, much in hoped.items()
            if counted[question][item] or much >= 1.0
        }
        for question, hoped in expected.items()
    }


def _grade(clicks: int, expected: float) -> float:
    """The grade of so many clicks where so many were to be expected.

    >>> [_grade(clicks, 2.0) for clicks in (0, 1, 2, 5)]
    [0.0, 1.0, 2.0, 3.0]
    """
    if not clicks:
        return 0.0
    ratio = (clicks + 1) / (expected + 1)
    return 3.0 if ratio >= 2 else 2.0 if ratio >= 1 else 1.0
