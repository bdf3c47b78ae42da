"""TREC judgements and runs, MS MARCO runs, and judgements in three columns, without header."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.build import ResultRows, TargetRows, build
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.files.write import opened
from calipers.io.format import Format, Output, Parts
from calipers.io.records.entries import RESULTS_BY_ID, TRUTH_BY_ID, Remarks
from calipers.io.tables.lines import (
    ENCODED,
    NUMBER,
    LineLayout,
    are_measures,
    are_ranked_fours,
    decoded_ids,
    empty,
    first_rows,
    holds_texts,
    mostly,
    place_of,
    scan,
)
from calipers.io.tables.scan import explained
from calipers.model.fact import commanded, named, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset, Role
from calipers.model.ranking import RankedBatch
from calipers.model.run import Run, all_rise

SUBTOPICS = "The second column of the judgements names subtopics"
WHOLE_NUMBER = r"^\d{1,9}$"
NUMBER_OR_CONSTANT = r"^(?i:q0|[+-]?\d*\.?\d+)$"


def with_subtopics(frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Judgements with the second column as groups if it names subtopics; else without it.

    A note says which, if a query has several values.

    >>> rows = [("q", "1", "a", 1.0), ("q", "2", "a", 1.0), ("q", "2", "b", 1.0)]
    >>> frame = pl.DataFrame(rows, ["query", "group", "item", "grade"], orient="row")
    >>> with_subtopics(frame)[0]["group"].to_list()
    ['1', '2', '2']
    """
    if frame["group"].n_unique() <= 1:
        return frame.drop("group"), ()
    values = _of_each_query(frame)
    several = values.filter(values.list.len() > 1)
    if several.is_empty():
        return frame.drop("group"), ()
    some = ", ".join(several[0][:3])
    if _are_subtopics(frame, values):
        return frame, (
            sentence(
                SUBTOPICS
                + " (such as {some.text}): items of one subtopic are alternatives. If "
                "it means something else, write {nothing.text} in its place.",
                some=named(some),
                nothing=named("0"),
            ),
        )
    return frame.drop("group"), (
        sentence(
            "The second column of the judgements (such as {some.text}) was not read: subtopics "
            "would be names, or numbers from {first.text} on for every query.",
            some=named(some),
            first=named("0 or 1"),
        ),
    )


def without_subtopics(truth: GroundTruth) -> GroundTruth:
    """Judgements as trec_eval reads them, without the second column."""
    if not any(note.startswith(SUBTOPICS) for note in truth.notes):
        return truth
    # An item with several subtopics is one target, with its highest grade.
    targets = truth.targets.group_by("query", "item", maintain_order=True).agg(
        pl.max("grade")
    )
    notes = (note for note in truth.notes if not note.startswith(SUBTOPICS))
    return TargetRows(
        targets, queries=truth.queries, tags=truth.tags, notes=tuple(notes)
    ).ground_truth()


def _of_each_query(frame: pl.DataFrame) -> pl.Series:
    """The distinct values of the column, as a list per query."""
    lists = frame.group_by("query", maintain_order=True).agg(
        pl.col("group").unique().sort()
    )
    return lists["group"]


def _are_subtopics(frame: pl.DataFrame, values: pl.Series) -> bool:
    """Whether the column holds names, or the numbers of subtopics.

    Numbers are subtopics if an item has two of them, or if every query's count from 0 or 1 on.
    Judging rounds, found there in TREC-COVID and TREC RAG 2024, do neither.
    """
    column = frame["group"]
    if not column.str.contains(WHOLE_NUMBER).all():
        return not column.str.contains(NUMBER_OR_CONSTANT).any()
    pairs = frame.select("query", "item", "group").unique()
    if pairs.select("query", "item").n_unique() < pairs.height:
        return True
    numbers = values.list.eval(pl.element().cast(pl.Int64))
    first = numbers.list.min()
    last = numbers.list.max()
    return bool(((first <= 1) & (last - first + 1 == numbers.list.n_unique())).all())


TAG = "calipers"
UNSAFE = r"[\x00-\x20\x7f]|^#|^$"
"""What whitespace-separated columns cannot hold; a leading # would be a comment."""
RUN = LineLayout(
    "run",
    "query Q0 item rank score tag",
    ((0, "query"), (2, "item"), (4, "score")),
    "score",
    5,
    rank=3,
    tag=5,
)
JUDGEMENTS = LineLayout(
    "judgement",
    "query 0 item grade",
    ((0, "query"), (1, "group"), (2, "item"), (3, "grade")),
    "grade",
    4,
)


