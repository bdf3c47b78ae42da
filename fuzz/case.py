"""One case: files in an empty folder, and what is run there."""

import base64
import shlex
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """A command line, or an expression of Python, with the files that it reads."""

    kind: str
    """Which part of the campaign made it: file, option, call, typed (a table of odd types), live (a
    retriever that misbehaves), method (of a result), dash (standard output), device, seed, shadow
    (a module of another name), or a key of ``run.STREAMS``."""
    command: tuple[str, ...] = ()
    call: str = ""
    """An expression such as ``calipers.evaluate('evals.jsonl', k=-1)``."""
    files: tuple[tuple[str, bytes], ...] = ()

    def shown(self) -> str:
        """The case as lines for a shell."""
        lines = [
            f"printf %s {base64.b64encode(content).decode()} | base64 -d > {shlex.quote(name)}"
            if len(content) < 4000
            else f"# {name}: {len(content):,} bytes; the seed of the campaign makes it again"
            for name, content in self.files
        ]
        if self.call:
            return "\n".join([*lines, f"python -c {shlex.quote(f'import calipers; {self.call}')}"])
        return "\n".join([*lines, f"calipers {shlex.join(self.command)}"])

    def to_dict(self) -> dict[str, Any]:
        """The case as it stands in the corpus of past findings."""
        files = {name: base64.b64encode(content).decode() for name, content in self.files}
        return {"kind": self.kind, "command": self.command, "call": self.call, "files": files}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> "Case":
        """The case that :meth:`to_dict` wrote."""
        files = tuple((name, base64.b64decode(text)) for name, text in kept["files"].items())
        return cls(kept["kind"], tuple(kept["command"]), kept["call"], files)


@dataclass(frozen=True)
class Finding:
    """What should not have happened, and the case that made it happen."""

    what: str
    """The same for the same fault: the error and the place in our code, or the broken promise."""
    case: Case
    details: str = ""
