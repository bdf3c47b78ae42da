"""Metrics on a terminal: a line each, or all that is known of them."""

from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from calipers.measures import definitions
from calipers.present.notes import MoreWith
from calipers.present.terminal import as_frame, print_verdict, show_with
from calipers.questions.metrics.settings import MetricList


def print_metrics(
    listing: list[dict[str, Any]], console: Console, *, explain: bool = False
) -> None:
    """One line per metric; one alone, or with ``explain`` each, with all that is known of it."""
    if len(listing) > 1 and not explain:
        _print_formulas(listing, console)
        return
    for metric in listing:
        title = Text(metric["grammar"], style="bold")
        better = {"higher": "higher is better", "lower": "lower is better", "neither": ""}
        low, high = metric["bounds"]
        bounds = f"{low:g} to {high:g}" if high is not None else f"from {low:g}"
        title.append(f"   {', '.join(filter(None, (bounds, better[metric['better']])))}", "dim")
        console.print(title)
        lines = [Text(paragraph) for paragraph in (metric["formula"], metric["notes"]) if paragraph]
        if metric["parameters"]:
            words = "; ".join(
                f"{name}: {one['allowed']}"
                + ("" if one["default"] is None else f" ({one['default']} unless given)")
                for name, one in metric["parameters"].items()
            )
            lines.append(Text(f"Parameters: {words}.", style="dim"))
        if metric["also_called"]:
            lines.append(Text(f"Also called {', '.join(metric['also_called'])}.", style="dim"))
        for line in lines:
            console.print(Padding(line, (0, 0, 0, 4), expand=False))
        console.print()


def _print_formulas(listing: list[dict[str, Any]], console: Console) -> None:
    print_verdict(f"{len(listing)} metrics, each with its formula in words.", console)
    names = [f"{one['name']}{'@k' if '@k' in one['grammar'] else ''}" for one in listing]
    width = max(map(len, names))
    for name, metric in zip(names, listing, strict=True):
        line = Text.assemble((f"{name:<{width}}  ", "bold"), metric["formula"])
        console.print(line, no_wrap=True, overflow="ellipsis")
    console.print()
    if len(listing) < len(definitions()):
        console.print("`calipers metrics --all` lists the others.", markup=False)
    console.print(MoreWith("All about each of them"))


def _row(metric: dict[str, Any]) -> dict[str, Any]:
    low, high = (None if end is None else float(end) for end in metric["bounds"])
    known = {name: metric[name] for name in ("name", "grammar", "better", "formula")}
    return {**known, "lowest": low, "highest": high}


def _in_notebook(listing: MetricList) -> str:
    """One alone as it is printed; a list as a table."""
    from calipers.present.notebook import as_html, frame_html

    if len(listing) == 1:
        return as_html(listing, print_metrics)
    return frame_html(as_frame(map(_row, listing)), len(listing))


show_with(MetricList, print_metrics, html=_in_notebook, rows=lambda listing: map(_row, listing))
