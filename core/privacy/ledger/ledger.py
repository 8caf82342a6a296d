"""The privacy ledger: what was promised for each data set, and every release that spent some of it.

A release is written down before its noise is drawn, in one transaction that fails when the total would be passed. A
crash after that loses budget, never privacy; two processes cannot spend the same budget. The ledger holds names,
numbers and public facts, never a value of the data.

Every registration and every release carries a SHA-256 of itself and of the one before it, and the last link is kept
apart with the count. So a record that was changed, moved or removed, by accident or with an editor, is noticed, and
the ledger is refused until it is restored. What this cannot notice: someone who recomputes all links after the
change, and data that is released without the ledger. A ledger file that was replaced by an older copy or deleted is
whole in itself, and noticed by the releases that lie beside it (`core.releases.payment`), and by a second place
where there is one (`witness`).
Whoever can write to the ledger can read the data anyway; the ledger keeps honest owners from mistakes.
"""

import getpass
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ...errors import RequestError
from ..accounting import Cost, given_back
from ..budget import Budget, Neighbours, Number, decimal_text
from ..replay.tape import rolling
from .account import Preview, Status, check_allowed, check_same_promise, figures, refusal_of
from .ledger_records import (
    INSTEAD,
    LOGGED,
    Dataset,
    Entry,
    History,
    append_dataset,
    append_release,
    canonical,
    check_first,
    check_new,
    checked_name,
    read_datasets,
    read_history,
)
from .ledger_store import Store
from .ledger_tables import BOOK
from .log import Did, Line, Log, append, last

__all__ = ["Dataset", "Entry", "Ledger", "Preview", "Status"]

LONGEST_NOTE = 100_000


