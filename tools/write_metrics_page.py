"""Write docs/metrics.md from the registry of metrics, or check that it is current.

Run it from the root of the repository; `--check` writes nothing and returns 1 when the page is
out of date.
"""

import sys
from pathlib import Path
from typing import Any

from calipers.questions.metrics import metrics

PAGE = Path("docs/metrics.md")
INTRODUCTION = """\
# Every metric

<!-- Written by tools/write_metrics_page.py from the definitions in src/calipers/measures. -->

Each metric is computed per query, and its mean is taken over the queries for which it is defined.
R stands for the relevant targets of a query: those with a grade above 0, or from `rel` on. In a
terminal, `calipers metrics` lists the same, and `calipers metrics NAME` shows one; in Python it is
`calipers.metrics()` and `calipers.metrics("P_5")`.

A name is written `name@k(parameter=value,…)`:

- `recall@1,3,5,10` stands for four metrics; a metric written without the cut-off it needs takes
  those of `-k` (`k=` in Python);
- `[@k]` means that the cut-off may be left out, and all results count then;
- a parameter that has its default is left out of the printed name;
- other tools' spellings are understood: `P_5`, `R@10`, `ndcg_cut_10`, `nDCG@10`, `recip_rank`,
  `RR@10`, `success_5`, `AP`.

A query without any relevant target has no value unless `--unanswerable zero` is given. A result
that is returned twice takes up its rank and earns nothing the second time.

By quote or span one result can hold several targets. Metrics over positions (`map`, `ndcg`, `err`,
`rbp` and their kin) then give each target a position of its own: the best grade first, each takes
the first free position at or after the rank that shows it first. Where no result holds two targets,
a position is a rank.
"""
BETTER = {"higher": "higher is better", "lower": "lower is better", "neither": "neither is better"}


def page() -> str:
    """Return the whole page."""
    listing = metrics()
    rows = [f"| [`{m['name']}`](#{m['name']}) | {_first_sentence(m['formula'])} |" for m in listing]
    table = "\n".join(["| metric | what it says |", "|---|---|", *rows])
    return "\n\n".join([INTRODUCTION.rstrip(), table, *map(section, listing)]) + "\n"


def section(metric: dict[str, Any]) -> str:
    """Return the part of the page that describes one metric."""
    low, high = metric["bounds"]
    bounds = f"from {low:g}" if high is None else f"{low:g} to {high:g}"
    parts = [
        f"## {metric['name']}",
        f"`{metric['grammar']}` · {bounds} · {BETTER[metric['better']]}",
        metric["formula"],
    ]
    if metric["notes"]:
        parts.append(metric["notes"])
    if metric["parameters"]:
        rows = [
            f"| `{name}` | {one['allowed']} | {_default(one['default'])} |"
            for name, one in metric["parameters"].items()
        ]
        parts.append("\n".join(["| parameter | can be | unless given |", "|---|---|---|", *rows]))
    if metric["also_called"]:
        parts.append(f"Also called {', '.join(f'`{name}`' for name in metric['also_called'])}.")
    return "\n\n".join(parts)


def _default(value: float | str | None) -> str:
    return "–" if value is None else f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _first_sentence(text: str) -> str:
    """Return the text up to the end of its first sentence.

    >>> _first_sentence("The share of 1.5. More.")
    'The share of 1.5.'
    """
    return text.split(". ")[0].rstrip(".") + "."


def main(arguments: list[str]) -> int:
    """Write the page; with --check only compare, 1 when it is out of date."""
    text = page()
    is_current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
    if "--check" in arguments:
        state = "current" if is_current else f"out of date; run {sys.argv[0]}"
        print(f"{PAGE}: {state}")
        return 0 if is_current else 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
