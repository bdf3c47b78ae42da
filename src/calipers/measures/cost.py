"""What results cost a language model that reads them."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from calipers.errors import InvalidInput
from calipers.measures.define import metric
from calipers.model.arrays import Bools, Floats
from calipers.model.matched import FAILED, MISSING, Matches, TokenTable


@dataclass(frozen=True, eq=False)
class Reading:
    """The tokens of the results of every query."""

    tokens: TokenTable
    unanswered: Bools
    """The queries that no retriever answered: they cost nothing, which is no merit."""

    @classmethod
    def of(cls, matches: Matches) -> Self:
        """The view over the tokens given with the results, or estimated from their texts."""
        tokens = matches.tokens
        if tokens is None:
            raise InvalidInput(
                "tokens@k counts the tokens of the results, and no result has any, nor a text; "
                "give every result 'tokens' or 'text'."
            )
        unanswered = matches.having_status(FAILED) | matches.having_status(MISSING)
        return cls(tokens, unanswered)


@metric(better="lower", bounds=(0, None), without_targets="defined")
def tokens(reading: Reading, k: int) -> Floats:
    """The tokens of the first k results.

    As given with the results, or else estimated as characters / 4, which is said. Undefined for a
    query with a result in the first k of which nothing is known, and where the retriever failed.
    """
    return np.where(reading.unanswered, np.nan, reading.tokens.of_first(k))
