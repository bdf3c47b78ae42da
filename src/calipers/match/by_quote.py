"""Matching by quote: a chunk holds a target if it contains the target's text."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from calipers.errors import InvalidInput
from calipers.match.assemble import assemble
from calipers.match.cover import Sighting, holding_ranks
from calipers.match.no_common_ids import check_common_texts
from calipers.match.quote import Quote
from calipers.match.shelf import Shelf
from calipers.match.similar import fuzzy_library
from calipers.match.tally import RunTally
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Tally
from calipers.model.matches import Matches
from calipers.model.policy import Policy
from calipers.model.ranking import NotGroupedError, RankedBatch
from calipers.model.run import Run
from calipers.text import normalise


@dataclass(frozen=True)
class QuoteRule:
    """When a quote counts as found."""

    least: float = 1.0
    """The share of the quote that is enough; below 1 the comparison is tolerant."""
    ignore_case: bool = False
    together: bool = True
    """Whether several chunks may complete a quote that no single one holds."""


def match_by_quote(
    ground_truth: GroundTruth, run: Run, policy: Policy, rule: QuoteRule
) -> tuple[Matches, Tally]:
    """The matches of a run whose results carry texts, in one pass over the run.

    A text that came back before for the same query occupies its rank and earns nothing.
    """
    try:
        return _match(ground_truth, run, policy, rule)
    except NotGroupedError:
        return _match(ground_truth, run.grouped(), policy, rule)


def _match(
    ground_truth: GroundTruth, run: Run, policy: Policy, rule: QuoteRule
) -> tuple[Matches, Tally]:
    if rule.least < 1:
        fuzzy_library()
    quotes = _quotes(ground_truth, rule.ignore_case)
    counting = RunTally(ground_truth, run, policy.duplicates)
    ranks: list[int] = []
    targets: list[int] = []
    shares: list[float] = []
    tied: set[int] = set()
    for batch in run.ranked(policy.ties):
        _check_texts(batch)
        codes = counting.add(batch)
        for code, begin, results in _texts(batch, codes, rule.ignore_case):
            shelf = Shelf([text for _, _, text in results]) if rule.least < 1 else None
            for target, quote in quotes.get(code, ()):
                if shelf is None:
                    sightings = _exact_sightings(quote, results, rule.together)
                else:
                    sightings = _tolerant_sightings(quote, results, shelf)
                held = holding_ranks(sightings, quote.length, rule.least, together=rule.together)
                ranks += [rank for rank, _ in held]
                shares += [share for _, share in held]
                targets += [target] * len(held)
                if held and batch.tied[begin + held[0][0] - 1]:
                    tied.add(target)
    tally = counting.finish(tied_targets=np.array(sorted(tied), dtype=np.int64))
    check_common_texts(ground_truth, run, policy, tally, n_edges=len(ranks))
    matches = assemble(
        ground_truth, tally,
        rank=np.array(ranks, dtype=np.int64), target=np.array(targets, dtype=np.int64),
        overlap=np.array(shares, dtype=np.float64),
    )  # fmt: skip
    return matches, tally


REMEMBERED = 50_000
"""How many normalised texts are kept at hand, so that memory stays bounded."""

Result = tuple[int, str | None, str]
"""Rank, document where known, normalised text."""


def _tolerant_sightings(quote: Quote, results: list[Result], shelf: Shelf) -> list[Sighting]:
    found = quote.on_shelf(shelf)
    return [Sighting(*results[number][:2], pieces) for number, pieces in found if pieces]


def _exact_sightings(quote: Quote, results: list[Result], together: bool) -> list[Sighting]:
    sightings = []
    whole_yet = not together
    for rank, source, text in results:
        if quote.text in text:
            sightings.append(Sighting(rank, source, quote.whole))
            whole_yet = True
        # Pieces matter only above the first rank that has it all.
        elif not whole_yet and (pieces := quote.edge_pieces(text)):
            sightings.append(Sighting(rank, source, pieces))
    return sightings


def _texts(
    batch: RankedBatch, codes: np.ndarray, ignore_case: bool
) -> Iterator[tuple[int, int, list[Result]]]:
    """For each known query its code, its first row and its results, copies left out."""
    columns = batch.frame.select(name for name in ("text", "document") if name in batch.frame)
    # The same chunk comes back for many queries: each text is normalised once.
    normalised: dict[str, str] = {}
    for code, begin, length in zip(
        codes.tolist(), batch.starts.tolist(), batch.lengths.tolist(), strict=True
    ):
        if code < 0:
            continue
        if len(normalised) > REMEMBERED:
            normalised.clear()
        results: list[Result] = []
        seen: set[str] = set()
        for rank, (raw, *document) in enumerate(columns[begin : begin + length].rows(), 1):
            text = normalised.get(raw)
            if text is None:
                text = normalise(raw, ignore_case=ignore_case)
                # Most are as they should be: then one of the two is enough.
                text = normalised[raw] = raw if text == raw else text
            if text not in seen:
                seen.add(text)
                results.append((rank, document[0] if document else None, text))
        yield code, begin, results


def _quotes(ground_truth: GroundTruth, ignore_case: bool) -> dict[int, list[tuple[int, Quote]]]:
    """Per query the rows of its targets, each with its quote."""
    found: dict[int, list[tuple[int, Quote]]] = {}
    made: dict[str, Quote] = {}
    pairs = zip(
        ground_truth.target_query.tolist(), ground_truth.targets["quote"].to_list(), strict=True
    )
    for row, (code, raw) in enumerate(pairs):
        text = normalise(raw, ignore_case=ignore_case)
        quote = made.setdefault(text, Quote(text))
        found.setdefault(code, []).append((row, quote))
    return found


def _check_texts(batch: RankedBatch) -> None:
    missing = batch.frame["text"].is_null() if "text" in batch.frame.columns else None
    if missing is None or missing.any():
        row = int(missing.arg_true()[0]) if missing is not None else 0
        raise InvalidInput(
            f"A result has no text, and the ground truth is matched by quote: query "
            f"{batch.frame['query'][row]!r}, rank {batch.rank[row]}; give every result its 'text', "
            "or match in another way with --match id or --match span."
        )
