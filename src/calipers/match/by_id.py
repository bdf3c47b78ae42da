"""Matching by id: at most one edge per returned item, and the fast path."""

import re

import numpy as np
import polars as pl

from calipers.ahead import ahead
from calipers.errors import InvalidInput, NoCommonIds
from calipers.match.assemble import assemble
from calipers.match.tally import RunTally
from calipers.model.arrays import Bools, Hashes, Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.hashes import mixed_hashes
from calipers.model.matched import EXAMPLES, Tally
from calipers.model.matches import Matches
from calipers.model.policy import Policy
from calipers.model.ranking import NotGroupedError, RankedBatch
from calipers.model.run import Run

_ROWS_PER_JOIN = 1 << 20
_TARGETS_PER_ROW = 8
"""So many targets may stand against a row in a join of its own."""


def match_by_id(
    ground_truth: GroundTruth,
    run: Run,
    policy: Policy,
    corpus_size: int | None = None,
    *,
    fingerprint: bool = True,
) -> tuple[Matches, Tally]:
    """The matches of a run, with the counts taken on the way, in one pass over the run."""
    try:
        return _match(ground_truth, run, policy, corpus_size, fingerprint)
    except NotGroupedError:
        return _match(ground_truth, run.grouped(), policy, corpus_size, fingerprint)


def _match(
    ground_truth: GroundTruth,
    run: Run,
    policy: Policy,
    corpus_size: int | None,
    fingerprint: bool,
) -> tuple[Matches, Tally]:
    targets = _targets(ground_truth)
    sieve = Sieve(targets["query"], targets["item"])
    edges_of = _Join(targets.drop("query"))
    counting = RunTally(ground_truth, run, policy.duplicates, fingerprint)

    def looked_over(batch: RankedBatch) -> tuple[RankedBatch, Ints]:
        # What takes longest, off the thread that counts.
        _ = batch.suspects, fingerprint and not run.in_memory and batch.fingerprint
        return batch, sieve.passing(batch.hashes)

    batches = run.ranked(policy.ties)
    for batch, rows in map(looked_over, batches) if run.in_memory else ahead(looked_over, batches):
        _check_ids(batch.frame)
        code = np.repeat(counting.add(batch), batch.lengths)
        # Adding nothing copies the ids: a mere selection keeps all texts of the batch in memory.
        item = batch.frame["item"].gather(rows) + ""
        columns = {"code": code[rows], "rank": batch.rank[rows], "tied": batch.tied[rows]}
        edges_of.add(pl.DataFrame({**columns, "item": item}))
    target, rank, tied = _sorted(edges_of.finish())
    # The copies of a target further down earn nothing.
    first = np.diff(target, prepend=-1) != 0
    tally = counting.finish(
        tied_targets=target[first & tied], copies=(target[~first], rank[~first])
    )
    target, rank = target[first], rank[first]
    check_common_ids(ground_truth, run, tally, n_edges=target.size)
    return assemble(ground_truth, tally, rank=rank, target=target, corpus_size=corpus_size), tally


def _targets(ground_truth: GroundTruth) -> pl.DataFrame:
    """The targets that have an id, with their rows, sorted by the codes of their queries."""
    code = ground_truth.target_query
    query, item = ground_truth.targets["query"], ground_truth.targets["item"]
    targets = pl.DataFrame(
        {"query": query, "item": item, "code": code, "target": np.arange(code.size)}
    )
    if item.null_count():
        targets = targets.drop_nulls("item")
    return targets if (code[1:] >= code[:-1]).all() else targets.sort("code", maintain_order=True)


class _Join:
    """Finds the targets of rows that come in pieces."""

    def __init__(self, targets: pl.DataFrame) -> None:
        self._targets = targets
        self._codes = _ints(targets["code"])
        self._found: list[pl.DataFrame] = []
        self._waiting: list[pl.DataFrame] = []

    def add(self, rows: pl.DataFrame) -> None:
        if not rows.height:
            return
        codes = rows["code"].to_numpy()
        first = np.searchsorted(self._codes, codes.min())
        behind = np.searchsorted(self._codes, codes.max(), side="right")
        if behind - first <= _TARGETS_PER_ROW * rows.height:
            # Queries come in the order of the ground truth: few targets can be meant.
            self._found.append(_joined(rows, self._targets[first:behind]))
            return
        # Else a join costs nearly as much for few rows as for many, so rows are collected.
        self._waiting.append(rows)
        if sum(frame.height for frame in self._waiting) > _ROWS_PER_JOIN:
            self._join_waiting()

    def finish(self) -> list[pl.DataFrame]:
        self._join_waiting()
        return self._found

    def _join_waiting(self) -> None:
        if self._waiting:
            self._found.append(_joined(pl.concat(self._waiting), self._targets))
            self._waiting = []


