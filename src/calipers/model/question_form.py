"""What a question is like, read off its text without a model: language, question word, form."""

import polars as pl

from calipers.names import words_in

_SCRIPTS = {
    "Japanese": r"[\p{Hiragana}\p{Katakana}]",
    "Chinese": r"\p{Han}",
    "Korean": r"\p{Hangul}",
    "Cyrillic script": r"\p{Cyrillic}",
    "Greek script": r"\p{Greek}",
    "Arabic script": r"\p{Arabic}",
    "Hebrew script": r"\p{Hebrew}",
    "Devanagari script": r"\p{Devanagari}",
    "Thai script": r"\p{Thai}",
}
"""The first of which a question has a third as many letters as Latin ones: names and terms are
Latin in questions of every script."""
_FUNCTION_WORDS = {
    "English": "the is are was were does did do what which who how when where why and of to in "
    "for with that can my from it a an i not be by as at on or if has have",
    "German": "der die das ist sind was wie wer wo wann warum welche welcher welches und ein eine "
    "einen für mit von nicht den dem des zu auf kann ich wird im bei aus",
    "French": "le la les est sont que quel quelle comment qui où quand pourquoi et un une des du "
    "de pour avec dans ce au sur je",
    "Spanish": "el la los las es son qué que cuál cómo quién dónde cuándo por para y un una de del "
    "con en se al mi",
    "Italian": "il lo la gli le è sono che quale come chi dove quando perché e un una di del della "
    "per con nel si al mio",
    "Portuguese": "o a os as é são que qual como quem onde quando por para e um uma de do da com "
    "em se ao meu",
    "Dutch": "de het een is zijn wat wie hoe waar wanneer waarom welke en van voor met niet op te "
    "kan ik mijn in",
}
_ASKING = {
    "English": "what:what who:who whom:who whose:who when:when where:where why:why how:how "
    "which:which",
    "German": "was:what wer:who wem:who wen:who wann:when wo:where wohin:where warum:why wieso:why "
    "weshalb:why wie:how welche:which welcher:which welches:which welchen:which",
    "French": "que:what quoi:what qui:who quand:when où:where pourquoi:why comment:how quel:which "
    "quelle:which quels:which quelles:which",
    "Spanish": "qué:what que:what quién:who cuándo:when dónde:where cómo:how cuál:which "
    "cuáles:which",
    "Italian": "cosa:what che:what chi:who quando:when dove:where perché:why come:how quale:which "
    "quali:which",
    "Portuguese": "que:what quem:who quando:when onde:where como:how qual:which quais:which",
    "Dutch": "wat:what wie:who wanneer:when waar:where waarom:why hoe:how welke:which",
}
_YES_OR_NO = words_in(
    "is are was were am do does did can could will would should may must has have had ist sind "
    "kann können muss darf gibt est peut puede pode può kan"
)
_IDENTIFIER = (
    r"\b[A-Z]+[-_]?\d{2,}|\w_\w|\b[a-z]{2,}[A-Z]|\w\(\)|\w::\w|(?:^|\s)--?[a-z][\w-]+"
    r"|\w\.(?:py|js|ts|java|go|rs|cpp|md|json|ya?ml|toml|sh|sql|html|css)\b"
)
_WORD = r"[\p{L}\p{M}'’]+"
CUTS = ("language", "question_word", "form")


_KNOWN_WORDS = pl.DataFrame(
    [(word, name) for name, known in _FUNCTION_WORDS.items() for word in known.split()],
    schema={"word": pl.String, "language": pl.String},
    orient="row",
)
_KNOWN_ASKING = {
    f"{language} {pair.partition(':')[0]}": pair.partition(":")[2]
    for language, pairs in _ASKING.items()
    for pair in pairs.split()
}


def label(cut: str, asked: pl.Series) -> pl.Series:
    """The language, the question word or the form of each question; null where nobody can tell.

    >>> texts = ["How do I reset it?", "Wie setze ich es zurück?", "как сбросить", "ERR-1001 reset"]
    >>> label("language", pl.Series(texts)).to_list()
    ['English', 'German', 'Cyrillic script', None]
    >>> label("form", pl.Series(texts)).to_list()
    ['question', 'question', None, 'identifier']
    """
    language = _language(asked)
    if cut == "language":
        return language
    word = _question_word(asked, language)
    return word if cut == "question_word" else _form(asked, language, word)


def _language(asked: pl.Series) -> pl.Series:
    table = pl.DataFrame({"asked": asked}).with_row_index("row")
    words = table.select("row", word=pl.col("asked").str.to_lowercase().str.extract_all(_WORD))
    hits = words.explode("word").join(_KNOWN_WORDS, on="word").group_by("row", "language").len()
    most = pl.col("len") == pl.col("len").max()
    # As many words of two languages: nobody can tell.
    latin = hits.group_by("row").agg(pl.col("language").filter(most), ties=most.sum())
    latin = latin.filter(pl.col("ties") == 1).select("row", pl.col("language").list.first())
    found = pl.col("language")
    letters = pl.col("asked").str.count_matches(r"\p{Latin}")
    for name, script in reversed(_SCRIPTS.items()):
        of = pl.col("asked").str.count_matches(script)
        found = pl.when((of > 0) & (3 * of >= letters)).then(pl.lit(name)).otherwise(found)
    other = table.filter(pl.col("asked").str.contains(r"[^\x00-\x7f]"))
    other = other.join(latin, on="row", how="left").select("row", found.alias("other"))
    whole = table.join(latin, on="row", how="left").join(other, on="row", how="left")
    return whole.sort("row").select(pl.coalesce("other", "language").alias("language")).to_series()


def _question_word(asked: pl.Series, language: pl.Series) -> pl.Series:
    first = asked.str.to_lowercase().str.extract(f"({_WORD})")
    key = language.fill_null("English") + " " + first
    return pl.select(
        pl.coalesce(
            pl.lit(key).replace_strict(_KNOWN_ASKING, default=None, return_dtype=pl.String),
            pl.when(pl.lit(first.is_in(_YES_OR_NO))).then(pl.lit("yes or no")),
        )
    ).to_series()


def _form(asked: pl.Series, language: pl.Series, word: pl.Series) -> pl.Series:
    table = pl.DataFrame({"asked": asked, "language": language, "word": word})
    text, known = pl.col("asked"), pl.col("language")
    latin = known.is_null() | ~known.is_in(list(_SCRIPTS))
    return table.select(
        pl.when(text.str.contains(_IDENTIFIER))
        .then(pl.lit("identifier"))
        .when(text.str.contains(r"\w\W*[?？؟]\s*$") | pl.col("word").is_not_null())
        .then(pl.lit("question"))
        .when(known.is_null() & text.str.contains(r"\w\s*$"))
        .then(pl.lit("keywords"))
        .when(latin & text.str.contains(r"\w"))
        .then(pl.lit("statement"))
    ).to_series()
