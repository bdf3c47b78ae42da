"""Pages in the browser of tests/conftest.py."""

import pytest


class Opened:
    """A page, and everything that it said, asked for or did wrong."""

    def __init__(self, page, path):
        self.page = page
        self.troubles: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.troubles.append(message.text))
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("dialog", lambda dialog: self.troubles.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))
        page.set_default_timeout(10_000)
        page.goto(path.as_uri())
        self.address = path.as_uri()

    def is_calm(self):
        """Whether nothing was said, nothing but the file was asked for, and nothing ran."""
        return (
            self.troubles == []
            and self.requests == [self.address]
            and self.page.evaluate("window.hacked === undefined")
        )


@pytest.fixture
def visit(browser):
    """Open a file; ``visit(path, width=360, script=False)``."""
    contexts = []

    def open_file(path, width=1280, script=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            java_script_enabled=script,
        )
        contexts.append(context)
        return Opened(context.new_page(), path)

    yield open_file
    for context in contexts:
        context.close()
