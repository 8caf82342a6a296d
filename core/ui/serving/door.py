"""The door of a served app: who has come in, by which connection, and whether they may stay.

Every connection of a browser gets a token of 128 random bits. The server puts it into the connection's headers, from
which pages read it, so a page learns who its visitor is from nothing that the visitor can write. Roles are looked up
in every run and at every message, in the file as it is then: who loses a role, or signs out, is out at once, also with
pages that were open.
"""

import hashlib
import json
import os
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias, TypeGuard

from ...errors import RequestError
from .settings import Proxy, Role, Settings, SignIn, read_settings

# No colon, which no address has unquoted: `group:staff@example.org` is a group, and nobody is called so.
ADDRESS = re.compile(r"[^@\s:]{1,64}@[^@\s:]{1,190}")
SKEW = 300.0  # Seconds by which a provider's clock may be ahead of this one.
LONGEST = 200


@dataclass(frozen=True)
class Person:
    """Somebody who has signed in."""

    # What the ledger and the log call them: their e-mail address, or ``subject:…`` where it is not known for sure.
    name: str
    groups: frozenset[str]  # That they were in when they signed in.
    mark: str  # Tells this sign-in from every other, and says nothing else.
    until: float  # When it ends, in seconds of the epoch.


def from_claims(claims: Mapping[str, Any], rules: SignIn, now: float) -> Person | None:
    """The person of a signed ID token's claims; None when it has ended or does not say enough.

    An e-mail address counts when the provider has verified it, as with many providers anyone may type any address.

    `claims`: Whose signature, issuer, audience and nonce were checked when it was fetched. `rules`: Which claim has the
    groups, and how long a sign-in lasts.
    """
    issuer, subject, begun = claims.get("iss"), claims.get("sub"), claims.get("iat")
    if claims.get("is_logged_in") is not True or not (
        _text(issuer) and _text(subject) and not re.search(r"\s", subject)
    ):
        return None
    if isinstance(begun, bool) or not isinstance(begun, (int, float)) or not begun <= now + SKEW:
        return None
    until = begun + 3600 * rules.hours
    if now >= until:
        return None
    verified = claims.get("email_verified") is True or rules.unverified_email
    address = _address(claims.get("email")) if verified else None
    groups = claims.get(rules.groups_claim)
    named = groups if isinstance(groups, list) else [groups]
    mark = _mark([issuer, subject, begun, claims.get("nonce")])
    return Person(address or f"subject:{subject}", _groups(named), mark, until)


def from_headers(headers: Iterable[tuple[str, str]], rules: Proxy, now: float) -> Person | None:
    """The person whom a trusted proxy names; None when it names nobody, or more than one.

    `headers`: Of a request that came from one of the proxies' addresses. `rules`: Which headers it sets.
    """
    given = [(name.lower(), value) for name, value in headers]
    addresses = [value for name, value in given if name == rules.email_header]
    groups = [value for name, value in given if name == rules.groups_header]
    if len(addresses) != 1 or len(groups) > 1 or (address := _address(addresses[0])) is None:
        return None
    named = groups[0].split(",") if groups else []
    return Person(address, _groups(named), _mark(["proxy", address]), now + 3600 * rules.hours)


def _text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= LONGEST and value.isprintable()


def _address(value: object) -> str | None:
    """An e-mail address in its one spelling, or None."""
    text = value.strip().lower() if isinstance(value, str) else ""
    return text if _text(text) and text.isascii() and ADDRESS.fullmatch(text) else None


def _groups(named: Iterable[object]) -> frozenset[str]:
    return frozenset(name.strip() for name in named if isinstance(name, str) and _text(name.strip()))


