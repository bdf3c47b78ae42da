"""TREC: judgements (``query 0 item grade``) and a run (``query Q0 item rank score tag``)."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.writers.files import PACKED, opened
from calipers.io.writers.ids import without_blanks
from calipers.io.writers.numbers import number_text
from calipers.io.writers.remarks import Remarks
from calipers.model.dataset import Dataset
from calipers.model.ranking import RankedBatch

TAG = "calipers"


def write_both(parts: Iterable[Dataset], path: Path, remarks: Remarks) -> list[Path]:
    """Judgements and run in two files beside each other: ``.qrels`` and ``.run``."""
    packed = PACKED if path.suffix.lower() == PACKED else ""
    stem = path.with_suffix("") if packed else path
    if stem.suffix.lower() in (".trec", ".qrels", ".run"):
        stem = stem.with_suffix("")
    named = {
        ending: stem.with_name(f"{stem.name}{ending}{packed}") for ending in (".qrels", ".run")
    }
    files: dict[str, BinaryIO] = {}
    with ExitStack() as stack:
        for part in parts:
            for ending, held, write in (
                (".qrels", part.ground_truth, _write_judgements),
                (".run", part.run, _write_run),
            ):
                if held is not None:
                    # Opened when there is something for it: a file of that name may be in use.
                    if ending not in files:
                        files[ending] = stack.enter_context(opened(named[ending]))
                    write(part, files[ending], remarks)
        _check_written(files.values(), "TREC files")
    return [named[ending] for ending in files]


def write_judgements(parts: Iterable[Dataset], path: Path, remarks: Remarks) -> list[Path]:
    """The judgements alone."""
    return _write(parts, path, remarks, _write_judgements)


def write_run(parts: Iterable[Dataset], path: Path, remarks: Remarks) -> list[Path]:
    """The run alone."""
    return _write(parts, path, remarks, _write_run)


Part = Callable[[Dataset, BinaryIO, Remarks], None]


def _write(parts: Iterable[Dataset], path: Path, remarks: Remarks, write: Part) -> list[Path]:
    with opened(path) as file:
        for part in parts:
            write(part, file, remarks)
        _check_written([file], "TREC judgements" if write is _write_judgements else "a TREC run")
    return [path]


def _check_written(files: Iterable[BinaryIO], title: str) -> None:
    """Refuse to leave nothing but empty files."""
    if not any(file.tell() for file in files):
        raise InvalidInput(
            f"Nothing of the input can be written as {title}: they hold ids, and the input has "
            "none for this part; write it as ours (.jsonl), or give it ids."
        )


def _write_judgements(part: Dataset, file: BinaryIO, remarks: Remarks) -> None:
    if part.ground_truth is None:
        return
    targets = part.ground_truth.targets.drop_nulls("item")
    broken = targets.filter(pl.col("grade") != pl.col("grade").round()).height
    remarks.add("Grades that are not whole, which trec_eval cuts off: {n}.", broken)
    _write_lines(
        targets.select(
            without_blanks(targets["query"], remarks),
            pl.lit("0").alias("zero"),
            without_blanks(targets["item"], remarks),
            number_text("grade").alias("grade"),
        ),
        file,
    )


def _write_run(part: Dataset, file: BinaryIO, remarks: Remarks) -> None:
    if part.run is None:
        return
    for batch in part.run.ranked():
        frame = batch.frame.with_columns(rank=pl.Series(batch.rank), score=_scores(batch, remarks))
        if "item" not in frame.columns:
            continue
        frame = frame.drop_nulls("item")
        _write_lines(
            frame.select(
                without_blanks(frame["query"], remarks),
                pl.lit("Q0").alias("constant"),
                without_blanks(frame["item"], remarks),
                pl.col("rank").cast(pl.String),
                number_text("score").alias("score"),
                pl.lit(TAG).alias("tag"),
            ),
            file,
        )


def _scores(batch: RankedBatch, remarks: Remarks) -> pl.Series:
    """The scores where they say the order, else falling numbers that do.

    A TREC run is ordered by its scores, equal ones by id from high to low, and by nothing else.
    """
    frame = batch.frame
    falling = np.repeat(batch.lengths, batch.lengths) - batch.rank + 1.0
    if "score" not in frame.columns or "item" not in frame.columns:
        return pl.Series(falling)
    score, item = frame["score"], frame["item"]
    follows = pl.Series(batch.rank > 1)
    wrong = follows & (
        (score > score.shift(1)) | ((score == score.shift(1)) & (item > item.shift(1)))
    ).fill_null(False)
    code = np.repeat(np.arange(batch.starts.size), batch.lengths)
    replaced = np.bincount(code, weights=(wrong | score.is_null()).to_numpy()) > 0
    remarks.add(
        "Queries whose scores do not say their order, written with falling numbers instead: {n}.",
        int(replaced.sum()),
    )
    return pl.Series(np.where(replaced[code], falling, score.fill_null(0.0).to_numpy()))


def _write_lines(frame: pl.DataFrame, file: BinaryIO) -> None:
    frame.write_csv(file, include_header=False, separator=" ", quote_style="never")
