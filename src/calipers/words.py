"""Helpers for sentences: plurals, lists of names, formatted numbers, the nearest known word."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar


def listed(names: Sequence[str]) -> str:
    """Join names with commas and "and".

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def first_names(names: Sequence[str], most: int = 60) -> str:
    """The first whole names that fit into so many characters.

    >>> first_names(["question", "result_1"]), first_names(["question", "result_1"], 12)
    ('question, result_1', 'question, …')
    """
    fit = list(names)
    while len(fit) > 1 and len(", ".join(fit)) > most:
        fit.pop()
    more = "…" if len(fit) < len(names) else ""
    return ", ".join([f"{name:.{most}}" for name in fit] + ([more] if more else []))


def plural(count: int, singular: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> plural(1, "query", "queries"), plural(2000, "chunk")
    ('1 query', '2,000 chunks')
    """
    return f"{count:,} {singular if count == 1 else many or singular + 's'}"


def number(value: float) -> str:
    """Three places for shares, fewer for large counts."""
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"


def share(value: float) -> str:
    """A share in words if there is a plain one, else in whole percent.

    >>> share(0.5), share(0.826), share(1.0), share(0.9999), share(0.004)
    ('half', '83%', 'all', 'over 99%', 'under 1%')
    """
    plain = {0.0: "nothing", 0.5: "half", 1.0: "all"}
    if value in plain:
        return plain[value]
    percent = round(value * 100)
    if percent >= 100:
        return "over 99%"
    return "under 1%" if percent == 0 else f"{percent}%"


def percent(value: float) -> str:
    """A share in whole percent; what is not all is never 100%, and what is there never 0%.

    >>> percent(1 / 3), percent(0.9975), percent(0.004), percent(0.0), percent(1.0)
    ('33%', 'over 99%', 'under 1%', '0%', '100%')
    """
    rounded = f"{value:.0%}"
    if rounded == "100%" and value < 1:
        return "over 99%"
    return "under 1%" if rounded == "0%" and value > 0 else rounded


FAR = 20
"""From so many times the length of the lists on, a cut-off is no number of results."""


def is_far(k: int, *, queries: int, returned: int, within: int) -> bool:
    """Whether a cut-off cuts nothing, and is far beyond the length of the lists.

    ``returned`` are the results of all queries, ``within`` those in the first k.

    >>> [is_far(k, queries=2, returned=20, within=20) for k in (10, 199, 200)]
    [False, False, True]
    >>> is_far(200, queries=30, returned=300, within=299)
    False
    """
    return within == returned and k * queries >= FAR * returned > 0


def first_results(k: int, *, is_far: bool = False) -> str:
    """The phrase for the first k results, or for all where k is far beyond the lists.

    >>> first_results(1), first_results(10), first_results(1_000_000, is_far=True)
    ('first result', 'first 10 results', 'results')
    """
    if is_far:
        return "results"
    return "first result" if k == 1 else f"first {k:,} results"


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.25), signed(-0.25), signed(0.0)
    ('+0.250', '−0.250', '0.000')
    """
    text = number(abs(value))
    if not float(text):
        return text
    return ("+" if value > 0 else "−") + text


def counts_in_words(better: int, worse: int, n: int) -> str:
    """How many queries got better and how many worse.

    >>> counts_in_words(12, 0, 29), counts_in_words(0, 3, 42)
    ('12 of 29 queries better, none worse', '3 of 42 queries worse, none better')
    """
    if not better and not worse:
        return "no query changed"
    sides = [(better, "better"), (worse, "worse")]
    if worse > better:
        sides.reverse()
    (many, way), (few, other) = sides
    of = plural(n, "query", "queries")
    return f"{many:,} of {of} {way}, {f'{few:,}' if few else 'none'} {other}"


_PACKED = re.compile(r"\.(gz|zst|bz2|xz|zip)$", re.IGNORECASE)
_ENDING = re.compile(r"(?<=.)\.[A-Za-z]\w*(:.*)?$")
"""An ending of a file begins with a letter: what follows the dot of "v1.2" is a version."""


def name_without_ending(name: str) -> str:
    """The name of a file or of a Python object in one, without what says its format.

    >>> for name in ("bm25.jsonl.gz", "voyage-3.5", "run.2026.trec", "search.py:find", ".x"):
    ...     print(name_without_ending(name))
    bm25
    voyage-3.5
    run.2026
    search
    .x
    """
    return _ENDING.sub("", _PACKED.sub("", name))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A short question naming the nearest known word, or nothing.

    >>> did_you_mean("recal", ["recall", "precision"])
    ' Did you mean recall?'
    >>> did_you_mean("zzz", ["recall"])
    ''
    >>> did_you_mean("lang", ["language", "metadata.lang"])
    ' Did you mean metadata.lang?'
    """
    from difflib import get_close_matches

    # Keys of a user's records may be numbers.
    words = list(map(str, known))
    inside = [one for one in words if one.lower().endswith(f".{word.lower()}")]
    near = inside or get_close_matches(word.lower(), words, n=1, cutoff=0.6)
    return f" Did you mean {near[0]}?" if near else ""


COMPLETING: ContextVar[Callable[[str], str | None]] = ContextVar("completing")
"""Completes a command for the same data: set by the command line while a command runs,
and by pages. None leaves the command as it is; an empty text leaves out the sentence that
offers it."""
_COMMAND = re.compile(r"`calipers ([^`…]+)`")
_OFFER = re.compile(r"(?:^|(?<=[.!?] ))[^.!?`]*: `calipers ([^`…]+)`(?:\.? |\.?$)")
"""A sentence that is nothing but a command with what it is for: "Why: `calipers
misses`"."""


def whole_commands(text: str) -> str:
    """Complete every command in a text with the user's files, where they are known."""
    kept = _OFFER.sub(lambda offer: "" if _whole(offer[1]) == "" else offer[0], text)
    if kept != text:
        kept = kept.rstrip()
    return _COMMAND.sub(lambda match: f"`{_whole(match[1]) or match[0][1:-1]}`", kept)


def _whole(words: str) -> str | None:
    complete = COMPLETING.get(None)
    return None if complete is None else complete(words)
