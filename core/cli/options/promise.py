"""What is promised, what of it buys bounds, and who pays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from ...errors import RequestError
from .. import notation
from .panels import PAYER, PROMISE
from .typed import refuse_typed, typed

if TYPE_CHECKING:
    from ...privacy.budget import Budget
    from ...privacy.ledger.ledger import Ledger
    from ...releases.bounded import BoundsPurchase


@dataclass(frozen=True)
class PromiseOptions:
    """How much privacy each person keeps."""

    epsilon: Annotated[
        str,
        Option(
            metavar="NUMBER",
            help="Privacy loss, above 0 and at most 100, counted exactly as written.",
            rich_help_panel=PROMISE,
        ),
    ]
    delta: Annotated[
        str,
        Option(
            metavar="NUMBER",
            help="Probability with which the promise may fail; 0 is a pure promise.",
            rich_help_panel=PROMISE,
        ),
    ] = "0"
    neighbours: Annotated[
        Literal["add_remove", "replace_one"] | None,
        Option(
            help="Hide whether someone is in the data at all (add_remove, the default), or what their records say "
            "(replace_one).",
            rich_help_panel=PROMISE,
            show_default=False,
        ),
    ] = None

    def budget(self, otherwise: str = "add_remove") -> Budget:
        """The promise, with a relation of neighbours for when none was typed."""
        from ...privacy.budget import Budget

        return Budget(self.epsilon, self.delta, self.neighbours or otherwise)


@dataclass(frozen=True)
class BoundsOptions:
    """Bounds that nobody knows, bought with a share of the budget."""

    private_bounds: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN=LOW:HIGH",
            help="Buy the bounds of a column, between which most records lie, within a range "
            "that is beyond doubt, such as pay=0:1e7.",
            rich_help_panel=PROMISE,
        ),
    ] = None
    bounds_share: Annotated[
        str,
        Option(
            metavar="SHARE",
            help="Part of epsilon that pays for all --private-bounds together.",
            rich_help_panel=PROMISE,
        ),
    ] = "0.1"

    def purchase(self) -> BoundsPurchase | None:
        """What is to be bought, if anything."""
        if not self.private_bounds:
            refuse_typed(typed(self), "no --private-bounds are to be bought")
            return None
        from ...privacy.quantiles import Grid
        from ...releases.bounded import BoundsPurchase

        grids: dict[str, Grid] = {}
        for name, low, high in map(notation.parse_bounds, self.private_bounds):
            if name is None or name in grids:
                raise RequestError("Bounds are bought column by column, each once: --private-bounds COLUMN=LOW:HIGH.")
            grids[name] = Grid(low, high, spacing="log")
        return BoundsPurchase(grids, self.bounds_share)


@dataclass(frozen=True)
class LedgerOptions:
    """Where spent budgets are written down."""

    ledger: Annotated[
        str | None,
        Option(
            metavar="FILE-or-URL",
            envvar="FROSTGLASS_LEDGER",
            help="The privacy ledger: a file or postgresql://HOST/NAME; without it, a file in your data folder.",
            rich_help_panel=PAYER,
            show_default=False,
        ),
    ] = None

    witness: Annotated[
        str,
        Option(
            metavar="FILE-or-URL",
            envvar="FROSTGLASS_WITNESS",
            help="A second place, elsewhere, that notices an older copy of the ledger; docs/serving.md says how.",
            rich_help_panel=PAYER,
            show_default=False,
        ),
    ] = ""

    def open(self) -> Ledger:
        """The ledger, with its second place where it has one; it is created where there is none."""
        from ...privacy.ledger.ledger import Ledger

        return Ledger(self.ledger or None, self.witness)
