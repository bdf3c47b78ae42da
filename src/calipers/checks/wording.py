"""Questions that are worded like the passage that should be found."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher

import polars as pl

from calipers.checks import catalogue
from calipers.checks.similar import WORDS
from calipers.model.health import EXAMPLES, Example, HealthFinding

COPIED_WORDS = 5
COPIED_SHARE = 0.7
"""A question copies if so many words, and this share of them, stand in its target in a row."""
FEW_COPIES = 0.05
"""Up to this share, and one, is what happens where terms are long: 1 of 300 in SciFact."""


def copied_wording(
    texts: Mapping[str, str], passages: Mapping[str, Sequence[str]]
) -> HealthFinding:
    """The questions (id to text) that copy one of their passages (id to texts)."""
    asked = [query for query in texts if passages.get(query)]
    found: dict[str, Sequence[str]] = {}
    for query, words in zip(asked, _words(texts[query] for query in asked), strict=True):
        run = max((_longest_run(words, one) for one in _words(passages[query])), key=len)
        if len(run) >= max(COPIED_WORDS, COPIED_SHARE * len(words)):
            found[query] = run
    count = len(found) if len(found) > max(1, FEW_COPIES * len(asked)) else 0
    return HealthFinding.of_kind(
        catalogue.COPIED_WORDING,
        (
            Example(query, detail=f"“{' '.join(run)}” stands in its target: {texts[query]!r}")
            for query, run in list(found.items())[:EXAMPLES]
        ),
        count=count,
        of=len(asked),
    )


def _words(texts: Iterable[str]) -> list[list[str]]:
    """The words of each text."""
    listed = pl.Series(list(texts), dtype=pl.String).str.to_lowercase()
    found: list[list[str]] = listed.str.extract_all(WORDS).to_list()
    return found


def _longest_run(words: Sequence[str], passage: Sequence[str]) -> Sequence[str]:
    """The longest run of words that stands in a passage as it is.

    >>> _longest_run("who is the keeper of the light".split(), "the keeper of it".split())
    ['the', 'keeper', 'of']
    """
    block = SequenceMatcher(None, passage, words, autojunk=False).find_longest_match()
    return words[block.b : block.b + block.size]
