"""Who a visitor is: what an OpenID Connect provider or a proxy says of them, and nothing that they say themselves."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from .settings import Proxy, SignIn

ADDRESS = re.compile(r"[^@\s:]{1,64}@[^@\s:]{1,190}")
"""No colon, which no address has unquoted: `group:staff@example.org` is a group, and nobody is called so."""
SKEW = 300.0
"""Seconds by which a provider's clock may be ahead of this one."""
LONGEST = 200


@dataclass(frozen=True)
class Person:
    """Somebody who has signed in.

    Attributes
    ----------
    name : str
        What the ledger and the log call them: their e-mail address, or ``subject:…`` where it is not known for sure.
    groups : frozenset[str]
        That they were in when they signed in.
    mark : str
        Tells this sign-in from every other, and says nothing else.
    until : float
        When it ends, in seconds of the epoch.
    """

    name: str
    groups: frozenset[str]
    mark: str
    until: float


def from_claims(claims: Mapping[str, Any], rules: SignIn, now: float) -> Person | None:
    """The person of a signed ID token's claims; None when it has ended or does not say enough.

    An e-mail address counts when the provider has verified it, as with many providers anyone may type any address.

    Parameters
    ----------
    claims : Mapping[str, Any]
        Whose signature, issuer, audience and nonce were checked when it was fetched.
    rules : SignIn
        Which claim has the groups, and how long a sign-in lasts.
    now : float
        Seconds of the epoch.
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

    Parameters
    ----------
    headers : Iterable[tuple[str, str]]
        Of a request that came from one of the proxies' addresses.
    rules : Proxy
        Which headers it sets.
    now : float
        Seconds of the epoch.
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
