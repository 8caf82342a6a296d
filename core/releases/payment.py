"""How a release is paid for: its price goes to the ledger of a data set before any noise is drawn.

Whether a ledger remembers the releases that lie beside it: one restored from an older copy does not.

The name of a release on the shelf ends in 64 random bits, and the ledger's entry has the same name (`Job`, note
``file``), written before the release exists. So a release of a data set whose name no entry has was paid for by a later
state of this ledger, and spending goes on from a total that was spent already. The bits are independent of the ledger,
the data and the data set's name: whoever is handed the file learns nothing from them, and has nothing to test guesses
by, as they could with a hash of the ledger's end.

What it cannot see: a ledger and its shelf restored together, releases that were taken away or renamed, and those of
earlier versions, whose marks are shorter and which files opened here had as well. Databases that were not given a
folder for their releases share one, so there a release is no evidence against any of them.

What a visitor had found out is held, so that no click pays twice and every file says what it shows has cost. A page is
run again at every click, and a run is given up in the middle when the next click comes; so what is paid for is held
here and not in the page. Nothing in here knows Streamlit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from threading import Lock
from typing import Any, Protocol

from ..domain import Domain
from ..errors import RequestError
from ..privacy.accounting import Cost, admits_each
from ..privacy.budget import Budget, PrivacyUnit
from ..privacy.ledger.ledger import Ledger
from ..privacy.ledger.ledger_store import LedgerDamaged
from .found import Discovered, budget_to_dict
from .manifest import Finding
from .release_store import NAMED, PAID, public_name, said_in_names, shelf_of


def check_remembered(ledger: Ledger, dataset: str) -> None:
    """LedgerDamaged when a release of a data set lies on the ledger's shelf that the ledger does not know."""
    said = said_in_names(dataset)
    files = _paid_for(ledger, said)  # before the ledger is read, as others may release meanwhile
    if files:
        _check(ledger, files, [name for name in ledger.names() if said_in_names(name) == said])


def check_all_remembered(ledger: Ledger) -> int:
    """How many releases lie on the shelf that the ledger has paid for; LedgerDamaged when it knows one of them not."""
    files = _paid_for(ledger)
    if files:
        _check(ledger, files, ledger.names())
    return len(files)


