"""The names of Calipers' fields in other tools: one table for every reader.

Each tuple begins with the usual name; the first one present counts. A name can mean two
things in two places (``doc_id`` is the item of a judgement and the document of a chunk),
so the names are listed for three kinds of rows: a returned document, a chunk of a corpus,
and a row of a table with one result or judgement each. What means the same everywhere is
written once.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache


def words_in(text: str) -> tuple[str, ...]:
    """Split a text into words.

    >>> words_in("frage anfrage")
    ('frage', 'anfrage')
    """
    return tuple(text.split())


ID = ("id", "_id", "id_")
TEXT = ("text", "page_content", "content")
"""Names in objects of common libraries; a table may use others too."""

_TEXTS = (
    *TEXT,
    "contents",
    "chunk",
    "passage",
    "body",
    "chunk_text",
    "chunk_content",
    "snippet",
)
_DOCUMENTS = words_in(
    "document document_id doc_id docid doc ref_doc_id source_id source path file_path "
    "file_name file filename url corpus_id file_id source_uri uri"
)
_STARTS = (
    "start",
    "start_index",
    "start_idx",
    "start_char",
    "start_char_idx",
    "split_idx_start",
)
_ENDS = ("end", "end_index", "end_idx", "end_char", "end_char_idx")

RESULT: Mapping[str, tuple[str, ...]] = {
    "id": (
        *ID,
        *words_in("chunk_id node_id point_id uuid key pk objectID doc_uri datapoint_id"),
    ),
    "score": words_in(
        "score _score score_ @search.score similarity relevance_score _relevance_score "
        "relevance distance _distance"
    ),
    "text": _TEXTS,
    "document": _DOCUMENTS,
    "start": _STARTS,
    "end": _ENDS,
    "tokens": ("tokens", "n_tokens", "token_count"),
    "page": ("page_label", "page_number", "page", "page_no"),
    "title": ("title",),
}
"""Fields of a document that a retriever returns: an object of a library, or a
dictionary."""
METADATA = words_in("metadata meta payload _source entity properties fields _additional")
"""Where such a document keeps its metadata."""
SCORE_IN_METADATA = ("score", "relevance_score")
"""Rerankers write the second; any other name may be a field of the document itself."""
WRAPPED = words_in("node document doc chunk item base datapoint segment kwargs")
"""Fields that may hold the document itself, beside its score."""
LISTS = words_in(
    "retrieved results hits documents matches items nodes points chunks data docs "
    "retrieved_contexts source_documents contexts context passages result objects "
    "children neighbors nearest_neighbors source_nodes retrieved_context retrieval_context value "
    "search_results retrieval_results result_items rows records candidates"
)
"""Keys of the list of documents in a response."""
HOLDERS = ("response", "root")
"""Keys, besides those above, that may wrap such a list."""
EXPECTED = words_in(
    "ground_truth expected expected_ids relevant relevant_ids reference_ids "
    "expected_retrieved_context reference_contexts expected_documents documents contexts "
    "ids"
)
"""Keys of the ground truth in evaluation platforms, the most certain first."""
ATTRIBUTES = words_in("documents points nodes source_nodes matches results hits objects")
"""The same for responses that are objects."""
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("ids",),
    "score": ("scores", "distances"),
    "text": ("texts", "documents"),
    "metadata": ("metadatas",),
}
"""A response with one list per column."""

CHUNK: Mapping[str, tuple[str, ...]] = {
    "text": _TEXTS,
    "id": (
        *ID,
        *words_in(
            "chunk_id node_id passage_id pid item item_id doc_id docid docno title"
        ),
    ),
    "document": _DOCUMENTS,
    "start": _STARTS,
    "end": _ENDS,
    "title": words_in("title heading headline page_title document_title section_title"),
}
"""A chunk or document of a corpus. Without another id its ``doc_id`` is the id, or else
its title, which then is no title."""
START_AND_END = "start_end_idx"
"""A column with start and end together; tools disagree about the end, so it is not
used."""

_FOREIGN_QUERY = words_in(
    "frage suchanfrage anfrage nutzerfrage requete pregunta consulta domanda quesito "
    "vraag zoekvraag zoekopdracht pergunta pytanie zapytanie"
)
"""The question in German, French, Spanish, Italian, Dutch, Portuguese and Polish."""
_FOREIGN_ITEM = words_in(
    "fundstelle fundstellen textstelle textstellen abschnitt abschnitte extrait extraits "
    "fragmento fragmentos frammento frammenti fragment fragmenten trecho trechos "
    "fragmenty"
)
_FOREIGN_GRADE = words_in(
    "relevanz relevanzgrad bewertung gewichtung gewicht wertung ist_relevant pertinence "
    "pertinent poids jugement est_pertinent relevancia relevante es_relevante peso "
    "valoracion calificacion pertinencia rilevanza rilevante pertinenza valutazione "
    "giudizio voto relevantie beoordeling waardering avaliacao e_relevante trafnosc "
    "istotnosc relewantnosc ocena waga przydatnosc"
)
"""The grade of a judge, in the same languages."""

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
    *words_in("inputs_question inputs_query input_question input_query inputs_input"),
    *_FOREIGN_QUERY,
)
ROW_ID = ("id", "_id")
"""Ids that count as those of the questions only if they are unique per question."""
QUESTION_IN_INPUT = ("query", "input", "question", "str_or_query_bundle", "query_str")
"""Keys of the question in the input that a trace records."""

NEGATIVES = (
    *words_in("negatives negative_ids hard_negatives hard_negative_ids distractors neg"),
    *words_in(
        "negative_passages negative_ctxs hard_negative_ctxs negative_docs negative_chunks"
    ),
)
"""Fields that list items judged not relevant."""
PARALLEL = words_in(
    "grades labels relevance relevances relevance_labels relevance_grades gains "
    "judgements judgments ratings"
)
"""Fields that list the grades of the targets, in the same order."""
_WANTED = words_in("expected relevant gold golden target positive correct ground_truth")
"""Words that mean "expected" or "relevant"."""
_THINGS = ("item", "chunk", "doc", "document", "passage", "node", "source")


def _combined(first: tuple[str, ...], second: Iterable[str]) -> tuple[str, ...]:
    words = list(second)
    return tuple(f"{start}_{two}" for start in first for two in words)


_LISTS_OF_THINGS = tuple(
    f"{thing}{ids}" for thing in _THINGS for ids in ("_id", "_ids", "s")
)
_EXPORTED = ("ids", *_LISTS_OF_THINGS, "context", "contexts", "retrieved_context")
"""What an export of experiments lists below ``outputs`` or ``reference_outputs``."""
WANTED_IDS = (
    *_combined(_WANTED, ("id", "ids")),
    *_combined(_WANTED, (*_LISTS_OF_THINGS, *_THINGS)),
    *_combined(("reference_outputs", "reference_output", "expected_output"), _EXPORTED),
    *words_in(
        "expected_retrieved_context expected_context expected_contexts expected_retrieved "
        "answer_pids"
    ),
    *words_in(
        "relevant gold expected target targets relevance_ids positives positive_ctxs"
    ),
    *words_in(
        "erwartet erwartete attendu attendus esperado esperados atteso attesi verwacht"
    ),
)
"""Columns with ids of targets: they mark a table as a ground truth."""
RETURNED_IDS = (
    *words_in(
        "retrieved retrieved_id retrieved_ids returned_ids result_ids results hits "
        "search_results"
    ),
    "ctxs",
    *words_in(
        "treffer ergebnisse resultats resultados risultati gevonden resultaten wyniki"
    ),
    *_combined(("retrieved", "returned"), _LISTS_OF_THINGS),
    *_combined(("outputs", "output", "actual", "actual_output"), _EXPORTED),
    *words_in("retrieved_context actual_retrieved_context actual_retrieved"),
)
"""Columns with the ids of results, all of a question in one cell."""
ANSWER_LISTS = words_in(
    "retrieved retrieved_contexts retrieved_context retrieval_context source_nodes "
    "source_documents matches points neighbors nodes hits root ids value documents docs "
    "chunks contexts passages objects nearest_neighbors search_results retrieval_results "
    "result_items rows records candidates"
)
"""Fields of an answer that hold the list of results, the most certain first."""
ASKED_IN = words_in("input inputs request vars")
"""Fields of an experiment that hold the question, as a text or inside."""
_FOREIGN_WANTED = words_in(
    "erwartet erwartete erwartetes erwarteter erwarteten attendu attendue attendus attendues "
    "esperado esperada esperados esperadas atteso attesa attesi attese verwacht verwachte "
    "oczekiwany oczekiwana oczekiwane"
)
"""The word expected in German, French, Spanish, Portuguese, Italian, Dutch and Polish."""
_RIGHT = words_in(
    "right ideal soll ziel zieldokument zielabschnitt zielquelle "
    "richtig richtige richtiges korrekt korrekte "
    "korrektes relevante relevanten relevantes pertinents pertinentes bonne bonnes bon bons "
    "juiste correctes correcto correcta correctos correctas correto correta corretos corretas "
    "rilevanti rilevante corretto corretta corretti corrette juiste poprawny poprawna poprawne "
    "wlasciwy forventet forventede rigtig rigtigt rigtige forvantat forvantad forvantade ratt "
    "ocekavane ocekavany ocekavano spravny spravne beklenen dogru ilgili hedef"
)
"""The words expected and right in further languages that are written with spaces."""
_ANSWERS = frozenset(
    words_in(
        "answer answers response responses antwort reponse respuesta risposta resposta"
    )
)
"""Words for what is said to a user, and not found."""
_WANTED_SIGNS = re.compile(
    "期待|期望|正解|正确|標準|标准|目标|相关文|関連文|정답|기대|올바른|관련 문서|"
    "ожида|правильн|верн|релевантные"
)
"""The same in languages whose words have no spaces between them, or many endings."""
WANTED_WORDS = frozenset(
    (
        *words_in(
            "expected reference references gold golden relevant correct truth expectations gt "
            "should"
        ),
        *_FOREIGN_WANTED,
    )
)
"""Words in the path of a list, or in the name of a column, that say that it should be
found, whatever else is in it."""
RETURNED_WORDS = frozenset(words_in("output outputs actual retrieved returned reranked"))
"""Words in the path of a list that say that it came back."""
NO_PART_WORDS = frozenset(
    words_in(
        "facts fact guidelines criteria rubric feedback scores metrics usage evaluators"
    )
)
"""Words in the path of a list that is neither: what an answer should say, or how it was
judged."""
ANSWER_WORDS = frozenset(words_in("output outputs answer answers response responses"))
"""Words in the path of a list whose sentences are answers, not texts that should be
found."""
STAGES = frozenset(
    words_in(
        "retrieved returned results hits reranked rerank reranker before after bm25 "
        "dense sparse lexical semantic hybrid fused fusion initial"
    )
)
"""Words in the names of lists of results; two such lists in a record are two rankings."""
JUDGED = ("ratings", "judgments", "judgements")
"""Fields of a record with targets and their grades, as objects or as a mapping."""
QUOTE = (
    *words_in("quote quotes evidence answer_text reference_text supporting_text"),
    *_combined(_WANTED, ("text", "texts", "quote", "quotes", "passage", "evidence")),
)
WEAK_QUOTE = words_in(
    "reference references reference_context answer answers expected_answer "
    "reference_answer expected gold_answer correct_answer context passage text"
)
"""Text columns that count as quotes only if a table has no other targets."""
ROW: Mapping[str, tuple[str, ...]] = {
    "query": ("query", *QUERY_ID, *QUERY_TEXT[2:], "query_text", "input"),
    "item": (
        *words_in(
            "item item_id doc_id docno docid chunk_id corpus_id pid passage_id node_id "
            "items item_ids doc_ids docids chunk_ids passage_ids node_ids"
        ),
        *WANTED_IDS,
        "ground_truth",
        "chunk",
        "chunks",
        *_FOREIGN_ITEM,
    ),
    "quote": QUOTE,
    "score": (
        "score",
        "similarity",
        "punktzahl",
        "ahnlichkeit",
        "puntuacion",
        "punteggio",
    ),
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
            "grade relevance rel label judgement judgment rating relevant is_relevant "
            "relevancy relevance_grade relevance_label relevance_level weight gain"
        ),
        *_FOREIGN_GRADE,
    ),
    "retrieved": RETURNED_IDS,
}
"""One result or one judgement in a table; other columns need our own names."""
_DISTANCES = frozenset(
    words_in(
        "dist dists l2 l1 euclidean euclid euklidisch euklidische hamming manhattan "
        "distancia distanza afstand odleglosc abstand entfernung ecart dystans avstand "
        "distans vzdalenost mesafe uzaklik etaisyys tavolsag"
    )
)
"""Words in names of columns of results in which lower is better."""
_DISTANCE_SIGNS = re.compile("距離|距离|거리|расстояние|дистанция")
_LOWER_IS_BETTER = re.compile(
    r"(lower|smaller|less|kleiner|niedriger) (is|are|ist|=) (better|besser|best)"
)
SYSTEMS = frozenset(
    words_in(
        "method system retriever retriever_name model engine pipeline config "
        "configuration variant strategy approach experiment snapshot_name run run_id "
        "run_name tag algorithm setup methode verfahren"
    )
)
"""Columns that name the retriever: two values for one query are two rankings."""
EMPTY = frozenset(
    (
        *words_in("n/a #n/a none nan null nil - – — unanswerable no_answer noanswer"),
        *(
            "no answer",
            "not answerable",
            "no relevant documents",
            "keine antwort",
            "keine",
        ),
        *(
            "sans reponse",
            "aucune reponse",
            "sin respuesta",
            "nessuna risposta",
            "geen antwoord",
            "no answer found",
            "no answer available",
            "no relevant document",
            "no relevant docs",
            "not in corpus",
            "not in the corpus",
            "not in the documents",
            "out of scope",
            "keine antwort möglich",
            "keine antwort moglich",
            "sans réponse",
            "aucune réponse",
            "pas de réponse",
            "keine antwort vorhanden",
            "keine relevanten dokumente",
            "nicht beantwortbar",
            "pas de reponse",
            "no hay respuesta",
            *("aucun", "aucune", "ninguno", "ninguna", "nessuno", "nessuna", "geen"),
            *("該当なし", "なし", "无", "没有", "нет", "brak", "nenhum", "nenhuma"),
            "sem resposta",
            "brak odpowiedzi",
        ),
    )
)
"""Values that mean that nothing should be found, in lower case, with accents and without."""
HARMLESS = frozenset(
    words_in(
        "author autor auteur editor annotator annotated judge judged reviewer rater "
        "labeler labeller bearbeiter user email comment comments kommentar note notes "
        "notiz remark remarks bemerkung reason explanation rationale title titel titre "
        "titolo titulo heading section abschnitt chapter kapitel topic thema category "
        "kategorie categoria language lang sprache url link href source file filename "
        "path metadata meta created updated timestamp department team domain product "
        "answer antwort response reponse respuesta summary description intent text "
        "snippet passage content name"
    )
)
"""Words in column names that rule out relevance and order, whatever the values."""
NO_GRADES = frozenset(
    words_in(
        "id ids index idx row rows nr no num number nummer numero numer lfd line zeile "
        "page pages seite pagina strona year jahr month day date datum fecha time "
        "timestamp created updated version latency ms sec seconds tokens length chars "
        "words count size cost price duration dauer duree elapsed runtime k start end offset "
        "hop hops difficulty "
        "schwierigkeit priority prio prioritat unnamed"
    )
)
"""Words in names of columns whose numbers say nothing about relevance."""
COUNTING = frozenset(
    words_in(
        "id ids index idx row rows nr no num number nummer numero numer lfd line zeile k"
    )
)
"""Those of them that may number results, and so be ranks."""
REMARKS = frozenset(
    words_in(
        "comment comments kommentar commentaire notes notiz remark remarks bemerkung "
        "title titel titre heading reviewed done archived active urgent"
    )
)
"""Words in names of columns that track progress, where a cell may say "ok", too."""
JUDGING = frozenset(
    words_in(
        "grade grades relevance rel relevant relevancy judgement judgment rating correct "
        "verdict label punkte points puntos punti"
    )
) | frozenset(name for name in _FOREIGN_GRADE if "_" not in name)
"""Words in names of columns that may judge, whatever else the name says."""
ORDERING = frozenset(
    words_in("rank ranking rang rango position pos score similarity relevance_score")
)
"""Words in names of columns that may order results."""
LAST_STAGE = frozenset(
    words_in(
        "rerank reranked reranker reranking ranker final after fused post second stage2 last"
    )
)
"""Words in names of lists that come out of a later stage than others."""
FIRST_STAGE = frozenset(words_in("before pre first initial"))
"""Words in names of lists that come before it, whatever else the name says."""
TOTALS = frozenset(
    words_in(
        "total totals sum summe gesamt overall average avg mean mittelwert durchschnitt "
        "totale totaal moyenne media promedio gemiddelde suma srednia somme summa итого "
        "合計 合计 总计 平均"
    )
)
"""Names of rows that sum up a table."""


def total_in(cell: object) -> str | None:
    """The word that calls a row a total; None where a cell is no such word.

    >>> total_in("Total:"), total_in("合計"), total_in("Who is total?")
    ('total', '合計', None)
    """
    word = str(cell).strip().strip(":").lower()
    return word if word in TOTALS else None


NEIGHBOUR = frozenset({"base", "distance"})
"""The columns of what BigQuery's VECTOR_SEARCH returns, beside those of the query."""
REVIEWED = (frozenset({"fields", "responses"}), frozenset({"data", "annotations"}))
"""The fields of a record of Argilla, and of a task of Label Studio."""
YES_OR_NO = frozenset({"relevant", "expected", "gold", "correct"})
"""Names of columns with the ids of targets, or with a yes or no about the id beside it."""
BEIR_JUDGEMENTS = frozenset({"query-id", "corpus-id", "score"})
"""The header in which a score is a grade."""
RANX = frozenset({"q_id", "doc_id", "score"})
"""The header that ranx writes for both judgements and runs."""


