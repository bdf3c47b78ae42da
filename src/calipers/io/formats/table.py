"""Read handwritten tables of query, item and further columns, and write them.

One row holds one result or judgement, or one question with all its ids in a cell. Notes report
whatever is not obvious: cells that were split, questions taken from the row above, a column read as
quotes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import polars as pl

from calipers.errors import InvalidInput, Unclear
from calipers.io.build import (
    GatheredResults,
    MemoryBudget,
    ResultRows,
    TargetRows,
    build,
    check_ranked,
    no_targets,
)
from calipers.io.files.parquet import write_blocks
from calipers.io.files.probe import Probe
from calipers.io.files.write import opened, write_cells
from calipers.io.format import Format, Output, Parts, has_lists_beside, wrong_format
from calipers.io.records.entries import EVERYTHING, Remarks, records
from calipers.io.records.fields import holds_objects
from calipers.io.tables.beside import TakenApart, targets_beside_results
from calipers.io.tables.candidates import missing_part
from calipers.io.tables.cells import (
    Splitter,
    cast_columns,
    gap_notes,
    tags_in,
    words_for_nothing,
)
from calipers.io.tables.columns import TAG, Pairs
from calipers.io.tables.graded_cells import check_grades_are_numbers, with_grades_inside
from calipers.io.tables.grades import as_numbers, notes_on_ratings
from calipers.io.tables.judged_columns import judged_as_rows
from calipers.io.tables.look import look_at
from calipers.io.tables.merge import numbered_as_one, pages_as_items
from calipers.io.tables.orders import with_questions, without_dashes
from calipers.io.tables.profile import SOME, Profile, profiles_of
from calipers.io.tables.resolve import (
    check_fields,
    check_no_sentences,
    check_scores_fall,
    left_over,
    no_column,
    reading_note,
    resolve_fields,
    scores_must_fall,
)
from calipers.io.tables.scan import (
    ROW,
    InputTable,
    explained,
)
from calipers.io.tables.slice_hints import columns_to_slice
from calipers.io.tables.total import refuse_total
from calipers.io.tables.usual_names import IDENTITIES, is_long, renaming, says_wanted
from calipers.io.tables.written_rows import Frames, fits_long, in_frames, long_rows
from calipers.model.fact import Fact, joined, named, sentence
from calipers.model.ground_truth import TARGET_SCHEMA, each_query_once
from calipers.model.matched import Dataset, Role
from calipers.model.run import RUN_SCHEMA, order_notes

BATCH = 250_000
CELLS_AT_ONCE = 4_000
"""Cells with lists that are split together."""
DIVIDED = r"[;|,、，(\[{\s\x1c-\x1f]"
"""Characters of cells that may hold several ids or padding; other cells are one id."""
_NUMBERED_LIST = r"(?s)^\s*1[.)]\s.*\n\s*2[.)]\s"
"""A cell with the entries 1. and 2., each on a line of its own."""
ONE_EACH = ("grade", "score", "rank", "start", "group")
"""Columns that describe one item: a row that has them holds one."""


def read_handwritten(table: InputTable, role: Role) -> Dataset:
    """Read a table after its columns are merged: ``Chunk 1``, ``Chunk 2``; file and page."""
    merged = numbered_as_one(judged_as_rows(table), role)
    apart = targets_beside_results(merged)
    if apart is not None:
        return _read_apart(apart, role)
    return read_long(pages_as_items(merged, role), role)


def _read_apart(apart: TakenApart, role: Role) -> Dataset:
    """Read a table with a target beside each result, or the part that is asked for."""
    if role == "run":
        return read_long(apart.results, role)
    if role == "ground_truth":
        return read_long(apart.targets, role)
    targets = read_long(apart.targets, "ground_truth", noted=False)
    results = read_long(apart.results, "run")
    if targets.ground_truth is None:
        return results
    notes = (apart.note, *targets.ground_truth.notes)
    dataset = Dataset(
        replace(targets.ground_truth, notes=notes),
        results.run,
        "a table of judgements and results",
    )
    return dataset if apart.targets.trial else _with_look(dataset)


def read_long(table: InputTable, role: Role, *, noted: bool = True) -> Dataset:
    """Read a ground truth, a run or both; ``noted`` adds which columns were read."""
    with explained(table.name, table.fault):
        found = table.names()
        table, names = resolve_fields(table, role)
        ours = {meaning: theirs for theirs, meaning in names.items()}
        table = without_dashes(table, ours)
        table = with_questions(table, ours)
        meant = [pl.col(theirs).alias(ours) for theirs, ours in names.items()]
        if not set(ours) & {*IDENTITIES}:
            raise no_column(table, "item", role)
        has_truth, has_results = _parts(ours, role)
        left = left_over(found, names)
        unclear = None
        no_truth = role == "ground_truth" and not has_truth
        if no_truth or (left and not (has_truth and has_results)):
            profiles = profiles_of(table, ours["query"])
            options = missing_part(
                profiles, role, has_truth=has_truth, has_results=has_results
            )
            unclear = Unclear("", *options) if options else None
        if not has_truth and not has_results:
            raise Unclear(
                f"{table.name} is a ground truth, questions with ids. If the ids are results, "
                "give it as --run, and --ground-truth FILE",
                *(unclear.options if unclear else ()),
                otherwise="Add --run RESULTS or --retriever FILE.py:FUNCTION",
            )
        try:
            check_fields(
                table, names, left, role, has_truth=has_truth, has_results=has_results
            )
        except Unclear as error:
            if unclear is None or role != "both":
                raise
            # A part is lacking, too: one line settles both.
            raise Unclear(error.why, *unclear.options, *error.options) from None
        said: tuple[str, ...] = ()
        if noted:
            sliced = columns_to_slice(table, ours["query"], left) if has_truth else []
            said = reading_note(
                names, left, table.shown, of_targets=has_truth, slices=sliced
            )
        tags = [pl.col(one) for one in found if one.startswith(TAG)]
        named = table.then(
            lambda rows: rows.select(meant + tags), notes=(*said, *table.notes)
        )
        targets = _target_rows(named, ours, found, has_results) if has_truth else None
        if targets is not None:
            named = replace(named, notes=())
        results = None
        if has_results:
            results = _result_rows(named, ours, scores_must_fall(table, ours))
        parts = [
            *(["judgements"] if has_truth else []),
            *(["results"] if has_results else []),
        ]
        dataset = build(f"a table of {' and '.join(parts)}", targets, results)
        by_name = renaming(found)
        inferred = table.inferred or any(
            by_name.get(theirs) != field
            for theirs, field in names.items()
            if field in ("item", "quote", "text")
        )
        if inferred and noted and not table.trial:
            dataset = _with_look(dataset)
    return replace(dataset, unclear=unclear)


def _with_look(dataset: Dataset) -> Dataset:
    """The dataset; the first note of its ground truth shows one query as it was understood."""
    truth = dataset.ground_truth
    if truth is None:
        return dataset
    run = dataset.run
    in_memory = run is not None and run.in_memory
    look = look_at(dataset if in_memory else replace(dataset, run=None))
    if not look:
        return dataset
    first, *rest = truth.notes or ("",)
    example = sentence("For example, {look.text}.", look=named(look))
    notes = (joined(first, example), *rest)
    return replace(dataset, ground_truth=replace(truth, notes=notes))


def _parts(ours: dict[str, str], role: Role) -> tuple[bool, bool]:
    """Whether the table holds targets, and whether it holds results; neither if unclear."""
    has_truth = bool({"grade", "quote"} & ours.keys())
    # Judged texts without an order are targets, whoever returned them.
    text = {"text"} - ({"text"} if role == "ground_truth" and "grade" in ours else set())
    has_results = bool({"score", "rank", "retrieved", *text} & ours.keys())
    if role == "both" and has_results and {"item", "quote"} <= ours.keys():
        # Without a grade, the ids that were returned are not those that should be.
        has_truth = bool({"grade", "retrieved"} & ours.keys())
    wanted = "item" in ours and says_wanted(ours["item"])
    if "retrieved" in ours:
        return has_truth or "item" in ours, True
    if has_truth or has_results:
        return has_truth, has_results
    if wanted:
        return True, False
    return role == "ground_truth", role == "run"


def _target_rows(
    table: InputTable, ours: dict[str, str], found: list[str], has_results: bool
) -> TargetRows:
    """The targets in a table, one row each."""
    columns = [name for name in TARGET_SCHEMA if name in ours]
    texts = ["query_text"] if "query_text" in ours else []
    tags = [one for one in found if one.startswith(TAG)]
    lazy = table.open().select(columns + texts + tags).with_row_index(ROW)
    frame = lazy.collect(engine="streaming").rechunk()
    if not frame.height:
        raise InvalidInput(
            f"{table.name} has the names of columns and no rows: nothing is said about what should "
            "be found; add the questions, or give another file."
        )
    notes = [*table.notes[:1]]
    by_question = not has_results or "retrieved" in ours
    if by_question:
        frame = _filled(frame, table, notes)
    refuse_total(frame, table)
    page = frame.select("query", *texts, *tags)
    given = columns
    frame, emptied = _without_empty(frame, columns, quoted=table.quoted)
    if by_question and "item" in columns and not set(ONE_EACH) & set(columns):
        splitter = Splitter(ours["item"], any_order=True)
        graded = with_grades_inside(frame, splitter, table)
        if graded is None:
            frame = _split(frame, "item", splitter, table)
        else:
            frame = graded
            columns = [*columns, "grade"]
            ours = {**ours, "grade": ours["item"]}
        notes += splitter.notes()
    elif "item" in columns:
        notes += _kept_whole(frame["item"], ours["item"])
    if "quote" in columns and frame["quote"].dtype.is_nested():
        frame = _split(frame, "quote", Splitter(ours["quote"]), table)
    if (by_question and "grade" not in given) or emptied:
        frame = _without_targets(frame, columns, notes)
    if "grade" in columns:
        frame = frame.with_columns(
            _grades(frame["grade"], table, has_results, ours["grade"])
        )
    rows = frame[ROW]
    notes += table.notes[1:]

    chosen = frame.select(columns)
    place = _places(table, rows)
    cast = cast_columns(chosen, TARGET_SCHEMA, place, 0, table.decimal_comma, called=ours)
    queries = _queries(page, texts)
    if has_results and "grade" in columns:
        # Unjudged results are in the same table without a grade.
        judged = cast["grade"].is_not_null()
        cast = cast.filter(judged)
        rows = rows.filter(judged)
    tagged = tags_in(page.with_columns(_names(page)), queries["query"]) if tags else {}
    where = _places(table, rows)
    if "grade" in columns:
        notes += notes_on_ratings(cast["grade"], ours["grade"])
    only_returned = has_results and "grade" in columns and _all_returned(table, ours)
    return TargetRows(
        cast,
        where,
        queries,
        tagged,
        notes=tuple(notes),
        only_returned=only_returned,
    )


def _all_returned(table: InputTable, ours: dict[str, str]) -> bool:
    """Whether every judged row was returned; one without a rank was judged and not returned."""
    if "retrieved" in ours:
        return False
    return "rank" not in ours or not table.rows("rank")["rank"].null_count()


def _grades(
    column: pl.Series, table: InputTable, has_results: bool, called: str
) -> pl.Series:
    """The grades as numbers; beside results an empty cell means unjudged, and stays empty."""
    made = as_numbers(column, table.said.grades)
    if made.dtype == pl.String:
        check_grades_are_numbers(made, column, table, called)
    only_ones = has_results and column.dtype == pl.String and column.null_count()
    return made.zip_with(column.is_not_null(), column) if only_ones else made


def _queries(asked: pl.DataFrame, texts: list[str]) -> pl.DataFrame:
    """Every question once, with its text."""
    shown = (
        pl.col(text).cast(pl.String).str.strip_chars().alias("text") for text in texts
    )
    queries = asked.select(_names(asked), *shown)
    return each_query_once(queries)


def _names(asked: pl.DataFrame) -> pl.Series:
    return cast_columns(asked.select("query"), TARGET_SCHEMA, str, 0)["query"]


def _filled(frame: pl.DataFrame, table: InputTable, notes: list[str]) -> pl.DataFrame:
    """Drop empty rows, and fill merged cells with the question of the row above."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    if "grade" in frame.columns:
        # A blank may be an id in a table with one row per judgement.
        texts = [name for name in texts if name in ("query", "query_text")]
    blank = pl.col(texts).str.contains(r"^\s*$")
    if frame.select(blank.any()).transpose().to_series().any() if texts else False:
        frame = frame.with_columns(
            pl.when(blank).then(None).otherwise(pl.col(texts)).name.keep()
        )
    if not frame["query"].null_count():
        return frame
    others = [name for name in frame.columns if name not in (ROW, "grade")]
    frame = frame.filter(~pl.all_horizontal(pl.col(others).is_null()))
    merged = frame["query"].is_null()
    if not merged.any():
        return frame
    if merged[0]:
        raise InvalidInput(
            f"The first row names no question at {table.where(int(frame[ROW][0]))}; a row without "
            "one belongs to the question above it."
        )
    count = Fact(about="count", count=int(merged.sum()), text="merged cells")
    words = "row has no question and belongs|rows have no question and belong"
    notes.append(
        sentence(f"{{it.count:{words}}} to the one above (merged cells).", it=count)
    )
    kept = [name for name in ("query", "query_text") if name in frame.columns]
    return frame.with_columns(pl.col(kept).forward_fill())


