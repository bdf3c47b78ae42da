"""The health of a ground truth: what an audit found, how severe it is, and what to do."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, ClassVar, Literal

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.claim import Claim
from calipers.model.result import HasRows, Plain, plain

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""The most severe first."""
EXAMPLES = 10
"""How many examples a finding keeps."""
LONGEST = 200
"""Characters of a text that an example keeps."""


@dataclass(frozen=True)
class Kind:
    """One thing that can be wrong with a ground truth."""

    name: str
    severity: Severity
    counts: str
    """What the number counts, as in "3 of 40 queries"."""
    meaning: str
    remedy: str


@dataclass(frozen=True)
class Example(Plain):
    """One case of a finding: the query, the target it is about, and what was found."""

    query: str | None = None
    target: str | None = None
    detail: str | None = None

    def to_dict(self) -> dict[str, str]:
        """The fields that have a value; long texts are cut."""
        return {
            name: shortened(text)
            for name, text in super().to_dict().items()
            if text is not None
        }


@dataclass(frozen=True)
class HealthFinding(Plain):
    """One kind of problem in a ground truth: how often it occurs, with examples."""

    kind: Kind
    count: int
    of: int | None = None
    """Out of how many, where that makes sense."""
    examples: tuple[Example, ...] = ()
    detail: str | None = None
    """What the numbers say in this case."""
    severity: Severity = "info"

    @classmethod
    def of_kind(
        cls,
        kind: Kind,
        examples: Iterable[Example] = (),
        *,
        count: int,
        of: int | None = None,
        detail: str | None = None,
        severity: Severity | None = None,
    ) -> "HealthFinding":
        """A finding with the severity of its kind unless another is named."""
        kept = tuple(
            example for example, _ in zip(examples, range(EXAMPLES), strict=False)
        )
        return cls(kind, count, of, kept, detail, severity or kind.severity)

    @property
    def name(self) -> str:
        """What the finding is called, in print and in JSON."""
        return self.kind.name

    def to_dict(self) -> dict[str, Any]:
        """Everything about the finding, its words included."""
        return {
            "name": self.name,
            "severity": self.severity,
            "count": self.count,
            "of": self.of,
            "counts": self.kind.counts,
            "detail": self.detail,
            "meaning": self.kind.meaning,
            "remedy": self.kind.remedy,
            "examples": plain(self.examples),
        }


@dataclass(frozen=True)
class DistantQuestion:
    """A question that people asked and that is unlike every question of a ground truth."""

    query: str
    asked: int
    """How often it was asked."""
    distance: float
    """0 where a question has the same words, 1 where none has a word in common."""
    nearest: str | None
    """The question of the ground truth that is nearest; None where none has a word in
    common."""


@dataclass(frozen=True, repr=False)
class Health(Plain, HasRows):
    """The state of a ground truth: the findings, the most severe first, and what was checked."""

    shown_by: ClassVar[str] = "calipers.questions.audit.document"
    dict_keys: ClassVar[str] = "claim counts facts findings passed notes to_add"

    findings: tuple[HealthFinding, ...]
    facts: Mapping[str, Any]
    """Counts of queries, targets and chunks, and the interval to expect."""
    notes: tuple[str, ...] = ()
    passed: tuple[str, ...] = field(default=())
    """The names of the checks that ran and found nothing."""
    claim: Claim | None = None
    """What difference the set can detect, or why it cannot be used to measure."""
    to_add: tuple[DistantQuestion, ...] = ()
    """The real questions that are furthest from those of the set, the furthest first."""

    @classmethod
    def of(
        cls,
        findings: Iterable[HealthFinding],
        facts: Mapping[str, object],
        notes: Iterable[str],
        checked: Iterable[str],
    ) -> "Health":
        """The findings that found something, the most severe first."""
        some = sorted(
            (finding for finding in findings if finding.count),
            key=lambda finding: SEVERITIES.index(finding.severity),
        )
        names = {finding.name for finding in some}
        passed = tuple(name for name in dict.fromkeys(checked) if name not in names)
        return cls(tuple(some), dict(facts), tuple(notes), passed)

    def __getitem__(self, name: str) -> HealthFinding:
        """The finding of that name."""
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(finding.name == name for finding in self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each severity."""
        severities = [finding.severity for finding in self.findings]
        return {severity: severities.count(severity) for severity in SEVERITIES}

    def fails(self, on: str | None) -> bool:
        """Whether there is a finding at least as severe as ``on``; None never fails."""
        if on is None:
            return False
        if on not in SEVERITIES:
            raise InvalidInput(
                f"An audit cannot fail on {on!r}; it can fail on {', '.join(SEVERITIES)}."
            )
        grave = SEVERITIES[: SEVERITIES.index(on) + 1]
        return any(finding.severity in grave for finding in self.findings)


def shortened(text: str) -> str:
    """The beginning of a text, with an ellipsis where it was cut."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
