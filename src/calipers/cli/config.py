"""calipers config: which settings apply here, and from which file."""

from typing import Any

import click

from calipers.cli.parts import options
from calipers.cli.parts.output import print_json


@click.command("config", short_help="Show the settings that apply here, and where they stand.")
@options.config_option
@options.json_option
def command(config: str | None, as_json: bool) -> None:
    """Show the settings that apply in this folder, and in which file they stand.

    A command takes from there what is not given as an option.

    \b
    Example:
      calipers config
    """
    import os

    from calipers.config import PLAIN, STORE, find_config, read_config
    from calipers.live.adapters.secrets import without_secrets
    from calipers.present.escape import printable

    found = (find_config() if config is None else read_config(config)).to_dict()
    for one in found["settings"]:
        is_store = one["key"] == "store" and one["table"] is None
        one["value"] = _shown_store(one["value"]) if is_store else without_secrets(one["value"])
    named = os.environ.get(STORE, "").strip()
    if named:
        found["settings"].append(
            {
                "key": "store",
                "value": _shown_store(named),
                "table": None,
                "used_by": "every command",
                "environment": STORE,
            }
        )
    if as_json:
        print_json(found)
        return
    if found["file"] is None and not named:
        click.echo(
            f"No settings apply here: there is no {PLAIN}, and no [tool.calipers] in a "
            "pyproject.toml, in this folder or above. `calipers init` writes one."
        )
        return
    if found["file"] is not None:
        click.echo(f"Settings of {printable(found['file'])}:")
    for one in found["settings"]:
        name = f"{one['table']}.{one['key']}" if one["table"] else one["key"]
        origin = (
            f"from the environment variable {STORE}" if "environment" in one else one["used_by"]
        )
        click.echo(f"  {name} = {printable(_written(one['value']), 200)}  ({origin})")


def _written(value: Any) -> str:
    import msgspec

    return msgspec.json.encode(value, enc_hook=str).decode()


def _shown_store(text: str) -> str:
    """The history without its password."""
    from calipers.store.place import place_of

    return place_of(text).shown
