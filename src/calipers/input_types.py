"""What may be handed to an operation, as types that editors and type checkers show.

Files, mappings, records and tables of several libraries are all read by the same reader
(``calipers.io.load``), which also says what is wrong with a value.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol


class _KnownByName(type):
    """Stands for a class that is not imported: isinstance compares class names."""

    def __instancecheck__(cls, value: object) -> bool:
        return any(base.__name__ == cls.__name__ for base in type(value).__mro__)


def known_as(path: str) -> Any:
    """A class that keywords may hold and that is not imported for them, by its full name.

    >>> isinstance(3, known_as("builtins.int")), isinstance("3", known_as("builtins.int"))
    (True, False)
    """
    module, _, name = path.rpartition(".")
    return _KnownByName(name, (), {"__module__": module})


if TYPE_CHECKING:
    from calipers.io.tables.columns import Columns
    from calipers.measures import Metric
    from calipers.model.ground_truth import GroundTruth
    from calipers.model.matched import Dataset, Matched
    from calipers.model.run import Run
    from calipers.model.scores import Scores as Scores
else:
    Columns = known_as("calipers.io.tables.columns.Columns")
    Dataset = known_as("calipers.model.matched.Dataset")
    GroundTruth = known_as("calipers.model.ground_truth.GroundTruth")
    Matched = known_as("calipers.model.matched.Matched")
    Metric = known_as("calipers.measures.spec.Metric")
    Run = known_as("calipers.model.run.Run")
    Scores = known_as("calipers.model.scores.Scores")

PathText = str | os.PathLike[str]
"""The path of a file or folder, "-" for standard input, or a reference such as
"@nightly"."""


class TableLike(Protocol):
    """A DataFrame of polars, pandas or Spark, or a table of Arrow."""

    @property
    def columns(self) -> object:
        """The columns, or their names."""
        ...


ByQuery = Mapping[Any, Mapping[Any, float] | Collection[object]]
"""For each query its items with their scores or grades, or its items alone; ids may be
numbers."""


class DatasetLike(Protocol):
    """A dataset of Hugging Face or ragas."""

    @property
    def to_list(self) -> Callable[..., object]:
        """The method that gives its records."""
        ...


Records = Sequence[object] | Iterator[object] | DatasetLike
"""Records with named fields, or objects of a library that hold such records."""

GroundTruthInput = PathText | GroundTruth | Dataset | ByQuery | Records | TableLike
"""What should be found: a file, a mapping of queries to items, records or a table."""
RunInput = PathText | Run | Dataset | ByQuery | Records | TableLike
"""What a retriever returned: a file, a mapping of queries to items, records or a
table."""
DataInput = PathText | Matched | Dataset | Scores | ByQuery | Records | TableLike
"""Ground truth and results together: a pair that ``read`` made, a file, records or a
table."""
SystemInput = PathText | Run | Matched | Dataset | Scores | ByQuery | Records | TableLike
"""One system to compare: a run, a pair, scores, or the file or reference of one of
them."""
SystemsInput = Mapping[str, SystemInput] | Sequence[SystemInput]
"""Several systems by name, or paths, which are named after their files."""
CorpusInput = PathText | Mapping[Any, str] | Records | TableLike
"""The documents that are searched: a folder, a file, a mapping of ids to texts,
records."""
QuestionsInput = PathText | GroundTruth | Mapping[Any, str] | Records | TableLike
"""Questions to ask: a file, a ground truth, a mapping of ids to texts, a list of
texts."""


class HasInvoke(Protocol):
    """A retriever of LangChain and its kin."""

    @property
    def invoke(self) -> Callable[..., object]:
        """The method that is called with the text of a question."""
        ...


class HasRetrieve(Protocol):
    """A retriever of LlamaIndex and its kin."""

    @property
    def retrieve(self) -> Callable[..., object]:
        """The method that is called with the text of a question."""
        ...


class HasSearch(Protocol):
    """A client or an index with a method ``search``."""

    @property
    def search(self) -> Callable[..., object]:
        """The method that is called with the text of a question."""
        ...


RetrieverInput = str | Callable[..., object] | HasInvoke | HasRetrieve | HasSearch
"""A live retriever: a function of (query, k), an object that retrieves, or a text that
names one: package.module:function, an address, cmd:command or mcp:server#tool."""
ColumnsInput = (
    Mapping[str, str | Sequence[str] | Mapping[str, float]]
    | str
    | Sequence[str]
    | Columns
)
"""Which column is what: a mapping such as {"item": "expected_ids"}, or
"item=expected_ids"."""
MetricsInput = str | Iterable[str | Metric]
"""Metrics by name, such as "recall@10,ndcg@5", or as values."""
