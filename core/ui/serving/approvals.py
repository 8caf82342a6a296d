"""Releases that need the yes of somebody else: what is asked for, who has said yes, and that it counts once.

A request says what would be released, of which data set and at what price: what becomes public with the release
anyway, and no value of the data. It is kept beside the ledger, and looked up in the very transaction that pays, so
nothing is paid for that was not approved as it is. Of what is asked for only the seeds of hash functions may differ,
which are drawn anew in every session and on which no promise depends.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from ...errors import RequestError
from ...privacy.ledger.ledger_records import canonical, moment
from ...privacy.ledger.ledger_store import Store
from ...privacy.ledger.ledger_tables import POSTGRES_SETUP_LOCK, texts
from ...privacy.ledger.log import Did, append

SCHEMA = sa.MetaData()
REQUESTS = sa.Table(
    "frostglass_requests",
    SCHEMA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    *texts("mark", "created", "who", "plan", "state"),
)
YESES = sa.Table(
    "frostglass_yeses",
    SCHEMA,
    sa.Column("request", sa.Integer, sa.ForeignKey(REQUESTS.c.number), primary_key=True, autoincrement=False),
    sa.Column("who", sa.Text, primary_key=True),
    *texts("created"),
)
# What parameters call the seed of hash functions; another name may be a column's, and is approved as it is.
SEED = "seed"
MOST_WAITING = 100  # Requests of one owner that wait at the same time.


class State(StrEnum):
    """Where a request stands."""

    WAITING = "waiting"
    DECLINED = "declined"
    USED = "used"


@dataclass(frozen=True)
class Request:
    """A release that somebody has asked for."""

    number: int
    when: datetime  # UTC.
    who: str  # asked for it
    plan: dict[str, Any] = field(hash=False)  # What would be released: public facts.
    state: State
    yeses: tuple[str, ...]  # Who has said yes.


def plan_of(dataset: str, total: tuple[str, str], cost: Mapping[str, Any], note: Mapping[str, Any]) -> dict[str, Any]:
    """What a release comes to: its data set with its total, its price, and what is released.

    `total`: ε and δ that all releases of the data set will ever spend. `note`: The public facts that the ledger notes
    with it.
    """
    shown = {name: note[name] for name in ("mechanism", "parameters", "columns") if name in note}
    return {"dataset": dataset, "total": list(total), "cost": dict(cost), **_seedless(shown)}


class Approvals:
    """Requests, kept where the ledger is."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def ask(self, who: str, plan: Mapping[str, Any]) -> int:
        """Lay a plan before the stewards; the number of the request, which is that of an equal one that waits."""
        with self._store.writing() as connection:
            _create(connection)
            number = connection.execute(_open_one(_mark(plan), who)).scalar()
            if number is not None:
                return int(number)
            mine = sa.select(sa.func.count()).where(REQUESTS.c.who == who, REQUESTS.c.state == State.WAITING)
            if connection.execute(mine).scalar_one() >= MOST_WAITING:
                raise RequestError(f"{MOST_WAITING} requests of yours wait for an answer, and more may not.")
            number = (connection.execute(sa.select(sa.func.max(REQUESTS.c.number))).scalar() or 0) + 1
            fields = {"number": number, "mark": _mark(plan), "created": moment(), "who": who, "plan": canonical(plan)}
            connection.execute(sa.insert(REQUESTS).values(**fields, state=str(State.WAITING)))
            append(connection, who, Did.ASKED, _said(number, plan))
        return number

    def answer(self, who: str, number: int, yes: bool) -> None:
        """Say yes or no to a request of somebody else; who may is for the caller to know."""
        with self._store.writing() as connection:
            _create(connection)
            row = connection.execute(sa.select(REQUESTS).where(REQUESTS.c.number == number).with_for_update()).first()
            if row is None or row.state != State.WAITING:
                raise RequestError("That request no longer waits for an answer.")
            if row.who == who:
                raise RequestError("Nobody can approve what they have asked for themselves.")
            if yes:
                said = connection.execute(sa.select(YESES).where(YESES.c.request == number, YESES.c.who == who)).first()
                if said is not None:
                    raise RequestError("You have said yes to that request already.")
                connection.execute(sa.insert(YESES).values(request=number, who=who, created=moment()))
            else:
                _set(connection, number, State.DECLINED)
            append(connection, who, Did.APPROVED if yes else Did.DECLINED, _said(number, json.loads(row.plan)))

    def waiting(self) -> list[Request]:
        """The requests that wait, the oldest first."""
        with self._store.reading() as connection:
            if not _exist(connection):
                return []
            asked = sa.select(REQUESTS).where(REQUESTS.c.state == State.WAITING).order_by(REQUESTS.c.number)
            return [_read(connection, row) for row in connection.execute(asked).all()]

    def latest(self, who: str, plan: Mapping[str, Any]) -> Request | None:
        """The last request of somebody for this plan, whatever became of it."""
        with self._store.reading() as connection:
            if not _exist(connection):
                return None
            asked = sa.select(REQUESTS).where(REQUESTS.c.mark == _mark(plan), REQUESTS.c.who == who)
            row = connection.execute(asked.order_by(REQUESTS.c.number.desc()).limit(1)).first()
            return None if row is None else _read(connection, row)


