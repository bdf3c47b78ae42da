"""A Spark session for the command line, and files as DataFrames."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from calipers.errors import CalipersError, InvalidInput, MissingExtra
from calipers.io.files.open import is_remote, shown
from calipers.io.spark import spoken
from calipers.version import pip_install


def need_spark() -> None:
    """Raise an error with the install command where Spark is missing."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise MissingExtra(
            f"Spark is not installed; install it with {pip_install('spark')}."
        ) from None


@contextmanager
def session(master: str | None) -> Iterator[Any]:
    """A session at a master, or through Spark Connect (``sc://…``).

    It is stopped afterwards, unless it existed before.
    """
    need_spark()
    # The workers must use the libraries of this process.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    before = SparkSession.getActiveSession()
    if before is not None and master is None:
        yield before
        return
    builder = SparkSession.builder.appName("calipers")
    if master is not None and master.startswith("sc://"):
        builder = builder.remote(master)
    elif master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            # Spark's default of 200 is for a cluster: here each would wait for its own worker.
            builder = builder.config("spark.sql.shuffle.partitions", 2 * (os.cpu_count() or 1))
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    try:
        with spoken():
            found = builder.getOrCreate()
    except CalipersError:
        raise
    except Exception as error:  # noqa: BLE001 - what a start may raise depends on the machine
        first = str(error).partition("\n")[0][:200]
        raise InvalidInput(
            f"Spark cannot be started ({type(error).__name__}: {first}); check that Java 17 or "
            "newer is installed and that the master can be reached."
        ) from None
    try:
        yield found
    finally:
        if found is not before:
            found.stop()


def is_table_of_spark(value: str) -> bool:
    """Whether Spark must read this ground truth; local files may have any format."""
    return is_remote(value) or not Path(value).is_file()


def run_frame(spark: Any, value: str) -> Any:
    """A run as Spark reads it, by the extension of the path; a folder is Parquet."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    name = shown(value) if is_remote(value) else value
    plain = value.removesuffix(".gz").rstrip("/")
    ending = Path(plain).suffix.lower()
    with spoken():
        if ending in (".csv", ".tsv"):
            separator = "\t" if ending == ".tsv" else ","
            # The usual CSV: quotes are doubled, and texts may have line breaks.
            return spark.read.csv(value, header=True, sep=separator, escape='"', multiLine=True)
        if ending in (".jsonl", ".ndjson", ".json"):
            return spark.read.json(value)
        if ending in (".trec", ".run", ".txt"):
            cells = F.split(F.trim("value"), r"\s+")
            rows = spark.read.text(value).where("trim(value) != '' and value not like '#%'")
            return rows.select(
                cells[0].alias("query"), cells[2].alias("item"), cells[4].alias("score")
            )
        if ending in (".parquet", ""):
            return spark.read.parquet(value)
    raise InvalidInput(
        f"{name} has the ending {ending!r}; Spark reads .parquet, .csv, .tsv, .jsonl and TREC runs "
        "(.trec, .run, .txt), or a folder of Parquet files."
    )
