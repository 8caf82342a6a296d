"""Options that several commands share: what is promised, what of it buys bounds, and who pays.

Each group of options is a frozen dataclass; `grouped` turns its fields into options, and its methods turn what was
typed into the values of the library. Nothing heavy is imported before a method is called, so that help appears at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from typer import Option

from ..errors import RequestError
from . import notation
from .data_options import PAYER

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from ..privacy.budget import Budget
    from ..privacy.ledger.ledger import Ledger
    from ..releases.bounded import BoundsPurchase

promise_option = partial(Option, rich_help_panel="The promise")
payer_option = partial(Option, rich_help_panel=PAYER)


def grouped(function: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose parameters of a dataclass's type stand for the fields of that dataclass, one option each.

    Typer reads options off a function's signature; this writes the fields into it, and gathers them again at the call.
    """
    signature = inspect.signature(function, eval_str=True)
    groups: dict[str, type[Any]] = {
        name: part.annotation
        for name, part in signature.parameters.items()
        if isinstance(part.annotation, type) and is_dataclass(part.annotation)
    }
    flat: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        options = _options(groups[name]) if name in groups else [parameter.replace(kind=parameter.KEYWORD_ONLY)]
        flat.extend(options)

    @wraps(function)
    def command(**given: Any) -> Any:
        gathered = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return function(**given, **gathered)

    command.__signature__ = signature.replace(parameters=flat)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return command


def _options(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=_default(field), annotation=hints[field.name]
        )
        for field in fields(group)
    ]


def _default(field: Field) -> Any:
    return inspect.Parameter.empty if field.default is MISSING else field.default


def typed(group: DataclassInstance) -> list[str]:
    """Names of the options of a group that differ from their defaults, as they are typed."""
    return [
        f"--{field.name.replace('_', '-')}" for field in fields(group) if getattr(group, field.name) != field.default
    ]


def refuse_typed(options: list[str], why: str) -> None:
    """Refuse options that contradict another one."""
    if options:
        raise RequestError(f"{options[0]} cannot be given here, as {why}.")


@dataclass(frozen=True)
class PromiseOptions:
    """How much privacy each person keeps."""

    epsilon: Annotated[
        str, promise_option(metavar="NUMBER", help="Privacy loss, above 0 and at most 100, counted exactly as written.")
    ]
    delta: Annotated[
        str, promise_option(metavar="NUMBER", help="Probability with which the promise may fail; 0 is a pure promise.")
    ] = "0"
    neighbours: Annotated[
        Literal["add_remove", "replace_one"] | None,
        promise_option(
            help="Hide whether someone is in the data at all (add_remove, the default), or what their records say "
            "(replace_one).",
            show_default=False,
        ),
    ] = None

    def budget(self, otherwise: str = "add_remove") -> Budget:
        """The promise, with a relation of neighbours for when none was typed."""
        from ..privacy.budget import Budget

        return Budget(self.epsilon, self.delta, self.neighbours or otherwise)


@dataclass(frozen=True)
class BoundsOptions:
    """Bounds that nobody knows, bought with a share of the budget."""

    private_bounds: Annotated[
        list[str] | None,
        promise_option(
            metavar="COLUMN=LOW:HIGH",
            help="Buy the bounds of a column, between which most records lie, within a range "
            "that is beyond doubt, such as pay=0:1e7.",
        ),
    ] = None
    bounds_share: Annotated[
        str, promise_option(metavar="SHARE", help="Part of epsilon that pays for all --private-bounds together.")
    ] = "0.1"

    def purchase(self) -> BoundsPurchase | None:
        """What is to be bought, if anything."""
        if not self.private_bounds:
            refuse_typed(typed(self), "no --private-bounds are to be bought")
            return None
        from ..privacy.quantiles import Grid
        from ..releases.bounded import BoundsPurchase

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
        payer_option(
            metavar="FILE-or-URL",
            envvar="FROSTGLASS_LEDGER",
            help="The privacy ledger: a file or postgresql://HOST/NAME; without it, a file in your data folder.",
            show_default=False,
        ),
    ] = None

    witness: Annotated[
        str,
        payer_option(
            metavar="FILE-or-URL",
            envvar="FROSTGLASS_WITNESS",
            help="A second place, elsewhere, that notices an older copy of the ledger; docs/serving.md says how.",
            show_default=False,
        ),
    ] = ""

    def open(self) -> Ledger:
        """The ledger, with its second place where it has one; it is created where there is none."""
        from ..privacy.ledger.ledger import Ledger

        return Ledger(self.ledger or None, self.witness)
