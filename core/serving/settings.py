"""The one file that says how the app is served: where, who signs in how, who may do what, and within which limits.

It is read as a whole before anything begins, and whatever is wrong with it is one sentence. A word that is not known
is refused, as a misspelt rule is no rule.

What people may do, and which page needs it, stands first. A page that is not in `NEEDS` is nobody's, and who has no
role sees nothing but the way to sign in. What a role may do beyond looking at a page is asked where it is done, by
`Visitor.has`.
"""

from __future__ import annotations

import math
import stat
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network, ip_address
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from ..errors import RequestError
from .section import (
    GROUP,
    LOOPBACK,
    Section,
    address,
    flag,
    folder,
    header,
    members,
    metadata,
    networks,
    number,
    one_line,
    origin,
    places,
    secret,
    whole,
)


class Role(StrEnum):
    """What someone is trusted with."""

    OWNER = "owner"  # Describes data, releases it, and sees the ledger: of their own data sets only.
    ANALYST = "analyst"  # Explores what was released.
    STEWARD = "steward"  # Says yes or no to releases above the limit, never to their own; explores what was released.


ANYONE = frozenset(Role)
OWNERS = frozenset({Role.OWNER})

# The roles of which one is enough to open a page, by its file.
NEEDS = MappingProxyType(
    {
        "app.py": ANYONE,
        "pages/data.py": OWNERS,
        "pages/release.py": OWNERS,
        "pages/train.py": OWNERS,
        "pages/ledger.py": OWNERS,
        "pages/compare.py": OWNERS,
        "pages/local.py": OWNERS,
        "pages/explore.py": ANYONE,
        "pages/classify.py": ANYONE,
        "pages/learn.py": ANYONE,
        "pages/approve.py": frozenset({Role.STEWARD}),
    }
)


def may_open(page: str, roles: Collection[Role]) -> bool:
    """Whether somebody with these roles may open a page; nobody may open one that no line above names."""
    return not NEEDS.get(page, frozenset()).isdisjoint(roles)


SHORTEST_SECRET = 32


@dataclass(frozen=True)
class SignIn:
    """Signing in by an OpenID Connect provider."""

    # Address of its description, and what it knows this app as.
    provider: str
    client: str
    # What the provider gave out with that name, and what sign-ins are signed by.
    client_secret: str = field(repr=False)
    cookie_secret: str = field(repr=False)
    hours: float = 8.0  # that a sign-in lasts
    groups_claim: str = "groups"
    unverified_email: bool = False  # Whether addresses count that the provider has not verified.


@dataclass(frozen=True)
class Proxy:
    """Signing in by a proxy, which says in headers who asks."""

    addresses: tuple[IPv4Network | IPv6Network, ...]  # The proxies'; whatever comes from elsewhere is refused.
    # Lower-case names of the headers; the second has groups between commas.
    email_header: str
    groups_header: str
    hours: float = 8.0  # After so long an open page has to connect again, through the proxy.

    def trusts(self, address: str | None) -> bool:
        """Whether a connection from here is a proxy's."""
        try:
            peer = ip_address(address or "")
        except ValueError:
            return False
        peer = getattr(peer, "ipv4_mapped", None) or peer
        return any(peer.version == network.version and peer in network for network in self.addresses)


@dataclass(frozen=True)
class Approval:
    """Which releases need the yes of someone else."""

    epsilon: float = math.inf  # A release that spends more, or after which its data set has spent more, needs it.
    people: int = 1  # So many stewards have to say yes, none of whom asked for it.


@dataclass(frozen=True)
class Limits:
    """What one visitor, and all together, may use."""

    # Open pages of all visitors, and of one.
    sessions: int = 200
    sessions_each: int = 10
    upload_megabytes: int = 200  # of one uploaded file
    memory_megabytes: int = 8_000  # Of the server, above which no new page is opened.
    releases_at_once: int = 4  # That each process makes; others wait.
    forecasts_at_once: int = 2  # That each process works out; nobody has two of them.


@dataclass(frozen=True)
class Settings:
    """The file, read."""

    address: str
    port: int
    public: str  # The origin that browsers see, such as ``https://frostglass.example.org``.
    folder: Path  # Where releases, sign-outs and, unless it is elsewhere, the ledger are kept.
    ledger: str = field(repr=False)
    # How people sign in: one of the two.
    sign_in: SignIn | None
    proxy: Proxy | None
    roles: Mapping[Role, frozenset[str]]  # E-mail addresses and ``group:NAME`` of those who have each.
    # Folders, and addresses of object stores, that an owner may name, by e-mail address or ``group:NAME``.
    data: Mapping[str, tuple[str, ...]]
    approval: Approval = Approval()
    limits: Limits = Limits()
    # A second place, elsewhere, in which an older copy of the ledger is noticed; "" for none.
    witness: str = field(default="", repr=False)

    @property
    def ledger_place(self) -> str | Path:
        """Where the ledger is: in the folder, unless it is elsewhere."""
        return self.ledger or self.folder / "ledger.sqlite"

    @property
    def host(self) -> str:
        """What the header Host has to say."""
        return urlsplit(self.public).netloc

    @property
    def secure(self) -> bool:
        """Whether browsers come by TLS."""
        return self.public.startswith("https://")

    def roles_of(self, name: str, groups: frozenset[str]) -> frozenset[Role]:
        """The roles of somebody with this address and these groups."""
        called = {name} | {GROUP + group for group in groups}
        return frozenset(role for role, members in self.roles.items() if not members.isdisjoint(called))

    def places_of(self, name: str, groups: frozenset[str]) -> tuple[str, ...]:
        """What somebody with this address and these groups may name on the server."""
        called = {name} | {GROUP + group for group in groups}
        return tuple(place for who, places in self.data.items() if who in called for place in places)


