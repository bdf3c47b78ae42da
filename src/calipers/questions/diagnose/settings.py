"""Operations and their settings: names, types and defaults."""

from typing import TYPE_CHECKING, Annotated, Unpack

from calipers.operation import Setting, apart_from, operation
from calipers.questions.reading import Cluster, Confidence, Data, Reading

if TYPE_CHECKING:
    from calipers.questions.diagnose.result import Diagnosis


def _cutoff(text: str) -> int:
    from calipers.measures.spec import check_cutoff

    return check_cutoff(text)


class DiagnoseSettings(Reading, total=False):
    """What `diagnose` takes."""

    k: Annotated[
        int | None,
        Setting(
            "How many of the first results to look at. [default: 10, or the longest list]",
            "-k",
            "K",
            read=_cutoff,
            file="k",
        ),
    ]
    confidence: Confidence
    cluster: Cluster


@operation(page="diagnose", command="diagnose")
def diagnose(data: Data = None, **settings: Unpack[DiagnoseSettings]) -> "Diagnosis":
    """Look for the known failure modes in the first k results (default: 10, or fewer if shorter).

    ``data`` is a pair, or anything that ``read`` takes. Each finding has its evidence, a
    confidence and what to do.

    >>> records = [
    ...     {"query": f"q{i}", "retrieved": ["a"], "ground_truth": ["a", "b", "c"]}
    ...     for i in range(30)
    ... ]
    >>> [finding.title for finding in diagnose(records).findings]
    ['k too small for this ground truth']
    """
    from calipers.questions.diagnose.rule import diagnose_pair
    from calipers.questions.inputs import below, matched

    pair = matched(data, settings, again=True, looks=below(settings["k"]))
    return diagnose_pair(pair, **apart_from(Reading, settings))