@lru_cache(maxsize=1024)
def plain_name(name: str) -> str:
    """Normalise a column name to the spelling of the tables here.

    >>> plain_name(" Chunk ID "), plain_name("query-id"), plain_name("expectedChunks")
    ('chunk_id', 'query_id', 'expected_chunks')
    >>> plain_name("Relevanz (0-3)"), plain_name("Avaliação"), plain_name("Trafność")
    ('relevanz', 'avaliacao', 'trafnosc')
    """
    bare = re.sub(r"(?<=\w)\s*[(\[][^)\]]*[)\]]\s*$", "", str(name).strip())
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z]|[A-Z]+$)", "_", bare)
    plain = re.sub(r"[\s.\-_/]+", "_", parted.lower()).strip("_:?#")
    return plain if plain.isascii() else unaccented(plain)


def unaccented(text: str) -> str:
    """Lower case without accents.

    >>> unaccented("sí"), unaccented("fałsz"), unaccented("spørgsmål")
    ('si', 'falsz', 'sporgsmal')
    """
    parted = unicodedata.normalize("NFKD", text.lower().translate(_LETTERS))
    return "".join(
        character for character in parted if not unicodedata.combining(character)
    )


_LETTERS = str.maketrans({"ł": "l", "ß": "ss", "ø": "o", "æ": "ae", "ı": "i", "đ": "d"})
"""Letters that are no base letter with an accent, and are typed without their stroke, too."""


