"""Files of RAG tools, declared by their fields: a question, and lists of texts, ids and scores.

ragas, deepeval, LlamaIndex, AutoRAG, chunking_evaluation, HotpotQA, Giskard and Quepid books. A
format that needs more than its fields has a few lines of its own.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, get_args

import msgspec
import polars as pl

from calipers.errors import InvalidInput, Unclear
from calipers.io.files.probe import Probe
from calipers.io.format import EachRow, PathPlace, RowFormat, Rows, WholeFormat
from calipers.io.records.documents import is_id
from calipers.io.records.fields import first_records
from calipers.io.records.layout import with_open_texts
from calipers.io.records.mapped_parts import parts_by_query
from calipers.io.records.schema import At, Id, PlainRecord
from calipers.io.tables.cells import decoded_text
from calipers.io.tables.scan import explained
from calipers.io.tables.usual_names import is_long
from calipers.names import ROW, plain_name, words_in

Texts = list[str] | None
Ids = list[Id] | None
Scores = list[float] | None
Pair = tuple[str | None, Id | None]
Entries = Sequence[Id | PlainRecord] | None
"""Results or targets: ids, or the fields of each as our JSON has them."""
RAGAS_ALONE = frozenset(
    words_in(
        "user_input retrieved_contexts retrieved_context_ids reference_contexts "
        "reference_context_ids"
    )
)
AUTORAG = ("retrieved_contents", "retrieved_ids", "retrieve_scores")


@dataclass(eq=False)
class Tool(EachRow):
    """A format with one record per row, declared by its fields."""

    name: str
    title: str
    example: str
    query: str = "question"
    ident: str = ""
    results: tuple[str, ...] = ()
    """The fields with the texts, ids and scores of the results, if there are any."""
    truth: tuple[str, ...] = ()
    """The fields with the texts and ids of the targets."""
    tag: str = ""
    typed: Mapping[str, object] = field(default_factory=dict)
    """Further fields, each with its type; one that may be None may be absent."""
    known_by: tuple[Set[str], ...] = ()
    knows: Callable[[frozenset[str]], bool] | None = None
    """How its rows are recognised, if the names alone are not enough."""
    no_truth: str = ""
    results_field: str = ""
    truth_field: str = ""
    is_loose: bool = False
    """Whether exports of other tools have the same names for other things."""

    def __post_init__(self) -> None:
        kinds: dict[str, object] = {
            self.query: str,
            self.ident: Id | None,
            self.tag: str | None,
        }
        kinds |= dict(zip(self.results, (Texts, Ids, Scores), strict=False))
        kinds |= dict(zip(self.truth, (Texts, Ids), strict=False))
        kinds = {name: kind for name, kind in (kinds | {**self.typed}).items() if name}
        fields = (
            (n, kind, *((None,) if NoneType in get_args(kind) else ()))
            for n, kind in kinds.items()
        )
        self.row = msgspec.defstruct(f"{type(self).__name__}Row", fields, kw_only=True)
        self.kept = frozenset(kinds)
        self.results_field = self.results_field or next(iter(self.results), "")
        self.truth_field = self.truth_field or next(iter(self.truth), "")

    def recognise(self, keys: frozenset[str]) -> bool:
        """Whether these are the keys of the format's rows."""
        return self.knows(keys) if self.knows is not None else super().recognise(keys)

    def detect(self, probe: Probe) -> bool:
        """Not a table that asks under another usual name: it is one as people write them."""
        if not super().detect(probe):
            return False
        columns = frozenset[str]() if probe.table is None else probe.table.columns
        return probe.table is None or self.query in columns or not is_long(columns)

    def is_of_others(self, probe: Probe) -> bool:
        """Whether its records ask under a usual name, or have our parts and none of the tool."""
        if probe.table is not None or probe.columns_said.named:
            return False
        every = frozenset[str]().union(*probe.row_keys.values())
        is_one = probe.look is not None and probe.look.shape == "object"
        # One object by itself would be taken for a mapping of queries.
        if self.query not in every and is_long(every) and not is_one:
            return True
        parts = {*self.results, *self.truth}
        return bool(every & {"retrieved", "ground_truth"}) and not every & parts

    def yields(self, probe: Probe) -> bool:
        """Whether its rows ask under another name than the tool, or say what is relevant."""
        every = frozenset[str]().union(*probe.row_keys.values())
        words = {word for key in every for word in plain_name(key).split("_")}
        return self.query not in every or (self.is_loose and bool(words & _RELEVANT))

    def record(self, row: object, at: At) -> PlainRecord:
        """A row as a record."""
        return {
            "query": getattr(row, self.query),
            "id": getattr(row, self.ident) if self.ident else None,
            "retrieved": self.retrieved(row, self.results, at),
            "ground_truth": self.targets(row, at),
            "tags": {self.tag: getattr(row, self.tag)} if self.tag else None,
        }

    def retrieved(self, row: object, names: Sequence[str], at: At) -> Entries:
        """The results under these fields, or None."""
        texts, ids, scores = (
            getattr(row, one) if one else None for one in (*names, "", "", "")[:3]
        )
        pairs = side_by_side(texts, ids, at, names)
        if pairs is None:
            return None
        scores = scores or [None] * len(pairs)
        if len(scores) != len(pairs):
            raise InvalidInput(
                f"There are {len(scores)} scores for {len(pairs)} results at {at()}.{names[2]}; "
                "give one for each."
            )
        return [
            {"id": item, "score": score, "text": text}
            for (text, item), score in zip(pairs, scores, strict=True)
        ]

    def targets(self, row: object, at: At) -> Entries:
        """The targets, or None if the row has no such fields."""
        texts, ids = (getattr(row, one, None) for one in (*self.truth, "", "")[:2])
        pairs = side_by_side(texts, ids, at, self.truth)
        if pairs is None:
            return None
        return [{"id": item, "quote": text} for text, item in dict.fromkeys(pairs)]


