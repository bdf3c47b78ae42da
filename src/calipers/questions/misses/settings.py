"""What may be asked here, declared once: names, types and defaults."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.input_types import PathText, RetrieverInput, RunInput, Scores
from calipers.live.keywords import ColumnNames, RetrieverOptions
from calipers.operation import Setting, Settings, operation
from calipers.questions.reading import (
    Data,
    FirstK,
    MapIds,
    Match,
    Reading,
    Returned,
    Searched,
    Store,
    Truth,
)

if TYPE_CHECKING:
    from calipers.questions.misses.one_query import Explanation
    from calipers.questions.misses.result import Misses


Candidates = Annotated[
    RunInput | None,
    Setting(
        "The list before the reranker, as a run.",
        metavar="FILE",
        file="candidates",
        path=True,
        unchecked=True,
    ),
]


@dataclass(frozen=True, kw_only=True)
class MissesSettings(Settings):
    """What `misses` takes."""

    reading: Reading = Reading()

    k: FirstK = 10
    corpus: Searched = None
    candidates: Candidates = None
    exact: Annotated[
        RunInput | None,
        Setting(
            "Exact search beside an approximate index, as a run.",
            metavar="FILE",
            file="exact",
            path=True,
            unchecked=True,
        ),
    ] = None
    worse_than: Annotated[
        PathText | Scores | RunInput | None,
        Setting(
            "Only the queries that find less than in this result of `calipers gate save`, or in "
            "this run.",
            metavar="FILE",
            path=True,
            unchecked=True,
        ),
    ] = None


@operation(page="misses", command="misses")
def misses(data: Data = None, *, settings: MissesSettings) -> "Misses":
    """One reason for each piece of ground truth that is not in the first k results.

    ``data`` is a pair, or anything that ``read`` takes. ``candidates`` and ``exact`` are runs;
    records may hold them too, under ``stages``. ``worse_than`` is an older result, or a run: then
    only the queries that find less in their first k results than they did there are listed.

    >>> result = misses(ground_truth={"q": ["a", "b", "c"]}, run={"q": ["a", "x", "b"]}, k=2)
    >>> result.reasons
    {'below_k': 1, 'not_returned': 1}
    """
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns
    from calipers.measures.spec import check_cutoff
    from calipers.questions.inputs import below, matched
    from calipers.questions.misses.rule import explain_misses

    k = check_cutoff(settings.k)
    reading = settings.reading
    columns = Columns.of(reading.matching.files.columns)
    if columns:
        # One object for all files: what none of them has is refused at the end.
        files = replace(reading.matching.files, columns=columns)
        reading = replace(reading, matching=replace(reading.matching, files=files))
    where = reading.matching.where
    if settings.worse_than is not None:
        # An older result is of all queries, so they are chosen after the comparison.
        reading = replace(reading, matching=replace(reading.matching, where=None))
    pair = matched(data, reading, again=True, looks=below(k))
    before, beside = (
        None if run is None else load(run, "run", columns)
        for run in (settings.candidates, settings.exact)
    )
    columns.check_used()
    lost = None
    if settings.worse_than is not None:
        from calipers.questions.misses.lost_queries import LostQueries

        matching = reading.matching
        lost = LostQueries.of(pair, k, settings.worse_than, matching, where)
        pair = lost.pair
    result = explain_misses(
        pair, k, corpus=settings.corpus, candidates=before, exact=beside
    )
    return result if lost is None else lost.within(result)


@dataclass(frozen=True, kw_only=True)
class ExplainSettings(Settings):
    """What `explain` takes."""

    columns: ColumnNames = None
    options: RetrieverOptions = RetrieverOptions()

    run: Returned = None
    retriever: Annotated[
        RetrieverInput | None,
        Setting(
            "The live retriever: package.module:function, an address, cmd:command or "
            "mcp:server#tool.",
            metavar="RETRIEVER",
            file="retriever",
            excludes=("run",),
            unchecked=True,
        ),
    ] = None
    ground_truth: Truth = None
    k: FirstK = 10
    corpus: Searched = None
    match: Match = None
    map_ids: MapIds = None
    timeout: Annotated[
        float | None,
        Setting("Give up after so long. [default: 30.0]", metavar="SECONDS"),
    ] = 30.0
    store: Store = None


@operation(page="misses", command="explain")
def explain(
    question: Annotated[str, Setting("", argument="QUESTION")],
    *,
    settings: ExplainSettings,
) -> "Explanation":
    """One question: what comes back for it, and why targets are not among it.

    ``question`` is a text, or the id of one in the ``ground_truth``. It is asked of a live
    ``retriever``, or looked up in a ``run``, which may hold the ground truth too. Every target gets
    its rank, or the reason why it is missing, as ``misses`` gives it.

    >>> truth = [{"query": "Who?", "ground_truth": ["a", "x"]}]
    >>> found = explain("Who?", retriever=lambda query, k: ["b", "a"], ground_truth=truth)
    >>> [(target.name, target.rank, target.reason) for target in found.targets]
    [('a', 2, None), ('x', None, 'not_returned')]
    """
    from calipers.measures.spec import check_cutoff
    from calipers.questions.misses.one_query import explain_question

    check_cutoff(settings.k)
    return explain_question(question, settings)