class Ledger:
    """The budgets of all data sets of one owner.

    Attributes
    ----------
    where : str
        Its place.
    who : str
        Whom the log names for what is done with it: the user of this computer, unless somebody has signed in.
    log : Log
        Who did what.
    shelf : Path | None
        The folder of the releases that it has paid for, where that is not beside it.
    """

    def __init__(self, where: str | Path | None = None, witness: str = "") -> None:
        """Open a ledger, creating it where there is none.

        `where`: A path, ``sqlite:///path`` or ``postgresql://…``; None is a file in the user's data folder. `witness`:
        A path or ``postgresql://…``: a second place, elsewhere, that knows how far the ledger had come and is only ever
        appended to, so that an older copy in the ledger's place is noticed; none without. A ledger that was ever
        changed with one is not changed without.

        RequestError when the place cannot hold a ledger, or holds a damaged one.
        """
        self._store = Store(where, witness)
        self.where: str = self._store.where
        self.who = _user()
        self.shelf: Path | None = None
        self.log = Log(self._store)

    def register(
        self,
        name: str,
        epsilon: Number,
        delta: Number = 0,
        neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
        unit: str = "record",
    ) -> None:
        """Promise a total for a data set, once and for all.

        Repeating the same promise changes nothing; another one for the same name is refused.

        `name`: At most 100 visible characters. `epsilon`, `delta`: The total of all releases there will ever be.
        `neighbours`, `unit`: Whom the promise protects: the relation, and "record" or the text that names the column of
        people's ids.

        RequestError when a number is out of range, or the name is taken by another promise.
        """
        budget = Budget(epsilon, delta, neighbours)
        name, unit = self._stored(name), checked_name(unit, "privacy unit")
        with self._store.writing() as connection:
            connection.execute(sa.select(BOOK).with_for_update())
            known = _known(read_datasets(self._store, connection), name)
            if known is None:
                append_dataset(connection, budget, name, unit)
                append(connection, self.who, Did.REGISTERED, _promised(name, budget, unit))
            else:
                check_same_promise(known, budget, unit)

    def register_if_new(
        self, name: str, cost: Cost, neighbours: Neighbours | str = Neighbours.ADD_REMOVE, unit: str = "record"
    ) -> bool:
        """Register an unknown data set with exactly what its first release spends; return whether it was unknown."""
        stored = self._stored(name)
        with self._store.reading() as connection:
            known = _known(read_datasets(self._store, connection), stored)
        if known is None:
            self.register(name, cost.epsilon, cost.delta, neighbours, unit)
        return known is None

    def names(self) -> list[str]:
        """Names of all data sets, in order of registration."""
        with self._store.reading() as connection:
            return [dataset.name for dataset in read_datasets(self._store, connection)]

    def dataset(self, name: str) -> Dataset:
        """Return what was promised for a data set; RequestError for an unknown name."""
        with self._store.reading() as connection:
            return self._history(connection, name).dataset

    def entries(self, name: str) -> tuple[Entry, ...]:
        """Every release of a data set, in order, without the work of adding them up."""
        with self._store.reading() as connection:
            return self._history(connection, name).entries

    def status(self, name: str) -> Status:
        """Return what was promised, spent and is left of a data set, with every release."""
        with self._store.reading() as connection:
            return self._status(self._history(connection, name))

    def known(self, name: str) -> Status | None:
        """Return the same, or None of a data set that the ledger does not know."""
        with self._store.reading() as connection:
            history = read_history(self._store, connection, self._stored(name))
        return None if history is None else self._status(history)

    def _status(self, history: History) -> Status:
        used, left = figures(history.costs, history.dataset)
        return Status(**vars(history.dataset), spent=used, left=left, releases=history.entries)

    def what_if(self, name: str, cost: Cost) -> Preview:
        """Return what a release of this cost would do, without making it."""
        with self._store.reading() as connection:
            history = self._history(connection, name)
        used, left = figures([*history.costs, cost], history.dataset)
        return Preview(refusal_of(history, cost), used, left)

    def check(
        self, name: str, cost: Cost, neighbours: Neighbours | str = Neighbours.ADD_REMOVE, unit: str = "record"
    ) -> None:
        """Raise what `spend` would raise now, without writing; for before long work. An unknown data set passes.

        Only `spend` decides: another process may spend in between.
        """
        stored = self._stored(name)
        with self._store.reading() as connection:
            self._store.check_named(connection)
            if _known(read_datasets(self._store, connection), stored) is None:
                return
            history = self._history(connection, name)
        check_allowed(history, cost, neighbours, unit)

    def spend(
        self,
        name: str,
        cost: Cost,
        note: dict[str, Any] | None = None,
        *,
        neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
        unit: str = "record",
    ) -> str:
        """Write a release down for ever, before it is made; only draw its noise when this has returned.

        `name`: A registered data set. `cost`: What the release does to privacy. `note`: Public facts about it
        (mechanism, parameters); at most 100,000 characters of JSON, and no value of the data. `neighbours`, `unit`:
        Whom the release protects.

        BudgetError when the total would be passed. RequestError when the data set is unknown, or its promise protects
        someone else than the release does.

        Returns
        -------
        str
            The entry's id: the beginning of its link, so that a release that carries it can be matched.
        """
        noted = note or {}
        if INSTEAD in noted:
            raise RequestError("A release is an entry of its own, and stands in place of none.")
        _checked_note(noted)
        with self._store.writing() as connection:
            history = self._history(connection, name, lock=True)
            check_allowed(history, cost, neighbours, unit)
            check_first(history, noted)
            self._admit(connection, history, cost, noted)
            entry = self._append(connection, history, cost, noted)
        tape = rolling()
        if tape is not None:  # an audit sees that what is drawn from here on was paid for
            tape.paid(cost)
        return entry

    def give_back(self, name: str, entry: str, cost: Cost, note: dict[str, Any] | None = None) -> None:
        """Write down that of an entry which paid for several things the first alone was drawn, and will ever be.

        From now on it costs what `accounting.given_back` says, whatever the first has shown: that price, or the same as
        before, whose rest later Gaussian tables may have. The records of both stay, and versions that do not know this
        count them both.

        Parameters
        ----------
        name, entry : str, str
            The data set, and the entry's id, as `spend` returned it.
        cost : Cost
            Of what was drawn.
        note : dict[str, Any] | None
            Public facts about that.

        Raises
        ------
        RequestError
            When there is no such entry, or it was given back already, or the price would not be smaller.
        """
        with self._store.writing() as connection:
            history = self._history(connection, name, lock=True)
            ids, total = [one.id for one in history.entries], history.dataset
            less: Cost | None = None
            if entry in ids and entry not in history.less:
                whole, before = history.costs[ids.index(entry)], history.costs[: ids.index(entry)]
                if cost.epsilon < whole.epsilon and cost.delta <= whole.delta:
                    less = given_back(before, whole, cost, total.epsilon, total.delta)
            if less is None:
                raise RequestError(f"The ledger has no entry of data set {name!r} of which this could be given back.")
            self._append(connection, history, less, (note or {}) | {INSTEAD: entry}, Did.GIVEN_BACK)
        tape = rolling()
        if tape is not None:  # an audit sees that what is left covers what was drawn
            tape.given_back(whole, less)

    def _append(
        self, connection: sa.Connection, history: History, cost: Cost, noted: dict[str, Any], did: Did = Did.RELEASED
    ) -> str:
        """Write a record and the log's line of it in one transaction; its id."""
        end = last(connection)
        written = _checked_note(noted | {LOGGED: f"{end[0]}:{end[1]}"})
        entry = append_release(connection, history, canonical(cost.to_dict()), written)
        append(connection, self.who, did, _released(history.dataset.name, cost, noted, entry), end)
        return entry

    def drawn(self, name: str, seed: str) -> int:
        """How many periods of a living release were drawn, by its seed; 0 where the data set has not paid for it."""
        with self._store.reading() as connection:
            return _drawn(self._history(connection, name), self.log.lines(), seed)[0]

    def go_on(self, name: str, seed: str, after: int, until: int) -> None:
        """Write down that further periods of a living release are drawn, once; only draw their noise afterwards.

        The price of all periods was written down with the first ones, so nothing is spent; what has to be ruled out is
        that a period is drawn twice.

        `name`, `seed`: The data set, and the digits of the release's seed, which its entry notes. `after`, `until`: How
        many periods are drawn already, and how many will be.

        RequestError when the data set has not paid for such a release, or other periods were drawn than the caller
        knows of.
        """
        with self._store.writing() as connection:
            history = self._history(connection, name, lock=True)
            known, entry = _drawn(history, self.log.lines_of(connection), seed)
            if entry is None:
                raise RequestError(f"The data set {name!r} has not paid for this living release.")
            if known != after or until <= after:
                raise RequestError(
                    f"The ledger says that {known:,} periods of this release were drawn, and this would go on after "
                    f"{after:,}; a period is never drawn twice."
                )
            append(connection, self.who, Did.CONTINUED, {"dataset": name, "entry": entry, "periods": until})

    def _admit(self, connection: sa.Connection, history: History, cost: Cost, note: dict[str, Any]) -> None:
        """Refuse, in the transaction that would pay, what the budget allows and somebody else has to allow too."""

    def _stored(self, name: str) -> str:
        """A data set's name in the one spelling that the ledger keeps."""
        return checked_name(name, "name of a data set")

    def _history(self, connection: sa.Connection, name: str, lock: bool = False) -> History:
        history = read_history(self._store, connection, self._stored(name), lock)
        if history is None:
            raise RequestError(
                f"The ledger {self.where} knows no data set {name!r}; register it with the total that all its releases "
                "may ever spend."
            )
        return history


