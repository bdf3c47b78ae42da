"""Pages of the site that no file of docs/ holds."""

from calipers.cli import every_command
from tools.site_hooks import commands_page, llms_text


def test_every_command_stands_on_its_page_with_its_options():
    page = commands_page()
    assert page.count("\n## calipers ") == len(every_command()) > 10
    assert "\n## calipers eval\n\n```text\nUsage: calipers eval [OPTIONS]" in page
    assert "--corrected-by" in page


def test_the_list_for_language_models_leads_to_pages_of_the_site():
    text = llms_text()
    assert "](adapters.html)" in text
    assert ".md)" not in text
