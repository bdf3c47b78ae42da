"""The version of this package, and how it is installed."""

__version__ = "0.1.0"
PUBLISHED = False
"""Whether the package is on the package index; until then its name there may be anybody's."""
SOURCE = f"https://github.com/OWNER/calipers/archive/refs/tags/v{__version__}.tar.gz"
"""The source of this version; OWNER is the account that hosts it."""


def pip_install(extra: str) -> str:
    """The command that installs Calipers with an extra.

    >>> pip_install("web").startswith("pip install '")
    True
    """
    return f"pip install '{'calipers' if PUBLISHED else '.'}[{extra}]'"


def requirement() -> str:
    """The requirement with which pip installs this version."""
    return f"calipers=={__version__}" if PUBLISHED else SOURCE
