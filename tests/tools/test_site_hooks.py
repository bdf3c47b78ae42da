"""Pages of the site that no file of docs/ holds."""

from calipers.cli import every_command
from tools.site_hooks import commands_page


def test_every_command_stands_on_its_page_with_its_options():
    page = commands_page()
    assert page.count("\n## calipers ") == len(every_command()) > 10
    assert "\n## calipers eval\n\n```text\nUsage: calipers eval [OPTIONS]" in page
    assert "--corrected-by" in page
