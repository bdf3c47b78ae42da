"""A grid of retrievers: its combinations, the plan and the result."""

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any, ClassVar

from calipers.frozen import dataclass
from calipers.live.document import duration
from calipers.model.document import Cell, Cells, Column, Document, Note, Table
from calipers.model.fact import Fact, Sentence, sentence
from calipers.model.result import HasRows, plain, sentences_of
from calipers.questions.compare.document import document as comparison_document
from calipers.questions.compare.result import Comparison
from calipers.questions.expected_gain import ExpectedGain


@dataclass(frozen=True)
class Combination:
    """One retriever with one set of parameters."""

    name: str
    retriever: str
    target: str
    """The function that returns the search function: ``package.module:function`` or
    ``file.py:function``."""
    params: Mapping[str, Any]
    k: int
    output: Path
    settings: Mapping[str, Any]
    """What determines the answers, without secrets; known before anything is built."""

    def to_dict(self) -> dict[str, Any]:
        """The combination as plain values."""
        return {
            "name": self.name,
            "retriever": self.retriever,
            **self.settings,
            "k": self.k,
            "run": str(self.output),
        }


SAME_TOKENS = 0.01
"""A smaller difference in tokens is none."""


@dataclass(frozen=True, eq=False, repr=False)
class Grid(HasRows):
    """Every combination that ran, compared with the baseline."""

    shown_by: ClassVar[str] = "calipers.questions.grid.result"

    combinations: tuple[Combination, ...]
    reports: Mapping[str, Mapping[str, Any]]
    """The retrieval report of each combination by name; see ``retrieve``."""
    failures: Mapping[str, str]
    """Combinations that failed, with the reason; they are not in the comparison."""
    comparison: Comparison
    best: str | None = None
    """The combination that is best by the primary metric."""
    expected_gain: ExpectedGain | None = None
    """Its gain over the baseline, here and on new queries."""
    tokens: Mapping[str, float] = field(default_factory=dict)
    """Tokens per query in the results that the primary metric reads; larger chunks bring
    more."""

    def to_dict(self, *, examples: int = 5) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {
            "combinations": [
                {
                    **combination.to_dict(),
                    "report": self.reports.get(combination.name),
                    "tokens": self.tokens.get(combination.name),
                }
                for combination in self.combinations
            ],
            "failures": dict(self.failures),
            "best": self.best,
            "expected_gain": plain(self.expected_gain),
            "comparison": self.comparison.to_dict(examples=examples),
            **sentences_of(self),
        }


def document(grid: Grid) -> Document:
    """The comparison of all combinations, how their runs went, and what failed."""
    whole = comparison_document(grid.comparison)
    notes = [
        Note("failed", f"{name} is not in the table: {sentence}")
        for name, sentence in grid.failures.items()
    ]
    if grid.expected_gain and (
        gain_sentence := grid.expected_gain.sentence(grid.comparison.primary or "")
    ):
        notes.append(Note("missing", gain_sentence))
    if price := tokens_sentence(grid):
        notes.append(Note("missing", price))
    return replace(
        whole, blocks=[*whole.blocks, _runs(grid)], notes=[*notes, *whole.notes]
    )


def tokens_sentence(grid: Grid) -> Sentence:
    """What more, or less, the best combination takes than the baseline; empty where unknown."""
    baseline = grid.comparison.baseline
    usual = grid.tokens.get(baseline)
    best = grid.tokens.get(grid.best or "")
    if not usual or best is None or grid.best == baseline:
        return Sentence("")
    takes = Fact(
        about="count",
        system=grid.best,
        against=baseline,
        count=round(best),
        text="tokens",
    )
    share = abs(best - usual) / usual
    if share < SAME_TOKENS:
        return sentence(
            "{it.system} takes as many tokens as {it.against}: {it.count}.", it=takes
        )
    return sentence(
        "{it.system} takes {share.value:.0%} {more} tokens than {it.against}: {it.count} per "
        "query, not {usual.count}.",
        it=takes,
        share=Fact(about="count", system=grid.best, value=share, text="share of tokens"),
        more="more" if best > usual else "fewer",
        usual=Fact(about="count", system=baseline, count=round(usual), text="tokens"),
    )


def _runs(grid: Grid) -> Table:
    table: list[Cells] = []
    for combination in grid.combinations:
        row: list[Cell | str] = [
            Cell(combination.name, strong=True),
            str(combination.k),
            "not run",
            "",
            "",
            "",
            "",
        ]
        if report := grid.reports.get(combination.name):
            row[2:] = (f"{report[name]:,}" for name in ("answered", "failed"))
            row += (duration(report["latency_ms"].get(at)) for at in ("p50", "p95"))
            row.append(
                f"{grid.tokens[combination.name]:,.0f}"
                if combination.name in grid.tokens
                else ""
            )
        table.append(row)
    columns = (
        Column("combination", words=True),
        "k",
        "answered",
        "failed",
        "p50",
        "p95",
        "tokens",
    )
    return Table(columns, table, "Runs")
