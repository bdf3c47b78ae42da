"""What the package says about itself, made when it is built: addresses, and README.

A page of the package index shows README by itself, so a link to a file of the repository must say
where the repository is.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?\[[^\]]*\]\()(?!https?:|#|mailto:)([^)\s]+)\)")


def with_whole_links(text: str, repository: str, version: str) -> str:
    """A document of the top folder whose links can be followed from anywhere."""

    def whole(found: re.Match[str]) -> str:
        kind = "raw" if found[1].startswith("!") else "blob"
        return f"{found[1]}{repository}/{kind}/v{version}/{found[2]})"

    return _LINK.sub(whole, text)


class CustomMetadataHook(MetadataHookInterface):
    """Adds the addresses and the description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add what depends on the repository and on the version."""
        repository = self.config["repository"]
        source = Path(self.root, "src", "calipers", "version.py").read_text(encoding="utf-8")
        version = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
        if version is None:
            raise ValueError("src/calipers/version.py does not say __version__.")
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_whole_links(readme, repository, version[1]),
        }
        metadata["urls"] = {
            "Documentation": f"{repository}/blob/v{version[1]}/docs/README.md",
            "Changes": f"{repository}/blob/v{version[1]}/CHANGELOG.md",
            "Source": repository,
            "Issues": f"{repository}/issues",
        }
