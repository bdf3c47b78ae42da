import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.questions.traces.redact import KNOWN, Mask


@given(st.emails(), st.text(max_size=20))
def test_no_address_survives(address, around):
    if address.isascii() and all(c.isalnum() or c in "@.-_+" for c in address):
        masked = Mask(["email"])(f"{around} {address} {around}")
        assert address not in masked


@pytest.mark.parametrize(
    ("name", "text", "masked"),
    [
        ("phone", "call +49 (0)30 1234-567 now", "call [phone] now"),
        ("phone", "in 2024 there were 12 of 300", "in 2024 there were 12 of 300"),
        ("iban", "to DE89 3704 0044 0532 0130 00 please", "to [iban] please"),
        ("ip", "from 10.0.0.17?", "from [ip]?"),
        ("url", "see https://a.example/x?y=1 there", "see [url] there"),
        ("K-[0-9]{4}", "customer K-1174", "customer [masked]"),
    ],
)
def test_what_is_known_is_masked(name, text, masked):
    assert Mask([name])(text) == masked


@pytest.mark.parametrize("bad", ["(", "a*"])
def test_a_pattern_that_cannot_be_meant_gets_a_sentence(bad):
    with pytest.raises(InvalidInput, match="to mask"):
        Mask([bad])


def test_every_known_pattern_is_tested():
    assert set(KNOWN) == {"email", "phone", "iban", "ip", "url"}
