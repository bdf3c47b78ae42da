"""--engine spark: files that Spark reads, handed to any operation as its DataFrames."""

from collections.abc import Mapping
from typing import Any

import click

from calipers.errors import InvalidInput

RUNS = ("run", "before", "candidates", "exact", "systems", "pilot", "old", "new")
"""The keywords of operations that take runs."""
NOT_THERE = {
    "data": "DATA",
    "retriever": "--retriever",
    "retrievers": "--retriever",
    "memory": "--memory",
    "temp": "--temp",
}
"""What is for runs that this machine reads, as the command writes it."""


def on_spark(settings: Mapping[str, Any], master: str | None) -> dict[str, Any]:
    """The settings with DataFrames for the files of runs; the session ends with the command."""
    from calipers.engines.spark.session import is_table_of_spark, run_frame, session

    for name, option in NOT_THERE.items():
        if settings.get(name):
            raise InvalidInput(f"{option} does not work with --engine spark; leave one out.")
    if not any(settings.get(name) for name in RUNS):
        raise InvalidInput("With --engine spark both --ground-truth and --run are needed.")
    spark = click.get_current_context().with_resource(session(master))

    def frames(value: Any) -> Any:
        from calipers.questions.inputs import is_reference
        from calipers.questions.systems import is_result_file, name_systems

        if isinstance(value, Mapping | list | tuple):
            return {name: frames(one) for name, one in name_systems(value).items()}
        is_table = isinstance(value, str) and not is_reference(value)
        return run_frame(spark, value) if is_table and not is_result_file(value) else value

    there = {name: frames(value) for name, value in settings.items() if name in RUNS}
    truth = settings.get("ground_truth")
    if isinstance(truth, str) and is_table_of_spark(truth):
        there["ground_truth"] = run_frame(spark, truth)
    return {**settings, **there}
