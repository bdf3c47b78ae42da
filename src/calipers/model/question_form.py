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


def label(cut: str, asked: pl.Expr) -> pl.Expr:
    """The language, the question word or the form of each question; null where nobody can tell.

    >>> texts = ["How do I reset it?", "Wie setze ich es zurück?", "как сбросить", "ERR-1001 reset"]
    >>> table = pl.DataFrame({"text": texts})
    >>> table.select(label("language", pl.col("text"))).to_series().to_list()
    ['English', 'German', 'Cyrillic script', None]
    >>> table.select(label("form", pl.col("text"))).to_series().to_list()
    ['question', 'question', None, 'identifier']
    """
    return {"language": _language, "question_word": _question_word, "form": _form}[cut](asked)


def _language(asked: pl.Expr) -> pl.Expr:
    words = asked.str.to_lowercase().str.extract_all(_WORD)
    hits = pl.concat_list(
        words.list.eval(pl.element().is_in(known.split()).cast(pl.Int32)).list.sum()
        for known in _FUNCTION_WORDS.values()
    )
    most = hits.list.max()
    names = pl.lit(pl.Series(list(_FUNCTION_WORDS)))
    # As many words of two languages: nobody can tell.
    alone = hits.list.eval((pl.element() == pl.element().max()).cast(pl.Int32)).list.sum() == 1
    found: pl.Expr = pl.when((most > 0) & alone).then(names.gather(hits.list.arg_max()))
    letters = asked.str.count_matches(r"\p{Latin}")
    for name, script in reversed(_SCRIPTS.items()):
        of = asked.str.count_matches(script)
        found = pl.when((of > 0) & (3 * of >= letters)).then(pl.lit(name)).otherwise(found)
    return found


def _question_word(asked: pl.Expr) -> pl.Expr:
    first = asked.str.to_lowercase().str.extract(f"({_WORD})")
    known = {
        f"{language} {pair.partition(':')[0]}": pair.partition(":")[2]
        for language, pairs in _ASKING.items()
        for pair in pairs.split()
    }
    key = pl.concat_str(_language(asked).fill_null("English"), pl.lit(" "), first)
    yes = pl.when(first.is_in(_YES_OR_NO)).then(pl.lit("yes or no"))
    return pl.coalesce(key.replace_strict(known, default=None, return_dtype=pl.String), yes)


def _form(asked: pl.Expr) -> pl.Expr:
    language = _language(asked)
    latin = ~language.is_in(list(_SCRIPTS)) | language.is_null()
    asks = asked.str.contains(r"[?？؟]\s*$") | _question_word(asked).is_not_null()
    return (
        pl.when(asked.str.contains(_IDENTIFIER))
        .then(pl.lit("identifier"))
        .when(asks)
        .then(pl.lit("question"))
        .when(latin & language.is_null() & asked.str.contains(r"\w\s*$"))
        .then(pl.lit("keywords"))
        .when(latin & asked.str.contains(r"\w"))
        .then(pl.lit("statement"))
    )
