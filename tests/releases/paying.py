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

    dataset, file = "people", None

    def __init__(self, spend, folder=None):
        self.note = {}
        self._spend = spend
        self.ledger = SimpleNamespace(shelf=None, where=str(Path(folder or mkdtemp()) / "ledger"))

    def check(self, cost):
        """Nothing is known about the future."""

    def spend(self, cost, released):
        """Do what the test says."""
        self._spend(cost)