def side_by_side(
    texts: Sequence[str] | None, ids: Sequence[Id] | None, at: At, names: Sequence[str]
) -> list[Pair] | None:
    """Pairs of text and id; None if both lists are missing."""
    if texts is None and ids is None:
        return None
    if texts is not None and ids is not None and len(texts) != len(ids):
        raise InvalidInput(
            f"Two lists that belong together differ in length at {at()}: {len(texts)} in "
            f"{names[0]!r} and {len(ids)} in {names[1]!r}; give one id for each text, or leave "
            "one of the lists out."
        )
    nothing = [None] * max(len(texts or ()), len(ids or ()))
    return list(zip(texts or nothing, ids or nothing, strict=True))


def is_labelled(keys: frozenset[str]) -> bool:
    """``reference_contexts`` beside ``query``, which ragas calls ``user_input``."""
    own = keys & {"query", "query_by", "reference_answer_by"}
    return "reference_contexts" in keys and bool(own) and "user_input" not in keys


def is_old_ragas(keys: frozenset[str]) -> bool:
    """Whether a sample with these keys is of ragas before 0.2; ``ground_truth`` is an answer."""
    beside = {"question", "answer", "ground_truths", "evolution_type"}
    return (
        "contexts" in keys and bool(keys & beside) and not keys & {"query", "retrieved"}
    )


_RELEVANT = frozenset({"relevant", "expected", "gold", "golden", "reference"})
"""Words in names of fields with targets, which samples of old ragas have not."""


class Ragas(Tool):
    """Samples of ragas from 0.2 on: contexts as texts, ids, or both."""

    def targets(self, row: Any, at: At) -> Entries:
        """The references; if texts and ids cannot be paired, the kind that the results have."""
        texts = row.reference_contexts
        ids = row.reference_context_ids
        if texts is not None and ids is not None and len(texts) != len(ids):
            by_id = row.retrieved_context_ids is not None
            setattr(row, self.truth[0] if by_id else self.truth[1], None)
        return super().targets(row, at)


