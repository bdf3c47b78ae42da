"""Numbers and shares as sentences and tables have them."""


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
