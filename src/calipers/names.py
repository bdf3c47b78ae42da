"""What other people call the fields Calipers knows: the one table, for every reader.

Each tuple begins with the usual name; the first name that is there counts. A name can mean two
things in two places (``doc_id`` is the item of a judgement and the document of a chunk), so the
names are listed for three kinds of rows: a returned document, a chunk of a corpus, and a row of
a table with one result or judgement each. What means the same everywhere is written once.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache


def words_in(text: str) -> tuple[str, ...]:
    """The words of a list that is written as a text.

    >>> words_in("frage anfrage")
    ('frage', 'anfrage')
    """
    return tuple(text.split())


ID = ("id", "_id", "id_")
TEXT = ("text", "page_content", "content")
"""The names that objects of the usual libraries have; a table may use further ones."""

_TEXTS = (*TEXT, "contents", "chunk", "passage", "body", "chunk_text", "chunk_content", "snippet")
_DOCUMENTS = words_in(
    "document document_id doc_id docid doc ref_doc_id source_id source path file_path file_name "
    "file filename url corpus_id"
)
_STARTS = ("start", "start_index", "start_idx", "start_char", "start_char_idx", "split_idx_start")
_VERSIONS = words_in("version revision updated_at last_modified last_modified_date date")
_ENDS = ("end", "end_index", "end_idx", "end_char", "end_char_idx")

RESULT: Mapping[str, tuple[str, ...]] = {
    "id": (*ID, "chunk_id", "node_id", "point_id", "uuid", "key", "pk", "objectID"),
    "score": words_in(
        "score _score similarity relevance_score _relevance_score relevance distance _distance"
    ),
    "text": _TEXTS,
    "document": _DOCUMENTS,
    "start": _STARTS,
    "end": _ENDS,
    "tokens": ("tokens", "n_tokens", "token_count"),
    "page": ("page_label", "page_number", "page", "page_no"),
    "version": _VERSIONS,
}
"""A document as a retriever returns it: an object of a library, or a dictionary."""
METADATA = ("metadata", "meta", "payload", "_source", "entity", "properties", "fields")
"""Where such a document keeps what its maker noted about it."""
SCORE_IN_METADATA = ("score", "relevance_score")
"""Rerankers write the second; any further name may be one of the document itself."""
WRAPPED = ("node", "document", "doc", "chunk", "item")
"""Fields that may hold the document itself, beside its score."""
LISTS = words_in(
    "retrieved results hits documents matches items nodes points chunks data docs "
    "retrieved_contexts source_documents contexts context passages result objects children"
)
"""Keys under which an answer may keep its list of documents."""
HOLDERS = ("response", "root")
"""Keys under which such a list may stand one step deeper, beside those above."""
EXPECTED = words_in(
    "ground_truth expected expected_ids relevant relevant_ids reference_ids "
    "expected_retrieved_context reference_contexts expected_documents documents contexts ids"
)
"""Keys under which an evaluation platform may keep what should be found, the surest first."""
ATTRIBUTES = words_in("documents points nodes source_nodes matches results hits objects")
"""The same for answers that are objects."""
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("ids",),
    "score": ("scores", "distances"),
    "text": ("texts", "documents"),
    "metadata": ("metadatas",),
}
"""An answer given column by column."""

CHUNK: Mapping[str, tuple[str, ...]] = {
    "text": _TEXTS,
    "id": (
        *ID,
        *words_in("chunk_id node_id passage_id pid item item_id doc_id docid docno title"),
    ),
    "document": _DOCUMENTS,
    "start": _STARTS,
    "end": _ENDS,
    "version": _VERSIONS,
    "title": words_in("title heading headline page_title document_title section_title"),
}
"""A chunk or document of a corpus. A ``doc_id`` is its own id where there is no other, and so is a
title, which is none then."""
START_AND_END = "start_end_idx"
"""A column that holds start and end together; tools disagree about its end, which is not used."""

_FOREIGN_QUERY = words_in(
    "frage suchanfrage anfrage nutzerfrage requete pregunta consulta domanda quesito vraag "
    "zoekvraag zoekopdracht pergunta pytanie zapytanie"
)
"""The question in German, French, Spanish, Italian, Dutch, Portuguese and Polish."""
_FOREIGN_ITEM = words_in(
    "fundstelle fundstellen textstelle textstellen abschnitt abschnitte extrait extraits fragmento "
    "fragmentos frammento frammenti fragment fragmenten trecho trechos fragmenty"
)
_FOREIGN_GRADE = words_in(
    "relevanz relevanzgrad bewertung gewichtung gewicht wertung ist_relevant pertinence pertinent "
    "poids jugement est_pertinent relevancia relevante es_relevante peso valoracion calificacion "
    "pertinencia rilevanza rilevante pertinenza valutazione giudizio voto relevantie beoordeling "
    "waardering avaliacao e_relevante trafnosc istotnosc relewantnosc ocena waga przydatnosc"
)
"""What a judge wrote, in the same languages."""

QUERY_ID = (
    "query_id",
    "qid",
    "q_id",
    "question_id",
    *(f"{word}_id" for word in _FOREIGN_QUERY),
    *(f"id_{word}" for word in _FOREIGN_QUERY),
)
QUERY_TEXT = (
    *words_in("query_text query question questions user_query search_query prompt"),
    *_FOREIGN_QUERY,
)
ROW_ID = ("id", "_id")
"""Names of ids that are those of the questions only where every question has one of its own."""
QUESTION_IN_INPUT = ("query", "input", "question", "str_or_query_bundle", "query_str")
"""Where the input of a program, as a trace keeps it, may hold the question."""

NEGATIVES = (
    *words_in("negatives negative_ids hard_negatives hard_negative_ids distractors"),
    *words_in("negative_passages negative_ctxs hard_negative_ctxs negative_docs negative_chunks"),
)
"""Fields that list what was judged and is not relevant."""
PARALLEL = words_in(
    "grades labels relevance relevances relevance_labels relevance_grades gains judgements "
    "judgments ratings"
)
"""Fields that may list a grade for each of the targets, in their order."""
_WANTED = words_in("expected relevant gold golden target positive correct ground_truth")
"""Words with which people say that something should be found."""
_THINGS = ("item", "chunk", "doc", "document", "passage", "node", "source")


def _combined(first: tuple[str, ...], second: Iterable[str]) -> tuple[str, ...]:
    words = list(second)
    return tuple(f"{one}_{two}" for one in first for two in words)


WANTED_IDS = (
    *_combined(_WANTED, ("id", "ids")),
    *_combined(_WANTED, (f"{thing}{ids}" for thing in _THINGS for ids in ("_id", "_ids", "s", ""))),
    *words_in("relevant gold expected targets relevance_ids positives positive_ctxs"),
    *words_in("erwartet erwartete attendu attendus esperado esperados atteso attesi verwacht"),
)
"""Names of columns with ids that should be found: they say that a table is a ground truth."""
RETURNED_IDS = (
    *words_in("retrieved_id retrieved_ids returned_ids result_ids results hits search_results"),
    "ctxs",
    *words_in("treffer ergebnisse resultats resultados risultati gevonden resultaten wyniki"),
    *_combined(("retrieved",), (f"{t}{ids}" for t in _THINGS for ids in ("_id", "_ids", "s"))),
)
"""Names of columns with ids that were found, all of a question in one cell."""
JUDGED = ("ratings", "judgments", "judgements")
"""Fields of a record with objects or a mapping that say what should be found, and how much."""
QUOTE = (
    *words_in("quote quotes evidence answer_text reference_text supporting_text"),
    *_combined(_WANTED, ("text", "texts", "quote", "quotes", "passage", "evidence")),
)
WEAK_QUOTE = words_in(
    "reference references reference_context answer answers expected_answer reference_answer "
    "expected gold_answer correct_answer context passage text"
)
"""Names of texts that are quotes only where a table has nothing else that should be found."""
ROW: Mapping[str, tuple[str, ...]] = {
    "query": ("query", *QUERY_ID, *QUERY_TEXT[2:], "query_text", "input"),
    "item": (
        *words_in(
            "item item_id doc_id docid docno chunk_id corpus_id pid passage_id node_id items "
            "item_ids doc_ids docids chunk_ids passage_ids node_ids"
        ),
        *WANTED_IDS,
        "ground_truth",
        "chunk",
        "chunks",
        *_FOREIGN_ITEM,
    ),
    "quote": QUOTE,
    "score": ("score", "similarity", "punktzahl", "ahnlichkeit", "puntuacion", "punteggio"),
    "rank": (
        "rank",
        "position",
        "doc_position",
        "rang",
        "rango",
        "posicion",
        "posizione",
        "pozycja",
    ),
    "grade": (
        *words_in(
            "grade relevance rel label judgement judgment rating relevant is_relevant relevancy "
            "relevance_grade relevance_label relevance_level weight gain"
        ),
        *_FOREIGN_GRADE,
    ),
    "version": _VERSIONS,
    "retrieved": RETURNED_IDS,
}
"""One result or one judgement of a table; other columns go by our own names alone."""
DISTANCES = ("distance", "dist", "l2_distance", "cosine_distance", "vector_distance")
"""Columns of a table of results in which less is better."""
SYSTEMS = frozenset(
    words_in(
        "method system retriever retriever_name model engine pipeline config configuration variant "
        "strategy approach experiment snapshot_name run run_id run_name tag algorithm setup "
        "methode verfahren"
    )
)
"""Columns that name what returned a result: two of them for one query are two rankings."""
EMPTY = frozenset(words_in("n/a #n/a none nan null nil - – —"))
"""What people write where nothing should be found."""
HARMLESS = frozenset(
    words_in(
        "author autor auteur editor annotator annotated judge judged reviewer rater labeler "
        "labeller bearbeiter user email comment comments kommentar note notes notiz remark remarks "
        "bemerkung reason explanation rationale title titel titre titolo titulo heading section "
        "abschnitt chapter kapitel topic thema category kategorie categoria language lang sprache "
        "url link href source file filename path metadata meta created updated timestamp "
        "department team domain product answer antwort response reponse respuesta summary "
        "description intent text snippet passage content name"
    )
)
"""Words in names of columns that say nothing about relevance or order, whatever they hold."""
BEIR_JUDGEMENTS = frozenset({"query-id", "corpus-id", "score"})
"""The header under which a score is a grade."""
RANX = frozenset({"q_id", "doc_id", "score"})
"""The header under which ranx writes judgements and runs alike."""


def lowered(names: Iterable[str]) -> dict[str, str]:
    """Names without capitals and blanks around them, each with how it is spelled.

    >>> lowered(["Text", " id "])
    {'id': ' id ', 'text': 'Text'}
    """
    return {name.strip().lower(): name for name in reversed(list(names))}


@lru_cache(maxsize=1024)
def plain_name(name: str) -> str:
    """The name of a column as the tables here spell it.

    >>> plain_name(" Chunk ID "), plain_name("query-id"), plain_name("expectedChunks")
    ('chunk_id', 'query_id', 'expected_chunks')
    >>> plain_name("Relevanz (0-3)"), plain_name("Avaliação"), plain_name("Trafność")
    ('relevanz', 'avaliacao', 'trafnosc')
    """
    bare = re.sub(r"(?<=\w)\s*[(\[][^)\]]*[)\]]\s*$", "", name.strip())
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z]|[A-Z]+$)", "_", bare)
    plain = re.sub(r"[\s.\-_/]+", "_", parted.lower()).strip("_:?#")
    return plain if plain.isascii() else unaccented(plain)


def unaccented(text: str) -> str:
    """Small letters without their accents.

    >>> unaccented("sí"), unaccented("fałsz")
    ('si', 'falsz')
    """
    parted = unicodedata.normalize("NFKD", text.lower().replace("ł", "l").replace("ß", "ss"))
    return "".join(one for one in parted if not unicodedata.combining(one))


def possible_meaning(name: str) -> str | None:
    """What a column of an unknown name could be, by the words in it.

    >>> possible_meaning("right_chunks"), possible_meaning("Thema"), possible_meaning("my_score")
    ('item', None, 'score')
    """
    words = set(plain_name(name).split("_"))
    return next((field for field, known in _HINTS.items() if words & known), None)


_HINTS: Mapping[str, frozenset[str]] = {
    "query": frozenset({"query", "question", "questions", "prompt", "ask", "q"}),
    "retrieved": frozenset(
        words_in("retrieved returned results result hits found came got gave output outputs")
    ),
    "quote": frozenset({"quote", "text", "answer", "evidence", "reference", "sentence", "snippet"}),
    "item": frozenset(
        words_in(
            "id ids item items chunk chunks doc docs document documents passage passages node "
            "nodes expected relevant gold correct target targets truth should wanted where"
        )
    ),
    "grade": frozenset({"grade", "relevance", "rel", "label", "judgement", "rating"}),
    "score": frozenset({"score", "similarity"}),
    "rank": frozenset({"rank", "position"}),
}
"""Words in names of columns, with what such a column could be; the first that fits counts."""
