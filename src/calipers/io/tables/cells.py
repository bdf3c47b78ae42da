"""Table cells: split lists of ids, and check the type of each column.

The separator is detected cell by cell. A comma separates ids only where no part has a space, so
that a sentence stays whole; a cell with two different separators is refused.
"""

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import msgspec
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.records.documents import finite
from calipers.io.tables.columns import TAG, words_as_grades
from calipers.model.fact import Fact, named, sentence
from calipers.names import EMPTY, RESULT, ROW, plain_name

ENDS = ".!?…。"
"""Characters that end a sentence."""
At = Callable[[], str]


class Splitter:
    """Splits the cells of one column, and counts the splits by separator."""

    def __init__(self, column: str, *, any_order: bool = False) -> None:
        self.column = column
        self._any_order = any_order
        self._first: object = None
        """The first cell that was split."""
        self.numbered = False
        """Whether some cell is a list with the numbers 1, 2 …; then others have one entry."""

    def split(self, cell: object, at: At) -> list[str]:
        """The ids in one cell, in order; ``at`` gives its place for errors."""
        if cell is None:
            return []
        if isinstance(cell, list | tuple):
            return self._ids(list(cell), at)
        text = str(cell).strip()
        if _MARKED.match(text) and (marked := _marked_lines(text, one=self.numbered)):
            return self._noted(text, marked)
        if _BRACKETED.fullmatch(text):
            return self._noted(text, self._ids(_bracketed(text), at))
        if text.startswith("{"):
            found = decoded_text(text)
            if isinstance(found, dict):
                return self._noted(text, self._ids(found, at))
            if isinstance(found, set):
                ordered = in_order(found, self.column, self._any_order, at)
                return self._noted(text, self._ids(ordered, at))
        signs = [sign for sign in (";", "|", "\n") if sign in text.strip(";|")]
        if len(signs) > 1:
            raise InvalidInput(
                f"A cell of {self.column!r} has two kinds of dividers at {at()}: {text!r:.80}; put "
                "one sign between ids, such as ';', or write a list as in JSON."
            )
        for sign in () if signs else (",", "、", "，"):
            parts = _parts(text, sign)
            if len(parts) > 1 and all(len(part.split()) == 1 for part in parts):
                signs = [sign]
        if not signs:
            self._check_blanks(text, at)
            single = text.strip(";|, ") if text[-1:] in ";|," else text
            return [single] if single else []
        return self._noted(text, _parts(text, signs[0]))

    def graded(self, cell: object, at: At) -> list[tuple[str, float]] | None:
        """The ids in one cell with their grades; None where the cell gives none a grade."""
        found = decoded_text(cell.strip()) if isinstance(cell, str) else cell
        entries = entries_in(found)
        if not entries or all(number is None for _, number in entries):
            return None
        grades = [finite(number) for _, number in entries]
        if None in grades:
            raise InvalidInput(
                f"A cell of {self.column!r} has ids without a grade beside others with one at "
                f"{at()}: {found!r:.80}; give each of them a number."
            )
        if isinstance(cell, str):
            self._noted(cell, [one for one, _ in entries])
        ids = (one for one, _ in entries)
        return [
            (one, grade)
            for one, grade in zip(ids, grades, strict=True)
            if grade is not None
        ]

    def notes(self) -> Iterable[str]:
        """A note on what was split, if anything."""
        if self._first is not None:
            yield sentence(
                "Cells of {column.text} hold several ids, such as {first.text}.",
                column=named(repr(self.column)),
                first=named(f"{self._first!r:.60}"),
            )

    def _noted(self, text: str, parts: list[str]) -> list[str]:
        if len(parts) > 1 and self._first is None:
            self._first = text
        return parts

    def _ids(self, found: Any, at: At) -> list[str]:
        if (entries := entries_in(found)) is not None:
            found = _ids_of(entries, any_order=self._any_order)
        plain = isinstance(found, list) and (
            {*map(type, found)} <= {str, int}
            or all(
                isinstance(one, str | int) and not isinstance(one, bool) for one in found
            )
        )
        if not plain:
            raise InvalidInput(
                f"A cell of {self.column!r} is no list of ids at {at()}: {found!r:.80}; "
                'write it as in JSON, ["a", "b"], or put \';\' between ids.'
            )
        return [str(one).strip() for one in found]

    def _check_blanks(self, text: str, at: At) -> None:
        """Refuse a cell with spaces that may be several ids, or one id with spaces in it."""
        parts = _BETWEEN.split(text)
        if len(parts) < 2 or any(len(part.split()) > 1 for part in parts):
            parts = text.split()
        shapes = {_shape(part) for part in parts}
        if len(parts) > 1 and len(shapes) == 1 and any("9" in shape for shape in shapes):
            raise InvalidInput(
                f"A cell of {self.column!r} holds blanks at {at()}: {text!r:.80} could be "
                f"{len(parts)} ids or one; put ';' between several ids, or add a column grade to "
                "say that every row holds one."
            )


