"""Commands that show what a result holds: over k, by call, by query, and what went wrong."""

import click

import calipers
from calipers.cli.command import (
    CONFIG,
    EXPLAIN,
    JSON,
    CommandInput,
    command,
    csv,
    examples,
    flag,
    output,
    text,
)
from calipers.cli.decide import files_and_retrievers, named_systems
from calipers.cli.output import console


@command(CONFIG, EXPLAIN, JSON, csv("Print every k as CSV."))
def sweep(asked: CommandInput, explain: bool) -> None:
    """Measure at every k, and find the k to use.

    DATA is a file that holds results and ground truth; or give --ground-truth and --run; or
    questions and --retriever. Metrics are named without a cut-off, as they are measured at
    every k; those of the settings file, and its k, are for other commands.

    \b
    Examples:
      calipers sweep evals.jsonl
      calipers sweep evals.jsonl --tokens 4000 --price 2.50
      calipers sweep -g qrels.txt -r run.txt -k 1,5,10,20,50,100 -m recall,ndcg --csv
    """
    from calipers.questions.sweep.show import print_sweep, sweep_csv

    found = asked.answer()
    if not asked.is_printed(found, csv=sweep_csv):
        print_sweep(found, console(), explain=explain)


@command(
    CONFIG,
    EXPLAIN,
    JSON,
    csv("Print every floor as CSV."),
    short_help="Find the score below which to return nothing.",
)
def floor(asked: CommandInput, explain: bool) -> None:
    """Find the score below which results are better not returned.

    Shows what each floor under the scores does: precision, recall, questions without an answer
    that are answered, questions with an answer that are refused. Every result needs a score;
    a query with an empty ground truth is one without an answer.

    \b
    Examples:
      calipers floor evals.jsonl
      calipers floor evals.jsonl -k 5 --recall 0.8
      calipers floor -g qrels.txt -r run.txt --keep 0.98 --csv
    """
    from calipers.questions.floor.show import floor_csv, print_floor

    found = asked.answer()
    if not asked.is_printed(found, csv=floor_csv):
        print_floor(found, console(), explain=explain)


@command(
    CONFIG,
    EXPLAIN,
    JSON,
    csv("Print every call as CSV."),
    short_help="Show what each further call of an agent adds.",
)
def calls(asked: CommandInput, explain: bool) -> None:
    """Show recall after the first call of the retriever, after the second, and so on.

    An agent may search several times for one question. Every result says in 'call' which search
    returned it, numbered from 1; traces are read so.

    \b
    Examples:
      calipers calls agent.jsonl
      calipers calls traces.jsonl -g questions.jsonl -k 5
    """
    from calipers.questions.calls.show import calls_csv, print_calls

    found = asked.answer()
    if not asked.is_printed(found, csv=calls_csv):
        print_calls(found, console(), explain=explain)


@command(
    flag("--rules", "List the rules and their thresholds."),
    CONFIG,
    EXPLAIN,
    JSON,
    short_help="Look for the known failure modes of a retriever.",
    fill=False,
)
def diagnose(asked: CommandInput, rules: bool, explain: bool) -> None:
    """Look for the known failure modes of a retriever, with evidence and what to do.

    DATA is a file that holds results and ground truth; or give --ground-truth and --run; or
    questions and --retriever.

    \b
    Examples:
      calipers diagnose evals.jsonl
      calipers diagnose evals.jsonl -k 20 --price 2.50
      calipers diagnose new.jsonl --before old.jsonl -g gt.jsonl
      calipers diagnose evals.jsonl --threshold finds_little.recall=0.5
    """
    from calipers.questions.diagnose.show import print_diagnosis, print_rules

    if rules:
        listed = calipers.rules()
        if not asked.is_printed(listed):
            print_rules(listed, console())
        return
    asked.fill()
    found = asked.answer()
    if not asked.is_printed(found):
        print_diagnosis(found, console(), explain=explain)


@command(
    output("Write one line per miss to a .jsonl, .csv, .tsv, .json or .parquet file."),
    examples("How many misses and false positives to print.", 3),
    CONFIG,
    EXPLAIN,
    JSON,
    short_help="Say why each piece of ground truth was not found.",
)
def misses(asked: CommandInput, output: str | None, examples: int, explain: bool) -> None:
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
    from calipers.questions.misses.show import flat, print_misses

    if output:
        check_writable(output)
    found = asked.answer()
    if output:
        lists = output.lower().endswith((".csv", ".tsv"))
        write_table(flat(found.table) if lists else found.table, output)
    if not asked.is_printed(found):
        print_misses(found, console(), examples=examples, explain=explain)


@command(
    output(
        "Write exactly the new results to a file to label, .jsonl or .csv, as `calipers draft`."
    ),
    text("--html", "FILE", "Write a page."),
    examples("How many of the most changed queries to print.", 5),
    CONFIG,
    EXPLAIN,
    JSON,
    short_help="Show what changed between two runs; needs no ground truth.",
)
def diff(
    asked: CommandInput, output: str | None, html: str | None, examples: int, explain: bool
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
    from calipers.questions.diff.show import print_diff, save_diff
    from calipers.words import plural

    if output:
        check_label_file(output)
    if html:
        check_place(html)
    found = asked.answer()
    if output and found.to_judge:
        found.write(output)
    if html:
        save_diff(found, html)
        click.echo(f"Written to {html}", err=True)
    if asked.is_printed(found):
        return
    screen = console()
    print_diff(found, screen, examples=examples, explain=explain)
    rows = plural(len(found.to_judge), "new result")
    if output and found.to_judge:
        screen.print(f"{rows} to judge, written to {output}.", markup=False, soft_wrap=True)
    elif output:
        screen.print(f"Nothing is new, so {output} was not written.", markup=False, soft_wrap=True)
    elif found.to_judge:
        screen.print(f"Judge the {rows}: the same command with -o label.csv.", markup=False)


OVER_K = (None, "over-k", "precision-recall")
"""Charts that measure at every k: metrics and k of the settings file are for the others."""


@command(
    output("The .svg, .png, .html or .json file to write.", required=True),
    CONFIG,
    text("--width", "PIXELS", "How wide the chart is. [default: 680]", type=int),
    leave_out=["retriever"],
    fill=False,
)
def plot(asked: CommandInput, output: str, width: int | None) -> None:
    """Draw one chart of one retriever, or of several.

    The ending of the output says what is written: .svg and .png are pictures, .html is
    interactive and needs no network, .json is the Vega-Lite specification.

    \b
    Examples:
      calipers plot evals.jsonl -o recall.svg -m recall
      calipers plot evals.jsonl --chart precision-recall -o curve.png
      calipers plot bm25.jsonl dense.jsonl -g gt.jsonl -o differences.svg
      calipers plot questions.csv --retriever search:search -o recall.svg
    """
    from calipers.questions.plot.show import check_plot_place

    check_plot_place(output)
    given = asked.settings
    files, live = files_and_retrievers(given, "data")
    if len(files) + len(live) > 1:
        # As in compare, a ground truth in the settings file is for retrievers alone.
        asked.fill("data", "run", "retriever", *([] if live else ["ground_truth"]))
        given |= {"systems": named_systems(files), "retrievers": live}
    else:
        if files:
            given["data"] = files[0]
        if live:
            given["retriever"] = next(iter(live.values()))
        asked.fill(*(["metrics", "k"] if given.get("chart") in OVER_K else []))
    asked.answer().save(output, width=width)
    click.echo(f"Written to {output}", err=True)
