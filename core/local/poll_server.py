"""The server of polls, for a class's own network: it serves polls and nothing else.

This process opens one file, that of the polls. No data, no release and no ledger is in it, and it writes no log: which
address asked for what is forgotten when it is answered.

    GET  /p/POLL           the question, with the script that flips the coins
    POST /p/POLL/report    {"token": …, "report": [whole numbers as text]}
    GET  /p/POLL/show      for a projector
    GET  /p/POLL/shares    what it draws, as JSON
    GET  /p/POLL/code      the link of the poll as a QR code, a picture
    GET  /p/POLL/stored    everything that was stored of the poll, as text

The link of a poll, as phones in the class's network can open it, and its QR code.

A made-up class, to see how close a poll comes: chance decides who says what, and it is no secret afterwards.
"""

import io
import json
import logging
import re
import socket
import sys
import time
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import numpy as np

from ..errors import RequestError
from ..runtime.faults import told
from .poll_store import Polls

HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,255})(?::(\d{1,5}))?")
ELSEWHERE = "192.0.2.1"  # An address for documentation (RFC 5737) that nobody has: nothing is sent to it.
ANSWER_SECONDS = 0.5  # For a server of polls in the same network.
QUIET = 3  # Modules of white around a code, so that a phone finds it on a dark page too.


def link(asked: str, bound: str, port: int, name: str) -> str:
    """The link of a poll, by the address that a projector asked for, or one that phones reach where that is loopback.

    `asked`: The header Host of a request, a browser's word; anything else than a host counts as nothing. `bound`,
    `port`: Where the server listens.
    """
    found = HOST.fullmatch(asked)
    host, own_port = (found[1], int(found[2] or 80)) if found else (_bracketed(bound), port)
    if _nowhere(host):
        host, own_port = _bracketed(own_address() if _nowhere(bound) else bound), port
    return f"http://{host}{'' if own_port == 80 else f':{own_port}'}/p/{name}"


def picture(text: str) -> str:
    """A QR code as SVG, black on white."""
    import segno

    file = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        file, kind="svg", border=QUIET, light="#fff", xmldecl=False, omitsize=True, nl=False
    )
    return file.getvalue().decode()


def serves(host: str, port: int, name: str) -> bool:
    """Whether a server of polls answers there, and has the poll."""
    asking = HTTPConnection(host.strip("[]"), port, timeout=ANSWER_SECONDS)
    try:
        asking.request("GET", f"/p/{name}/shares")
        return asking.getresponse().status == HTTPStatus.OK
    except (OSError, HTTPException, ValueError):
        return False
    finally:
        asking.close()


def own_address() -> str:
    """This computer's address in its network, as far as it has one; no packet is sent to find out."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect((ELSEWHERE, 9))
            return str(one.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def _nowhere(host: str) -> bool:
    """Whether a host means this computer to itself alone, or every address of it."""
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


FOLDER = Path(__file__).parent
PATH = re.compile(r"/p/([A-Za-z0-9_-]{8,64})(?:/(show|shares|stored|report|code))?/?")
LONGEST = 4096  # Bytes that a browser may send.
SECONDS = 15  # For which a connection may say nothing.
GUARDED = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class PollServer(ThreadingHTTPServer):
    """Serves the polls of a file."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, polls: Polls, host: str, port: int):
        self.polls = polls
        super().__init__((host, port), Answering)

    def handle_error(self, request: object, client_address: object) -> None:
        """A fault while answering; what was sent may be in its words, so only its type and place are logged."""
        fault = sys.exception()
        if fault is not None and not isinstance(fault, ConnectionError):
            logging.getLogger(__name__).error("A fault of the program while answering: %s", told(fault))

    @property
    def listens(self) -> tuple[str, int]:
        """Host and port where it listens."""
        host, port = self.server_address[:2]
        return str(host), int(port)


