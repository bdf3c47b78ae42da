"""Scores whose queries stay in Spark."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from calipers.engines.spark.errors import spoken
from calipers.engines.spark.slices import gather_slices
from calipers.engines.summary_only import ScoresElsewhere
from calipers.errors import InvalidInput
from calipers.io.tables.scores import KEY
from calipers.model.scores import Scores


@dataclass(frozen=True, eq=False, repr=False)
class SparkScores(ScoresElsewhere):
    """Scores whose queries stay in Spark: what is here are summaries and counts."""

    place: ClassVar[str] = "Spark"
    frame: Any = None
    """One row per query."""
    persisted: Any = None
    """What Spark keeps, so that a second question does not measure again."""

    def unpersist(self) -> None:
        """Let go of what Spark keeps; ``per_query`` is measured again when it is used."""
        self.persisted.unpersist()

    @property
    def per_query(self) -> Any:
        """A Spark DataFrame with one row per query, which says what it holds when it is written.

        Folders that it is written to as Parquet can be compared and sliced like other scores.
        """
        about = msgspec.json.encode(self.to_dict(per_query=False)).decode()
        return self.frame.withMetadata("query", {KEY: about})

    def of(self, name: str) -> Any:
        """The values of single queries are in ``per_query`` alone."""
        raise InvalidInput(
            f"The values of {name} stay in Spark, one row per query; take them from per_query, or "
            "write that to Parquet and read the file with Calipers."
        )

    def to_slice(self, by: Sequence[str], metrics: Sequence[str]) -> Scores:
        """The values by slice, each counted in Spark: all that means, intervals and tests need."""
        with spoken():
            return gather_slices(self, by, metrics)

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """The whole result as plain values, without the scores of single queries."""
        if per_query:
            self.of("single queries")
        return super().to_dict(per_query=False)
