"""What users type as the value of an option: cut-offs, weights, systems by name."""

from pathlib import Path

from calipers.errors import InvalidInput


def cutoff_list(text: str | None) -> list[int] | None:
    """The cut-offs of ``-k 1,5,10``."""
    if text is None:
        return None
    from calipers.measures.spec import check_cutoff

    return [check_cutoff(one) for one in text.split(",")]


def weights(text: str | None) -> dict[str, float] | None:
    """The weights of ``--score recall@10=0.7,precision@5=0.3``."""
    if text is None:
        return None
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


def named_systems(given: tuple[str, ...]) -> list[str] | dict[str, str]:
    """The systems by name, where any is written NAME=FILE; else the paths as they are."""
    if not any("=" in one and not Path(one).exists() for one in given):
        return list(given)
    from calipers.api.inputs import name_systems

    named: dict[str, str] = {}
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or Path(one).exists():
            name, path = next(iter(name_systems([one]).items()))
        if name in named:
            raise InvalidInput(f"Two systems are called {name!r}; give each a name of its own.")
        named[name] = path
    return named
