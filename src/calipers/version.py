"""The version of this package, and how it is installed."""

__version__ = "0.1.0"
PUBLISHED = False
"""Whether the package is on the package index; until then its name there may be
anybody's, and the docs install from a checkout (``tests/test_release.py``)."""


def installed_from() -> tuple[str, bool]:
    """The address this package was installed from, as pip recorded it, and whether it is editable.

    It is empty for a package of an index. The address of a file or folder begins with
    ``file:``.
    """
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path

    try:
        text = distribution("calipers").read_text("direct_url.json")
    except PackageNotFoundError:  # run from its source
        return Path(__file__).parents[2].as_uri(), True
    if text is None:
        return "", False
    recorded = json.loads(text)
    address = recorded["url"]
    if "vcs_info" in recorded:
        address = (
            f"{recorded['vcs_info']['vcs']}+{address}@{recorded['vcs_info']['commit_id']}"
        )
    if "subdirectory" in recorded:
        address += f"#subdirectory={recorded['subdirectory']}"
    return address, recorded.get("dir_info", {}).get("editable", False)


def pip_install(extra: str) -> str:
    """The command that adds an extra to this installation.

    >>> pip_install("web").startswith("pip install ")
    True
    """
    address, is_editable = installed_from()
    if is_editable:
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        return f"pip install -e '{url2pathname(urlsplit(address).path)}[{extra}]'"
    return f"pip install 'calipers[{extra}]{' @ ' * bool(address)}{address}'"
