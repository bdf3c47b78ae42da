"""A comparison as Markdown and CSV."""

from collections.abc import Callable, Iterator
from typing import Any

from calipers.present.escape import for_markdown, query_name
from calipers.present.terminal import claims_markdown, csv_text
from calipers.questions.compare.result import Comparison
from calipers.questions.compare.words import (
    ComparedCell,
    board_lines,
    board_sentence,
    compared_rows,
    heading,
    legend,
    power_sentences,
    told,
    warnings,
)
from calipers.words import number, signed


def comparison_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """One row per metric and system, full precision."""
    for facts in comparison.metrics:
        for system in comparison.systems:
            mean = comparison.mean(system, facts.name)
            is_other = system != comparison.baseline
            found = comparison.difference(system, facts.name) if is_other else None
            ends, apart = mean.interval, found and found.interval
            yield {
                "metric": facts.name,
                "system": system,
                "baseline": comparison.baseline,
                "mean": mean.mean,
                "low": ends and ends.low,
                "high": ends and ends.high,
                "n": mean.n,
                "best": mean.best,
                "difference": found and found.difference,
                "difference_low": apart and apart.low,
                "difference_high": apart and apart.high,
                "p_value": found and found.p_value,
                "p_adjusted": found and found.p_adjusted,
                "effect_size": found and found.effect_size,
                "wins": found and found.wins,
                "losses": found and found.losses,
                "ties": found and found.ties,
                "verdict": found and found.verdict,
                "primary": facts.name == comparison.primary,
                "overridden": " ".join(comparison.overridden),
            }


def comparison_csv(comparison: Comparison, metric: str | None = None, examples: int = 0) -> str:
    """The same as CSV; a table, so without single queries."""
    del metric, examples
    return csv_text(comparison_rows(comparison))


def comparison_markdown(
    comparison: Comparison, metric: str | None = None, examples: int = 5
) -> str:
    """What matters most, the table, the power and the queries that moved most."""
    names = [for_markdown(heading(comparison, name)) for name in comparison.systems]
    lines = [claims_markdown(told(comparison)).rstrip(), ""]
    if doubts := warnings(comparison):
        lines += [*(f"> **{for_markdown(line)}**" for line in doubts), ""]
    if len(comparison.systems) > 2:
        lines += [*_markdown_board(comparison), ""]
    lines.append(f"| metric | {' | '.join(names)} |")
    lines.append("|---" * (len(names) + 1) + "|")
    for row in compared_rows(comparison):
        cells = " | ".join(_markdown_cell(cell) for cell in row.cells)
        lines.append(f"| {for_markdown(row.metric)} | {cells} |")
    lines.append("")
    lines += [f"- {for_markdown(line)}" for line in power_sentences(comparison)]
    chosen = metric or comparison.leading
    for name in comparison.others:
        for title, wins in (("gained most", True), ("lost most", False)):
            found = comparison.largest(name, chosen, wins=wins, count=examples)
            if found:
                shown = for_markdown(name, 30)
                lines += [
                    "",
                    f"**{shown}: the queries that {title} in {for_markdown(chosen)}**",
                    "",
                ]
            lines += [
                f"- {signed(one.difference)} ({number(one.baseline)} → {number(one.system)}) "
                f"{for_markdown(query_name(one.query, one.text))}"
                for one in found
            ]
    lines += ["", *(for_markdown(line) for line in legend(comparison))]
    return "\n".join(lines) + "\n"


def _markdown_board(comparison: Comparison) -> list[str]:
    head, *rows = board_lines(comparison) or [()]
    if not rows:
        return []
    lines = [f"| {' | '.join(map(for_markdown, head))} |", "|---" * len(head) + "|"]
    lines += [f"| {' | '.join(map(for_markdown, row))} |" for row in rows]
    return [*lines, "", for_markdown(board_sentence(comparison))]


def _markdown_cell(cell: ComparedCell) -> str:
    mean = f"**{cell.mean}**\\*" if cell.best else cell.mean
    if not cell.difference:
        return mean
    lines = (
        f"{mean} {cell.mark}".rstrip(),
        cell.difference,
        f"{for_markdown(cell.p)}, {cell.counts}",
    )
    return "<br>".join(lines)


FORMS: dict[str, Callable[[Comparison, str | None, int], str]] = {
    "csv": comparison_csv,
    "markdown": comparison_markdown,
}
