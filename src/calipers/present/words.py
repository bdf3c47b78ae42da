"""Numbers, shares, p-values and names of queries as sentences and tables have them."""

from calipers.model.scores import Interval
from calipers.present.escape import printable

_LONGEST_TEXT = 60


def number(value: float) -> str:
    """Three places for shares, fewer for large counts."""
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"


def share(value: float) -> str:
    """A share in words where there is a plain one, else in whole percent.

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


def first_results(k: int) -> str:
    """The results that count, as they stand in a sentence.

    >>> first_results(1), first_results(10)
    ('first result', 'first 10 results')
    """
    return "first result" if k == 1 else f"first {k:,} results"


def p_in_words(p: float | None) -> str:
    """A p-value to three places, never shown as 0.

    >>> p_in_words(0.0421), p_in_words(0.0001), p_in_words(None)
    ('p = 0.042', 'p < 0.001', '')
    """
    if p is None:
        return ""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.25), signed(-0.25), signed(0.0)
    ('+0.250', '−0.250', '0.000')
    """
    text = number(abs(value))
    if not float(text):
        return text
    return ("+" if value > 0 else "−") + text


def between(interval: Interval | None) -> str:
    """The interval of a difference."""
    return f"{signed(interval.low)} to {signed(interval.high)}" if interval else ""


def query_name(query: str, text: str | None) -> str:
    """A query as a reader knows it: its id, and its text where that is another thing."""
    if text is None or text == query:
        return printable(query, _LONGEST_TEXT)
    return f"{printable(query, 30)}: {printable(text, _LONGEST_TEXT)}"
