"""Every public name, with every keyword: what editors and type checkers read.

Written by tools/write_stub.py from the settings of the operations; `make stub` writes it again.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from calipers.errors import CalipersError as CalipersError
from calipers.functions import average_precision as average_precision
from calipers.functions import confusion_at_k as confusion_at_k
from calipers.functions import f1_at_k as f1_at_k
from calipers.functions import hit_rate_at_k as hit_rate_at_k
from calipers.functions import ndcg_at_k as ndcg_at_k
from calipers.functions import precision_at_k as precision_at_k
from calipers.functions import recall_at_k as recall_at_k
from calipers.functions import reciprocal_rank as reciprocal_rank
from calipers.input_types import (
    ColumnsInput,
    CorpusInput,
    DataInput,
    GroundTruthInput,
    MetricsInput,
    PathText,
    QuestionsInput,
    RetrieverInput,
    RunInput,
    SystemInput,
    SystemsInput,
)
from calipers.integrations.scorer import Scorer
from calipers.labels.changed import Switch
from calipers.labels.desk import Exported, PoolSession
from calipers.labels.draft import Draft
from calipers.labels.exchange import Imported
from calipers.labels.sample import SampleState
from calipers.live.result import LiveRun, MachineLabels
from calipers.live.run_file import AnswerCounts
from calipers.model.evaluation import Evaluation
from calipers.model.ground_truth import GroundTruth as GroundTruth
from calipers.model.health import Health
from calipers.model.matched import Matched as Matched
from calipers.model.policy import Policy as Policy
from calipers.model.run import Run as Run
from calipers.model.scores import Scores as Scores
from calipers.questions.baseline import Baseline
from calipers.questions.begin.check import CheckedQuestions
from calipers.questions.begin.result import FirstQuestions
from calipers.questions.begin.traces import TracedQuestions
from calipers.questions.compare.result import Comparison as Comparison
from calipers.questions.compare.unlabelled import Diff
from calipers.questions.confirm.rule import Confirmation
from calipers.questions.convert.resolve import Resolution
from calipers.questions.convert.rule import Conversion
from calipers.questions.diagnose.result import Diagnosis
from calipers.questions.evaluate.calls import CallTable
from calipers.questions.evaluate.corrected import CorrectedScores
from calipers.questions.evaluate.levels import Levels
from calipers.questions.fuse.result import Fusion
from calipers.questions.gate.result import Verdict as Verdict
from calipers.questions.grid.result import Grid
from calipers.questions.grow.result import Growth
from calipers.questions.history.result import Alarm, History, Shown
from calipers.questions.metrics import MetricList
from calipers.questions.misses.one_query import Explanation
from calipers.questions.misses.result import Misses as Misses
from calipers.questions.plan.rule import QueryPlan
from calipers.questions.report.result import Report as Report
from calipers.questions.seal.rule import Sealed
from calipers.questions.slices.result import Slices
from calipers.questions.sweep.floor import Floor
from calipers.questions.sweep.result import Sweep
from calipers.store.pool import PoolList
from calipers.version import __version__ as __version__

__all__: list[str]

_HOMES: dict[str, str]

def scorer(
    *metrics: str,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
) -> Scorer:
    """Return a callable that scores one query's results against its ground truth."""

def labels_desk(
    pool: str,
    store: PathText | None = None,
) -> PoolSession:
    """Open a pool for judging: its queue, labels, undo, notes, agreement, conflicts, what moved."""

def labels_draft(
    runs: PathText | SystemsInput = (),
    *,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    questions: QuestionsInput | None = None,
    k: int = 10,
    seed: int = 0,
    ground_truth: GroundTruthInput | None = None,
    corpus: CorpusInput | None = None,
    changed: bool = False,
    allow: float = 0.2,
    filled: PathText | Sequence[PathText] = (),
) -> Draft:
    """Pool the first k results of several runs into rows that somebody can judge."""

def labels_export(
    pool: PathText | Sequence[PathText] = (),
    output: PathText | None = None,
    *,
    columns: ColumnsInput | None = None,
    to: str | None = None,
    targets_as: Literal["id", "quote", "span"] | None = None,
    machines: bool = False,
    every_label: bool = False,
    add_to: GroundTruthInput | None = None,
    overwrite: bool = False,
    store: PathText | None = None,
) -> Exported:
    """Write what was judged as a ground truth, in any format of ``convert``."""

def labels_import(
    pool: str,
    labels: PathText | Sequence[PathText],
    judge: str | None = None,
    store: PathText | None = None,
) -> Imported:
    """Read labels that were given elsewhere."""

def labels_list(
    store: PathText | None = None,
) -> PoolList:
    """Every pool of a store, and how much of it is judged."""