@lru_cache(maxsize=1024)
def is_distance(name: str) -> bool:
    """Whether a column's name says that its smallest number comes first.

    >>> is_distance("cosine_dist"), is_distance("vectorDistance"), is_distance("distribution")
    (True, True, False)
    >>> is_distance("score (lower is better)"), is_distance("match (distance)")
    (True, True)
    """
    plain = plain_name(name)
    spelled = plain.replace("_", "")
    if (
        "distance" in spelled
        or "distanz" in spelled
        or _DISTANCE_SIGNS.search(plain)
        or re.search(r"[(\[]\s*(distance|distanz)", name.lower())
        or _LOWER_IS_BETTER.search(name.lower())
    ):
        return True
    return bool(_DISTANCES & {*plain.split("_")})


def says_expected(name: str) -> bool:
    """Whether words in a column's name say that it holds what should be found.

    >>> says_expected("Документ (ожидаемый)"), says_expected("期望文档"), says_expected("Rang")
    (True, True, False)
    """
    words = {*re.split(r"[_\W]+", plain_name(name))}
    if words & _ANSWERS and not words & {"id", "ids", "doc", "docs", "source", "sources"}:
        return False
    return bool(
        words & WANTED_WORDS or words & {*_RIGHT} or _WANTED_SIGNS.search(name.lower())
    )


