"""The ledger of the bundled samples: it counts as any ledger does, and can begin again, as samples are nobody's secret.

An owner's ledger never forgets, which is what makes its totals promises. Made-up records promise nobody anything; but
counted beside real ones, their budget would run out once and for ever, and whoever teaches with them needs a fresh one
every lesson. So they have a file of their own, and nothing but bundled samples may be paid from it.
"""

from __future__ import annotations

from pathlib import Path

from ..privacy.ledger.ledger import Ledger
from ..privacy.ledger.ledger_store import default_place
from .release_store import Shelf

ENDING = ".samples"  # Stands behind the name of the ledger of its owner; only files with it are ever begun again.


class Sandbox:
    """A ledger with its shelf that can be emptied.

    Parameters
    ----------
    place : Path
        Its file, which exists from the first use on.
    """

    def __init__(self, place: Path):
        self.place = place.with_name(place.name.removesuffix(ENDING) + ENDING)

    @classmethod
    def beside(cls, where: str | Path | None) -> Sandbox:
        """The one beside a ledger: a path or an address, None for the ledger in the user's data folder."""
        named = str(where or default_place()).removeprefix("sqlite+pysqlite:///").removeprefix("sqlite:///")
        return cls(default_place() if "://" in named else Path(named).expanduser().absolute())

    @property
    def exists(self) -> bool:
        """Whether anything was ever counted in it."""
        return self.place.exists()

    @property
    def ledger(self) -> Ledger:
        """Open it; RequestError when it cannot be used."""
        return Ledger(self.place)

    @property
    def shelf(self) -> Shelf:
        """Where its releases are kept."""
        return Shelf(Path(f"{self.place}.releases"))

    def begin_again(self) -> None:
        """Forget all that was spent, and the releases that it was spent on."""
        for entry in self.shelf.entries():
            if not entry.shown:
                self.shelf.remove(entry.name)
        self.place.unlink(missing_ok=True)


def counts_samples(ledger: Ledger) -> bool:
    """Whether a ledger is one that can begin again."""
    return ledger.where.endswith(ENDING)
