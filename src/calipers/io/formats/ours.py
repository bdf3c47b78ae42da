"""Our own form: ``query``, ``retrieved``, ``ground_truth``."""

from calipers.io.formats import ragas_old
from calipers.io.handwritten import Handwritten, as_record, passed_over
from calipers.io.records import EXAMPLE, Record
from calipers.io.rows import At, RowFormat, each
from calipers.io.spelling import StrictRecord, check_spelling


def recognise(keys: frozenset[str]) -> bool:
    """``retrieved`` or ``ground_truth``; what old ragas calls so is something else."""
    is_ragas = ragas_old.recognise(keys) or ragas_old.recognise_test_set(keys)
    return bool(keys & {"retrieved", "ground_truth"}) and not is_ragas


def _record(row: Handwritten, at: At) -> Record:
    return as_record(row, at)


FORM = RowFormat(
    name="ours",
    title="records of query, retrieved and ground_truth",
    recognise=recognise,
    row=Handwritten,
    records=each(_record),
    example=EXAMPLE,
    kept=frozenset(Handwritten.__struct_encode_fields__),
    left_out=passed_over,
    strict=StrictRecord,
    check=check_spelling,
)
