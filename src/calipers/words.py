"""Numbers with their nouns."""


def plural(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> plural(1, "query", "queries"), plural(2000, "chunk")
    ('1 query', '2,000 chunks')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
