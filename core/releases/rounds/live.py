"""A round over HTTPS: the coordinator's door (Starlette), and an owner's computer that calls it (httpx).

Bodies are the messages of a round by files, and nothing else is ever sent. Every owner has an *invitation*: where to
call, a token of its own, and the certificate to trust where the coordinator has made that itself. Who comes without a
token gets 404 whatever is asked, so a stranger sees no owner, no stage and no size. A token lets its owner send and
get messages and proves nothing: what counts is signed, as it is by mail.

    GET  /                        the digest of the plan, and what the round waits for
    PUT  /hello /share /unmask    a message of the owner whose token it is
    GET  /hellos                  all hellos, each behind its length in eight bytes
    GET  /request                 what owners are asked to unmask
    GET  /release                 the release

The owner's computer trusts the coordinator with no more than a convenor: what it says is checked by `owner_steps`, and
its sentences are shown as text of at most 300 characters. Records are read before the first call, so that when calls
come tells nothing of how many there are.
"""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...errors import RequestError
from ...runtime import archives, environment
from ...runtime.parameters import exact_fields
from ...runtime.transient import unfinished
from ..engine.building import ExactTable
from ..manifest import Combined
from ..payment import LedgerAccount
from ..release import Release, load
from .coordinator import Coordinator, Stage, place_of
from .masking import Graph
from .owner_steps import HELLO, SHARE, UNMASK, kept_hello, kept_share, make_share, my_name, unmask
from .round_messages import LENGTH_BYTES, OwnerKey, derived, place_mode
from .round_plan import RoundPlan

if TYPE_CHECKING:
    import httpx
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

INVITATION = "frostglass-round-invitation"
LIVE = "live", "Rounds over HTTPS"  # The extra that they need, and what for.
SLOWEST = 600.0  # Seconds that one body may take.
PAUSES = 1.0, 30.0  # Seconds between two calls: at first, and at most.
# All methods come to the one door, which tells strangers of none that there is another.
ANY = ("GET", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "TRACE")
SHOWN = 300  # Characters of a coordinator's sentence.
DAYS = 90  # That a certificate of its own is good for.


@dataclass(frozen=True, repr=False)
class Invitation:
    """What one owner needs to call the coordinator, beside the plan and its key."""

    url: str  # Of the coordinator, https://host:port.
    token: str  # 64 hexadecimal digits.
    certificate: str = ""  # PEM; "" is whatever the system trusts.

    @property
    def text(self) -> str:
        """What stands in its file."""
        facts = {"format": INVITATION, "url": self.url, "token": self.token, "certificate": self.certificate}
        return f"{archives.dumps(facts)}\n"

    @classmethod
    def load(cls, path: Path) -> Invitation:
        """The one in a file."""
        return cls.of_text(path.read_bytes().decode("utf-8", "replace") if path.is_file() else "", repr(str(path)))

    @classmethod
    def of_text(cls, text: str, place: str) -> Invitation:
        """The one in the text of a file of this name."""
        try:
            facts = archives.loads(text)
            known = exact_fields(facts, "invitation", ("format", "url", "token", "certificate"))
            made = cls(known["url"], known["token"], known["certificate"])
            if known["format"] != INVITATION or len(bytes.fromhex(made.token)) != 32 or not made.host:
                raise ValueError("none")
            if made.certificate:
                ssl.create_default_context(cadata=made.certificate)
        except (OSError, ValueError, TypeError, AttributeError):
            raise RequestError(f"There is no invitation to a round in {place}.") from None
        return made

    @property
    def host(self) -> str:
        """Whom to call; "" where the address is none of HTTPS."""
        parts = urlsplit(self.url)
        return (parts.hostname or "") if parts.scheme == "https" else ""

    def client(self) -> httpx.Client:
        """What calls the coordinator, and nobody else: it follows no redirect."""
        environment.check_extra("httpx", *LIVE)
        import httpx

        trusted = ssl.create_default_context(cadata=self.certificate or None)
        return httpx.Client(base_url=self.url, verify=trusted, timeout=SLOWEST, headers=bearer(self.token))


def bearer(token: str) -> dict[str, str]:
    """The header that says who calls."""
    return {"Authorization": f"Bearer {token}"}


def token_of(secret: bytes, plan: RoundPlan, owner: str) -> str:
    """The token of an owner, which follows from the coordinator's secret."""
    return derived(secret, bytes.fromhex(plan.digest), f"token {owner}").hex()


