"""A value that is not what its form wants, in words."""


def explain_mismatch(message: str, place: str, example: str) -> str:
    """msgspec's complaint as our sentence, with the whole path."""
    what, _, path = message.partition(" - at `$")
    path = path.rstrip("`")
    if "missing required field" in what:
        field_name = what.split("`")[1]
        return (
            f"A required field is missing at {place}{path}: no {field_name!r}; a record is "
            f"{example}."
        )
    expected = what.removeprefix("Expected ").replace("`", "")
    wanted, _, found = expected.partition(", got ")
    return (
        f"A value has the wrong type at {place}{path}: found {found or what}; "
        f"{'expected ' + wanted if found else 'see the documented format'}."
    )