def labels_pool(
    name: str,
    runs: SystemsInput,
    *,
    ground_truth: GroundTruthInput | None = None,
    judges: Sequence[str] = ...,
    questions: QuestionsInput | None = None,
    corpus: CorpusInput | None = None,
    metric: str = "ndcg@10",
    scale: Literal["0-3", "yes/no"] = "0-3",
    seed: int = 0,
    guidelines: str = "",
    rel: float | None = None,
    columns: ColumnsInput | None = None,
    store: PathText | None = None,
    per_item: int = 1,
    queries: Collection[str] | None = None,
    depth: int = 10,
    order: Literal["moves", "plain"] = "moves",
    changed: bool = False,
    allow: float = 0.2,
    again: bool = False,
    another: bool = False,
) -> PoolSession:
    """Make a pool of the first ``depth`` results of several runs, and open it for judging."""

def labels_sample(
    runs: PathText | SystemsInput = (),
    *,
    ground_truth: GroundTruthInput | None = None,
    judges: Sequence[str] = ...,
    questions: QuestionsInput | None = None,
    corpus: CorpusInput | None = None,
    metric: str = "ndcg@10",
    scale: Literal["0-3", "yes/no"] = "0-3",
    seed: int = 0,
    guidelines: str = "",
    rel: float | None = None,
    columns: ColumnsInput | None = None,
    store: PathText | None = None,
    until: float = 0.05,
    pool: str | None = None,
    most: int = 300,
    depth: int | None = None,
    confidence: float = 0.95,
) -> SampleState | Switch:
    """Draw questions at random for people to judge, and say how far they are."""

def labels_traces(
    files: PathText | Sequence[PathText],
    *,
    n: int | None = None,
    seed: int = 0,
) -> TracedQuestions:
    """Take the questions that people really asked from traces, each once."""

def labels_judge(
    labels: PathText | Sequence[object],
    *,
    retries: int = 2,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    endpoint: str,
    model: str,
    key_env: str | None = None,
    timeout: float | None = 60.0,
    workers: int = 4,
    cache: PathText | None = None,
) -> MachineLabels:
    """Let a language model grade every pair of question and item."""

def retrieve(
    search: RetrieverInput,
    questions: QuestionsInput,
    k: int = 20,
    *,
    retries: int = 2,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    params: Mapping[str, Any] | None = None,
    request: Any = None,
    headers: Mapping[str, str] | None = None,
    results: str | None = None,
    id: str | None = None,
    score: str | None = None,
    text: str | None = None,
    document: str | None = None,
    start: str | None = None,
    end: str | None = None,
    page: str | None = None,
    tokens: str | None = None,
    stages: Mapping[str, str] | None = None,
    timeout: float | None = 30.0,
    retry_errors: bool = False,
    restart: bool = False,
    columns: ColumnsInput | None = None,
    workers: int | None = None,
    output: PathText | None = None,
) -> LiveRun:
    """Ask a retriever every question and return what came back as a run."""

def audit(
    ground_truth: GroundTruthInput,
    *,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    corpus: CorpusInput | None = None,
    traces: QuestionsInput | None = None,
    match: str | None = None,
) -> Health:
    """Look for everything that is wrong with a ground truth, by itself and against a corpus."""

