"""Sentences and their facts."""

import ast
import copy
import pickle
import re
from pathlib import Path

import calipers
from calipers.model.claim import Claim
from calipers.model.document import Document, Lines, Note, as_sentence, of_claim
from calipers.model.fact import Fact, Sentence, facts_of, joined, named, sentence
from calipers.model.plain import plain

MEAN = Fact(about="mean", metric="recall@10", value=0.8171, queries=42)


def test_a_sentence_is_a_text_that_keeps_its_facts():
    text = sentence("{it.metric} is {it.value} on {it.queries:query|queries}.", it=MEAN)
    assert text == "recall@10 is 0.817 on 42 queries."
    for other in (pickle.loads(pickle.dumps(text)), copy.deepcopy(text)):
        assert (other, other.facts) == (text, (MEAN,))
    assert type(plain({"fact": text})["fact"]) is str


def test_parts_that_are_sentences_bring_their_facts_and_no_fact_twice():
    inner = sentence("{it.value:+}", it=MEAN)
    whole = sentence("{inner}, {it.value:%}, {who}.", inner=inner, it=MEAN, who="b")
    assert (whole, whole.facts) == ("+0.817, 82%, b.", (MEAN,))
    other = named("q1")
    both = joined(whole, None, "", sentence("{it.text} is missing.", it=other))
    assert (both, both.facts) == ("+0.817, 82%, b. q1 is missing.", (MEAN, other))
    assert facts_of("a text") == ()


def test_a_fact_says_only_what_applies():
    assert MEAN.to_dict() == {
        "about": "mean",
        "metric": "recall@10",
        "value": 0.8171,
        "queries": 42,
    }


def test_a_document_lists_its_sentences_with_their_facts():
    text = sentence("finds {it.value:.0%}", it=MEAN)
    document = of_claim(
        Claim(None, text, "All is well.", "Next: `calipers eval`"),
        Note("doubt", "A doubt."),
        blocks=[Lines([sentence("{it.text}", it=named("a line")), "no sentence"])],
    )
    assert document.standing is None
    assert [*document.sentences] == [
        "Finds 82%.",
        "a line",
        "All is well.",
        "Next: `calipers eval`",
        "A doubt.",
    ]
    assert document.sentences[0].facts == (MEAN,)
    assert Document("Yes.").sentences == ("Yes.",)
    assert as_sentence(Sentence("k = 3 will do", [MEAN])) == "k = 3 will do."
    worse = Fact(about="difference", system="tb", against="ta", metric="recall@10")
    assert as_sentence(Sentence("tb is worse than ta", [worse])) == "tb is worse than ta."
    assert as_sentence(Sentence("too few queries", [MEAN])) == "Too few queries."


def test_every_number_of_a_template_comes_from_a_fact():
    """No digit stands in a template itself, so none is printed that is no fact."""
    digits = []
    for path in Path(calipers.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "sentence":
                texts = [
                    one.value
                    for one in ast.walk(node.args[0])
                    if isinstance(one, ast.Constant) and isinstance(one.value, str)
                ]
                plain_text = re.sub(r"\{[^}]*\}", "", "".join(texts))
                digits += [(path.name, plain_text)] if re.search(r"\d", plain_text) else []
    assert not digits
