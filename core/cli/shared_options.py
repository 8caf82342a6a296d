"""Options that several commands share: what is known and guessed of the columns, what is promised, and who pays.

Each group of options is a frozen dataclass; `grouped` turns its fields into options, and its methods turn what was
typed into the values of the library. Nothing heavy is imported before a method is called, so that help appears at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from typer import Option, Typer

from ..errors import RequestError

if TYPE_CHECKING:
    import pyarrow as pa
    from _typeshed import DataclassInstance

    from ..domain import Domain
    from ..privacy.budget import Budget
    from ..privacy.ledger.ledger import Ledger

DATA, PAYER = "The data, in public", "The budget"
# Each stands under its heading in the help of a command.
data_option = partial(Option, rich_help_panel=DATA)
sets_option = partial(Option, rich_help_panel="Sets")
guess_option = partial(Option, rich_help_panel="Public guesses")


@dataclass(frozen=True)
class DataOptions:
    """What is publicly known about the columns, and who one person is."""

    declaration: Annotated[
        Path | None,
        data_option(
            metavar="FILE",
            help="A YAML file that declares the columns, who one person is, and the rules for records that do not fit; "
            "'declare' writes a draft.",
        ),
    ] = None
    columns: Annotated[
        str | None,
        data_option(
            metavar="A,B,C",
            help="Columns to use, in this order; without it, those of --declaration, or of --bounds and --categories.",
        ),
    ] = None
    bounds: Annotated[
        list[str] | None,
        data_option(
            metavar="COLUMN=LOW:HIGH",
            help="Public bounds of a column of numbers, such as R=0:255; LOW:HIGH alone holds "
            "for every column that has none of its own. Repeat it for each column.",
        ),
    ] = None
    categories: Annotated[
        list[str] | None,
        data_option(metavar="COLUMN=A,B,C", help="Public list of a column's categories, such as city=Bern,Basel."),
    ] = None
    format: Annotated[
        list[str] | None,
        data_option(
            metavar="COLUMN=FORMAT",
            help="How a column is written: decimal_point, decimal_comma, time, duration, hours_minutes, yes_no; or "
            "day_first, month_first, year_first, %Y%m%d, whose --bounds are dates.",
        ),
    ] = None
    vector: Annotated[
        list[str] | None,
        data_option(
            metavar="COLUMN=LENGTH", help="A column that holds lists of LENGTH numbers, all between its --bounds."
        ),
    ] = None
    items: Annotated[
        str | None,
        sets_option(
            metavar="COLUMN", help="A record is a set of items, in a column of lists; no other columns are used."
        ),
    ] = None
    gathered: Annotated[
        bool,
        sets_option(
            "--gathered",
            help="Every row holds one item in --items, and all rows of one value of the --unit column are "
            "one set, such as the edges of a graph.",
        ),
    ] = False
    separator: Annotated[
        str | None, sets_option(metavar="TEXT", help="Cut the texts in --items into items at TEXT, such as ';'.")
    ] = None
    bounds_from_sample: Annotated[
        Path | None,
        data_option(
            metavar="FILE",
            help="A public file with the same columns: its ranges and categories fill what was not given. "
            "Never use the private file.",
        ),
    ] = None
    unit: Annotated[
        str | None,
        data_option(
            metavar="COLUMN:RECORDS",
            help="Protect the person that COLUMN names and keep at most RECORDS of each person's "
            "records, chosen at random; without it, one record is protected.",
        ),
    ] = None
    outside: Annotated[
        Literal["clamp", "drop"],
        data_option(help="Values outside the bounds are moved to the nearest bound, or their records are left out."),
    ] = "clamp"
    missing: Annotated[
        Literal["drop", "refuse", "category"] | None,
        data_option(
            help="Records that miss a value are left out, or stop the command, or the value counts as a category of "
            "its own where a column can have one. Without it tables count it so, and others leave them out."
        ),
    ] = None
    unknown: Annotated[
        Literal["rule", "category"],
        data_option(
            help="Values that are not on the list of their column's categories are missing ones (rule), or count as a "
            "category of their own, other."
        ),
    ] = "rule"
    scale: Annotated[
        str | None,
        data_option(
            metavar="none|box|COLUMN=log",
            help="Compare columns in their own units (none, as it is without it), or each as a share of its bounds "
            "(box). COLUMN=log says that its numbers are amounts, of which equal ratios are equally far apart: pay=log "
            "or box,pay=log,rent=log.",
        ),
    ] = None
    category_distance: Annotated[float, data_option(help="Distance between two different categories of a column.")] = (
        1.0
    )


@dataclass(frozen=True)
class GuessOptions:
    """What is guessed about the data from public knowledge; it moves rows and forecasts, never the promise."""

    records: Annotated[
        float | None,
        guess_option(
            metavar="NUMBER",
            help="How many records there are at least, from public knowledge; forecasts need it, and a release "
            "without it buys a count with a share of its budget first.",
        ),
    ] = None
    density: Annotated[
        float | None,
        guess_option(
            metavar="SHARE",
            help="Average closeness of two records, between 0 and 1; without it, records spread "
            "over a sixth of the bounds, in several ways.",
        ),
    ] = None
    set_size: Annotated[
        float | None,
        guess_option(
            metavar="ITEMS", help="About how many items a set has on average; 4, 12 and 36 are tried without it."
        ),
    ] = None
    spread: Annotated[
        float | None,
        guess_option(
            metavar="SHARE",
            help="How far records lie from the middle of them all in a typical column, as a share of its bounds: a "
            "standard deviation. It decides the bandwidth where that is left out and there are more than three "
            "columns; a release without it buys it with 2 to 5% of epsilon.",
        ),
    ] = None
    sample: Annotated[
        Path | None,
        guess_option(
            metavar="FILE",
            help="A public table that lies as the private one is thought to, at least 200 records; sharpens the "
            "forecast.",
        ),
    ] = None

    def public_sample(self, domain: Domain) -> pa.Table | None:
        """What the public sample says of the domain's columns, in a random order."""
        from .asked_release import shuffled

        return None if self.sample is None else shuffled(self.sample, domain)


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


