"""Answers of search engines and vector databases that do not say what was asked."""

from collections.abc import Mapping

from calipers.io.files.probe import Probe
from calipers.io.records.json_files import MOST_COLUMNS, opened
from calipers.io.records.layout import question_in

_SOME = 50
"""Answers that are looked at."""


def without_questions(probe: Probe) -> str | None:
    """What a file of bare answers is, and what to do; None if it is none."""
    look = probe.look
    if look is None or len(look.first) > MOST_COLUMNS:
        return None
    first = {str(key): opened(value) for key, value in look.first.items()}
    if look.shape == "object" and _is_answer_in_columns(first):
        return (
            "holds what a vector database answered, without what was asked. Add the questions, in "
            'the same order: {"query": ["…", "…"], "ids": …}'
        )
    lists = [one for one in first.values() if isinstance(one, list) and one]
    bare = [one for one in lists if all(map(_is_bare_answer, one[:_SOME]))]
    answers = bare[0] if bare else [first]
    if not bare and not _is_bare_answer(first):
        return None
    several = len(answers) > 1 or look.shape != "object"
    what = "answers of a search engine without their questions"
    if not several:
        what = "one answer of a search engine without its question"
    return (
        f"holds {what}. Write each beside what was asked, one record for each: "
        '{"query": "…", "response": {…}}'
    )


def _is_answer_in_columns(value: Mapping[str, object]) -> bool:
    """Whether a value is what Chroma answers: a list of results for each question, by field."""
    if question_in(value) is not None or "ids" not in value:
        return False
    fields = [
        value[name] for name in ("ids", "distances", "documents") if value.get(name)
    ]
    return len(fields) > 1 and all(
        isinstance(one, list) and all(isinstance(held, list) for held in one)
        for one in fields
    )


def _is_bare_answer(value: object) -> bool:
    """Whether a value is what Elasticsearch or OpenSearch answers, and nothing else."""
    if not isinstance(value, Mapping) or question_in(value) is not None:
        return False
    hits = value.get("hits")
    return isinstance(hits, Mapping) and isinstance(hits.get("hits"), list)
