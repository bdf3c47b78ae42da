"""calipers diff: what changed between two runs, without any ground truth?"""

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json


@click.command("diff", short_help="Show what changed between two runs; needs no ground truth.")
@click.argument("old")
@click.argument("new")
@click.option(
    "-k", type=int, default=10, show_default=True, help="How many results of each query to compare."
)
@click.option(
    "--persistence",
    "-p",
    "p",
    type=float,
    default=0.9,
    show_default=True,
    help="How much the top counts in the rank-biased overlap: lower counts it more.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="TAG",
    help="Also by slices of the queries: length, or a tag of the file given with -g; may be given "
    "several times.",
)
@click.option(
    "--ground-truth",
    "-g",
    metavar="FILE",
    help="Questions with their tags and texts, and what is judged already.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write exactly the new results to a file to label, .jsonl or .csv, as `calipers draft`.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="The seed that shuffles the rows to label.",
)
@click.option("--html", metavar="FILE", help="Write a page.")
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="How many of the most changed queries to print.",
)
@options.column_option
@options.config_option
@options.store_option
@options.explain_option
@options.json_option
def command(
    old: str,
    new: str,
    k: int,
    p: float,
    by: tuple[str, ...],
    ground_truth: str | None,
    output: str | None,
    seed: int,
    html: str | None,
    examples: int,
    columns: list[str] | None,
    config: str | None,
    store: str | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Show what changed between two runs of the same questions, before anybody labels anything.

    OLD and NEW are runs, such as `calipers retrieve` writes. Each query gets its rank-biased
    overlap, the overlap of the first k, Kendall's tau over the results that both have, and what
    is new and lost; the most changed come first.

    \b
    Examples:
      calipers diff old.jsonl new.jsonl
      calipers diff run.jsonl.bak run.jsonl -k 20 --by length --html diff.html
      calipers diff old.jsonl new.jsonl -g questions.csv -o label.csv
    """
    from calipers.io.files.write import check_place
    from calipers.io.records.label_files import check_label_file
    from calipers.questions.diff.settings import diff

    if output:
        check_label_file(output)
    if html:
        check_place(html)
    given = options.filled(config, columns=columns, store=store)
    found = diff(old, new, k=k, p=p, by=by, ground_truth=ground_truth, seed=seed, **given)
    if output and found.to_judge:
        found.write(output)
    if html:
        from calipers.questions.diff.show import save_diff

        save_diff(found, html)
        click.echo(f"Written to {html}", err=True)
    if as_json:
        print_json(found.to_dict())
        return
    from calipers.questions.diff.show import print_diff
    from calipers.words import plural

    screen = console()
    print_diff(found, screen, examples=examples, explain=explain)
    rows = plural(len(found.to_judge), "new result")
    if output and found.to_judge:
        screen.print(f"{rows} to judge, written to {output}.", markup=False, soft_wrap=True)
    elif output:
        screen.print(f"Nothing is new, so {output} was not written.", markup=False, soft_wrap=True)
    elif found.to_judge:
        screen.print(f"Judge the {rows}: the same command with -o label.csv.", markup=False)
