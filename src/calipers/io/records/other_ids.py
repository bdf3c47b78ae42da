"""Which other field of a result may be its id, where no id of a run is one of a target.

Vector stores number their points; the id that people judge by stands in the payload, as in
``{"id": 7, "payload": {"chunk_id": "refunds#2"}}``.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from calipers.errors import LOOK, InvalidInput, NoCommonIds, Unclear
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.records.documents import is_id
from calipers.io.registry import read_probe
from calipers.io.tables.cells import looks_like_texts
from calipers.io.tables.columns import Columns, Pairs
from calipers.io.tables.propose import looks_at, tried
from calipers.model.matched import Role
from calipers.names import plain_name

_SOME = 20
"""Records whose results are looked at."""
_DEEPEST = 6
_MOST = 20
"""Fields that are tried."""
_LIKELY = frozenset({"id", "ids", "key", "uri", "url", "source", "path", "name"})
"""Words in names of fields that identify."""


def with_other_id(
    error: NoCommonIds, value: object, role: Role, columns: Columns
) -> NoCommonIds:
    """The error, with the field to take as the id where one holds ids of targets."""
    if "item" in columns.named:
        return error
    is_path = isinstance(value, str | os.PathLike)
    if not is_path and not isinstance(value, list | tuple | Mapping):
        return error
    source = Source(Path(str(value))) if is_path else Source(Path("data"))
    probe = Probe(source, columns.fresh(), None if is_path else value)
    try:
        probe.columns_said.beside.update(columns.beside)
        options = tuple(_options(probe))
        offers = tried(Unclear("", *options), probe, role, read_probe) if options else []
    except InvalidInput:
        return error
    meeting = [offer for offer in offers if offer.map_ids is None]
    if not meeting:
        return error
    lines = ", or ".join(offer.line for offer in meeting)
    looks = looks_at(meeting[:1]).split(LOOK)
    return NoCommonIds(
        LOOK.join([f"Say {lines}; {error.why[:1].lower()}{error.why[1:]}.", *looks[1:]])
    )


def _options(probe: Probe) -> Iterator[Pairs]:
    """Each field that may hold the ids of results, the likelier first."""
    if probe.table is not None:
        names = [name for name in probe.table.names() if "id" in plain_name(name)]
        yield from ((("item", name),) for name in names[:_MOST])
        return
    if probe.look is None:
        return
    fields: dict[str, list[object]] = {}
    for row in islice(probe.records().plain(), _SOME):
        for result in _objects(row):
            for path, value in _values(result):
                fields.setdefault(path, []).append(value)
    for path in sorted(fields, key=_unlikely)[:_MOST]:
        if not looks_like_texts(map(str, fields[path])):
            yield (("item", path),)


def _unlikely(path: str) -> tuple[bool, int]:
    last = path.rpartition(".")[2]
    return not _LIKELY & {*plain_name(last).split("_")}, path.count(".")


def _objects(value: object, depth: int = 0) -> Iterator[Mapping[str, object]]:
    """Yield the objects of every list in a value."""
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for held in value.values():
            yield from _objects(held, depth + 1)
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, Mapping):
                yield one
            yield from _objects(one, depth + 1)


def _values(
    result: Mapping[str, object], before: str = ""
) -> Iterator[tuple[str, object]]:
    """Yield every value of a result that may be an id, with its path."""
    for key, value in result.items():
        path = f"{before}{key}"
        if isinstance(value, Mapping) and path.count(".") < _DEEPEST:
            yield from _values(value, f"{path}.")
        elif is_id(value):
            yield path, value
