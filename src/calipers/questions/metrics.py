"""Every metric there is, or one of them: what may be asked, and the answer."""

from typing import TYPE_CHECKING, Annotated, Any

from calipers.operation import Setting, operation

if TYPE_CHECKING:
    from rich.console import Console


@operation(page="metrics", command="metrics")
def metrics(
    name: Annotated[str | None, Setting("", argument="[NAME]")] = None,
) -> list[dict[str, Any]]:
    """Every metric as plain values, or the one that a name in any spelling stands for.

    >>> metrics("P_5")[0]["name"]
    'precision'
    """
    from calipers.measures import definitions, load_plugged, parse

    load_plugged()
    chosen = list(definitions().values())
    if name is not None:
        chosen = [metric.definition for metric in parse([name], ks=[1])][:1]
    return [definition.to_dict() for definition in chosen]


def print_metrics(
    listing: list[dict[str, Any]], console: "Console", *, explain: bool = False
) -> None:
    """One line per metric; one alone, or with ``explain`` each, with all that is known of it."""
    # The list of operations loads this module, and needs nothing that prints.
    from rich.padding import Padding
    from rich.text import Text

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
        for paragraph in filter(None, (metric["formula"], metric["notes"])):
            console.print(Padding(Text(paragraph), (0, 0, 0, 4), expand=False))
        if metric["parameters"]:
            words = "; ".join(
                f"{name}: {one['allowed']}"
                + ("" if one["default"] is None else f" ({one['default']} unless given)")
                for name, one in metric["parameters"].items()
            )
            console.print(
                Padding(Text(f"Parameters: {words}.", style="dim"), (0, 0, 0, 4), expand=False)
            )
        if metric["also_called"]:
            names = ", ".join(metric["also_called"])
            console.print(
                Padding(Text(f"Also called {names}.", style="dim"), (0, 0, 0, 4), expand=False)
            )
        console.print()


def _print_formulas(listing: list[dict[str, Any]], console: "Console") -> None:
    from rich.text import Text

    from calipers.present.terminal import print_notes, print_verdict

    print_verdict(f"{len(listing)} metrics, each with its formula in words.", console)
    names = [f"{one['name']}{'@k' if '@k' in one['grammar'] else ''}" for one in listing]
    width = max(map(len, names))
    for name, metric in zip(names, listing, strict=True):
        line = Text.assemble((f"{name:<{width}}  ", "bold"), metric["formula"])
        console.print(line, no_wrap=True, overflow="ellipsis")
    print_notes(
        ["`calipers metrics NAME` tells all about one, and --explain about every one."], console
    )
