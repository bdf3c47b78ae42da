"""``calipers eval --level all``: the same evaluation at several levels, side by side."""

from typing import Any

from calipers.cli.output import console, print_json
from calipers.errors import InvalidInput


def several_levels(level: str | None) -> bool:
    """Whether more than one level is asked for."""
    return level is not None and (level == "all" or "," in level)


def refuse_at_levels(level: str, one_result: dict[str, Any]) -> str:
    """The levels; options that need one result are refused."""
    for option, given in one_result.items():
        if given:
            raise InvalidInput(
                f"{option} needs one result and --level {level} makes several; "
                "give one level, or leave the option out."
            )
    return level


def show_levels(found: Any, *, as_json: bool, explain: bool) -> None:
    """One table with a column per level, or all of it as JSON."""
    if as_json:
        print_json(found.to_dict())
        return
    from calipers.present.levels import print_levels

    print_levels(found, console(), explain=explain)
