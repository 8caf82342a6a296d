"""From what was typed to a domain and a sketch: all of it public, none of it read from private data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Option

from ..errors import RequestError
from . import notation
from .mechanisms import _scales, check_classes, declared_mechanism, evenly_compared, mechanism_name
from .output import say
from .shared_options import DataOptions, GuessOptions, refuse_typed, typed
from .sketch_options import ClassOptions, SketchOptions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..domain import Column, Domain
    from ..privacy.accounting import Cost
    from ..privacy.budget import Budget
    from ..releases.release import Release
    from ..sketches.adaptive import Adaptive
    from ..sketches.linear import LinearSketch
    from ..sketches.parts import Parts
    from ..sketches.tables.tables import Tables
    from ..sources import Source

file_option = partial(Option, rich_help_panel="The file")


@dataclass(frozen=True)
class FileOptions:
    """How SOURCE is read where it is a text table or a spreadsheet, and its name and header do not say it."""

    encoding: Annotated[
        str, file_option(help="Such as windows-1251; else UTF-16 by its mark, UTF-8, Windows-1252.")
    ] = ""
    sep: Annotated[str, file_option(metavar="MARK", help="Between fields: a character, or tab, semicolon, space.")] = ""
    header: Annotated[int | None, file_option(metavar="LINE", help="That of the names; 0 where there are none.")] = None
    names: Annotated[str, file_option(metavar="A,B,C", help="Of all columns, in place of those in the file.")] = ""
    sheet: Annotated[str, file_option(metavar="NAME", help="Of a spreadsheet; * for all of them as one table.")] = ""

    def open(self, source: str) -> Source:
        """The source, with what its owner should know of how it is read said."""
        from ..sources import open_source

        names = notation.parse_names(self.names) if self.names else None
        opened = open_source(source, names, encoding=self.encoding, sep=self.sep, header=self.header, sheet=self.sheet)
        for remark in opened.remarks:
            say(remark)
        return opened


TAKEN = "--like takes it from the release file"


def declared_sketch(
    data: DataOptions,
    shape: SketchOptions,
    budget: Budget,
    guess: GuessOptions | None = None,
    found: Mapping[str, Column] | None = None,
) -> LinearSketch | Adaptive:
    """The sketch that was typed, or that of the release file which ``--like`` names.

    `found`: Columns whose bounds come from elsewhere, such as bounds bought with a share of the budget.
    """
    if shape.like is not None:
        refuse_typed([*typed(data), *(option for option in typed(shape) if option != "--like")], TAKEN)
        return like(shape).sketch
    if shape.part:
        if found:
            raise RequestError("--private-bounds cannot be given here, as they are bought for one question: no --part.")
        from .release_parts import declared_parts

        return declared_parts(shape, declared_domain(data), budget, guess)
    domain = declared_domain(data, shape, found)
    if not found:
        domain = evenly_compared(data, domain, shape.norm, shape.radius)
    return declared_mechanism(shape, domain, budget, guess)


def like(shape: SketchOptions) -> Release:
    """The release that ``--like`` names."""
    from ..releases.release import load

    if shape.like is None:
        raise RequestError("No release is named with --like.")
    return load(shape.like)


def declared_domain(
    data: DataOptions, classes: ClassOptions | None = None, found: Mapping[str, Column] | None = None
) -> Domain:
    """Columns with their bounds and categories, that of the classes last, and the rules for records that do not fit."""
    from ..domain import Domain, PrivacyUnit

    if data.declaration is not None:
        return _domain_of_file(data, classes, found or {})
    unit = PrivacyUnit() if data.unit is None else PrivacyUnit(*notation.parse_unit(data.unit))
    columns = _items(data, classes) or declared_columns(data, _label(classes), found or {})
    missing = data.missing or _usual_rule(classes)
    if missing == "category":
        columns = _with_missing(columns, _label(classes))
    if data.unknown == "category":
        columns = _with_unknown(columns, _label(classes))
    scale, amounts = _scales(data)
    columns = _of_amounts(columns, amounts)
    return Domain(columns, data.outside, _dropped_or_refused(missing), unit, scale or "none", data.category_distance)


def paid_for_columns(data: DataOptions) -> tuple[tuple[Cost, ...], Budget | None]:
    """What finding out ``--declaration`` has cost, and the promise that it was the first part of."""
    from ..domain.declarations import Declaration
    from ..releases.found import paid_before

    return ((), None) if data.declaration is None else paid_before(Declaration.load(data.declaration).paid)


def _usual_rule(options: ClassOptions | None) -> str:
    """What happens to records that miss a value where nobody says it: tables count them as a group, in most columns."""
    of_tables = isinstance(options, SketchOptions) and not options.part and mechanism_name(options) == "tables"
    return "category" if of_tables else "drop"


def _of_amounts(columns: tuple[Column, ...], names: tuple[str, ...]) -> tuple[Column, ...]:
    """The columns, those of these names on the scale of amounts."""
    from ..domain import Numeric

    for name in names:
        if not any(isinstance(column, Numeric) and column.name == name for column in columns):
            raise RequestError(f"--scale {name}=log: {name!r} is no column of numbers with bounds, so no amount.")
    return tuple(
        replace(one, scale="log") if isinstance(one, Numeric) and one.name in names else one for one in columns
    )


def _domain_of_file(data: DataOptions, classes: ClassOptions | None, found: Mapping[str, Column]) -> Domain:
    """The columns of ``--declaration``, or those that ``--columns`` names; what is typed beside it goes first."""
    from ..domain import PrivacyUnit
    from ..domain.declarations import Declaration

    inside = (
        "--bounds",
        "--categories",
        "--format",
        "--vector",
        "--items",
        "--gathered",
        "--separator",
        "--bounds-from-sample",
    )
    refuse_typed([option for option in typed(data) if option in inside], "--declaration says it of every column")
    declared = Declaration.load(data.declaration or "")
    domain = declared.domain
    known = {column.name: column for column in domain.columns}
    for name, column in (dict(found) | _label(classes)).items():
        if column is not None and name in known:
            raise RequestError(f"The column {name!r} is declared twice.")
        if column is None and name not in known:
            raise RequestError(f"The classes in the column {name!r} are not in the declaration; say --classes A,B,C.")
        known[name] = known.pop(name) if column is None else column
    names = tuple(known) if data.columns is None else notation.parse_names(data.columns)
    names += tuple(name for name in _label(classes) if name not in names)
    for name in names:
        if name not in known:
            raise RequestError(f"The declaration has no column {name!r}; its columns are {', '.join(known)}.")
    rules: dict[str, Any] = {"columns": tuple(known[name] for name in names)}
    for rule in ("outside", "missing", "category_distance"):
        if f"--{rule.replace('_', '-')}" in typed(data):
            rules[rule] = getattr(data, rule)
    scale, amounts = _scales(data)
    rules["columns"] = _of_amounts(rules["columns"], amounts)
    rules |= {"scale": scale} if scale is not None else {}
    if "missing" not in rules and not declared.says_missing:
        rules["missing"] = _usual_rule(classes)
    if rules.get("missing") == "category":
        rules["columns"] = _with_missing(rules["columns"], _label(classes))
        rules["missing"] = _dropped_or_refused(rules["missing"])
    if data.unknown == "category":
        rules["columns"] = _with_unknown(rules["columns"], _label(classes))
    if data.unit is not None:
        rules["unit"] = PrivacyUnit(*notation.parse_unit(data.unit))
    return replace(domain, **rules)


def _with_missing(columns: tuple[Column, ...], classes: Collection[str]) -> tuple[Column, ...]:
    """Columns with a category of missing values, but for that of the classes, whose values are those that were said."""
    from ..domain.declarations import with_missing_category

    return tuple(
        one for column in columns for one in ((column,) if column.name in classes else with_missing_category((column,)))
    )


def _with_unknown(columns: tuple[Column, ...], classes: Collection[str]) -> tuple[Column, ...]:
    """Columns with a category of values that are not on the list, but for that of the classes."""
    from ..domain.declarations import with_unknown_category

    return tuple(column if column.name in classes else with_unknown_category((column,))[0] for column in columns)


def _dropped_or_refused(missing: str) -> str:
    """The rule for columns that missing values cannot be a category of."""
    return "drop" if missing == "category" else missing


def say_presets(data: DataOptions) -> None:
    """Say which bounds of a declaration come from common knowledge."""
    from ..domain.declarations import Declaration

    if data.declaration is not None:
        for sentence in Declaration.load(data.declaration).presets:
            say(sentence)


def _items(data: DataOptions, classes: ClassOptions | None) -> tuple[Column, ...]:
    """The column of sets, which stands alone; none where records are no sets."""
    from ..domain import Items

    if data.items is None:
        refuse_typed([option for option in ("--gathered", "--separator") if option in typed(data)], "--items is not")
        return ()
    unused = (
        "--columns",
        "--bounds",
        "--categories",
        "--vector",
        "--bounds-from-sample",
        "--outside",
        "--scale",
        "--category-distance",
    )
    alone = "a record that is a set has the column of --items alone"
    refuse_typed([option for option in typed(data) if option in unused], alone)
    refuse_typed(["--label"] if classes is not None and classes.label is not None else [], alone)
    return (Items(data.items, data.gathered, data.separator),)


def declared_columns(
    data: DataOptions, label: Mapping[str, Column | None], found: Mapping[str, Column]
) -> tuple[Column, ...]:
    """The columns in their order, each with facts from exactly one place."""
    facts, common = _typed_facts(data)
    for name, column in label.items():
        if column is not None and name in facts:
            raise RequestError(f"The column {name!r} is declared twice.")
        if column is None and name not in facts:
            raise RequestError(f"The classes in the column {name!r} are not known; say --classes A,B,C.")
        facts[name] = facts.pop(name) if column is None else column
    for name in facts:
        if name in found:
            raise RequestError(f"The bounds of {name!r} are given twice.")
    facts |= found
    names = tuple(facts) if data.columns is None else notation.parse_names(data.columns)
    names += tuple(name for name in label if name not in names)
    notation.check_known([*facts, *_lengths(data)], names)
    open_names = [name for name in names if name not in facts]
    if common is not None:
        facts |= {name: _numeric(name, common, data) for name in open_names}
    elif open_names and data.bounds_from_sample is not None:
        facts |= _sample_facts(data, open_names)
    undeclared = [name for name in names if name not in facts]
    if undeclared or not names:
        name = undeclared[0] if undeclared else "COLUMN"
        raise RequestError(
            f"Every column needs public bounds or categories, and {name!r} has none; say --bounds {name}=LOW:HIGH or "
            f"--categories {name}=A,B,C from public knowledge, as what is read off private data would give people away."
        )
    return tuple(facts[name] for name in names)


def _label(options: ClassOptions | None) -> dict[str, Column | None]:
    """The column of the classes by its name, or None when its categories are declared elsewhere."""
    from ..domain import Categorical

    if options is None:
        return {}
    check_classes(options)
    if options.label is None:
        return {}
    if options.classes is None:
        return {options.label: None}
    return {options.label: Categorical(options.label, notation.parse_classes(options.classes))}


def _typed_facts(data: DataOptions) -> tuple[dict[str, Column], tuple[float, float] | None]:
    """Columns declared one by one, and the bounds that hold for all others."""
    from ..domain import Categorical
    from ..domain.column_entries import columns_of
    from ..domain.formats import entry_of

    common: tuple[float, float] | None = None
    formats = dict(map(notation.parse_format, data.format or ()))
    facts: dict[str, Column] = {}
    for text in data.bounds or ():
        named, ends = text.rpartition("=")[::2]
        if entry_of(formats.get(named, "")).get("kind") == "date" and named not in facts:
            first, _, last = ends.partition(":")
            (facts[named],) = columns_of(named, entry_of(formats.pop(named)) | {"first": first, "last": last})
            continue
        name, low, high = notation.parse_bounds(text)
        if name in facts or (name is None and common is not None):
            raise RequestError(f"The bounds of {'all columns' if name is None else repr(name)} are given twice.")
        if name is None:
            common = low, high
        elif name in formats:
            (facts[name],) = columns_of(name, {"kind": "number", "low": low, "high": high, "format": formats.pop(name)})
        else:
            facts[name] = _numeric(name, (low, high), data)
    for name, form in formats.items():
        if common is not None or form in ("yes_no", "time"):
            around = {} if common is None or form == "yes_no" else {"low": common[0], "high": common[1]}
            (facts[name],) = columns_of(name, entry_of(form) | dict(around))
    for name, categories in map(notation.parse_categories, data.categories or ()):
        if name in facts:
            raise RequestError(f"The column {name!r} is declared twice.")
        facts[name] = Categorical(name, categories)
    return facts, common


def _numeric(name: str, bounds: tuple[float, float], data: DataOptions) -> Column:
    """A column of numbers, or of vectors of them."""
    from ..domain import Numeric, Vector

    lengths = _lengths(data)
    return Vector(name, lengths[name], *bounds) if name in lengths else Numeric(name, *bounds)


def _lengths(data: DataOptions) -> dict[str, int]:
    return dict(map(notation.parse_length, data.vector or ()))


def _sample_facts(data: DataOptions, names: list[str]) -> dict[str, Column]:
    from ..sources import open_source
    from ..sources.public_tables import public_facts

    return public_facts(open_source(data.bounds_from_sample), names)


def with_size(
    sketch: LinearSketch | Adaptive, budget: Budget, guess: GuessOptions, groups: int | None = None
) -> LinearSketch | Adaptive:
    """The sketch with a size: its own, or the best by forecast for what was guessed, and says so.

    `groups`: Independent groups of rows, when they were typed.
    """
    from ..figures.meaning import table
    from ..releases.forecast.sketch_sizes import choose_size
    from ..sketches.grouped import in_groups

    if sketch.parts:
        from .release_parts import settled

        return settled(cast("Parts", sketch), budget, guess)
    if sketch.sized:
        return sketch
    if sketch.asked_for == "tables" and (sketch.chooses or cast("Tables", sketch).tables is None):
        return _whole_table(sketch, budget, guess)
    if not sketch.needs_records and guess.records is None:
        return choose_size(sketch, budget)
    sample = guess.public_sample(sketch.one_answer[0].domain)
    chosen = choose_size(sketch, budget, guess.records, guess.density, sample, guess.set_size)
    if chosen.chooses:
        return chosen
    one, _ = chosen.one_answer
    if in_groups(one) and groups is not None:
        chosen = chosen.with_rows(one.rows, groups)
    size = f"{one.rows:,} rows" if in_groups(one) else table(one)
    say(f"The forecast chose {size} for {guess.records:,.0f} records.")
    return chosen


def pairs_worth_it(sketch: LinearSketch | Adaptive, budget: Budget) -> LinearSketch | Adaptive:
    """Under a pure promise, the records are asked which pairs are worth it where nobody named tables; else as it is."""
    from ..sketches.tables.chosen import ChosenTables
    from ..sketches.tables.pair_ways import FEWEST_ASKED

    if not budget.pure or sketch.asked_for != "tables" or sketch.sized or sketch.chooses:
        return sketch
    tables = cast("Tables", sketch)
    if tables.tables is not None or tables.cut_for != "questions" or len(tables.axes) < FEWEST_ASKED:
        return sketch
    return ChosenTables(tables.domain, tables.bins, tables.halvings)


def _whole_table(sketch: LinearSketch | Adaptive, budget: Budget, guess: GuessOptions) -> LinearSketch | Adaptive:
    """Tables with their cells and, where these are open too, the pairs that noise lets be seen, and says which."""
    from ..releases.forecast.sketch_sizes import ANY_RECORDS
    from ..releases.forecast.whole_table import reason, reason_of_choice

    records = ANY_RECORDS if guess.records is None else guess.records
    chosen = sketch.sized_for(budget, records)
    of = reason_of_choice if chosen.chooses else reason
    said = of(cast("Any", chosen), records, budget)
    say(said if guess.records is not None else f"Without --records, {records:,.0f} are supposed. {said}")
    return chosen
