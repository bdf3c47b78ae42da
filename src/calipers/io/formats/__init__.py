"""The forms of other tools, one module each; a new form is written there and listed here."""

from calipers.io.formats import (
    autorag,
    chunking_evaluation,
    deepeval,
    llama_index,
    open_rag_eval,
    openinference,
    otlp,
    ours,
    quepid,
    ragas,
    ragas_old,
    ragchecker,
    rank_eval,
    rank_eval_response,
    rre,
    trulens,
)
from calipers.io.rows import RowFormat
from calipers.io.wholes import WholeFormat

ROWS: tuple[RowFormat, ...] = (
    ours.FORM,
    ragas.FORM,
    ragas_old.FORM,
    ragas_old.TEST_SET,
    deepeval.FORM,
    trulens.FORM,
    ragchecker.FORM,
    quepid.BOOK,
    quepid.RATINGS,
    autorag.FORM,
    chunking_evaluation.FORM,
    open_rag_eval.FORM,
    openinference.FORM,
)
"""Forms with one record per query (or per part of one), in JSON and in tables."""

WHOLES: tuple[WholeFormat, ...] = (
    llama_index.FORM,
    rre.FORM,
    rank_eval.FORM,
    rank_eval_response.HITS,
    rank_eval_response.RATINGS,
    otlp.FORM,
)
"""Forms that are one JSON object."""
