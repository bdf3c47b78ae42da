from hypothesis import given
from hypothesis import strategies as st

from calipers.match.locate import SEED, QuoteFinder, SeedFinder, locate
from calipers.text import normalise

LETTERS = st.text(st.sampled_from("ab é\n"), max_size=60)


def naive(quotes: list[str], texts: list[str]) -> list[tuple[int, int, int]]:
    return [
        (t, q, at)
        for t, text in enumerate(texts)
        for at in range(len(text))
        for q, quote in enumerate(quotes)
        if quote and text.startswith(quote, at)
    ]


@given(st.lists(LETTERS.map(normalise), max_size=6), st.lists(LETTERS.map(normalise), max_size=6))
def test_every_place_is_found(quotes, texts):
    assert list(QuoteFinder(tuple(quotes)).find(texts)) == naive(quotes, texts)


@given(
    st.lists(st.text(st.sampled_from("ab"), min_size=1, max_size=4), unique=True), st.lists(LETTERS)
)
def test_every_seed_is_found_once_per_text(seeds, texts):
    expected = {(n, seed) for n, text in enumerate(texts) for seed in seeds if seed in text}
    found = list(SeedFinder(tuple(seeds)).find(texts))
    assert sorted(found) == sorted(expected)


def test_quotes_that_begin_alike_are_told_apart():
    same = "x" * SEED
    finder = QuoteFinder((same + "one", same + "two"))
    assert list(finder.find([same + "two"])) == [(0, 1, 0)]


@given(LETTERS, st.data())
def test_a_located_quote_is_the_quote(text, data):
    plain = normalise(text)
    if not plain:
        return
    start = data.draw(st.integers(0, len(plain) - 1))
    quote = normalise(plain[start : data.draw(st.integers(start + 1, len(plain)))])
    if not quote:
        return
    places = list(locate([text], QuoteFinder((quote,))))
    assert len(places) == len(naive([quote], [plain]))
    assert all(normalise(text[low:high]) == quote for _, _, low, high in places)


def test_a_name_across_a_line_end_is_found_in_the_original():
    text = "Well, Prince,\r\nsaid Anna\r\nPa\u0301vlovna. 😀 Anna Pávlovna left."
    places = [text[low:high] for _, _, low, high in locate([text], QuoteFinder(("Anna Pávlovna",)))]
    assert places == ["Anna\r\nPa\u0301vlovna", "Anna Pávlovna"]
