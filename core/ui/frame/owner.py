"""Whether a visitor is the owner of the computer that runs the app, who may open its files and its ledger."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

import streamlit as st

from ...serving.door import the_door
from ...serving.settings import Role
from .visiting import visitor_now

VARIABLE = "FROSTGLASS_ALLOW_PATHS"
FORWARDING = ("forwarded", "via")
"""Headers by which a proxy says that it hands on what someone else asked."""
FORWARDING_STARTS = (
    "x-forwarded",
    "x-real-",
    "x-original-",
    "x-client-",
    "x-cluster-",
    "x-envoy-",
    "x-proxy",
    "x-scheme",
    "true-client-",
    "cf-",
    "fly-",
    "fastly-",
)
"""How the names of such headers begin that proxies made up for themselves."""


def stranger() -> str | None:
    """Why the visitor whose script runs now may be someone else than the owner, in a few words; None for the owner.

    A path names a file on the server, and the ledger lists what its owner holds. When only this computer reaches the
    app, the visitor and the owner are the same person; when others reach it, every visitor could read whatever the
    server can. So the address that the server listens on, every host that it answers to and the request itself must
    all be of this computer, and a request that a proxy handed on is anyone's. All of it is looked at in every run.

    The variable ``FROSTGLASS_ALLOW_PATHS`` overrules it: 1 says that whoever gets here is the owner, as behind a proxy
    that asks for a password; anything else says that nobody is. It is needed where a proxy on this computer hides
    that it is one and repeats whatever its visitors claim, as no header tells such a request from the owner's.

    Where the app is served to people who sign in, owners are those who have that role, each of their own data sets.
    """
    if (visitor := visitor_now()) is not None:
        return None if visitor.has(Role.OWNER) else "you are no owner of data here"
    said = os.environ.get(VARIABLE, "").strip().lower()
    if said:
        return None if said in {"1", "true", "yes"} else "whoever runs it says that others reach it"
    hosts = [*(st.get_option("server.allowedHosts") or ["*"]), st.get_option("browser.serverAddress")]
    return foreign(st.get_option("server.address"), hosts, dict(st.context.headers))


def places() -> tuple[str, ...] | None:
    """Where the visitor may read the server's files; None for anywhere, as on one's own computer; () for nowhere."""
    visitor = visitor_now()
    if visitor is None:
        return None if stranger() is None else ()
    rules = the_door().rules
    if rules is None or not visitor.has(Role.OWNER):
        return ()
    return rules.places_of(visitor.name, visitor.person.groups)


def foreign(address: str | None, hosts: Iterable[str], headers: Mapping[str, str]) -> str | None:
    """What about a request need not be of this computer, in a few words; None when all of it is.

    Parameters
    ----------
    address : str | None
        The server listens on it; None is every address.
    hosts : Iterable[str]
        Names under which the server may be reached.
    headers : Mapping[str, str]
        Of the request; one without a host comes from nobody.
    """
    named = {name.lower(): value for name, value in headers.items()}
    if not _here(address):
        return "it listens to other computers"
    if not all(_here(host) for host in hosts):
        return "it answers under other names than this computer's own"
    if any(name in FORWARDING or name.startswith(FORWARDING_STARTS) for name in named):
        return "this visit was handed on by a proxy"
    origin = named.get("origin")
    if not _here(_host(f"//{named.get('host', '')}")) or (origin is not None and not _here(_host(origin))):
        return "this visit was made under another name than this computer's own"
    return None


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _here(host: str | None) -> bool:
    """Whether a host's name or number can mean this computer alone."""
    name = (host or "").strip().lower().rstrip(".").removeprefix("[").removesuffix("]")
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False
