"""What Spark complains about, in our words."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from calipers.errors import InvalidInput

_TRACEBACK = "Traceback (most recent call last):"
_NO_JAVA = "[JAVA_GATEWAY_EXITED]"
_OURS = re.compile(r"calipers\.errors\.\w+: (.*)")


@contextmanager
def spoken() -> Iterator[None]:
    """Complaints of Spark as our sentence, without the stack of the Java machine."""
    errors: tuple[type[BaseException], ...] = ()
    with suppress(ImportError):
        from pyspark.errors import PySparkException

        errors = (PySparkException,)
    with suppress(ImportError):
        from py4j.protocol import Py4JError

        errors = (*errors, Py4JError)
    try:
        yield
    except errors as error:
        cause = _cause(str(error)) or type(error).__name__
        ours = _OURS.match(cause)
        raise InvalidInput(ours[1] if ours else f"Spark cannot do this: {cause}") from None


def _cause(text: str) -> str:
    """The line that says what happened, in what Spark reports of a worker in Python.

    >>> _cause("[BAD] No such path.\\n\\nJVM stacktrace: …")
    '[BAD] No such path.'
    >>> _cause(f"A worker failed:\\n{_TRACEBACK}\\n  File …\\nOSError: no room\\n")
    'OSError: no room'
    >>> _cause("[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.")
    'Java does not start; install Java 17 or newer, or say in JAVA_HOME where it is.'
    """
    before, _, trace = text.partition(_TRACEBACK)
    if _NO_JAVA in text:
        return "Java does not start; install Java 17 or newer, or say in JAVA_HOME where it is."
    if "No module named 'calipers'" in trace:
        return "Calipers is not installed where the workers are; install it there, too."
    lines = [line.strip() for line in before.splitlines() if line.strip()]
    # Behind the indented lines of a traceback stands the error itself.
    raised = [line for line in trace.splitlines() if line and not line.startswith(" ")]
    return (raised or lines or [""])[0][:300]
