"""What may be asked here, declared once: names, types and defaults."""

import os
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.input_types import CorpusInput, DataInput, GroundTruthInput
from calipers.live.keywords import ColumnNames
from calipers.operation import PYTHON, Setting, Settings, operation
from calipers.questions.reading import Files, Returned, Truth

if TYPE_CHECKING:
    from calipers.questions.convert.resolve import Resolution
    from calipers.questions.convert.rule import Conversion


@dataclass(frozen=True, kw_only=True)
class ConvertSettings(Settings):
    """What `convert` takes."""

    files: Files = Files()

    ground_truth: Truth = None
    run: Returned = None
    to: Annotated[
        str | None,
        Setting(
            "The format to write: ours, json, jsonl, csv, tsv, parquet, arrow, qrels, run. "
            "[default: by the ending of OUT]",
            metavar="FORMAT",
        ),
    ] = None
    form: Annotated[
        str | None,
        Setting(
            "The format to read, where the content could be two. [default: by the content]",
            "--from",
            "FORMAT",
        ),
    ] = None


@operation(page="formats", command="convert")
def convert(
    data: Annotated[DataInput | None, Setting("", only=PYTHON, unchecked=True)] = None,
    output: str | os.PathLike[str] = "",
    *,
    settings: ConvertSettings,
) -> "Conversion":
    """Write a ground truth, a run or both in another format.

    Give ``data``, or ``ground_truth`` and ``run``, or one of the two; each may be
    anything that ``evaluate`` takes. Fields that are not about retrieval, such as an
    answer, are left out.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = convert(ground_truth={"q": {"a": 2}}, output=f"{folder}/out.qrels")
    ...     print(pathlib.Path(done.files[0]).read_text(), end="")
    q 0 a 2
    """
    from calipers.io.tables.columns import Columns
    from calipers.questions.convert import rule

    columns = Columns.of(settings.files.columns)
    inputs = rule.ToConvert(
        data,
        settings.ground_truth,
        settings.run,
        settings.form,
        columns,
        settings.files.memory,
    )
    return rule.convert(inputs, output, settings.to)


@operation(page="ground-truth", command="convert")
def resolve(
    ground_truth: Annotated[
        GroundTruthInput, Setting("", argument="GROUND_TRUTH", unchecked=True)
    ],
    corpus: Annotated[
        CorpusInput,
        Setting(
            "Find where the quotes of a ground truth stand in these documents: a folder "
            "of .txt and .md files, or a JSON lines, CSV or Parquet file.",
            "--resolve",
            "PATH",
            unchecked=True,
        ),
    ],
    *,
    columns: ColumnNames = None,
) -> "Resolution":
    """Find the document, start and end of every quote of a ground truth.

    Start and end count characters of the document as it stands in the corpus; the quote
    stays beside them. A quote that is not found, or found in several places, is left as
    it is and reported. Targets that are ids or have a span already are left alone, and so
    are results and tags; fields that nothing reads are left out. ``columns`` says which
    column is what ({"quote": "expected_passage"}).

    >>> evals = [{"query": "What is the GIL?", "ground_truth": [{"quote": "is a lock"}]}]
    >>> found = resolve(evals, {"gil.md": "The GIL  is\\na lock."})
    >>> found.counts
    {'once': 1, 'several': 0, 'none': 0}
    >>> found.records[0]["ground_truth"]
    [{'quote': 'is a lock', 'document': 'gil.md', 'start': 9, 'end': 18}]
    """
    from calipers.io.corpus import open_corpus
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns
    from calipers.questions.convert.resolve import resolve_truth

    opened = open_corpus(corpus)
    named = Columns.of(columns)
    data = load(ground_truth, "ground_truth", named)
    named.check_used()
    return resolve_truth(data, opened)
