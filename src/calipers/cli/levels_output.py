"""``calipers eval --level all``: the same evaluation at several levels, side by side."""

from typing import Any

from calipers.cli.output import console, print_json
from calipers.cli.progress import reading
from calipers.errors import InvalidInput


def several_levels(level: str | None) -> bool:
    """Whether more than one level is asked for."""
    return level is not None and (level == "all" or "," in level)


def print_at_levels(
    data: str | None,
    ground_truth: str | None,
    run: Any,
    metrics: str | None,
    cutoffs: list[int] | None,
    settings: dict[str, Any],
    *,
    as_json: bool,
    refused: dict[str, Any],
) -> None:
    """Measure at each level and print one table; options that need one result are refused."""
    from calipers import api

    level = settings.pop("level")
    for option, given in refused.items():
        if given:
            raise InvalidInput(
                f"{option} needs one result and --level {level} makes several; "
                "give one level, or leave the option out."
            )
    with reading() as progress:
        found = api.levels(
            data, ground_truth=ground_truth, run=run, at=level, metrics=metrics, k=cutoffs,
            progress=progress, **settings,
        )  # fmt: skip
    if as_json:
        print_json(found.to_dict())
        return
    from calipers.present.levels import print_levels

    print_levels(found, console())