# A name in braces may be an identifier of Windows, which is no list.
_BRACKETED = re.compile(
    r"\[.*\]|\(.*,.*\)|array\(.*\)|\{(?![0-9a-fA-F-]{36}\})[^:'\"{}]+\}", re.DOTALL
)
_BETWEEN = re.compile(r"\s+(?:and|und|et|y|e|en|i|&|\+|/)\s+")
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_PRINTED = re.compile(rf"\[\s*((?:{_QUOTED}|[\d.]+)(?:\s+(?:{_QUOTED}|[\d.]+))*)\s*\]")


_MARKED = re.compile(r"[-*•–·]\s+|\d{1,2}[.)]\s+")
"""What stands before each entry of a list that people type into a cell."""


def entries_in(found: object) -> list[tuple[str, object]] | None:
    """The ids in a mapping, in pairs or in objects, each with its number; None if it is none.

    >>> entries_in({"a": 2}), entries_in([("a", 0.5)]), entries_in([{"id": "a", "grade": 2}])
    ([('a', 2)], [('a', 0.5)], [('a', 2)])
    >>> entries_in(["a"]) is None
    True
    """
    if isinstance(found, dict):
        found = list(found.items())
    # Plain ids, as in nearly every cell, are seen by their type alone.
    if not isinstance(found, list) or not found or {*map(type, found)} == {str}:
        return None
    if all(isinstance(one, dict) for one in found):
        called = next(
            (key for key in _OBJECT_IDS if all(key in one for one in found)), None
        )
        if called is None:
            return None
        numbers = [
            [v for k, v in one.items() if plain_name(str(k)) in _NUMBERS] for one in found
        ]
        return [
            (str(one[called]), (n or [None])[0])
            for one, n in zip(found, numbers, strict=True)
        ]
    pairs = all(isinstance(one, list | tuple) and len(one) == 2 for one in found)
    if not pairs or not all(isinstance(one[0], str) for one in found):
        return None
    return [(one[0], one[1]) for one in found]


_NUMBERS = frozenset((*RESULT["score"], *ROW["grade"]))
"""Fields of an object that order it or grade it."""
_OBJECT_IDS = (*RESULT["id"], "doc_id", "document_id", "passage_id", "item")
"""Fields of an object that name it, the most certain first."""


def _ids_of(entries: list[tuple[str, object]], *, any_order: bool) -> object:
    """The ids of entries with a number each, where these change nothing; else the entries.

    >>> _ids_of([("a", 0.9), ("b", 0.5)], any_order=False), _ids_of([("a", 1)], any_order=True)
    (['a', 'b'], ['a'])
    >>> _ids_of([("a", 2), ("b", 1)], any_order=True)
    [('a', 2), ('b', 1)]
    """
    numbers = [finite(number) for _, number in entries]
    ids = [name for name, _ in entries]
    known = [number for number in numbers if number is not None]
    if all(number is None for _, number in entries):
        return ids
    if len(known) < len(entries):
        return entries
    if any_order:
        return ids if {*known} == {1.0} else entries
    return ids if known == sorted(known, reverse=True) else entries


