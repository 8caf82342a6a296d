"""Who the visitor of this run is: what is open to them, whether the computer is theirs, and when it is their turn."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from time import sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ...formatting.escapes import in_html
from ...runtime.environment import Attendance, FairLine
from ..serving.door import STRANGER, TOKEN_HEADER, Visitor, the_door
from ..serving.settings import Role, may_open
from .marks import draw

if TYPE_CHECKING:
    from ...privacy.ledger.log import Did

PERSON = "frostglass-person"  # Session state: the mark of the sign-in that the session belongs to.
OUT = "Sign out"


def visitor_now() -> Visitor | None:
    """Who the visitor is, judged in this moment; None where the app serves its own computer alone."""
    door = the_door()
    if door is None:
        return None
    visitor = door.visitor(st.context.headers.get(TOKEN_HEADER))
    return visitor if st.session_state.get(PERSON, visitor.person.mark) == visitor.person.mark else STRANGER


def opens(page: str) -> bool:
    """Whether the visitor may open a page, by its file."""
    visitor = visitor_now()
    return visitor is None or may_open(page, visitor.roles)


def admit(page: str) -> None:
    """End the run here where the visitor may not open the page; the first thing that a page asks.

    A session belongs to one sign-in for good: nothing of it is shown to another one.
    """
    door = the_door()
    if door is None:
        return
    visitor = visitor_now()
    if not may_open(page, visitor.roles):
        st.error("This page is not for you: it needs another role than those you have here.")
        st.stop()
    st.session_state[PERSON] = visitor.person.mark
    door.bind(get_script_run_ctx().session_id, visitor.person)


def who_is_here() -> None:
    """The visitor's name, and the way out."""
    visitor = visitor_now()
    if visitor is None:
        return
    draw(f'<p class="fg-group">{in_html(visitor.name)}</p>')
    if the_door().started.sign_in is not None and st.button(OUT, key="sign-out", type="tertiary"):
        the_door().sign_out(visitor.person)
        st.logout()
        st.stop()


def write_down(did: Did, about: dict[str, Any]) -> None:
    """Have the log of a served app say what the visitor is about to do; nothing on one's own computer.

    RequestError when it cannot be written down; the visitor must not do it then.
    """
    visitor = visitor_now()
    if visitor is not None:
        from ..serving.owners import served_ledger  # which takes a while to load, and every page comes through here

        served_ledger(the_door().started, visitor.name).log.write(visitor.name, did, about)


VARIABLE = "FROSTGLASS_ALLOW_PATHS"
FORWARDING = ("forwarded", "via")  # Headers by which a proxy says that it hands on what someone else asked.
# How the names of such headers begin that proxies made up for themselves.
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

    `address`: the server listens on it; None is every address. `headers`: of the request; one without a host comes from
    nobody.
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


LOOK_AGAIN = 0.05  # Seconds until whoever waits looks again whether it is their turn.


@contextmanager
def turn() -> Iterator[None]:
    """Work when it is the visitor's turn; at once on one's own computer, and within work whose turn has come."""
    if the_door() is None:
        yield
        return
    there = attendance()

    def wait() -> None:
        if there.ended:
            st.stop()
        sleep(LOOK_AGAIN)

    with _line().taken(visitor_now().name, wait):
        yield


def attendance() -> Attendance:
    """Whether this visitor's browser is connected; what it asks is made for being asked from any thread."""
    server, number = get_instance(), get_script_run_ctx().session_id
    return Attendance(lambda: server.is_active_session(number))


@st.cache_resource(show_spinner=False)
def _line() -> FairLine:
    return FairLine(the_door().started.limits.forecasts_at_once)
