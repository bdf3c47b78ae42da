"""Profile columns: what a sample of the values says about each, whatever its name is.

A profile says what the cells are (ids, texts, lists, numbers, a few words), whether they change
within a query, and in which direction they go. What a column means is decided from its name and
its profile in ``resolve``; which columns may be meant for a field is decided in ``propose``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal

import polars as pl

from calipers.frozen import dataclass
from calipers.io.tables.cells import (
    SPELLED_RANK,
    decoded_text,
    entries_in,
    looks_like_texts,
)
from calipers.io.tables.grades import JUDGEMENTS, grade_in
from calipers.io.tables.scan import InputTable, cell_texts, explained
from calipers.names import (
    COUNTING,
    FIRST_STAGE,
    HARMLESS,
    JUDGING,
    LAST_STAGE,
    NO_GRADES,
    REMARKS,
    RESULT,
    is_distance,
    plain_name,
    unaccented,
)

SOME = 1_000
"""Rows that are sampled before all are read."""
Kind = Literal[
    "nothing",
    "objects",
    "dates",
    "places",
    "numbers",
    "judgements",
    "lists",
    "texts",
    "words",
]
_MEANS = re.compile(r"\d\s*=\s*[^\W\d]")
"""What a number means, in the name of a column: ``1=good``."""
QUESTION_MARKS = ("?", "？", "؟")
FEW = 11
"""Different values up to which words, or small numbers, may be judgements."""
MOST_SLICES = 20
QUERIES_OF_SLICE = 4
"""Words that may be tags, and the queries that each must have on average."""
ENOUGH_ROWS = 4
"""Further rows of queries after which a value that never changed within one is about the query."""
_FEWEST_ALIKE = 3
"""Questions of which a judgement may be the same for all results, and judge none of them."""
ENOUGH_STEPS = 3
"""Fewer rising numbers may rise by chance."""
_MARKS = frozenset({"note", "nota"})
"""Names of remarks, or of marks in French, Italian and Spanish: these stand in every row."""
_FEW_MARKS = 4
COUNTED_ROWS = 5
"""With fewer rows, values 0, 1, 2 … may be grades and not row numbers."""
BEYOND_GRADES = 1000
"""If no number is smaller than this, they are years, ids or times."""
_ID = re.compile(r"[^\s;|,\[\](){}'\"、，]+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{2,4}")
_PLACE = re.compile(r"://|^/|\w/\w.*\.\w{2,4}$|\\|\.\w{2,4}$|@\w")
_NUMBER = re.compile(r"[+-]?\d*[.,]?\d+(?:[eE][+-]\d+)?%?")
NO_NUMBER = frozenset({"-", "–", "—", "n/a", "N/A"})
"""What stands in a column of numbers where there is none."""
_DIVIDED = re.compile(r"[;|\s]+|,\s+")
_LISTED = re.compile(r"^\s*[\[({].*[\])}]\s*$|[;|\n]\s*\S|、|，", re.DOTALL)


@dataclass(frozen=True)
class Profile:
    """One column of a sample: its name, its cells, and the query of each cell."""

    name: str
    column: pl.Series
    queries: pl.Series | None = None
    """The query of each row, where it is known."""

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the name."""
        return frozenset(re.split(r"[_\W]+", plain_name(self.name)))

    @cached_property
    def cells(self) -> list[str]:
        """The cells that are not empty, as texts."""
        if self.column.dtype.is_nested():
            listed = (
                " ; ".join(map(_name, _flat(cell))) for cell in self.column.to_list()
            )
            return [cell for cell in listed if cell]
        texts = self.column.cast(pl.String, strict=False).drop_nulls()
        return [text for cell in texts if (text := cell.strip())]

    @cached_property
    def different(self) -> int:
        """How many different values there are."""
        return len({*self.cells})

    @cached_property
    def kind(self) -> Kind:
        """What the cells hold."""
        cells = self.cells
        if not cells:
            return "nothing"
        if self.column.dtype.is_temporal() or all(map(_DATE.match, cells)):
            return "dates"
        if isinstance(self.column.dtype, pl.Struct | pl.Object):
            return "objects"
        if self.column.dtype.is_nested():
            return "lists"
        filled = [cell for cell in cells if cell not in NO_NUMBER]
        if filled and all(map(_NUMBER.fullmatch, filled)):
            return "numbers"
        if self._are_spelled_ranks:
            return "numbers"
        if all(
            unaccented(cell) in JUDGEMENTS or grade_in(cell) is not None for cell in cells
        ):
            return "judgements"
        if looks_like_texts(cells):
            return "texts"
        if any(map(_LISTED.search, cells)) or _divided_by_commas(cells):
            return "lists"
        return "places" if any(map(_PLACE.search, cells)) else "words"

    @cached_property
    def asks(self) -> bool:
        """Whether half of the cells are questions."""
        marked = sum(cell.endswith(QUESTION_MARKS) for cell in self.cells)
        return 2 * marked >= max(1, len(self.cells))

    @cached_property
    def holds_numbers(self) -> bool:
        """Whether each cell is one number, or several with dividers."""
        return self.kind == "numbers" or (
            bool(self.cells) and all(map(_are_numbers, self.cells))
        )

    @cached_property
    def holds_grades(self) -> bool:
        """Whether the cells could be grades: numbers, or words and marks of judgement."""
        return self.kind == "judgements" or self.holds_numbers

    @cached_property
    def is_whole(self) -> bool:
        """Whether all cells are whole numbers, as ranks are."""
        return self.kind == "numbers" and all(
            re.fullmatch(r"\d+([.,]0+)?", cell)
            for cell in self.cells
            if cell not in NO_NUMBER
        )

    @cached_property
    def is_scale(self) -> bool:
        """Whether the numbers are steps of a scale from 0 to 10, and no scores of a retriever."""
        steps = self.numbers.drop_nulls() * 2
        return self.kind == "numbers" and bool(
            ((steps % 1 == 0) & steps.is_between(0, 20)).all()
        )

    @cached_property
    def numbers(self) -> pl.Series:
        """The cells as numbers, whatever they are padded with; null where a cell is none."""
        if self.column.dtype.is_nested():
            return pl.Series([None] * len(self.column), dtype=pl.Float64)
        texts = self.column.cast(pl.String, strict=False).str.strip_chars()
        if self._are_spelled_ranks:
            texts = texts.str.extract(SPELLED_RANK)
        return texts.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)

    @cached_property
    def _are_spelled_ranks(self) -> bool:
        """Whether all cells are ranks with a sign or a word, which count the rows of a query."""
        found = [re.fullmatch(SPELLED_RANK, cell) for cell in self.cells]
        if not found or not all(found) or self.queries is None:
            return False
        texts = self.column.cast(pl.String, strict=False).str.strip_chars()
        values = texts.str.extract(SPELLED_RANK).cast(pl.Float64, strict=False)
        several = bool(self.queries.is_duplicated().any())
        return several and _count_rows(self.queries, values)

    @cached_property
    def may_rank(self) -> bool:
        """Whether whole numbers count the rows of each query from 0 or 1 on, in any order."""
        if self._are_spelled_ranks:
            return True
        if not self.is_whole or self.queries is None:
            return self.is_whole
        return _count_rows(self.queries, self.numbers)

    @cached_property
    def rises(self) -> bool:
        """Whether fractions rise down the rows of every query, as distances do."""
        if self.kind != "numbers" or self.queries is None or self.is_whole:
            return False
        pairs = pl.DataFrame({"query": self.queries, "value": self.numbers}).drop_nulls()
        steps = pairs.select(pl.col("value").diff().over("query"))["value"].drop_nulls()
        return len(steps) >= ENOUGH_STEPS and bool(
            (steps >= 0).all() and (steps > 0).any()
        )

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids in all cells."""
        return frozenset(one for cell in self.cells for one in ids_in(cell))

    @cached_property
    def count(self) -> int:
        """How many ids there are in all cells, each as often as it is there."""
        return sum(len(ids_in(cell)) for cell in self.cells)

    @cached_property
    def changes(self) -> bool:
        """Whether one query has two different values in cells that are not empty."""
        if self.queries is None or self.column.dtype.is_nested():
            return False
        cells = self.column.cast(pl.String, strict=False).str.strip_chars()
        pairs = pl.DataFrame({"query": self.queries, "value": cells.replace("", None)})
        return bool(pairs.drop_nulls().unique()["query"].is_duplicated().any())

    @cached_property
    def _by_query(self) -> pl.DataFrame:
        """The rows and the different values of each query."""
        if self.queries is None or self.column.dtype.is_nested():
            return pl.DataFrame(schema={"rows": pl.Int64(), "values": pl.Int64()})
        cells = self.column
        if self.kind in ("judgements", "numbers"):
            # Where only yes is written, an empty cell means no.
            cells = cells.cast(pl.String, strict=False).str.strip_chars().fill_null("")
        pairs = pl.DataFrame({"query": self.queries, "value": cells}).drop_nulls()
        return pairs.group_by("query").agg(
            rows=pl.len(), values=pl.col("value").n_unique()
        )

    @cached_property
    def varies(self) -> bool:
        """Whether one query has two different values."""
        return bool((self._by_query["values"] > 1).any())

    @cached_property
    def has_several_rows(self) -> bool:
        """Whether some query has two rows, so that a value could differ within it."""
        return bool((self._by_query["rows"] > 1).any())

    @cached_property
    def is_of_query(self) -> bool:
        """Whether the values never change within a query, and there was room to change."""
        found = self._by_query
        further = int(found["rows"].sum()) - found.height if found.height else 0
        # What says no may judge all results of one or two questions alike.
        least = self.numbers.min() if self.kind == "numbers" else None
        says_no = self.kind == "judgements" or (isinstance(least, float) and least <= 0)
        if says_no and int((found["rows"] > 1).sum()) < _FEWEST_ALIKE:
            return False
        return not self.varies and further >= ENOUGH_ROWS

    @cached_property
    def counts_rows(self) -> bool:
        """Whether the numbers number the rows, or are too large to be grades."""
        numbers = self.numbers
        if numbers.null_count() or not len(numbers):
            return False
        return min(numbers.to_list()) >= BEYOND_GRADES or self._steps_by_one

    @cached_property
    def _steps_by_one(self) -> bool:
        """Whether there are enough numbers, and each is the next after the one above."""
        numbers = self.numbers
        if numbers.null_count() or len(numbers) < COUNTED_ROWS:
            return False
        return bool((numbers.diff().drop_nulls() == 1).all())

    @cached_property
    def numbers_table(self) -> bool:
        """Whether the numbers go on from one query to the next, as those of rows do."""
        return self._steps_by_one and not (self.may_rank and self.has_several_rows)

    @cached_property
    def comes_last(self) -> bool:
        """Whether the name says that it is of the last stage: ``reranked``, ``rank_after``."""
        return bool(self.words & LAST_STAGE) and not self.words & FIRST_STAGE

    @cached_property
    def judges_by_name(self) -> bool:
        """Whether the name has a word of judgement: ``is_correct_id``, ``page_relevant``."""
        return bool(self.words & JUDGING or _MEANS.search(self.name))

    @cached_property
    def may_grade(self) -> bool:
        """Whether a column of unknown name may say which targets are relevant, by its values."""
        if not self.holds_grades or not self.name.strip():
            return False
        if self.judges_by_name:
            return True
        if self.is_of_query or is_distance(self.name):
            return False
        if self.kind == "numbers" and self.different > FEW:
            return False
        is_remark = bool(self.words & REMARKS) and self.kind == "judgements"
        return not (self.words & NO_GRADES or is_remark or self.counts_rows)

    @cached_property
    def may_slice(self) -> bool:
        """Whether few words, each of many queries, never change within a query: a tag."""
        if self.queries is None or self.kind != "words" or self.varies:
            return False
        often = self.queries.n_unique() >= QUERIES_OF_SLICE * self.different
        return often and 1 < self.different <= MOST_SLICES

    @cached_property
    def may_tell_apart(self) -> bool:
        """Whether a column of unknown name has values that differ and are more than remarks."""
        is_mark = self.words <= _MARKS and len(self.cells) == len(self.column)
        is_harmless = self.words & (HARMLESS | NO_GRADES) and not self.judges_by_name
        if is_harmless and not (is_mark and self.different <= _FEW_MARKS):
            return False
        return self.kind == "words" and 1 < self.different <= FEW

    @cached_property
    def may_order(self) -> bool:
        """Whether a column of unknown name holds numbers that may order results."""
        if self.words & (NO_GRADES - COUNTING) or not self.holds_numbers:
            return False
        return self.kind == "numbers" and self.different > 1


def _count_rows(queries: pl.Series, values: pl.Series) -> bool:
    """Whether numbers count the rows of each query from 0 or 1 on, in any order."""
    pairs = pl.DataFrame({"query": queries, "value": values}).drop_nulls()
    each = pairs.group_by("query").agg(
        least=pl.col("value").min(),
        different=pl.col("value").n_unique(),
        rows=pl.len(),
    )
    return bool(((each["least"] <= 1) & (each["different"] == each["rows"])).all())


def _flat(cell: object) -> Iterable[object]:
    """The values of a cell that is a list, an object or a single value."""
    if isinstance(cell, Mapping):
        return cell.values()
    return cell if isinstance(cell, list | tuple) else [] if cell is None else [cell]


def _name(value: object) -> str:
    """The id of an object as results and targets have it; any other value as a text."""
    held = value if isinstance(value, Mapping) else {}
    return str(next((held[key] for key in RESULT["id"] if key in held), value))


def parts_of_cell(cell: str) -> list[str]:
    """What stands in a cell between dividers.

    >>> parts_of_cell("8; 6; 3"), parts_of_cell("0,5")
    (['8', '6', '3'], ['0,5'])
    """
    return [*filter(None, _DIVIDED.split(cell.strip("[]")))]


def _are_numbers(cell: str) -> bool:
    parts = parts_of_cell(cell)
    return bool(parts) and all(_NUMBER.fullmatch(part.strip(",")) for part in parts)


def _divided_by_commas(cells: list[str]) -> bool:
    """Whether some cells have several words with commas between them, and no sentence does."""
    parts = [cell.split(",") for cell in cells if "," in cell]
    return bool(parts) and all(
        len(one.split()) == 1 for part in parts for one in part if one
    )


def ids_in(cell: str) -> list[str]:
    """The ids in a cell, whatever divides them, or what each of them has."""
    if cell[:1] in ("{", "[") and ":" in cell:
        entries = entries_in(decoded_text(cell))
        if entries:
            return [one for one, _ in entries]
    if cell[:1] in ("{", "[", "("):
        return _ID.findall(cell) if (ids := _listed(cell)) is None else ids
    sign = next((one for one in (";", "|", "\n", "、", "，") if one in cell), None)
    if sign is None and "," in cell:
        sign = "," if all(len(part.split()) == 1 for part in cell.split(",")) else None
    parts = [cell] if sign is None else cell.split(sign)
    bare = (_MARK.sub("", part).strip() for part in parts)
    return [part for part in bare if part]


def _listed(cell: str) -> list[str] | None:
    """The ids of a list in JSON, or as Python prints it; None if the cell is none."""
    found = decoded_text(cell)
    if not isinstance(found, list | tuple):
        return None
    ids = [str(one).strip() for one in found if isinstance(one, str | int)]
    return ids if len(ids) == len(found) else None


_MARK = re.compile(r"^\s*(?:[-*•–·]|\d{1,2}[.)])\s+")
"""What stands before an entry of a list in a cell."""


def as_number(column: str) -> pl.Expr:
    """A column of numbers as people write them."""
    cells = cell_texts(column).str.strip_suffix("%").str.strip_chars()
    spelled = cells.str.extract(SPELLED_RANK)
    number = cells.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    return pl.coalesce(number, spelled.cast(pl.Float64, strict=False)).alias(column)


def score_in_order(frame: pl.DataFrame, columns: Sequence[str]) -> bool:
    """Whether fractions fall along every row, or rise: scores of results that are in order."""
    cells = frame.select(pl.col(columns).cast(pl.String))
    texts = Profile(columns[0], pl.concat([cells[one].alias("cell") for one in columns]))
    if texts.kind != "numbers" or texts.is_whole:
        return False
    rows = [
        [number for number in row if number is not None]
        for row in cells.select(as_number(one) for one in columns).iter_rows()
    ]
    falls = all(row == sorted(row, reverse=True) for row in rows)
    return falls or all(row == sorted(row) for row in rows)


def _with_merged(queries: pl.Series) -> pl.Series:
    """The query of each row; one without belongs to the query above, as in merged cells."""
    if queries.dtype == pl.String:
        filled = queries.str.strip_chars() != ""
        queries = queries.zip_with(
            filled.fill_null(False), pl.Series([None], dtype=pl.String)
        )
    return queries.forward_fill()


class Profiles(Mapping[str, Profile]):
    """The profiles of the columns of a sample, each made when it is first asked for."""

    def __init__(self, frame: pl.DataFrame, query: str | None = None) -> None:
        self.frame = frame
        self._query = None if query is None else _with_merged(frame[query])
        self._made: dict[str, Profile] = {}

    def __getitem__(self, name: str) -> Profile:
        if name not in self._made:
            self._made[name] = Profile(name, self.frame[name], self._query)
        return self._made[name]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self.frame.columns)

    def __len__(self) -> int:
        return self.frame.width


def profiles_of(table: InputTable, query: str | None = None) -> Profiles:
    """The profiles of all columns of a table, from its first rows."""
    with explained(table.name, table.fault):
        return Profiles(table.rows(pl.all(), most=SOME), query)
