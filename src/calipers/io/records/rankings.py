"""Two rankings in one record: which of them is measured, the user says.

``retrieved`` beside ``reranked``, ``bm25_results`` beside ``dense_results``: taking the first one
would measure a stage that nobody sees, without a word.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, islice

from calipers.errors import Unclear
from calipers.io.files.probe import Probe
from calipers.io.records.documents import (
    BadDocument,
    is_number,
    read_document,
    results_in,
)
from calipers.io.records.json_files import opened
from calipers.io.tables.cells import looks_like_texts
from calipers.io.tables.columns import IGNORE, Pairs
from calipers.io.tables.usual_names import IGNORED, says_wanted
from calipers.names import (
    FIRST_STAGE,
    JUDGED,
    LAST_STAGE,
    NEGATIVES,
    PARALLEL,
    QUOTE,
    RETURNED_IDS,
    STAGES,
    WANTED_IDS,
    plain_name,
)

_SOME = 50
"""Records that are looked at."""
_NO_RESULTS = frozenset(
    {
        *WANTED_IDS,
        *QUOTE,
        *NEGATIVES,
        *PARALLEL,
        *JUDGED,
        "stages",
        "ground_truth",
        "tags",
    }
)
_SHOWN = 3
"""Ids of each list that a refusal shows."""

Values = Sequence[object]


def check_one_ranking(probe: Probe) -> None:
    """Refuse records with two lists of results, unless the user says which one counts."""
    if (
        probe.look is None
        or probe.table is not None
        or "retrieved" in probe.columns_said.named
    ):
        return
    for owner, keys in probe.row_keys.items():
        names = [name for name in sorted(keys) if _may_be_results(name)]
        if len(names) > 1:
            from calipers.io.records.layout import with_open_texts  # few files get here

            rows = (opened(item) for item in islice(probe.records(owner).items, _SOME))
            records = [with_open_texts(row) for row in rows if isinstance(row, Mapping)]
            _refuse_two(records, names, probe.name)


def _may_be_results(name: str) -> bool:
    """Whether a field of this name may list what a retriever returned.

    >>> [_may_be_results(name) for name in ("reranked", "dense_hits", "gold_after", "author")]
    [True, True, False, False]
    """
    plain = plain_name(name)
    if plain in _NO_RESULTS or says_wanted(name) or name.endswith(IGNORED):
        return False
    words = set(plain.split("_"))
    if words & {"gold", "expected", "relevant", "score", "scores", "rank", "ranks"}:
        return False
    return plain in RETURNED_IDS or bool(words & STAGES)


def _refuse_two(
    records: Sequence[Mapping[str, object]], names: Iterable[str], file: str
) -> None:
    """Refuse two fields that list results of the same kind in another order or length."""
    lists = {name: [_ids(record.get(name)) for record in records] for name in names}
    filled = {name: ids for name, ids in lists.items() if any(ids)}
    for first, second in combinations(sorted(filled, key=later_stage_first), 2):
        if are_rankings(filled[first], filled[second]):
            shown = (f"{name!r} ({_shown(filled[name])})" for name in (first, second))
            raise Unclear(
                f"a record of {file} lists results twice, {' and '.join(shown)}",
                (("retrieved", first),),
                (("retrieved", second),),
            )


def _shown(lists: Sequence[list[str]]) -> str:
    """The first ids of the first list that has any."""
    ids = next(filter(None, lists))
    return f"{', '.join(ids[:_SHOWN]):.40}{', …' if len(ids) > _SHOWN else ''}"


def later_stage_first(name: str) -> bool:
    """Sorts the list of a later stage first: it is what users see."""
    words = set(plain_name(name).split("_"))
    is_last = words & {*LAST_STAGE, "hybrid"} and not words & FIRST_STAGE
    return not is_last


def refuse_second_order(results: Sequence[object], place: Callable[[], str]) -> None:
    """Refuse results in which ranks or scores of a reranker say another order than the list."""
    rows = [row for row in results if isinstance(row, Mapping)]
    if len(rows) < 2 or len(rows) < len(results):
        return
    for key in _of_reranker(tuple(rows[0])):
        values = [row.get(key) for row in rows]
        numbers = [float(value) for value in values if isinstance(value, int | float)]
        is_rank = bool(set(plain_name(key).split("_")) & {"rank", "position"})
        ordered = sorted(numbers, reverse=not is_rank)
        if len(numbers) == len(rows) and numbers != ordered:
            lines: list[Pairs] = [
                (("rank" if is_rank else "score", key),),
                ((IGNORE, key),),
            ]
            raise Unclear(
                f"the results at {place()} have another order in {key!r} than in the list",
                *lines,
            )


@lru_cache(maxsize=256)
def _of_reranker(keys: tuple[object, ...]) -> tuple[str, ...]:
    """The keys of a result that hold what a reranker says of it.

    >>> _of_reranker(("id", "rank", "rerank_rank", "reranker_score", "reranker"))
    ('rerank_rank', 'reranker_score')
    """
    by_words = {str(key): set(plain_name(str(key)).split("_")) for key in keys}
    return tuple(
        key
        for key, words in by_words.items()
        if words & {"rerank", "reranked", "reranker"}
        and words & {"rank", "score", "position"}
    )


def are_rankings(first: Sequence[list[str]], second: Sequence[list[str]]) -> bool:
    """Whether two fields rank the same things differently; equal ones are one list, twice."""
    if first == second:
        return False
    if any(set(one) & set(other) for one, other in zip(first, second, strict=True)):
        return True
    # Without a common id they may be ids and texts of the same results, one beside the other.
    same_length = all(
        len(one) == len(other) for one, other in zip(first, second, strict=True)
    )
    return not same_length and _is_text(first) == _is_text(second)


def _is_text(lists: Sequence[list[str]]) -> bool:
    return looks_like_texts(item for ids in lists for item in ids)


def _are_whole_ids(value: Iterable[object]) -> bool:
    """Whether numbers are ids: whole, and more than would count their list.

    >>> _are_whole_ids([29049, 12237]), _are_whole_ids([2, 1]), _are_whole_ids([0.5])
    (True, False, False)
    """
    numbers = [*value]
    whole = [number for number in numbers if isinstance(number, int)]
    return len(whole) == len(numbers) and max(whole, default=0) > len(whole)


def _ids(value: object) -> list[str]:
    """The ids or texts of an answer; empty if it is none."""
    if not isinstance(value, list | tuple | Mapping):
        return []
    try:
        rows = [read_document(item) for item in results_in(value)]
    except BadDocument:
        return []
    if all(map(is_number, value)) and not _are_whole_ids(value):
        return []  # scores, or the ranks of other results
    return [str(row.text if row.id is None else row.id) for row in rows]
