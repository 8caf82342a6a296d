"""Somebody who pays for a release of a test: a function in the place of a ledger."""

from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace


class Paying:
    """A payer who does with the price what a test says.

    Parameters
    ----------
    spend : Callable[[Cost], object]
        Called with the price, before any noise is drawn.
    folder : Path | None
        Where releases are kept; None is a new folder.
    """

    dataset, file, prepaid, spent, before, parts = "people", None, None, False, 0, ()

    def __init__(self, spend, folder=None):
        self.note = {}
        self._spend = spend
        self.ledger = SimpleNamespace(shelf=None, where=str(Path(folder or mkdtemp()) / "ledger"))

    def check(self, cost):
        """Nothing is known about the future."""

    def has_room_for(self, *costs):
        """Nothing is refused beforehand."""
        return True

    def bought_before(self, released, cost):
        """Nothing was bought before."""
        return False, False

    def prepay(self, whole, released):
        """One price for all that follows."""
        self.spend(whole, released)
        self.prepaid, self.gone = True, whole.epsilon

    def spend(self, cost, released):
        """Do what the test says; nothing for what was prepaid."""
        if self.prepaid is None:
            self._spend(cost)
