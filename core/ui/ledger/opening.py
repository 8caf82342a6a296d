"""Which ledger a visitor's pages open: the owner's, one of the session for strangers, and another for samples."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from ...errors import RequestError
from ...privacy.ledger.ledger import Ledger
from ...privacy.ledger.store import default_place
from ...releases.sandbox import Sandbox
from ...serving.door import the_door
from ...serving.owners import served_ledger
from ...serving.settings import Settings
from ..frame.marks import note
from ..frame.owner import stranger
from ..frame.session import Session
from ..frame.visiting import visitor_now

VARIABLE, WITNESS = "FROSTGLASS_LEDGER", "FROSTGLASS_WITNESS"


def open_ledger(visitor: Session) -> Ledger:
    """The ledger that ``FROSTGLASS_LEDGER`` names, or the one in the user's data folder; a stranger's own otherwise.

    ``FROSTGLASS_WITNESS`` names its second place, where it has one.

    A ledger lists what its owner holds and has released, which is nobody else's business. So whoever may be someone
    else counts in a ledger of the session, which knows of nothing else and ends with it.

    Raises
    ------
    RequestError
        When it cannot be used.
    """
    if stranger() is not None:
        return Ledger(visitor.folder / "ledger.sqlite")
    if (owner := visitor_now()) is not None:
        return served_ledger(_rules(), owner.name)
    return Ledger(os.environ.get(VARIABLE) or None, os.environ.get(WITNESS, ""))


def open_sandbox(visitor: Session) -> Sandbox:
    """What counts the releases of bundled samples, beside the ledger of `open_ledger`; it can begin again.

    Where others are served it is one of the session, as somebody else's samples are nobody's business either.
    """
    if stranger() is not None or visitor_now() is not None:
        return Sandbox.beside(visitor.folder / "ledger.sqlite")
    return Sandbox.beside(os.environ.get(VARIABLE) or None)


def ledger_for(visitor: Session, sample: str | None) -> Ledger:
    """The ledger that pays for a release: of a bundled sample, by its name, or of the visitor's own records."""
    return open_ledger(visitor) if sample is None else open_sandbox(visitor).ledger


def known_ledger() -> Ledger | None:
    """The owner's ledger where there is one already; None for strangers.

    Raises
    ------
    RequestError
        When it cannot be used.
    """
    if stranger() is None and (owner := visitor_now()) is not None:
        return served_ledger(_rules(), owner.name)
    where = os.environ.get(VARIABLE) or default_place()
    if stranger() is not None or not ((isinstance(where, str) and "://" in where) or Path(where).expanduser().exists()):
        return None
    return Ledger(where, os.environ.get(WITNESS, ""))


def _rules() -> Settings:
    """Where the ledger is, which holds from the start, and which releases need approval, as of now."""
    door = the_door()
    if (now := door.rules) is None:
        raise RequestError("The configuration of this server cannot be used at the moment, so nothing can be released.")
    return replace(door.started, approval=now.approval)


def note_stranger() -> None:
    """Say why the ledger is not the owner's, where it is not."""
    if (why := stranger()) is not None:
        note(
            f"Others may reach this app ({why}), so what you spend is counted in this session only and forgotten with "
            "it; on your own computer, the app keeps count for ever."
        )
