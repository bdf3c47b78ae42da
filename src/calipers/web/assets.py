"""Styles and scripts, all of them ours and in the wheel."""

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from calipers.questions.report.page.page import HERE as REPORT

FOLDER = Path(__file__).parent / "assets"
ASSETS: dict[str, tuple[Path, str]] = {
    "report.css": (REPORT / "style.css", "text/css"),
    "web.css": (FOLDER / "web.css", "text/css"),
    "icon.svg": (FOLDER / "icon.svg", "image/svg+xml"),
    **{path.name: (path, "text/javascript") for path in sorted(FOLDER.glob("*.js"))},
}
"""By the name in the address: only what is listed here can be asked for."""


def asset(request: Request) -> Response:
    """One file."""
    if request.path_params["name"] not in ASSETS:
        raise HTTPException(404)
    path, kind = ASSETS[request.path_params["name"]]
    return Response(
        path.read_bytes(), media_type=kind, headers={"cache-control": "private, max-age=300"}
    )