def _marked_lines(text: str, *, one: bool = False) -> list[str]:
    """The entries of a list with bullets or numbers; empty if the cell is no such list.

    >>> _marked_lines("1. a\\n2. b"), _marked_lines("- a"), _marked_lines("1. Setup")
    (['a', 'b'], ['a'], [])
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    marks = [_MARKED.match(line) for line in lines]
    numbers = [
        int(mark[0].strip(" .)\t")) for mark in marks if mark and mark[0][0].isdigit()
    ]
    if not all(marks) or numbers not in ([], [*range(1, len(lines) + 1)]):
        return []
    if numbers == [1] and not one:
        return []  # "1. Setup" may be the name of a section
    return [line[mark.end() :] for line, mark in zip(lines, marks, strict=True) if mark]


def _bracketed(text: str) -> object:
    """Parse a bracketed list: JSON, as Python or numpy prints it, or bare words."""
    text = re.sub(r"array\((.*?)(?:,\s*dtype=[^)]*)?\)", r"\1", text, flags=re.DOTALL)
    found = decoded_text(text)
    if isinstance(found, tuple):
        return list(found)
    if not isinstance(found, str) or "..." in text:
        return found
    parts = _parts(text[1:-1], ",")
    bare = all(
        len(part.split()) == 1 and not set(part) & set("'\"[]{}") for part in parts
    )
    several = len(parts) > 1 or text.startswith("{")
    return parts if several and bare else found


def looks_like_texts(cells: Iterable[object], *, sure: bool = False) -> bool:
    """Whether most cells are sentences, not ids; ``sure`` requires final punctuation.

    >>> looks_like_texts(["Lists grow by an eighth.", "a#1"]), looks_like_texts(["a#14, a#15"])
    (True, False)
    >>> looks_like_texts(["A lock; one thread holds it."]), looks_like_texts(["a 1.pdf;b c 2.pdf"])
    (True, False)
    """
    filled = [
        str(cell).strip() for cell in cells if cell is not None and str(cell).strip()
    ]
    texts = [one for one in filled if _is_sentence(one)]
    if sure:
        texts = [text for text in texts if text[-1] in ENDS and len(text.split()) > 3]
    return bool(filled) and 2 * len(texts) >= len(filled)


def _is_sentence(cell: str) -> bool:
    """Three words without separators or file names, or two words and final punctuation."""
    if _BRACKETED.fullmatch(cell):
        return False
    if cell[:1] == "{" and (entries := entries_in(decoded_text(cell))) is not None:
        return looks_like_texts(one for one, _ in entries)
    parts = [_BEGINS.sub("", part) for part in re.split(r"[;|,\n]\s*", cell) if part]
    longest = max((len(_WORD.findall(part)) for part in parts), default=0)
    if all(re.search(r"\.\w{2,5}$", part.strip()) for part in parts):
        return False
    return longest >= 3 or (longest == 2 and cell[-1] in ENDS)


_BEGINS = re.compile(r"^\s*(?:[-*•–·]|\d{1,2}[.)])\s+")
"""What stands before an entry of a list in a cell."""
_WORD = re.compile(r"\S*\w\S*")
"""A word; a sign alone, as in "Backup & restore", is none."""


def _parts(text: str, sign: str) -> list[str]:
    return [part.strip() for part in text.split(sign) if part.strip()]


def _shape(part: str) -> str:
    """The pattern of an id: letters become ``a``, digits ``9``.

    >>> _shape("a#14"), _shape("doc-2.md")
    ('a#9', 'a-9.a')
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", part))