def _split(
    frame: pl.DataFrame, column: str, splitter: Splitter, table: InputTable
) -> pl.DataFrame:
    """Split cells into one row per id; a row without ids is kept, empty."""
    if frame[column].dtype == pl.String and not frame[column].str.contains(DIVIDED).any():
        one = pl.col(column)
        return frame.with_columns(
            pl.when(one != "").then(one).otherwise(None).name.keep()
        )
    rows = frame[ROW].to_list()
    cells = frame[column].to_list()
    if frame[column].dtype == pl.String:
        first = frame[column].drop_nulls().str.contains(r"^\s*1[.)]\s")
        several = frame[column].str.contains(_NUMBERED_LIST).any()
        splitter.numbered = bool(several or (len(first) > 1 and first.all()))
    if frame[column].dtype.is_float():
        cells = [
            None if c is None else int(c) if float(c).is_integer() else c for c in cells
        ]
    lists: list[Sequence[str | None]] = [
        splitter.split(cell, partial(table.where, row)) or [None]
        for cell, row in zip(cells, rows, strict=True)
    ]
    made = pl.Series(column, lists, dtype=pl.List(pl.String))
    return frame.with_columns(made).explode(column)


def _kept_whole(cells: pl.Series, called: str) -> Iterator[str]:
    """A note on ids that look like several, in a table with one row per id."""
    if cells.dtype != pl.String:
        return
    looks = r"[^;]+;[^;]|\n|^\[.*,.*\]$|^[^\s,]+(,\s*[^\s,]+)+$"
    several = cells.str.contains(looks).fill_null(False)
    if several.any():
        first = cells.filter(several)[0]
        yield sentence(
            "Ids such as {first.text} in {column.text} are taken as one each: the table has a "
            "column about single items. Give each id a row of its own if they are several.",
            first=named(f"{first!r:.60}"),
            column=named(repr(called)),
        )


