"""Refuse a run as the baseline, and say how to make a baseline of it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from calipers.errors import CalipersError, InvalidInput, NoGroundTruth, is_command_line
from calipers.model.matched import Dataset
from calipers.shell import join_words
from calipers.words import whole_commands

if TYPE_CHECKING:
    from calipers.questions.gate.settings import GateSettings


def refuse_run(file: Path, data: object, settings: "GateSettings") -> None:
    """Raise if a file holds results, with the command or call that measures it."""
    both = _held(file)
    if both.run is None:
        return
    truth: object = settings.reading.inputs.ground_truth
    if truth is None and both.ground_truth is None:
        truth = _beside(data)
        if truth is None:
            # Those of the settings file are tried next, so that the command names them.
            raise NoGroundTruth(
                f"{file} is a run, and a baseline is a result that was measured; give the ground "
                "truth with --ground-truth (ground_truth= in Python)."
            )
    new = str(file.with_suffix(".baseline.json"))
    if is_command_line():
        beside = [] if truth is None else ["-g", str(truth)]
        words = ["calipers", "gate", "save", str(file), *beside, "-o", new]
        how = "run " + whole_commands(f"`{join_words(words)}`")
        use = join_words(["--baseline", new])
    else:
        how = "call " + _call(file, truth, new, settings)
        use = f"baseline={new!r}"
    raise InvalidInput(
        f"{file} is a run, and a baseline is a result that was measured: {how}, then give {use}."
    )


def _held(file: Path) -> Dataset:
    """What a file holds if it is a run, with its ground truth if it has one."""
    from calipers.io.load import load

    try:
        both = load(file, "both")
    except CalipersError:
        both = Dataset()
    if both.run is not None:
        return both
    try:
        return load(file, "run")
    except CalipersError:
        return Dataset()  # it is no run, and refused for what it is


def _beside(data: object) -> object:
    """The data if a ground truth comes with it; None if it is a run alone."""
    if not isinstance(data, str | os.PathLike) or not Path(data).is_file():
        return data
    return None if _held(Path(data)).ground_truth is None else data


def _call(file: Path, truth: object, new: str, settings: "GateSettings") -> str:
    """The call in Python that measures a run; an object has no name that could be said."""
    told = [repr(str(file))]
    if truth is not None:
        is_path = isinstance(truth, str | os.PathLike)
        what = repr(str(truth)) if is_path else "…"
        told = [f"run={str(file)!r}", f"ground_truth={what}"]
    if settings.metrics is not None:
        told.append(f"metrics={settings.metrics!r}")
    if settings.k is not None:
        told.append(f"k={settings.k!r}")
    call = f"calipers.gate_save({', '.join([*told, f'to={new!r}'])})"
    return f"{call} with this ground truth" if "ground_truth=…" in told else call
