"""calipers plot: one chart, as a file."""

from typing import Any

import click

from calipers.cli.parts import options, renamed
from calipers.cli.parts.progress import reading


@click.command("plot")
@click.argument("data", nargs=-1, metavar="[DATA]...")
@click.option("--ground-truth", "-g", metavar="FILE", help="What should be found.")
@click.option("--run", "-r", metavar="FILE", help="What the retriever returned.")
@click.option(
    "--output", "-o", required=True, metavar="FILE",
    help="The .svg, .png, .html or .json file to write.",
)  # fmt: skip
@renamed.renamed_option(
    "--chart", former="-c", metavar="CHART",
    help="For one retriever: over-k, precision-recall, waterfall or slices; for several: "
    "differences or head-to-head. [default: over-k, or differences]",
)  # fmt: skip
@options.measured_by(
    "Metrics: without a cut-off for the charts over k, such as recall,ndcg; else also recall@10 "
    "(`calipers metrics` lists them).",
    "Over k: which k to draw. Waterfall: how many results count. Else: cut-offs for metrics "
    "written without one.",
)
@click.option(
    "--by", multiple=True, metavar="TAG",
    help="The tags to slice by; may be given several times. [default: all]",
)  # fmt: skip
@click.option("--corpus", metavar="FILE", help="The chunks that are searched, for the waterfall.")
@renamed.renamed_option(
    "--against", "baseline", former=("--baseline", "-b"), metavar="NAME",
    help="The system that the others are compared with. [default: the first]",
)  # fmt: skip
@click.option("--width", type=int, metavar="PIXELS", help="How wide the chart is. [default: 680]")
def command(
    data: tuple[str, ...],
    output: str,
    metrics: str | None,
    cutoffs: str | None,
    chart: str | None,
    by: tuple[str, ...],
    width: int | None,
    ground_truth: str | None,
    run: str | None,
    baseline: str | None,
    corpus: str | None,
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
    """
    from calipers.api.pages import plot
    from calipers.present.plot import check_plot_place

    check_plot_place(output)
    several = len(data) > 1
    with reading() as progress:
        if not several:
            settings["progress"] = progress
        made = plot(
            None if several or not data else data[0], chart, ground_truth=ground_truth, run=run,
            systems=options.named_systems(data) if several else None, metrics=metrics,
            k=options.cutoff_list(cutoffs), by=by or None, corpus=corpus, baseline=baseline,
            **settings,
        )  # fmt: skip
    made.save(output, width=width)
    click.echo(f"Written to {output}", err=True)