def use(connection: sa.Connection, who: str, plan: Mapping[str, Any], people: int) -> bool:
    """Use an approval up inside the transaction that pays; whether there was one."""
    _create(connection)
    number = connection.execute(_open_one(_mark(plan), who).with_for_update()).scalar()
    if number is None:
        return False
    yeses = sa.select(sa.func.count()).where(YESES.c.request == number, YESES.c.who != who)
    if connection.execute(yeses).scalar_one() < people:
        return False
    _set(connection, int(number), State.USED)
    return True


def _open_one(mark: str, who: str) -> sa.Select[Any]:
    return sa.select(REQUESTS.c.number).where(
        REQUESTS.c.mark == mark, REQUESTS.c.who == who, REQUESTS.c.state == State.WAITING
    )


def _set(connection: sa.Connection, number: int, state: State) -> None:
    connection.execute(sa.update(REQUESTS).where(REQUESTS.c.number == number).values(state=str(state)))


def _read(connection: sa.Connection, row: sa.Row[Any]) -> Request:
    yeses = connection.execute(sa.select(YESES.c.who).where(YESES.c.request == row.number)).scalars().all()
    plan = json.loads(row.plan)
    if _mark(plan) != row.mark:
        raise RequestError(f"Request {row.number} was changed after it was made, so nobody can approve it.")
    return Request(row.number, datetime.fromisoformat(row.created), row.who, plan, State(row.state), tuple(yeses))


def _exist(connection: sa.Connection) -> bool:
    return bool(sa.inspect(connection).has_table(REQUESTS.name))


def _create(connection: sa.Connection) -> None:
    """Create the tables where there are none, and keep other writers of requests out until the transaction ends."""
    if connection.dialect.name != "sqlite":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(POSTGRES_SETUP_LOCK + 1)))
    if not _exist(connection):
        SCHEMA.create_all(connection, checkfirst=False)


def _said(number: int, plan: Mapping[str, Any]) -> dict[str, Any]:
    """What the log says of a request."""
    cost = plan["cost"]
    told = {name: plan[name] for name in ("mechanism", "columns") if name in plan}
    return {"request": number, "dataset": plan["dataset"], "epsilon": str(cost.get("epsilon", ""))} | told


def _mark(plan: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(plan).encode()).hexdigest()


def _seedless(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _seedless(inner) for name, inner in value.items() if name != SEED}
    if isinstance(value, (list, tuple)):
        return [_seedless(inner) for inner in value]
    return value