def _drawn(history: History, lines: Iterable[Line], seed: str) -> tuple[int, str | None]:
    """How many periods of a living release were drawn, and the entry that paid for them; None where there is none."""
    for entry in history.entries:
        facts = entry.note.get("parameters")
        if entry.note.get("mechanism") == "living" and isinstance(facts, dict) and str(facts.get("seed")) == seed:
            further = (line.about for line in lines if line.did == Did.CONTINUED)
            until = [int(about["periods"]) for about in further if about.get("entry") == entry.id]
            return max([int(facts["released"]), *until]), entry.id
    return 0, None


def _user() -> str:
    """Who runs this program, as the computer knows them."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a process whose user has no name
        return "unknown"


def _promised(name: str, budget: Budget, unit: str) -> dict[str, Any]:
    """What the log says of a registration."""
    return {
        "dataset": name,
        "epsilon": decimal_text(budget.epsilon),
        "delta": decimal_text(budget.delta),
        "neighbours": str(budget.neighbours),
        "unit": unit,
    }


def _released(name: str, cost: Cost, note: dict[str, Any], entry: str) -> dict[str, Any]:
    """What the log says of a release."""
    told = {key: note[key] for key in ("mechanism", "columns", "file") if key in note}
    price = {"epsilon": decimal_text(cost.epsilon), "delta": decimal_text(cost.delta)}
    return {"dataset": name, "entry": entry} | price | told


def _known(datasets: list[Dataset], name: str) -> Dataset | None:
    """Return the data set of this name; refuse a name that is new and looks like a known one."""
    check_new(name, (known.name for known in datasets))
    return next((known for known in datasets if known.name == name), None)


def _checked_note(note: dict[str, Any]) -> str:
    """Return a note as JSON, or say what a note may be."""
    try:
        written = canonical(note) if isinstance(note, dict) else ""
    except (TypeError, ValueError):
        written = ""
    if not 0 < len(written) <= LONGEST_NOTE:
        raise RequestError(
            f"The note of a release must be a JSON object of at most {LONGEST_NOTE:,} characters, as it holds public "
            "facts and no data."
        )
    return written