def decoded_text(text: str) -> object:
    """Parse a table cell as JSON or as a Python literal; else return the text unchanged.

    >>> decoded_text('["a"]'), decoded_text("['a']"), decoded_text("[a]")
    (['a'], ['a'], '[a]')
    """
    bare = text.strip()
    try:
        return msgspec.json.decode(bare)
    except (msgspec.DecodeError, RecursionError):
        pass
    if printed := _PRINTED.fullmatch(bare):
        # As pandas writes arrays: Python would join adjacent strings without commas.
        parts = re.findall(rf"{_QUOTED}|[\d.]+", printed[1])
        return [ast.literal_eval(part) for part in parts]
    try:
        # Lists written to CSV by Python's own str().
        return ast.literal_eval(bare)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text


def cell_value(value: object, is_json: bool) -> object:
    """The value of a table cell: JSON text decoded, empty struct fields left out."""
    if isinstance(value, str) and is_json:
        return decoded_text(value)
    return _unnested(value)


def _unnested(value: object) -> object:
    if isinstance(value, dict):
        filled = {key: one for key, one in value.items() if one is not None}
        nested = [key for key, one in filled.items() if isinstance(one, dict | list)]
        return (
            {**filled, **{key: _unnested(filled[key]) for key in nested}}
            if nested
            else filled
        )
    if not isinstance(value, list) or not value or not isinstance(value[0], dict | list):
        return value
    if all(isinstance(one, dict) and one.keys() == {"key", "value"} for one in value):
        return {one["key"]: _unnested(one["value"]) for one in value}
    return list(map(_unnested, value))


def in_order(value: object, key: str, any_order: bool, at: Callable[[], str]) -> object:
    """The value of a field; a set is sorted, or refused if the order matters, as it has none."""
    if isinstance(value, set | frozenset):
        if not any_order:
            raise InvalidInput(
                f"The field {key!r} is a set at {at()}, which has no order; a ranking is a list."
            )
        return sorted(value, key=str)
    if isinstance(value, dict) and any(
        isinstance(one, set | frozenset) for one in value.values()
    ):
        return {
            name: in_order(one, f"{key}.{name}", any_order, at)
            for name, one in value.items()
        }
    return value


def bare_name(name: str) -> str:
    """The name with spaces stripped; a name of only spaces is kept.

    >>> bare_name("Why? "), bare_name(" ")
    ('Why?', ' ')
    """
    return name.strip() or name


def bare_names(names: pl.Series) -> pl.Series:
    """``bare_name`` for a column."""
    bare = names.str.strip_chars()
    empty = bare == ""
    return bare.zip_with(~empty, names) if empty.any() else bare


@cache
def words_for_nothing(*, graded: bool) -> frozenset[str]:
    """Targets that mean that nothing should be found: N/A, none, nan, -.

    What has a grade is judged: a punctuation mark may be its id.

    >>> sorted(words_for_nothing(graded=False) - words_for_nothing(graded=True))
    ['-', '–', '—']
    """
    return frozenset(one for one in EMPTY if not graded or any(map(str.isalpha, one)))


SPELLED_RANK = (
    r"^(?i:#|№|no\.?|nr\.?|rank|rang|top|pos\.?)?\s*(\d{1,4})"
    r"(?:\.|\)|st|nd|rd|th|º|°|\.º|位)?$"
)
"""A rank as people write it: ``#1``, ``1st``, ``Rank 1``, ``1.``"""
WANTED = {"Float64": "a finite number", "Int64": "a whole number", "String": "a text"}


