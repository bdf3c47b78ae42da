"""Detect what a column holds: grades as numbers, yes/no or marks; row numbers; texts.

An unrecognised column of words is harmless. A column of numbers, or of yes and no, beside ids may
say which of them are not relevant, and ignoring it would silently change every score.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from calipers.io.records.documents import finite
from calipers.io.tables.cells import looks_like_texts, number_in
from calipers.io.tables.columns import SaidGrades
from calipers.names import HARMLESS, plain_name, unaccented, words_in

_YES = frozenset(
    words_in(
        "1 true t yes y ja j oui si s sim vero verdadero verdadeiro wahr waar vrai tak prawda "
        "relevant pertinent relevante rilevante pertinente good hit pass passed accept accepted "
        "gold golden correct right positive match matched ok gut richtig treffer bien bon correcto "
        "giusto useful helpful ○ ◯ 👍"
    )
)
_NO = frozenset(
    words_in(
        "0 false f no n nein nee non nao nie falsch faux falso onwaar falsz irrelevant "
        "irrelevante irrilevante - – — bad miss missed fail failed reject rejected distractor "
        "incorrect wrong negative schlecht mal mauvais incorrecto sbagliato useless unhelpful × 👎"
    )
) | {
    f"{word} {what}"
    for word in ("not", "nicht", "non", "no", "niet", "nao", "nie", "pas")
    for what in ("relevant", "pertinent", "relevante", "rilevante", "pertinente")
}
_MARKS = frozenset({"x", "✓", "✔", "✅", "☑", "+", "*", "●", "•"})
_NOT_MARKED = frozenset({"✗", "✘", "❌", "☐", "✖"})
_NUMBER = re.compile(r"[+-]?\d*[.,]?\d+%?")
_DIVIDED = re.compile(r"[;|\s]+|,\s+")
NO_GRADES = frozenset(
    words_in(
        "id ids index idx row rows nr no num number nummer numero numer lfd line zeile page pages "
        "seite pagina strona year jahr month day date datum fecha time timestamp created updated "
        "version latency ms sec seconds tokens length chars words count size cost price k start "
        "end offset hop hops difficulty schwierigkeit priority prio prioritat unnamed"
    )
)
"""Words in names of columns whose numbers say nothing about relevance."""
COUNTING = frozenset(
    words_in("id ids index idx row rows nr no num number nummer numero numer lfd line zeile k")
)
"""Those of them that may number results, and so be ranks."""
REMARKS = frozenset(
    words_in(
        "comment comments kommentar commentaire notes notiz remark remarks bemerkung title titel "
        "titre heading reviewed done archived active urgent"
    )
)
"""Words in names of columns that track progress, where a cell may say "ok", too."""
FEW = 5
"""With fewer rows, values 0, 1, 2 … may be grades and not row numbers."""
BEYOND_GRADES = 1000
"""If no number is smaller than this, they are years, ids or times."""


def cells_of(column: pl.Series) -> list[str]:
    """The non-empty cells, in lower case without accents."""
    if column.dtype.is_nested():
        return []
    texts = column.drop_nulls().cast(pl.String, strict=False).drop_nulls()
    return [text for cell in texts if (text := unaccented(cell.strip()))]


def holds_words(column: pl.Series) -> bool:
    """Whether all cells say yes or no, in words or with marks."""
    found = set(cells_of(column))
    known = _YES | _NO | _MARKS | _NOT_MARKED
    return bool(found) and found <= known and not found <= {"0", "1"}


def holds_grades(column: pl.Series) -> bool:
    """Whether a column could hold grades: numbers (several per cell allowed), or yes and no.

    >>> holds_grades(pl.Series(["1", "0", None])), holds_grades(pl.Series(["ja", "nein"]))
    (True, True)
    >>> holds_grades(pl.Series(["x", ""])), holds_grades(pl.Series(["easy", "1"]))
    (True, False)
    """
    found = cells_of(column)
    return bool(found) and (holds_words(column) or all(map(_is_number, found)))


def _is_number(cell: str) -> bool:
    parts = list(filter(None, _DIVIDED.split(cell.strip("[]"))))
    return bool(parts) and all(_NUMBER.fullmatch(part.strip(",")) for part in parts)


def may_hide_grades(name: str, column: pl.Series) -> bool:
    """Whether an unrecognised column may hold the relevance or the order of ids."""
    if not holds_grades(column):
        return False
    words = set(plain_name(name).split("_"))
    if words & NO_GRADES or not name.strip() or (words & REMARKS and holds_words(column)):
        return False
    return not _counts_rows(column)


def likely_grades(columns: Mapping[str, Sequence[str] | pl.Series]) -> list[str]:
    """The column that may hold grades, if any; of several the one with the fewest values."""
    found = {name: pl.Series(cells) for name, cells in columns.items()}
    may = [name for name, cells in found.items() if may_hide_grades(name, cells)]
    return sorted(may, key=lambda name: found[name].n_unique())[:1]


def may_tell_apart(name: str, column: pl.Series) -> bool:
    """Whether values that differ within one query may be more than remarks about the items."""
    words = set(plain_name(name).split("_"))
    if words & (HARMLESS | NO_GRADES) or column.dtype.is_nested() or column.dtype.is_temporal():
        return False
    texts = column.cast(pl.String, strict=False).drop_nulls()
    if not len(texts) or texts.str.contains(_REMARK).any():
        return False
    return not looks_like_texts(texts)


_REMARK = r"^\d{4}-\d\d-\d\d|^\d\d?[./]\d\d?[./]\d{2,4}|://|/|\\|\.\w{2,4}$|@|\S\s+\S+\s+\S"
"""Dates, addresses, file names and several words, which cannot be grades."""


def _counts_rows(column: pl.Series) -> bool:
    """Whether the numbers are row numbers, or too large to be grades."""
    numbers = column.cast(pl.Float64, strict=False)
    if numbers.null_count() or not len(numbers):
        return False
    if float(numbers.min() or 0) >= BEYOND_GRADES:  # type: ignore[arg-type]
        return True
    return len(numbers) >= FEW and bool((numbers.diff().drop_nulls() == 1).all())


def as_numbers(column: pl.Series, words: SaidGrades | None = None) -> pl.Series:
    """Convert yes and no to 1 and 0; where only yes is written, an empty cell means no.

    ``words`` are the user's own grades by word.
    """
    if words:
        said = pl.Series(column.name, words.of(column.to_list()), dtype=pl.Float64)
        if said.null_count() < len(said):
            return said.cast(pl.String).fill_null(column.cast(pl.String))
    if column.dtype == pl.Boolean:
        return column.cast(pl.Float64)
    if column.dtype == pl.String and set(cells_of(column)) in ({"1"}, {"1.0"}):
        return column.str.strip_chars().replace("", None).fill_null("0")
    if column.dtype != pl.String or not holds_words(column):
        return column
    plain = [unaccented((cell or "").strip()) for cell in column.to_list()]
    yes = _YES | _MARKS
    otherwise = 0.0 if set(filter(None, plain)) <= yes - {"1"} else None
    numbers = [1.0 if cell in yes else 0.0 if cell else otherwise for cell in plain]
    return pl.Series(column.name, numbers, dtype=pl.Float64)


def grade_of(value: Any) -> float | None:
    """The grade of a single value: a number, or a word for yes or no; else None.

    >>> grade_of("good"), grade_of(True), grade_of("2,5"), grade_of("50%"), grade_of("page 2")
    (1.0, 1.0, 2.5, 0.5, None)
    """
    if isinstance(value, str):
        word = unaccented(value.strip())
        if word in _YES | _MARKS:
            return 1.0
        return 0.0 if word in _NO | _NOT_MARKED else number_in(word)
    return finite(value)