def _without_empty(
    frame: pl.DataFrame, columns: list[str], *, quoted: bool
) -> tuple[pl.DataFrame, bool]:
    """The targets without words such as N/A, and whether there were any."""
    if "item" not in columns or frame["item"].dtype != pl.String:
        return frame, False
    if quoted and "grade" in columns:
        return (
            frame,
            False,
        )  # what JSON quotes and somebody judged is an id, whatever its name
    words = words_for_nothing(graded="grade" in columns)
    empty = frame["item"].str.strip_chars(" \t()[]<>").str.to_lowercase().is_in([*words])
    if not empty.any():
        return frame, False
    return frame.with_columns(pl.when(~empty).then(pl.col("item")).alias("item")), True


def _without_targets(
    frame: pl.DataFrame, columns: list[str], notes: list[str]
) -> pl.DataFrame:
    """Drop rows without a target: nothing should be found for these questions."""
    named = [name for name in ("item", "quote", "document") if name in columns]
    empty = frame.select(pl.all_horizontal(pl.col(named).is_null())).to_series()
    if not empty.any():
        return frame
    filled = frame.filter(~empty)
    silent = frame.filter(empty)["query"].unique(maintain_order=True)
    silent = silent.filter(~silent.is_in(filled["query"].implode()))
    notes += no_targets(silent.to_list())
    return filled