class CommandGroup(Typer):
    """Commands of which each may have groups of options: see `grouped`."""

    def command(self, *named: Any, **facts: Any) -> Callable[..., Any]:  # type: ignore[override]
        """As Typer's, of a function whose groups are turned into options."""
        register = super().command(*named, **facts)
        return lambda function: register(grouped(function))


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
        str | None,
        promise_option(metavar="NUMBER", help="Privacy loss, above 0 and at most 100, counted exactly as written."),
    ] = None
    delta: Annotated[
        str, promise_option(metavar="NUMBER", help="Probability with which the promise may fail; 0 is a pure promise.")
    ] = "0"
    neighbours: Annotated[
        Literal["add_remove", "replace_one"] | None,
        promise_option(
            help="Hide whether someone is in the data at all (add_remove, the default), or what their records say "
            "(replace_one)."
        ),
    ] = None

    def budget(self, otherwise: str = "add_remove") -> Budget:
        """The promise, with a relation of neighbours for when none was typed."""
        from ..privacy.budget import Budget

        if self.epsilon is None:
            raise RequestError("--epsilon must say how much privacy may be lost, as nothing else decides it here.")
        return Budget(self.epsilon, self.delta, self.neighbours or otherwise)


@dataclass(frozen=True)
class NeedOptions:
    """What the promise follows from where nobody says epsilon: how exact a release must be, or what harm it may do."""

    error: Annotated[
        str | None,
        promise_option(
            metavar="2%|PEOPLE",
            help="Instead of --epsilon: the largest error of an answer (one standard deviation), as a share of all "
            "records (of a distance, of it, where records commonly lie; at the bounds it may be twice that) or as a "
            "number of people; the smallest epsilon that does it is found by forecast. Needs --records.",
        ),
    ] = None
    visible: Annotated[
        float | None,
        promise_option(
            metavar="PEOPLE",
            help="Instead of --epsilon: the smallest group that must be told from none. Needs --records.",
        ),
    ] = None
    harm: Annotated[
        str | None,
        promise_option(
            metavar="BEFORE:AFTER",
            help="Instead of --epsilon: a guess about one person that is right with the first chance before may be "
            "right with the second one after, and no more often, such as 1%:3%.",
        ),
    ] = None


@dataclass(frozen=True)
class LedgerOptions:
    """Where spent budgets are written down."""

    ledger: Annotated[
        str | None,
        payer_option(
            metavar="FILE-or-URL",
            envvar="FROSTGLASS_LEDGER",
            help="The privacy ledger: a file or postgresql://HOST/NAME; without it, a file in your data folder.",
        ),
    ] = None

    witness: Annotated[
        str,
        payer_option(
            metavar="FILE-or-URL",
            envvar="FROSTGLASS_WITNESS",
            help="A second place, elsewhere, that notices an older copy of the ledger; docs/serving.md says how.",
        ),
    ] = ""

    def names(self) -> list[str]:
        """Data sets that the ledger knows: none where no file is there, which is not created for a name."""
        from ..privacy.ledger.ledger_store import default_place

        file = Path(self.ledger or default_place())
        return [] if "://" not in str(self.ledger or "") and not file.exists() else self.open().names()

    def open(self) -> Ledger:
        """The ledger, with its second place where it has one; it is created where there is none."""
        from ..privacy.ledger.ledger import Ledger

        return Ledger(self.ledger or None, self.witness)
