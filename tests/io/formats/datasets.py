"""Random records of our form, with everything in them that a form may fail to hold."""

from typing import Any

from hypothesis import strategies as st

# Hostile on purpose: quotes, commas, line ends, formulas, markup, other scripts, a lone apostrophe.
CHARACTERS = st.sampled_from(list("ab'\",;\t\n=+-@#%<&\\ é日𝄞\u202e0"))
TEXT = st.text(CHARACTERS, min_size=1, max_size=6)
# A dash alone means that there is nothing to find, unless a grade stands beside it.
SAFE_ID = st.text(st.sampled_from(list("ab'\",;=+-@%<é日0")), min_size=1, max_size=4).filter(
    "-".__ne__
)
# Blanks at the ends of an id are no part of it.
ID = st.one_of(SAFE_ID, TEXT.map(str.strip).filter(lambda one: one not in ("", "-")))
GRADE = st.sampled_from([-1.0, 0.0, 0.25, 1.0, 1.0, 2.0, 3.0])
NUMBER = st.integers(0, 9)


def _sparse(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(required, optional=optional)


SPAN = {"document": ID, "start": st.integers(0, 4), "end": st.integers(4, 9)}
RESULT = st.one_of(
    ID,
    _sparse({"id": ID}, {"score": st.floats(-5, 5), "text": st.text(CHARACTERS), "tokens": NUMBER}),
    _sparse({"text": TEXT}, SPAN),
)
TARGET = st.one_of(
    ID,
    _sparse({"id": ID, "grade": GRADE}, {"quote": TEXT, "group": ID}),
    _sparse({"quote": TEXT}, {"grade": GRADE, "group": ID}),
    _sparse(SPAN, {"grade": GRADE, "quote": TEXT}),
)


def _identity(target: Any) -> Any:
    if not isinstance(target, dict):
        return (target, None, None, None, None)
    return tuple(target.get(key) for key in ("id", "quote", "document", "start", "end"))


TARGETS = st.one_of(
    st.dictionaries(ID, GRADE, max_size=3), st.lists(TARGET, max_size=3, unique_by=_identity)
)
PLAIN_TARGETS = st.dictionaries(SAFE_ID, GRADE, max_size=3)


@st.composite
def records(
    draw: st.DrawFn,
    *,
    targets: st.SearchStrategy[Any] | None = TARGETS,
    results: st.SearchStrategy[Any] | None = RESULT,
    ids: st.SearchStrategy[str] = ID,
) -> list[dict[str, Any]]:
    """A few records with different ids; a part that is None is in none of them."""
    found = []
    for name in draw(st.lists(ids, min_size=1, max_size=4, unique=True)):
        record: dict[str, Any] = {"id": name, "query": draw(TEXT)}
        if results is not None:
            record["retrieved"] = draw(st.lists(results, max_size=3))
            if draw(st.booleans()):
                record["latency_ms"] = draw(st.floats(0, 9))
            if draw(st.booleans()):
                record["error"] = draw(TEXT)
            if draw(st.booleans()):
                record["stages"] = {"candidates": draw(st.lists(results, max_size=2))}
        if targets is not None:
            record["ground_truth"] = draw(targets)
            if draw(st.booleans()):
                record["tags"] = draw(st.dictionaries(TEXT, TEXT, max_size=2))
        found.append(record)
    return found
