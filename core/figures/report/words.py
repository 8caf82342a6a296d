"""The public facts of a release in plain words."""

from __future__ import annotations

from decimal import Decimal

from ...domain import Categorical, Column, Cyclic, Dates, Domain, Items, Numeric, Ordered, Vector
from ...privacy.budget import Budget, decimal_text
from ...privacy.neighbours import Neighbours
from ...words.numbers import number, percent
from ...words.phrases import listed, shown

LISTED_CATEGORIES = 8


def counted(domain: Domain) -> str:
    """What a kernel sum counts, in the word of the owner; sets, or people unless a column says that one has several."""
    return domain.many_records


def protected(domain: Domain) -> str:
    """Who is protected."""
    unit, one = domain.unit, "set" if domain.holds_sets else "record"
    if domain.gathers:
        return f"the whole list of each value of {shown(unit.column)}, however long"
    if unit.column is None:
        return f"each {one}" + (", however large" if domain.holds_sets else "")
    many = f"one {one}" if unit.records == 1 else f"up to {unit.records:,} {one}s"
    return f"each person whom the column {shown(unit.column)} tells apart ({many} each)"


def hidden(neighbours: Neighbours, domain: Domain) -> str:
    """What is hidden about whoever is protected, and what is not."""
    if domain.gathers:
        said, there = f"what the list of any one value of {shown(domain.unit.column)} holds", "there is such a list"
    elif domain.unit.column is None:
        said, there = f"what any one {'set holds' if domain.holds_sets else 'record says'}", "it is there"
    else:
        said = f"what any one person's {'sets hold' if domain.holds_sets else 'records say'}"
        there = "they are there"
    if neighbours is Neighbours.REPLACE_ONE:
        return f"{said}, but not how many {'sets' if domain.holds_sets else 'records'} there are"
    return f"{said}, and even whether {there} at all"


def one_record(domain: Domain) -> str:
    """What one record is, as sentences, and whose it is not; "" where it is a row, as anyone would think."""
    if not domain.gathers:
        return ""
    who, whom = shown(domain.unit.column), shown(domain.names[0])
    return (
        f"One record is one set: everything in {whom} that is listed under one value of {who}. Where others list that "
        f"value in their {whom}, it is part of their records and not hidden: in a graph that lists every edge both "
        "ways, only a node's own list is."
    )


def promise(epsilon: Decimal, delta: Decimal) -> str:
    """ε, and δ where there is one."""
    return f"ε = {decimal_text(epsilon)}" + (f", δ = {decimal_text(delta)}" if delta else "")


def odds(budget: Budget, domain: Domain) -> str:
    """The promise as what a guesser can gain."""
    one = "list" if domain.gathers else "person"
    if domain.unit.column is None:
        one = "set" if domain.holds_sets else "record"
    return f"A coin-flip (50%) guess about one {one} can rise to at most {percent(min(1.0, budget.odds), 3)}."


def column_values(column: Column) -> str:
    """What anyone could have in a column, by its public bounds or categories."""
    if isinstance(column, Items):
        if column.gathered:
            return "any item, one a row"
        return "any items" + ("" if column.separator is None else f", with {shown(column.separator)!r} between them")
    if isinstance(column, Categorical):
        around = ", around a circle" if isinstance(column, Cyclic) else ""
        return f"one of {len(column.categories):,}{around}: {listed(column.categories, LISTED_CATEGORIES)}"
    if isinstance(column, Ordered):
        return f"one of {len(column.categories):,}, in order: {listed(column.categories, LISTED_CATEGORIES)}"
    if isinstance(column, Dates):
        return f"{column.text(column.low)} to {column.text(column.high)}, by the {column.step}"
    said = column.unit if isinstance(column, Vector) else column.said_unit
    unit = f" {shown(said)}" if said else ""
    bounds = f"{number(column.low)} to {number(column.high)}{unit}"
    return f"{column.length:,} numbers, each {bounds}" if isinstance(column, Vector) else bounds


def left_out(domain: Domain, keeps_gaps: bool = False) -> str:
    """What was done with records that do not fit; ``keeps_gaps`` as of the sketch."""
    if domain.holds_sets:
        empty = "Empty sets" + (" and rows that miss a value" if domain.gathers else "")
        return f"{empty} were {'left out' if domain.missing == 'drop' else 'not accepted'}."
    outside = "left out" if domain.outside == "drop" else "moved to the nearest bound"
    missing = "left out" if domain.missing == "drop" else "not accepted"
    others = [column.name for column in domain.columns if not has_category_of_missing(column, keeps_gaps)]
    if not others:
        return f"Values outside the bounds were {outside}; those who miss a value are counted as a group of their own."
    names = listed([shown(name) for name in others], LISTED_CATEGORIES).replace(" and ", " or ")
    of = f" of {names}" if len(others) < len(domain.columns) else ""
    return f"Values outside the bounds were {outside}; records that miss a value{of} were {missing}."


def has_category_of_missing(column: Column, keeps_gaps: bool) -> bool:
    """Whether a column counts those who miss a value: numbers and dates where the sketch has a cell for them."""
    return bool(getattr(column, "missing_category", "")) and (keeps_gaps or not isinstance(column, (Numeric, Dates)))
