"""The smallest case that shows the same fault."""

from collections.abc import Iterator
from dataclasses import replace

from fuzz.case import Case, Finding
from fuzz.run import carry_out

MOST_TRIES = 30


def smallest(finding: Finding) -> Finding:
    """The finding with fewer words, fewer files and fewer bytes, where it stays the same."""
    if "hang" in finding.what:
        return finding  # each try would take as long again
    best, tries = finding, 0
    progress = True
    while progress and tries < MOST_TRIES:
        progress = False
        for case in _smaller(best.case):
            tries += 1
            (found,) = carry_out([case])
            if found is not None and found.what == finding.what:
                best, progress = found, True
                break
            if tries >= MOST_TRIES:
                break
    return best


def _smaller(case: Case) -> Iterator[Case]:
    for at in range(len(case.files)):
        yield replace(case, files=case.files[:at] + case.files[at + 1 :])
    for at in range(1, len(case.command)):
        yield replace(case, command=case.command[:at] + case.command[at + 1 :])
    for at, (name, content) in enumerate(case.files):
        for shorter in _shorter(content):
            files = (*case.files[:at], (name, shorter), *case.files[at + 1 :])
            yield replace(case, files=files)


def _shorter(content: bytes) -> Iterator[bytes]:
    size = len(content) // 2
    while size:
        for start in range(0, len(content), size):
            yield content[:start] + content[start + size :]
            if start // size > 8:
                break
        size //= 2
