import click

from tools.check_docs import (
    HELP_BLOCK,
    broken_links,
    operations_table,
    unmentioned,
    unreachable,
    unreferenced,
)


@click.group()
def main():
    """Measure a retriever."""


@main.command("eval")
@click.option("-k", help="How many results count.")
def evaluate(k):
    """Score one run."""


def test_a_command_counts_as_mentioned_only_by_its_whole_name():
    texts = ["`calipers evaluate`", "calipers history list", "calipers eval-all"]
    assert list(unmentioned(["eval", "history list"], texts)) == [
        "docs/: no document mentions the command `calipers eval`"
    ]
    assert list(unmentioned(["eval"], [*texts, "Run `calipers eval`."])) == []


def test_a_copy_of_a_help_text_is_a_problem():
    copied = "# Eval\n\n```console\n$ calipers eval --help\nUsage: old\n```\n"
    assert HELP_BLOCK.search(copied)
    assert not HELP_BLOCK.search("```console\n$ calipers eval run.json\nold\n```\n`--help` says.\n")


def test_links_are_followed(tmp_path):
    (tmp_path / "other.md").write_text("# A heading\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n[ok](other.md) [ok](other.md#a-heading) [ok](#here) [ok](https://a.example/x)\n"
        "[ok](mailto:a@b.example) ![gone](picture.png) [gone](other.md#nothing) `[code](x.md)`\n"
        "```\n[code](y.md)\n```\n"
    )
    assert list(broken_links(page)) == [
        f"{page}: the link to picture.png leads nowhere",
        f"{page}: the link to other.md#nothing names a heading that does not exist",
    ]


def test_every_page_is_reached_from_the_index_also_through_others(tmp_path):
    pages = {
        "README.md": "[a](a.md) [up](../README.md) `[d](d.md)`",
        "a.md": "[b](more/b.md#there)",
        "more/b.md": "[back](../a.md)",
        "c.md": "[a](a.md)",
        "d.md": "",
    }
    for name, text in pages.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    lost = [f"{tmp_path / 'docs' / name}: no links lead here from docs/README.md" for name in "cd"]
    assert list(unreachable(tmp_path)) == [one.replace(": no", ".md: no") for one in lost]


def test_the_list_of_operations_is_made_from_their_declarations():
    assert "| [`evaluate`](evaluate.md) | `calipers eval` |" in operations_table()


def test_an_operation_that_the_reference_leaves_out_is_named():
    said = list(unreferenced("::: calipers.gate\n::: calipers.trends\n"))
    assert not [one for one in said if "calipers.gate`" in one]
    assert any("::: calipers.history_trend`" in one for one in said)
