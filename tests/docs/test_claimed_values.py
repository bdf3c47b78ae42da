"""The values, keys and rules that pages name are those of the program, and so are the commands
that the program's own sentences name."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from calipers.cli import every_command, group
from calipers.config import check_config
from calipers.model.matching import ID_RULES
from calipers.model.policy import CHOICES, Policy
from calipers.operation import OPERATIONS, keys_of
from tools.check_docs import current_help

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "calipers").rglob("*.py"))


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text("utf-8")


def rows_of(text: str, heads: str) -> list[list[str]]:
    """The cells of the rows below a table's heads."""
    table = text.partition(heads)[2].partition("\n\n")[0]
    lines = table.strip().splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_what_happens_to_which_query_is_a_policy_with_its_default() -> None:
    rows = rows_of(page("evaluate"), "| case | option | usually | also |")
    asked = {cells[1].strip("`").removeprefix("--").replace("-", "_"): cells for cells in rows}
    judged = asked.pop("judged")
    assert set(asked) == set(CHOICES) - {"calls"}
    for name, (_, option, usually, also) in asked.items():
        values = re.findall(r"`([a-z]+)`", usually)
        default = getattr(Policy(), name)
        assert default is None or values[0] == default, option
        assert {*values, *re.findall(r"`([a-z]+)`", also)} == set(CHOICES[name]), option
    said = " ".join(current_help(group, "eval").split())
    for value in re.findall(r"`([a-z]+)`", judged[3]):
        assert re.search(rf"--judged \[[^\]]*\b{value}\b", said), value


def test_the_policies_in_json_have_the_values_of_the_page() -> None:
    rows = rows_of(page("json"), "| key | case | values |")
    named = {key.strip("`"): set(re.findall(r"`([a-z]+)`", values)) for key, _, values in rows}
    assert named == {name: set(values) for name, values in CHOICES.items()}


def test_the_settings_file_has_every_key_of_its_page() -> None:
    keys = {key for one in OPERATIONS.values() for key in keys_of(one.function).values()}
    rows = rows_of(page("config"), "| key | value |")
    gate = next(cells for cells in rows if cells[0] == "`gate.…`")
    plain = {key for cells in rows if cells is not gate for key in re.findall(r"`(.+?)`", cells[0])}
    assert plain - keys == set()
    nested = {f"gate.{key}" for key in re.findall(r"`([a-z-]+)`", gate[1].split(", as ")[0])}
    of_all = {"metrics": ["mrr"], "primary": "mrr"}
    assert nested == {key for key in keys if key.startswith("gate.")} | {
        f"gate.{key}" for key in of_all
    }
    check_config({"gate": of_all}, Path("calipers.toml"))


def test_the_rules_of_ids_are_those_of_the_page() -> None:
    text = page("evaluate").partition("**Ids that are written in two ways.**")[2]
    named = set(re.findall(r"`([a-z]+)(?:=[^`]*)?`", text.partition("Where ids of missed")[0]))
    assert named == {"prefix", "suffix", *ID_RULES}


COMMAND = re.compile(r"`calipers ([a-z]+(?: [a-z]+)?)((?: [^`]*)?)`")
OPTION = re.compile(r"(?<= )--[a-z][a-z-]*")


@cache
def helps() -> dict[str, str]:
    return {name: current_help(group, name) for name in every_command()}


def texts_of(tree: ast.AST) -> Iterator[str]:
    """Every text of a module; what is filled in stands as a word."""
    inside = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "FILE"
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and id(node) not in inside:
            yield str(node.value)


def unknown_in(text: str) -> list[str]:
    """Commands of a text that there are not, and options that their command does not have."""
    wrong = []
    for name, rest in COMMAND.findall(text):
        first = name.split(" ")[0]
        known = name if name in helps() else first
        if known not in helps():
            wrong.append(f"calipers {name}")
            continue
        # `sweep FILE --floor` is the command `sweep --floor`.
        asked = " ".join(said for one, said in helps().items() if one.split(" --")[0] == known)
        wrong += [
            f"calipers {known} {option}"
            for option in OPTION.findall(rest)
            if not re.search(rf"(?<![\w-]){option}(?![\w-])", asked)
        ]
    return wrong


def test_commands_that_the_program_names_exist() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {one}"
        for path in SOURCES
        for text in texts_of(ast.parse(path.read_text("utf-8")))
        for one in unknown_in(text)
    ]
    assert wrong == []


def test_a_command_without_the_option_is_found() -> None:
    assert unknown_in("Give both the same ids (`calipers convert --map-ids`).") == [
        "calipers convert --map-ids"
    ]
    assert unknown_in("`calipers unmake x` and `calipers eval a --looks 3`") == [
        "calipers unmake x",
        "calipers eval --looks",
    ]
    assert unknown_in("`calipers sweep a.jsonl --floor`, `calipers eval FILE -k 3`") == []
