"""What may be asked here, declared once: names, types and defaults."""

import os
from typing import TYPE_CHECKING, Annotated, Any

from calipers.live.keywords import ColumnNames
from calipers.operation import Setting, operation
from calipers.questions.reading import Memory, Progress, Returned, Temp, Truth

if TYPE_CHECKING:
    from calipers.questions.convert.rule import Conversion


@operation(page="formats", command="convert")
def convert(
    data: Any = None,
    output: str | os.PathLike[str] = "",
    *,
    ground_truth: Truth = None,
    run: Returned = None,
    to: Annotated[
        str | None,
        Setting(
            "The form to write: ours, json, jsonl, csv, tsv, parquet, arrow, trec, qrels, run, "
            "beir, ragas, llama_index. [default: by the ending of OUT]",
            metavar="FORM",
        ),
    ] = None,
    form: Annotated[
        str | None,
        Setting(
            "The form to read, where the content could be two. [default: by the content]",
            "--from",
            "FORM",
        ),
    ] = None,
    columns: ColumnNames = None,
    memory: Memory = None,
    temp: Temp = None,
    progress: Progress | None = None,
) -> "Conversion":
    """Write a ground truth, a run or both in another form.

    Give ``data``, or ``ground_truth`` and ``run``, or one of the two; each may be anything that
    ``evaluate`` takes. The form to write follows from the ending of ``output`` or from ``to``;
    ``form`` names the form to read where the content alone does not say, and ``columns`` which
    column is what, such as {"item": "expected_ids"}. Files with one record
    per query pass through a few thousand at a time, and results in tables and TREC files batch
    by batch; ``memory`` and ``temp`` are those of ``read``.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = convert(ground_truth={"q": {"a": 2}}, output=f"{folder}/out.qrels")
    ...     print(pathlib.Path(done.files[0]).read_text(), end="")
    q 0 a 2
    """
    from calipers.io.tables.columns import Columns
    from calipers.questions.convert import rule

    said = Columns.of(columns)
    inputs = rule.ToConvert(data, ground_truth, run, form, said, memory, temp, progress)
    return rule.convert(inputs, output, to)
