"""May I switch? The answer: safe, do not switch, or how many more labels."""

from dataclasses import dataclass
from typing import ClassVar

from calipers.model.claim import Claim, Standing
from calipers.model.document import Document, Note, of_claim
from calipers.model.result import Plain, ShowsItself
from calipers.shell import join_words
from calipers.statistics.switching import Verdict
from calipers.words import plural

STANDINGS: dict[Verdict, Standing] = {
    "safe": "passed",
    "small loss": "worse",
    "loss": "failed",
    "open": "no clear difference",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Switch(Plain, ShowsItself):
    """Relevant results in the first k per query, new minus old, at the last look."""

    shown_by: ClassVar[str] = "calipers.labels.switch:document"
    dict_keys: ClassVar[str] = (
        "old new k allow confidence queries changed labelled_before drawn_from labelled looks "
        "counted difference low high verdict more_queries more_results waiting claim"
    )

    old: str
    new: str
    k: int
    allow: float
    """How many relevant results per query may be lost."""
    confidence: float
    """The confidence of the interval, over all looks together."""
    queries: int
    """All queries, changed or not."""
    changed: int
    """Queries whose first k results differ."""
    labelled_before: int
    """Results whose label was known."""
    drawn_from: int
    """Queries with a result to label."""
    labelled: int
    """Of these, those that are labelled completely, in the order drawn."""
    looks: tuple[int, ...]
    """Numbers of labelled queries at which the result is read."""
    counted: int | None
    """The last look; None before the first."""
    difference: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    more_queries: int
    """Queries to label until the next look, or until the answer is likely."""
    more_results: int
    """Their results."""
    waiting: str | None = None
    """Why the next query cannot count: a result was skipped, or is a tie."""
    pool: str | None = None

    @property
    def line(self) -> str:
        """The progress, without a value, which somebody who judges must not see."""
        if self.verdict != "open":
            return "Enough is labelled to decide: you may stop."
        ahead = next((one for one in self.looks if one > self.labelled), self.looks[-1])
        return f"{self.labelled:,} of {plural(ahead, 'question')} labelled until the next look."

    @property
    def claim(self) -> Claim:
        """Whether the switch is safe, and what would settle it."""
        return Claim(STANDINGS[self.verdict], self._fact, next=self._next)

    @property
    def _fact(self) -> str:
        asked, k, low, high = plural(self.queries, "question"), self.k, self.low, self.high
        if not self.changed:
            same = f"{self.new} and {self.old} have the same first {k} results for all {asked}."
            return f"Safe to switch: {same}"
        if low is None or high is None:
            return (
                f"{self.changed:,} of {asked} changed. The first look takes "
                f"{plural(self.more_results, 'label')} for {self.more_queries:,} of them."
            )
        results = f"relevant results in the first {k} per query"
        lost, least = f"{max(-high, 0.0):.2f} to {-low:.2f}", f"{low:.2f} or more"
        after = f" ({self.confidence:.0%}), after {self.counted:,} of {asked}."
        if low == high:
            lost, least = f"{-low:.2f}", f"{low:.2f}"
            after = f", by labels of all that changed in {asked}."
        kept = f"loses at most {-low:.2f}" if low <= 0 else f"gains {least}"
        ends = " to ".join(
            f"{'+' if end > 0 else '−' if end < 0 else ''}{abs(end):.2f}" for end in (low, high)
        )
        said = {
            "loss": f"Do not switch: {self.new} loses {lost}",
            "small loss": f"{self.new} is worse, within what you allow: it loses {lost}",
            "safe": f"Safe to switch: {self.new} {kept}",
            "open": f"Not settled: {self.new} has {ends}",
        }
        return f"{said[self.verdict]} {results}{after}"

    @property
    def _next(self) -> str | None:
        if self.waiting is not None or self.verdict != "open":
            return self.waiting
        go_on = "Fill in `grade` from the top of the file, then run this with --filled FILE."
        if self.pool is not None:
            go_on = f"Go on: {join_words(['calipers', 'serve', '--pool', self.pool])}"
        if self.counted is None:
            return go_on
        more = plural(self.more_queries, "more question")
        return f"About {more} ({plural(self.more_results, 'label')}) would settle it. {go_on}"


def document(found: Switch) -> Document:
    """The verdict, and what it rests on."""
    same, asked = found.queries - found.changed, plural(found.queries, "question")
    looks = ", ".join(f"{one:,}" for one in found.looks)
    notes = [
        Note("counted", f"{plural(found.labelled_before, 'label')} were given before."),
        Note(
            "method",
            f"{same:,} of {asked} did not change and count as no difference. The interval holds at "
            f"all looks together, after {looks} labelled questions.",
        ),
    ]
    shown = notes[not found.labelled_before :] if found.changed else []
    return of_claim(found.claim, *shown)
