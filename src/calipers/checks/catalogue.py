"""Every kind of finding in one place, with the texts that terminal, JSON and docs share."""

from calipers.model.health import Kind

NO_GROUND_TRUTH = Kind(
    "queries_without_ground_truth",
    "warning",
    "queries",
    "These queries have no relevant target. Metrics leave them out, so they measure "
    "nothing but whether the retriever stays silent.",
    "Label them, or keep only those that truly have no answer.",
)
DUPLICATE_QUERIES = Kind(
    "duplicate_queries",
    "warning",
    "queries",
    "The same question, apart from case, spacing and punctuation, is asked under several "
    "ids. It counts several times in every mean, and intervals come out too narrow.",
    "Keep one of each, with the targets of all.",
)
NEAR_DUPLICATE_QUERIES = Kind(
    "near_duplicate_queries",
    "info",
    "pairs of queries",
    "These questions are almost the same letter by letter. If they ask the same thing, "
    "the number of independent queries is smaller than it looks.",
    "Look at them: keep one of each pair unless they ask for different things.",
)
COPIED_WORDING = Kind(
    "copied_wording",
    "warning",
    "queries",
    "These questions are worded like the passage that should be found. Whoever really "
    "asks does not know the passage, so matching words wins here and not in use.",
    "Ask in other words: a question by somebody who has not read the passage, or from "
    "traces.",
)
TOO_FEW_QUERIES = Kind(
    "too_few_queries",
    "warning",
    "queries",
    "With so few queries a mean is uncertain: the next sample of questions could move it "
    "by as much as the interval is wide, and smaller differences between retrievers do "
    "not show.",
    "Add queries before trusting small differences: half the width takes four times as "
    "many.",
)

WORD_MATCHING = Kind(
    "won_by_word_matching",
    "warning",
    "queries",
    "Plain word matching (BM25) finds nearly everything, so this set cannot rank "
    "retrievers: whatever understands more has nothing left to win.",
    "Add questions in other words than the passages use, or passages that share their "
    "words.",
)

ID_NOT_IN_CORPUS = Kind(
    "id_not_in_corpus",
    "error",
    "targets",
    "These ids are in the ground truth and not in the corpus, so no retriever can return "
    "them. Usually the corpus was chunked again and its ids changed.",
    "Label with quotes, which survive re-chunking, or use the ids of this corpus.",
)
IN_NO_CHUNK = Kind(
    "evidence_in_no_chunk",
    "error",
    "quotes and spans",
    "No chunk holds this evidence, nor do chunks hold it together, so the query cannot "
    "be won.",
    "Correct the quote or span, or add the missing document; a quote with small slips is found by "
    '--match "quote(min=0.8)".',
)
SPLIT = Kind(
    "evidence_split",
    "warning",
    "quotes and spans",
    "The edge of a chunk cuts through this evidence: no chunk holds all of it, several "
    "hold it together. The retriever must return all of them.",
    "Quote a shorter passage, or let chunks overlap by more than a quote is long.",
)
AMBIGUOUS = Kind(
    "ambiguous_quote",
    "warning",
    "quotes",
    "This quote stands in several places. Each of them counts as a hit, also where it "
    "means something else.",
    "Quote more of the passage, or give the target its document and run `calipers convert "
    "--resolve`.",
)
NEAR_COPIES = Kind(
    "unlabelled_near_copies",
    "warning",
    "chunks",
    "These chunks say almost the same as a labelled one and are not labelled themselves. "
    "A retriever that returns the copy is called wrong.",
    "Label the copies too (as alternatives: the same group), or remove them from the "
    "corpus.",
)
REPEATED_ID = Kind(
    "repeated_chunk_id",
    "warning",
    "ids",
    "Several chunks of the corpus have the id of a target, so nobody can tell which one "
    "is meant.",
    "Give every chunk an id of its own.",
)
MOVED = Kind(
    "quote_not_at_span",
    "error",
    "targets",
    "What stands at the span is not the quote that the target gives: the document has "
    "changed since the span was made.",
    "Run `calipers convert --resolve` again from the quotes.",
)

ALONE = (
    NO_GROUND_TRUTH,
    DUPLICATE_QUERIES,
    NEAR_DUPLICATE_QUERIES,
    COPIED_WORDING,
    TOO_FEW_QUERIES,
)
AGAINST_CORPUS = (
    ID_NOT_IN_CORPUS,
    IN_NO_CHUNK,
    SPLIT,
    AMBIGUOUS,
    NEAR_COPIES,
    REPEATED_ID,
    MOVED,
)
BLURS = (
    WORD_MATCHING,
    COPIED_WORDING,
    DUPLICATE_QUERIES,
    NEAR_DUPLICATE_QUERIES,
)
"""Findings that make it harder for a set to separate retrievers."""
KINDS = (*ALONE, WORD_MATCHING, *AGAINST_CORPUS)
"""All kinds, in the order in which passed checks are listed."""
