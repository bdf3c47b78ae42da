from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from calipers.match.cover import Cover, Piece, Sighting, enough, holding_ranks, size, union

LENGTH = 12
piece = st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)).map(lambda p: tuple(sorted(p)))
pieces = st.lists(piece, max_size=4).map(tuple)


def characters(some) -> set[int]:
    return {at for start, end in some for at in range(start, end)}


@given(pieces)
def test_a_union_covers_the_same_characters_without_overlaps(some):
    merged = union(some)
    assert characters(merged) == characters(some)
    assert size(some) == len(characters(some))
    assert all(a[1] < b[0] for a, b in pairwise(merged))


@given(st.integers(1, 10_000), st.integers(1, 100))
def test_enough_is_the_fewest_characters_that_make_the_share(length, hundredths):
    needed = enough(length, hundredths / 100)
    assert needed * 100 >= hundredths * length
    assert needed == 1 or (needed - 1) * 100 < hundredths * length


def naive(sightings, least, together):
    """Character by character, document by document."""
    seen: dict[object, set[int]] = {}
    held: list[int] = []
    for one in sightings:
        alone = characters(one.pieces)
        so_far = seen.setdefault(one.source, set()) if together else set()
        so_far |= alone
        if len(alone) >= least * LENGTH or (not held and len(so_far) >= least * LENGTH):
            held.append(one.rank)
    return held


@given(
    st.lists(st.tuples(st.sampled_from([None, "a", "b"]), pieces), max_size=6),
    st.sampled_from([0.25, 0.5, 0.75, 1.0]),
    st.booleans(),
)
def test_the_ranks_that_hold_a_target_are_those_of_the_naive_reference(shown, least, together):
    sightings = [Sighting(i + 1, source, some) for i, (source, some) in enumerate(shown)]
    held = holding_ranks(sightings, LENGTH, least, together=together)
    assert [rank for rank, _ in held] == naive(sightings, least, together)
    assert all(least <= share <= 1 for _, share in held)
    assert [share for _, share in held] == sorted(share for _, share in held)


@given(st.lists(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=3)))
def test_a_cover_grows_as_the_union_of_all_its_pieces(some: list[list[Piece]]) -> None:
    cover = Cover()
    for at, pieces in enumerate(some, 1):
        cover.add(pieces)
        assert cover.size == size(piece for each in some[:at] for piece in each)
