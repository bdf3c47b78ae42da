"""Operations and their settings: names, types and defaults."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from calipers.operation import Setting, Settings, operation
from calipers.questions.reading import Cluster, Confidence, Data, Reading

if TYPE_CHECKING:
    from calipers.questions.diagnose.result import Diagnosis


def _cutoff(text: str) -> int:
    from calipers.measures.spec import check_cutoff

    return check_cutoff(text)


@dataclass(frozen=True, kw_only=True)
class DiagnoseSettings(Settings):
    """What `diagnose` takes."""

    reading: Reading = Reading()

    k: Annotated[
        int | None,
        Setting(
            "How many of the first results to look at. [default: 10, or the longest list]",
            "-k",
            "K",
            read=_cutoff,
            file="k",
        ),
    ] = None
    confidence: Confidence = 0.95
    cluster: Cluster = None


@operation(page="diagnose", command="diagnose")
def diagnose(data: Data = None, *, settings: DiagnoseSettings) -> "Diagnosis":
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

    pair = matched(data, settings.reading, again=True, looks=below(settings.k))
    return diagnose_pair(
        pair, k=settings.k, confidence=settings.confidence, cluster=settings.cluster
    )
