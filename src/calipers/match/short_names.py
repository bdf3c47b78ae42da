"""Short names in fields of texts, ``faq 1`` beside ``faq 12``: they are ids and not quotes.

A tool's field of contexts may hold the ids of them. Looked for as a quote, ``faq 1`` would be
found in ``faq 12``.
"""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from calipers.model.ground_truth import GroundTruth
from calipers.model.run import Run, changed_by

MOST_LETTERS = 40
"""Letters up to which a text may be a name."""
MOST_WORDS = 4
"""Words up to which a text may be a name."""
MOST_WITHOUT_BLANKS = 12
"""Letters up to which it may be one in a script that is written without blanks."""
_WITHOUT_BLANKS = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
_END_OF_SENTENCE = "[.!?…。！？]$"


def are_names(texts: pl.Series) -> bool:
    """Whether all texts are so short that they name something, and none is a sentence.

    >>> are_names(pl.Series(["faq 1", "faq 12"])), are_names(pl.Series(["It is blue."]))
    (True, False)
    """
    letters = texts.str.len_chars()
    is_packed = texts.str.contains(_WITHOUT_BLANKS)
    is_name = (
        (letters <= MOST_LETTERS)
        & (texts.str.count_matches(r"\S+") <= MOST_WORDS)
        & ~(is_packed & (letters > MOST_WITHOUT_BLANKS))
        & ~texts.str.contains(_END_OF_SENTENCE)
    )
    return bool(is_name.all())


def are_named(truth: GroundTruth, run: Run) -> bool:
    """Whether targets and results are short names, on both sides, and not texts.

    Some target is a whole result then, or all targets are numbered.
    """
    column = next(iter(truth.kinds), "")
    if truth.kinds not in ({"item"}, {"quote"}):
        return False
    targets = truth.targets[column].unique()
    if not are_names(targets):
        return False
    wanted = targets.implode()
    meets = bool(targets.str.contains(r"\d").all())
    for frame in run.scan():
        names = frame["text"].drop_nulls()
        if not are_names(names):
            return False
        meets = meets or bool(names.is_in(wanted).any())
    return meets


def with_quotes_as_ids(truth: GroundTruth) -> GroundTruth:
    """The ground truth with its quotes as ids; unchanged where it has ids."""
    if truth.kinds == {"item"}:
        return truth

    def changed(targets: pl.DataFrame) -> pl.DataFrame:
        no_quote = pl.lit(None, dtype=pl.String())
        return targets.with_columns(item=pl.coalesce("item", "quote"), quote=no_quote)

    further = truth.changing_further(changed)
    whole = replace(truth, targets=changed(truth.targets), **further)
    return whole.without_quotes()


def with_texts_as_ids(run: Run) -> Run:
    """The run with its texts as ids."""

    def renamed() -> Iterator[pl.DataFrame]:
        return (frame.rename({"text": "item"}) for frame in run.scan())

    return replace(run, scan=changed_by(with_texts_as_ids, run, renamed))
