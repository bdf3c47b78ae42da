"""calipers plot: one chart, as a file."""

from typing import Any

import click

from calipers.cli.parts import deciding, options, renamed
from calipers.cli.parts.progress import asking, reading
from calipers.cli.parts.retrievers import named_retrievers, questions_beside

OVER_K = (None, "over-k", "precision-recall")
"""Charts that measure at every k: metrics and k of the settings file are for the others."""


@click.command("plot")
@click.argument("data", nargs=-1, metavar="[DATA]...")
@click.option("--ground-truth", "-g", metavar="FILE", help="What should be found.")
@click.option("--run", "-r", metavar="FILE", help="What the retriever returned.")
@click.option(
    "--retriever",
    "retrievers",
    multiple=True,
    metavar="[NAME=]RETRIEVER",
    help="Ask this live retriever the questions in DATA: package.module:function, an address or "
    "cmd:command; give several to compare them.",
)
@options.asking_options
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="FILE",
    help="The .svg, .png, .html or .json file to write.",
)
@renamed.renamed_option(
    "--chart",
    former="-c",
    metavar="CHART",
    help="For one retriever: over-k, precision-recall, waterfall or slices; for several: "
    "differences or head-to-head. [default: over-k, or differences]",
)
@options.measured_by(
    "Metrics: without a cut-off for the charts over k, such as recall,ndcg; else also recall@10 "
    "(`calipers metrics` lists them).",
    "Over k: which k to draw. Waterfall: how many results count. Else: cut-offs for metrics "
    "written without one.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="TAG",
    help="The tags to slice by; may be given several times. [default: all]",
)
@click.option("--corpus", metavar="FILE", help="The chunks that are searched, for the waterfall.")
@deciding.against_option("system", "the first")
@deciding.anyway_option
@options.config_option
@click.option("--width", type=int, metavar="PIXELS", help="How wide the chart is. [default: 680]")
def command(
    data: tuple[str, ...],
    retrievers: tuple[str, ...],
    config: str | None,
    output: str,
    metrics: str | None,
    cutoffs: str | None,
    chart: str | None,
    by: tuple[str, ...],
    width: int | None,
    ground_truth: str | None,
    **settings: Any,
) -> None:
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
    from calipers.questions.plot.settings import plot
    from calipers.questions.plot.show import check_plot_place

    check_plot_place(output)
    live = named_retrievers(retrievers)
    data, settings["ground_truth"] = questions_beside(data, ground_truth, live)
    settings |= {"metrics": metrics, "k": options.cutoff_list(cutoffs)}
    several = len(data) + len(live) > 1
    if several:
        settings = _several(data, live, config, settings)
    else:
        target = next(iter(live.values()), None)
        settings |= {"data": next(iter(data), None), "retriever": target}
        settings = _one(chart, config, settings)
    with reading() as progress:
        made = plot(
            chart=chart,
            by=by or None,
            watch=asking,
            progress=None if several else progress,
            **settings,
        )
    made.save(output, width=width)
    click.echo(f"Written to {output}", err=True)


def _one(chart: str | None, config: str | None, given: dict[str, Any]) -> dict[str, Any]:
    """What one retriever is drawn by, with the settings file."""
    names = ("metrics", "k") if chart in OVER_K else ()
    as_given = {name: given.pop(name) for name in names}
    return {**as_given, **options.filled(config, **given)}


def _several(
    data: tuple[str, ...], live: dict[str, str], config: str | None, given: dict[str, Any]
) -> dict[str, Any]:
    """What several are drawn by; a ground truth in the file is for retrievers, as in compare."""
    names = ("run",) if live else ("run", "ground_truth")
    as_given = {name: given.pop(name) for name in names}
    found = {**as_given, **options.filled(config, **given)}
    return {**found, "systems": options.named_systems(data), "retrievers": live}
