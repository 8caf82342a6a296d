"""YAML of declarations and codebooks: read with every scalar as the text that it is, and written in flow style.

By YAML's own rules "no" would be a truth value, 12:30 a number and 010 an eight. Here the reader of an entry says what
its place asks for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from ..errors import RequestError

MOST_CHARACTERS = 4_000_000


class _Texts(yaml.BaseLoader):  # type: ignore[misc]
    """YAML whose scalars are all texts, without aliases, which could grow without end, and without a key twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise RequestError("The file uses a YAML alias (*name), which is not read; write it out.")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for place, key in enumerate(keys):
            if not isinstance(key, str) or key in keys[:place]:
                raise RequestError(f"The file says {str(key)!r} twice in one place; say it once.")
        found: dict[Any, Any] = super().construct_mapping(node, deep=True)
        return found


_Texts.add_constructor(
    yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, lambda loader, node: loader.construct_mapping(node)
)


def mapping_of(text: str, what: str) -> dict[str, Any]:
    """A YAML mapping whose scalars are all texts; RequestError on anything else."""
    if len(text) > MOST_CHARACTERS:
        raise RequestError(f"{what} has more than {MOST_CHARACTERS:,} characters.")
    try:
        value = yaml.load(text, _Texts)
    except RequestError:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1:,}" if mark is not None else ""
        raise RequestError(f"{what} is not YAML{where}: check indentation, colons and brackets.") from None
    except (RecursionError, ValueError):
        raise RequestError(f"{what} is not YAML that can be read.") from None
    if not isinstance(value, dict):
        raise RequestError(f"{what} must be a YAML mapping from names to what is said of them.")
    return value


def in_flow(value: object) -> str:
    """A value in YAML's flow style: numbers plain, and texts in quotes where another reader might see more in them."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{in_flow(str(key))}: {in_flow(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(in_flow, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    text = str(value)
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_ ]*[A-Za-z0-9_]|[A-Za-z]|\d{4}-\d{2}-\d{2}", text)
    words = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
    if plain and text.lower() not in words:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\U{ord(letter):08x}" for letter in quoted)
