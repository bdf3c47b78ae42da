"""Commands that say why a result is as it is."""

from calipers.cli.command import Asked, command
from calipers.cli.face import CONFIG, EXPLAIN, JSON, csv
from calipers.cli.parts.output import console
from calipers.questions.floor import settings as floors


@command(
    floors.floor,
    CONFIG,
    EXPLAIN,
    JSON,
    csv("Print every floor as CSV."),
    short_help="Find the score below which to return nothing.",
)
def floor(asked: Asked, explain: bool) -> None:
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
