"""Baselines: saved scores to compare later ones with; on disk as ``eval --json``, with a date."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.input_types import PathText
from calipers.io.files.open import Source
from calipers.io.files.write import whole_file
from calipers.io.records.results import read_result
from calipers.model.fact import text_of
from calipers.model.result import HasRows
from calipers.model.scores import Scores


@dataclass(frozen=True, eq=False, repr=False)
class Baseline(HasRows):
    """Saved scores to compare later ones with."""

    shown_by: ClassVar[str] = "calipers.questions.gate.document:baseline_document"

    scores: Scores
    name: str
    saved: datetime | None
    """When it was saved; None for a plain result."""
    accepted: str | None = None
    """Why it was accepted although it was worse than the one it replaced."""


class _Kept(msgspec.Struct):
    name: str
    saved: Annotated[datetime, msgspec.Meta(tz=True)]
    accepted: str | None = None


class _File(msgspec.Struct):
    baseline: _Kept | None = None


def read_baseline(path: PathText | Scores) -> Baseline:
    """Read a baseline from a file; a plain result works too, but has no date."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidInput(
            f"The baseline is a {type(path).__name__}; give a file of `calipers gate "
            "save`, a reference such as @main, or scores."
        )
    source = Source(Path(path))  # opened once: a pipe has nothing to say the second time
    scores = read_result(source)
    try:
        kept = msgspec.json.decode(source.read(), type=_File).baseline
    except msgspec.ValidationError:
        raise InvalidInput(
            f"The baseline {path} does not say properly when it was saved: 'baseline' "
            "must hold a 'name' and 'saved', a date and time with its zone; save it "
            "again with `calipers gate save`."
        ) from None
    if kept is None:
        return Baseline(scores, Path(path).stem, None)
    return Baseline(scores, kept.name, kept.saved.astimezone(UTC), kept.accepted)


def baseline_dict(baseline: Baseline) -> dict[str, Any]:
    """The content of a baseline file."""
    saved = baseline.saved or datetime.now(UTC)
    kept = {"name": baseline.name, "saved": saved.isoformat(timespec="seconds")}
    if baseline.accepted is not None:
        kept["accepted"] = baseline.accepted
    scores = baseline.scores.to_dict()
    del scores["sentences"]  # they can be made again
    return {**scores, "baseline": kept}


def write_baseline(baseline: Baseline, path: str | Path) -> None:
    """Write the baseline as JSON, atomically."""
    text = msgspec.json.format(
        msgspec.json.encode(baseline_dict(baseline), enc_hook=text_of), indent=2
    )
    with whole_file(path) as file:
        file.write(text + b"\n")