def invite(plan: RoundPlan, folder: Path, url: str, own_certificate: bool) -> tuple[bytes, list[Path]]:
    """The coordinator's secret, and the files that go to the owners, each to one; the same ones again after a crash."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = folder / "coordinator.secret"
    if not kept.exists():
        _write_privately(kept, OwnerKey.new().secret)
    secret = kept.read_bytes()
    certificate = ""
    if own_certificate:
        if not (folder / "tls.pem").exists():
            _make_certificate(folder, urlsplit(url).hostname or "localhost")
        certificate = (folder / "tls.pem").read_text(encoding="ascii")
    written = []
    for name in plan.owners:
        place = place_of(plan, folder, name, "invitation")
        _write_privately(place, Invitation(url, token_of(secret, plan, name), certificate).text.encode())
        written.append(place)
    return secret, written


def application(coordinator: Coordinator, secret: bytes) -> Starlette:
    """The coordinator's door."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    plan = coordinator.plan
    known = {hashlib.sha256(token_of(secret, plan, name).encode()).digest(): name for name in plan.owners}

    def state() -> Response:
        return JSONResponse({"round": plan.digest, "stage": coordinator.stage()})

    def hellos() -> Response:
        return Response(b"".join(len(one).to_bytes(LENGTH_BYTES, "big") + one for one in coordinator.hellos()))

    answers: dict[str, Callable[[], Response]] = {
        "": state,
        "hellos": hellos,
        "request": lambda: Response(coordinator.request()),
        "release": lambda: Response(coordinator.release()),
    }

    async def door(request: Request) -> Response:
        kind, token = request.path_params["what"], request.headers.get("authorization", "").removeprefix("Bearer ")
        owner = known.get(hashlib.sha256(token.encode()).digest())
        sends = request.method == "PUT" and kind in (HELLO, SHARE, UNMASK)
        if owner is None or not (sends or (request.method == "GET" and kind in answers)):
            return Response(status_code=404)
        try:
            if not sends:
                return await run_in_threadpool(answers[kind])
            content = await _body(request, coordinator.most_bytes(kind))
            if content is None:
                return Response(status_code=413)
            await run_in_threadpool(coordinator.take, owner, kind, content)
        except FileNotFoundError:  # asked for before it is there
            return Response(status_code=409)
        except RequestError as problem:
            return JSONResponse({"problem": str(problem)}, status_code=409)
        return Response(status_code=204)

    return Starlette(routes=[Route("/{what:path}", door, methods=ANY)])


async def _body(request: Request, most: int) -> bytes | None:
    """What is sent; None where it is longer than such a message can be, or takes too long."""
    from anyio import move_on_after

    content = bytearray()
    with move_on_after(SLOWEST):
        async for piece in request.stream():
            content += piece
            if len(content) > most:
                return None
        return bytes(content)
    return None


def serve(coordinator: Coordinator, secret: bytes, address: str, port: int, certificate: Path, key: Path) -> None:
    """Answer owners until the process is told to end."""
    import uvicorn

    uvicorn.run(
        application(coordinator, secret),
        host=address,
        port=port,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        limit_concurrency=2 * len(coordinator.plan.owners) + 16,
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=10,
    )


