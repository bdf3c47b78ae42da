"""Operations and their settings: names, types and defaults."""

import os
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.input_types import GroundTruthInput
from calipers.live.keywords import ColumnNames
from calipers.operation import Setting, Settings, operation

if TYPE_CHECKING:
    from calipers.questions.seal.rule import Sealed


@dataclass(frozen=True, kw_only=True)
class SealSettings(Settings):
    """What `seal` takes."""

    share: Annotated[
        float, Setting("The share of the queries to seal.", metavar="SHARE")
    ] = 0.4
    cluster: Annotated[
        str | None,
        Setting(
            "Keep queries with the same value of this tag together, and count them as one unit. "
            "[default: queries with the same text stay together]",
            metavar="TAG",
            file="cluster",
        ),
    ] = None
    looks: Annotated[
        int, Setting("How often the sealed queries may be asked.", metavar="N")
    ] = 5
    output: Annotated[
        str | os.PathLike[str] | None,
        Setting(
            "Where to write, without an ending: NAME.open.jsonl and NAME.sealed.jsonl. "
            "NAME.ledger.jsonl stays beside the ground truth. [default: beside the ground truth]",
            "-o",
            "NAME",
        ),
    ] = None
    columns: ColumnNames = None


@operation(page="seal", command="seal")
def seal(
    ground_truth: Annotated[
        GroundTruthInput, Setting("", argument="GROUND_TRUTH", unchecked=True)
    ],
    *,
    settings: SealSettings,
) -> "Sealed":
    """Set queries aside: an open part to tune on, and a sealed part to confirm by.

    ``ground_truth`` is anything that ``evaluate`` takes as one. Queries of one ``cluster`` are
    never on both sides. The ledger holds the budget: ``looks`` that share an error of 5%.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = seal({f"q{i}": ["a"] for i in range(50)}, output=f"{folder}/gt")
    >>> found.sealed.queries, found.open.queries, found.looks
    (20, 30, 5)
    """
    from calipers.questions.seal.rule import seal_queries

    return seal_queries(
        ground_truth,
        share=settings.share,
        cluster=settings.cluster,
        looks=settings.looks,
        output=settings.output,
        columns=settings.columns,
    )
