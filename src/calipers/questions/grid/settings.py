"""What may be asked here, declared once: names, types and defaults."""

import os
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack

from calipers.live.keywords import Watched
from calipers.operation import Setting, operation

if TYPE_CHECKING:
    from calipers.questions.grid.result import Grid


class GridSettings(TypedDict, total=False):
    """What `grid` takes."""

    retry_errors: Annotated[bool, Setting("Ask the failed questions again.", default=False)]
    restart: Annotated[bool, Setting("Begin again, replacing the runs.", default=False)]
    watch: Watched


@operation(page="grid", command="grid")
def grid(
    config: Annotated[str | os.PathLike[str] | None, Setting("", argument="[FILE]")] = None,
    **settings: Unpack[GridSettings],
) -> "Grid":
    """Ask every combination of a grid file every question, and compare them all.

    ``config`` is a calipers.toml with a table ``[grid]``; without it the one
    of the working folder is taken. Each combination has a run file of its own: a grid that was
    interrupted goes on where it stopped, and what is finished is neither built nor asked again,
    unless its parameters, the questions or the code of its retriever changed. ``restart``
    begins again, ``retry_errors`` asks again what failed. A combination that fails is reported,
    and the others go on.
    """
    from calipers.questions.grid.rule import read_grid, run_grid

    return run_grid(read_grid(config), settings)
