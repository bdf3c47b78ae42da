"""calipers convert: any form in, any form out."""

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import reading


@click.command("convert")
@click.argument("paths", nargs=-1, metavar="[IN] OUT")
@click.option("--ground-truth", "-g", metavar="FILE", help="What should be found.")
@click.option("--run", "-r", metavar="FILE", help="What the retriever returned.")
@click.option(
    "--to",
    metavar="FORM",
    help="The form to write: ours, json, jsonl, csv, tsv, parquet, arrow, trec, qrels, run, beir, "
    "ragas, llama_index. [default: by the ending of OUT]",
)
@click.option(
    "--from",
    "form",
    metavar="FORM",
    help="The form to read, where the content could be two. [default: by the content]",
)
@options.column_option
@options.json_option
def command(
    paths: tuple[str, ...],
    ground_truth: str | None,
    run: str | None,
    to: str | None,
    form: str | None,
    columns: list[str] | None,
    as_json: bool,
) -> None:
    """Write a ground truth, a run or both in another form.

    IN is any file or folder that Calipers reads; or give --ground-truth, --run or both. What
    the form of OUT cannot hold is said, not dropped in silence.

    \b
    Examples:
      calipers convert ragas.jsonl ours.jsonl
      calipers convert evals.json evals.trec
      calipers convert -g qrels.txt -r run.txt evals.parquet
      calipers convert evals.jsonl questions.json --to llama_index
    """
    from calipers.questions.convert.settings import convert

    separate = ground_truth is not None or run is not None
    wanted = 1 if separate else 2
    if len(paths) != wanted:
        raise click.UsageError(
            f"{len(paths)} paths are given; "
            + (
                "with --ground-truth or --run, name the output alone."
                if separate
                else "name the input and the output, such as `calipers convert in.jsonl out.json`."
            )
        )
    with reading() as progress:
        conversion = convert(
            None if separate else paths[0],
            paths[-1],
            ground_truth=ground_truth,
            run=run,
            to=to,
            form=form,
            columns=columns,
            progress=progress,
        )
    if as_json:
        print_json(conversion.to_dict())
    else:
        from calipers.questions.convert.show import print_conversion

        print_conversion(conversion, console())
