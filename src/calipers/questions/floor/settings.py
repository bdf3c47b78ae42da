"""What may be asked here, declared once: names, types and defaults."""

from typing import TYPE_CHECKING, Annotated, Unpack

from calipers.operation import Setting, apart_from, operation
from calipers.questions.reading import Cluster, Data, Reading

if TYPE_CHECKING:
    from calipers.questions.floor.result import Floor


class FloorSettings(Reading, total=False):
    """What `floor` takes."""

    k: Annotated[int, Setting("How many results count.", "-k", default=10, file="k")]
    keep: Annotated[
        float | None,
        Setting(
            "Keep this share of what is found without a floor. [default: 0.95]", metavar="SHARE"
        ),
    ]
    recall: Annotated[float | None, Setting("Keep this recall instead of a share.", metavar="R")]
    confidence: Annotated[
        float,
        Setting(
            "How sure it must be that so much is kept on other queries of the same kind.",
            default=0.95,
        ),
    ]
    folds: Annotated[
        int,
        Setting(
            "How many parts the queries are split into, to try the floor on unseen ones.", default=5
        ),
    ]
    seed: Annotated[int, Setting("The seed that draws the folds.", default=0, least=0)]
    cluster: Cluster


@operation(page="which-k", command="sweep")
def floor(data: Data = None, **settings: Unpack[FloorSettings]) -> "Floor":
    """The score below which results are better not returned, and what each floor would cost.

    ``data`` is a pair, or anything that ``read`` takes; every result needs a score. The floor is
    the highest that keeps what is asked for with the ``confidence``; how it does on queries that
    had no part in choosing it is measured over ``folds``.

    >>> records = [
    ...     {"query": f"q{i}", "retrieved": [{"id": "a", "score": 0.8 if i % 4 else 0.3}],
    ...      "ground_truth": ["a"] if i % 4 else []}
    ...     for i in range(120)
    ... ]
    >>> found = floor(records)
    >>> found.chosen.floor, found.chosen.wrongly_answered, found.without.wrongly_answered
    (0.8, 0.0, 1.0)
    """
    from calipers.measures.spec import check_cutoff
    from calipers.questions.floor.rule import check_goal, find_floor
    from calipers.questions.inputs import matched

    wanted = apart_from(Reading, settings)
    check_goal(*(wanted[name] for name in ("keep", "recall", "confidence", "folds")))
    check_cutoff(settings["k"])
    return find_floor(matched(data, settings, again=True), **wanted)