def _paid_for(ledger: Ledger, said: str | None = None) -> list[str]:
    """Names of the files that a ledger has paid for, of one data set or of all."""
    if ledger.shelf is None and "://" in ledger.where:
        return []
    found, folder = [], shelf_of(ledger).folder
    try:
        for path in folder.iterdir():
            named = NAMED.fullmatch(path.name)
            if named and len(named["mark"]) == 2 * PAID and said in (None, named["dataset"]):
                found.append(path.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as problem:
        raise RequestError(
            f"The releases in {str(folder)!r} cannot be compared with the ledger, {problem.strerror or problem}, so "
            "nobody can say whether it has forgotten one; nothing was spent."
        ) from None
    return sorted(found)


def _check(ledger: Ledger, files: list[str], datasets: list[str]) -> None:
    entries = [entry for dataset in datasets for entry in ledger.entries(dataset)]
    known = {str(entry.note.get("file")) for entry in entries}
    for file in files:
        if public_name(file) not in known:
            raise LedgerDamaged(
                f"The privacy ledger {ledger.where} does not know the release {file!r} beside it, so it is an older "
                "copy that has forgotten what was spent since; restore the latest one, or take the release away if "
                "another ledger has paid for it, as nothing is released until then."
            )


MOST_NOTED = 100  # Columns that a ledger's note names; a file of more of them says them all.


class Noted(Protocol):
    """What a ledger's note names: a sketch, or a mechanism that is more than one."""

    @property
    def name(self) -> str: ...

    def parameters(self) -> dict[str, Any]: ...


@dataclass
class LedgerAccount:
    """The data set that pays for one release, and whether it has."""

    ledger: Ledger  # Where it is written down.
    dataset: str  # Its name there.
    budget: Budget  # What the release promises and spends.
    unit: str  # Who is protected, in the ledger's words.
    # What to promise for a data set that the ledger does not know yet; None is exactly what this release spends.
    total: Budget | None = None
    # Public facts that the ledger keeps with the price, beside what was released.
    note: dict[str, Any] = field(default_factory=dict)
    spent: bool | None = False  # Whether the price was written down by this payer; None while that is being done.
    registered: bool = False  # Whether the ledger had not known the data set.
    before: Decimal = Decimal(0)  # ε of what is bought first, once that was written down as an entry of its own.
    # The name under which the release will be kept, where it is settled before it is known what is released.
    file: str | None = None
    parts: tuple[str, ...] = ()  # What was bought first, in words.
    # (ε, δ) that is left of one entry for everything, where that was written first: all prices come out of it then.
    prepaid: tuple[Fraction, Fraction] | None = None
    # The price of what was drawn of it so far, its facts for the ledger, and what it is in words; None before.
    drawn: tuple[Cost, Noted, str] | None = None
    entry: str = ""  # The ledger's last one of this release.

    @property
    def gone(self) -> Decimal:
        """ε that is spent whatever comes; nothing that is still being written down."""
        return self.budget.epsilon if self.spent else self.before

    def check(self, cost: Cost) -> None:
        """Raise what `spend` would raise now; for before long work."""
        if self.prepaid is not None:
            return
        check_remembered(self.ledger, self.dataset)
        if self.total is None or self.dataset in self.ledger.names():
            self.ledger.check(self.dataset, cost, self.budget.neighbours, self.unit)

    def has_room_for(self, *costs: Cost) -> bool:
        """Whether the total admits these prices one after the other, each an entry of its own; or they are prepaid."""
        if self.prepaid is not None:
            return min(self._prepaid_less(*costs)) >= 0
        known = self.ledger.known(self.dataset)
        total = known or self.total or self.budget
        before = [] if known is None else [entry.cost for entry in known.releases]
        return admits_each(before, costs, total.epsilon, total.delta)

    def bought_before(self, released: Noted, cost: Cost | None) -> tuple[bool, bool]:
        """Whether the data set has paid for this very thing; and whether this price, and for nothing since."""
        known = self.ledger.known(self.dataset)
        paid = known.releases if known else ()
        alike = [one for one in paid if facts_of(released).items() <= one.note.items()]
        just = bool(alike) and alike[-1] == paid[-1] and alike[-1].cost
        return bool(alike), bool(just and cost and (just.epsilon, just.delta) == (cost.epsilon, cost.delta))

    def prepay(self, whole: Cost, released: Noted) -> None:
        """Write down one price for everything that follows: promises that add up to no more are paid for by it."""
        if self.file is not None:
            self.note = self.note | {"file": public_name(self.file)}
        self.spend(whole, released)
        self.prepaid = Fraction(whole.epsilon), Fraction(whole.delta)

    def _prepaid_less(self, *costs: Cost) -> tuple[Fraction, Fraction]:
        """What prices would leave of what is prepaid; below zero where it does not cover them."""
        epsilon, delta = self.prepaid or (Fraction(0), Fraction(0))
        for cost in costs:
            epsilon, delta = epsilon - Fraction(cost.epsilon), delta - Fraction(cost.delta)
        return epsilon, delta

    def spend_part(self, cost: Cost, released: Noted, bought: str) -> None:
        """Write down the first of several prices that make up the budget; a new data set is promised all of it."""
        self.parts = (*self.parts, bought)
        if self.prepaid is not None:
            left = self._prepaid_less(cost)
            self.spend(cost, released)
            self.prepaid, self.drawn = left, None
            return
        if self.total is None and self.dataset not in self.ledger.names():
            relation = {"neighbours": self.budget.neighbours, "unit": self.unit}
            self.ledger.register(self.dataset, self.budget.epsilon, self.budget.delta, **relation)
            self.registered = True
        registered = self.registered
        self.spend(cost, released)
        self.total, self.registered = None, registered
        self.spent, self.before = False, self.before + cost.epsilon

    def give_back(self) -> None:
        """Let the entry for everything cost what was drawn of it, where nothing else will be; see `Ledger.give_back`.

        Only what `spend` was asked for is ever drawn, and that uses up what is prepaid, so as long as there is some,
        nothing was. Where the ledger cannot be written now, all stays paid.
        """
        if self.prepaid is None or self.drawn is None:
            return
        cost, first, said = self.drawn
        with suppress(RequestError):
            self.ledger.give_back(self.dataset, self.entry, cost, facts_of(first))
            self.prepaid, self.spent, self.before, self.parts = None, False, cost.epsilon, (said,)

    def spend(self, cost: Cost, released: Noted) -> None:
        """Write the price down, for ever; only draw noise when this has returned.

        BudgetError or RequestError when the ledger refuses; nothing was spent.
        """
        if self.prepaid is not None:
            if min(self._prepaid_less(cost)) < 0:
                raise RuntimeError("What was paid for everything together does not cover this.")
            self.prepaid = None  # one release is made of it, and no other
            return
        relation = {"neighbours": self.budget.neighbours, "unit": self.unit}
        self.spent = None
        try:
            check_remembered(self.ledger, self.dataset)
            if self.total is not None:
                self.ledger.register(self.dataset, self.total.epsilon, self.total.delta, **relation)
            else:
                self.registered |= self.ledger.register_if_new(self.dataset, cost, **relation)
            self.entry = self.ledger.spend(self.dataset, cost, facts_of(released) | self.note, **relation)
        except RequestError:
            self.spent = False
            raise
        self.spent = True


@dataclass(frozen=True)
class Together:
    """What the ledger notes of a stage and all that follows it, in one entry."""

    first: str  # The stage that was bought first.
    domain: Domain  # The columns that are read for it.

    @property
    def name(self) -> str:
        """For the ledger's list."""
        return f"{self.first} and release"

    def parameters(self) -> dict[str, Any]:
        """The parts."""
        return {"bought first": self.first}


@contextmanager
def saying_spent(payer: LedgerAccount | None) -> Iterator[None]:
    """Say in a refusal what was spent before it, on what is bought first; once, in whichever of these it comes out.

    What was paid for all that follows, and cannot be made, is given back.
    """
    try:
        yield
    except RequestError as problem:
        first = payer is not None and (payer.prepaid is not None or (payer.spent is False and payer.before > 0))
        if payer is None or not first or " was spent " in str(problem):
            raise
        payer.give_back()
        on = " and ".join(payer.parts) if payer.prepaid is None else "all of it together"
        words = f"{str(problem).removesuffix('.')}; ε = {payer.gone:f} was spent on {on}."
        raise type(problem)(words) from None


def facts_of(released: Noted) -> dict[str, Any]:
    """What a ledger notes of what is released."""
    noted = getattr(released, "noted", {})
    return {"mechanism": released.name, "parameters": released.parameters()} | noted | _columns(released)


def _columns(released: Noted) -> dict[str, Any]:
    """The columns of what is released, for a ledger that says what it was spent on; public, as the file has them."""
    names = getattr(getattr(released, "domain", None), "names", ())
    return {"columns": list(names)} if 0 < len(names) <= MOST_NOTED else {}


def with_columns(ledger: Ledger, columns: Collection[str]) -> list[str]:
    """Data sets that released two or more columns, all among these: what tells a renamed copy without its records."""
    found = []
    for name in ledger.names():
        notes = [note for entry in ledger.entries(name) for note in (entry.note, entry.note.get("parameters", {}))]
        noted = {str(column) for note in notes for column in note.get("columns", ())}
        found += [name] if len(noted) > 1 and noted <= set(columns) else []
    return found


def payer_of(
    ledger: Ledger | str | None, dataset: str | None, budget: Budget, unit: PrivacyUnit
) -> LedgerAccount | None:
    """Who pays: a data set in a ledger, which is the user's own where none is named; nobody without a data set."""
    if dataset is None:
        return None
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    return LedgerAccount(book, dataset, budget, unit_words(unit))


def spending(payer: LedgerAccount | None, cost: Cost, released: Noted) -> Callable[[Cost], object] | None:
    """What a payer does when the price is due, for who draws noise without a release; None without a payer.

    BudgetError when the budget is too small already, before any data is read; what is returned decides for good.
    """
    if payer is None:
        return None
    payer.check(cost)
    return lambda due: payer.spend(due, released)


def unit_words(unit: PrivacyUnit) -> str:
    """How the ledger names who is protected."""
    return "record" if unit.column is None else f"{unit.column}:{unit.records}"


@dataclass(frozen=True)
class Purchase:
    """What was bought of a table, and what is left for a release of it."""

    columns: tuple[str, ...]  # Of which something was found.
    # What it has cost; the promise of which it was the first part; and what that leaves for one release after it.
    cost: Cost
    whole: Budget
    left: Budget
    price: str  # The cost in words.
    kept: Finding  # What a release file says of it.
    found: Discovered | None = None  # What was found; None of what an earlier visit bought.
    # By column, the entries of a declaration that were found, or why the column is left out: JSON.
    said: Mapping[str, Any] = field(default_factory=dict)

    @property
    def records(self) -> float:
        """About how many records there are, as was found with noise."""
        return self.kept.records

    def to_dict(self) -> dict[str, object]:
        """A value for JSON of what has to be known of it later: what it has cost and left, and what it found."""
        budgets = {"whole": budget_to_dict(self.whole), "left": budget_to_dict(self.left)}
        return {
            "columns": list(self.columns),
            "cost": self.cost.to_dict(),
            "price": self.price,
            "kept": self.kept.to_dict(),
            "said": dict(self.said),
            **budgets,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Purchase:
        """What `to_dict` wrote; ValueError, TypeError or KeyError for anything else."""
        whole, left = Budget(**record["whole"]), Budget(**record["left"])
        return cls(
            tuple(record["columns"]),
            Cost.from_dict(record["cost"]),
            whole,
            left,
            record["price"],
            Finding.from_dict(record["kept"]),
            said=record.get("said", {}),
        )


class Purchases:
    """Everything that one visitor bought, by the pick of records that it was bought of."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], tuple[int, Purchase]] = {}
        self._fresh: dict[int, list[Purchase]] = {}
        self._lock = Lock()

    def once(self, pick: int, what: tuple[object, ...], buy: Callable[[], Purchase]) -> None:
        """Buy, unless the very same was bought of these records before: then it is taken again, at no cost.

        `pick`: Number of the pick of records. `what`: Everything that tells this purchase from another: columns,
        ranges, price, who pays and who is protected. `buy`: Pays and buys; what it raises is raised, and nothing is
        remembered.
        """
        with self._lock:
            ticket = (pick, *what)
            if ticket not in self._made:
                self._made[ticket] = (pick, buy())
            self._fresh.setdefault(pick, []).append(self._made[ticket][1])

    def restore(self, pick: int, purchase: Purchase, fresh: bool = False) -> None:
        """Remember what an earlier visit bought of the same columns; ``fresh``: the page does not show it yet."""
        with self._lock:
            self._made[pick, len(self._made), purchase.columns] = (pick, purchase)
            if fresh:
                self._fresh.setdefault(pick, []).append(purchase)

    def carry(self, pick: int, later: int) -> None:
        """Count what was bought of a pick as bought of a later one of the same records, to be shown on its page."""
        with self._lock:
            for ticket in [ticket for ticket, (number, _) in self._made.items() if number == pick]:
                _, purchase = self._made.pop(ticket)
                self._made[later, *ticket[1:]] = (later, purchase)
                self._fresh.setdefault(later, []).append(purchase)

    def take_fresh(self, pick: int) -> list[Purchase]:
        """What was bought and is not on the page yet; it counts as taken."""
        with self._lock:
            return self._fresh.pop(pick, [])

    def made_of(self, pick: int, columns: Collection[str] | None = None) -> tuple[Purchase, ...]:
        """All that was bought of these records, or of any of these columns, typed over afterwards or not."""
        with self._lock:
            mine = [one for number, one in self._made.values() if number == pick]
            return tuple(one for one in mine if columns is None or not set(one.columns).isdisjoint(columns))
