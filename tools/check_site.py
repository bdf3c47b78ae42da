"""Check the built docs site: links hold, every page is reachable, nothing is fetched elsewhere.

Run it on the folder that mkdocs wrote. Links to other sites are left alone; fonts, scripts, styles
and images of other sites are not: the site must work without a network.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}
LINKS_THAT_LOAD = ("stylesheet", "preload", "preconnect", "dns-prefetch", "icon", "modulepreload")
LOADED_BY_CLASS = {"mermaid": "the script of Mermaid"}
"""What the theme fetches from elsewhere when a page holds something of this class."""
LOADED_BY_STYLE = re.compile(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')]+)")


@dataclass(eq=False)
class Page(HTMLParser):
    """What a page links to, what it loads, and the names inside it."""

    path: Path
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        text = self.path.read_text(encoding="utf-8")
        self.feed(text)
        self.loads += LOADED_BY_STYLE.findall(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to or loads."""
        found = {name: value or "" for name, value in attrs}
        self.names.update(found[name] for name in ("id", "name") if name in found)
        for kind in found.get("class", "").split():
            if kind in LOADED_BY_CLASS:
                self.loads.append(f"https://…/{LOADED_BY_CLASS[kind]}")
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in LOADED and found.get(LOADED[tag]):
            self.loads.append(found[LOADED[tag]])
        if tag == "link" and any(kind in LINKS_THAT_LOAD for kind in found.get("rel", "").split()):
            self.loads.append(found.get("href", ""))


def problems(site: Path) -> Iterator[str]:
    """One sentence for each thing that is wrong with the site."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    reached = {site / "index.html"}
    if not reached <= pages.keys():
        yield f"{site}: there is no index.html"
        return
    waiting = list(reached)
    while waiting:
        path = waiting.pop()
        for target, anchor, link in _inside(site, pages[path]):
            if not target.exists():
                yield f"{path}: the link to {link} leads nowhere"
            elif target in pages:
                if anchor and anchor not in pages[target].names:
                    yield f"{path}: the link to {link} names a place that does not exist"
                if target not in reached:
                    reached.add(target)
                    waiting.append(target)
    for path in sorted(pages.keys() - reached - {site / "404.html"}):
        yield f"{path}: no way leads there from the index"
    for path, page in pages.items():
        for address in page.loads:
            if _is_elsewhere(address):
                yield f"{path}: loads {address} from another site"
            elif not _file(site, path, address).exists():
                yield f"{path}: loads {address}, which is not there"
    for path in sorted(site.rglob("*.css")):
        for address in LOADED_BY_STYLE.findall(path.read_text(encoding="utf-8")):
            yield f"{path}: loads {address} from another site"


def _inside(site: Path, page: Page) -> Iterator[tuple[Path, str, str]]:
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
            continue
        target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
        if target.is_dir():
            target = target / "index.html"
        if target.is_absolute() and not page.path.is_absolute():
            target = site / target.relative_to(site.resolve())
        yield target, unquote(parts.fragment), link


def _file(site: Path, page: Path, address: str) -> Path:
    """The file that a page loads; an address with a slash before it begins at the site."""
    path = unquote(urlsplit(address).path)
    return site / path[1:] if path.startswith("/") else page.parent / path


def _is_elsewhere(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme in ("http", "https") or bool(parts.netloc)


def main(arguments: list[str]) -> int:
    """Print every problem; 0 if there is none, else 1."""
    site = Path(arguments[0]).resolve()
    found = list(problems(site))
    for problem in found:
        print(problem)
    pages = len(list(site.rglob("*.html")))
    print(f"site: {f'{len(found)} problems' if found else f'all fine, {pages} pages'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
