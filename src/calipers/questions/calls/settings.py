"""What may be asked here, declared once: names, types and defaults."""

from typing import TYPE_CHECKING, Annotated, Unpack

from calipers.operation import Setting, operation
from calipers.questions.reading import Data, Reading

if TYPE_CHECKING:
    from calipers.questions.calls.rule import CallTable


class CallsSettings(Reading, total=False):
    """What `calls` takes."""

    k: Annotated[int | None, Setting("How many results of each call count. [default: all]", "-k")]


@operation(page="evaluate", command="eval")
def calls(data: Data = None, **settings: Unpack[CallsSettings]) -> "CallTable":
    """What each further call of a retriever adds: recall after it, and its tokens.

    ``data`` is a pair, or anything that ``read`` takes, whose results say in ``call`` which call
    returned them. ``k`` results of each call count (default: all).

    >>> record = {"query": "q", "ground_truth": ["a", "b"], "retrieved": [
    ...     {"id": "a", "call": 1}, {"id": "x", "call": 1}, {"id": "b", "call": 2}]}
    >>> [(one.recall, one.added) for one in calls([record]).calls]
    [(0.5, 0.5), (1.0, 0.5)]
    """
    from calipers.measures.spec import check_cutoff
    from calipers.questions.calls.rule import follow_calls
    from calipers.questions.inputs import matched

    return follow_calls(
        matched(data, settings, again=True),
        None if settings["k"] is None else check_cutoff(settings["k"]),
    )
