"""The one file that says how the app is served: where, who signs in how, who may do what, and within which limits.

It is read as a whole before anything begins, and whatever is wrong with it is one sentence. A word that is not known
is refused, as a misspelt rule is no rule.

What people may do, and which page needs it, stands first. A page that is not in `NEEDS` is nobody's, and who has no
role sees nothing but the way to sign in. What a role may do beyond looking at a page is asked where it is done, by
`Visitor.has`.
"""

import math
import re
import stat
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar
from urllib.parse import SplitResult, urlsplit

from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from ...errors import RequestError

GROUP = "group:"
HEADER_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Role(StrEnum):
    """What someone is trusted with."""

    OWNER = "owner"  # Describes data, releases it, and sees the ledger: of their own data sets only.
    ANALYST = "analyst"  # Explores what was released.
    STEWARD = "steward"  # Says yes or no to releases above the limit, never to their own; explores what was released.


ANYONE = frozenset(Role)
OWNERS = frozenset({Role.OWNER})

# The roles of which one is enough to open a page, by its file.
OF_OWNERS = ("data", "release", "train", "ledger", "compare", "local", "combine")
NEEDS = MappingProxyType(
    dict.fromkeys(("app.py", "pages/explore.py", "pages/classify.py", "pages/learn.py"), ANYONE)
    | {f"pages/{name}.py": OWNERS for name in OF_OWNERS}
    | {"pages/approve.py": frozenset({Role.STEWARD})}
)


def may_open(page: str, roles: Collection[Role]) -> bool:
    """Whether somebody with these roles may open a page; nobody may open one that no line above names."""
    return not NEEDS.get(page, frozenset()).isdisjoint(roles)


SHORTEST_SECRET = 32


