"""Ask a live retriever every question, and keep what it returns as a run."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from calipers.api.evaluate import choose_metrics
from calipers.api.live_run import LiveRun
from calipers.errors import InvalidInput, RetrieverFailed
from calipers.io.records import Record, build
from calipers.model.run import Run
from calipers.retrievers.base import Retriever
from calipers.retrievers.driver import Driver, Progress
from calipers.retrievers.journal import Journal
from calipers.retrievers.pace import RETRIES, TIMEOUT_SECONDS, Pace
from calipers.retrievers.questions import Questions, open_questions
from calipers.retrievers.recognise import as_retriever
from calipers.retrievers.report import Report, Tally, report_of

if TYPE_CHECKING:
    from calipers.retrievers.cache import Cache

SHALLOWEST = 10
"""Metrics without a cut-off, such as mrr, look at so many results at least."""

_record = msgspec.json.Decoder(Record).decode


def retrieve(
    search: Any,
    questions: Any,
    k: int = 20,
    *,
    workers: int | None = None,
    output: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> LiveRun:
    """Ask a retriever every question and return what came back as a run.

    ``search`` is a function of (query, k), sync or async; an object of LangChain, LlamaIndex,
    Haystack, FAISS, Chroma, Qdrant or LanceDB; or a text: an address, ``cmd:`` and a command,
    or ``package.module:function``. ``questions`` is a path, a ground truth, a mapping of id to
    text, or a list of texts or records.

    ``k`` results are asked for, by ``workers`` at a time (8, or 1 for a command). With
    ``output``, a .jsonl file, every finished question is on disk at once, the same call goes on
    where it was interrupted, and the run stays in the file until it is looked into. All settings:
    see ``retrieve_to_report``.

    >>> def search(query: str, k: int) -> list[str]:
    ...     return ["b", "a"]
    >>> run = retrieve(search, {"q1": "Who wrote it?"}, k=2)
    >>> run.frame["item"].to_list()
    ['b', 'a']
    >>> run.report.answered
    1
    """
    lines: list[bytes] = []
    report = retrieve_to_report(
        search, questions, k=k, workers=workers, output=output, keep=lines.append, **settings
    )
    if output is not None:
        return LiveRun.in_file(Path(output), report)
    order = {one.id: number for number, one in enumerate(open_questions(questions))}
    records = sorted(
        map(_record, lines), key=lambda r: order[str(r.query if r.id is None else r.id)]
    )
    run = build(records, lambda number: f"results[{number}]", "results").run
    if run is None:
        raise RetrieverFailed(f"{report.retriever} gave no results.")
    about = {name: getattr(run, name) for name in Run.__dataclass_fields__}
    return LiveRun(**{**about, "name": report.retriever}, report=report)


def retrieve_for(
    search: Any,
    questions: Any,
    metrics: Any = None,
    k: Any = None,
    *,
    weights: Mapping[str, float] | None = None,
    **settings: Any,
) -> LiveRun:
    """A run as deep as the metrics look: the largest cut-off among them, and at least 10."""
    chosen = choose_metrics(metrics, k, None, weights)
    depth = max([SHALLOWEST, *(metric.k for metric in chosen if metric.k is not None)])
    return retrieve(search, questions, k=depth, **settings)


def retrieve_to_report(
    search: Any,
    questions: Any,
    *,
    k: int = 20,
    workers: int | None = None,
    output: str | os.PathLike[str] | None = None,
    timeout: float | None = TIMEOUT_SECONDS,
    retries: int = RETRIES,
    rate: float | None = None,
    max_errors: int | None = None,
    warm_up: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    label: str | None = None,
    restart: bool = False,
    retry_errors: bool = False,
    progress: Progress | None = None,
    total: Callable[[int], None] | None = None,
    keep: Callable[[bytes], None] | None = None,
    **options: Any,
) -> Report:
    """Ask a retriever every question, write what comes back, and say how it went.

    ``k`` results are asked for, by ``workers`` at a time (8, or 1 for a command). ``output`` is
    a .jsonl file: each finished question is in it at once, and the same call goes on where it
    was interrupted; ``restart`` begins again, ``retry_errors`` asks the failed ones again.
    ``timeout`` is per question in seconds, ``retries`` for what is worth retrying, ``rate`` the
    questions per second at most, ``max_errors`` the number of errors to live with. ``warm_up``
    first questions are kept out of the latencies. ``cache`` is a file that keeps answers
    between runs; ``label`` names a version of the retriever, so that an answer of the old one
    is not taken for the new one's. ``progress`` is told the counts as they grow, ``total`` how
    many questions there are, ``keep`` each line as it is written.

    Further options belong to the kind of retriever: ``batch`` and ``params`` for a function;
    ``request``, ``method``, ``headers`` for an address; ``embed``, ``ids``, ``texts``,
    ``collection``, ``using`` for vector stores; and for all, paths to what is where in an
    answer: ``results``, ``id``, ``score``, ``text``, ``document``, ``start``, ``end``,
    ``tokens``, ``stages``.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InvalidInput(f"k is {k!r}; it must be a whole number of at least 1.")
    asked = open_questions(questions)
    retriever = as_retriever(search, **options)
    pace = Pace(
        workers=retriever.workers if workers is None else workers, timeout=timeout,
        retries=retries, rate=rate, max_errors=max_errors, warm_up=warm_up,
    )  # fmt: skip
    decides = {**retriever.settings, "k": k, **({"label": label} if label is not None else {})}
    tally = Tally(k)
    place = None if output is None else Path(output)
    journal = None
    if place is not None:
        journal = Journal.open(
            place, decides, asked, tally, restart=restart, retry_errors=retry_errors
        )
    try:
        if total is not None:
            total(len(asked))
        opened = None if cache is None else _cache(Path(cache), decides)
        try:
            return _drive(retriever, asked, k, pace, tally, journal, opened, progress, keep)
        finally:
            if opened is not None:
                opened.close()
    finally:
        if journal is not None:
            journal.close()


