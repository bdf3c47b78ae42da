"""Keep one comment on the pull request up to date with the summary.

On a pull request from a fork the token may only read: then the summary of the run is all there
is, and that is no failure. The standard library is enough.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any

PAGE = 100
LONGEST = 60_000
"""GitHub takes comments of up to 65,536 characters."""
REFUSED = (401, 403, 404)
MOST_PAGES = 50


def ask(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """One request to the API of GitHub."""
    request = urllib.request.Request(  # noqa: S310 - the address is the runner's
        f"{os.environ['GITHUB_API_URL']}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        error.close()  # an answer, too, whose connection stays open else
        raise


def own_name() -> str | None:
    """Whose token this is; None for that of an app, which may not ask."""
    try:
        return str(ask("GET", "/user")["login"])
    except urllib.error.HTTPError as error:
        if error.code not in REFUSED:
            raise
        return None


def own_comment(path: str, marker: str) -> int | None:
    """The comment that an earlier run left, on whichever page it stands.

    Anybody can write the marker: a comment of somebody else is never edited.
    """
    name = own_name()
    for page in range(1, MOST_PAGES + 1):
        found = ask("GET", f"{path}?per_page={PAGE}&page={page}")
        for one in found:
            author = one.get("user") or {}
            ours = author.get("type") == "Bot" if name is None else author.get("login") == name
            if ours and (one.get("body") or "").startswith(marker):
                return int(one["id"])
        if len(found) < PAGE:
            break
    return None


def is_fork(event: dict[str, Any]) -> bool:
    """Whether the change comes from another repository."""
    pull = event["pull_request"]
    head = (pull.get("head") or {}).get("repo") or {}
    base = (pull.get("base") or {}).get("repo") or {}
    return head.get("full_name") != base.get("full_name")


def main() -> None:
    """Write the comment, or say why not."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    if is_fork(event):
        say("notice", "From a fork: the token may not comment, so the summary stands alone.")
        return
    marker = f"<!-- calipers: {os.environ['CALIPERS_NAME']} -->"
    text = Path(os.environ["CALIPERS_SUMMARY"]).read_text(encoding="utf-8")
    if len(text) > LONGEST:
        text = text[:LONGEST] + "\n\n… the rest stands in the summary of the run.\n"
    body = {"body": f"{marker}\n{text}"}
    repository = f"/repos/{os.environ['GITHUB_REPOSITORY']}"
    path = f"{repository}/issues/{event['pull_request']['number']}/comments"
    try:
        earlier = own_comment(path, marker)
        if earlier is None:
            ask("POST", path, body)
        else:
            ask("PATCH", f"{repository}/issues/comments/{earlier}", body)
    except urllib.error.HTTPError as error:
        needs = "it needs the permission pull-requests: write. " if error.code in REFUSED else ""
        say(
            "warning",
            f"GitHub refused the comment ({error.code}); {needs}The summary of the run has all.",
        )
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        # A network, or an answer that is not GitHub's: never a reason to fail what was measured.
        reason = " ".join(str(getattr(error, "reason", error)).split())
        say("warning", f"GitHub could not be reached for the comment: {reason:.200}.")


def say(kind: str, sentence: str) -> None:
    """A line that the runner shows beside the run."""
    print(f"::{kind} title=Calipers::{sentence}")


if __name__ == "__main__":
    sys.exit(main())