def _mark(facts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()


TOKEN_HEADER = "x-frostglass-connection"  # Set by the server on every connection, and taken off whatever comes in.
SIGNED_OUT = "signed-out"  # Folder of the marks of sign-ins that were ended before their time, one empty file each.
MOST_SESSIONS = 20_000  # Sessions of which it is remembered whose they are, the latest.
FULL = "The memory of this server is full; come back a little later."
NOBODY = Person("", frozenset(), "", float("inf"))


@dataclass(frozen=True)
class Visitor:
    """Somebody at the door, as of now."""

    person: Person  # Who has signed in; `NOBODY` for who has not.
    roles: frozenset[Role]  # That the configuration gives them now.

    @property
    def name(self) -> str:
        """What the ledger and the log call them."""
        return self.person.name

    @property
    def known(self) -> bool:
        """Whether they have signed in."""
        return bool(self.person.mark)

    def has(self, role: Role) -> bool:
        """Whether they have a role."""
        return role in self.roles


STRANGER = Visitor(NOBODY, frozenset())


class Full(RequestError):
    """There is no room for another page, of this visitor or of anybody."""


class SessionManager:
    """Who is in.

    `path`: The configuration, looked at again whenever it has changed. What it says of roles, approval and limits of
    pages holds from then on; all else holds from the start. While it cannot be used, nobody has a role.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self.started = read_settings(path)
        self._rules: Settings | None = self.started
        self._seen = _state(path)
        self._lock = Lock()
        self._inside: dict[str, tuple[Person, frozenset[Role]]] = {}
        self._known: OrderedDict[str, None] = OrderedDict()
        self._sessions: OrderedDict[str, str] = OrderedDict()
        self._marks = self.started.folder / SIGNED_OUT
        self._marks.mkdir(mode=0o700, exist_ok=True)

    @property
    def rules(self) -> Settings | None:
        """The configuration as it is now; None while it cannot be used."""
        with self._lock:
            state = _state(self._path)
            if state != self._seen:
                self._seen = state
                try:
                    self._rules = read_settings(self._path)
                except RequestError:
                    self._rules = None
            return self._rules

    @property
    def full(self) -> bool:
        """Whether this process holds more memory than the limits allow, so that nothing new is let in."""
        return _megabytes() > (self.rules or self.started).limits.memory_megabytes

    def judge(self, person: Person | None) -> Visitor:
        """Somebody's standing as of now; a stranger's for who has not signed in, or no longer is."""
        if person is None or not person.mark or self._clock() >= person.until or self._left(person):
            return STRANGER
        rules = self.rules
        return Visitor(person, frozenset() if rules is None else rules.roles_of(person.name, person.groups))

    def enter(self, person: Person | None) -> str:
        """Let a connection in; its token."""
        visitor, token = self.judge(person), secrets.token_hex(16)
        limits = (self.rules or self.started).limits
        if self.full:
            raise Full(FULL)
        with self._lock:
            mine = sum(other.mark == visitor.person.mark for other, _ in self._inside.values())
            if len(self._inside) >= limits.sessions:
                raise Full(f"All {limits.sessions:,} places of this server are taken; come back a little later.")
            if visitor.known and mine >= limits.sessions_each:
                raise Full(f"You have {limits.sessions_each:,} pages open here, and may not open another; close one.")
            self._inside[token] = (visitor.person, visitor.roles)
        return token

    def leave(self, token: str) -> None:
        """Forget a connection."""
        with self._lock:
            self._inside.pop(token, None)

    def visitor(self, token: str | None) -> Visitor:
        """Who has come by a connection, judged now; a stranger for a token that was never given out."""
        with self._lock:
            entered = self._inside.get(token or "")
        return STRANGER if entered is None else self.judge(entered[0])

    def unchanged(self, token: str) -> bool:
        """Whether whoever came by a connection still has what they had then, so that it may go on."""
        with self._lock:
            entered = self._inside.get(token)
        if entered is None:
            return False
        now = self.judge(entered[0])
        return (now.person.mark, now.roles) == (entered[0].mark, entered[1])

    def sign_out(self, person: Person) -> None:
        """End a sign-in before its time, in all windows and for every copy of its cookie."""
        (self._marks / person.mark).touch(mode=0o600)
        self._sweep()

    def bind(self, session: str, person: Person) -> None:
        """Remember whose a session is."""
        with self._lock:
            self._sessions[session] = person.mark
            self._sessions.move_to_end(session)
            while len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)

    def first_time(self, person: Person) -> bool:
        """Whether a sign-in has not been seen yet, as far as this process remembers."""
        with self._lock:
            known = person.mark in self._known
            self._known[person.mark] = None
            while len(self._known) > MOST_SESSIONS:
                self._known.popitem(last=False)
        return not known

    def owns(self, session: str, person: Person) -> bool:
        """Whether a session is this person's, so that they may come back to it or hand it a file."""
        with self._lock:
            return self._sessions.get(session) == person.mark

    def _left(self, person: Person) -> bool:
        return (self._marks / person.mark).exists()

    def _sweep(self) -> None:
        """Take away marks of sign-ins that have ended by themselves: a month is longer than any lasts."""
        for mark in self._marks.iterdir():
            try:
                if self._clock() - mark.stat().st_mtime > 31 * 86_400:
                    mark.unlink()
            except FileNotFoundError:
                pass  # another process was first


def _megabytes() -> float:
    """Memory that this process holds now; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, ValueError, IndexError):
        return 0.0


def _state(path: Path) -> tuple[int, ...]:
    """Tells a file from what it was before; () where it is not."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


_open: list[SessionManager] = []


def open_door(door: SessionManager) -> None:
    """Serve by this door from now on; once in a process."""
    if _open:
        raise RuntimeError("The app is served already.")
    _open.append(door)


def the_door() -> SessionManager | None:
    """The door by which this process serves; None where it serves its own computer alone, as ever."""
    return _open[0] if _open else None


Headers: TypeAlias = list[tuple[bytes, bytes]]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]