class TrecRun(Format):
    """A TREC run."""

    name = "trec_run"
    title = "a TREC run"
    outputs = (Output("run", "a TREC run", RESULTS_BY_ID, (".run",)),)

    def detect(self, probe: Probe) -> bool:
        """Six columns with a numeric rank and score, or Q0 in the second column."""
        rows = first_rows(probe)
        if mostly(rows, _is_marked) and not mostly(rows, _has_four):
            # If every line has Q0, a bad number is an error in the file.
            return all(map(_is_marked, rows)) or mostly(rows, _has_score)
        if not mostly(rows, _is_result):
            return False
        # A tag may contain spaces.
        marked = mostly(rows, lambda row: row[1:2] == [b"0"])
        return (marked or _is_even(rows, 6)) and not holds_texts(probe)

    def read(self, probe: Probe, role: Role) -> Dataset:
        """A run that is read in blocks when needed; scores give the order."""
        del role
        source = probe.source
        rows = first_rows(probe)
        _check_not_exchanged(rows, source.name)
        _check_one_tag(source)
        results = ResultRows(
            lambda: scan(source, RUN),
            RUN.names,
            name=source.name,
            notes=_rising(rows),
        )
        return build(self.title, results=results)

    def write(
        self, output: Output, parts: Parts, path: Path, remarks: Remarks
    ) -> list[Path]:
        """Write the results, best first."""
        with _lines(path, output) as file:
            for part in parts:
                if part.run is not None:
                    _write_run(part.run, file, remarks)
        return [path]


class TrecJudgements(Format):
    """TREC judgements."""

    name = "trec_judgements"
    title = "TREC judgements"
    outputs = (Output("qrels", "TREC judgements", TRUTH_BY_ID, (".qrels",)),)

    def detect(self, probe: Probe) -> bool:
        """Four columns, the last a number or the second 0 or Q0."""
        rows = first_rows(probe)
        if not mostly(rows, _has_four) or are_ranked_fours(rows):
            return False
        marked = mostly(rows, lambda row: _is_marked(row) or row[1:2] == [b"0"])
        if marked:
            return True
        return (
            mostly(rows, _is_judgement) and _is_even(rows, 4) and not holds_texts(probe)
        )

    def read(self, probe: Probe, role: Role) -> Dataset:
        """Read and check judgements; a grade of 0 or below means judged not relevant."""
        del role
        return build(self.title, _judgements(probe.source, JUDGEMENTS))

    def write(
        self, output: Output, parts: Parts, path: Path, remarks: Remarks
    ) -> list[Path]:
        """Write the judgements."""
        with _lines(path, output) as file:
            for part in parts:
                if part.ground_truth is not None:
                    _write_judgements(part.ground_truth, file, remarks)
        return [path]


def _judgements(source: Source, layout: LineLayout) -> TargetRows:
    """The judgements in the lines of a file, each with its line."""
    frame = pl.concat([empty(layout), *scan(source, layout)])
    if "group" not in frame.columns:
        return TargetRows(frame, partial(place_of, source))
    if (frame["group"] == ENCODED).all():
        frame = frame.with_columns(decoded_ids(frame[name]) for name in ("query", "item"))
    frame, notes = with_subtopics(frame)
    return TargetRows(frame, partial(place_of, source), notes=notes)


def plain_format(probe: Probe) -> Format | None:
    """The format of a file that is plainly TREC, so that no other need be tried."""
    rows = first_rows(probe)
    if rows and all(
        len(row) == 6 and _is_marked(row) and _is_result(row) for row in rows
    ):
        return TrecRun()
    if rows and all(row[1:2] == [b"0"] and _is_judgement(row) for row in rows):
        return TrecJudgements()
    return None


def _check_not_exchanged(rows: list[list[bytes]], name: str) -> None:
    """Refuse exchanged columns: scores that count 1, 2, 3 beside fractional ranks."""
    pairs = [(one, next_) for one, next_ in pairwise(rows) if one[0] == next_[0]]
    if not pairs or not all(_is_result(row) and row[4].isdigit() for row in rows):
        return
    counts = all(int(b[4]) == int(a[4]) + 1 for a, b in pairs)
    if counts and any(float(row[3]) % 1 for row in rows):
        rank, score = (column.decode() for column in rows[0][3:5])
        raise InvalidInput(
            f"{name} begins with the rank {rank} and the score {score}: the two columns seem to "
            f"be exchanged; a line of a run file is {RUN.format}."
        )


