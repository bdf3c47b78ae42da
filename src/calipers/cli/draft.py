"""calipers draft: the work list for whoever judges what was retrieved."""

import click

from calipers.cli.parts import options, renamed
from calipers.cli.parts.output import console, print_json


@click.command("draft", short_help="Make a file to label from what retrievers returned.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@renamed.renamed_option(
    "--questions",
    former="-q",
    metavar="FILE",
    help="The questions with their texts, and their order. [default: as the runs know them]",
)
@click.option(
    "-k",
    type=int,
    default=10,
    show_default=True,
    help="How many of the first results of each run to label.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="The seed that shuffles the items of a question.",
)
@click.option(
    "--ground-truth", "-g", metavar="FILE", help="Leave out what this ground truth has judged."
)
@click.option(
    "--corpus", "-c", metavar="PATH", help="Fill in texts that the runs do not carry, by id."
)
@click.option(
    "--output", "-o", required=True, metavar="FILE", help="The file to label, .jsonl or .csv."
)
@options.column_option
@options.config_option
@options.json_option
def command(
    runs: tuple[str, ...],
    questions: str | None,
    k: int,
    seed: int,
    ground_truth: str | None,
    corpus: str | None,
    columns: list[str] | None,
    config: str | None,
    output: str,
    as_json: bool,
) -> None:
    """Make a file to label from what one or several retrievers returned.

    The first k results of each RUN are put together, each pair of question and item once. Who
    judges sees neither rank nor score nor system, and the order is shuffled.

    \b
    Examples:
      calipers draft bm25.jsonl dense.jsonl --questions questions.jsonl -o label.csv
      calipers draft new.jsonl -g truth.jsonl -k 20 -o more.jsonl
    """
    from calipers.io.records.label_files import check_label_file
    from calipers.labels.settings import draft

    check_label_file(output)
    given = options.filled(config, corpus=corpus, columns=columns)
    found = draft(
        list(runs), questions=questions, k=k, seed=seed, ground_truth=ground_truth, **given
    )
    if found.rows:
        found.write(output)
    if as_json:
        print_json(found.to_dict())
        return
    from rich.text import Text

    from calipers.labels.show import draft_lines

    screen = console()
    for line in draft_lines(found, output):
        screen.print(Text(line))