def read_settings(path: Path) -> Settings:
    """Read and check the whole file.

    Raises
    ------
    RequestError
        Saying the first thing that is wrong with it; a secret is never repeated.
    """
    try:
        text, mode = path.read_text(encoding="utf-8"), path.stat().st_mode
        content = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not text in UTF-8"
        raise RequestError(f"The configuration {str(path)!r} cannot be read: {reason}.") from None
    except tomllib.TOMLDecodeError as problem:
        # The parser's own words end with where it is, and do not quote the line.
        raise RequestError(f"The configuration {str(path)!r} is not TOML: {problem}.") from None
    except (RecursionError, ValueError):  # of Python, which bounds both
        raise RequestError(
            f"The configuration {str(path)!r} cannot be read, as lists are too deep in it or a number is too long."
        ) from None
    everything = Section(content, "")
    server, roles, data = (everything.section(name) for name in ("server", "roles", "data"))
    settings = Settings(
        address=server.take("address", address, "127.0.0.1"),
        port=server.take("port", whole(1, 65_535), 8501),
        public=server.take("public", origin),
        folder=server.take("folder", folder),
        ledger=server.take("ledger", one_line, ""),
        witness=server.take("witness", one_line, ""),
        sign_in=_sign_in(everything.section("sign_in"), mode) if "sign_in" in content else None,
        proxy=_proxy(everything.section("proxy")) if "proxy" in content else None,
        roles=MappingProxyType({role: roles.take(role.value, members, frozenset()) for role in Role}),
        data=MappingProxyType({name: data.take(name, places) for name in data.content}),
        approval=_approval(everything.section("approval")) if "approval" in content else Approval(),
        limits=_limits(everything.section("limits")) if "limits" in content else Limits(),
    )
    for section in (server, roles, everything):
        section.end()
    _check_together(settings)
    return settings


def _check_together(settings: Settings) -> None:
    if (settings.sign_in is None) == (settings.proxy is None):
        raise RequestError(
            "The configuration needs one of [sign_in] and [proxy], and not both, as nobody is served who has not "
            "signed in."
        )
    if not any(settings.roles.values()):
        raise RequestError("The configuration gives nobody a role in [roles], so nobody could open a page.")
    local = urlsplit(settings.public).hostname in LOOPBACK
    if not settings.secure and not local:
        raise RequestError(
            "The setting public in [server] has to begin with https://, as a sign-in that goes over an open line can "
            "be copied on its way."
        )
    if settings.approval.epsilon < math.inf and not settings.roles[Role.STEWARD]:
        raise RequestError("The configuration asks for stewards in [approval] and names none in [roles].")


def _sign_in(section: Section, mode: int) -> SignIn:
    inline = {"client_secret", "cookie_secret"} & section.content.keys()
    if inline and mode & (stat.S_IROTH | stat.S_IWOTH):
        raise RequestError(
            f"The configuration has a secret in it ({min(inline)}) and everyone on this computer may read it; take "
            "that away with chmod o-rw, or name a file with the secret."
        )
    found = SignIn(
        provider=section.take("provider", metadata),
        client=section.take("client", one_line),
        client_secret=secret(section, "client_secret", 1),
        cookie_secret=secret(section, "cookie_secret", SHORTEST_SECRET),
        hours=section.take("hours", number(0.01, 720), 8.0),
        groups_claim=section.take("groups_claim", one_line, "groups"),
        unverified_email=section.take("unverified_email", flag, False),
    )
    section.end()
    return found


def _proxy(section: Section) -> Proxy:
    found = Proxy(
        addresses=section.take("addresses", networks),
        email_header=section.take("email_header", header),
        groups_header=section.take("groups_header", header, ""),
        hours=section.take("hours", number(0.01, 720), 8.0),
    )
    section.end()
    return found


def _approval(section: Section) -> Approval:
    found = Approval(section.take("epsilon", number(0, 100)), section.take("people", whole(1, 5), 1))
    section.end()
    return found


def _limits(section: Section) -> Limits:
    usual = Limits()
    found = Limits(
        sessions=section.take("sessions", whole(1, 10_000), usual.sessions),
        sessions_each=section.take("sessions_each", whole(1, 10_000), usual.sessions_each),
        upload_megabytes=section.take("upload_megabytes", whole(1, 10_000), usual.upload_megabytes),
        memory_megabytes=section.take("memory_megabytes", whole(500, 10_000_000), usual.memory_megabytes),
        releases_at_once=section.take("releases_at_once", whole(1, 1_000), usual.releases_at_once),
        forecasts_at_once=section.take("forecasts_at_once", whole(1, 1_000), usual.forecasts_at_once),
    )
    section.end()
    return found
