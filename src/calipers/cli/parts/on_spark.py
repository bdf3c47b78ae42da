"""calipers eval --engine spark: the same table, with the work done elsewhere."""

from typing import Any

import click

from calipers.cli.parts.output import console, print_json
from calipers.errors import InvalidInput


def on_spark(
    refused: dict[str, Any],
    master: str | None,
    settings: dict[str, Any],
    *,
    per_query: str | None,
    as_json: bool,
    as_csv: bool,
    notes: bool,
    **asked: Any,
) -> None:
    """Measure on Spark, print the result, and let Spark write the scores of the queries."""
    given = {name: value for name, value in settings.items() if value is not None}
    ground_truth, run = given.pop("ground_truth", None), given.pop("run", None)
    refused |= {"DATA": given.pop("data", None), "--retriever": given.pop("retriever", None)}
    for option, value in refused.items():
        if value:
            raise InvalidInput(f"{option} does not work with --engine spark; leave one out.")
    if ground_truth is None or run is None:
        raise InvalidInput("With --engine spark both --ground-truth and --run are needed.")
    from calipers.engines.spark import spoken
    from calipers.engines.spark_files import ground_truth_frame, run_frame, session
    from calipers.spark import evaluate

    with session(master) as spark:
        found = evaluate(
            run_frame(spark, run), ground_truth_frame(spark, ground_truth), **asked, **given
        )
        if per_query:
            with spoken():
                found.per_query.write.mode("errorifexists").parquet(per_query)
        if as_json:
            print_json(found.to_dict())
        elif as_csv:
            from calipers.present.delimited import summary_csv

            click.echo(summary_csv(found), nl=False)
        else:
            from calipers.present.terminal import print_scores

            print_scores(found, console(), notes=notes)
