"""What there is to count in a run while it passes by once."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.model.arrays import Ints
from calipers.model.fingerprint import RankingFingerprint
from calipers.model.ground_truth import GroundTruth
from calipers.model.matches import ANSWERED, EMPTY, FAILED, MISSING
from calipers.model.policy import Duplicates
from calipers.model.ranking import RankedBatch
from calipers.model.run import Run
from calipers.model.tally import EXAMPLES, Tally


@dataclass(eq=False)
class RunTally:
    """Counts batches of a run; ``finish`` gives the tally."""

    ground_truth: GroundTruth
    on_duplicates: Duplicates
    _retrieved: list[tuple[Ints, Ints]] = field(default_factory=list)
    _fingerprint: RankingFingerprint = field(default_factory=RankingFingerprint)
    _unknown: int = 0
    _unknown_examples: list[str] = field(default_factory=list)
    _duplicates: int = 0
    _ties: int = 0
    _sample_queries: list[str] = field(default_factory=list)
    _sample_items: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._codes = self.ground_truth.queries.select("query").with_row_index("code")

    def add(self, batch: RankedBatch) -> Ints:
        """Count one batch; returns the code of each of its queries, -1 where unknown."""
        names = batch.queries
        codes = self._code(names)
        self._fingerprint.add(names, _identity(batch.frame), batch.starts)
        known = codes >= 0
        self._retrieved.append((codes[known], batch.lengths[known]))
        self._note_unknown(names, known)
        if len(self._sample_items) < EXAMPLES:
            self._sample_queries += names.head(EXAMPLES).to_list()
            self._sample_items += _identity(batch.frame).drop_nulls().head(EXAMPLES).to_list()
        row_known = np.repeat(known, batch.lengths)
        self._ties += int(batch.tied[row_known].sum())
        self._count_duplicates(batch, row_known)
        return codes

    def finish(self, run: Run, tied_targets: Ints) -> Tally:
        """The tally, once every batch was added."""
        n = self._codes.height
        retrieved = np.zeros(n, dtype=np.int64)
        status = np.full(n, MISSING, dtype=object)
        for codes, lengths in self._retrieved:
            retrieved[codes] = lengths
        if run.queries is not None:
            codes = self._code(run.queries["query"])
            known = codes >= 0
            status[codes[known]] = EMPTY
            self._note_silent_unknown(run.queries["query"], known)
        status[retrieved > 0] = ANSWERED
        if run.queries is not None and "error" in run.queries.columns:
            failed = self._code(run.queries.filter(pl.col("error").is_not_null())["query"])
            status[failed[failed >= 0]] = FAILED
            retrieved[failed[failed >= 0]] = 0
        return Tally(
            retrieved, pl.Series("status", status.tolist(), dtype=pl.String),
            self._unknown, tuple(self._unknown_examples[:EXAMPLES]),
            self._duplicates, self._ties, self._fingerprint.hexdigest(),
            tuple(self._sample_queries[:EXAMPLES]), tuple(self._sample_items[:EXAMPLES]),
            tied_targets,
        )  # fmt: skip

    def _code(self, names: pl.Series) -> Ints:
        joined = (
            names.rename("query")
            .to_frame()
            .join(self._codes, on="query", how="left", maintain_order="left")
        )
        return joined["code"].cast(pl.Int64).fill_null(-1).to_numpy()

    def _note_unknown(self, names: pl.Series, known: np.ndarray) -> None:
        self._unknown += int((~known).sum())
        if len(self._unknown_examples) < EXAMPLES:
            self._unknown_examples += names.filter(pl.Series(~known)).head(EXAMPLES).to_list()

    def _note_silent_unknown(self, names: pl.Series, known: np.ndarray) -> None:
        """Unknown queries that came back empty never passed by in a batch."""
        silent = names.filter(pl.Series(~known))
        extra = max(0, len(silent) - self._unknown)
        if extra:
            self._unknown += extra
            self._unknown_examples += silent.head(EXAMPLES).to_list()

    def _count_duplicates(self, batch: RankedBatch, row_known: np.ndarray) -> None:
        item = _identity(batch.frame)
        segment = np.repeat(np.arange(batch.starts.size), batch.lengths)
        # Hashes decide fast; only where two are equal are the ids themselves compared.
        mixed = item.hash().to_numpy() ^ (segment.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        if pl.Series(mixed).n_unique() == batch.frame.height:
            return
        pairs = pl.DataFrame({"segment": segment, "item": item}).filter(pl.Series(row_known))
        first = pairs.select(pl.struct("segment", "item").is_first_distinct()).to_series()
        again = ~first & pairs["item"].is_not_null()
        if again.any() and self.on_duplicates == "error":
            row = pairs.row(int(again.arg_true()[0]))
            raise InvalidInput(
                f"The item {row[1]!r} is returned twice for query {batch.queries[row[0]]!r}; with "
                "duplicates=error an item may be returned once (duplicates=first counts the first)."
            )
        self._duplicates += int(again.sum())


def _identity(frame: pl.DataFrame) -> pl.Series:
    """What makes two results the same: the id, or the text where there are no ids."""
    return frame["item"] if "item" in frame.columns else frame["text"]