def one_line(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError("a text in one line")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def between(least: float, most: float, kind: type[int] | type[float] = float) -> BeforeValidator:
    """A check for numbers between two, or for whole ones."""
    wanted = f"a whole number from {least:,} to {most:,}" if kind is int else f"a number from {least:g} to {most:g}"

    def check(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | kind) or not least <= value <= most:
            raise ValueError(wanted)
        return kind(value)

    return BeforeValidator(check)


def network_address(value: Any) -> str:
    try:
        return str(ip_address(one_line(value)))
    except ValueError:
        raise ValueError("the number of an address of this computer, such as 127.0.0.1 or 0.0.0.0") from None


def origin(value: Any) -> str:
    parts = _parts(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
        raise ValueError("the address that browsers show, such as https://frostglass.example.org")
    if parts.path not in ("", "/") or parts.fragment:
        raise ValueError("an address without a path, such as https://frostglass.example.org")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def metadata(value: Any) -> str:
    parts = _parts(value)
    local = parts.hostname in LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or (local and parts.scheme == "http")):
        raise ValueError("the https:// address of the provider's /.well-known/openid-configuration")
    return str(value)


def existing_folder(value: Any) -> Path:
    if not _is_folder(one_line(value)):
        raise ValueError("the whole path of a folder that exists")
    return Path(value)


def header(value: Any) -> str:
    name = one_line(value).lower()
    if not set(name) <= HEADER_SIGNS:
        raise ValueError("the name of a header, such as X-Forwarded-Email")
    return name


def networks(value: Any) -> tuple[IPv4Network | IPv6Network, ...]:
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
    wanted = f"a list of e-mail addresses and of {GROUP}NAME"
    if not isinstance(value, list) or not all(isinstance(one, str) and one.isprintable() for one in value):
        raise ValueError(wanted)
    members = {one.strip() if one.startswith(GROUP) else one.strip().lower() for one in value}
    for member in members:
        if not (len(member) > len(GROUP) if member.startswith(GROUP) else "@" in member and member.isascii()):
            raise ValueError(wanted)
    return frozenset(members)


def places(value: Any) -> tuple[str, ...]:
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
    text = one_line(value)
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:  # a bracket that is open, or a port that there cannot be
        raise ValueError("an address with a host and a port that there can be") from None
    return parts


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_absolute() and Path(path).is_dir()
    except OSError:  # the system looks up no name that is too long
        return False


OneLine = Annotated[str, BeforeValidator(one_line)]


class Table:
    """A table of the file, in which a word that is not known is refused."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class SignIn(Table):
    """Signing in by an OpenID Connect provider."""

    # Address of its description, and what it knows this app as.
    provider: Annotated[str, BeforeValidator(metadata)]
    client: OneLine
    # What the provider gave out with that name, and what sign-ins are signed by; in the file, or in one that it names.
    client_secret: OneLine = field(default="", repr=False)
    cookie_secret: OneLine = field(default="", repr=False)
    client_secret_file: OneLine = ""
    cookie_secret_file: OneLine = ""
    hours: Annotated[float, between(0.01, 720)] = 8.0  # that a sign-in lasts
    groups_claim: OneLine = "groups"
    unverified_email: Annotated[bool, BeforeValidator(flag)] = False  # whether addresses count that are not verified


@dataclass(frozen=True)
class Proxy(Table):
    """Signing in by a proxy, which says in headers who asks."""

    # The proxies'; whatever comes from elsewhere is refused.
    addresses: Annotated[tuple[IPv4Network | IPv6Network, ...], BeforeValidator(networks)]
    # Lower-case names of the headers; the second has groups between commas.
    email_header: Annotated[str, BeforeValidator(header)]
    groups_header: Annotated[str, BeforeValidator(header)] = ""
    hours: Annotated[float, between(0.01, 720)] = 8.0  # After so long an open page has to connect again, by the proxy.

    def trusts(self, address: str | None) -> bool:
        """Whether a connection from here is a proxy's."""
        try:
            peer = ip_address(address or "")
        except ValueError:
            return False
        peer = getattr(peer, "ipv4_mapped", None) or peer
        return any(peer.version == network.version and peer in network for network in self.addresses)


@dataclass(frozen=True)
class Approval(Table):
    """Which releases need the yes of someone else."""

    # A release that spends more, or after which its data set has spent more, needs it.
    epsilon: Annotated[float, between(0, 100)] = math.inf
    people: Annotated[int, between(1, 5, int)] = 1  # So many stewards have to say yes, none of whom asked for it.


@dataclass(frozen=True)
class Limits(Table):
    """What one visitor, and all together, may use."""

    # Open pages of all visitors, and of one.
    sessions: Annotated[int, between(1, 10_000, int)] = 200
    sessions_each: Annotated[int, between(1, 10_000, int)] = 10
    upload_megabytes: Annotated[int, between(1, 10_000, int)] = 200  # of one uploaded file
    memory_megabytes: Annotated[int, between(500, 10_000_000, int)] = 8_000  # of the server; above, no page opens
    releases_at_once: Annotated[int, between(1, 1_000, int)] = 4  # That each process makes; others wait.
    forecasts_at_once: Annotated[int, between(1, 1_000, int)] = 2  # that each process works out; nobody has two


@dataclass(frozen=True, kw_only=True)
class Server(Table):
    """Where the app is served."""

    address: Annotated[str, BeforeValidator(network_address)] = "127.0.0.1"
    port: Annotated[int, between(1, 65_535, int)] = 8501
    public: Annotated[str, BeforeValidator(origin)]  # What browsers see, such as ``https://frostglass.example.org``.
    # Where releases, sign-outs and, unless it is elsewhere, the ledger are kept.
    folder: Annotated[Path, BeforeValidator(existing_folder)]
    ledger: OneLine = field(default="", repr=False)
    # A second place, elsewhere, in which an older copy of the ledger is noticed; "" for none.
    witness: OneLine = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class Settings(Server):
    """The file, read."""

    # How people sign in: one of the two.
    sign_in: SignIn | None
    proxy: Proxy | None
    roles: Mapping[Role, frozenset[str]]  # E-mail addresses and ``group:NAME`` of those who have each.
    # Folders, and addresses of object stores, that an owner may name, by e-mail address or ``group:NAME``.
    data: Mapping[str, tuple[str, ...]]
    approval: Approval
    limits: Limits

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


@dataclass(frozen=True)
class _File(Table):
    server: Server
    sign_in: SignIn | None = None
    proxy: Proxy | None = None
    roles: Mapping[Role, Annotated[frozenset[str], BeforeValidator(members)]] = field(default_factory=dict)
    data: Mapping[str, Annotated[tuple[str, ...], BeforeValidator(places)]] = field(default_factory=dict)
    approval: Approval = Approval()
    limits: Limits = Limits()


def read_settings(path: Path) -> Settings:
    """Read and check the whole file; RequestError says the first thing that is wrong, and never repeats a secret."""
    try:
        text, mode = path.read_text(encoding="utf-8"), path.stat().st_mode
        content = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as problem:
        why = f"cannot be read: {getattr(problem, 'strerror', None) or 'it is not text in UTF-8'}"
        raise RequestError(f"The configuration {str(path)!r} {why}.") from None
    except tomllib.TOMLDecodeError as problem:  # whose words end with where it is, and do not quote the line
        raise RequestError(f"The configuration {str(path)!r} is not TOML: {problem}.") from None
    except (RecursionError, ValueError):  # of Python, which bounds both
        why = "cannot be read, as lists are too deep in it or a number is too long"
        raise RequestError(f"The configuration {str(path)!r} {why}.") from None
    content.setdefault("server", {})
    if isinstance(content.get("approval"), dict) and "epsilon" not in content["approval"]:
        raise RequestError("The configuration lacks the setting epsilon in [approval], which has no default.")
    try:
        file = TypeAdapter(_File).validate_python(content)
    except ValidationError as problem:
        raise _refusal(problem) from None
    settings = Settings(
        **vars(file.server),
        sign_in=None if file.sign_in is None else _with_secrets(file.sign_in, mode),
        proxy=file.proxy,
        roles=MappingProxyType({role: file.roles.get(role, frozenset()) for role in Role}),
        data=MappingProxyType(dict(file.data)),
        approval=file.approval,
        limits=file.limits,
    )
    _check_together(settings)
    return settings


def _refusal(problem: ValidationError) -> RequestError:
    """The first thing that is wrong, in a sentence that repeats no value."""
    wrong = problem.errors(include_url=False, include_input=False)[0]
    *above, name = (str(one) for one in wrong["loc"] if one != "[key]")
    where = f" in [{above[0]}]" if above else ""
    if wrong["type"] == "missing":
        return RequestError(f"The configuration lacks the setting {name}{where}, which has no default.")
    if wrong["type"] == "value_error":
        return RequestError(f"The setting {name}{where} has to be {wrong['ctx']['error']}.")
    shown = "".join(sign for sign in name if sign.isprintable())[:40]
    if wrong["type"] in ("unexpected_keyword_argument", "extra_forbidden", "enum"):
        return RequestError(f"The configuration has {shown!r}{where}, which is no setting of this version.")
    return RequestError(f"The configuration needs a table [{shown}] where it has a value {shown}.")


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


def _with_secrets(asked: SignIn, mode: int) -> SignIn:
    """The same with what the files say that hold its secrets."""
    inline = [name for name in ("client_secret", "cookie_secret") if getattr(asked, name)]
    if inline and mode & (stat.S_IROTH | stat.S_IWOTH):
        raise RequestError(
            f"The configuration has a secret in it ({min(inline)}) and everyone on this computer may read it; take "
            "that away with chmod o-rw, or name a file with the secret."
        )
    client, cookie = _secret(asked, "client_secret", 1), _secret(asked, "cookie_secret", SHORTEST_SECRET)
    return replace(asked, client_secret=client, cookie_secret=cookie)


def _secret(asked: SignIn, name: str, shortest: int) -> str:
    """A secret in the file itself, or in another one that it names."""
    given, named = getattr(asked, name), getattr(asked, f"{name}_file")
    if bool(named) == bool(given):
        raise RequestError(f"The configuration needs one of {name} and {name}_file in [sign_in].")
    if named:
        try:
            given = Path(named).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise RequestError(f"The file that {name}_file in [sign_in] names cannot be read.") from None
    if len(given) < shortest:
        raise RequestError(f"The {name} in [sign_in] has to have {shortest} characters at least.")
    return str(given)
