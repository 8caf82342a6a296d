"""Whether a ledger remembers the releases that lie beside it: one restored from an older copy does not.

The name of a release on the shelf ends in 64 random bits, and the ledger's entry has the same name (`Job`, note
``file``), written before the release exists. So a release of a data set whose name no entry has was paid for by a later
state of this ledger, and spending goes on from a total that was spent already. The bits are independent of the ledger,
the data and the data set's name: whoever is handed the file learns nothing from them, and has nothing to test guesses
by, as they could with a hash of the ledger's end.

What it cannot see: a ledger and its shelf restored together, releases that were taken away or renamed, and those of
earlier versions, whose marks are shorter and which files opened here had as well. Databases that were not given a
folder for their releases share one, so there a release is no evidence against any of them.
"""

from __future__ import annotations

from ..errors import RequestError
from ..privacy.ledger.ledger import Ledger
from ..privacy.ledger.store import LedgerDamaged
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
