"""A file to label: the first results of several retrievers, and what a ground truth expects."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from calipers.errors import CalipersError, InvalidInput, WriteFailed, check_number
from calipers.io.corpus import open_corpus
from calipers.io.load import load_ground_truth
from calipers.io.records.label_files import check_label_file, read_labels, write_labels
from calipers.io.tables.columns import Columns
from calipers.labels.switch import Switch
from calipers.live.questions import read_questions
from calipers.model.document import Document, Note
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label, is_machine
from calipers.model.result import HasRows, Plain
from calipers.model.run import Run
from calipers.present.escape import printable
from calipers.questions import pooling
from calipers.questions.inputs import run_within
from calipers.words import first_results, plural

NAMED = 5
"""How many questions a note names."""


def check_unfilled(path: str) -> None:
    """Refuse to overwrite a file that already contains human grades."""
    check_label_file(path)
    filled = 0
    with suppress(CalipersError):  # not a file to label, so it has no grades
        rows = read_labels(path) if Path(path).is_file() else []
        filled = sum(one.grade is not None and not is_machine(one.judge or "") for _, one in rows)
    if filled:
        raise WriteFailed(
            f"The output {path} holds {plural(filled, 'grade')} that somebody filled in; name "
            "another file, or move that one away."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Draft(Plain, HasRows):
    """Rows to label, with counts."""

    shown_by: ClassVar[str] = "calipers.labels.draft"
    dict_keys: ClassVar[str] = (
        "rows=pairs queries runs k seed already_judged=judged without_text without_results=silent "
        "unknown_queries=unknown switch"
    )

    rows: Sequence[Label]
    runs: int
    k: int
    seed: int
    queries: int
    """Questions with at least one row."""
    silent: tuple[str, ...]
    """Questions for which no run returned anything."""
    unknown: int
    """Queries of the runs that are not among the questions."""
    judged: int
    """Pairs left out because the ground truth already has them."""
    without_text: int
    """Rows without a text: a judge would see only an id."""
    switch: Switch | None = None
    """What the labels say where only what differs between two runs is labelled."""

    @property
    def pairs(self) -> int:
        """How many rows there are to label."""
        return len(self.rows)

    def write(self, path: str | Path) -> None:
        """Write the rows as .jsonl or .csv, atomically."""
        write_labels(self.rows, path)


def document(found: Draft, output: str | None = None) -> Document:
    """What a file to label contains, and what to do with it."""
    if found.switch is not None:
        return replace(found.switch.document(), rows=lambda: found.rows)
    sentence = "Nothing is left to label, so nothing is written."
    if found.rows:
        sentence = (
            f"{plural(found.pairs, 'pair')} to label for "
            f"{plural(found.queries, 'question')}: the {first_results(found.k)} of "
            f"{plural(found.runs, 'run')}, each once."
        )
    return Document(sentence, notes=[*_notes(found, output)], rows=lambda: found.rows)


def _notes(found: Draft, output: str | None) -> Iterator[Note]:
    named = ", ".join(printable(one, 40) for one in found.silent[:NAMED])
    silent = f"without any result: {named}{', …' if len(found.silent) > NAMED else ''}"
    counts = (
        (found.judged, "pair", None, "judged before left out"),
        (len(found.silent), "question", None, silent),
        (found.unknown, "query", "queries", "of the runs are not among the questions"),
        (found.without_text, "pair", None, "without a text to judge; add the texts with --corpus"),
    )
    for many, *words, what in counts:
        if many:
            yield Note("missing", f"{plural(many, *words)} {what}.")
    if found.rows:
        written = f"Written to {output}." if output else "Write it with write()."
        how = "Fill in 'grade' (0 = does not help) and 'judge', a copy per judge."
        yield Note("doubt", f"{written} {how}")
        yield Note("next", "Then: `calipers labels export FILE… -o truth.jsonl`")


def read_asked(questions: Any, columns: Columns | None = None) -> dict[str, str] | None:
    """The texts of the questions by id, in their order; None if no questions are given."""
    if questions is None:
        return None
    return {one.id: one.text for one in read_questions(questions, columns)}


def draft(
    runs: Any,
    asked: Mapping[str, str] | None = None,
    *,
    k: int,
    seed: int,
    questions: Any = None,
    ground_truth: Any = None,
    corpus: Any = None,
    columns: Any = None,
    memory: str | int | None = None,
    temp: str | os.PathLike[str] | None = None,
) -> Draft:
    """Pool the first k results of several runs into rows to judge.

    ``asked`` maps ids to question texts, in the order of judging; without it they come from
    ``questions``, or else from the runs.
    """
    check_number("k", k, whole=True, least=1)
    said = Columns.of(columns)
    asked = read_asked(questions, said) if asked is None else asked
    loaded = [run_within(one, None, said, memory, temp) for one in _listed(runs)]
    truth = None if ground_truth is None else load_ground_truth(ground_truth, columns=said)
    said.check_used()
    frames = [pooling.first_results(run, k) for run in loaded]
    found = pooling.query_names(frames).to_list()
    texts = asked if asked is not None else question_texts(loaded, found)
    returned = set(found)
    wanted = [query for query in texts if query in returned]
    if not wanted:
        asked_for, returned_for = (", ".join(map(repr, one[:3])) for one in ([*texts], found))
        raise InvalidInput(
            f"There is nothing to judge: the questions are {asked_for or 'none'}; give those that "
            f"the runs were asked: {returned_for or 'none'}."
        )
    judged = 0

    def blocks() -> Iterator[list[Label]]:
        nonlocal judged
        for names, some in pooling.by_queries(frames, wanted):
            items: Mapping[str, Sequence[Label]] = pooling.pool_runs(some, k).items
            if truth is not None:
                items, known = pooling.without_judged(items, truth)
                judged += known
            yield [one for query in names for one in pooling.shuffled(items[query], seed)]

    rows = pooling.rows_to_label(blocks(), texts.get)
    if corpus is not None:
        rows = rows.like(with_corpus(rows.table, corpus))
    return Draft(
        rows=rows,
        runs=len(loaded),
        k=k,
        seed=seed,
        queries=rows.table["query_id"].n_unique(),
        silent=tuple(query for query in texts if query not in returned),
        unknown=len(returned) - len(wanted),
        judged=judged,
        without_text=rows.table["text"].null_count() if "text" in rows.table.columns else len(rows),
    )


def _listed(runs: Any) -> list[Any]:
    if isinstance(runs, str | os.PathLike | Run | Mapping | pl.DataFrame):
        return [runs]
    # A list of records is one run; a list of anything else is a list of runs.
    is_records = isinstance(runs, list | tuple) and all(
        isinstance(one, Mapping) and "query" in one and "retrieved" in one for one in runs
    )
    if is_records and runs:
        return [list(runs)]
    found = list(runs) if isinstance(runs, Iterable) else [runs]
    if not found:
        raise InvalidInput("No run is given; give at least one, and better several.")
    return found


def texts_of_runs(runs: Iterable[Run]) -> dict[str, str]:
    """The texts of the questions that the runs know."""
    known: dict[str, str] = {}
    for run in runs:
        if run.queries is not None and "text" in run.queries.columns:
            for query, text in run.queries.select("query", "text").drop_nulls("text").iter_rows():
                known.setdefault(query, text)
    return known


def question_texts(runs: list[Run], found: Sequence[str]) -> dict[str, str]:
    """The text of every question, from the runs; one that is no id is its own text."""
    known = texts_of_runs(runs)
    unknown = [query for query in found if query not in known and " " not in query]
    if unknown:
        raise InvalidInput(
            f"The text of the question {unknown[0]!r:.80} is not known: the runs have ids alone, "
            "and nobody can judge an id; give the questions (--questions FILE)."
        )
    return {**known, **{query: query for query in found if query not in known}}


def with_corpus(rows: pl.DataFrame, corpus: Any) -> pl.DataFrame:
    """Add the titles of a corpus, and its texts where the runs have none."""
    nothing = pl.lit(None, pl.String)
    rows = rows.with_columns(
        nothing.alias(name) for name in ("item", "text", "document") if name not in rows.columns
    )
    wanted = rows["item"].drop_nulls().unique()
    if wanted.is_empty():
        return rows
    in_corpus = pl.concat(
        batch.filter(pl.col("id").is_in(wanted.implode())).select(
            "title", item="id", __text="text", __document=pl.when("named").then("document")
        )
        for batch in open_corpus(corpus).batches()
    ).unique("item", keep="first")
    known = pl.coalesce("document", "__document")
    return rows.join(in_corpus, "item", "left", maintain_order="left").select(
        *(name for name in rows.columns if name not in ("text", "document")),
        pl.coalesce("text", "__text"),
        pl.when(pl.col("text").is_null()).then(known).otherwise("document").alias("document"),
        "title",
    )


def with_targets(
    rows: Sequence[Label], truth: GroundTruth, runs: Iterable[Run], asked: dict[str, str], seed: int
) -> list[Label]:
    """The rows and the targets of the ground truth, shuffled so that the order reveals nothing.

    Without this a wrong target that no run returns could never be corrected. A span whose text
    no run has is left out: there is nothing to read.

    >>> truth = GroundTruth.from_targets(pl.DataFrame({"query": ["q"], "item": ["a"]}))
    >>> rows = [Label("q", "Why?", item="b")]
    >>> found = with_targets(rows, truth, [], {"q": "Why?"}, seed=0)
    >>> sorted(one.item for one in found)
    ['a', 'b']
    """
    targets = truth.targets.filter(pl.col("query").is_in(list(asked)))
    expected = _targets_to_read(targets, list(runs))
    found: dict[str, dict[str, Label]] = {}
    for one in (*rows, *(replace(one, query=asked[one.query_id]) for one in expected)):
        found.setdefault(one.query_id, {}).setdefault(one.pair[1], one)
    return [
        one
        for query in asked
        if query in found
        for one in pooling.shuffled(found[query].values(), seed)
    ]


def _targets_to_read(targets: pl.DataFrame, runs: Sequence[Run]) -> Iterator[Label]:
    items = targets["item"].drop_nulls().unique().implode()
    documents = targets.filter(pl.col("start").is_not_null())["document"].unique().implode()
    texts: dict[str, str] = {}
    chunks: dict[str, list[tuple[int, int, str]]] = {}
    for run in runs:
        have = run.frame.columns
        if {"item", "text"} <= set(have):
            some = run.frame.filter(pl.col("item").is_in(items)).select("item", "text")
            texts.update(some.drop_nulls().unique("item").iter_rows())
        if {"document", "start", "end", "text"} <= set(have):
            some = run.frame.filter(pl.col("document").is_in(documents))
            some = some.select("document", "start", "end", "text").drop_nulls().unique()
            for document, start, end, text in some.iter_rows():
                chunks.setdefault(document, []).append((start, end, text))
    for row in targets.iter_rows(named=True):
        facts = {name: row[name] for name in ("item", "document", "start", "end")}
        one = Label(row["query"], **facts, text=row["quote"] or texts.get(row["item"] or ""))
        if one.start is not None and one.end is not None and one.text is None:
            for start, end, text in chunks.get(one.document or "", ()):
                if start <= one.start and one.end <= end and len(text) == end - start:
                    one = replace(one, text=text[one.start - start : one.end - start])
                    break
        if one.item is not None or one.text is not None:
            yield one
