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
from decimal import Decimal
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ...errors import BudgetError, RequestError
from ..accounting import Cost, admits, largest_pure_admitted, spent
from ..budget import Budget, Neighbours, Number, decimal_text, unit_in_words
from ..replay.tape import rolling
from .account import Preview, Status
from .ledger_records import (
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

        Parameters
        ----------
        where : str | Path | None
            A path, ``sqlite:///path`` or ``postgresql://…``; None is a file in the user's data folder.
        witness : str
            A path or ``postgresql://…``: a second place, elsewhere, that knows how far the ledger had come and is only
            ever appended to, so that an older copy in the ledger's place is noticed; none without. A ledger that was
            ever changed with one is not changed without.

        Raises
        ------
        RequestError
            When the place cannot hold a ledger, or holds a damaged one.
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

        Parameters
        ----------
        name : str
            At most 100 visible characters.
        epsilon, delta : Number
            The total of all releases there will ever be.
        neighbours, unit : Neighbours | str, str
            Whom the promise protects: the relation, and "record" or the text that names the column of people's ids.

        Raises
        ------
        RequestError
            When a number is out of range, or the name is taken by another promise.
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
                _check_same_promise(known, budget, unit)

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
        used, left = _figures(history.costs, history.dataset)
        return Status(**vars(history.dataset), spent=used, left=left, releases=history.entries)

    def what_if(self, name: str, cost: Cost) -> Preview:
        """Return what a release of this cost would do, without making it."""
        with self._store.reading() as connection:
            history = self._history(connection, name)
        used, left = _figures([*history.costs, cost], history.dataset)
        return Preview(_refusal(history, cost), used, left)

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
        _check_allowed(history, cost, neighbours, unit)

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

        Parameters
        ----------
        name : str
            A registered data set.
        cost : Cost
            What the release does to privacy.
        note : dict[str, Any] | None
            Public facts about it (mechanism, parameters); at most 100,000 characters of JSON, and no value of the data.
        neighbours, unit : Neighbours | str, str
            Whom the release protects.

        Returns
        -------
        str
            The entry's id: the beginning of its link, so that a release that carries it can be matched.

        Raises
        ------
        BudgetError
            When the total would be passed.
        RequestError
            When the data set is unknown, or its promise protects someone else than the release does.
        """
        noted = note or {}
        _checked_note(noted)
        with self._store.writing() as connection:
            history = self._history(connection, name, lock=True)
            _check_allowed(history, cost, neighbours, unit)
            check_first(history, noted)
            self._admit(connection, history, cost, noted)
            end = last(connection)
            written = _checked_note(noted | {LOGGED: f"{end[0]}:{end[1]}"})
            entry = append_release(connection, history, canonical(cost.to_dict()), written)
            append(connection, self.who, Did.RELEASED, _released(history.dataset.name, cost, noted, entry), end)
        tape = rolling()
        if tape is not None:  # an audit sees that what is drawn from here on was paid for
            tape.paid(cost)
        return entry

    def drawn(self, name: str, seed: str) -> int:
        """How many periods of a living release were drawn, by its seed; 0 where the data set has not paid for it."""
        with self._store.reading() as connection:
            return _drawn(self._history(connection, name), self.log.lines(), seed)[0]

    def go_on(self, name: str, seed: str, after: int, until: int) -> None:
        """Write down that further periods of a living release are drawn, once; only draw their noise afterwards.

        The price of all periods was written down with the first ones, so nothing is spent; what has to be ruled out is
        that a period is drawn twice.

        Parameters
        ----------
        name, seed : str, str
            The data set, and the digits of the release's seed, which its entry notes.
        after, until : int
            How many periods are drawn already, and how many will be.

        Raises
        ------
        RequestError
            When the data set has not paid for such a release, or other periods were drawn than the caller knows of.
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


def _figures(costs: list[Cost], dataset: Dataset) -> tuple[float, Decimal]:
    """Return what these releases spend together and what they leave for one pure release more."""
    return spent(costs, dataset.delta), largest_pure_admitted(costs, dataset.epsilon, dataset.delta)


def _refusal(history: History, cost: Cost) -> str | None:
    """Return why a release may not follow, in one sentence, or None when it may."""
    dataset, costs = history.dataset, history.costs
    if admits(costs, cost, dataset.epsilon, dataset.delta):
        return None
    asked = f"This release asks for {cost.describe()} of data set {dataset.name!r}, whose total is {_promise(dataset)}"
    if dataset.delta == 0 and cost.pure_epsilon is None:
        return f"{asked}; Gaussian noise keeps no promise without δ, so nothing was spent."
    used, left = _figures(costs, dataset)
    made = "1 release has" if len(costs) == 1 else f"{len(costs)} releases have"
    return (
        f"{asked}; {made} spent ε = {used:.6g} of it and at most "
        f"ε = {decimal_text(left)} is left for a pure release, so nothing was spent."
    )


def _promise(dataset: Dataset) -> str:
    words = f"ε = {decimal_text(dataset.epsilon)}"
    return words if dataset.delta == 0 else f"{words}, δ = {decimal_text(dataset.delta)}"


def _check_same_promise(known: Dataset, budget: Budget, unit: str) -> None:
    """Refuse to change a promise that was made."""
    promised = (known.epsilon, known.delta, known.neighbours, known.unit)
    if promised != (budget.epsilon, budget.delta, budget.neighbours, unit):
        raise RequestError(
            f"Data set {known.name!r} was registered with a total of {_promise(known)} to {unit_in_words(known.unit)}, "
            f"which hides {known.neighbours.hides}; a promise once made to the people in it cannot be changed."
        )


def _check_allowed(history: History, cost: Cost, neighbours: Neighbours | str, unit: str) -> None:
    """Refuse a release that protects someone else than the total does, or that would pass the total."""
    dataset = history.dataset
    if unit != dataset.unit:
        raise RequestError(
            f"The release would protect {unit_in_words(unit)}, but the total of data set {dataset.name!r} was promised "
            f"to {unit_in_words(dataset.unit)}; promises to different people do not add up."
        )
    if neighbours != dataset.neighbours:
        raise RequestError(
            f"The release would hide something else than the total of data set {dataset.name!r}, which was promised to "
            f"hide {dataset.neighbours.hides}; such promises do not add up."
        )
    refusal = _refusal(history, cost)
    if refusal:
        raise BudgetError(refusal)


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
