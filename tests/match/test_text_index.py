"""Texts searched as one give what a search in each of them gives."""

from hypothesis import given
from hypothesis import strategies as st

from calipers.match.locate import OCCURRENCES, Shelf

texts = st.lists(st.text("ab é日\0𝄞", max_size=40), max_size=5)
seeds = st.lists(
    st.tuples(st.integers(0, 9), st.text("ab é日\0𝄞", min_size=4, max_size=8)), max_size=6
)


def naive(some: list[str], wanted: list[tuple[int, str]]) -> dict[int, list[tuple[int, int, int]]]:
    found: dict[int, list[tuple[int, int, int]]] = {}
    for at, seed in wanted:
        for number, text in enumerate(some):
            places = [i for i in range(len(text)) if text.startswith(seed, i)]
            for there in places[:OCCURRENCES]:
                found.setdefault(number, []).append((at, there, len(seed)))
    return found


@given(texts, seeds, st.data())
def test_every_seed_is_found_in_every_text(some, wanted, data) -> None:
    long = [text for text in some if len(text) >= 4]
    if long:
        text = data.draw(st.sampled_from(long))
        wanted = [*wanted, (7, text[data.draw(st.integers(0, len(text) - 4)) :][:8])]
    assert Shelf(some).hits(wanted) == naive(some, wanted)


def test_a_text_that_repeats_itself_does_not_hide_the_next_one() -> None:
    some = ["abcd" * 100, "abcd"]
    hits = Shelf(some).hits([(0, "abcd")])
    assert [len(hits[number]) for number in (0, 1)] == [OCCURRENCES, 1]
