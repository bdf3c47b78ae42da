"""What may be asked here, declared once: names, types and defaults."""

from typing import TYPE_CHECKING, Annotated

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.input_types import CorpusInput, GroundTruthInput, QuestionsInput
from calipers.operation import Setting, Settings, operation
from calipers.questions.reading import Files, Match

if TYPE_CHECKING:
    from calipers.model.health import Health


@dataclass(frozen=True, kw_only=True)
class AuditSettings(Settings):
    """What `audit` takes."""

    files: Files = Files()

    corpus: Annotated[
        CorpusInput | None,
        Setting(
            "What is searched: a folder of .txt and .md files, or a JSON lines, CSV or Parquet "
            "file.",
            "-c",
            "PATH",
            file="corpus",
            path=True,
            unchecked=True,
        ),
    ] = None
    traces: Annotated[
        QuestionsInput | None,
        Setting(
            "Real questions to compare with: traces, or a file of questions. The ten that are "
            "furthest from the ground truth are listed.",
            metavar="FILE",
            unchecked=True,
        ),
    ] = None
    match: Match = None


@operation(page="audit", command="audit")
def audit(
    ground_truth: Annotated[
        GroundTruthInput,
        Setting(
            "", argument="[GROUND_TRUTH]", file="ground-truth", path=True, unchecked=True
        ),
    ],
    *,
    settings: AuditSettings,
) -> "Health":
    """Look for everything that is wrong with a ground truth, by itself and against a corpus.

    ``ground_truth`` is whatever ``evaluate`` takes; it may hold results too. ``corpus`` is read in
    batches and never held as a whole. Of ``traces`` the ten questions that are furthest from those
    of the ground truth are listed.

    >>> found = audit({"q1": {"a": 1}, "q2": {"b": 1, "c": 1}}, corpus={"a": "x", "b": "y"})
    >>> [(finding.name, finding.severity, finding.count) for finding in found.findings][0]
    ('id_not_in_corpus', 'error', 1)
    """
    from calipers.io.build import MemoryBudget
    from calipers.io.corpus import open_corpus
    from calipers.io.files.spill import memory_in_bytes
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns
    from calipers.questions.audit import rule
    from calipers.questions.audit.real_questions import real_questions

    memory = settings.files.memory
    corpus = settings.corpus
    memory_in_bytes(memory)
    opened = None if corpus is None else open_corpus(corpus)
    columns = Columns.of(settings.files.columns)
    data = load(ground_truth, "ground_truth", columns, MemoryBudget(memory))
    if data.ground_truth is None and data.run is None:
        raise InvalidInput(
            "There is no ground truth to audit: its records have neither results nor a ground "
            "truth; give the file with the judgements."
        )
    if data.ground_truth is None:
        raise InvalidInput(
            f"There is no ground truth to audit: found {data.kind}, which holds results only; "
            "give the file with the judgements."
        )
    columns.check_used()
    real = None if settings.traces is None else real_questions(settings.traces)
    return rule.audit(
        data.ground_truth,
        opened,
        real=real,
        match=settings.match,
    )
