"""Matching by quote: a chunk holds a target if it contains the target's text."""

from array import array
from collections.abc import Iterator

import numpy as np

from calipers.errors import InvalidInput
from calipers.match.cover import Assembly, Covered, Sighting, enough, holding_ranks
from calipers.match.quote import Quote, near_pairs
from calipers.match.similar import ANCHOR, fuzzy_library
from calipers.match.tally import RunTally, assemble
from calipers.match.text_index import Shelf
from calipers.model.arrays import Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matches, Tally
from calipers.model.matching import MatchRule
from calipers.model.policy import Policy
from calipers.model.ranking import RankedBatch
from calipers.model.run import Run
from calipers.text import normalise


def match_by_quote(
    ground_truth: GroundTruth, run: Run, policy: Policy, rule: MatchRule, *, together: bool
) -> tuple[Matches, Tally]:
    """The matches of a run whose results carry texts, in one pass over the run.

    ``together``: several chunks may complete a quote that no single one holds. A repeated text of
    the same query occupies its rank and does not count.
    """
    if rule.least < 1:
        fuzzy_library()
    quotes_of = _Quotes(ground_truth, rule.ignore_case)
    counting = RunTally(ground_truth, run, policy.duplicates)
    # Arrays and no lists: a Python object for each edge would be most of the memory.
    ranks, targets, tied, shares = array("q"), array("q"), array("q"), array("d")
    for batch in run.ranked(policy.ties):
        _check_texts(batch)
        codes = counting.add(batch)
        quotes = quotes_of.queries(codes)
        for code, begin, results in _texts(batch, codes, rule.ignore_case):
            shelf = Shelf([text for _, _, text in results]) if rule.least < 1 else None
            if shelf is not None:
                shelf.look_for(seed for _, one in quotes.get(code, []) for _, seed in one.seeds)
            asked = quotes.get(code, [])
            many = shelf is None and len(asked) * len(results) > EACH_WITH_EACH
            found = _found_at_once(asked, results, together) if many else {}
            for target, quote in asked:
                if shelf is None:
                    held = found[target] if many else _exact_ranks(quote, results, together)
                else:
                    needed = enough(quote.length, rule.least)
                    sightings = [
                        Sighting(*results[number][:2], pieces)
                        for number, pieces in quote.on_shelf(shelf, needed)
                    ]
                    held = holding_ranks(sightings, quote.length, rule.least, together=together)
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


EACH_WITH_EACH = 500
"""Up to so many pairs of a quote and a result, comparing each is faster than a search."""
REMEMBERED = 50_000
"""How many normalised texts are cached, so that memory stays bounded."""

Result = tuple[int, str | None, str]
"""Rank, document where known, normalised text."""


def _exact_ranks(quote: Quote, results: list[Result], together: bool) -> list[tuple[int, float]]:
    """The ranks that hold the quote verbatim, and any earlier one that completes it from pieces."""
    held: list[tuple[int, float]] = []
    assemblies: dict[str | None, Assembly] = {}
    for rank, source, text in results:
        complete = quote.text in text
        # Pieces matter only above the first rank that has the whole quote.
        if not complete and together and not held and (pieces := quote.edge_pieces(text)):
            complete = assemblies.setdefault(source, Assembly(quote.length)).add(pieces)
        if complete:
            held.append((rank, 1.0))
    return held


def _found_at_once(
    quotes: list[tuple[int, Quote]], results: list[Result], together: bool
) -> dict[int, list[tuple[int, float]]]:
    """The same for many quotes of one query, by target: only near pairs are compared."""
    near: list[list[int]] = [[] for _ in quotes]
    for number, result in sorted(near_pairs([q for _, q in quotes], [r[2] for r in results])):
        near[number].append(result)
    shelf = Shelf([text for _, _, text in results])
    found = {}
    for (target, quote), some in zip(quotes, near, strict=True):
        whole = [n for n in some if quote.text in results[n][2]]
        first = whole[0] if whole else len(results)
        held: list[tuple[int, float]] = [(results[n][0], 1.0) for n in whole]
        if together and some and some[0] < first:
            sources = {results[n][1] for n in some if n < first}
            held = _pieced_together(quote, results, first, shelf, sources) + held
        found[target] = held
    return found


def _pieced_together(
    quote: Quote, results: list[Result], first: int, shelf: Shelf, sources: set[str | None]
) -> list[tuple[int, float]]:
    """The rank at which results of these sources complete a quote before one holds it whole.

    Nearly every text has a letter or two of either end of the quote. So those are assumed at
    first; only where the result depends on them is every text compared.
    """
    depends = quote.length < 2 * ANCHOR
    assemblies: dict[str | None, Assembly] = {}
    granted: dict[str | None, Covered] = {}
    for number in () if depends else sorted(shelf.sharing_edges(quote.text)):
        if number >= first:
            break
        rank, source, text = results[number]
        if source not in sources or not (pieces := quote.edge_pieces(text)):
            continue
        if source not in granted:
            granted[source] = Covered()
            granted[source].add(0, ANCHOR - 1)
            granted[source].add(quote.length - ANCHOR + 1, quote.length)
        for piece in pieces:
            granted[source].add(*piece)
        complete = assemblies.setdefault(source, Assembly(quote.length)).add(pieces)
        if granted[source].size >= quote.length:
            if complete:
                return [(rank, 1.0)]
            depends = True
            break
    if not depends:
        return []
    return _exact_ranks(quote, [one for one in results[:first] if one[1] in sources], True)


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
                # Most are normalised already: then one of the two is enough.
                text = normalised[raw] = raw if text == raw else text
            if text not in seen:
                seen.add(text)
                results.append((rank, document[0] if document else None, text))
        yield code, begin, results


class _Quotes:
    """The quotes of a ground truth, prepared for the current queries."""

    def __init__(self, ground_truth: GroundTruth, ignore_case: bool) -> None:
        codes = ground_truth.target_query
        self._rows = np.argsort(codes, kind="stable")
        self._codes = codes[self._rows]
        self._raw = ground_truth.targets["quote"]
        self._ignore_case = ignore_case
        self._made: dict[str, Quote] = {}

    def queries(self, codes: Ints) -> dict[int, list[tuple[int, Quote]]]:
        """For each of these queries the rows of its targets, each with its quote."""
        if len(self._made) > REMEMBERED:
            self._made.clear()
        known = codes[codes >= 0]
        firsts = np.searchsorted(self._codes, known).tolist()
        behinds = np.searchsorted(self._codes, known, side="right").tolist()
        found: dict[int, list[tuple[int, Quote]]] = {}
        for code, first, behind in zip(known.tolist(), firsts, behinds, strict=True):
            rows = self._rows[first:behind]
            raws = self._raw.gather(rows).to_list() if rows.size else []
            found[code] = list(zip(rows.tolist(), map(self._quote, raws), strict=True))
        return found

    def _quote(self, raw: str) -> Quote:
        text = normalise(raw, ignore_case=self._ignore_case)
        return self._made.setdefault(text, Quote(text))


def _check_texts(batch: RankedBatch) -> None:
    missing = batch.frame["text"].is_null() if "text" in batch.frame.columns else None
    if missing is None or missing.any():
        row = int(missing.arg_true()[0]) if missing is not None else 0
        raise InvalidInput(
            f"A result has no text, and the ground truth is matched by quote: query "
            f"{batch.frame['query'][row]!r}, rank {batch.rank[row]}; give every result its 'text', "
            "or match in another way with --match id or --match span."
        )
