"""What had to be changed on the way into a form, said once for each kind of change."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(eq=False)
class Remarks:
    """Sentences with counts, in the order in which they came up."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, sentence: str, count: int = 1) -> None:
        """Note one kind of change; ``{n}`` in the sentence will be how often it happened."""
        if count:
            self.counts[sentence] += count

    def sentences(self) -> list[str]:
        """The sentences with their numbers."""
        return [sentence.replace("{n}", f"{count:,}") for sentence, count in self.counts.items()]


def note_filled(filled: Counter[str], remarks: Remarks) -> None:
    """Say how many queries were on one side only."""
    remarks.add(
        "Queries missing from the run, written with an empty list of results: {n}.",
        filled["missing_from_run"],
    )
    remarks.add(
        "Queries missing from the ground truth, written with an empty list of targets: {n}.",
        filled["unknown_to_ground_truth"],
    )
