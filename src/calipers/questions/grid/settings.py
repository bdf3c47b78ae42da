"""What may be asked here, declared once: names, types and defaults."""

import os
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.live.keywords import Watched
from calipers.operation import Setting, Settings, operation

if TYPE_CHECKING:
    from calipers.questions.grid.result import Grid


@dataclass(frozen=True, kw_only=True)
class GridSettings(Settings):
    """What `grid` takes."""

    retry_errors: Annotated[bool, Setting("Ask the failed questions again.")] = False
    restart: Annotated[bool, Setting("Begin again, replacing the runs.")] = False
    watch: Watched = None


@operation(page="grid", command="grid")
def grid(
    config: Annotated[
        str | os.PathLike[str] | None, Setting("", argument="[FILE]")
    ] = None,
    *,
    settings: GridSettings,
) -> "Grid":
    """Ask every combination of a grid file every question, and compare them all.

    ``config`` is a calipers.toml with a table ``[grid]``; without it the one of the
    working folder is taken. Each combination has a run file of its own: a grid that was
    interrupted goes on where it stopped, and what is finished is neither built nor asked
    again, unless its parameters, the questions or the code of its retriever changed.
    ``restart`` begins again, ``retry_errors`` asks again what failed. A combination that
    fails is reported, and the others go on.
    """
    from calipers.questions.grid.rule import read_grid, run_grid

    return run_grid(read_grid(config), settings)
