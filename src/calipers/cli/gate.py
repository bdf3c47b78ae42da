"""calipers gate: may this change be merged?"""

from typing import Any

import click

from calipers.cli.parts import deciding, options, renamed
from calipers.cli.parts.output import Outputs, console, print_json
from calipers.cli.parts.progress import asking, reading
from calipers.errors import CalipersError


@click.command("gate")
@options.input_options
@click.option(
    "--require",
    multiple=True,
    metavar="CONDITION",
    help="metric op value [for tag=value], such as 'recall@10 >= 0.85'; may be given several "
    "times.",
)
@click.option(
    "--baseline",
    "-b",
    metavar="FILE",
    help="Fail when the primary metric is shown to be worse than in this result of "
    "`calipers baseline save`.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="TAG",
    help="Compare each value of a tag with the baseline too; may be given several times.",
)
@deciding.primary_option
@renamed.renamed_option(
    "--allow",
    former="--tolerance",
    type=float,
    metavar="LOSS",
    help="The loss that is allowed: fail when more is shown to be lost. [default: 0]",
)
@click.option(
    "--strict", is_flag=True, help="Pass only when it is shown that no more than --allow is lost."
)
@deciding.confidence_option
@deciding.cluster_option
@click.option("--max-age", metavar="AGE", help="How old the baseline may be, such as 30d.")
@click.option(
    "--anyway",
    is_flag=True,
    help="Compare although ground truth, policies or age forbid it; the result says so.",
)
@options.measure_options
@deciding.score_option
@renamed.retired_option("--seed", "Nothing random is left in the test.")
@click.option("--junit", metavar="FILE", help="Write the checks as JUnit XML.")
@click.option("--markdown", metavar="FILE", help="Write a summary as Markdown.")
@options.config_option
@options.explain_option
@options.json_option
def command(
    metrics: str | None,
    cutoffs: str | None,
    score: str | None,
    junit: str | None,
    markdown: str | None,
    config: str | None,
    explain: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Check a result against conditions and against a baseline.

    What is not given is taken from [tool.calipers] in pyproject.toml, or from calipers.toml.
    Exit codes: 0 everything held, 1 something failed, 2 it could not be checked.

    \b
    Examples:
      calipers gate evals.jsonl --require "recall@10 >= 0.85" --baseline main.json
      calipers gate evals.jsonl --require "ndcg@10 >= 0.6 for type=multi-hop"
      calipers gate --junit junit.xml --markdown summary.md
    """
    from calipers.questions.gate.settings import gate

    given = options.filled(
        config,
        gate=True,
        metrics=metrics,
        k=options.cutoff_list(cutoffs),
        weights=options.weights(score),
        junit=junit,
        markdown=markdown,
        **settings,
    )
    files = {name: given.pop(name, None) for name in ("junit", "markdown")}
    outputs = Outputs()
    for path in files.values():
        outputs.check_page(path)
    outputs.begin()
    try:
        with reading() as progress:
            verdict = gate(progress=progress, watch=asking, **given)
    except CalipersError as error:
        # A report left over from an earlier run would pass for that of this one.
        _write_error(outputs, str(error), **files)
        raise
    _write(outputs, verdict, **files)
    if as_json:
        print_json(verdict.to_dict())
    else:
        from calipers.questions.gate.show import print_gate

        print_gate(verdict, console(), explain=explain)
    outputs.finish()
    if not verdict.passed:
        raise click.exceptions.Exit(1)


def _write(outputs: Outputs, verdict: Any, junit: str | None, markdown: str | None) -> None:
    from calipers.questions.gate.ci_files import verdict_junit, verdict_markdown

    outputs.write(junit, lambda: _save(junit or "", verdict_junit(verdict)))
    outputs.write(markdown, lambda: _save(markdown or "", verdict_markdown(verdict).encode()))


def _write_error(outputs: Outputs, said: str, junit: str | None, markdown: str | None) -> None:
    from calipers.questions.gate.ci_files import error_junit, error_markdown

    outputs.write(junit, lambda: _save(junit or "", error_junit(said)))
    outputs.write(markdown, lambda: _save(markdown or "", error_markdown(said).encode()))


def _save(path: str, content: bytes) -> None:
    from calipers.io.files.write import whole_file

    with whole_file(path) as file:
        file.write(content)
