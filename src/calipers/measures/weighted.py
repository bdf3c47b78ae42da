"""One number out of several metrics, by how much each matters."""

from typing import Self

from calipers.measures.define import metric
from calipers.model.arrays import Floats
from calipers.model.matched import Matches


class Parts:
    """No view of its own: each part has the view of its metric."""

    @classmethod
    def of(cls, _: Matches) -> Self:
        """Nothing: the values of the parts are computed as for any metric."""
        return cls()


@metric(better="higher", takes_parts=True)
def score(parts: Parts, k: int | None = None) -> Floats:
    """The weighted mean of several metrics, such as recall@10=0.7,mrr=0.3, per query.

    Weights are above 0 and are divided by their sum. Undefined where a part is. A part without a
    cut-off takes that of the score, as in score@10(recall=0.7,mrr=0.3). Every part lies between 0
    and 1, and more of it is better.
    """
    raise NotImplementedError("computed from its parts")
