"""Operations and their settings: names, types and defaults."""

import os
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.input_types import RunInput
from calipers.operation import Setting, Settings, operation
from calipers.questions.reading import MatchingSettings

if TYPE_CHECKING:
    from calipers.questions.confirm.rule import Confirmation

Place = str | os.PathLike[str]


@dataclass(frozen=True, kw_only=True)
class ConfirmSettings(Settings):
    """What `confirm` takes."""

    matching: MatchingSettings = MatchingSettings()

    sealed: Annotated[
        Place | None,
        Setting(
            "The sealed part that `calipers seal` wrote.",
            metavar="FILE",
            file="sealed",
            path=True,
        ),
    ] = None
    metric: Annotated[str, Setting("The one metric to ask about.", "-m", "METRIC")] = (
        "recall@10"
    )
    ledger: Annotated[
        Place | None,
        Setting("Its ledger. [default: the one beside the sealed part]", metavar="FILE"),
    ] = None


@operation(page="seal", command="confirm")
def confirm(
    old: Annotated[RunInput, Setting("", argument="OLD", unchecked=True)],
    new: Annotated[RunInput, Setting("", argument="NEW", unchecked=True)],
    *,
    settings: ConfirmSettings,
) -> "Confirmation":
    """Ask the sealed queries one thing: is ``new`` better than ``old``?

    The order is that of ``compare``. Both are runs with results for every sealed query;
    those of other queries are passed over. Each answer spends one look of the budget in
    the ledger, and is recorded there before it is given; the same runs and metric asked
    again get the same answer and spend nothing.

    >>> import calipers, tempfile
    >>> truth = {f"q{i}": ["a"] for i in range(60)}
    >>> old = {q: ["b", "a"] if i % 2 else ["a"] for i, q in enumerate(truth)}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = calipers.seal(truth, output=f"{folder}/gt").files
    ...     found = confirm(old, truth, sealed=files["sealed"], metric="recall@1")
    >>> found.confirmed, found.left
    (True, 4)
    """
    from calipers.questions.confirm.rule import take_a_look

    return take_a_look(
        old, new, settings.sealed, settings.metric, settings.ledger, settings.matching
    )
