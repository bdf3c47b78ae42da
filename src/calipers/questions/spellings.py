"""Values as they are written on a command line: cut-offs, weights, tags, retrievers."""

from calipers.errors import InvalidInput


def cutoff_list(text: str) -> list[int]:
    """The cut-offs of ``-k 1,5,10``."""
    from calipers.measures.spec import check_cutoff

    return [check_cutoff(one) for one in text.split(",")]


def weights_by_name(text: str) -> dict[str, float]:
    """The weights of ``--score recall@10=0.7,precision@5=0.3``."""
    from calipers.measures.spec import split

    found: dict[str, float] = {}
    for piece in split(text):
        name, equals, number = piece.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not equals or not 0 < value < float("inf"):
            raise InvalidInput(
                f"The weight {piece!r} in --score cannot be read; write metric=weight with a "
                "weight above 0, such as recall@10=0.7,precision@5=0.3."
            )
        if name.strip() in found:
            raise InvalidInput(f"The metric {name.strip()} is given two weights; give it one.")
        found[name.strip()] = value
    return found


def tag_pairs(given: tuple[str, ...]) -> dict[str, str]:
    """The tags of ``--tag model=e5 --tag chunk=400``, and of ``--with-tag`` alike.

    >>> tag_pairs(("model=e5", "note=a=b"))
    {'model': 'e5', 'note': 'a=b'}
    """
    found: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name or not value:
            raise InvalidInput(f"The tag {one!r} cannot be read; write name=value, as model=e5.")
        if name in found:
            raise InvalidInput(f"The tag {name!r} is given twice; give it one value.")
        found[name] = value
    return found


def named_retrievers(given: tuple[str, ...]) -> dict[str, str]:
    """Every ``--retriever`` by its name; one without a name is called what it is."""
    found: dict[str, str] = {}
    for one in given:
        name, equals, target = one.partition("=")
        if not equals or not name or not target or "/" in name or ":" in name:
            name, target = one, one
        if name in found:
            raise InvalidInput(f"Two retrievers are called {name!r}; give each a name of its own.")
        found[name] = target
    return found
