"""The link of a poll, as phones in the class's network can open it, and its QR code."""

from __future__ import annotations

import io
import re
import socket
from ipaddress import ip_address

HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,255})(?::(\d{1,5}))?")
ELSEWHERE = "192.0.2.1"
"""An address for documentation (RFC 5737) that nobody has: nothing is sent to it."""
QUIET = 3
"""Modules of white around a code, so that a phone finds it on a dark page too."""


def link(asked: str, bound: str, port: int, name: str) -> str:
    """The link of a poll, by the address that a projector asked for, or one that phones reach where that is loopback.

    Parameters
    ----------
    asked : str
        The header Host of a request, a browser's word; anything else than a host counts as nothing.
    bound, port : str, int
        Where the server listens.
    name : str
        Of the poll.
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
