"""Our own form: ``query``, ``retrieved``, ``ground_truth``."""

from calipers.io.records import EXAMPLE, Record
from calipers.io.rows import At, RowFormat, each
from calipers.io.spelling import StrictRecord, check_spelling


def recognise(keys: frozenset[str]) -> bool:
    """``retrieved`` or ``ground_truth``."""
    return bool(keys & {"retrieved", "ground_truth"})


def _record(row: Record, _: At) -> Record:
    return row


FORM = RowFormat(
    name="ours",
    title="records of query, retrieved and ground_truth",
    recognise=recognise,
    row=Record,
    records=each(_record),
    example=EXAMPLE,
    kept=frozenset(Record.__struct_fields__),
    strict=StrictRecord,
    check=check_spelling,
)
