"""What Spark complains of, in our sentences."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from calipers.errors import InvalidInput, MissingExtra


def need_spark() -> None:
    """Say how to install what is missing."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise MissingExtra(
            'Spark is not installed; install it with pip install "calipers[spark]".'
        ) from None


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
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise InvalidInput(
            f"Spark cannot do this: {(lines or [type(error).__name__])[0][:300]}"
        ) from None
