"""What may be asked here, declared once: names, types and defaults."""

from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from calipers.live.keywords import ColumnNames
from calipers.operation import Setting, operation
from calipers.questions.reading import Reported

if TYPE_CHECKING:
    from calipers.questions.resolve.rule import Resolution


class ResolveSettings(TypedDict, total=False):
    """What `resolve` takes."""

    first: Annotated[
        bool, Setting("Take the first place of a quote that stands in several.", default=False)
    ]
    columns: ColumnNames
    progress: Reported


@operation(page="ground-truth", command="convert")
def resolve(
    ground_truth: Annotated[Any, Setting("", argument="GROUND_TRUTH")],
    corpus: Annotated[
        Any,
        Setting(
            "Find where the quotes of a ground truth stand in these documents: a folder of .txt "
            "and .md files, or a JSON lines, CSV or Parquet file.",
            "--resolve",
            "PATH",
        ),
    ],
    **settings: Unpack[ResolveSettings],
) -> "Resolution":
    """Find the document, start and end of every quote of a ground truth.

    Start and end count characters of the document as it stands in the corpus; the quote stays
    beside them. A quote that is not found, or found in several places, is left as it is and
    reported; ``first`` takes the first place instead. Targets that are ids or have a span
    already are left alone, and so is everything else in the records. ``columns`` says which
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
    from calipers.questions.resolve import rule

    opened = open_corpus(corpus, settings["progress"])
    said = Columns.of(settings["columns"])
    data = load(ground_truth, "ground_truth", settings["progress"], said)
    said.check_used()
    return rule.resolve(ground_truth, data, opened, first=settings["first"], columns=said)