class DeepEval(Tool):
    """Goldens and test cases; in CSV and JSON lines, lists are texts joined by ``|``."""

    def detect(self, probe: Probe) -> bool:
        """Not where the context lists documents, as a chain of LangChain returns them."""
        if not super().detect(probe):
            return False
        records = first_records(probe).values()
        return not any(_holds_objects(record.get("context")) for record in records)

    def yields(self, probe: Probe) -> bool:
        """Whether the input is an object, or an output is a list: items of a platform."""
        records: list[Mapping[str, object]] = [*first_records(probe).values()]
        if probe.table is not None and probe.is_text:
            with explained(probe.table.name, probe.table.fault):
                records = [*probe.table.rows(pl.all(), most=1).iter_rows(named=True)]
        for record in map(with_open_texts, records):
            outputs = [record.get(name) for names in self.known_by for name in names]
            if "input" in record and not isinstance(record["input"], str):
                return True
            if any(isinstance(value, list | Mapping) for value in outputs[:4]):
                return True
        return False

    def record(self, row: Any, at: At) -> PlainRecord:
        """Convert a row to a record; ``context`` holds the targets."""
        del at
        found = (
            row.retrievalContext
            if row.retrieval_context is None
            else row.retrieval_context
        )
        truth: Entries = None
        if row.context is not None:
            truth = [{"quote": text} for text in _barred(row.context)]
        retrieved: Entries = None
        if found is not None:
            retrieved = [{"text": text} for text in _barred(found)]
        return {"query": row.input, "retrieved": retrieved, "ground_truth": truth}


def _holds_objects(context: object) -> bool:
    """Whether a context lists documents, as chains of LangChain return them, and no texts."""
    return isinstance(context, list) and any(isinstance(one, Mapping) for one in context)


def _barred(given: Sequence[str]) -> Sequence[str]:
    """The texts of a list, also if given as JSON, or joined by ``|``.

    >>> _barred("one|two"), _barred('["one|two"]')
    (['one', 'two'], ['one|two'])
    """
    if not isinstance(given, str):
        return list(given)
    if given.startswith("["):
        try:
            return msgspec.convert(decoded_text(given), list[str])
        except msgspec.ValidationError:
            pass  # a text that begins with a bracket, such as a footnote
    return given.split("|") if given else []


class CutReference(msgspec.Struct):
    """A passage and its place in the document, in characters."""

    content: str
    start_index: int
    end_index: int


class ChunkingEvaluation(Tool):
    """Questions with passages of a document, all of which are needed."""

    def targets(self, row: Any, at: At) -> Entries:
        """The passages."""
        del at
        return [
            {
                "quote": reference.content,
                "document": row.corpus_id,
                "start": reference.start_index,
                "end": reference.end_index,
            }
            for reference in row.references
        ]


class HotpotQa(Tool):
    """Questions whose supporting facts name sentences of articles; an article is one target."""

    def targets(self, row: Any, at: At) -> Entries:
        """The articles, by their titles."""
        facts = row.supporting_facts
        titles = (
            facts.get("title")
            if isinstance(facts, dict)
            else [title for title, _ in facts]
        )
        if titles is None:
            raise InvalidInput(
                f"The supporting facts name no article at {at()}.supporting_facts: no 'title'; a "
                f"record is {self.example}."
            )
        return list(dict.fromkeys(map(str, titles)))


class Giskard(Tool):
    """Questions whose reference names its documents, ``Document 3: …``, below one another."""

    def targets(self, row: Any, at: At) -> Entries:
        """The documents, as quotes."""
        del at
        parts = _GISKARD_DOCUMENT.split(row.reference_context)
        return [{"quote": part.strip()} for part in parts if part.strip()]


_GISKARD_DOCUMENT = re.compile(r"(?:^|\n\n)Document \S+: ")