def cast_columns(
    frame: pl.DataFrame,
    schema: dict[str, pl.DataType],
    where: Callable[[int], str],
    offset: int,
    decimal_comma: bool = False,
    called: Mapping[str, str] | None = None,
    *,
    bare: bool = False,
) -> pl.DataFrame:
    """Cast the table to a schema; ``where`` gives the place of a row for errors.

    ``called`` maps our column names to those in the file; ``bare`` says that the names have no
    spaces around them, so that they need not be copied.
    """
    theirs = called or {}
    columns = []
    needed = _needed(frame.columns)
    for name in frame.columns:
        column = frame[name]
        dtype = schema[name]
        if not _is_plain(column.dtype):
            raise InvalidInput(
                f"The column {theirs.get(name, name)!r} holds {column.dtype} at {where(offset)}; "
                f"it must hold {'a number' if dtype.is_numeric() else 'a text'} in every row."
            )
        if column.dtype.is_float() and dtype == pl.String():
            whole = column.cast(pl.Int64, strict=False)
            column = whole if (whole.cast(pl.Float64) == column).all() else column
        if column.dtype == pl.String and dtype.is_numeric():
            column = column.str.strip_chars().replace("", None)
            if decimal_comma:
                column = column.str.replace(",", ".", literal=True)
        cast = column.cast(dtype, strict=False)
        if dtype.is_numeric() and column.dtype == pl.String:
            commas = name == "grade" or has_decimal_commas(column)
            cast = _with_written_numbers(cast, column, decimal_comma=commas)
        if name in ("query", "item") and not bare:
            # Strip spaces that an export pads or a person types after a question.
            cast = bare_names(cast)
        if name == "rank" and column.dtype == pl.String and cast.has_nulls():
            spelled = column.str.extract(SPELLED_RANK).cast(dtype, strict=False)
            cast = cast.fill_null(spelled)
        bad = cast.is_null() & column.is_not_null()
        if dtype == pl.Int64() and column.dtype.is_float():
            bad |= cast.cast(pl.Float64).ne_missing(column)
        if dtype == pl.Float64():
            bad |= ~cast.is_finite().fill_null(True)
        if name in needed:
            bad |= column.is_null()
        if bad.any():
            row = int(bad.arg_true()[0])
            raise InvalidInput(
                f"The column {theirs.get(name, name)!r} holds {_shown(column[row])} at "
                f"{where(offset + row)}; it must hold {_wanted(name, dtype)} in every row."
                f"{' ' + words_as_grades(theirs.get(name, name)) if name == 'grade' else ''}"
            )
        columns.append(cast)
    made = pl.DataFrame(columns)
    identity = _identities(made.columns)
    if identity:
        nameless = made.select(pl.all_horizontal(pl.col(identity).is_null())).to_series()
        if nameless.any():
            row = int(nameless.arg_true()[0])
            raise InvalidInput(
                f"A row names nothing at {where(offset + row)}: "
                f"{', '.join(identity)} hold nothing; fill one of them."
            )
    return made


def number_in(text: str, *, decimal_comma: bool = True) -> float | None:
    """The finite number in a text, as people write it; None if it holds none.

    >>> number_in("1,5"), number_in("50 %"), number_in("1_0"), number_in("two")
    (1.5, 0.5, None, None)
    """
    bare = text.strip().removesuffix("%").rstrip()
    bare = bare.replace(",", ".", 1) if decimal_comma else bare
    # Only Python reads 1_0 as ten.
    number = None if "_" in bare else finite(bare)
    return number if number is None or "%" not in text else number / 100


def has_decimal_commas(texts: pl.Series) -> bool:
    """Whether every comma in a column of texts divides a number from its fraction.

    >>> has_decimal_commas(pl.Series(["0,91", "12"])), has_decimal_commas(pl.Series(["1,234"]))
    (True, False)
    """
    commas = texts.filter(
        texts.str.contains(",", literal=True).fill_null(False)
    ).str.strip_chars()
    if not len(commas) or not commas.str.contains(r"^[+-]?\d+,\d+$").all():
        return False
    return bool(commas.str.contains(r"^[+-]?0,|,\d{1,2}$|,\d{4,}$").any())


def _with_written_numbers(
    cast: pl.Series, texts: pl.Series, *, decimal_comma: bool
) -> pl.Series:
    """The numbers of a column, and those that only ``number_in`` understands: 50 %, rank 1.0."""
    missed = texts.filter(cast.is_null() & texts.is_not_null())
    found: dict[str, float | int] = {}
    for text in missed.unique():
        number = number_in(text, decimal_comma=decimal_comma)
        if number is not None and (cast.dtype.is_float() or number.is_integer()):
            found[text] = number if cast.dtype.is_float() else int(number)
    if not found:
        return cast
    return cast.fill_null(
        texts.replace_strict(found, default=None, return_dtype=cast.dtype)
    )


