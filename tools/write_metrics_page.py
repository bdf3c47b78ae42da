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
| does an old version stand above the new one? | `old_first@k` |
| what does the context cost? | `tokens@k` |
| all of this as one number, by what matters to me? | `score(recall@10=0.7,mrr=0.3)` |

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

## One score out of several metrics

`score(…)` is the weighted mean of other metrics, query by query, and is used like any metric: in
`eval`, `compare`, `gate`, `sweep`, `fuse` and the history. Weights are above 0 and are divided by
their sum, so `recall@10=7,mrr=3` is the same as `0.7` and `0.3`.

- **Legal search** must not miss anything, and people read far down:
  `score(recall@50=0.9,ndcg@10=0.1)`.
- **Autocomplete** shows one suggestion: `score(hit_rate@1=0.8,mrr@5=0.2)`.

```
$ calipers compare bm25.jsonl hybrid.jsonl -g questions.jsonl -m "score(recall@50=0.9,ndcg@10=0.1)"
$ calipers gate run.jsonl --require "score(hit_rate@1=0.8,mrr@5=0.2) >= 0.7"
$ calipers sweep run.jsonl -g questions.jsonl -m "score(recall=0.7,mrr=0.3)"
```

A part without a cut-off takes that of the score (`score@10(recall=0.7,mrr=0.3)`, or `-k`). A score
is undefined for a query for which a part is. A part must lie between 0 and 1, and more of it must
be better: tokens, leaks and counts are refused.

## Old versions of a document

An index that keeps old versions answers from them. Name them in the field `forbidden` of a
question, beside the version that should be found:

```json
{"query": "How long is the notice period?", "ground_truth": ["handbook-2026#12"],
 "forbidden": ["handbook-2024#9", "handbook-2025#11"]}
```

```
$ calipers eval evals.jsonl -m old_first@10,leak_rate@10,recall@10
```

`old_first@10` is the share of these questions in which an old version stands above the first
target in the first 10 results, or stands there while no target does. The model then answers from
it. `leak_rate@10` is the share in which an old version comes back at all. A forbidden entry can
also be a document, a quote or a span.

## trec_eval's curve

`-m iprec_at_recall` gives interpolated precision at the eleven levels of recall from 0.00 to 1.00,
`11pt_avg` their mean, and `set_F` the F of everything that came back. Names and values are those
of trec_eval. `calipers eval --html` draws the curve. Measures that only trec_eval has, such as
`gm_map`, are refused by name instead of being answered with a similar one.

## Every metric

Values lie between 0 and 1, and more is better, unless a range or ↓ (less is better) is given.
"""
CURVE = re.compile(r"iprec_at_recall_(?!0.00)[0-9.]+")
"""The levels of the curve that the row of the first stands for."""
SIGN = {"higher": "", "lower": " ↓", "neither": ""}
BETTER = {"higher": "higher is better", "lower": "lower is better", "neither": "neither is better"}


def page() -> str:
    """Return the whole page."""
    shown = [one for one in metrics(all=True) if not CURVE.fullmatch(one["name"])]
    table = "\n".join(["| metric | what it says |", "|---|---|", *map(row, shown)])
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
    if metric["name"] == "iprec_at_recall_0.00":
        return (
            "| `iprec_at_recall_0.00`, `iprec_at_recall_0.10` … `iprec_at_recall_1.00` | The "
            "highest precision at or below the rank where recall reaches the level; 0 if it never "
            "does. `iprec_at_recall` alone stands for all eleven. |"
        )
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