def _result_rows(table: InputTable, ours: dict[str, str], must_fall: bool) -> ResultRows:
    """The results in a table, one row each, read when they are needed."""
    if "retrieved" in ours:
        return _listed_rows(table, "retrieved", ours)
    columns = [name for name in RUN_SCHEMA if name in ours]
    if set(columns) == {"query", "item"}:
        return _listed_rows(table, "item", ours)

    def scan() -> Iterator[pl.DataFrame]:
        seen = 0
        with explained(table.name, table.fault):
            # Opened again each time, so that decompressed content does not stay in memory.
            for batch in table.batches(columns, BATCH):
                where = table.where
                offset = seen
                rows = batch
                if "rank" in columns and "grade" in ours and batch["rank"].null_count():
                    # Rows without a rank were judged but not returned.
                    at = batch["rank"].is_not_null().arg_true() + seen
                    where = _places(table, at)
                    offset = 0
                    rows = batch.drop_nulls("rank")
                made = cast_columns(rows, RUN_SCHEMA, where, offset, table.decimal_comma)
                check_ranked(made, where, offset)
                if must_fall and not seen:
                    # Checked while reading: a check before would read a large file twice.
                    check_scores_fall(made.head(SOME), ours["score"], table.name)
                yield made
                seen += batch.height

    notes = table.notes
    if "rank" in columns:
        numbers = pl.col([name for name in ("rank", "score") if name in columns]).cast(
            pl.Float64, strict=False
        )
        some = table.rows(columns, most=SOME).with_columns(numbers)
        some = some.drop_nulls("rank") if "grade" in ours else some
        notes += gap_notes(some, whole=some.height < SOME)
        notes += order_notes(some.sort("query", "rank", maintain_order=True))
    return ResultRows(scan, columns, name=table.name, notes=notes)


