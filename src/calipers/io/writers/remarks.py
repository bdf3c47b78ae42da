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
        "{n} of the queries are missing from the run; they are written with an empty list of "
        "results.",
        filled["missing_from_run"],
    )
    remarks.add(
        "{n} of the queries of the run are not in the ground truth; they are written with an "
        "empty list of targets.",
        filled["unknown_to_ground_truth"],
    )
