"""Colours that all readers can tell apart, on white paper and on the page."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """The few colours that a chart may use."""

    ink: str
    quiet: str
    """Axis labels."""
    line: str
    """Grid and rules."""
    accent: str
    worse: str
    """Set against the accent; the two differ for every kind of colour vision, and in lightness."""
    even: str
    paper: str


LIGHT = Palette(
    ink="#1c2430",
    quiet="#5b6675",
    line="#dfe3e8",
    accent="#1f5fa8",
    worse="#c0500c",
    even="#8a94a1",
    paper="#ffffff",
)
PAGE = Palette(
    ink="var(--ink)",
    quiet="var(--quiet)",
    line="var(--line)",
    accent="var(--accent)",
    worse="var(--worse)",
    even="var(--even)",
    paper="var(--paper)",
)
"""The names of the page's own colours, so that a chart turns dark with it."""

LIGHT_PAGE = {
    "paper": "#ffffff",
    "raised": "#f6f8fa",
    "ink": "#1c2430",
    "quiet": "#57616f",
    "line": "#dfe3e8",
    "accent": "#1f5fa8",
    "worse": "#b3480a",
    "even": "#7d8794",
}
DARK_PAGE = {
    "paper": "#12161c",
    "raised": "#1a2028",
    "ink": "#e6eaf0",
    "quiet": "#a3afbe",
    "line": "#2d3641",
    "accent": "#7db3f0",
    "worse": "#f29b5e",
    "even": "#8b96a4",
}
"""What those names mean on a page that is a chart alone; the report's sheet has the same."""