def _drive(
    retriever: Retriever,
    questions: Questions,
    k: int,
    pace: Pace,
    tally: Tally,
    journal: Journal | None,
    cache: "Cache | None",
    progress: Progress | None,
    keep: Callable[[bytes], None] | None,
) -> Report:
    def kept(numbers: Sequence[int], lines: Sequence[bytes]) -> None:  # noqa: ARG001
        if keep is not None:
            for line in lines:
                keep(line)

    driver = Driver(
        retriever,
        enumerate(questions) if journal is None else journal.unfinished(),
        len(questions) if journal is None else journal.left,
        k, pace, tally, kept if journal is None else journal.write, cache=cache,
    )  # fmt: skip
    try:
        driver.run(progress)
    except RetrieverFailed as failed:
        raise RetrieverFailed(_what_now(str(failed), tally, len(questions), journal)) from None
    report = report_of(
        tally, retriever=retriever.name, questions=len(questions), asked=driver.asked,
        seconds=driver.seconds, output=None if journal is None else str(journal.path),
    )  # fmt: skip
    if journal is not None:
        journal.finish(report.to_dict())
    return report


def _cache(path: Path, settings: Mapping[str, Any]) -> "Cache":
    from calipers.retrievers.cache import Cache

    return Cache(path, settings)


def _what_now(sentence: str, tally: Tally, questions: int, journal: Journal | None) -> str:
    if not sentence.endswith((".", "?", "!")):
        sentence += "."
    if journal is None:
        return sentence
    if not tally.answered:
        journal.discard()
        return f"{sentence} No file was written."
    failed = ", and --retry-errors asks the failed ones again" if tally.errors else ""
    return (
        f"{sentence} {tally.done} of {questions} questions are finished and kept in "
        f"{journal.path}; the same command goes on from there{failed}."
    )
