"""A history as a static site: lines over time, a page for each evaluation, a badge.

Every file gets its name when it is whole, and the index comes last, so that no link of it
leads nowhere. Nothing is loaded from elsewhere, so any host of files serves it.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import msgspec

from calipers.errors import InvalidInput, StoreAway, WriteFailed
from calipers.io.files.write import check_folder, whole_file
from calipers.model.document import Document, Note
from calipers.model.evaluation import Evaluation
from calipers.model.fact import text_of
from calipers.present.escape import clean, printable
from calipers.present.html import for_page
from calipers.questions.compare.settings import CompareSettings, compare
from calipers.questions.history.document import mean_text, shown
from calipers.questions.history.result import Alarm, AlarmCheck, History, Shown
from calipers.questions.history.settings import (
    HistoryAlarmSettings,
    HistorySettings,
    history_trend,
)
from calipers.questions.report.browse import open_saved
from calipers.questions.report.commands import no_commands
from calipers.questions.report.page.page import document_page, fill, render
from calipers.questions.report.result import Report
from calipers.questions.report.rule import describe
from calipers.store.load import load_scores
from calipers.store.open import Store, open_store
from calipers.words import number, plural

PAGES = "evaluations"
COLOURS = {"red": "#c73a2c", "brightgreen": "#2c8a44", "lightgrey": "#6b6b6b"}
"""The colours of badges by the names of shields.io, dark enough for white text."""
CHARACTER = 6.6
SPACE = 10
"""The width of a character and of the space around a text of the badge, in pixels."""


def write_site(history: History, folder: str | Path, settings: HistorySettings) -> str:
    """Write the listed evaluations as a site, and return what was written as a sentence.

    ``settings`` are those of the list: the lines over time are of the same evaluations,
    and the verdict is that of ``calipers history alarm`` over all of a name.
    """
    if not history.evaluations:
        raise InvalidInput(f"There is nothing to show: {history.document().sentence}")
    check_folder(folder, "a site")
    store = open_store(settings.store)
    place = Path(folder)
    names: dict[str, list[Evaluation]] = {}
    for evaluation in history.evaluations:
        names.setdefault(evaluation.name, []).append(evaluation)
    watched = HistoryAlarmSettings(
        which=settings.which, metrics=settings.metrics, store=settings.store
    )
    # A page may be read at any time, so it does not say that an evaluation is overdue.
    trends = {
        name: replace(
            history_trend(name, settings=watched).drawn(len(listed)), missing=None
        )
        for name, listed in names.items()
    }
    # Made last, so that a refusal leaves no empty folder.
    try:
        (place / PAGES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteFailed(
            f"{place} cannot be made: {error.strerror}; name a folder."
        ) from error
    for listed in names.values():
        for evaluation, before in zip(listed, [*listed[1:], None], strict=True):
            trend = trends[evaluation.name] if evaluation is listed[0] else None
            with no_commands():
                page = _evaluation(store, evaluation, before, trend)
            _write(place / PAGES / f"{evaluation.id}.html", page)
    badge = badge_of(next(iter(trends.values())))
    _write(place / "badge.svg", badge_svg(badge))
    _write(place / "badge.json", msgspec.json.encode(badge, enc_hook=text_of).decode())
    with no_commands():
        parts = [_part(history, trends[name], listed) for name, listed in names.items()]
    written_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    view = {"title": "Retrieval over time", "parts": parts, "made": written_at}
    _write(place / "index.html", fill("site.html.j2", **view))
    pages = plural(len(history.evaluations), "evaluation")
    return f"{pages} written to {place / 'index.html'}, with badge.svg and badge.json."


def _write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode("utf-8", "replace"))


def _part(history: History, trend: Alarm, listed: list[Evaluation]) -> dict[str, object]:
    """The template values of one name: its line over time, and its evaluations."""
    metrics = [
        metric
        for metric in history.metrics
        if any(metric in row.summaries for row in listed)
    ]
    rows = [
        {
            "link": f"{PAGES}/{evaluation.id}.html",
            "saved": f"{evaluation.saved:%Y-%m-%d %H:%M}",
            "id": evaluation.short,
            "commit": (evaluation.commit or "")[:7],
            "branch": clean(evaluation.branch or ""),
            "queries": f"{evaluation.queries:,}",
            "means": [mean_text(evaluation, metric) for metric in metrics],
            "changed": " and ".join(evaluation.changed),
        }
        for evaluation in listed
    ]
    return {
        "name": clean(trend.name),
        "answer": for_page(trend.document(), name=trend.name),
        "metrics": metrics,
        "rows": rows,
    }


def _evaluation(
    store: Store, evaluation: Evaluation, before: Evaluation | None, trend: Alarm | None
) -> str:
    """The report of a saved evaluation, below its comparison with the one before.

    ``trend`` is given for the newest: it is compared with what the alarm compares it
    with, so that its page, the index and the badge say the same.
    """
    scores = load_scores(store, evaluation)
    above = ""
    if trend is not None and trend.checks:
        above = for_page(
            trend.document(), name="Compared with the reference of the alarm"
        )
    elif before is not None:
        try:
            compared = compare(
                {"before": load_scores(store, before), "now": scores},
                settings=CompareSettings(),
            ).document()
        except StoreAway:
            raise
        except InvalidInput as error:
            notes = [Note("doubt", str(error))]
            compared = Document(
                "These two cannot be compared.", "no clear difference", notes=notes
            )
        above = for_page(compared, name=f"Compared with the one before, {_when(before)}")
    browse = open_saved(
        store, replace(evaluation, name=f"{evaluation.name}, {_when(evaluation)}"), scores
    )
    if browse.pair is None:
        document = shown(Shown(evaluation, scores))
        return document_page(
            document, clean(evaluation.name), above=above, back="../index.html"
        )
    return render(Report((describe(browse),)), above=above, back="../index.html")


def _when(evaluation: Evaluation) -> str:
    commit = f" on {evaluation.commit[:7]}" if evaluation.commit else ""
    return f"{evaluation.saved:%Y-%m-%d %H:%M} UTC{commit}"


def badge_of(trend: Alarm) -> dict[str, object]:
    """The leading metric of the latest evaluation, as the endpoint of shields.io wants it.

    It is red where the alarm rings, and grey where nothing could be compared, or where a
    metric fell by more than is allowed on too few queries for an alarm.
    """
    points = trend.lines[0].points if trend.lines else ()
    colour = "brightgreen" if trend.checks else "lightgrey"
    if any(_fell(check, trend.allow) for check in trend.checks):
        colour = "lightgrey"
    if trend.raised:
        colour = "red"
    return {
        "schemaVersion": 1,
        "label": printable(trend.metrics[0] if trend.metrics else "retrieval", 40),
        "message": number(points[-1].mean) if points else "unknown",
        "color": colour,
    }


def _fell(check: AlarmCheck, allow: float) -> bool:
    """Whether a metric is lower than its reference by more than is allowed."""
    if check.standing == "passed" or check.change is None:
        return False
    return abs(check.change.difference or 0.0) > allow


def badge_svg(badge: Mapping[str, object]) -> str:
    """Draw a badge.

    >>> 'aria-label="recall@10: 0.817"' in badge_svg(
    ...     {"label": "recall@10", "message": "0.817", "color": "brightgreen"}
    ... )
    True
    """
    texts = [str(badge[name]) for name in ("label", "message")]
    left, right = (round(len(text) * CHARACTER) + SPACE for text in texts)
    label, message = (escape(text) for text in texts)
    said = f"{label}: {message}"
    # The text's own length keeps it inside whatever font there is.
    drawn = "".join(
        f'<text x="{middle}" y="14" textLength="{width - SPACE}" lengthAdjust="spacingAndGlyphs">'
        f"{text}</text>"
        for text, middle, width in (
            (label, left / 2, left),
            (message, left + right / 2, right),
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{said}"><title>{said}</title><clipPath id="r"><rect '
        f'width="{left + right}" height="20" rx="3"/></clipPath><g clip-path="url(#r)"><rect '
        f'width="{left}" height="20" fill="#484848"/><rect x="{left}" width="{right}" height="20" '
        f'fill="{COLOURS[str(badge["color"])]}"/></g><g fill="#fff" text-anchor="middle" '
        f'font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{drawn}</g></svg>\n'
    )