def _check_one_tag(source: Source) -> None:
    """Refuse a run in which a query has results under two tags: these are two rankings.

    All tags are checked only if the first and the last differ.
    """
    first, last = (
        _tag(line) for line in (source.head.split(b"\n")[0], source.last_line())
    )
    some = {_tag(line) for line in source.head.split(b"\n")[:-1]} - {None}
    if first is None or last is None or (first == last and len(some) < 2):
        return
    tags: dict[bytes, bytes] = {}
    for _, line in source.lines():
        tag = _tag(line)
        query = line.split(maxsplit=1)[:1]
        if tag is not None and (known := tags.setdefault(query[0], tag)) != tag:
            raise InvalidInput(
                f"{source.name} holds two rankings of the query {query[0].decode()!r}: the tags "
                f"{known.decode()!r} and {tag.decode()!r}; give a file for each of them."
            )


def _tag(line: bytes) -> bytes | None:
    columns = line.split()
    return columns[5] if len(columns) == 6 and _is_marked(columns) else None


def _rising(rows: list[list[bytes]]) -> tuple[str, ...]:
    """A note if the scores rise with the ranks, as they may be distances."""
    if not all(
        len(row) >= 5 and row[3].isdigit() and NUMBER.fullmatch(row[4]) for row in rows
    ):
        return ()
    cells = [(query, float(rank), float(score)) for query, _, _, rank, score, *_ in rows]
    first = pl.DataFrame(cells, schema=["query", "rank", "score"], orient="row")
    if not all_rise(first) or not all_rise(first.with_columns(score="rank")):
        return ()
    return (
        "The scores rise with the ranks, at least in the first lines: the highest score comes "
        "first, as in trec_eval, whatever the rank says. If they are distances, negate them.",
    )


def _is_marked(row: list[bytes]) -> bool:
    """Whether the second column is Q0, which many judgements have, too."""
    return len(row) >= 3 and row[1].upper() == b"Q0"


def _has_four(row: list[bytes]) -> bool:
    return len(row) == 4


def _has_score(row: list[bytes]) -> bool:
    return len(row) >= 5 and bool(NUMBER.fullmatch(row[4]))


def _is_even(rows: list[list[bytes]], least: int) -> bool:
    """Whether lines without Q0 still look like columns, and not like prose."""
    return (
        all(len(row) >= least for row in rows)
        or len({row[1] for row in rows if row[1:]}) == 1
    )


def _is_result(row: list[bytes]) -> bool:
    return len(row) >= 6 and all(NUMBER.fullmatch(one) for one in row[3:5])


def _is_judgement(row: list[bytes]) -> bool:
    return len(row) == 4 and bool(NUMBER.fullmatch(row[3]))


@contextmanager
def _lines(path: Path, output: Output) -> Iterator[BinaryIO]:
    """Open a file for lines; one that stays empty is refused."""
    with opened(path) as file:
        yield file
        if not file.tell():
            raise InvalidInput(
                f"Nothing of the input can be written as {output.title}: it holds ids, and the "
                "input has none for this part; write it as ours (.jsonl), or give it ids."
            )


def _write_judgements(truth: GroundTruth, file: BinaryIO, remarks: Remarks) -> None:
    # An item with several subtopics is one judgement.
    known = truth.targets.drop_nulls("item").group_by(
        "query", "item", maintain_order=True
    )
    targets = known.agg(pl.max("grade"))
    broken = targets.filter(pl.col("grade") != pl.col("grade").round()).height
    remarks.add("Grades that are not whole, which trec_eval cuts off: {n}.", broken)
    unsafe = _is_unsafe(targets["query"]) | _is_unsafe(targets["item"])
    rows = targets.with_columns(__encoded=pl.lit(bool(unsafe.any())))
    _write_lines(
        _with_safe_ids(rows, remarks).select(
            "query",
            pl.when("__encoded")
            .then(pl.lit(ENCODED))
            .otherwise(pl.lit("0"))
            .alias("subtopic"),
            "item",
            _number_text("grade").alias("grade"),
        ),
        file,
    )


