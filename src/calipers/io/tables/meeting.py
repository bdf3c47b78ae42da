"""Whether targets and results meet, in a trial or with the file beside it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from calipers.errors import CalipersError, Settled
from calipers.frozen import dataclass
from calipers.io.build import with_ids
from calipers.io.tables.cells import looks_like_texts
from calipers.io.tables.columns import Columns, Pairs
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset, Role
from calipers.model.matching import IdMap, parse_id_map

_LOOKED_BESIDE = 10_000
"""Results of the file beside that are compared."""
_COMPARED = 200
"""Ids of each side that are compared for their spelling."""
_LONGEST_PLACE = 2
"""Digits of numbers that may be ranks or pages."""


@dataclass(frozen=True)
class Common:
    """Whether targets and results meet."""

    kind: Literal["something", "nearly", "nothing", "unread", "alone"]
    map_ids: str | None = None
    """What ``--map-ids`` takes so that ids which nearly meet do; None where it cannot help."""
    answers: tuple[Pairs, ...] = ()
    """The mappings that the file beside proposes, where it cannot be read without one."""
    other: Dataset | None = None
    """What the file beside holds."""
    refused: str = ""
    """Why the file beside is refused by itself."""


_SOMETHING = Common("something")
_NOTHING = Common("nothing")


def in_common(dataset: Dataset, columns: Columns, role: Role, before: Columns) -> Common:
    """Whether targets and results meet, in a trial or with the file beside it.

    ``before`` is what the user said; nothing meets where only that reads the file beside.
    """
    truth = dataset.ground_truth
    run = dataset.run
    if role != "both":
        if role not in columns.beside:
            return _SOMETHING
        fresh = columns.fresh()
        try:
            other = columns.beside[role](fresh)
        except Settled as unclear:
            return Common("unread", answers=unclear.answers)
        except CalipersError:
            refused = _refusal(columns.beside[role], before.fresh())
            if refused is None:
                return _NOTHING
            # By itself, or with this mapping too; what has lines is asked about in its turn.
            is_settled = isinstance(refused, Settled)
            return Common("alone", refused="" if is_settled else str(refused))
        finally:
            columns.seen.update(fresh.seen)
        lacks = (
            other.run is None if role == "ground_truth" else other.ground_truth is None
        )
        if lacks and other.answers:
            return Common("unread", answers=other.answers)
        truth = truth if role == "ground_truth" else other.ground_truth
        run = run if role == "run" else other.run
    first = None if run is None else next(iter(run.scan()), None)
    if truth is None or run is None or first is None or not first.height:
        return _SOMETHING
    seen = dataset if role == "both" else other
    truth = with_ids(truth, run)
    named = first["query"].head(_LOOKED_BESIDE).unique()
    if run.queries is not None and "text" in run.queries.columns:
        # A record with an id of its own is known by its question, too.
        asking = run.queries.filter(pl.col("query").is_in(named.implode()))
        named = pl.concat([named, asking["text"].drop_nulls()])
    asked = named.implode()
    queries = truth.queries
    known = queries["query"].is_in(asked) | queries["text"].is_in(asked).fill_null(False)
    if not known.any():
        return _NOTHING
    return replace(_meet(truth, first, columns.map_ids), other=seen)


def _refusal(
    file: Callable[[Columns], Dataset], columns: Columns
) -> CalipersError | None:
    """Why a file cannot be read; None if it can."""
    try:
        file(columns)
    except CalipersError as refused:
        return refused
    return None


def _meet(truth: GroundTruth, results: pl.DataFrame, map_ids: str | None) -> Common:
    """Whether targets and results have an id in common; quotes need texts to stand in.

    Ids are compared as the user says. A further rule that makes them equal is tried first.
    """
    from calipers.match.near_ids import can_map, likely_maps, map_option
    from calipers.match.spelled_ids import spelled

    targets = truth.targets["item"].drop_nulls().unique()
    if not len(targets) and "document" not in results.columns:
        targets = truth.targets["document"].drop_nulls().unique()
    if not len(targets):
        if "quote" not in truth.kinds:
            return _SOMETHING
        quotes = truth.targets["quote"].drop_nulls().unique()
        return _SOMETHING if _stand_in_texts(quotes, results) else _NOTHING
    if "item" not in results.columns:
        # Targets in words are looked for in the texts.
        in_words = looks_like_texts(targets) and _stand_in_texts(targets, results)
        return _SOMETHING if in_words else _NOTHING
    items = results["item"].drop_nulls().head(_LOOKED_BESIDE).unique()
    how = parse_id_map(map_ids) if map_ids else IdMap()
    if spelled(targets, how).is_in(spelled(items, how).implode()).any():
        return _SOMETHING
    wanted = targets.to_list()
    returned = items.to_list()
    if any(map(_are_places, (wanted, returned))):
        return _NOTHING  # what is left of ids such as doc_7 would meet any number
    likely = likely_maps(
        spelled(items.head(_COMPARED), how).to_list(),
        spelled(targets.head(_COMPARED), how).to_list(),
    )
    for further in likely:
        both = further.after(map_ids)
        if map_ids is not None and can_map(wanted, returned, both):
            return Common("nearly", map_option(both))
    return Common("nearly") if likely else _NOTHING


def _stand_in_texts(quotes: pl.Series, results: pl.DataFrame) -> bool:
    """Whether one of the quotes stands in one of the texts, whatever blanks and case it has."""
    if "text" not in results.columns:
        return False
    texts = results["text"].drop_nulls().head(_LOOKED_BESIDE).unique().to_list()
    held = "\n".join(" ".join(text.split()) for text in texts).casefold()
    return any(" ".join(quote.split()).casefold() in held for quote in quotes)


def _are_places(ids: Sequence[str]) -> bool:
    """Whether most ids are small whole numbers, such as ranks, pages and counts."""
    places = [one for one in ids if one.isdecimal() and len(one) <= _LONGEST_PLACE]
    return 2 * len(places) > len(ids)
