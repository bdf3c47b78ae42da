"""What may be asked of a sample that people judge, declared once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from calipers.labels.settings import (
    Corpus,
    Guidelines,
    PoolLevel,
    PoolMatch,
    Questions,
    judges_setting,
    read_inputs,
)
from calipers.live.keywords import ColumnNames
from calipers.operation import STATISTICS, Setting, operation
from calipers.questions.reading import Confidence, Store, Truth

if TYPE_CHECKING:
    from calipers.labels.sample_result import SampleState


def _width(text: str) -> float:
    """A width as people write it.

    >>> _width("±0.05"), _width("0.05"), _width("+-.1")
    (0.05, 0.05, 0.1)
    """
    from calipers.errors import InvalidInput

    try:
        return float(text.strip().removeprefix("±").removeprefix("+-").removeprefix("+/-"))
    except ValueError:
        raise InvalidInput(
            f"The width to reach is {text!r:.40}; write how far the interval may reach to either "
            "side, such as 0.05 or ±0.05."
        ) from None


class LabelsSampleSettings(TypedDict, total=False):
    """What `labels_sample` takes."""

    ground_truth: Truth
    until: Annotated[
        float,
        Setting(
            "How far the corrected interval may reach to either side, such as ±0.05.",
            default=0.05,
            metavar="WIDTH",
            read=_width,
        ),
    ]
    metric: Annotated[str, Setting("The metric that is corrected.", "-m", default="ndcg@10")]
    pool: Annotated[
        str | None,
        Setting("The name of the sample. [default: that of the runs]", metavar="NAME"),
    ]
    judges: Annotated[Sequence[str], judges_setting("each question goes to one.")]
    most: Annotated[int, Setting("Questions to draw at most.", "-n", default=300)]
    seed: Annotated[int, Setting("The seed of the draw.", default=0, least=0)]
    by: Annotated[
        str | None,
        Setting("Draw of each value of this tag its share, and say how each is.", metavar="TAG"),
    ]
    cluster: Annotated[
        str | None,
        Setting(
            "Draw all questions with the same value of this tag together.",
            metavar="TAG",
            file="cluster",
        ),
    ]
    depth: Annotated[
        int | None, Setting("Results per run to judge. [default: those the metric looks at]")
    ]
    scale: Annotated[
        str, Setting("The grades that can be given.", default="0-3", choices=("0-3", "yes/no"))
    ]
    questions: Questions
    corpus: Corpus
    guidelines: Guidelines
    match: PoolMatch
    level: PoolLevel
    rel: Annotated[
        float | None,
        Setting("The grade from which on a result is relevant.", file="rel", group=STATISTICS),
    ]
    confidence: Confidence
    columns: ColumnNames
    store: Store


@operation(page="make-ground-truth", command="labels sample")
def labels_sample(
    runs: Annotated[Any, Setting("", argument="[RUN]...", several=True, read=list)] = (),
    **settings: Unpack[LabelsSampleSettings],
) -> "SampleState":
    """Draw questions at random for people to judge, and say how far they are.

    ``ground_truth`` is a machine's; what people say of the sample corrects it. The results of
    ``runs`` are judged blind, in the order drawn, by one judge each; the same call again, or one
    with ``pool`` alone, says how wide the corrected interval of ``metric`` is and will be, and how
    many are left ``until`` it is narrow enough. It may be read, and judging ended, at a few looks
    that are fixed beforehand: together they hold as often as ``confidence`` says.

    >>> import tempfile
    >>> run = {f"Who is {i}?": ["a", "b"] for i in range(400)}
    >>> machine = {query: ["a"] if i % 4 else ["b"] for i, query in enumerate(run)}
    >>> place = tempfile.mkdtemp() + "/labels.db"
    >>> drawn = {"metric": "mrr", "until": 0.1, "store": place}
    >>> state = labels_sample({"run": run}, ground_truth=machine, **drawn)
    >>> state.judged, state.next_look, state.enough
    (0, 45, 45)
    """
    from calipers.errors import InvalidInput
    from calipers.labels.desk import open_desk
    from calipers.labels.drawing import draw, only_sample
    from calipers.store.open import open_store
    from calipers.store.pool import PoolSettings
    from calipers.store.record import name_from

    if not runs:
        opened = open_store(settings["store"], keep=True)
        desk = open_desk(opened, settings["pool"] or only_sample(opened))
    else:
        if settings["ground_truth"] is None:
            raise InvalidInput(
                "There is nothing to correct: the machine's ground truth is not given; name it "
                "with -g."
            )
        from calipers.engines.scoring import choose_metrics

        cut = [one.k for one in choose_metrics(settings["metric"], None)]
        loaded, truth = read_inputs(runs, settings["ground_truth"], settings["columns"])
        kept = PoolSettings(
            metric=settings["metric"],
            scale=settings["scale"],
            depth=(cut[0] or 10) if settings["depth"] is None else settings["depth"],
            seed=settings["seed"],
            guidelines=settings["guidelines"],
            match=settings["match"],
            level=settings["level"],
            rel=settings["rel"],
        )
        desk = draw(
            lambda: open_store(settings["store"], create=True, keep=True),
            settings["pool"] or f"{name_from(loaded, 83)}-sample",
            loaded,
            truth,
            until=settings["until"],
            judges=settings["judges"],
            most=settings["most"],
            cluster=settings["cluster"],
            by=settings["by"],
            confidence=settings["confidence"],
            questions=settings["questions"],
            corpus=settings["corpus"],
            settings=kept,
        )
    state = desk.sample()
    if state is None:
        raise InvalidInput(
            f"The pool {desk.name} is no sample that was drawn: its queue begins with what moves "
            "the metric, or was chosen by hand. Draw one: calipers labels sample RUN -g "
            "machine.jsonl --until 0.05"
        )
    return state
