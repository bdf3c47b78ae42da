"""Matching by quote: a chunk holds a target if it contains the target's text."""

from array import array
from collections.abc import Iterator, Sequence

import numpy as np

from calipers.errors import InvalidInput
from calipers.match.choose import other_ways
from calipers.match.cover import Sighting, enough, holding_ranks
from calipers.match.locate import Shelf
from calipers.match.quote import Quote
from calipers.match.similar import fuzzy_library
from calipers.match.tally import RunTally, assemble
from calipers.match.verbatim import Result, verbatim_ranks
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
            quotes = quotes_of.get(code, [])
            held_by = _held(
                [quote for _, quote in quotes], results, rule.least, together=together
            )
            for (target, _), held in zip(quotes, held_by, strict=True):
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


def _held(
    quotes: Sequence[Quote], results: Sequence[Result], least: float, *, together: bool
) -> Iterator[list[tuple[int, float]]]:
    """For each quote the ranks that hold it, each with the share held so far."""
    if least >= 1:
        for ranks in verbatim_ranks(quotes, results, together=together):
            yield [(rank, 1.0) for rank in ranks]
        return
    shelf = Shelf([text for _, _, text in results])
    shelf.look_for(seed for quote in quotes for _, seed in quote.seeds)
    for quote in quotes:
        sightings = [
            Sighting(*results[number][:2], pieces)
            for number, pieces in quote.on_shelf(shelf, enough(quote.length, least))
        ]
        yield holding_ranks(sightings, quote.length, least, together=together)


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