def _is_plain(dtype: pl.DataType) -> bool:
    return not dtype.is_nested() and dtype not in (pl.Binary, pl.Boolean, pl.Object)


def _wanted(name: str, dtype: pl.DataType) -> str:
    return WANTED[str(dtype)] + (", or yes or no," if name == "grade" else "")


def _identities(columns: list[str]) -> list[str]:
    """The columns that can identify what a row is about; it needs one of them."""
    return [name for name in ("item", "text", "quote", "document") if name in columns]


def _needed(columns: list[str]) -> set[str]:
    """The columns that must be filled in every row; scores are optional beside ranks."""
    identity = _identities(columns)
    score = set() if "rank" in columns else {"score"}
    return {"query", "rank", *score, *(identity if len(identity) == 1 else ())}


def _shown(value: object) -> str:
    return "nothing" if value is None else repr(value)[:60]


def gap_notes(rows: pl.DataFrame, *, whole: bool) -> tuple[str, ...]:
    """A note where ranks have gaps; rows are sorted first if they are the ``whole`` run.

    >>> rows = pl.DataFrame({"query": ["q", "q"], "rank": [1.0, 5.0]})
    >>> print(*gap_notes(rows, whole=True))
    The ranks of 1 query have gaps, such as those of 'q' (1, then 5): its results move up and count
    at 1, 2, 3 …, so a metric may be too high. Write the results at the other ranks, too.
    """
    if "call" in rows.columns:
        return ()
    rows = rows.sort("query", "rank", maintain_order=True) if whole else rows
    same = pl.col("query") == pl.col("query").shift(1)
    steps = rows.with_columns(before=pl.when(same).then(pl.col("rank").shift(1)))
    gaps = steps.filter(pl.col("rank") - pl.col("before") > 1)
    if not gaps.height or (steps["rank"] < steps["before"]).any():
        return ()
    first = gaps.row(0, named=True)
    n = gaps["query"].n_unique()
    return (
        sentence(
            "The ranks of {it.count:query|queries} have gaps, such as those of {first.text} "
            "({gap.before:g}, then {gap.value:g}): its results move up and count at {ranks.text}, "
            "so a metric may be too high. Write the results at the other ranks, too.",
            it=Fact(about="count", count=n, text="gaps"),
            first=named(f"{first['query']!r:.60}"),
            gap=Fact(about="setting", before=first["before"], value=first["rank"]),
            ranks=named("1, 2, 3 …"),
        ),
    )


def tags_in(rows: pl.DataFrame, queries: pl.Series) -> dict[str, pl.Series]:
    """The tags of each of the ``queries``, from ``rows`` with a query and tag columns."""
    columns = [name for name in rows.columns if name.startswith(TAG)]
    page = rows.select("query", pl.col(columns).cast(pl.String))
    several = page.group_by("query", maintain_order=True).agg(
        pl.all().drop_nulls().unique()
    )
    for name in columns:
        split = several.filter(pl.col(name).list.len() > 1)
        if split.height:
            one, other = sorted(split[name][0])[:2]
            raise InvalidInput(
                f"The query {split['query'][0]!r:.60} has two values in the column {name!r}: "
                f"{one!r:.60} and {other!r:.60}; a tag says one thing of a query, so give all its "
                "rows the same."
            )
    first = several.with_columns(pl.col(columns).list.first())
    asked = pl.DataFrame({"query": queries})
    return tag_columns(asked.join(first, on="query", how="left", maintain_order="left"))


def tag_columns(rows: pl.DataFrame) -> dict[str, pl.Series]:
    """The tag columns, by tag name."""
    tags = {name: name.removeprefix(TAG) for name in rows.columns if name.startswith(TAG)}
    return {tag: rows[name].cast(pl.String).alias(tag) for name, tag in tags.items()}
