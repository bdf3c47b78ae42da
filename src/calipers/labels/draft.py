"""A file to label: the first results of several runs, each pair of question and item once."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from calipers.errors import (
    CalipersError,
    InvalidInput,
    WriteFailed,
    check_number,
)
from calipers.frozen import dataclass
from calipers.io.corpus import open_corpus
from calipers.io.load import load_ground_truth, load_run
from calipers.io.records.label_files import check_label_file, read_labels, write_labels
from calipers.io.tables.columns import Columns
from calipers.live.questions import read_questions
from calipers.model.document import Document, Note
from calipers.model.fact import Fact, joined, named, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label, is_machine
from calipers.model.result import HasRows, Plain, ShowsItself
from calipers.model.run import Run
from calipers.present.escape import printable
from calipers.questions import pooling
from calipers.questions.inputs import run_within
from calipers.questions.systems import name_systems
from calipers.words import first_results, plural

if TYPE_CHECKING:
    from calipers.labels.settings import LabelsDraftSettings, Runs

NAMED = 5
"""How many questions a note names."""


@dataclass(frozen=True, eq=False, repr=False)
class Draft(Plain, HasRows):
    """Rows to label, with counts."""

    shown_by: ClassVar[str] = "calipers.labels.draft"
    dict_keys: ClassVar[str] = (
        "rows=pairs queries runs k seed already_judged=judged without_text "
        "without_results=silent unknown_queries=unknown switch"
    )

    rows: Sequence[Label]
    runs: int
    k: int
    seed: int
    queries: int
    """Questions with at least one row."""
    judged: int
    """Pairs left out because the ground truth already has them."""
    without_text: int
    """Rows without a text: a judge would see only an id."""
    silent: tuple[str, ...] = ()
    """Questions for which no run returned anything."""
    unknown: int = 0
    """Queries of the runs that are not among the questions."""
    switch: ShowsItself | None = None
    """What the labels say where only what differs between two runs is labelled."""

    @property
    def pairs(self) -> int:
        """How many rows there are to label."""
        return len(self.rows)

    def write(self, path: str | Path) -> None:
        """Write the rows as .jsonl or .csv, atomically."""
        write_labels(self.rows, path)


def draft_files(runs: "Runs", settings: "LabelsDraftSettings") -> Draft:
    """Read runs of any size, and return their first k results as rows to judge."""
    columns = Columns.of(settings.files.columns)
    questions = read_asked(settings.questions, columns)
    memory = settings.files.memory
    loaded = [run_within(run, None, columns, memory) for run in _list_runs(runs)]
    truth = None
    if settings.ground_truth is not None:
        truth = load_ground_truth(settings.ground_truth, columns)
    columns.check_used()
    return draft(
        loaded,
        questions,
        k=settings.k,
        seed=settings.seed,
        truth=truth,
        corpus=settings.corpus,
    )


def _list_runs(runs: Any) -> list[Any]:
    """One run, or a list or mapping of runs, as a list."""
    if isinstance(runs, str | os.PathLike | Run | Mapping | pl.DataFrame):
        return [runs]
    # A list of records is one run; a list of anything else is a list of runs.
    is_records = isinstance(runs, list | tuple) and all(
        isinstance(run, Mapping) and "query" in run and "retrieved" in run for run in runs
    )
    if is_records and runs:
        return [list(runs)]
    listed = (
        list(runs)
        if isinstance(runs, Iterable) and getattr(runs, "ndim", True)
        else [runs]
    )
    if not listed:
        raise InvalidInput("No run is given; give at least one, and better several.")
    return listed


def read_asked(
    questions: object, columns: Columns | None = None
) -> dict[str, str] | None:
    """The texts of the questions by id, in their order; None if no questions are given."""
    if questions is None:
        return None
    return {question.id: question.text for question in read_questions(questions, columns)}


def read_inputs(
    runs: Any, ground_truth: Any, columns: Any
) -> tuple[dict[str, Run], GroundTruth | None]:
    """The runs by name, and the ground truth."""
    column_names = Columns.of(columns)
    loaded = {
        name: load_run(value, name, column_names)
        for name, value in name_systems(runs).items()
    }
    truth = (
        None if ground_truth is None else load_ground_truth(ground_truth, column_names)
    )
    column_names.check_used()
    return loaded, truth


def draft(
    runs: Sequence[Run],
    questions: Mapping[str, str] | None,
    *,
    k: int,
    seed: int,
    truth: GroundTruth | None = None,
    corpus: object = None,
) -> Draft:
    """Pool the first k results of several runs into rows to judge.

    ``questions`` maps ids to question texts, in the order of judging; without it they come
    from the runs.
    """
    check_number("k", k, whole=True, least=1)
    frames = [pooling.first_results(run, k) for run in runs]
    queries = pooling.query_names(frames).to_list()
    texts = questions if questions is not None else question_texts(runs, queries)
    returned = set(queries)
    wanted = [query for query in texts if query in returned]
    if not wanted:
        raise InvalidInput(
            f"There is nothing to judge: the questions are {_first_of([*texts])}; give "
            f"those that the runs were asked: {_first_of(queries)}."
        )
    pooled = pooling.pool_runs(frames, k).items
    items: Mapping[str, Sequence[Label]] = {query: pooled[query] for query in wanted}
    judged = 0
    if truth is not None:
        items, judged = pooling.without_judged(items, truth)
    rows = [
        replace(label, query=texts[query])
        for query in wanted
        for label in pooling.shuffled(items[query], seed)
    ]
    if corpus is not None:
        rows = with_corpus(rows, corpus)
    return Draft(
        rows=rows,
        runs=len(runs),
        k=k,
        seed=seed,
        queries=len({row.query_id for row in rows}),
        silent=tuple(query for query in texts if query not in returned),
        unknown=len(returned) - len(wanted),
        judged=judged,
        without_text=sum(row.text is None for row in rows),
    )


def _first_of(queries: Sequence[str]) -> str:
    """The first names, for an error."""
    return ", ".join(map(repr, queries[:3])) or "none"


def question_texts(
    sources: Iterable[Run | GroundTruth], queries: Sequence[str]
) -> dict[str, str]:
    """The text of every question that was found; one that is no id is its own text."""
    known = known_texts(sources)
    unknown = [query for query in queries if query not in known and " " not in query]
    if unknown:
        raise InvalidInput(
            f"The text of the question {unknown[0]!r:.80} is not known: the runs have "
            "ids alone, and nobody can judge an id; give the questions (--questions "
            "FILE)."
        )
    return {**known, **{query: query for query in queries if query not in known}}


def known_texts(sources: Iterable[Run | GroundTruth]) -> dict[str, str]:
    """The texts of the questions that runs or a ground truth know."""
    known: dict[str, str] = {}
    for source in sources:
        if source.queries is not None and "text" in source.queries.columns:
            for query, text in (
                source.queries.select("query", "text").drop_nulls().iter_rows()
            ):
                known.setdefault(query, text)
    return known


def with_corpus(rows: Iterable[Label], corpus: object) -> list[Label]:
    """Add the titles of a corpus, and its texts where the runs have none."""
    every = list(rows)
    wanted = pl.Series(
        [label.item for label in every if label.item is not None], dtype=pl.String
    )
    known: dict[str | None, Mapping[str, str | None]] = {}
    for batch in open_corpus(corpus).batches():
        some = batch.filter(pl.col("id").is_in(wanted.implode()))
        document = pl.when("named").then("document").alias("document")
        for row in some.select("id", "title", "text", document).iter_rows(named=True):
            known.setdefault(row["id"], row)
    return [_completed(label, known.get(label.item, {})) for label in every]


def _completed(label: Label, known: Mapping[str, str | None]) -> Label:
    """A row with what the corpus has of its item; a text of the run keeps its own document."""
    document = label.document if label.text else label.document or known.get("document")
    title = label.title or known.get("title")
    text = label.text or known.get("text")
    return replace(label, title=title, text=text, document=document)


def document(drafted: Draft, output: str | None = None) -> Document:
    """What a file to label contains, and what to do with it."""
    if drafted.switch is not None:
        shown = drafted.switch.document()
        written = (
            [Note("doubt", sentence("Written to {it.text}.", it=named(output)))]
            if drafted.rows and output
            else []
        )
        return replace(shown, notes=[*written, *shown.notes], rows=lambda: drafted.rows)
    text = "Nothing is left to label, so nothing is written."
    if drafted.rows:
        text = sentence(
            "{it.count:pair|pairs} to label for {it.queries:question|questions}: the {first} of "
            "{runs.count:run|runs}, each once.",
            it=Fact(
                about="count", count=drafted.pairs, queries=drafted.queries, k=drafted.k
            ),
            first=first_results(drafted.k),
            runs=Fact(about="count", count=drafted.runs, text="runs"),
        )
    return Document(text, notes=[*_notes(drafted, output)], rows=lambda: drafted.rows)


def _notes(drafted: Draft, output: str | None) -> Iterator[Note]:
    """What was left out, where it is written, and what to do with it."""
    names = ", ".join(printable(query, 40) for query in drafted.silent[:NAMED])
    silent = f"without any result: {names}{', …' if len(drafted.silent) > NAMED else ''}"
    counts = (
        (drafted.judged, "pair", None, "judged before left out"),
        (len(drafted.silent), "question", None, silent),
        (drafted.unknown, "query", "queries", "of the runs are not among the questions"),
        (
            drafted.without_text,
            "pair",
            None,
            "without a text to judge; add the texts with --corpus",
        ),
    )
    for many, word, several, what in counts:
        if many:
            counted = Fact(about="count", count=many, text=what)
            template = "{it.count:" + f"{word}|{several or word + 's'}" + "} {it.text}."
            yield Note("missing", sentence(template, it=counted))
    if drafted.rows:
        written = "Write it with write()."
        if output:
            written = sentence("Written to {it.text}.", it=named(output))
        how = sentence(
            "Fill in 'grade' ({it.value:g} = does not help) and 'judge', a copy per judge.",
            it=Fact(about="setting", value=0.0),
        )
        yield Note("doubt", joined(written, how))
        yield Note("next", "Then: `calipers labels export FILE… -o truth.jsonl`")


def check_unfilled(path: str) -> None:
    """Refuse to overwrite a file that already contains human grades."""
    check_label_file(path)
    if not Path(path).is_file() or not Path(path).stat().st_size:
        return
    try:
        rows = read_labels(path)
    except CalipersError as error:
        # It may hold grades in a form that a spreadsheet made of it.
        raise WriteFailed(
            f"The output {path} is there, and cannot be read as labels; name another "
            "file, or move that one away."
        ) from error
    filled = sum(
        label.grade is not None and not is_machine(label.judge or "") for _, label in rows
    )
    if filled:
        raise WriteFailed(
            f"The output {path} holds {plural(filled, 'grade')} that somebody filled in; "
            "name another file, or move that one away."
        )