def _joined(rows: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    edges = rows.join(targets, on=["code", "item"], how="inner")
    return edges.select("target", "rank", "tied")


def _sorted(found: list[pl.DataFrame]) -> tuple[Ints, Ints, Bools]:
    """Target, rank and whether it was tied, by target and from the best rank down."""
    edges = pl.concat(found) if found else pl.DataFrame({"target": [], "rank": [], "tied": []})
    target, rank = _ints(edges["target"]), _ints(edges["rank"])
    # Nearly sorted, as queries come in the order of the ground truth, which this sort sees.
    order = np.argsort((target << 32) + rank, kind="stable")
    return target[order], rank[order], edges["tied"].to_numpy().astype(np.bool_)[order]


def _ints(column: pl.Series) -> Ints:
    return column.to_numpy().astype(np.int64)


def _check_ids(frame: pl.DataFrame) -> None:
    if "item" not in frame.columns or frame["item"].null_count():
        raise InvalidInput(
            "A result has no id, and the ground truth is given by ids; give every result an id "
            "under 'id' (or 'item' in a table)."
        )


_PLACES_PER_TARGET = 32
_FEWEST_BITS, _MOST_BITS = 12, 27


class Sieve:
    """Holds back rows of a run that belong to no target, by hashes, so that few are joined.

    What passes may still be wrong, and is compared in full afterwards; what is held back is
    certain.
    """

    def __init__(self, query: pl.Series, item: pl.Series) -> None:
        wanted = (len(item) * _PLACES_PER_TARGET).bit_length()
        bits = min(max(wanted, _FEWEST_BITS), _MOST_BITS)
        self._shift = np.uint64(64 - bits)
        self._marked = np.zeros(1 << bits, dtype=np.bool_)
        hashes = mixed_hashes(query.hash().to_numpy(), item.hash().to_numpy())
        self._marked[(hashes >> self._shift).view(np.int64)] = True

    def passing(self, hashes: Hashes) -> Ints:
        """The rows that may belong to a target."""
        return np.flatnonzero(self._marked[(hashes >> self._shift).view(np.int64)])


def check_common_ids(ground_truth: GroundTruth, run: Run, tally: Tally, n_edges: int) -> None:
    """Refuse to score 0 everywhere when no id of the run is one of the ground truth.

    Items that are targets of other queries are ids in common: then the ids are right, and the
    retriever found nothing.
    """
    if n_edges or not ground_truth.targets.height or not tally.sample_items:
        return
    if not tally.retrieved.any():
        theirs = ground_truth.queries["query"].head(EXAMPLES).to_list()
        texts = ground_truth.queries["text"].drop_nulls().head(EXAMPLES).to_list()
        raise NoCommonIds(
            _sentence("query id", list(tally.sample_queries), theirs, _likely_for_queries(
                list(tally.sample_queries), theirs, texts))
        )  # fmt: skip
    targets = ground_truth.targets["item"].drop_nulls()
    # Read once more, but only here, where nothing was found at all.
    if any(batch["item"].is_in(targets.implode()).any() for batch in run.scan()):
        return
    theirs = targets.head(EXAMPLES).to_list()
    ours = list(tally.sample_items)
    raise NoCommonIds(_sentence("item id", ours, theirs, likely_reason(ours, theirs)))


def _sentence(what: str, ours: list[str], theirs: list[str], reason: str) -> str:
    return (
        f"The run and the ground truth have no {what} in common: the run has "
        f"{_show(ours)}; the ground truth has {_show(theirs)}. {reason}"
    )


def _show(ids: list[str]) -> str:
    return ", ".join(repr(one if len(one) <= 60 else one[:57] + "…") for one in ids)


def _likely_for_queries(ours: list[str], theirs: list[str], texts: list[str]) -> str:
    if set(ours) & set(texts):
        return (
            "The run names queries by their text and the ground truth by an id; use the ids in "
            "both."
        )
    return likely_reason(ours, theirs)


def likely_reason(ours: list[str], theirs: list[str]) -> str:
    """What probably differs between two samples of ids, and what to do."""
    pairs = [(a, b) for a in ours for b in theirs]
    for differs, fold in _FOLDS:
        if any(fold(a) == fold(b) for a, b in pairs):
            return f"They differ in {differs}; write them the same way in both."
    numeric = [[_is_number(one) for one in side] for side in (ours, theirs)]
    if all(numeric[0]) != all(numeric[1]):
        side = "run" if all(numeric[0]) else "ground truth"
        return (
            f"The ids of the {side} are all numbers and those of the other side are not: one of "
            "them may be a row number or come from another corpus."
        )
    for chunk, document, side in [(a, b, "run") for a, b in pairs] + [
        (b, a, "ground truth") for a, b in pairs
    ]:
        if len(chunk) > len(document) >= 1 and re.match(
            re.escape(document) + r"[^A-Za-z0-9]", chunk
        ):
            return (
                f"The ids of the {side} look like chunk ids and the other side's like document "
                "ids; use the same level in both."
            )
    for longer, shorter in pairs + [(b, a) for a, b in pairs]:
        if longer != shorter and longer.endswith(shorter) and shorter:
            prefix = longer[: -len(shorter)]
            return f"One side has the prefix {prefix!r}; remove it or add it to the other."
    return "Check that both come from the same corpus and the same way of making ids."


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[+-]?\d+(\.\d+)?", text))


_FOLDS = (
    ("upper and lower case", str.casefold),
    ("white space", lambda text: re.sub(r"\s+", "", text)),
    ("a trailing '.0' (whole numbers that became decimals on the way)",
     lambda text: text.removesuffix(".0")),
    ("leading zeros", lambda text: text.lstrip("0")),
    ("type: quoted on one side", lambda text: text.strip("'\"")),
)  # fmt: skip
