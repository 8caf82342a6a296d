"""What one owner among several sees of the server: their own data sets in its ledger, and the files that they may name.

Owners see data sets under the names that they gave them. In the ledger itself every data set is named after its owner
as well (``ann@example.org: visits``). The first part comes from the sign-in and from nowhere else, so there is no name
by which one owner could reach another one's budget, or learn that there is one; an address has no blanks, so no two
owners' names can meet. Of the server's files they may name those in places that the configuration gives them.
"""

import math
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote, unquote

import sqlalchemy as sa

from ...errors import RequestError
from ...privacy.accounting import Cost, spent
from ...privacy.budget import Budget
from ...privacy.ledger.account import Status
from ...privacy.ledger.ledger import Ledger
from ...privacy.ledger.ledger_records import LONGEST_NAME, Dataset, History
from ...releases.release_store import Shelf
from .approvals import Approvals, plan_of, use
from .settings import Approval, Settings

MARK = ": "
RELEASES = "releases"


class OwnLedger(Ledger):
    """A ledger with the data sets of one owner alone.

    `where`: Its place, which it shares with other owners'. `approval`: Which releases need somebody else's yes.
    `witness`: Where it is kept how far the ledger has come, as for `Ledger`.
    """

    def __init__(self, where: str | Path, owner: str, approval: Approval = Approval(), witness: str = "") -> None:  # noqa: B008
        if not owner or any(sign.isspace() for sign in owner):
            raise RequestError("A ledger of one's own needs a name without blanks.")
        super().__init__(where, witness)
        self.who = owner
        self.approval = approval
        self.approvals = Approvals(self._store)

    def names(self) -> list[str]:
        """Names of the owner's data sets, in order of registration."""
        return [self._shown(name) for name in super().names() if name.startswith(self.who + MARK)]

    def dataset(self, name: str) -> Dataset:
        """What was promised for one; RequestError for an unknown name."""
        found = super().dataset(name)
        return replace(found, name=self._shown(found.name))

    def _status(self, history: History) -> Status:
        found = super()._status(history)
        return replace(found, name=self._shown(found.name))

    def plan(self, name: str, total: Budget, cost: Cost, note: Mapping[str, Any]) -> dict[str, Any]:
        """What stewards are asked about: a release of a data set of this total."""
        return plan_of(self._stored(name), (f"{total.epsilon:f}", f"{total.delta:f}"), cost.to_dict(), note)

    def needs_approval(self, costs: Sequence[Cost], cost: Cost, total: Budget) -> bool:
        """Whether a release after others takes somebody else's yes: by its own price, or by what is spent then."""
        limit = self.approval.epsilon
        if math.isinf(limit):
            return False
        return float(cost.epsilon) > limit or spent([*costs, cost], total.delta) > limit

    def _admit(self, connection: sa.Connection, history: History, cost: Cost, note: dict[str, Any]) -> None:
        known = history.dataset
        total = Budget(known.epsilon, known.delta, known.neighbours)
        if not self.needs_approval(history.costs, cost, total):
            return
        plan = self.plan(self._shown(known.name), total, cost, note)
        if not use(connection, self.who, plan, self.approval.people):
            many = self.approval.people
            raise RequestError(
                f"This would spend more than ε = {self.approval.epsilon:g} of the data set, for which "
                f"{'a steward has' if many == 1 else f'{many} stewards have'} to say yes first; nothing was spent."
            )

    def _stored(self, name: str) -> str:
        stored = f"{self.who}{MARK}{name}"
        if not name or len(stored) > LONGEST_NAME:
            raise RequestError(
                f"The name of a data set of yours may have {LONGEST_NAME - len(self.who) - len(MARK)} characters at "
                "most, as the ledger keeps it with your own."
            )
        return super()._stored(stored)

    def _shown(self, name: str) -> str:
        return name.removeprefix(self.who + MARK)


def served_ledger(settings: Settings, owner: str) -> OwnLedger:
    """The ledger of somebody who has signed in, with a shelf of their own."""
    ledger = OwnLedger(settings.ledger_place, owner, settings.approval, settings.witness)
    ledger.shelf = settings.folder / RELEASES / quote(owner, safe="@")
    return ledger


def all_shelves(settings: Settings) -> list[tuple[str, Shelf]]:
    """Every owner's shelf: what lies there is public, and whoever may explore may open it."""
    folder = settings.folder / RELEASES
    named = sorted(folder.iterdir()) if folder.is_dir() else []
    return [(unquote(place.name), Shelf(place)) for place in named if place.is_dir()]


ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
# The same sentence for what is elsewhere and for what does not exist, so that it tells nothing of either.
REFUSED = "That is in none of the places that you may read from on this server."


def check_named(name: str, places: Collection[str]) -> None:
    """Refuse a path, pattern, database table or address outside of places, before anything is looked at.

    `places`: Folders, and addresses that end with a stroke.
    """
    if not any(_inside(name, place) for place in places):
        raise RequestError(REFUSED)


def check_found(files: Collection[str], places: Collection[str]) -> None:
    """Refuse files that a name has led to by a link out of its place."""
    roots = [os.path.realpath(place) for place in places if not ADDRESS.match(place)]
    for file in files:
        real = Path(os.path.realpath(file))
        if not any(real.is_relative_to(root) for root in roots):
            raise RequestError(REFUSED)


def _inside(name: str, place: str) -> bool:
    if not name.isprintable():
        return False
    if ADDRESS.match(place):
        # A stroke ends it, so s3://a/b is not in s3://a/bc; what an address may escape into is not asked, but refused.
        return place.endswith("/") and name.startswith(place) and not re.search(r"\.\.|[%\\?#@:]", name[len(place) :])
    path = PurePath(name.partition("::")[0])
    return path.is_absolute() and ".." not in path.parts and path.is_relative_to(place)
