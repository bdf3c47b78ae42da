"""Operations and their settings: names, types and defaults."""

from collections.abc import Collection
from datetime import datetime
from os import PathLike
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.input_types import PathText, Scores
from calipers.operation import HISTORY, POLICIES, STATISTICS, Setting, Settings, operation
from calipers.questions.reading import (
    Cluster,
    Cutoffs,
    Data,
    Evaluating,
    Metrics,
    Now,
    Primary,
    Reading,
    WeightBy,
)

if TYPE_CHECKING:
    from calipers.questions.baseline import Baseline
    from calipers.questions.gate.result import Verdict


@dataclass(frozen=True, kw_only=True)
class GateSettings(Settings):
    """What `gate` takes."""

    reading: Reading = Reading()

    require: Annotated[
        str | Collection[str],
        Setting(
            "metric op value [for tag=value], such as 'recall@10 >= 0.85'; may be given several "
            "times.",
            metavar="CONDITION",
            several=True,
            file="gate.require",
        ),
    ] = ()
    baseline: Annotated[
        PathText | Scores | None,
        Setting(
            "Fail when a metric that is asked for is worse than in this result of `calipers "
            "gate save`.",
            "-b",
            "FILE",
            file="gate.baseline",
            path=True,
            unchecked=True,
        ),
    ] = None
    by: Annotated[
        str | Collection[str],
        Setting(
            "Compare each value of a tag (auto: found) too.",
            metavar="TAG",
            several=True,
            file="gate.by",
        ),
    ] = ()
    primary: Primary = None
    allow: Annotated[
        float,
        Setting(
            "Fail when a mean fell by more than this.",
            metavar="LOSS",
            file="gate.allow",
        ),
    ] = 0.05
    only_shown: Annotated[
        bool,
        Setting(
            "Fail only on a significant loss, whatever these queries lost: for retrievers that do "
            "not always answer alike.",
            file="gate.only-shown",
            group=POLICIES,
        ),
    ] = False
    must: Annotated[
        str | Collection[str],
        Setting(
            "Questions that must find something: of a tag, or a file with an id a line; may be "
            "given several times.",
            metavar="TAG=VALUE|FILE",
            several=True,
            file="gate.must",
        ),
    ] = ()
    accept: Annotated[
        str | None,
        Setting(
            "Write this result over the baseline, with the reason, though it is worse.",
            metavar="WHY",
            group=HISTORY,
        ),
    ] = None
    move_up: Annotated[
        bool,
        Setting(
            "Write this result over the baseline where it is significantly better and nothing is "
            "lost; for the default branch.",
            group=HISTORY,
        ),
    ] = False
    confidence: Annotated[
        float,
        Setting(
            "How sure the answer must be.",
            metavar="LEVEL",
            file="gate.confidence",
            group=STATISTICS,
        ),
    ] = 0.95
    cluster: Cluster = None
    weight_by: WeightBy = None
    anyway: Annotated[
        bool,
        Setting(
            "Compare although ground truth or policies forbid it; the result says so.",
            file="gate.anyway",
            group=POLICIES,
        ),
    ] = False
    metrics: Metrics = None
    k: Cutoffs = None
    now: Now = None


@operation(page="gate", command="gate")
def gate(data: Data = None, *, settings: GateSettings) -> "Verdict":
    """Check a result against conditions, and against a baseline.

    ``data`` is a pair, anything that ``read`` takes, or a result that ``evaluate`` made.
    ``require`` are conditions, such as ``"recall@10 >= 0.85 for type=multi-hop"``. With a
    ``baseline`` (a file of ``calipers gate save``, a reference such as ``@main``
    looked up in ``store``, or scores) each metric in ``metrics`` (default: one for finding and one
    for order, the ``primary`` one first) and each value of the tags in ``by`` is checked twice:
    did its mean fall by more than ``allow``, and is the loss significant at ``confidence``?
    Either fails it; with ``only_shown`` only the second does. An unclear check does not pass.
    Questions in ``must`` (``"tag=value"``, or a file of ids) fail the gate if they find nothing.
    ``accept`` replaces the baseline by the result, with a reason; ``move_up`` does so if it is
    better. Two results that are hard to compare are an error; with ``anyway`` a warning.

    >>> truth, run = {"q": ["a"], "r": ["a"]}, {"q": ["a", "b"], "r": ["b", "a"]}
    >>> verdict = gate(ground_truth=truth, run=run, require="mrr >= 0.8")
    >>> verdict.passed, verdict.checks[0].value
    (False, 0.75)
    """
    from calipers.questions.gate.rule import check_result

    return check_result(data, settings)


@dataclass(frozen=True, kw_only=True)
class GateSaveSettings(Settings):
    """What `gate_save` takes."""

    evaluating: Evaluating = Evaluating()

    to: Annotated[
        str | PathLike[str], Setting("The .json file to write.", "--output -o", "FILE")
    ]
    name: Annotated[
        str | None, Setting("What to call it. [default: the file's name]", metavar="NAME")
    ] = None
    now: Now = None


@operation(page="gate", command="gate save")
def gate_save(data: Data = None, *, settings: GateSaveSettings) -> "Baseline":
    """Measure, and write the result with a name and the date to a JSON file."""
    from datetime import UTC
    from pathlib import Path

    from calipers.errors import InvalidInput
    from calipers.io.files.write import check_place
    from calipers.questions.baseline import Baseline, write_baseline
    from calipers.questions.evaluate.rule import measure

    target = Path(settings.to)
    if target.suffix.lower() != ".json":
        raise InvalidInput(
            f"The baseline file is {str(target)!r}; a baseline is JSON, so end its name in .json."
        )
    check_place(target)
    _, scores = measure(data, settings.evaluating)
    when = settings.now or datetime.now(UTC)
    baseline = Baseline(scores, settings.name or target.stem, when)
    write_baseline(baseline, target)
    return baseline
