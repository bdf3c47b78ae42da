"""The rules, tried one by one on the evidence."""

from collections.abc import Mapping

from calipers.analyse.evidence import Evidence
from calipers.analyse.rules import RULES
from calipers.errors import InvalidInput
from calipers.model.diagnosis import Finding, Unchecked
from calipers.suggest import did_you_mean


def thresholds_in_force(changes: Mapping[str, float] | None = None) -> dict[str, float]:
    """Every threshold by its full name, with the changes of the caller.

    >>> thresholds_in_force({"too_wide.recall": 0.7})["too_wide.recall"]
    0.7
    """
    known = {
        f"{rule.name}.{name}": value for rule in RULES for name, value in rule.thresholds.items()
    }
    for name, value in (changes or {}).items():
        if name not in known:
            raise InvalidInput(
                f"There is no threshold {name!r}; the thresholds are {', '.join(known)}."
                f"{did_you_mean(name, known)}"
            )
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
            raise InvalidInput(f"The threshold {name} is {value!r}; it must be a number.")
        known[name] = float(value)
    return known


def apply_rules(
    evidence: Evidence, thresholds: Mapping[str, float]
) -> tuple[tuple[Finding, ...], tuple[str, ...], tuple[Unchecked, ...]]:
    """What was found, what was checked and is fine, and what could not be checked."""
    findings: list[Finding] = []
    fine: list[str] = []
    unchecked: list[Unchecked] = []
    for rule in RULES:
        own = {name: thresholds[f"{rule.name}.{name}"] for name in rule.thresholds}
        seen = rule.check(evidence, own)
        if seen is None:
            fine.append(rule.title)
        elif isinstance(seen, str):
            unchecked.append(Unchecked(rule.name, rule.title, seen))
        else:
            findings.append(
                Finding(
                    rule.name, rule.title, seen.confidence, seen.evidence, seen.advice, seen.numbers
                )
            )
    return tuple(findings), tuple(fine), tuple(unchecked)