def _places(table: InputTable, rows: pl.Series) -> Callable[[int], str]:
    """The places of some rows of a table."""
    return lambda row: table.where(int(rows[row]))


def _one_list_each(
    frame: pl.DataFrame, table: InputTable, ours: dict[str, str]
) -> pl.DataFrame:
    """One row per question; rows that repeat its results only add targets."""
    if not frame["query"].is_duplicated().any():
        return frame
    lists = frame.filter(pl.col("item").is_not_null()).unique(
        ["query", "item"], keep="first", maintain_order=True
    )
    twice = lists.filter(pl.col("query").is_duplicated())
    if twice.height:
        single: list[Pairs] = []
        is_said = {"retrieved", "ground_truth", "item"} & table.said.named.keys()
        if not is_said and Profile("item", twice["item"]).kind != "lists":
            if "item" in ours:
                # Targets and results side by side, one of each in a row.
                single.append((("item", ours["item"]), ("retrieved", ours["retrieved"])))
            targets = (("ground_truth", ours["item"]),) if "item" in ours else ()
            single.append((("item", ours["retrieved"]), *targets))
        raise Unclear(
            f"the query {twice['query'][0]!r:.60} has results twice in {ours['retrieved']!r}, the "
            f"second time at {table.where(int(twice[ROW][1]))}, and they differ",
            *single,
            otherwise="Give each list an id of its own in a column query_id, or keep one",
        )
    silent = frame.filter(~pl.col("query").is_in(lists["query"].implode()))
    return pl.concat([lists, silent.unique("query", maintain_order=True)]).sort(ROW)