_RETURNED_SIGNS = re.compile(
    "検索結果|検索された|取得|ヒット|检索结果|返回|命中|召回|검색 결과|검색된|반환|найден|результат"
)
"""Words for what came back, where words have no spaces between them, or many endings."""


def possible_meaning(name: str) -> str | None:
    """Guess the field of a column with an unknown name from its words.

    >>> possible_meaning("right_chunks"), possible_meaning("Thema"), possible_meaning("my_score")
    ('item', None, 'score')
    """
    words = set(plain_name(name).split("_"))
    if _RETURNED_SIGNS.search(name.lower()):
        return "retrieved"
    return next((field for field, known in _HINTS.items() if words & known), None)


_HINTS: Mapping[str, frozenset[str]] = {
    "query": frozenset({"query", "question", "questions", "prompt", "ask", "q"}),
    "retrieved": frozenset(
        words_in(
            "retrieved returned results result hits hit found came got gave output outputs "
            "predicted predictions prediction pred candidates actual top match matches "
            "gefunden gefundene gefundenes gefundener geliefert treffer ergebnis ergebnisse "
            "trouve trouves trouvee trouvees obtenu obtenus renvoye renvoyes resultat resultats "
            "encontrado encontrados recuperado recuperados devuelto devueltos retornado "
            "resultado resultados trovato trovati recuperato recuperati risultato risultati "
            "gevonden resultaat resultaten znaleziony znalezione zwrocony zwrocone wynik wyniki "
            "fundet fundne resultater hittat hittade traff traffar nalezeny nalezene vraceny "
            "vracene vysledek vysledky bulunan getirilen donen sonuc sonuclar"
        )
    ),
    "quote": frozenset(
        {"quote", "text", "answer", "evidence", "reference", "sentence", "snippet"}
    ),
    "item": frozenset(
        words_in(
            "id ids item items chunk chunks doc docs document documents passage passages "
            "node nodes expected relevant gold correct target targets truth should "
            "wanted where"
        )
    ),
    "grade": frozenset({"grade", "relevance", "rel", "label", "judgement", "rating"}),
    "score": frozenset({"score", "similarity"}),
    "rank": frozenset({"rank", "position"}),
}
"""Words in column names with the field they suggest; the first match counts."""
