"""Which ids of targets the corpus has."""

from collections import Counter
from dataclasses import dataclass, field

import polars as pl

from calipers.checks.chunks import Chunks


@dataclass(eq=False)
class ItemEvidence:
    """Counts the chunks that have the id of a target."""

    items: frozenset[str]
    seen: Counter[str] = field(default_factory=Counter)
    sample: list[str] = field(default_factory=list)
    """A few ids of the corpus, to show beside ids that are not in it."""

    def __post_init__(self) -> None:
        self._wanted = pl.DataFrame({"id": list(self.items)}, schema={"id": pl.String})

    def add(self, chunks: Chunks) -> set[int]:
        """Look at some chunks; the numbers of those that are targets."""
        if len(self.sample) < 3:
            self.sample += chunks.ids[: 3 - len(self.sample)]
        found = chunks.frame.select("id").with_row_index().join(self._wanted, on="id", how="semi")
        self.seen.update(found["id"].to_list())
        return set(found["index"].to_list())