class AutoRag(Tool):
    """AutoRAG's questions or results; alternatives of one target share a group."""

    def record(self, row: Any, at: At) -> PlainRecord:
        """Convert a row to a record; lexical and semantic lists are stages of the fused one."""
        record = dict(super().record(row, at))
        lists = {
            kind: self.retrieved(row, [f"{name}_{kind}" for name in self.results], at)
            for kind in ("lexical", "semantic")
        }
        kinds = {kind: one for kind, one in lists.items() if one is not None}
        if row.retrieved is not None:
            record["retrieved"] = [*row.retrieved]
        elif record["retrieved"] is None and len(kinds) > 1:
            raise Unclear(
                f"there are two lists of results at {at()}, one is measured at a time",
                *((("retrieved", f"retrieved_ids_{kind}"),) for kind in kinds),
            )
        elif record["retrieved"] is None and kinds:
            record["retrieved"] = next(iter(kinds.values()))
            kinds = {}
        record["stages"] = kinds or None
        return record

    def targets(self, row: Any, at: At) -> Entries:
        """The targets: a text is one target, a flat list holds alternatives, as in AutoRAG."""
        groups = row.retrieval_gt
        groups = [[groups]] if isinstance(groups, str) else groups
        if isinstance(groups, list) and all(map(is_id, groups)):
            groups = [groups]
        if not isinstance(groups, list) or not all(
            isinstance(group, list) and all(map(is_id, group)) for group in groups
        ):
            raise InvalidInput(
                f"The ground truth cannot be read at {at()}.retrieval_gt: found "
                f"{str(groups)[:60]}; it is a list of lists of ids."
            )
        return [
            {"id": item, "group": str(number) if len(group) > 1 else None}
            for number, group in enumerate(groups, start=1)
            for item in dict.fromkeys(map(str, group))
        ]


class QuestionsOverNodes(msgspec.Struct):
    """The dataset as LlamaIndex saves it."""

    queries: dict[str, str]
    relevant_docs: dict[str, list[Id]]
    corpus: dict[str, str] = {}


class LlamaIndex(WholeFormat):
    """A question set over nodes."""

    name = "llama_index"
    title = "a LlamaIndex question set"
    whole = QuestionsOverNodes
    example = (
        '{"queries": {"q": …}, "corpus": {"node": …}, "relevant_docs": {"q": ["node"]}}'
    )
    truth_field = "relevant_docs"
    known_by = ({"relevant_docs"},)

    def detect(self, probe: Probe) -> bool:
        """Whether a file is such a set, without results of its queries beside."""
        return super().detect(probe) and parts_by_query(probe) is None

    def records(
        self, whole: QuestionsOverNodes, place: PathPlace
    ) -> Iterator[tuple[str, PlainRecord]]:
        """Yield every query with its nodes; their texts are quotes."""
        unknown = next((q for q in whole.relevant_docs if q not in whole.queries), None)
        if unknown is not None:
            raise InvalidInput(
                f"A query has relevant nodes and no text at {place('$.relevant_docs')}: no "
                f"{unknown!r} in 'queries'; add it there."
            )
        for query, text in whole.queries.items():
            nodes = dict.fromkeys(map(str, whole.relevant_docs.get(query, ())))
            truth = [
                {"id": node, "quote": whole.corpus.get(node) or None} for node in nodes
            ]
            record = {"query": text, "id": query, "ground_truth": truth}
            yield place(f"$.queries[{query!r}]"), record


class Judgement(msgspec.Struct):
    """One annotator's rating of a pair."""

    rating: float | None = None
    unrateable: bool = False


class JudgedPair(msgspec.Struct):
    """One query with one document."""

    query_text: str
    doc_id: Id
    position: int | None = None
    judgements: list[Judgement] = []


class QuepidBook(RowFormat):
    """Judged pairs of query and document."""

    name = "quepid_book"
    title = "a Quepid book"
    row = JudgedPair
    example = (
        '{"query_text": …, "doc_id": …, "position": 1, "judgements": [{"rating": 2}]}'
    )
    results_field = "position"
    truth_field = "judgements"
    judges_results = True

    def recognise(self, keys: frozenset[str]) -> bool:
        """``query_text`` and ``doc_id``, or ``judgements``; with a grade it is a plain table."""
        if "judgements" in keys:
            return "query_text" in keys
        return {"query_text", "doc_id"} <= keys and keys.isdisjoint(
            (*ROW["grade"], "score")
        )

    def records(self, rows: Rows) -> Iterator[PlainRecord]:
        """Group pairs by query; several ratings of a pair become their mean, as in Quepid.

        The positions are a ranking only if every pair has one and no position occurs twice for a
        query: a book that pools several searches holds no single ranking.
        """
        pairs: dict[str, list[JudgedPair]] = {}
        for _, pair in rows:
            pairs.setdefault(pair.query_text, []).append(pair)
        places = [[pair.position for pair in group] for group in pairs.values()]
        ranked = all(
            None not in place and len(set(place)) == len(place) for place in places
        )
        for query, group in pairs.items():
            truth: list[PlainRecord] = []
            for pair in group:
                given = [
                    judgement.rating
                    for judgement in pair.judgements
                    if not judgement.unrateable
                ]
                rated = [one for one in given if one is not None]
                if rated:
                    grade = sum(rated) / len(rated)
                    truth.append({"id": pair.doc_id, "grade": grade})
            inorder = sorted(group, key=lambda pair: pair.position or 0)
            ranking = [pair.doc_id for pair in inorder] if ranked else None
            yield {"query": query, "retrieved": ranking, "ground_truth": truth}


