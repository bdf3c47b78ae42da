"""Sentences that name options, as Python says them, with keywords, and as a page says them.

A sentence is written once, with the options of the command line. What Python shows and what pages
show passes through here: documents in ``present.retold``, errors where they leave an operation.
Texts of the user, such as a question about another tool, stay as they are.
"""

import re
from collections.abc import Callable

from calipers.names import words_in

OPTIONS = words_in(
    "accept add-to address against all anyway as ask-for baseline by candidates changed check "
    "cluster column config corpus corpus-size corrected-by depth distance drop endpoint every "
    "exact explain filled floor from from-traces grades ground-truth guidelines header id "
    "join-calls json judge judged ledger level list machines map-ids match max-age memory metrics "
    "min-score model most no-results output overwrite param per-query pool port primary questions "
    "rel request require resolve restart results retriever retry-errors run sampled save sealed "
    "sheet stage store times to until weight-by when-tied where"
)
"""Options that sentences name; what else begins with two hyphens is the user's."""
_CHOICES = "complete|id|quote|span|document|evidence|score|all|at-random"
_FILES = "csv|db|json|jsonl|md|parquet|toml|txt|yaml"
_VALUE = (
    r"\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*[a-zA-Z]*(?![\w])"  # 10, 2,4,10, 7d
    r"|'[^']*'|\"[^\"]*\"|[^\s`',;()]*=[^\s`;()]*[^\s`;,.()]"
    r"|https?://[^\s`,;()]*[^\s`,;.()]|[\w./-]+:\w+\b"  # an address, FILE.py:FUNCTION
    rf"|[\w./-]+\.(?:{_FILES})\b|(?:{_CHOICES})\b"
)
_LAST = r"(?!(?:out|too)\b)\w(?:[\w.-]*\w)?(?=\.?$|\)|, or --| compares each)"
"""A word behind an option where nothing else can follow: its value."""
_PLACE = r"[A-Z][A-Z.:_-]*\b"
"""A name in capitals, for which a value is given."""
_COLUMN = re.compile(r"(?<![\w-])--column (?:'([^'=]+)=([^']+)'|(\w+)=([^\s;,.]+))")
_MAP_IDS = re.compile(r"(?<![\w-])--(map-ids) ('[^']*'|[^\s`]*[^\s`,.;)])")
_WITH_VALUE = re.compile(
    rf"(?<![\w-])--([a-z]+(?:-[a-z]+)*) ({_VALUE}|{_PLACE}|{_LAST})(?=( --)?)"
)
_OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
_LEFT_OUT = re.compile(
    r"(\b(?:[Ww]ithout|[Ll]eave(?: out)?|time in) )--([a-z]+(?:-[a-z]+)*)(?= (?:out|is)\b|[.,;:]|$)"
)
"""An option that is not to be given."""
_ALONE = re.compile(r"--([a-z]+(?:-[a-z]+)*) ('[^']*'|[^\s`'-][^\s`]*)(?: -k (\d+))?")
"""An option and its value, perhaps with a k, and nothing else."""
_K = re.compile(r"-k (\d+)(?=:|$)")
"""A k at the start of a cell."""
_GIVEN = re.compile(
    r"(\b[Gg]ive |[a-z]= (?:and|or) )--([a-z]+(?:-[a-z]+)*)(?=[ ,;.]|$)(?! [A-Z])"
)
"""An option to be given, whose value the reader knows."""
_QUOTED = re.compile(r"(?<=[\s(])(\"[^\"]*\")(?![\w\"]|[^']*\}')")
"""A text of the user in a sentence; no value of an option, no JSON."""
_ADVICE = re.compile(r"(?:.*, or )?give --.+|--[a-z-]+ .+|-k \d+.*")
"""Cells and lines that are ours, not a text of the user."""
_ASIDE = re.compile(r" \(--[a-z-]+(?:, --[a-z-]+)*\)")
"""Options in brackets behind what they are."""
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
    >>> in_python("Say --judge anna, or --judge machine:NAME; compare with --anyway.", "=")
    'Say judge="anna", or judge="machine:NAME"; compare with anyway=True.'
    >>> in_python("Leave out --weight-by. Draw more (--most), or ask for --until 0.09.", "=")
    'Leave out weight_by. Draw more (most=), or ask for until=0.09.'
    >>> in_python("Give --times 2,4 --every 7d; see --by type.", "=")
    'Give times=[2, 4], every="7d"; see by="type".'
    """
    if "--" not in text and " in Python)" not in text:
        return _K.sub(r"k=\1", text, count=1) if _K.match(text) else text
    alone = _ALONE.fullmatch(text)
    if alone is not None and alone[1] in OPTIONS and _COLUMN.fullmatch(text) is None:
        k = "" if alone[3] is None else f", k={alone[3]}"
        return f"{_assigned(alone[1], alone[2])}{k}"
    return _outside(text, lambda part: _with_keywords(part, after))


def as_settings(text: str) -> str:
    """Name settings instead of options, as a page has no command line; commands stay as typed.

    >>> as_settings("No corpus is given (--corpus); give --candidates or `calipers eval --rel 2`.")
    'No corpus is given; give candidates or `calipers eval --rel 2`.'
    >>> as_settings("Compare with --anyway (anyway=True in Python), see --explain")
    'Compare with anyway, see the details'
    """
    return _outside(text, _with_settings) if "--" in text else text


def in_cell(text: str, say: Callable[[str], str]) -> str:
    """Say a cell or a line in another way if it is advice; what else it holds may be the user's.

    >>> in_cell("write ids alike, or give --map-ids", in_python)
    'write ids alike, or give map_ids='
    >>> in_cell("How do I squash with git rebase --from x --all?", in_python)
    'How do I squash with git rebase --from x --all?'
    """
    return say(text) if _ADVICE.fullmatch(text) else text


def _outside(text: str, say: Callable[[str], str]) -> str:
    """The text, said in another way outside of commands and of quoted texts of the user."""
    by_tick = text.split("`")
    for at in range(0, len(by_tick), 2):
        parts = _QUOTED.split(by_tick[at])
        # Behind an option quotation marks hold its value.
        ours = [i % 2 == 0 or _ends_in_option(parts[i - 1]) for i in range(len(parts))]
        if all(ours):
            by_tick[at] = say(by_tick[at])
            continue
        pairs = zip(parts, ours, strict=True)
        by_tick[at] = "".join(say(part) if is_ours else part for part, is_ours in pairs)
    return "`".join(by_tick)


def _ends_in_option(text: str) -> bool:
    """Whether the last word is an option."""
    words = text.split()
    return bool(words) and words[-1].startswith("--")


def _with_settings(text: str) -> str:
    """A text outside of commands, with names of settings in place of options."""
    text = text.replace(": --as csv", "").replace("--explain", "the details")
    text = _ASIDE.sub(lambda found: "" if _known(found[0]) else found[0], text)
    text = _BESIDE.sub("", text)
    return _OPTION.sub(lambda found: found[1] if found[1] in OPTIONS else found[0], text)


def _known(text: str) -> bool:
    return all(name in OPTIONS for name in _OPTION.findall(text))


def _with_keywords(text: str, after: str) -> str:
    """A text outside of commands, with keywords in place of options."""
    text = text.replace("--explain", ".explain()").replace("--as csv", ".to_polars()")
    text = _ONE_BESIDE.sub(r"\1", text)
    if _OPTION.search(text) is None:
        return text
    text = _BESIDE.sub("", text)
    text = _COLUMN.sub(
        lambda found: f'columns={{"{found[1] or found[3]}": "{found[2] or found[4]}"}}',
        text,
    )
    text = _MAP_IDS.sub(lambda found: _assigned(found[1], found[2]), text)
    text = _WITH_VALUE.sub(_with_value, text)
    text = _LEFT_OUT.sub(_left_out, text)
    for _ in range(2):
        # Of two the second stands behind the first.
        text = _GIVEN.sub(
            lambda found: (
                found[1]
                + (_named(found[2], "=") if found[2] in OPTIONS else f"--{found[2]}")
            ),
            text,
        )
    return _OPTION.sub(lambda found: _named(found[1], after), text)


def _left_out(found: re.Match[str]) -> str:
    """An option that is not to be given; of one that takes away Python has the value."""
    option = found[2]
    return found[1] + _named(option, "=" if SWITCHES.get(option) == "False" else "")


def _with_value(found: re.Match[str]) -> str:
    """An option and its value, as they stand in a sentence."""
    if found[1] not in OPTIONS or found[1] in SWITCHES:
        return found[0]
    # Of two arguments in a row the first is followed by a comma.
    return _assigned(found[1], found[2]) + ("," if found[3] else "")


def _named(option: str, after: str) -> str:
    """An option without a value; ``after`` stands behind it where it is to be given."""
    if option not in OPTIONS:
        return f"--{option}"
    if option in _OF_COLUMNS:
        return f'columns={{"{option}": …}}'
    if not after:
        return _keyword(option)
    return f"{_keyword(option)}={SWITCHES.get(option, '')}"


def _assigned(option: str, value: str) -> str:
    """An option with its value as a keyword argument."""
    bare = value.strip("'\"")
    if option in _OF_COLUMNS:
        return f'columns={{"{option}": "{bare}"}}'
    return f"{_keyword(option)}={_literal(bare, is_place=value == bare)}"


def _literal(value: str, *, is_place: bool) -> str:
    """A value as code has it; what stands in capitals is a place for one.

    >>> [_literal(value, is_place=True) for value in ("7", "2,4", "7d", "FILE")]
    ['7', '[2, 4]', '"7d"', 'FILE']
    """
    if re.fullmatch(r"\d+(?:\.\d+)?", value) or value.startswith("{"):
        return value
    if re.fullmatch(r"\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)+", value):
        return f"[{', '.join(value.split(','))}]"
    return value if is_place and re.fullmatch(_PLACE, value) else _quoted(value)


def _quoted(value: str) -> str:
    """A text in double quotation marks, as code has it.

    >>> print(_quoted("prefix=a/"))
    "prefix=a/"
    """
    return f'"{value}"'


def _keyword(option: str) -> str:
    """The keyword of an option."""
    return _OTHER_KEYWORDS.get(option, option.replace("-", "_"))


SWITCHES = {
    **dict.fromkeys(
        words_in(
            "all anyway changed check drop list machines overwrite restart retry-errors"
        ),
        "True",
    ),
    "no-results": "False",
}
"""Options without a value, and what they are set to in Python."""
_OF_COLUMNS = frozenset({"grades", "sheet", "distance"})
"""Options for what Python says with ``columns=``."""
_OTHER_KEYWORDS = {
    "column": "columns",
    "from": "form",
    "from-traces": "files",
    "header": "headers",
    "join-calls": "calls",
    "no-results": "results",
    "param": "params",
    "stage": "stages",
}
"""Options whose keyword is another word."""
