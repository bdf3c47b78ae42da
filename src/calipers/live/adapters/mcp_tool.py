"""A tool of an MCP server: which one, what it takes, and the results in what it returns."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from calipers.live.adapters.callable import K_NAMES
from calipers.live.answers import list_in
from calipers.live.failures import AskFailed, beginning
from calipers.names import LISTS, RESULT
from calipers.words import did_you_mean

QUERY_NAMES = ("query", "q", "question", "searchquery", "search", "text", "input", "prompt")
LIMIT_NAMES = (*(name.replace("_", "") for name in K_NAMES), "maxresults", "count", "topn", "num")

ALONE = (*RESULT["id"], *RESULT["text"], *RESULT["document"])
"""What one result has that comes alone, without a list around it."""

Arguments = Callable[[str, int], dict[str, Any]]


def chosen_tool(name: str, tools: Sequence[Any]) -> Any:
    """The tool of that name, or the only one that takes a question where none is named."""
    named = [tool.name for tool in tools]
    known = beginning(", ".join(named), 300) or "none"
    if name:
        for tool in tools:
            if tool.name == name:
                return tool
        raise AskFailed(
            "mcp",
            f"the server has no tool {name!r}; it has {known}.{did_you_mean(name, named)}",
            hopeless=True,
        )
    able = [tool for tool in tools if _question_in(_properties(tool), _required(tool))]
    if len(able) != 1:
        raise AskFailed(
            "mcp", f"name the tool to ask after a #; the server has {known}", hopeless=True
        )
    return able[0]


def _properties(tool: Any) -> dict[str, Any]:
    found = (tool.input_schema or {}).get("properties")
    return found if isinstance(found, dict) else {}


def _required(tool: Any) -> list[str]:
    found = (tool.input_schema or {}).get("required")
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _types(schema: Any) -> set[str]:
    """The types that a value may have; none where the schema does not say."""
    if not isinstance(schema, dict):
        return set()
    found = schema.get("type")
    several = [one for name in ("anyOf", "oneOf") for one in schema.get(name) or ()]
    own = (
        {found} if isinstance(found, str) else {one for one in found or () if isinstance(one, str)}
    )
    return own.union(*map(_types, several))


def _named(properties: Mapping[str, Any], names: Sequence[str], kinds: set[str]) -> str | None:
    plain = {
        name.replace("_", "").replace("-", "").lower(): name for name in reversed([*properties])
    }
    fits = (plain[name] for name in names if name in plain)
    return next((one for one in fits if (_types(properties[one]) or kinds) & kinds), None)


def _question_in(properties: Mapping[str, Any], required: Sequence[str]) -> str | None:
    found = _named(properties, QUERY_NAMES, {"string"})
    if found is not None:
        return found
    texts = [name for name, schema in properties.items() if "string" in _types(schema)]
    needed = [name for name in texts if name in required]
    return needed[0] if len(needed) == 1 else texts[0] if len(texts) == 1 else None


def arguments_for(tool: Any, params: dict[str, Any]) -> Arguments:
    """How a question becomes the arguments of the tool, found out before the first one."""

    def refused(sentence: str) -> AskFailed:
        return AskFailed("mcp", f"the tool {tool.name!r} {sentence}", hopeless=True)

    properties, required = _properties(tool), _required(tool)
    takes = beginning(", ".join(properties), 300) or "nothing"
    for name in params:
        if name not in properties and not tool.input_schema.get("additionalProperties"):
            raise refused(f"takes no argument {name!r}; it takes {takes}")
    left = {name: schema for name, schema in properties.items() if name not in params}
    question = _question_in(left, required)
    if question is None:
        raise refused(
            f"does not say which argument is the question; it takes {takes}: say it with "
            '--request \'{"NAME": "{query}"}\''
        )
    limit = _named(left, LIMIT_NAMES, {"integer", "number"})
    for name in required:
        if name in left and name not in (question, limit):
            raise refused(f"needs the argument {name!r}; give it with --param {name}=VALUE")
    most = (
        left[limit].get("maximum") if limit is not None and isinstance(left[limit], dict) else None
    )

    def arguments(query: str, k: int) -> dict[str, Any]:
        if isinstance(most, int | float) and k > most:
            raise refused(f"gives at most {most:g} results and was asked for {k}; ask for fewer")
        return {**params, question: query, **({limit: k} if limit is not None else {})}

    return arguments


def read_result(result: Any, paths: bool = False) -> Any:
    """The results in what a tool returned: structured, JSON as text, resources, or texts.

    With ``paths`` the caller says where in it they are.
    """
    texts = [one.text for one in result.content if one.type == "text"]
    if result.is_error:
        said = beginning(" ".join(" ".join(texts).split()), 300)
        raise AskFailed("tool error", said or "the tool failed, and gives no reason")
    found: list[Any] = []
    structured = result.structured_content
    if isinstance(structured, dict) and list(structured) == ["result"]:
        # So do servers wrap what is no object, a text of JSON among it.
        structured = structured["result"]
    found.append(_decoded(structured) if isinstance(structured, str) else structured)
    decoded = [_decoded(text) for text in texts]
    if None not in decoded:
        found.append(decoded if len(decoded) > 1 else decoded[0] if decoded else None)
    kinds = ("resource", "resource_link")
    found.append([_resource(one) for one in result.content if one.type in kinds] or None)
    found = [one for one in found if one is not None]
    readable = [one for one in found if paths or _results_in(one) is not None]
    if readable:
        chosen = next((one for one in readable if paths or _results_in(one)), readable[0])
        return [chosen] if not paths and _is_alone(chosen) else chosen
    # Something without a list gets the sentence about it.
    return found[0] if found else [{"text": text} for text in texts if text.strip()]


def _results_in(found: Any) -> Sequence[Any] | None:
    """The results in an answer, one that comes alone among them; None where it holds no list."""
    if _is_alone(found):
        return [found]
    try:
        return list_in(found)
    except AskFailed:
        return None


def _is_alone(found: Any) -> bool:
    if not isinstance(found, dict) or not any(name in found for name in ALONE):
        return False
    return not any(isinstance(found.get(name), list | dict) for name in ("ids", *LISTS))


def _decoded(text: str) -> Any:
    """The list or the object that a text holds, or None."""
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return found if isinstance(found, list | dict) else None


def _resource(block: Any) -> dict[str, Any]:
    held = getattr(block, "resource", block)
    text = getattr(held, "text", None) or getattr(held, "description", None)
    return {"id": str(held.uri), "text": text}
