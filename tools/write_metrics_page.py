"""Write docs/metrics.md from the registry of metrics, or check that it is current.

The site has a page that says more of each; it is made when the site is built.

Run it from the root of the repository; `--check` writes nothing and returns 1 when the page is
out of date.
"""

import re
import sys
from pathlib import Path
from typing import Any

from calipers.questions.metrics import metrics

PAGE = Path("docs/metrics.md")
INTRODUCTION = """\
# Which metric do I look at?

<!-- Written by tools/write_metrics_page.py from the definitions in src/calipers/measures. -->

| you ask | metric |
|---|---|
| is what is needed among what the model reads? | `recall@k`; `full_recall@k`: all of it |
| does it stand near the top? | `ndcg@k` for several targets or grades, `mrr` for the first |
| how much of the context is useful? | `precision@k`; `span_precision@k` by characters |
| does anything come back that must not? | `leak_rate@k` |

```
$ calipers eval evals.jsonl -m recall@5,10,ndcg@10,mrr
```

`calipers metrics` prints the usual ones, `--all` the list below, and `calipers metrics NAME` one
metric with its notes, parameters and other names. In Python: `calipers.metrics("P_5")`. A metric of
your own is [one function](plugins.md).

- The mean is taken over the queries with a relevant target; `--unanswerable zero` adds the others.
- A name is written `name@k(parameter=value,…)`. `recall@1,3,5` stands for three metrics. Without
  its cut-off it takes those of `-k`; `[@k]` means that it needs none.
- Nearly all take `rel=2`, the lowest grade that counts as relevant; `--rel` sets it for all. R is
  the number of relevant targets.
- Names of other tools work: `P_5`, `R@10`, `ndcg_cut_10`, `recip_rank`, `success_5`.

## Every metric

Values lie between 0 and 1, and more is better, unless a range or ↓ (less is better) is given.
"""
SIGN = {"higher": "", "lower": " ↓", "neither": ""}
BETTER = {"higher": "higher is better", "lower": "lower is better", "neither": "neither is better"}


def page() -> str:
    """Return the whole page."""
    table = "\n".join(["| metric | what it says |", "|---|---|", *map(row, metrics(all=True))])
    return f"{INTRODUCTION}\n{table}\n"


def full_page() -> str:
    """Return a page with everything that is known of every metric."""
    parts = ["# Every metric in full", "R is the number of relevant targets of a query."]
    for metric in metrics(all=True):
        low, high = metric["bounds"]
        bounds = f"from {low:g}" if high is None else f"{low:g} to {high:g}"
        parts.append(f"## {metric['name']}")
        parts.append(f"`{metric['grammar']}` · {bounds} · {BETTER[metric['better']]}")
        parts += filter(None, (metric["formula"], metric["notes"]))
        if metric["also_called"]:
            parts.append(f"Also {', '.join(f'`{name}`' for name in metric['also_called'])}.")
        allowed = (f"`{name}`: {one['allowed']}" for name, one in metric["parameters"].items())
        parts.append("; ".join(allowed))
    return "\n\n".join(filter(None, parts)) + "\n"


def row(metric: dict[str, Any]) -> str:
    """Return the line of the table that describes one metric.

    >>> row(metrics("mrr")[0])[:70]
    '| `mrr[@k]` | 1 over the rank of the first target; 0 if there is none,'
    """
    grammar = re.sub(r",?rel=(?=\))", "", metric["grammar"]).replace("()", "")
    low, high = metric["bounds"]
    bounds = f" from {low:g}" if high is None else "" if low == 0 else f" {low:g} to {high:g}"
    return f"| `{grammar}`{bounds}{SIGN[metric['better']]} | {metric['formula']} |"


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