def _listed_rows(table: InputTable, column: str, ours: dict[str, str]) -> ResultRows:
    """Results without scores: rows, and the ids in each cell, are in ranking order."""
    notes = list(table.notes)
    splitter = Splitter(ours[column])
    frame = table.rows("query", pl.col(column).alias("item")).with_row_index(ROW)

    def items(some: pl.DataFrame) -> pl.DataFrame:
        found = _split(some, "item", splitter, table)
        found = found.drop_nulls("item") if column == "retrieved" else found
        return cast_columns(
            found.select("query", "item"), RUN_SCHEMA, _places(table, found[ROW]), 0
        )

    if column == "retrieved":
        frame = _filled(frame, table, notes)
        refuse_total(frame, table)
        frame = _one_list_each(frame, table, ours)
        check_no_sentences(frame["item"], table.name, ours[column])
        # As the lists of records are: some cells at a time, and to disk if there are too many.
        results = GatheredResults(MemoryBudget())
        for some in [*frame.iter_slices(CELLS_AT_ONCE)] or [frame]:
            results.add(items(some))
        rows = results.rows("listed", _queries(frame, []), table.name)
    else:
        rows = ResultRows(items(frame), order="listed", name=table.name)
    return replace(rows, notes=(*notes, *splitter.notes()))


SEPARATORS = {"csv": ",", "tsv": "\t"}


class LongTable(Format):
    """A table of query, item and further columns."""

    name = "table"
    title = "a table of query, item, and score, rank or grade"
    fallback = 1
    outputs = (
        Output("csv", "a CSV table", EVERYTHING, (".csv",)),
        Output("tsv", "a TSV table", EVERYTHING, (".tsv",)),
        Output(
            "parquet", "a Parquet table", EVERYTHING, (".parquet",), can_be_packed=False
        ),
    )

    def detect(self, probe: Probe) -> bool:
        """A table with a query column, or flat records with the fields of one."""
        if probe.table is None and holds_objects(probe):
            return False
        table = probe.table or probe.flat
        return (
            table is not None and is_long(table.columns) and not has_lists_beside(table)
        )

    def read(self, probe: Probe, role: Role) -> Dataset:
        """Read a ground truth, a run or both, by the columns."""
        table = probe.table or probe.flat
        if table is None:
            raise wrong_format(probe, "a table")
        return read_handwritten(table, role)

    def write(
        self, output: Output, parts: Parts, path: Path, remarks: Remarks
    ) -> list[Path]:
        """Write a table as text or in Parquet: a row per item where that holds everything."""
        frames = chain.from_iterable(
            long_rows(part) if fits_long(part) else in_frames(records([part], remarks))
            for part in parts
        )
        with opened(path) as file:
            if output.name in SEPARATORS:
                _write_text(frames, file, SEPARATORS[output.name])
            else:
                _sink(frames, file)
        return [path]


def _write_text(frames: Frames, file: BinaryIO, separator: str) -> None:
    for number, frame in enumerate(frames):
        write_cells(frame, file, separator, header=not number)


def _sink(frames: Frames, file: BinaryIO) -> None:
    """Write frames to a Parquet file one by one, never all in memory."""
    first = next(frames, None)
    if first is None:
        raise InvalidInput("There is nothing to write.")
    write_blocks(chain([first], frames), file)
