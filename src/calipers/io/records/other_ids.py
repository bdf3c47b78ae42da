"""Which other field of a result may be its id, where no id of a run is one of a target.

Vector stores number their points; the id that people judge by stands in the payload, as in
``{"id": 7, "payload": {"chunk_id": "refunds#2"}}``.
"""

import os
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from calipers.errors import LOOK, InvalidInput, NoCommonIds, Unclear
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.records.parts import ids_inside, paths_of_ids
from calipers.io.registry import read_probe
from calipers.io.tables.columns import Columns, Pairs
from calipers.io.tables.profile import profiles_of
from calipers.io.tables.propose import looks_at, tried
from calipers.io.tables.scan import InputTable
from calipers.io.tables.usual_names import renaming
from calipers.model.matched import Role
from calipers.names import plain_name

_SOME = 20
"""Records whose results are looked at."""


def with_other_id(
    error: NoCommonIds, value: object, role: Role, columns: Columns
) -> NoCommonIds:
    """The error, with the field to take as the id where one holds ids of targets."""
    if "item" in columns.named or error.of != "item":
        return error
    is_path = isinstance(value, str | os.PathLike)
    if not is_path and not isinstance(value, list | tuple | Mapping):
        return error
    source = Source(Path(str(value))) if is_path else Source(Path("data"))
    probe = Probe(source, columns.fresh(), None if is_path else value)
    try:
        probe.columns_said.beside.update(columns.beside)
        options = _options(probe)
        offers = tried(Unclear("", *options), probe, role, read_probe) if options else []
    except InvalidInput:
        return error
    meeting = [offer for offer in offers if offer.map_ids is None]
    if not meeting and "--map-ids" not in str(error) and "map_ids" not in str(error):
        meeting = offers[:1]
    if not meeting:
        return error
    lines = ", or ".join(offer.line for offer in meeting)
    looks = looks_at(meeting[:1]).split(LOOK)
    return NoCommonIds(
        LOOK.join([f"Say {lines}; {error.why[:1].lower()}{error.why[1:]}.", *looks[1:]])
    )


def _other_columns(table: InputTable) -> list[str]:
    """The columns of a table that may hold the id of a result, whatever they are called."""
    names = renaming(table.names())
    asked = next((theirs for theirs, ours in names.items() if ours == "query"), None)
    profiles = profiles_of(table, asked)
    known = {
        theirs for theirs, ours in names.items() if ours not in ("document", "title")
    }
    return [
        one.name
        for one in profiles.values()
        if one.name not in known and one.kind in ("words", "places", "numbers")
    ]


def _options(probe: Probe) -> list[Pairs]:
    """Each field that may hold the ids of results, the likelier first."""
    if probe.table is not None:
        names = [name for name in probe.table.names() if "id" in plain_name(name)]
        names += [name for name in _other_columns(probe.table) if name not in names]
        return [(("item", name),) for name in names]
    if probe.look is None:
        return []
    records = list(islice(probe.records().plain(), _SOME))
    paths = paths_of_ids(records)
    if not paths and records and isinstance(records[0], Mapping):
        # One result in each record.
        paths = [path for path, _ in ids_inside(records[0]) if "." not in path]
    return [(("item", path),) for path in paths]