def first_questions(
    folder: PathText,
    *,
    questions: int = 120,
    k: int | None = None,
    seed: int = 0,
    sources: list[str] | None = None,
    endpoint: str | None = None,
    model: str | None = None,
    key_env: str | None = None,
    cache: PathText | None = None,
    agree: Callable[[int, int], object] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FirstQuestions:
    """Make questions from a folder of documents, and measure what word matching finds."""

def labels_check(
    questions: PathText,
    *,
    answers: Mapping[str, str] | None = None,
    most: int = 30,
    seed: int = 0,
    drop: bool = False,
) -> CheckedQuestions:
    """Draw made questions at random, and note whether they are fit, in their own file."""

def compare(
    systems: SystemsInput = (),
    ground_truth: GroundTruthInput | None = None,
    *,
    metrics: MetricsInput | None = None,
    k: int | Sequence[int] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    weight_by: str | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    baseline: str | None = None,
    anyway: bool = False,
    primary: str | None = None,
) -> Comparison:
    """Compare systems on the same queries: is the difference more than noise?"""

def diff(
    old: SystemInput,
    new: SystemInput,
    *,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    k: int = 10,
    ground_truth: GroundTruthInput | None = None,
    store: PathText | None = None,
) -> Diff:
    """Compare the first k results of two runs; no ground truth is needed."""

def confirm(
    old: RunInput,
    new: RunInput,
    *,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    sealed: PathText | None = None,
    metric: str = "recall@10",
    ledger: PathText | None = None,
) -> Confirmation:
    """Ask the sealed queries one thing: is ``new`` better than ``old``?"""

def convert(
    data: DataInput | None = None,
    output: PathText = "",
    *,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    to: str | None = None,
    form: str | None = None,
) -> Conversion:
    """Write a ground truth, a run or both in another format."""

def resolve(
    ground_truth: GroundTruthInput,
    corpus: CorpusInput,
    *,
    columns: ColumnsInput | None = None,
) -> Resolution:
    """Find the document, start and end of every quote of a ground truth."""

def diagnose(
    data: DataInput | None = None,
    *,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    k: int | None = None,
    corpus: CorpusInput | None = None,
    candidates: RunInput | None = None,
    price: float | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
) -> Diagnosis:
    """Try every known cure on the recorded run, and say where each target was lost."""

def calls(
    data: DataInput | None = None,
    *,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    k: int | None = None,
) -> CallTable:
    """What each further call of a retriever adds: recall after it, and its results."""

def corrected(
    data: DataInput | None = None,
    *,
    metrics: MetricsInput | None = None,
    k: int | Sequence[int] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    weight_by: str | None = None,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    people: GroundTruthInput | None,
    sampled: str | None = None,
) -> CorrectedScores:
    """Metrics by labels of a machine, corrected by those of people on a sample of the queries."""

def evaluate(
    data: DataInput | None = None,
    *,
    metrics: MetricsInput | None = None,
    k: int | Sequence[int] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    weight_by: str | None = None,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
) -> Scores:
    """Score a run against a ground truth, query by query."""

def levels(
    data: DataInput | None = None,
    *,
    metrics: MetricsInput | None = None,
    k: int | Sequence[int] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    weight_by: str | None = None,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    at: str | Collection[str] = "all",
) -> Levels:
    """Score a run at several levels: "all", or a list such as "evidence,document"."""

def read(
    data: DataInput | None = None,
    *,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    keep: bool = True,
) -> Matched:
    """Read a ground truth and a run and match them, once for everything that is asked later."""

def fuse(
    lanes: PathText | SystemsInput = (),
    ground_truth: GroundTruthInput | None = None,
    *,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    metrics: MetricsInput | None = None,
    k: int | Sequence[int] | None = None,
    primary: str | None = None,
    today: SystemInput | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
) -> Fusion:
    """Find the best fusion of recorded lanes, and what its gain will be on new queries."""

def gate(
    data: DataInput | None = None,
    *,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    require: str | Collection[str] = (),
    baseline: PathText | Scores | None = None,
    by: str | Collection[str] = (),
    primary: str | None = None,
    allow: float = 0.05,
    only_shown: bool = False,
    must: str | Collection[str] = (),
    accept: str | None = None,
    move_up: bool = False,
    confidence: float = 0.95,
    cluster: str | None = None,
    weight_by: str | None = None,
    anyway: bool = False,
    metrics: MetricsInput | None = None,
    k: int | Sequence[int] | None = None,
    now: datetime | None = None,
) -> Verdict:
    """Check a result against conditions, and against a baseline."""

def gate_save(
    data: DataInput | None = None,
    *,
    metrics: MetricsInput | None = None,
    k: int | Sequence[int] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    weight_by: str | None = None,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    to: PathText,
    name: str | None = None,
    now: datetime | None = None,
) -> Baseline:
    """Measure, and write the result with a name and the date to a JSON file."""

def grid(
    config: PathText | None = None,
    *,
    retry_errors: bool = False,
    restart: bool = False,
    watch: Callable[[AnswerCounts, int], None] | None = None,
) -> Grid:
    """Ask every combination of a grid file every question, and compare them all."""

def grow(
    data: DataInput | None = None,
    *,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    times: float | Sequence[float] | None = None,
    to: int | Sequence[int] | None = None,
    metrics: str | Collection[str] | None = None,
    k: int | Sequence[int] | None = None,
    by: Sequence[str] = (),
    confidence: float = 0.95,
    cluster: str | None = None,
    weight_by: str | None = None,
) -> Growth:
    """How much is found when the corpus grows, or shrinks, from one recorded run."""

def history(
    name: str | None = None,
    *,
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    now: datetime | None = None,
    last: int | None = 20,
    metrics: str | Collection[str] | None = None,
    store: PathText | None = None,
) -> History:
    """What was measured when, on which commit, how good; newest first."""

def history_alarm(
    name: str,
    *,
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    now: datetime | None = None,
    metrics: str | Collection[str] | None = None,
    primary: str | None = None,
    allow: float = 0.02,
    every: str | None = None,
    last: int | None = None,
    store: PathText | None = None,
) -> Alarm:
    """Have the evaluations of a name got worse? Their lines over time, the reference, the verdict."""

def history_show(
    reference: str,
    *,
    store: PathText | None = None,
) -> Shown:
    """The whole result of a saved evaluation, exactly as it was."""

def history_trend(
    name: str,
    *,
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    now: datetime | None = None,
    metrics: str | Collection[str] | None = None,
    primary: str | None = None,
    allow: float = 0.02,
    every: str | None = None,
    last: int | None = None,
    store: PathText | None = None,
) -> Alarm:
    """The same answer as ``history_alarm``: the lines of some metrics over time, and the verdict."""

def save(
    scores: Scores,
    name: str,
    *,
    tags: Mapping[str, str] | None = None,
    store: PathText | None = None,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    results: bool = True,
    corpus: CorpusInput | None = None,
    now: datetime | None = None,
) -> Evaluation:
    """Keep scores under a name, in one transaction, with the git commit they were made on."""

def metrics(
    name: str | None = None,
    *,
    all: bool = False,
) -> MetricList:
    """The usual metrics as plain values, all there are, or the one that a name stands for."""

def explain(
    question: str,
    *,
    columns: ColumnsInput | None = None,
    params: Mapping[str, Any] | None = None,
    request: Any = None,
    headers: Mapping[str, str] | None = None,
    results: str | None = None,
    id: str | None = None,
    score: str | None = None,
    text: str | None = None,
    document: str | None = None,
    start: str | None = None,
    end: str | None = None,
    page: str | None = None,
    tokens: str | None = None,
    stages: Mapping[str, str] | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ground_truth: GroundTruthInput | None = None,
    k: int = 10,
    corpus: CorpusInput | None = None,
    match: str | None = None,
    map_ids: str | None = None,
    timeout: float | None = 30.0,
    store: PathText | None = None,
) -> Explanation:
    """One question: what comes back for it, and why targets are not among it."""

def misses(
    data: DataInput | None = None,
    *,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    k: int = 10,
    corpus: CorpusInput | None = None,
    candidates: RunInput | None = None,
    exact: RunInput | None = None,
    worse_than: RunInput | Scores | None = None,
) -> Misses:
    """One reason for each piece of ground truth that is not in the first k results."""

def plan(
    pilot: SystemsInput = (),
    ground_truth: GroundTruthInput | None = None,
    *,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    difference: float,
    power: float = 0.8,
    primary: str | None = None,
    metrics: MetricsInput | None = None,
    k: int | Sequence[int] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
) -> QueryPlan:
    """How many queries show a ``difference``."""

def report(
    data: DataInput | None = None,
    *,
    name: str | None = None,
    metrics: MetricsInput | None = None,
    k: int | Sequence[int] | None = None,
    corpus: CorpusInput | None = None,
    by: Collection[str] | None = None,
    price: float | None = None,
    cluster: str | None = None,
    confidence: float = 0.95,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
) -> Report:
    """Measure, sweep, diagnose and explain one retriever, as a page."""

def seal(
    ground_truth: GroundTruthInput,
    *,
    share: float = 0.4,
    cluster: str | None = None,
    looks: int = 5,
    output: PathText | None = None,
    columns: ColumnsInput | None = None,
) -> Sealed:
    """Set queries aside: an open part to tune on, and a sealed part to confirm by."""

def slices(
    scores: PathText | Scores,
    by: str | Collection[str],
    *,
    metrics: str | Collection[str] | None = None,
    primary: str | None = None,
) -> Slices:
    """Each slice of the queries with its mean and interval, tested against the rest."""

def floor(
    data: DataInput | None = None,
    *,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    k: int = 10,
    keep: float = 0.95,
    confidence: float = 0.95,
    cluster: str | None = None,
) -> Floor:
    """The score below which results are better not returned, and what each floor would cost."""

def sweep(
    data: DataInput | None = None,
    *,
    ground_truth: GroundTruthInput | None = None,
    run: RunInput | None = None,
    retriever: RetrieverInput | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: Callable[[AnswerCounts, int], None] | None = None,
    columns: ColumnsInput | None = None,
    memory: str | int | None = None,
    where: Mapping[str, str] | None = None,
    min_score: float | None = None,
    rel: float | None = None,
    match: str | None = None,
    level: str | None = None,
    map_ids: str | None = None,
    like: str | None = None,
    missing: Literal["zero", "exclude", "error"] | None = None,
    unanswerable: Literal["zero", "exclude", "error"] | None = None,
    judged: str | None = None,
    duplicates: Literal["first", "error"] | None = None,
    unknown: Literal["ignore", "error"] | None = None,
    errors: Literal["zero", "exclude", "error"] | None = None,
    ties: Literal["trec", "input", "error"] | None = None,
    nothing_in_common: Literal["error", "zero"] | None = None,
    calls: Literal["concat", "last"] | None = None,
    store: PathText | None = None,
    corpus_size: int | None = None,
    fingerprints: bool = True,
    metrics: str | Collection[str] | None = None,
    k: int | Sequence[int] | None = None,
    margin: float = 0.05,
    price: float | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
) -> Sweep:
    """Measure at every k (1 to the longest list, or the ``k`` given) and advise one."""
