"""What a served app writes into its log by itself: who came, and what was downloaded."""

from __future__ import annotations

from ...privacy.ledger.ledger import Ledger
from ...privacy.ledger.log import Did, Log
from ...serving.door import the_door
from ...serving.people import Person


def came(person: Person) -> None:
    """Somebody has opened a page: written down once a sign-in, as far as this process remembers."""
    if the_door().first_time(person):
        log().write(person.name, Did.SIGNED_IN)


def downloaded(name: str, file: str) -> None:
    """Somebody is about to get a file; RequestError when that cannot be written down, and they must not then."""
    log().write(name, Did.DOWNLOADED, {"file": file})


def log() -> Log:
    """The log of the served app, in its ledger."""
    settings = the_door().started
    return Ledger(settings.ledger_place, settings.witness).log