def _make_certificate(folder: Path, host: str) -> None:
    """A certificate that the coordinator signs itself, and owners trust by their invitation."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), environment.utc()
    try:
        named: x509.GeneralName = x509.IPAddress(ip_address(host))
    except ValueError:
        named = x509.DNSName(host)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host[:64])])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName([named]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _write_privately(folder / "tls.key", secret)
    _write_privately(folder / "tls.pem", made.public_bytes(serialization.Encoding.PEM))


def _write_privately(place: Path, content: bytes) -> None:
    with unfinished(place) as file:
        place_mode(file.name)
        file.write(content)


class Unreachable(RequestError):
    """The coordinator cannot be reached now; trying again may help."""


@dataclass
class Participant:
    """One owner in a live round, who takes one step after the other.

    `plan`, `key`, `account`: What is agreed on, whose it is, and who pays. `client`: That of the invitation. `read`:
    Sums the records, before the first call, if there is no share yet.
    """

    plan: RoundPlan
    key: OwnerKey
    account: LedgerAccount
    client: httpx.Client
    read: Callable[[], ExactTable]
    sent: set[str] = field(default_factory=set)  # Kinds of messages that the coordinator has from this process.
    _exact: ExactTable | None = None
    _hellos: list[bytes] | None = None

    def __post_init__(self) -> None:
        self.name = my_name(self.plan, self.key)
        if self.kept is None:
            self.account.check(self.plan.cost)
            self._exact = self.read()

    @property
    def kept(self) -> bytes | None:
        """The share, where it is made already."""
        return kept_share(self.plan, self.key, self.account.ledger)

    def step(self) -> Release | None:
        """Do what the round waits for, if it is this owner's to do; the release once there is one."""
        state = exact_fields(_facts(self._ask("GET", "", most=1 << 12)), "round", ("round", "stage"))
        if state["round"] != self.plan.digest:
            raise RequestError("The coordinator has another plan than this one; compare fingerprints by telephone.")
        stage = state["stage"]
        if stage == Stage.DONE:
            return self._release()
        if stage == Stage.FAILED:
            raise RequestError("The coordinator cannot put the round together; the convenor knows why.")
        made = {HELLO: self._hello, SHARE: self._share, UNMASK: self._answer}.get(stage)
        if made is None:
            raise RequestError("The coordinator waits for something that no round has.")
        if stage not in self.sent:
            self._ask("PUT", stage, made())
            self.sent.add(stage)
        return None

    def _hello(self) -> bytes:
        return kept_hello(self.plan, self.key, self.account.ledger)

    def _share(self) -> bytes:
        hellos = self._heard() if self.plan.way == "masked" else []
        made = self.kept or make_share(
            self.plan, self._exact, self.key, dataset=self.account.dataset, hellos=hellos, account=self.account
        )
        self._exact = None
        return made

    def _answer(self) -> bytes:
        asked = self._ask("GET", "request", most=len(self.plan.text) + (1 << 12)).decode("utf-8", "replace")
        facts = _facts(asked.encode())
        if self.kept is None or self.name not in facts.get("came", ()):
            raise RequestError(f"The round goes on without the share of {self.name!r}, which came too late.")
        return unmask(self.plan, self.key, asked, self._heard(), ledger=self.account.ledger)

    def _heard(self) -> list[bytes]:
        if self._hellos is None:
            each = 4 * len(self.plan.text) + Graph.of(self.plan).degree * 1_024 + (1 << 16)
            content, found = self._ask("GET", "hellos", most=each * len(self.plan.owners)), []
            while content:
                end = LENGTH_BYTES + int.from_bytes(content[:LENGTH_BYTES], "big")
                found.append(content[LENGTH_BYTES:end])
                content = content[end:]
            self._hellos = found
        return self._hellos

    def _release(self) -> Release:
        release = load(self._ask("GET", "release", most=(1 << 26) + 32 * self.plan.length))
        if not isinstance(release.combined, Combined) or release.combined.round != self.plan.digest:
            raise RequestError("What the coordinator hands out is no release of this round.")
        return release

    def _ask(self, method: str, what: str, content: bytes = b"", most: int = 1 << 16) -> bytes:
        """The body of an answer; RequestError on a refusal, Unreachable where another try may help."""
        import httpx

        answer = bytearray()
        try:
            with self.client.stream(method, f"/{what}", content=content) as response:
                status = response.status_code
                for piece in response.iter_bytes():
                    answer += piece
                    if len(answer) > most:
                        raise RequestError("The coordinator answers more than a round has; nothing of it was used.")
        except httpx.TransportError as problem:
            raise Unreachable(f"The coordinator cannot be reached ({type(problem).__name__}).") from None
        if status == 409 and (said := _facts(bytes(answer)).get("problem")):
            shown = "".join(one for one in str(said)[:SHOWN] if one.isprintable())
            raise RequestError(f"The coordinator refused the {what}: {shown}")
        if status == 404:
            raise RequestError("The coordinator does not know this invitation; it may be of another round.")
        if status == 413:
            raise RequestError(f"The coordinator refused the {what}, as it is longer than one of this round can be.")
        if status not in (200, 204):
            raise Unreachable(f"The coordinator answers with status {status}.")
        return bytes(answer)


def join(
    owner: Participant,
    patience: float,
    tell: Callable[[str], object] = lambda sentence: None,
    wait: Callable[[float], object] = sleep,
) -> Release:
    """Take part until there is a release; a coordinator who cannot be reached is tried for `patience` seconds."""
    pause, reached = PAUSES[0], monotonic()
    while True:
        try:
            release = owner.step()
            reached = monotonic()
            if release is not None:
                return release
        except Unreachable as problem:
            if monotonic() > reached + patience:
                raise
            tell(str(problem))
        wait(pause)
        pause = min(1.2 * pause, PAUSES[1])


def _facts(content: bytes) -> dict[str, Any]:
    with suppress(ValueError):
        facts = archives.loads(content.decode())
        if isinstance(facts, dict):
            return facts
    return {}