def _write_run(run: Run, file: BinaryIO, remarks: Remarks) -> None:
    for batch in run.ranked():
        frame = batch.frame.with_columns(
            rank=pl.Series(batch.rank), score=_scores(batch, remarks)
        )
        if "item" not in frame.columns:
            continue
        frame = frame.drop_nulls("item")
        unsafe = _is_unsafe(frame["query"]) | _is_unsafe(frame["item"])
        # A query has one tag, so all of its ids are encoded where one has to be.
        rows = frame.with_columns(__encoded=unsafe).with_columns(
            pl.col("__encoded").any().over("query")
        )
        _write_lines(
            _with_safe_ids(rows, remarks).select(
                "query",
                pl.lit("Q0").alias("constant"),
                "item",
                pl.col("rank").cast(pl.String),
                _number_text("score").alias("score"),
                pl.when("__encoded")
                .then(pl.lit(ENCODED))
                .otherwise(pl.lit(TAG))
                .alias("tag"),
            ),
            file,
        )


def _scores(batch: RankedBatch, remarks: Remarks) -> pl.Series:
    """The scores if they give the order, else falling numbers that do.

    A TREC run is ordered by its scores, equal ones by id from high to low, and by nothing else.
    """
    frame = batch.frame
    falling = np.repeat(batch.lengths, batch.lengths) - batch.rank + 1.0
    if "score" not in frame.columns or "item" not in frame.columns:
        return pl.Series(falling)
    score = frame["score"]
    item = frame["item"]
    follows = pl.Series(batch.rank > 1)
    wrong = follows & (
        (score > score.shift(1)) | ((score == score.shift(1)) & (item > item.shift(1)))
    ).fill_null(False)
    code = np.repeat(np.arange(batch.starts.size), batch.lengths)
    replaced = np.bincount(code, weights=(wrong | score.is_null()).to_numpy()) > 0
    remarks.add(
        "Queries whose scores do not say their order, written with falling numbers instead: {n}.",
        int(replaced.sum()),
    )
    return pl.Series(np.where(replaced[code], falling, score.fill_null(0.0).to_numpy()))


def _write_lines(frame: pl.DataFrame, file: BinaryIO) -> None:
    frame.write_csv(file, include_header=False, separator=" ", quote_style="never")


def _is_unsafe(ids: pl.Series) -> pl.Series:
    """Which ids columns between blanks cannot hold."""
    return ids.str.contains(UNSAFE)


def _with_safe_ids(rows: pl.DataFrame, remarks: Remarks) -> pl.DataFrame:
    """The rows with ids percent-encoded where ``__encoded`` says so; they are read back as before.

    The sign % is encoded in these rows, too, so that ids stay apart that differ in it alone.
    """
    chosen = rows.filter("__encoded")
    if not chosen.height:
        return rows
    unsafe = pl.concat([chosen["query"], chosen["item"].alias("query")])
    example = unsafe.filter(_is_unsafe(unsafe)).min()
    remarks.add(
        commanded(
            "Some ids hold blanks, which this format cannot; they are written as in web "
            "addresses, such as {it.text}, and read back as they were.",
            encoded(str(example))[:60],
        )
    )
    return rows.with_columns(
        pl.when("__encoded")
        .then(_encoded_ids(rows[name]))
        .otherwise(rows[name])
        .alias(name)
        for name in ("query", "item")
    )


def _encoded_ids(ids: pl.Series) -> pl.Series:
    changed = ids.filter(ids.str.contains(rf"{UNSAFE}|%")).unique().to_list()
    return ids.replace({name: encoded(name) for name in changed}) if changed else ids


def encoded(text: str) -> str:
    """One id with its spaces percent-encoded.

    >>> encoded("What is it?")
    'What%20is%20it?'
    """
    if not text:
        return "%00"
    return re.sub(r"[\x00-\x20\x7f%]|^#", lambda found: quote(found[0], safe=""), text)


def _number_text(column: str) -> pl.Expr:
    """Each number written exactly, whole ones without a point."""
    value = pl.col(column)
    # Beyond 2^53 floats cannot represent every whole number.
    whole = (value == value.round()) & (value.abs() < 2**53)
    return (
        pl.when(whole)
        .then(value.cast(pl.Int64, strict=False).cast(pl.String))
        .otherwise(value.cast(pl.String))
    )


