"""How much of a target another passage says, against a naive count; and what that keeps away."""

import math
import random

import pytest

import calipers
from calipers.io.documents.sections import as_document
from calipers.io.documents.walk import corpus_of
from calipers.questions.begin.candidates import Candidate, content_words
from calipers.questions.begin.drawing import ELSEWHERE
from calipers.questions.begin.elsewhere import Passages
from calipers.questions.begin.library import Library, stems

WORDS = ["blue", "red", "green", "white", "amber", "violet", "silver", "copper", "golden"]


def page(drawn, name, sections):
    parts = [f"# Page of {name}\n"]
    for number in range(sections):
        parts += [f"## Part {name} {number}\n", " ".join(drawn.choices(WORDS, k=12)) + ".\n"]
    return as_document(f"{name}.md", "markdown", "\n".join(parts))


@pytest.mark.parametrize("seed", range(20))
def test_the_share_is_the_most_that_any_other_passage_says(seed):
    drawn = random.Random(seed)
    documents = [page(drawn, name, 2) for name in ("north", "south")]
    holder = documents[drawn.randrange(2)]
    section = holder.sections[drawn.randrange(1, 3)]
    quote = holder.text[section.body : section.end].strip()
    candidate = Candidate(section.heading, "headings", holder.name, 1, quotes=(quote,))
    passages = Passages.of(corpus_of(documents, "docs"), documents)
    own = stems(content_words(f"{section.heading} {quote}"))
    chunks = [(one, one.text[start:end]) for one in documents for start, end in one.chunks()]
    others = [text for one, text in chunks if not (one is holder and quote in text)]
    most = max(len(own & stems(content_words(text))) / len(own) for text in others)
    assert passages.said_elsewhere(candidate) == pytest.approx(most)


@pytest.mark.parametrize(
    ("language", "says", "again", "other"),
    [
        (
            "en",
            "A parcel that leaves the country takes two weeks, and the customs ask for its value.",
            "Customs want to know the value of a parcel that leaves the country, for two weeks.",
            "Whoever loses a key of the warehouse tells the guard at once, on the same evening.",
        ),
        (
            "zh",
            "寄往国外的包裹需要两周时间，海关会询问包裹的价值，请在表格中填写清楚。",
            "海关会询问寄往国外的包裹的价值，包裹需要两周时间，请填写表格。",
            "丢失仓库钥匙的员工必须当天晚上立即通知保安人员，不得拖延。",
        ),
    ],
)
def test_a_target_that_another_page_says_in_other_words_waits_for_the_others(
    tmp_path, language, says, again, other
):
    words = {"en": "Parcels to another country", "zh": "寄往国外的包裹"}[language]
    (tmp_path / "a.md").write_text(f"# {words}\n\n{says}\n")
    (tmp_path / "b.md").write_text(f"# Notes\n\n- {again}\n", encoding="utf-8")
    drawn = random.Random(1)
    for number in range(30):
        name = "".join(drawn.choices("bdfglmnprstaeiou", k=8))
        own = " ".join("".join(drawn.choices("bdfglmnprstaeiou", k=7)) for _ in range(10))
        (tmp_path / f"c{number}.md").write_text(f"# The {name} of {name[::-1]} keys\n\n{own}.\n")
    made = calipers.first_questions(tmp_path)
    assert words not in [one["query"] for one in made.records]
    assert {one.reason: one.count for one in made.dropped}[ELSEWHERE] == 1
    assert made.considered == made.questions + sum(one.count for one in made.dropped)
    # Where no other page says it, and where too few others are left, it is asked.
    (tmp_path / "b.md").write_text(f"# Notes\n\n- {other}\n", encoding="utf-8")
    assert words in [one["query"] for one in calipers.first_questions(tmp_path).records]
    (tmp_path / "b.md").write_text(f"# Notes\n\n- {again}\n", encoding="utf-8")
    for number in range(5, 30):
        (tmp_path / f"c{number}.md").unlink()
    assert words in [one["query"] for one in calipers.first_questions(tmp_path).records]


@pytest.mark.parametrize("seed", range(20))
def test_whether_another_heading_says_half_of_one_as_a_naive_count_says(seed):
    drawn = random.Random(seed)
    documents = []
    for name in ("north", "south", "west"):
        names = [" ".join(drawn.sample(WORDS, drawn.randrange(1, 4))) for _ in range(4)]
        parts = [f"# {drawn.choice(WORDS)}\n", *(f"## {head}\n\nText.\n" for head in names)]
        documents.append(as_document(f"{name}.md", "markdown", "\n".join(parts)))
    library = Library(documents)
    heads = [(one, part) for one in documents for part in one.sections if part.heading]
    titled = [{*content_words(f"{one.title} {part.heading}")} for one, part in heads]
    for one, part in heads:
        own = {*content_words(part.heading)}
        says = {
            word: math.log1p(len(heads) / (1 + sum(word in each for each in titled)))
            for word in own
        }
        others = [other for _, other in heads if other is not part]
        shared = max(
            sum(says[word] for word in own & {*content_words(other.heading)}) for other in others
        )
        expected = shared >= sum(says.values()) / 2
        assert library.is_shared(part.heading, one.name, one.line(part.start)) == expected
