"""Matching by quote: a chunk holds a target if it contains the target's text."""

from array import array
from collections.abc import Iterator

import numpy as np

from calipers.errors import InvalidInput
from calipers.match.choose import other_ways
from calipers.match.cover import Assembly, Sighting, enough, holding_ranks
from calipers.match.locate import Shelf
from calipers.match.quote import Quote
from calipers.match.similar import fuzzy_library
from calipers.match.tally import RunTally, assemble
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matches, Tally
from calipers.model.matching import MatchRule
from calipers.model.policy import Policy
from calipers.model.ranking import RankedBatch
from calipers.model.run import Run
from calipers.text import normalise


def match_by_quote(
    ground_truth: GroundTruth,
    run: Run,
    policy: Policy,
    rule: MatchRule,
    *,
    together: bool,
) -> tuple[Matches, Tally]:
    """The matches of a run whose results carry texts, in one pass over the run.

    ``together``: several chunks may complete a quote that no single one holds. A repeated
    text of the same query occupies its rank and does not count.
    """
    if rule.least < 1:
        fuzzy_library()
    quotes_of = _quotes_by_query(ground_truth, rule.ignore_case)
    counting = RunTally(ground_truth, run, policy.duplicates)
    # Arrays and no lists: a Python object for each edge would be most of the memory.
    ranks = array("q")
    targets = array("q")
    tied = array("q")
    shares = array("d")
    for batch in run.ranked(policy.ties):
        _check_texts(batch, ground_truth)
        codes = counting.add(batch)
        for code, begin, results in _texts(batch, codes, rule.ignore_case):
            shelf = Shelf([text for _, _, text in results]) if rule.least < 1 else None
            quotes = quotes_of.get(code, [])
            if shelf is not None:
                shelf.look_for(seed for _, one in quotes for _, seed in one.seeds)
            for target, quote in quotes:
                if shelf is None:
                    held = _exact_ranks(quote, results, together)
                else:
                    needed = enough(quote.length, rule.least)
                    sightings = [
                        Sighting(*results[number][:2], pieces)
                        for number, pieces in quote.on_shelf(shelf, needed)
                    ]
                    held = holding_ranks(
                        sightings, quote.length, rule.least, together=together
                    )
                ranks.extend(rank for rank, _ in held)
                shares.extend(share for _, share in held)
                targets.extend([target] * len(held))
                if held and batch.tied[begin + held[0][0] - 1]:
                    tied.append(target)
    tally = counting.finish(tied_targets=np.sort(np.array(tied, dtype=np.int64)))
    matches = assemble(
        ground_truth,
        tally,
        rank=np.array(ranks, dtype=np.int64),
        target=np.array(targets, dtype=np.int64),
        overlap=np.array(shares, dtype=np.float64),
    )
    return matches, tally


Result = tuple[int, str | None, str]
"""Rank, document where known, normalised text."""


def _exact_ranks(
    quote: Quote, results: list[Result], together: bool
) -> list[tuple[int, float]]:
    """The ranks that hold the quote verbatim, and any earlier one that completes it from pieces."""
    held = [(rank, 1.0) for rank, _, text in results if quote.text in text]
    if together:
        # Pieces matter only above the first rank that has the whole quote.
        above = [result for result in results if not held or result[0] < held[0][0]]
        held = [(rank, 1.0) for rank in _completing(quote, above)] + held
    return held


def _completing(quote: Quote, results: list[Result]) -> Iterator[int]:
    """The rank at which pieces of one source are the whole quote, if there is one."""
    sources = {source for _, source, text in results if quote.may_be_cut(text)}
    assemblies: dict[str | None, Assembly] = {}
    for rank, source, text in results if sources else ():
        pieces = quote.edge_pieces(text) if source in sources else ()
        if pieces and assemblies.setdefault(source, Assembly(quote.length)).add(pieces):
            yield rank
            return


def _texts(
    batch: RankedBatch, codes: np.ndarray, ignore_case: bool
) -> Iterator[tuple[int, int, list[Result]]]:
    """For each known query its code, its first row and its results, copies left out."""
    columns = batch.frame.select(
        name for name in ("text", "document") if name in batch.frame
    )
    # The same chunk comes back for many queries: each text is normalised once.
    normalised: dict[str, str] = {}
    for code, begin, length in zip(
        codes.tolist(), batch.starts.tolist(), batch.lengths.tolist(), strict=True
    ):
        if code < 0:
            continue
        results: list[Result] = []
        seen: set[str] = set()
        for rank, (raw, *document) in enumerate(
            columns[begin : begin + length].rows(), 1
        ):
            text = normalised.get(raw)
            if text is None:
                text = normalise(raw, ignore_case=ignore_case)
                # Most are normalised already: then one of the two is enough.
                text = normalised[raw] = raw if text == raw else text
            if text not in seen:
                seen.add(text)
                results.append((rank, document[0] if document else None, text))
        yield code, begin, results


def _quotes_by_query(
    truth: GroundTruth, ignore_case: bool
) -> dict[int, list[tuple[int, Quote]]]:
    """By the code of a query, the rows of its targets, each with its quote."""
    by_query: dict[int, list[tuple[int, Quote]]] = {}
    quotes: dict[str, Quote] = {}
    pairs = zip(truth.target_query.tolist(), truth.targets["quote"], strict=True)
    for row, (code, raw) in enumerate(pairs):
        text = normalise(raw, ignore_case=ignore_case)
        by_query.setdefault(code, []).append((row, quotes.setdefault(text, Quote(text))))
    return by_query


def _check_texts(batch: RankedBatch, truth: GroundTruth) -> None:
    missing = batch.frame["text"].is_null() if "text" in batch.frame.columns else None
    if missing is None or missing.any():
        row = int(missing.arg_true()[0]) if missing is not None else 0
        raise InvalidInput(
            "A result has no text, and the ground truth is matched by quote: query "
            f"{batch.frame['query'][row]!r}, rank {batch.rank[row]}; give every result "
            f"its 'text'{other_ways('quote', truth)}."
        )
