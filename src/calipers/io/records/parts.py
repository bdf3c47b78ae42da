"""Which fields of records may be the question, the results and the targets, by their values.

Where names say too little, every list of ids, texts or documents may be the results or the
targets, at any depth. The mappings are tried before one is shown (``io.tables.propose``).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, product

from calipers.io.records.documents import is_id
from calipers.io.records.layout import (
    Record,
    are_targets,
    fields_in,
    part_at,
    question_inside,
    question_or_id,
    side_of,
    with_open_texts,
)
from calipers.io.tables.cells import looks_like_texts
from calipers.io.tables.columns import Columns, Pairs
from calipers.model.matched import Role
from calipers.names import (
    NEGATIVES,
    PARALLEL,
    QUERY_TEXT,
    RESULT,
    ROW,
    plain_name,
    possible_meaning,
)

_SOME = 50
"""Records that are looked at."""
_MOST = 5
"""Fields that are tried for each part."""
_BEFORE = {"wanted": 0, "": 1, "returned": 2}
"""The turn of a list for the targets, by what its path says; the results take the reverse."""


def mappings_of_records(
    records: Sequence[object], said: Columns, role: Role
) -> Iterator[Pairs]:
    """Mappings of the parts that a role needs and the user does not name, the likelier first."""
    some = islice((row for row in records if isinstance(row, Mapping)), _SOME)
    sample = [with_open_texts(row) for row in some]
    if not sample:
        return
    asked = [] if "query" in said.named else _questions(sample)
    queries: list[Pairs] = [(("query", path),) for path in asked] or [()]
    if "query" in said.named or _is_known(asked):
        queries = [()]
    lists = _lists(sample)
    # Our own names are certain: what they hold is never the other part.
    wanted: list[Pairs] = [
        (("ground_truth", path),) for path in lists if path != "retrieved"
    ]
    returned: list[Pairs] = [
        (("retrieved", path),) for path in reversed(lists) if path != "ground_truth"
    ]
    known = {*said.named, *sample[0]}
    if role == "run" or "ground_truth" in known:
        wanted = [()]
    if role == "ground_truth" or "retrieved" in known:
        returned = [()]
    every = [
        (*query, *targets, *results)
        for query, targets, results in product(queries, wanted, returned)
    ]
    every = [
        pairs for pairs in every if len({path for _, path in pairs}) == len(pairs) > 0
    ]
    yield from ([pairs for pairs in every if not exchanges(pairs)] or every)


def exchanges(pairs: Pairs) -> bool:
    """Whether the names say that results are taken for targets, or targets for results.

    >>> exchanges((("item", "data"), ("retrieved", "expected_ids")))
    True
    """
    said = dict(pairs)
    return (
        side_of(said.get("ground_truth", "")) == "returned"
        or side_of(said.get("retrieved", "")) == "wanted"
    )


def _is_known(asked: Sequence[str]) -> bool:
    """Whether the question has a name of ours, so that it need not be said."""
    return bool(asked) and "." not in asked[0] and possible_meaning(asked[0]) == "query"


def _questions(sample: Sequence[Record]) -> list[str]:
    """The paths that may be the question: the one of a usual name, else texts that differ."""
    known = question_or_id(sample[0]) or question_inside(sample[0])
    if known is not None:
        return [known]
    found: list[str] = []
    for path, value in fields_in(sample[0]):
        if not isinstance(value, str):
            continue
        values = [part_at(record, path) for record in sample]
        texts = [value for value in values if isinstance(value, str)]
        if len({*texts}) == len(sample) and looks_like_texts(texts):
            found.append(path)
    return sorted(found, key=lambda path: path.count("."))[:_MOST]


def _lists(sample: Sequence[Record]) -> list[str]:
    """The paths of lists of ids, texts or documents: targets by name first, then the shorter."""
    lengths: dict[str, int] = {}
    for path, value in fields_in(sample[0]):
        last = plain_name(path.rpartition(".")[2])
        if not isinstance(value, list | Mapping) or last in _NO_LISTS:
            continue
        values = [part_at(record, path) for record in sample]
        if are_targets(values) or all(map(_lists_objects, values)):
            listed = [value for value in values if isinstance(value, list | Mapping)]
            lengths[path] = sum(map(len, listed))
    outer = [
        path
        for path in lengths
        if not any(path.startswith(f"{other}.") for other in lengths if other != path)
    ]
    ordered = sorted(outer, key=lambda path: (_BEFORE[side_of(path)], lengths[path]))
    return ordered[:_MOST]


_NO_LISTS = frozenset({*PARALLEL, *NEGATIVES, *QUERY_TEXT})
"""Names of lists that are neither targets nor results; one is of what was asked."""


def _lists_objects(value: object) -> bool:
    """Whether a value lists objects with something that may be an id."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(one, Mapping) and any(ids_inside(one)) for one in value)


def objects_in(value: object, depth: int = 0) -> Iterator[Mapping[str, object]]:
    """Yield the objects of every list in a value."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for held in value.values():
            yield from objects_in(held, depth + 1)
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, Mapping):
                yield one
            yield from objects_in(one, depth + 1)


def ids_inside(
    result: Mapping[str, object], before: str = ""
) -> Iterator[tuple[str, object]]:
    """Yield every value of a result that may be an id, with its path.

    >>> list(ids_inside({"score": 0.5, "payload": {"chunk_id": "a"}}))
    [('payload.chunk_id', 'a')]
    """
    for key, value in result.items():
        path = f"{before}{key}"
        if isinstance(value, Mapping) and path.count(".") < _DEEPEST:
            yield from ids_inside(value, f"{path}.")
        elif _may_identify(str(key), value):
            yield path, value


def _may_identify(key: str, value: object) -> bool:
    """Whether a field of a result may be its id, by its name and its value."""
    name = plain_name(key)
    if not is_id(value) or name in _OTHERS or looks_like_texts([value]):
        return False
    return isinstance(value, str) or bool(_LIKELY & {*name.split("_")})


def paths_of_ids(records: Iterable[object]) -> list[str]:
    """The fields of results that may be their ids, the likelier first."""
    results = chain.from_iterable(map(objects_in, records))
    paths = {path for result in results for path, _ in ids_inside(result)}
    return sorted(paths, key=_unlikely)[:_MOST_IDS]


def _unlikely(path: str) -> tuple[bool, int, str]:
    last = path.rpartition(".")[2]
    return not _LIKELY & {*plain_name(last).split("_")}, path.count("."), path


_DEEPEST = 6
_MOST_IDS = 20
_OTHERS = frozenset(
    name
    for field in ("score", "start", "end", "tokens", "page")
    for name in RESULT[field]
) | {*ROW["rank"], *ROW["grade"]}
"""Names of fields that are something else."""
_LIKELY = frozenset({"id", "ids", "key", "sku", "uri", "url", "source", "path", "name"})
"""Words in names of fields that identify."""
