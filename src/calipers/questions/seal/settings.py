"""Operations and their settings: names, types and defaults."""

import os
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from calipers.live.keywords import ColumnNames
from calipers.operation import Setting, operation

if TYPE_CHECKING:
    from calipers.questions.seal.rule import Sealed


class SealSettings(TypedDict, total=False):
    """What `seal` takes."""

    share: Annotated[
        float, Setting("The share of the queries to seal.", default=0.4, metavar="SHARE")
    ]
    cluster: Annotated[
        str | None,
        Setting(
            "Keep queries with the same value of this tag together, and count them as one unit. "
            "[default: queries with the same text stay together]",
            metavar="TAG",
            file="cluster",
        ),
    ]
    looks: Annotated[
        int, Setting("How often the sealed queries may be asked.", default=5, metavar="N")
    ]
    output: Annotated[
        str | os.PathLike[str] | None,
        Setting(
            "Where to write, without an ending: NAME.open.jsonl, NAME.sealed.jsonl and "
            "NAME.ledger.jsonl. [default: beside the ground truth]",
            "-o",
            "NAME",
        ),
    ]
    columns: ColumnNames


@operation(page="seal", command="seal")
def seal(
    ground_truth: Annotated[Any, Setting("", argument="GROUND_TRUTH")],
    **settings: Unpack[SealSettings],
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

    return seal_queries(ground_truth, **settings)
