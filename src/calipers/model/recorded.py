"""What a result records of the settings that made it, typed.

The record itself is a mapping, because it is written to JSON and fingerprinted as it
stands.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from calipers.frozen import dataclass


@dataclass(frozen=True)
class Recorded:
    """The settings that a pair, scores or another result were made with.

    >>> Recorded({"match": "id", "confidence": 0.95}).cluster is None
    True
    """

    record: Mapping[str, Any]

    @property
    def match(self) -> str:
        """How targets were recognised, such as "id" or "quote(min=0.8)"."""
        return str(self.record.get("match", "id"))

    @property
    def by_name(self) -> bool:
        """Whether targets are ids, of items or of documents."""
        return self.match in ("id", "document")

    @property
    def level(self) -> str | None:
        """What was looked for: evidence, chunk, page or document."""
        level: str | None = self.record.get("matched_at")
        return level

    @property
    def rel(self) -> float | None:
        """The grade from which a target is relevant; None: above 0."""
        rel: float | None = self.record.get("rel")
        return rel

    @property
    def corpus_size(self) -> int | None:
        """Items in the corpus, if that was said."""
        size: int | None = self.record.get("corpus_size")
        return size

    @property
    def confidence(self) -> float:
        """The confidence level of the intervals."""
        return float(self.record.get("confidence", 0.95))

    @property
    def cluster(self) -> str | None:
        """The tag whose values count as one observation each."""
        cluster: str | None = self.record.get("cluster")
        return cluster

    @property
    def weight_by(self) -> str | None:
        """The tag that says how often a query counts."""
        tag: str | None = self.record.get("weight_by")
        return tag

    @property
    def only_returned(self) -> bool:
        """Whether only what was returned was judged, so that nobody knows what was missed."""
        return bool(self.record.get("only_returned", False))

    @property
    def notes(self) -> Sequence[str]:
        """What a reader must know of the input."""
        return self.record.get("notes") or ()

    @property
    def tests(self) -> int:
        """How many tests were adjusted together."""
        return int(self.record.get("tests", 1))

    @property
    def checked(self) -> int | None:
        """How many made questions people checked, of a correction by them."""
        checked: int | None = self.record.get("checked")
        return checked

    @property
    def version(self) -> str:
        """The version of Calipers that made the result."""
        return str(self.record["calipers"])
