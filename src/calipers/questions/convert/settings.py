"""What may be asked here, declared once: names, types and defaults."""

import os
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from calipers.operation import Setting, operation
from calipers.questions.reading import Files, Returned, Truth

if TYPE_CHECKING:
    from calipers.questions.convert.rule import Conversion


class ConvertSettings(Files, total=False):
    """What `convert` takes."""

    ground_truth: Truth
    run: Returned
    to: Annotated[
        str | None,
        Setting(
            "The form to write: ours, json, jsonl, csv, tsv, parquet, arrow, trec, qrels, run, "
            "beir, ragas, llama_index. [default: by the ending of OUT]",
            metavar="FORM",
        ),
    ]
    form: Annotated[
        str | None,
        Setting(
            "The form to read, where the content could be two. [default: by the content]",
            "--from",
            "FORM",
        ),
    ]


@operation(page="formats", command="convert")
def convert(
    data: Any = None, output: str | os.PathLike[str] = "", **settings: Unpack[ConvertSettings]
) -> "Conversion":
    """Write a ground truth, a run or both in another form.

    Give ``data``, or ``ground_truth`` and ``run``, or one of the two; each may be anything that
    ``evaluate`` takes. Large files pass through some thousand records at a time.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = convert(ground_truth={"q": {"a": 2}}, output=f"{folder}/out.qrels")
    ...     print(pathlib.Path(done.files[0]).read_text(), end="")
    q 0 a 2
    """
    from calipers.io.tables.columns import Columns
    from calipers.questions.convert import rule

    said = Columns.of(settings["columns"])
    inputs = rule.ToConvert(
        data,
        settings["ground_truth"],
        settings["run"],
        settings["form"],
        said,
        settings["memory"],
        settings["temp"],
        settings["progress"],
    )
    return rule.convert(inputs, output, settings["to"])
