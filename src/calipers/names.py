"""What other people call the fields Calipers knows: the one table, for every reader.

Each tuple begins with the usual name; the first name that is there counts. A name can mean two
things in two places (``doc_id`` is the item of a judgement and the document of a chunk), so the
names are listed for three kinds of rows: a returned document, a chunk of a corpus, and a row of
a table with one result or judgement each. What means the same everywhere is written once.
"""

from collections.abc import Iterable, Mapping

ID = ("id", "_id", "id_")
TEXT = ("text", "page_content", "content")
"""The names that objects of the usual libraries have; a table may use further ones."""

_TEXTS = (
    *TEXT, "contents", "chunk", "passage", "body", "chunk_text", "chunk_content", "snippet",
)  # fmt: skip
_DOCUMENTS = (
    "document", "document_id", "doc_id", "docid", "doc", "ref_doc_id", "source_id", "source",
    "path", "file_path", "file_name", "file", "filename", "url", "corpus_id",
)  # fmt: skip
_STARTS = (
    "start", "start_index", "start_idx", "start_char", "start_char_idx", "split_idx_start",
)  # fmt: skip
_ENDS = ("end", "end_index", "end_idx", "end_char", "end_char_idx")

RESULT: Mapping[str, tuple[str, ...]] = {
    "id": (*ID, "chunk_id", "node_id", "point_id", "uuid", "key"),
    "score": (
        "score", "_score", "similarity", "relevance_score", "_relevance_score", "relevance",
        "distance", "_distance",
    ),
    "text": _TEXTS,
    "document": _DOCUMENTS,
    "start": _STARTS,
    "end": _ENDS,
    "tokens": ("tokens", "n_tokens", "token_count"),
}  # fmt: skip
"""A document as a retriever returns it: an object of a library, or a dictionary."""
METADATA = ("metadata", "meta", "payload", "_source", "entity", "properties", "fields")
"""Where such a document keeps what its maker noted about it."""
SCORE_IN_METADATA = ("score", "relevance_score")
"""Rerankers write the second; any further name may be one of the document itself."""
WRAPPED = ("node", "document", "doc", "chunk", "item")
"""Fields that may hold the document itself, beside its score."""
LISTS = (
    "retrieved", "results", "hits", "documents", "matches", "items", "nodes", "points", "chunks",
    "data", "docs",
)  # fmt: skip
"""Keys under which an answer may keep its list of documents."""
ATTRIBUTES = ("documents", "points", "nodes", "source_nodes", "matches", "results", "hits")
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
        *ID, "chunk_id", "node_id", "passage_id", "pid", "item", "item_id", "doc_id", "docid",
        "docno", "title",
    ),
    "document": _DOCUMENTS,
    "start": _STARTS,
    "end": _ENDS,
}  # fmt: skip
"""A chunk or document of a corpus. A ``doc_id`` is its own id where there is no other."""
START_AND_END = "start_end_idx"
"""A column that holds start and end together; tools disagree about its end, which is not used."""

QUERY_ID = ("query_id", "qid", "query-id", "question_id")
QUERY_TEXT = ("query_text", "query", "question")
QUESTION_IN_INPUT = ("query", "input", "question", "str_or_query_bundle", "query_str")
"""Where the input of a program, as a trace keeps it, may hold the question."""
ROW: Mapping[str, tuple[str, ...]] = {
    "query": ("query", "query_id", "qid", "query-id", "question", "question_id"),
    "item": (
        "item", "item_id", "doc_id", "docid", "docno", "chunk_id", "corpus-id", "corpus_id", "pid",
    ),
    "score": ("score", "similarity"),
    "rank": ("rank", "position"),
    "grade": ("grade", "relevance", "rel", "label", "judgement", "rating"),
}  # fmt: skip
"""One result or one judgement of a table; other columns go by our own names alone."""
BEIR_JUDGEMENTS = frozenset({"query-id", "corpus-id", "score"})
"""The header under which a score is a grade."""


def lowered(names: Iterable[str]) -> dict[str, str]:
    """Names without capitals and blanks around them, each with how it is spelled.

    >>> lowered(["Text", " id "])
    {'id': ' id ', 'text': 'Text'}
    """
    return {name.strip().lower(): name for name in reversed(list(names))}
