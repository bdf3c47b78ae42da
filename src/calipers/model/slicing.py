"""Ways to cut queries into slices or clusters: by a tag, by their texts, by number of targets."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from calipers.errors import InvalidInput, is_command_line
from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.fact import Fact, sentence
from calipers.model.scores import Scores
from calipers.names import words_in
from calipers.words import did_you_mean

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
"""A question has the first script with at least a third as many letters as Latin: names
and terms are Latin in questions of every script."""
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
    "is are was were am do does did can could will would should may must has have had "
    "ist sind kann können muss darf gibt est peut puede pode può kan"
)
_IDENTIFIER = (
    r"\b[A-Z]+[-_]?\d{2,}|\w_\w|\b[a-z]{2,}[A-Z]|\w\(\)|\w::\w|(?:^|\s)--?[a-z][\w-]+"
    r"|\w\.(?:py|js|ts|java|go|rs|cpp|md|json|ya?ml|toml|sh|sql|html|css)\b"
)
_LETTERS = r"[\p{L}\p{M}'’]+"
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


def label(cut: str, questions: pl.Series) -> pl.Series:
    """The language, the question word or the form of each question; null where it is unclear.

    >>> texts = ["How do I reset it?", "Wie setze ich es zurück?", "как сбросить", "ERR-1001 reset"]
    >>> label("language", pl.Series(texts)).to_list()
    ['English', 'German', 'Cyrillic script', None]
    >>> label("form", pl.Series(texts)).to_list()
    ['question', 'question', None, 'identifier']
    """
    language = _language(questions)
    if cut == "language":
        return language
    word = _question_word(questions, language)
    return word if cut == "question_word" else _form(questions, language, word)


def _language(questions: pl.Series) -> pl.Series:
    table = pl.DataFrame({"asked": questions}).with_row_index("row")
    words = table.select(
        "row", word=pl.col("asked").str.to_lowercase().str.extract_all(_LETTERS)
    )
    hits = (
        words.explode("word")
        .join(_KNOWN_WORDS, on="word")
        .group_by("row", "language")
        .len()
    )
    most = pl.col("len") == pl.col("len").max()
    # A tie between two languages is unclear.
    latin = hits.group_by("row").agg(pl.col("language").filter(most), ties=most.sum())
    latin = latin.filter(pl.col("ties") == 1).select(
        "row", pl.col("language").list.first()
    )
    language = pl.col("language")
    letters = pl.col("asked").str.count_matches(r"\p{Latin}")
    for name, script in reversed(_SCRIPTS.items()):
        of = pl.col("asked").str.count_matches(script)
        language = (
            pl.when((of > 0) & (3 * of >= letters)).then(pl.lit(name)).otherwise(language)
        )
    other = table.filter(pl.col("asked").str.contains(r"[^\x00-\x7f]"))
    other = other.join(latin, on="row", how="left").select("row", language.alias("other"))
    whole = table.join(latin, on="row", how="left").join(other, on="row", how="left")
    return (
        whole.sort("row")
        .select(pl.coalesce("other", "language").alias("language"))
        .to_series()
    )


def _question_word(questions: pl.Series, language: pl.Series) -> pl.Series:
    first = questions.str.to_lowercase().str.extract(f"({_LETTERS})")
    key = language.fill_null("English") + " " + first
    return pl.select(
        pl.coalesce(
            pl.lit(key).replace_strict(
                _KNOWN_ASKING, default=None, return_dtype=pl.String
            ),
            pl.when(pl.lit(first.is_in(_YES_OR_NO))).then(pl.lit("yes or no")),
        )
    ).to_series()


def _form(questions: pl.Series, language: pl.Series, word: pl.Series) -> pl.Series:
    table = pl.DataFrame({"asked": questions, "language": language, "word": word})
    text = pl.col("asked")
    known = pl.col("language")
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


MOST_SLICES = 100
MOST_NAMED = 10
"""Values of a tag that are listed where an unknown one was asked for."""
UNASKED = 0.01
"""The level at which a slice is named that nobody asked for: at the usual one, tags that mean
nothing were named in 3 % of healthy runs."""
UNTAGGED = "(none)"
# Upper ends of the buckets, in words of the query and in relevant targets.
WORDS = (4, 9, 19)
TARGETS = (0, 1, 2, 5)
FROM_TEXT = (*CUTS, "length")
COMPUTED = (*FROM_TEXT, "targets")
AUTO = "auto"
"""Every cut that needs no tag and gives at least two slices of some size."""
FEWEST = 5
"""Queries that two slices of such a cut must have."""


def cut(scores: Scores, by: str) -> list[tuple[str, Bools]]:
    """Name and mask of every slice, in an order that makes sense.

    A tag of that name wins over what is computed: "language", "question_word", "form" and
    "length" of the text, and "targets" (how many relevant ones it has).
    """
    _check_cut(by, list(scores.tags))
    if by in FROM_TEXT and by not in scores.tags and not has_questions(scores.queries):
        raise InvalidInput(
            f"The queries cannot be cut by {by}: the ground truth gives their ids and "
            "not their texts; add the text of each query, or cut by a tag or by targets."
        )
    labels = labels_of(scores.queries, scores.tags, by)
    present = set(labels.unique())
    if len(present) > MOST_SLICES:
        raise InvalidInput(
            f"The tag {by!r} has {len(present)} different values over {len(labels)} "
            f"queries; a slice needs several queries, and {MOST_SLICES} slices are "
            "allowed. Cut by a tag with fewer values."
        )
    buckets = {"length": (WORDS, "word"), "targets": (TARGETS, "target")}
    usual = _bucket_names(*buckets[by]) if by in buckets else []
    # Buckets from low to high; other names in alphabetical order.
    names = (
        usual
        if present <= set(usual)
        else sorted(present, key=lambda n: (n == UNTAGGED, n))
    )
    return [(name, (labels == name).to_numpy()) for name in names if name in present]


def cuts_of(scores: Scores, by: Iterable[str]) -> list[str]:
    """The cuts asked for, each once, with "auto" expanded."""
    names = list(dict.fromkeys(by))
    if AUTO not in names or AUTO in scores.tags:
        return names
    automatic = auto_cuts(scores)
    if not automatic and names == [AUTO]:
        raise InvalidInput(
            "The queries cannot be cut by auto: they are alike in language, question "
            f"word, form, length and number of targets, or fewer than {FEWEST} differ; "
            "cut by a tag."
        )
    return list(
        dict.fromkeys(
            cut for name in names for cut in (automatic if name == AUTO else [name])
        )
    )


def queries_where(
    queries: pl.DataFrame, tags: Mapping[str, pl.Series], where: Mapping[str, str]
) -> pl.Series:
    """Which queries have all of these tags; a tag or a value that none has is refused."""
    chosen = pl.repeat(value=True, n=queries.height, eager=True, dtype=pl.Boolean)
    for name, value in where.items():
        _check_cut(name, list(tags))
        labels = labels_of(queries, tags, name)
        known = labels.unique().sort().to_list()
        if value not in known:
            more = ", …" if len(known) > MOST_NAMED else ""
            raise InvalidInput(
                f"No query has {name}={value}; {name} is "
                f"{', '.join(known[:MOST_NAMED])}{more}.{did_you_mean(value, known)}"
            )
        chosen = chosen & (labels == value)
    if not chosen.any():
        wanted = " and ".join(f"{name}={value}" for name, value in where.items())
        raise InvalidInput(
            f"No query has {wanted}; each of them alone some queries have."
        )
    return chosen


def auto_cuts(scores: Scores) -> list[str]:
    """The computed cuts in which at least two slices have a few queries."""
    texts = has_questions(scores.queries)
    return [
        name
        for name in COMPUTED
        if (name in scores.tags or name not in FROM_TEXT or texts)
        and is_cut(labels_of(scores.queries, scores.tags, name).to_list())
    ]


def is_cut(labels: Iterable[str]) -> bool:
    """Whether at least two slices, and not too many, have a few queries each."""
    sizes = Counter(labels)
    return (
        len(sizes) <= MOST_SLICES and sum(size >= FEWEST for size in sizes.values()) > 1
    )


@dataclass(frozen=True, eq=False)
class QuerySlice:
    """Some of the queries: all of them, or those with one value of a tag."""

    name: str | None
    """As tag=value; None: all."""
    chosen: Bools


def everything(scores: Scores) -> QuerySlice:
    """All queries."""
    return QuerySlice(None, np.ones(len(scores), dtype=np.bool_))


def tag_cuts(tags: Mapping[str, pl.Series]) -> list[str]:
    """The tags that cut queries into at least two slices, and not into too many.

    >>> tag_cuts({"type": pl.Series(["a", "b"]), "team": pl.Series(["a", "a"])})
    ['type']
    """
    return [name for name, tag in tags.items() if 1 < tag.n_unique() <= MOST_SLICES]


def slices_by(scores: Scores, tags: Iterable[str]) -> list[QuerySlice]:
    """One slice for each value of each tag."""
    return [
        QuerySlice(f"{tag}={value}", mask)
        for tag in cuts_of(scores, tags)
        for value, mask in cut(scores, tag)
    ]


def labels_of(queries: pl.DataFrame, tags: Mapping[str, pl.Series], by: str) -> pl.Series:
    """The name of the slice of every query; ``queries`` has columns text and targets."""
    if by in tags:
        return tags[by].cast(pl.String).fill_null(UNTAGGED)
    if by in CUTS:
        return label(by, queries.select(ASKED).to_series()).fill_null(UNTAGGED)
    if by == "length":
        words = queries.select(ASKED.str.count_matches(_WORD)).to_series()
        return _bucketed(words, WORDS, "word")
    return _bucketed(queries["targets"], TARGETS, "target")


def _bucketed(counts: pl.Series, ends: Sequence[int], unit: str) -> pl.Series:
    """The bucket of each count; an unknown count falls into the last."""
    names = pl.Series(_bucket_names(ends, unit), dtype=pl.String)
    places = np.searchsorted(ends, counts.fill_null(0).to_numpy())
    return names.gather(np.where(counts.is_null().to_numpy(), len(names) - 1, places))


def _check_cut(by: str, tags: Sequence[str]) -> None:
    """Refuse to slice by a tag that the queries do not have."""
    known = [*tags, *COMPUTED]
    if by not in known:
        option = "--column tag=NAME" if is_command_line() else 'columns={"tag": "NAME"}'
        how = (
            f' Records may have tags, "tags": {{"{by}": "…"}}, or name the column that '
            f"holds it: {option}."
        )
        how = "" if tags else how
        raise InvalidInput(
            f"The queries have no tag {by!r}; they can be cut by {', '.join(known)}."
            f"{did_you_mean(by, known)}{how}"
        )


_WORD = r"[^\s\x1c-\x1f]+"
"""What ``str.split`` leaves: Python counts four more characters as blanks than Unicode
does."""
ASKED = (
    pl.when(
        pl.col("text").is_null()
        & pl.col("query").str.contains(f"(?s){_WORD}.* .*{_WORD}")
    )
    .then(pl.col("query"))
    .otherwise(pl.col("text"))
)
"""The text of a query; an id with a blank in it is its own text."""


def has_questions(queries: pl.DataFrame) -> bool:
    """Whether any query has a text."""
    if "text" not in queries.columns:
        return False
    return bool(queries.select((ASKED.str.len_bytes() > 0).any()).item())


def _bucket(n: int, ends: Sequence[int], unit: str) -> str:
    """The bucket that a number falls into.

    >>> [_bucket(n, (1, 2, 5), "target") for n in (1, 4, 6)]
    ['1 target', '3 to 5 targets', 'over 5 targets']
    """
    lowest = 1 if ends[0] > 0 else 0
    for end in ends:
        if n <= end:
            span = f"{end}" if lowest == end else f"{lowest} to {end}"
            return f"{span} {unit}{'' if span == '1' else 's'}"
        lowest = end + 1
    return f"over {ends[-1]} {unit}s"


def _bucket_names(ends: Sequence[int], unit: str) -> list[str]:
    return [
        *(_bucket(end, ends, unit) for end in ends),
        f"over {ends[-1]} {unit}s",
        UNTAGGED,
    ]


def _tag(tags: Mapping[str, pl.Series], name: str, to_do: str) -> pl.Series:
    if name not in tags:
        has = f"they have {', '.join(tags)}" if tags else "they have no tags"
        raise InvalidInput(
            f"The queries have no tag {name!r} to {to_do}; "
            f"{has}.{did_you_mean(name, tags)}"
        )
    return tags[name]


def clusters_of(
    tags: Mapping[str, pl.Series], name: str | None, queries: int
) -> Ints | None:
    """The cluster of each query by a tag; a query without the tag is its own cluster.

    >>> clusters_of({"intent": pl.Series(["a", None, "a", None])}, "intent", 4).tolist()
    [0, -2, 0, -4]
    """
    if name is None:
        return None
    codes = (
        _tag(tags, name, "make clusters of").cast(pl.String).rank("dense").cast(pl.Int64)
        - 1
    )
    alone = pl.Series(np.arange(queries, dtype=np.int64) * -1 - 1)
    clusters: Ints = codes.fill_null(alone).to_numpy()
    return clusters


def clusters_in(scores: Scores) -> Ints | None:
    """The clusters by which a result was summarised."""
    return clusters_of(scores.tags, scores.recorded.cluster, len(scores))


def query_weights_of(tags: Mapping[str, pl.Series], name: str | None) -> Floats | None:
    """The weight of each query by a tag, as a share of the largest; None where all are equal.

    >>> query_weights_of({"asked": pl.Series(["30", "15", "3"])}, "asked").tolist()
    [1.0, 0.5, 0.1]
    >>> query_weights_of({"asked": pl.Series(["7", "7"])}, "asked") is None
    True
    """
    if name is None:
        return None
    tag = _tag(tags, name, "weigh them by")
    weights = tag.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if wrong.size:
        value = tag[int(wrong[0])]
        has = "no weight" if value is None else f"the weight {value!r:.60}"
        raise InvalidInput(
            f"A query has {has} in {name!r}; every query needs a number above 0. Leave "
            "out the others with --where, or give them one."
        )
    # Shares of the largest: weights on another scale give the same bits.
    shares: Floats = weights / weights.max(initial=0.0)
    return None if (shares == 1.0).all() else shares


def query_weights_in(scores: Scores) -> Floats | None:
    """The weights by which a result was summarised."""
    return query_weights_of(scores.tags, scores.recorded.weight_by)


def refuse_weighted(scores: Scores, what: str) -> None:
    """Raise where a result is weighted and what is asked of it takes no weights."""
    if (name := scores.recorded.weight_by) is not None:
        raise InvalidInput(
            f"{what} do not weigh queries, and these are weighted by {name!r}; measure "
            "them without --weight-by."
        )


def units_of(
    queries: pl.DataFrame, tags: Mapping[str, pl.Series], cluster: str | None
) -> Ints | None:
    """The units of a paired test: a cluster, or queries of the same text; None: each query.

    >>> asked = pl.DataFrame({"query": ["1", "2", "3"], "text": ["Who?", "Why?", "Who?"]})
    >>> units_of(asked, {}, None).tolist()
    [0, 1, 0]
    """
    if cluster is not None:
        return clusters_of(tags, cluster, queries.height)
    texts = queries["text"].str.strip_chars()
    known = texts.filter(texts != "")
    if known.n_unique() == len(known):
        return None
    return clusters_of({"text": texts.replace("", None)}, "text", queries.height)


def units_in(scores: Scores) -> Ints | None:
    """The units of tests on a result: its clusters, or queries of the same text."""
    return units_of(scores.queries, scores.tags, scores.recorded.cluster)


def copies_in_words(queries: pl.DataFrame, cluster: str | None) -> list[str]:
    """A note where queries are copies of one another."""
    units = None if cluster else units_of(queries, {}, None)
    if units is None:
        return []
    copies = queries.height - len(np.unique(units))
    return [
        sentence(
            "{it.count:query has|queries have} the text of another; in tests, equal texts "
            "count as one query.",
            it=Fact(about="count", count=copies, of=queries.height, text="copies"),
        )
    ]
