"""Ask something live: a retriever, a grid of retrievers, an index, a language model."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack, cast

from calipers.api.keywords import Matching
from calipers.api.operation import operation
from calipers.retrievers.keywords import AskingModel, Retrieving

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from calipers.grids.run import Watch
    from calipers.measures import Metric
    from calipers.model.grid import Grid, Planned
    from calipers.model.index_recall import Distance, Engine, IndexRecall, Neighbours
    from calipers.model.machine import MachineLabels, WrittenQuestions
    from calipers.retrievers.live_run import LiveRun

MATCHING = frozenset(Matching.__annotations__)
"""The keywords that say how runs are matched."""


@operation(page="retrieve", command="retrieve")
def retrieve(
    search: Any,
    questions: Any,
    k: int = 20,
    *,
    workers: int | None = None,
    output: str | os.PathLike[str] | None = None,
    **asking: Unpack[Retrieving],
) -> "LiveRun":
    """Ask a retriever every question and return what came back as a run.

    ``search`` is a function of (query, k), sync or async; an object of LangChain, LlamaIndex,
    Haystack, FAISS, Chroma, Qdrant or LanceDB; or a text: an address, ``cmd:`` and a command,
    or ``package.module:function``. ``questions`` is a path, a ground truth, a mapping of id to
    text, or a list of texts or records; ``columns`` says which column of a table is what, where
    its name does not, such as ``{"query": "Frage"}``.

    ``k`` results are asked for, by ``workers`` at a time (8, or 1 for a command). With
    ``output``, a .jsonl file, every finished question is on disk at once, the same call goes on
    where it was interrupted, and the run stays in the file until it is looked into. A finished
    output is asked again and the old one kept as .bak; ``keep`` leaves it where nothing changed.

    The others say how patiently it is asked (timeout, retries, rate, max_errors), what happens
    to answers (warm_up, cache, label, restart, resume, keep, retry_errors), what this kind of
    retriever takes (such as batch, request or embed) and where in an answer to look (such as
    results or id).

    >>> def search(query: str, k: int) -> list[str]:
    ...     return ["b", "a"]
    >>> run = retrieve(search, {"q1": "Who wrote it?"}, k=2)
    >>> run.frame["item"].to_list()
    ['b', 'a']
    >>> run.report.answered
    1
    """
    from calipers.retrievers.retrieve import retrieve_to_run

    return retrieve_to_run(search, questions, k=k, workers=workers, output=output, **asking)


@operation(page="grid", command="grid")
def grid(
    config: str | os.PathLike[str] | None = None,
    *,
    baseline: str | None = None,
    metrics: "str | Iterable[str | Metric] | None" = None,
    restart: bool = False,
    retry_errors: bool = False,
    anyway: bool = False,
    watch: "Watch | None" = None,
) -> "Grid":
    """Ask every combination of a grid file every question, and compare them all.

    ``config`` is a calipers.toml (or pyproject.toml) with a table ``[grid]``; without it the one
    of the working folder is taken. Each combination has a run file of its own: a grid that was
    interrupted goes on where it stopped, and what is finished is neither built nor asked again,
    unless its parameters, the questions or the code of its retriever changed. ``restart``
    begins again, ``retry_errors`` asks again what failed. ``baseline`` and ``metrics`` go before
    those of the file. A combination that fails is reported, and the others go on. ``watch`` is
    told of each combination before it is asked.
    """
    from calipers.analyse.leaderboard import at_equal_budget
    from calipers.api.decide import compare
    from calipers.api.systems import matched_systems
    from calipers.grids.plan import read_grid
    from calipers.grids.run import run_all
    from calipers.model.grid import Grid

    plan = read_grid(config, baseline, metrics)
    truth = plan.ground_truth
    reports, failures = run_all(plan, restart=restart, retry_errors=retry_errors, watch=watch)
    runs = {one.name: one.output for one in plan.combinations if one.name in reports}
    matching = {name: plan.measures[name] for name in plan.measures if name in MATCHING}
    pairs = matched_systems(runs, truth, cast("Matching", matching), measured=False)
    rest = {name: value for name, value in plan.measures.items() if name not in MATCHING}
    comparison = compare(pairs, baseline=plan.baseline, anyway=anyway, **rest)
    return Grid(plan.combinations, reports, failures, at_equal_budget(comparison, pairs))


@operation(page="grid", command="grid")
def plan_grid(config: str | os.PathLike[str] | None = None) -> "Planned":
    """The combinations of a grid file; nothing is asked, but every function is looked for."""
    from calipers.grids.plan import read_grid
    from calipers.grids.run import what_is_left

    return what_is_left(read_grid(config))


@operation(page="retrieve")
def exact_neighbours(
    vectors: "ArrayLike",
    queries: "ArrayLike",
    k: int,
    *,
    metric: "Distance" = "cosine",
    engine: "Engine" = "auto",
) -> "Neighbours":
    """The k nearest vectors of each query, by comparing with every one of them.

    ``metric`` is "cosine", "dot" or "euclidean". ``engine`` is "numpy", "faiss", or "auto": FAISS
    where it is installed. The answer is the same with both.

    >>> exact_neighbours([[1, 0], [0, 1], [1, 1]], [[1, 0.1]], k=2).ids.tolist()
    [[0, 2]]
    """
    from calipers.analyse import neighbours

    return neighbours.exact_neighbours(vectors, queries, k, metric=metric, engine=engine)


@operation(page="retrieve")
def index_recall(
    exact: Any,
    approximate: Any,
    k: int | Sequence[int] = 10,
    *,
    queries: Any = None,
    name: str = "index",
) -> "IndexRecall | list[IndexRecall]":
    """The recall of an index against exact search, at one k or several.

    Each side is a table of ids with one row per query (a pair of distances and ids, as FAISS
    returns it, will do, and so will the result of ``exact_neighbours``), a mapping of query to
    ids, a run, or a function of (queries, k) that returns one of the first two; a function is
    timed, and then the speed is part of the result. ``approximate`` may also be a mapping of
    name to any of these, to hold several settings of an index side by side.

    One index and one k give one result; several give a list, sorted as given.

    >>> index_recall([[1, 2, 3]], [[1, 3, 9]], k=2).recall
    0.5
    """
    from calipers.analyse.index_recall import recall_of_index

    return recall_of_index(exact, approximate, k, queries=queries, name=name)


@operation(page="make-ground-truth", command="judge")
def judge(
    labels: Any,
    *,
    endpoint: str,
    model: str,
    key_env: str | None = None,
    **asking: Unpack[AskingModel],
) -> "MachineLabels":
    """Let a language model grade every pair of question and item.

    ``labels`` is a file of ``draft``, or a list of labels; grades that it holds are not shown to
    the model and not kept. ``endpoint`` is an OpenAI-compatible address and has no default;
    ``key_env`` names the environment variable with its key. The others say how it is asked:
    ``cache`` (a folder), ``workers``, ``timeout``, ``retries``, ``rate``, ``max_errors``.

    The grades are 0, 1 and 2. A refusal, a malformed answer or another grade leaves the row
    without one, and is counted.
    """
    from calipers.chat.judge import grade_labels

    return grade_labels(labels, endpoint=endpoint, model=model, key_env=key_env, **asking)


@operation(page="make-ground-truth", command="questions")
def write_questions(
    corpus: Any,
    *,
    endpoint: str,
    model: str,
    n: int = 50,
    seed: int = 0,
    key_env: str | None = None,
    reading: Callable[[int, int], None] | None = None,
    **asking: Unpack[AskingModel],
) -> "WrittenQuestions":
    """Let a language model write one question from each of n chunks, drawn by ``seed``.

    Each question comes with the words that answer it. They must stand in the chunk (line ends,
    spacing and invisible characters apart); where they do not, the question is rejected and
    counted. ``reading`` is told the bytes of the corpus that are read and the bytes in all; the
    other arguments are those of ``judge``.
    """
    from calipers.chat.questions import questions_from

    return questions_from(
        corpus, endpoint=endpoint, model=model, n=n, seed=seed, key_env=key_env, reading=reading,
        **asking,
    )  # fmt: skip