FORMATS = (
    Ragas(
        "ragas",
        "ragas samples",
        '{"user_input": …, "retrieved_contexts": […], "reference_contexts": […]}',
        query="user_input",
        results=("retrieved_contexts", "retrieved_context_ids"),
        truth=("reference_contexts", "reference_context_ids"),
        knows=lambda keys: bool(keys & RAGAS_ALONE) and not is_labelled(keys),
    ),
    Tool(
        "ragas_old",
        "samples of ragas before 0.2",
        '{"question": …, "contexts": […]}',
        results=("contexts",),
        knows=lambda keys: is_old_ragas(keys) and "evolution_type" not in keys,
        is_loose=True,
        no_truth="'ground_truth' of ragas is an answer in words, not what should be found",
    ),
    Tool(
        "ragas_test_set",
        "a test set of ragas before 0.2",
        '{"question": …, "contexts": […], "evolution_type": …}',
        truth=("contexts",),
        tag="evolution_type",
        knows=lambda keys: is_old_ragas(keys) and "evolution_type" in keys,
    ),
    DeepEval(
        "deepeval",
        "deepeval goldens or test cases",
        '{"input": …, "context": […], "retrieval_context": […]}',
        query="input",
        typed={
            "context": Texts | str,
            "retrieval_context": Texts | str,
            "retrievalContext": Texts | str,
        },
        known_by=(
            *({f"{a}{b}"} for a in ("actual", "expected") for b in ("_output", "Output")),
            *({"retrieval_context"}, {"retrievalContext"}, {"input", "context"}),
        ),
        results_field="retrieval_context",
        truth_field="context",
    ),
    Tool(
        "llama_index_rag",
        "a LlamaIndex LabelledRagDataset",
        '{"examples": [{"query": …, "reference_contexts": […]}]}',
        query="query",
        truth=("reference_contexts",),
        knows=is_labelled,
    ),
    ChunkingEvaluation(
        "chunking_evaluation",
        "questions of chunking_evaluation",
        '{"question": …, "references": [{"content": …, "start_index": 0, "end_index": 9}], '
        '"corpus_id": …}',
        typed={"references": list[CutReference], "corpus_id": Id},
        known_by=({"question", "references"},),
        truth_field="references",
    ),
    HotpotQa(
        "hotpotqa",
        "questions of HotpotQA",
        '{"_id": …, "question": …, "supporting_facts": [["Title of the article", 0]]}',
        ident="_id",
        tag="type",
        typed={"supporting_facts": list[tuple[str, int]] | dict[str, list[Any]]},
        known_by=({"supporting_facts"},),
        truth_field="supporting_facts",
    ),
    Giskard(
        "giskard",
        "a test set of Giskard",
        '{"question": …, "reference_context": "Document 3: …", "conversation_history": []}',
        ident="id",
        typed={"reference_context": str},
        known_by=({"reference_context", "conversation_history"},),
        truth_field="reference_context",
    ),
    AutoRag(
        "autorag",
        "AutoRAG questions",
        '{"qid": …, "query": …, "retrieval_gt": [["id", "or another"], ["and this"]]}',
        query="query",
        ident="qid",
        results=AUTORAG,
        typed={
            "retrieval_gt": Any,  # a text, a list, or a list of lists
            "retrieved": Ids,  # the one that the user names as results
            **{
                f"{name}_{kind}": of
                for kind in ("lexical", "semantic")
                for name, of in zip(AUTORAG, (Texts, Ids, Scores), strict=True)
            },
        },
        known_by=({"retrieval_gt"},),
        truth_field="retrieval_gt",
    ),
)
