"""A table of the configuration, and what its values have to be; whatever is wrong is said in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

from ..errors import RequestError

GROUP = "group:"
HEADER_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
T = TypeVar("T")


class Section:
    """A table of the file, from which each setting is taken once; what is left at the end is unknown."""

    def __init__(self, content: dict[str, Any], name: str) -> None:
        self.content, self.name = content, name
        self._known: set[str] = set()

    @property
    def words(self) -> str:
        """Where a setting is, for a sentence."""
        return f" in [{self.name}]" if self.name else ""

    def section(self, name: str) -> Section:
        """A table inside this one; an empty one where there is none."""
        self._known.add(name)
        inner = self.content.get(name, {})
        if not isinstance(inner, dict):
            raise RequestError(f"The configuration needs a table [{name}] where it has a value {name}.")
        return Section(inner, name)

    def take(self, name: str, check: Callable[[Any], T], usual: T | None = None) -> T:
        """A setting that passes a check, which raises ValueError with what is wanted; required without a usual one."""
        self._known.add(name)
        if name not in self.content:
            if usual is None:
                raise RequestError(f"The configuration lacks the setting {name}{self.words}, which has no default.")
            return usual
        try:
            return check(self.content[name])
        except ValueError as wanted:
            raise RequestError(f"The setting {name}{self.words} has to be {wanted}.") from None

    def end(self) -> None:
        """Refuse what no setting was taken from."""
        if unknown := sorted(self.content.keys() - self._known):
            shown = "".join(sign for sign in unknown[0] if sign.isprintable())[:40]
            raise RequestError(f"The configuration has {shown!r}{self.words}, which is no setting of this version.")


def secret(section: Section, name: str, shortest: int) -> str:
    """A secret in the file itself, or in another one that it names."""
    named = section.take(f"{name}_file", one_line, "")
    given = section.take(name, one_line, "")
    if bool(named) == bool(given):
        raise RequestError(f"The configuration needs one of {name} and {name}_file{section.words}.")
    if named:
        try:
            given = Path(named).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise RequestError(f"The file that {name}_file{section.words} names cannot be read.") from None
    if len(given) < shortest:
        raise RequestError(f"The {name}{section.words} has to have {shortest} characters at least.")
    return given


def one_line(value: Any) -> str:
    """A text."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError("a text in one line")
    return value


def flag(value: Any) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def whole(least: int, most: int) -> Callable[[Any], int]:
    """A check for whole numbers between two."""

    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"a whole number from {least:,} to {most:,}")
        return value

    return check


def number(least: float, most: float) -> Callable[[Any], float]:
    """A check for numbers between two."""

    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            raise ValueError(f"a number from {least:g} to {most:g}")
        return float(value)

    return check


def address(value: Any) -> str:
    """The number of a network address."""
    try:
        return str(ip_address(one_line(value)))
    except ValueError:
        raise ValueError("the number of an address of this computer, such as 127.0.0.1 or 0.0.0.0") from None


def origin(value: Any) -> str:
    """Scheme, host and port that browsers see."""
    parts = _parts(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
        raise ValueError("the address that browsers show, such as https://frostglass.example.org")
    if parts.path not in ("", "/") or parts.fragment:
        raise ValueError("an address without a path, such as https://frostglass.example.org")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def metadata(value: Any) -> str:
    """The address of a provider's description of itself."""
    parts = _parts(value)
    local = parts.hostname in LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or (local and parts.scheme == "http")):
        raise ValueError("the https:// address of the provider's /.well-known/openid-configuration")
    return str(value)


def folder(value: Any) -> Path:
    """A folder that is there."""
    if not _is_folder(one_line(value)):
        raise ValueError("the whole path of a folder that exists")
    return Path(value)


def header(value: Any) -> str:
    """A header's name in lower case."""
    name = one_line(value).lower()
    if not set(name) <= HEADER_SIGNS:
        raise ValueError("the name of a header, such as X-Forwarded-Email")
    return name


def networks(value: Any) -> tuple[IPv4Network | IPv6Network, ...]:
    """Networks, none of which is everything."""
    wanted = "a list of addresses or networks, such as 127.0.0.1 or 10.0.3.0/24, narrower than everyone"
    if not isinstance(value, list) or not value:
        raise ValueError(wanted)
    try:
        networks = tuple(ip_network(one_line(one)) for one in value)
    except ValueError:
        raise ValueError(wanted) from None
    if any(network.prefixlen == 0 for network in networks):
        raise ValueError(wanted)
    return networks


def members(value: Any) -> frozenset[str]:
    """Who has a role."""
    wanted = f"a list of e-mail addresses and of {GROUP}NAME"
    if not isinstance(value, list) or not all(isinstance(one, str) and one.isprintable() for one in value):
        raise ValueError(wanted)
    members = {one.strip() if one.startswith(GROUP) else one.strip().lower() for one in value}
    for member in members:
        if not (len(member) > len(GROUP) if member.startswith(GROUP) else "@" in member and member.isascii()):
            raise ValueError(wanted)
    return frozenset(members)


def places(value: Any) -> tuple[str, ...]:
    """Folders that are there, and beginnings of addresses."""
    wanted = "a list of whole paths of folders that exist, and of addresses that end with a stroke, as s3://bucket/"
    if not isinstance(value, list):
        raise ValueError(wanted)
    for one in value:
        if re.fullmatch(r"[a-z0-9]+://[^/\s]+/(\S*/)?", one_line(one)):
            continue
        if not _is_folder(one) or Path(one) == Path("/"):
            raise ValueError(wanted)
    return tuple(value)


def _parts(value: Any) -> SplitResult:
    """The parts of an address."""
    text = one_line(value)
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:  # a bracket that is open, or a port that there cannot be
        raise ValueError("an address with a host and a port that there can be") from None
    return parts


def _is_folder(path: str) -> bool:
    """Whether a whole path leads to a folder; the system looks up no name that is too long."""
    try:
        return Path(path).is_absolute() and Path(path).is_dir()
    except OSError:
        return False
