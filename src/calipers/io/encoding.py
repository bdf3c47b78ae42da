"""In which encoding a spreadsheet wrote its text, where that is not UTF-8."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_SIGNS = "€‚„…‘’“”•–—™¡§©«®°±²³´·»¿\N{NO-BREAK SPACE}×÷"
_UNLIKELY = "ÿþðÞÐ"
"""Letters of few texts, and of many files that are no text at all."""


def encoding_of(head: bytes) -> str | None:
    """The encoding of a beginning that is not UTF-8; None where it is, or where nobody can say.

    >>> encoding_of("Größe;Straße".encode("cp1252")), encoding_of("Größe".encode())
    ('cp1252', None)
    """
    if head.startswith(_UTF_16):
        return "utf-16"
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # The end may be cut in the middle of a character.
        if error.start >= len(head) - 3 and error.reason == "unexpected end of data":
            return None
    else:
        return None
    try:
        text = head.decode("cp1252")
    except UnicodeDecodeError:
        return None
    foreign = {one for one in text if ord(one) > 127}
    usual = all((one.isalpha() and one not in _UNLIKELY) or one in _SIGNS for one in foreign)
    return "cp1252" if usual and b"\x00" not in head else None
