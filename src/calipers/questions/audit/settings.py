"""What may be asked here, declared once: names, types and defaults."""

from typing import TYPE_CHECKING, Annotated, Any

from calipers.errors import InvalidInput
from calipers.live.keywords import ColumnNames
from calipers.operation import Setting, operation
from calipers.questions.reading import Progress

if TYPE_CHECKING:
    from calipers.model.health import Health


@operation(page="audit", command="audit")
def audit(
    ground_truth: Annotated[Any, Setting("", argument="[GROUND_TRUTH]", file="ground-truth")],
    *,
    run: Annotated[
        Any,
        Setting("Results, to measure how wide the interval is.", "-r", "FILE", file="run"),
    ] = None,
    corpus: Annotated[
        Any,
        Setting(
            "What is searched: a folder of .txt and .md files, or a JSON lines, CSV or Parquet "
            "file.",
            "-c",
            "PATH",
            file="corpus",
        ),
    ] = None,
    match: Annotated[
        str | None,
        Setting(
            "How targets are recognised: id, quote or span. [default: as the data says]",
            metavar="HOW",
            file="match",
        ),
    ] = None,
    confidence: float = 0.95,
    columns: ColumnNames = None,
    progress: Progress | None = None,
) -> "Health":
    """Look for everything that is wrong with a ground truth, by itself and against a corpus.

    ``ground_truth`` is whatever ``evaluate`` takes; it may hold results too. ``corpus`` is a
    folder of .txt and .md files, a JSON lines, CSV or Parquet file, a table, or a mapping of id
    to text; it is read in batches and never held as a whole. With results (``run``, or in the
    same file) the width of the interval is measured, else it is the widest possible. ``match``
    is that of ``evaluate``; "quote" says that plain strings are quotes. ``confidence`` is the
    level of the interval, ``columns`` says which column is what ({"item": "expected_ids"}), and
    ``progress`` is called with the bytes read and the bytes in all.

    >>> found = audit({"q1": {"a": 1}, "q2": {"b": 1, "c": 1}}, corpus={"a": "x", "b": "y"})
    >>> [(finding.name, finding.severity, finding.count) for finding in found.findings][0]
    ('id_not_in_corpus', 'error', 1)
    """
    from calipers.io.corpus.read import open_corpus
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns
    from calipers.questions.audit import rule

    opened = None if corpus is None else open_corpus(corpus, progress)
    said = Columns.of(columns)
    data = load(ground_truth, "ground_truth", progress, said)
    if data.ground_truth is None and data.run is None:
        raise InvalidInput(
            "There is no ground truth to audit: its records have neither results nor a ground "
            "truth; give the file with the judgements."
        )
    if data.ground_truth is None:
        raise InvalidInput(
            f"There is no ground truth to audit: found {data.kind}, which holds results only; "
            "give the file with the judgements, and this one with --run (run= in Python)."
        )
    results = data.run if run is None else load(run, "run", progress, said).run
    said.check_used()
    if run is not None and results is None:
        raise InvalidInput("The run holds no results; give what the retriever returned.")
    return rule.audit(data.ground_truth, results, opened, match=match, confidence=confidence)