MARCO_RUN = LineLayout(
    "run", "query item rank", ((0, "query"), (1, "item"), (2, "rank")), "rank", 3
)
THREE_JUDGEMENTS = LineLayout(
    "judgement", "query item grade", ((0, "query"), (1, "item"), (2, "grade")), "grade", 3
)
THREE_SCORES = LineLayout(
    "run", "query item score", ((0, "query"), (1, "item"), (2, "score")), "score", 3
)
CLEARLY_RANKED = 3
"""From so many results on, values that count up from 1 are ranks, not grades."""


class MarcoRun(Format):
    """An MS MARCO run: query, item and rank."""

    name = "msmarco_run"
    title = "an MS MARCO run (query, item, rank)"
    only = "run"

    def detect(self, probe: Probe) -> bool:
        """Whether the third column can be ranks: whole, from 1, each once per query."""
        ranks = _third_by_query(probe)
        return bool(ranks) and all(
            all(one.isdigit() and int(one) >= 1 for one in third)
            and len(set(third)) == len(third)
            for third in ranks.values()
        )

    def read(self, probe: Probe, role: Role) -> Dataset:
        """A run in the order of its ranks, read in blocks when needed."""
        del role

        def batches() -> Iterator[pl.DataFrame]:
            seen = []
            for frame in scan(probe.source, MARCO_RUN):
                with explained(probe.name):  # a rank beyond 64 bits
                    ranked = frame.with_columns(pl.col("rank").cast(pl.Int64))
                yield ranked
                last = pl.col("rank").max().alias("last")
                seen.append(
                    ranked.group_by("query", maintain_order=True).agg(last, n=pl.len())
                )
            _check_gaps(seen, probe.name)

        results = ResultRows(batches, MARCO_RUN.names, name=probe.name)
        return build("an MS MARCO run", results=results)


def _check_gaps(seen: list[pl.DataFrame], name: str) -> None:
    """Refuse ranks with gaps: the official script divides by the rank in the file."""
    if not seen:
        return
    queries = pl.concat(seen).group_by("query", maintain_order=True)
    gaps = queries.agg(pl.col("last").max(), pl.col("n").sum()).filter(
        pl.col("last") != pl.col("n")
    )
    if gaps.height:
        query, last, n = gaps.row(0)
        raise InvalidInput(
            f"Number the results of each query 1, 2, 3: the ranks of query {query!r:.40} in {name} "
            f"have gaps: {n} results, and the last has rank {last}."
        )


class ThreeColumns(Format):
    """Judgements: query, item and grade."""

    name = "three_columns"
    title = "judgements (query, item, grade)"
    only = "ground_truth"

    def detect(self, probe: Probe) -> bool:
        """Whether the third column can be grades: numbers that do not just count up."""
        grades = _third_by_query(probe)
        return bool(grades) and not any(_counts_up(third) for third in grades.values())

    def read(self, probe: Probe, role: Role) -> Dataset:
        """Read and check the judgements; given as a run, fractions are scores."""
        third = [value for some in _third_by_query(probe).values() for value in some]
        if role == "run" and any(float(value) % 1 for value in third):
            results = ResultRows(
                lambda: scan(probe.source, THREE_SCORES), THREE_SCORES.names
            )
            return build("results in three columns", results=results)
        rows = _judgements(probe.source, THREE_JUDGEMENTS)
        return build("judgements in three columns", rows)


def _third_by_query(probe: Probe) -> dict[bytes, list[bytes]]:
    """The third column by query, if the first line has three columns.

    A later line with another number is an error, reported when the file is read.
    """
    rows = first_rows(probe, most=None)
    if not rows or not _fits(rows[0]) or not mostly(rows, _fits) or holds_texts(probe):
        return {}
    if are_measures(probe):
        return {}
    third: dict[bytes, list[bytes]] = {}
    for row in filter(_fits, rows):
        third.setdefault(row[0], []).append(row[2])
    return third


def _fits(row: list[bytes]) -> bool:
    return len(row) == 3 and bool(NUMBER.fullmatch(row[2]))


def _counts_up(third: list[bytes]) -> bool:
    wanted = [str(i).encode() for i in range(1, len(third) + 1)]
    return len(third) >= CLEARLY_RANKED and third == wanted
