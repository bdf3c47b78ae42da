"""Sentences that name options, as Python says them: with keywords.

A sentence is written once, with the options of the command line. What Python shows passes
through here: documents in ``present.terminal``, errors about ids where they leave an operation.
"""

import re

_CHOICES = "complete|id|quote|span|document|evidence|score|all|at-random"
_VALUE = rf"\d+(?:\.\d+)?|'[^']*'|\"[^\"]*\"|[^\s`',;()]*=[^\s`;()]*[^\s`;,.()]|(?:{_CHOICES})\b"
_PLACE = r"[A-Z][A-Z.:_-]*\b"
"""A name in capitals, for which a value is given."""
_COLUMN = re.compile(r"(?<![\w-])--column (?:'([^'=]+)=([^']+)'|(\w+)=([^\s;,.]+))")
_MAP_IDS = re.compile(r"(?<![\w-])--(map-ids) ('[^']*'|[^\s`]*[^\s`,.;)])")
_WITH_VALUE = re.compile(rf"(?<![\w-])--([a-z]+(?:-[a-z]+)*) ({_VALUE}|{_PLACE})")
_OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
_ALONE = re.compile(r"--([a-z]+(?:-[a-z]+)*) ('[^']*'|[^\s`'-][^\s`]*)(?: -k (\d+))?")
"""An option and its value, perhaps with a k, and nothing else."""
_K = re.compile(r"-k (\d+)(?=:|$)")
"""A k at the start of a cell."""
_GIVEN = re.compile(
    r"(\b[Gg]ive |[a-z]= (?:and|or) )--([a-z]+(?:-[a-z]+)*)(?=[ ,;.]|$)(?! [A-Z])"
)
"""An option to be given, whose value the reader knows."""
_BESIDE = re.compile(r" \([^()]*\bin Python\)")
"""The keyword, where a sentence has it beside the option."""
_ONE_BESIDE = re.compile(
    rf"(?<![\w-])--?[a-z]+(?:-[a-z]+)*(?: (?:[\d,]+|{_VALUE}|{_PLACE}))?"
    r" \(((?:(?! or | and )[^()])*) in Python\)"
)
"""An option, perhaps with a value, and behind it what stands for both in Python."""


def in_python(text: str, after: str = "") -> str:
    """Replace options by Python keywords: --when-tied is when_tied; commands stay as typed.

    ``after`` stands behind a keyword without a value.

    >>> in_python("Give --rel, or run `calipers eval --rel 2`. More: --explain")
    'Give rel=, or run `calipers eval --rel 2`. More: .explain()'
    >>> in_python("--map-ids prefix=idx2:"), in_python("--map-ids case -k 30")
    ('map_ids="prefix=idx2:"', 'map_ids="case", k=30')
    >>> in_python("-k 20: 80 tokens more"), in_python("give --corpus or --exact to see why")
    ('k=20: 80 tokens more', 'give corpus= or exact= to see why')
    >>> in_python("Give --map-ids prefix=a/, or --rel 2; --judged complete says it.")
    'Give map_ids="prefix=a/", or rel=2; judged="complete" says it.'
    >>> in_python("Give it with --run (run= in Python), or --column item=NAME.", "=")
    'Give it with run=, or columns={"item": "NAME"}.'
    >>> in_python("Compare with --anyway (anyway=True in Python), or give -k 5 (k=5 in Python).")
    'Compare with anyway=True, or give k=5.'
    >>> in_python("Leave --grades out; --sheet NAME takes it. Name it with --column.", "=")
    'Leave columns={"grades": …} out; columns={"sheet": "NAME"} takes it. Name it with columns=.'
    """
    if "--" not in text and " in Python)" not in text:
        return _K.sub(r"k=\1", text, count=1) if _K.match(text) else text
    if (alone := _ALONE.fullmatch(text)) is not None:
        k = "" if alone[3] is None else f", k={alone[3]}"
        return f"{_keyword(alone[1])}={_quoted(alone[2].strip(chr(39)))}{k}"
    parts = text.replace("--explain", ".explain()").replace("--as csv", ".to_polars()")
    by_tick = parts.split("`")
    by_tick[::2] = (_with_keywords(part, after) for part in by_tick[::2])
    return "`".join(by_tick)


def _with_keywords(text: str, after: str) -> str:
    """A text outside of commands, with keywords in place of options."""
    text = _ONE_BESIDE.sub(r"\1", text)
    if _OPTION.search(text) is None:
        return text
    text = _BESIDE.sub("", text)
    text = _COLUMN.sub(
        lambda found: f'columns={{"{found[1] or found[3]}": "{found[2] or found[4]}"}}',
        text,
    )
    text = _MAP_IDS.sub(lambda found: _assigned(found[1], found[2]), text)
    text = _WITH_VALUE.sub(lambda found: _assigned(found[1], found[2]), text)
    for _ in range(2):
        # Of two the second stands behind the first.
        text = _GIVEN.sub(lambda found: f"{found[1]}{_keyword(found[2])}=", text)
    return _OPTION.sub(lambda found: _named(found[1], after), text)


def _named(option: str, after: str) -> str:
    """An option without a value."""
    if after and option in _OF_COLUMNS:
        return f'columns={{"{option}": …}}'
    return _keyword(option) + after


def _assigned(option: str, value: str) -> str:
    """An option with its value as a keyword argument."""
    bare = value.strip("'\"")
    if option in _OF_COLUMNS:
        return f'columns={{"{option}": "{bare}"}}'
    is_number = value[:1].isdigit()
    is_place = value == value.upper() and not is_number and value == bare
    return f"{_keyword(option)}={bare if is_number or is_place else _quoted(bare)}"


def _quoted(value: str) -> str:
    """A text in double quotation marks, as code has it.

    >>> print(_quoted("prefix=a/"))
    "prefix=a/"
    """
    return f'"{value}"'


def _keyword(option: str) -> str:
    """The keyword of an option."""
    return _OTHER_KEYWORDS.get(option, option.replace("-", "_"))


_OF_COLUMNS = frozenset({"grades", "sheet", "distance"})
"""Options for what Python says with ``columns=``."""
_OTHER_KEYWORDS = {"column": "columns", "from": "form"}
"""Options whose keyword is another word."""
