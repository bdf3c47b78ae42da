"""Grades as people write them: numbers, yes and no, marks, words of a scale."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from calipers.errors import is_command_line
from calipers.io.records.documents import finite
from calipers.io.tables.cells import number_in
from calipers.io.tables.columns import SaidGrades
from calipers.model.fact import Fact, named, sentence
from calipers.names import unaccented, words_in


def _plain_words(words: Iterable[str]) -> frozenset[str]:
    """Words as they are compared: without accents, and in the same composition."""
    return frozenset(map(unaccented, words))


_YES = _plain_words(
    words_in(
        "1 true t yes y ja j oui si s sim vero verdadero verdadeiro wahr waar vrai tak prawda "
        "relevant pertinent relevante rilevante pertinente good hit pass passed accept accepted "
        "gold golden correct right positive match matched ok gut richtig treffer bien bon correcto "
        "giusto useful да 是 はい ○ ◯ 👍 o evet dogru ano spravne pravda sand sant 예 네 "
        "helpful 相关 正确 該当 правда верно истина"
    )
)
_NO = _plain_words(
    words_in(
        "0 false f no n nein nee non nao nie falsch faux falso onwaar falsz irrelevant "
        "irrelevante irrilevante - – — bad miss missed fail failed reject rejected distractor "
        "incorrect wrong negative schlecht mal mauvais incorrecto sbagliato useless unhelpful "
        "нет 否 いいえ × 👎 hayir yanlis ne nepravda spatne falsk falskt 아니오 아니요 不相关 "
        "不正确 ложь неверно"
    )
) | {
    f"{word} {what}"
    for word in ("not", "nicht", "non", "no", "niet", "nao", "nie", "pas", "ikke", "inte")
    for what in words_in(
        "relevant pertinent relevante rilevante pertinente match hit useful helpful correct good ok"
    )
}
_CIRCLES = frozenset({"o", "○", "◯"})
"""Marks beside which a cross means no, as in Japanese and Korean."""
_MARKS = frozenset({"x", "✓", "✔", "✅", "☑", "+", "*", "●", "•"})
_NOT_MARKED = frozenset({"✗", "✘", "❌", "☐", "✖"})
JUDGEMENTS = _YES | _NO | _MARKS | _NOT_MARKED
"""Words and marks that say yes or no, in lower case without accents."""
_STARS = re.compile("[★☆⭐\ufe0f]+")
"""Stars, filled and empty: the filled ones count."""
_OF_SCALE = re.compile(r"([+-]?\d+(?:[.,]\d+)?)\s*(?:/\s*\d+|[-–—:=(]\s*\D.*)")
"""A grade with its scale or its meaning: 2/3, 2 - ok, 3 (exact)."""
_LEVELS: Mapping[str, int] = {
    word: level
    for level, words in enumerate(
        (
            "irrelevant bad poor low none no nein off wrong schlecht niedrig mauvais faible "
            "gering bajo baja baixa basso bassa keine kein",
            "partial partially partly teilweise fair medium mittel somewhat related maybe ok "
            "marginal average moyen mediocre complement media medio medie",
            "relevant good high yes ja gut hoch useful bon correct right "
            "substitute alta alto eleve",
            "excellent perfect exact ideal perfekt best excellente highly very sehr superb great",
        )
    )
    for word in words_in(words)
}
"""Words of graded scales, each with its place in them."""


_LITTLE = frozenset(
    words_in("low poor niedrig gering faible bajo baja baixa basso bassa")
)
"""Words of the lowest level that count a little where another word counts nothing."""


def cells_of(column: pl.Series) -> list[str]:
    """The non-empty cells, in lower case without accents."""
    if column.dtype.is_nested():
        return []
    texts = column.drop_nulls().cast(pl.String, strict=False).drop_nulls()
    return [text for cell in texts if (text := unaccented(cell.strip()))]


def holds_words(column: pl.Series) -> bool:
    """Whether all cells say yes or no, in words or with marks."""
    found = set(cells_of(column))
    return bool(found) and found <= JUDGEMENTS and not found <= {"0", "1"}


def grade_in(cell: str) -> float | None:
    """The grade in a cell that names its scale or its meaning; None if it is no such cell.

    >>> grade_in("2/3"), grade_in("2 - ok"), grade_in("1,5 (fair)"), grade_in("2"), grade_in("a/b")
    (2.0, 2.0, 1.5, None, None)
    >>> grade_in("★★☆")
    2.0
    """
    if _STARS.fullmatch(cell.strip()):
        return float(cell.count("★") + cell.count("⭐"))
    of_scale = _OF_SCALE.fullmatch(cell.strip())
    return None if of_scale is None else number_in(of_scale[1])


def grades_of_words(cells: Iterable[str]) -> str | None:
    """The option that gives each word a grade, where the words are a known scale; else None.

    >>> grades_of_words(["Highly relevant", "partly", "not relevant", "partly"])
    'Highly relevant=2,partly=1,not relevant=0'
    >>> grades_of_words(["high", "low", "none"]), grades_of_words(["high", "low"])
    ('high=2,low=1,none=0', 'high=1,low=0')
    >>> grades_of_words(["meh", "superb"]) is None
    True
    """
    words = [*dict.fromkeys(cells)]
    levels = {word: _level(word) for word in words}
    known = [level for level in levels.values() if level is not None]
    if len(known) < len(words) or len({*known}) < len(words) or len(words) < 2:
        return None
    if any("," in word or "=" in word for word in words):
        return None
    ordered = sorted(words, key=lambda word: -(levels[word] or 0))
    least = min(known) >= 1
    return ",".join(
        f"{word}={len(words) - 1 - n + least}" for n, word in enumerate(ordered)
    )


def grades_either_way(cells: Iterable[str]) -> list[str]:
    """The options that may grade words: a known scale, or two unknown words either way.

    >>> grades_either_way(["meh", "superb", "meh"])
    ['meh=1,superb=0', 'superb=1,meh=0']
    >>> grades_either_way(["low", "high"]), grades_either_way(["red", "blue", "green"])
    (['high=1,low=0'], [])
    """
    words = [*dict.fromkeys(cells)]
    if (known := grades_of_words(words)) is not None:
        return [known]
    if len(words) != 2 or any(sign in word for word in words for sign in ",="):
        return []
    first, second = words
    return [f"{first}=1,{second}=0", f"{second}=1,{first}=0"]


def _level(word: str) -> float | None:
    """The place of a word in graded scales; of several words the first one that has one."""
    plain = unaccented(word.strip())
    if plain in _LITTLE:
        return 0.5
    if plain in _NO | _NOT_MARKED:
        return 0
    parts = re.split(r"[\W_]+", plain)
    if parts[0] in ("not", "nicht", "non", "pas", "kaum", "un"):
        return 0
    return next((_LEVELS[part] for part in parts if part in _LEVELS), None)


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
    if column.dtype != pl.String:
        return column
    if not holds_words(column):
        return _with_scales(column)
    plain = [unaccented((cell or "").strip()) for cell in column.to_list()]
    yes = _YES | _MARKS
    if _CIRCLES & {*plain}:
        yes -= {"x"}
    otherwise = 0.0 if set(filter(None, plain)) <= yes - {"1"} else None
    numbers = [1.0 if cell in yes else 0.0 if cell else otherwise for cell in plain]
    return pl.Series(column.name, numbers, dtype=pl.Float64)


def _with_scales(column: pl.Series) -> pl.Series:
    """The column with 2/3 and "2 - ok" as 2, where every cell is a number or such a grade."""
    found = {
        cell: grade_in(cell) for cell in column.drop_nulls().unique() if cell.strip()
    }
    scaled = {cell: grade for cell, grade in found.items() if grade is not None}
    if not scaled or any(grade_of(cell) is None for cell in found if cell not in scaled):
        return column
    return column.replace({cell: f"{grade:g}" for cell, grade in scaled.items()})


def grade_of(value: Any) -> float | None:
    """The grade of a single value: a number, or a word for yes or no; else None.

    >>> grade_of("good"), grade_of(True), grade_of("2,5"), grade_of("50%"), grade_of("page 2")
    (1.0, 1.0, 2.5, 0.5, None)
    """
    if isinstance(value, str):
        word = unaccented(value.strip())
        if word in _YES | _MARKS:
            return 1.0
        if word in _NO | _NOT_MARKED:
            return 0.0
        number = number_in(word)
        return grade_in(word) if number is None else number
    return finite(value)


def notes_on_ratings(grades: pl.Series, called: str) -> Iterator[str]:
    """A note on ratings from 1 on: the lowest of them counts as relevant, too."""
    levels = sorted(grades.drop_nulls().unique())
    whole = all(level == round(level) for level in levels)
    if len(levels) > 2 and whole and levels[0] == 1 and 4 <= levels[-1] <= 10:
        option = "--rel 3" if is_command_line() else "rel=3"
        yield sentence(
            "{column.text} has no {none.count}, so every row counts as relevant, those with "
            "{lowest.value:g}, too; {option.text} counts from {least.count} on.",
            column=named(repr(called)),
            none=Fact(about="setting", count=0),
            lowest=Fact(about="setting", value=levels[0], text="lowest grade"),
            option=named(option),
            least=Fact(about="setting", count=3),
        )
