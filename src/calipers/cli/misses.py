"""calipers misses: why was it not found?"""

from typing import Any

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import console, print_json
from calipers.cli.parts.progress import asking, reading


@click.command("misses", short_help="Say why each piece of ground truth was not found.")
@options.input_options
@click.option("-k", "k", type=int, help="How many results count. [default: 10]")
@click.option(
    "--corpus",
    "-c",
    metavar="PATH",
    help="The chunks that are searched: tells what is not there, or split over chunks.",
)
@click.option("--candidates", metavar="FILE", help="The list before the reranker, as a run.")
@click.option("--exact", metavar="FILE", help="Exact search beside an approximate index, as a run.")
@options.matching_options
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write one line per miss to a .jsonl, .csv, .tsv, .json or .parquet file.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="How many misses and false positives to print.",
)
@options.config_option
@options.explain_option
@options.json_option
def command(
    k: int | None,
    output: str | None,
    examples: int,
    config: str | None,
    explain: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Give one reason for each piece of ground truth that is not in the first k results.

    The rules are tried in a fixed order: not in the corpus; split over chunks; below rank k;
    right document, wrong chunk; crowded out by duplicates; retriever error or nothing returned;
    lost by the reranker; missed by the index; never a candidate.

    \b
    Examples:
      calipers misses evals.jsonl -k 10 --corpus chunks.jsonl -o misses.jsonl
      calipers misses -g qrels.txt -r reranked.txt --candidates bm25.txt
    """
    from calipers.io.files.write import check_writable, write_table
    from calipers.questions.misses.settings import misses
    from calipers.questions.misses.show import flat, print_misses

    if output:
        check_writable(output)
    given = options.largest_k(options.filled(config, k=k, **settings))
    with reading() as progress:
        found = misses(progress=progress, watch=asking, **given)
    if output:
        lists = output.lower().endswith((".csv", ".tsv"))
        write_table(flat(found.table) if lists else found.table, output)
    if as_json:
        print_json(found.to_dict())
    else:
        print_misses(found, console(), examples=examples, explain=explain)
