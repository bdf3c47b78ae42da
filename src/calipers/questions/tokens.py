"""The number of tokens that results cost a language model."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.model.arrays import Ints
from calipers.model.matched import Matched
from calipers.questions.shown_results import Context, over_contexts
from calipers.statistics.clusters import exact_mean

CHARACTERS_PER_TOKEN = 4
"""A common rule of thumb for English prose; other languages and code need more tokens."""

Tokenizer = Callable[[str], Any]
"""Takes a text and returns its tokens, or their number."""
TokenSource = Literal["data", "tokenizer", "estimate"]


SOURCES: tuple[TokenSource, ...] = ("data", "tokenizer", "estimate")
"""In order of preference: the first that is known for all results is used."""


def count_tokens(
    results: pl.DataFrame, tokenizer: Tokenizer | None = None
) -> Iterator[tuple[TokenSource, Ints]]:
    """The tokens of every result, by each source that covers all results.

    A tokenizer named by the user is the only source.
    """
    if tokenizer is None and _complete(results, "tokens"):
        yield "data", results["tokens"].to_numpy().astype(np.int64)
    if not _complete(results, "text"):
        return
    texts = results["text"]
    if tokenizer is None:
        lengths = texts.str.len_chars().to_numpy().astype(np.int64)
        yield "estimate", -(-lengths // CHARACTERS_PER_TOKEN)
        return
    unique = texts.unique(maintain_order=True)
    counts = {text: _checked(_asked(tokenizer, text), text) for text in unique.to_list()}
    yield "tokenizer", np.array([counts[text] for text in texts.to_list()], np.int64)


def load_tokenizer(name: str) -> Tokenizer:
    """Load the function at an import path such as ``package.module:function``.

    >>> load_tokenizer("builtins:len")("four")
    4
    """
    module, colon, attribute = name.partition(":")
    if not (colon and module and attribute):
        raise InvalidInput(
            f"The tokenizer {name!r} cannot be read; write package.module:function, the function "
            "taking a text and giving its tokens or their number."
        )
    folder = str(Path.cwd())
    if folder not in sys.path:
        # The function is often in the working folder, which a console script does not import from.
        sys.path.append(folder)
    try:
        found: Any = import_module(module)
    except ImportError as error:
        raise InvalidInput(
            f"The tokenizer {name!r} cannot be loaded: {error}; check the name, or install the "
            "package."
        ) from error
    except (Exception, SystemExit) as error:  # a user's module may raise anything when imported
        raise InvalidInput(
            f"The tokenizer {name!r} cannot be loaded: {module} raises {type(error).__name__}: "
            f"{error} while it is imported; repair it first."
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise InvalidInput(
                f"The tokenizer {name!r} cannot be loaded: {module} has no {attribute!r}."
            )
        found = getattr(found, part)
    if not callable(found):
        raise InvalidInput(f"The tokenizer {name!r} is no function but a {type(found).__name__}.")
    tokenizer: Tokenizer = found
    return tokenizer


def _complete(results: pl.DataFrame, column: str) -> bool:
    return column in results.columns and results[column].null_count() == 0


def _asked(tokenizer: Tokenizer, text: str) -> Any:
    try:
        return tokenizer(text)
    except (Exception, SystemExit) as error:  # a user's function may raise anything
        raise InvalidInput(
            f"The tokenizer raises {type(error).__name__}: {error!s:.200} for the text "
            f"{text[:40]!r}; it must take a text and give its tokens or their number."
        ) from error


def _checked(answer: Any, text: str) -> int:
    if hasattr(answer, "__len__") and not isinstance(answer, str):
        return len(answer)
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool) and answer >= 0:
        return int(answer)
    raise InvalidInput(
        f"The tokenizer gave {answer!r} for the text {text[:40]!r}; it must give a list of tokens "
        "or their number."
    )


TokenSums = Mapping[TokenSource, Ints]
"""One row per query for each source that covers all these results."""


@dataclass(frozen=True, eq=False)
class TokensShown:
    """The tokens of every query's results, and the source of the numbers."""

    table: Ints
    """One row per query, with the requested columns."""
    source: TokenSource

    @classmethod
    def merged(cls, parts: Sequence[tuple[Ints, TokenSums]], n_queries: int) -> Self | None:
        """Merge the sums of blocks; None if no source covers all."""
        for source in SOURCES:
            tables = [(codes, sums[source]) for codes, sums in parts if source in sums]
            if tables and len(tables) == len(parts):
                table = np.zeros((n_queries, tables[0][1].shape[1]), dtype=np.int64)
                for codes, part in tables:
                    table[codes] = part
                return cls(table, source)
        return None


def token_sums(
    context: Context, take: Callable[[Ints], Ints], tokenizer: Tokenizer | None = None
) -> TokenSums:
    """Apply ``take`` to the tokens of these results, for each source."""
    return {source: take(counts) for source, counts in count_tokens(context.frame, tokenizer)}


def may_have_tokens(pair: Matched) -> bool:
    """Whether the run may have tokens, judged by its first results."""
    return pair.run.has("tokens") or pair.run.has("text")


def tokens_shown(
    pair: Matched, take: Callable[[Context, Ints], Ints], tokenizer: Tokenizer | None = None
) -> TokensShown | None:
    """Apply ``take`` to the tokens of each block; None if tokens are unknown."""

    def work(block: Context) -> tuple[Ints, TokenSums]:
        return block.codes, token_sums(block, partial(take, block), tokenizer)

    return TokensShown.merged([*over_contexts(pair, work)], pair.matches.n_queries)


FITTING_SHARE = 0.95


@dataclass(frozen=True)
class TokenUse:
    """The token cost of the first k results."""

    mean: float
    p95: float
    """The 95th percentile over queries."""
    highest: int
    cost_per_1000: float | None
    """The cost of 1,000 queries at the given price."""


def token_use(column: Ints, price: float | None) -> TokenUse:
    """Summarise the tokens of the first k results over all queries.

    >>> token_use(np.array([100, 300]), price=2.5)
    TokenUse(mean=200.0, p95=300.0, highest=300, cost_per_1000=0.5)
    """
    mean = exact_mean(column.astype(np.float64))
    cost = None if price is None else mean * 1000 / 1_000_000 * price
    return TokenUse(mean, _at_share(column, FITTING_SHARE), int(column.max()), cost)


def _at_share(column: Ints, share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = np.sort(column)
    return float(ordered[max(0, int(np.ceil(share * len(ordered) - 1e-9)) - 1)])