class Answering(BaseHTTPRequestHandler):
    """One connection."""

    server: PollServer
    protocol_version = "HTTP/1.1"
    server_version = "Frostglass"
    sys_version = ""
    timeout = SECONDS

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""

    def do_GET(self) -> None:
        """A page, or what one asks for."""
        self._answered(self._got)

    def do_POST(self) -> None:
        """A report."""
        self._answered(self._posted)

    def _answered(self, work: object) -> None:
        found = PATH.fullmatch(self.path.partition("?")[0])
        try:
            if found is None:
                raise RequestError("There is no such poll.")
            work(found[1], found[2])  # type: ignore[operator]  # one of the two below
        except RequestError as problem:
            missing = str(problem) == "There is no such poll."
            self._send_json({"refused": str(problem)}, HTTPStatus.NOT_FOUND if missing else HTTPStatus.BAD_REQUEST)

    def _got(self, name: str, what: str | None) -> None:
        poll = self.server.polls.poll(name)
        if what is None:
            # A text of JSON inside a page must not end the script that it stands in.
            survey = poll.survey.text.replace("<", "\\u003c")
            page = _file("poll_answer.html").replace("COINS", _file("poll_coins.js")).replace("SURVEY", survey)
            self._send(page.replace("STYLE", _file("poll_style.css"), 1), "text/html")
        elif what == "show":
            self._send(_file("poll_show.html").replace("STYLE", _file("poll_style.css"), 1), "text/html")
        elif what == "shares":
            self._send_json(shares(self.server.polls, name))
        elif what == "code":
            way = link(self.headers.get("Host", ""), *self.server.listens, name)
            self._send(picture(way), "image/svg+xml", extra={"Content-Location": way})
        elif what == "stored":
            self._send(stored(self.server.polls, name), "text/plain")
        else:
            raise RequestError("There is no such poll.")

    def _posted(self, name: str, what: str | None) -> None:
        length = self.headers.get("Content-Length", "")
        if what != "report" or not length.isdecimal() or int(length) > LONGEST:
            self.close_connection = True
            raise RequestError("A report is a short text of JSON.")
        body = self.rfile.read(int(length))
        try:
            given = json.loads(body)
            token, report = given["token"], given["report"]
            if not isinstance(token, str) or not isinstance(report, list) or len(report) > 1024:
                raise ValueError
            words = [int(word) for word in report if isinstance(word, str) and word.isdecimal() and len(word) <= 20]
            if len(words) < len(report):
                raise ValueError
        except (ValueError, KeyError, TypeError, RecursionError):
            raise RequestError("A report is a short text of JSON.") from None
        self._send_json({"new": self.server.polls.take(name, token, words)})

    def _send_json(self, value: object, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(json.dumps(value), "application/json", status)

    def _send(
        self, text: str, kind: str, status: HTTPStatus = HTTPStatus.OK, extra: dict[str, str] | None = None
    ) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in {**GUARDED, **(extra or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def shares(polls: Polls, name: str) -> dict[str, object]:
    """What a projector shows of a poll: shares with bands, and how many answered."""
    poll, counted, truth = polls.poll(name), polls.counted(name), polls.truth(name)
    facts: dict[str, object] = {
        "question": poll.survey.question,
        "closed": poll.closed,
        "made_up": poll.made_up,
        "people": 0,
        "answers": [],
    }
    if counted is None:
        return facts
    people = counted.tally.people
    rows = counted.table()[["value", "estimate", "low", "high"]].to_dict("records")
    for row in rows:
        row |= {key: float(row[key]) / people for key in ("estimate", "low", "high")}
    if truth is not None:
        rows = [row | {"truth": count / people} for row, count in zip(rows, truth, strict=True)]
    return facts | {"people": people, "answers": rows}


def stored(polls: Polls, name: str) -> str:
    """All that is stored of a poll, a line a report, for whoever wants to see it."""
    poll, reports = polls.poll(name), polls.reports(name)
    lines = [" ".join(map(str, report)) for report in reports.reshape(len(reports), -1).tolist()]
    return "\n".join((poll.survey.text, f"{len(lines)} reports, in no order:", *lines, ""))


def _file(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def class_of(students: int, answers: int) -> list[int]:
    """How many of so many made-up students give each answer: shares drawn at random, then students by these shares."""
    chance = np.random.default_rng(time.time_ns())  # made-up people, nothing of whom is hidden
    return [int(count) for count in chance.multinomial(students, chance.dirichlet(np.ones(answers)))]
