"""Every form that Calipers brings; a new one is listed here."""

from calipers.io.format import Format
from calipers.io.formats.autorag import AutoRag
from calipers.io.formats.beir import Beir, BeirJudgements
from calipers.io.formats.chunking_evaluation import ChunkingEvaluation
from calipers.io.formats.deepeval import DeepEval
from calipers.io.formats.langfuse import Langfuse
from calipers.io.formats.langsmith import LangSmith, LangSmithExamples
from calipers.io.formats.llama_index import LabelledRag, LlamaIndex
from calipers.io.formats.mapping import MappingFormat
from calipers.io.formats.marco import MarcoRun, ThreeColumns
from calipers.io.formats.open_rag_eval import OpenRagEval
from calipers.io.formats.openinference import OpenInference, Otlp
from calipers.io.formats.opensearch import OpenSearchJudgements
from calipers.io.formats.ours import Ours, PlainRecords
from calipers.io.formats.quepid import QuepidBook, QuepidExport, QuepidRatings
from calipers.io.formats.ragas import OldRagas, Ragas, RagasTestSet
from calipers.io.formats.ragchecker import RagChecker
from calipers.io.formats.rank_eval import RankEval, RankEvalHits, RankEvalRatings
from calipers.io.formats.rre import Rre
from calipers.io.formats.table import LongTable
from calipers.io.formats.trec import TrecJudgements, TrecRun
from calipers.io.formats.trulens import TruLens

BUILT_IN: tuple[type[Format], ...] = (
    Ours,
    Ragas,
    OldRagas,
    RagasTestSet,
    DeepEval,
    TruLens,
    RagChecker,
    QuepidBook,
    QuepidExport,
    QuepidRatings,
    AutoRag,
    ChunkingEvaluation,
    OpenRagEval,
    OpenInference,
    LangSmith,
    LangSmithExamples,
    Langfuse,
    LlamaIndex,
    LabelledRag,
    Rre,
    RankEval,
    RankEvalHits,
    RankEvalRatings,
    OpenSearchJudgements,
    Otlp,
    Beir,
    BeirJudgements,
    TrecRun,
    TrecJudgements,
    MarcoRun,
    ThreeColumns,
    LongTable,
    PlainRecords,
    MappingFormat,
)
"""In the order in which they are listed; a fallback is tried in this order too."""
