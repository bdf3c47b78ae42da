"""The installed command, before anything else is imported."""

# `signal` would run Python code before Ctrl-C is taken; this is the part of it in C.
import _signal  # type: ignore[import-not-found]
import os
import sys

INTERRUPTED = 130
BAD_INPUT = 2
LEAST_ADDRESS_SPACE = 1_500_000_000
"""Bytes below which the libraries of tables and arrays sometimes end the program by a
signal, or wait for ever, even with the smallest input: at 1.4 GB one time in twelve."""
BYTES_PER_THREAD = 300_000_000
"""Address space for each thread of polars; with less it ends the program by a signal."""
WITHOUT_LIBRARIES = frozenset(("--help", "--help-all", "--version"))


def program() -> None:
    """Load the command line and run it; Ctrl-C while it loads ends the program in silence."""
    before = _signal.getsignal(_signal.SIGINT)
    # Whoever started this may want Ctrl-C to be ignored.
    is_usual = before is _signal.default_int_handler
    if is_usual:
        _signal.signal(_signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    _check_address_space()
    from calipers.cli import program as run

    if is_usual:
        _signal.signal(_signal.SIGINT, before)
    run()


def _check_address_space() -> None:
    """Refuse a limit (``ulimit -v``) under which numpy ends the program with 1, a failed gate."""
    if sys.platform != "win32":  # it has no such limit
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return
        # Each thread of OpenBLAS takes its own share of what is little.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        threads = max(1, limit // BYTES_PER_THREAD)
        if threads < (os.cpu_count() or 1):
            os.environ.setdefault("POLARS_MAX_THREADS", str(threads))
        if limit < LEAST_ADDRESS_SPACE and WITHOUT_LIBRARIES.isdisjoint(sys.argv):
            sys.stderr.write(
                f"Error: There is not enough memory: the address space is limited to "
                f"{limit // 1_000_000} MB, and Calipers takes at least "
                f"{LEAST_ADDRESS_SPACE // 1_000_000} MB; raise the limit (ulimit -v).\n"
            )
            sys.exit(BAD_INPUT)
