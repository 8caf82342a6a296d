"""Questions in SQL to a released file: SELECT city, COUNT(*), AVG(pay) FROM records WHERE … GROUP BY city.

The text is parsed by sqlglot and never run: what it asks is answered by `TableAnswers`, and what tables cannot say is
refused in a sentence that names what can be asked.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import sqlglot
from sqlglot import expressions as exp

from ..domain import Categorical, Dates, Ordered
from ..errors import RequestError
from ..formatting.escapes import steers
from ..formatting.numbers import listed, shown
from ..releases.release import Release
from ..sketches.tables.counts import chosen, missing_label, places_of
from ..sketches.tables.guessed_answers import GuessedAnswers
from ..sketches.tables.table_answers import TableAnswers
from ..sketches.tables.table_axes import Axis

LONGEST = 20_000  # Characters of a question.
CAN_BE_ASKED = (
    "what can be asked is SELECT with columns, COUNT, SUM, AVG, MEDIAN and QUANTILE(column, share), WHERE with "
    "conditions joined by AND, GROUP BY, ORDER BY and LIMIT"
)
SIDES = (exp.GTE, exp.GT, exp.LT, exp.LTE)
CLAUSES = {"expressions", "from_", "where", "group", "order", "limit", "kind"}
GUESSED = "best guess, between what the tables allow"
TOO_FEW = "too few people to be told from nobody"
Range = tuple[float | None, float | None]


@dataclass(frozen=True)
class Asked:
    """One aggregate: the name of its column, and who answers it, by groups and conditions."""

    name: str
    answer: Callable[[Sequence[str], dict[str, Any]], pd.DataFrame]


def ask_sql(release: Release, question: str, level: float = 0.95) -> pd.DataFrame:
    """The answer of a release of tables to a question in SQL.

    Parameters
    ----------
    question : str
        One SELECT from one table, whatever its name. Conditions compare one column with values, joined by AND; numbers
        and dates are asked for ranges, categories by =, <> and IN (ordered ones for ranges too), and all by IS NULL
        where missing values are counted. As always in SQL, BETWEEN and <= include their end: of columns that have
        steps, such as whole numbers and days, the whole last step.
    level : float
        Probability with which each interval holds the exact answer.

    Returns
    -------
    pd.DataFrame
        One row a group: what was grouped by, and for each aggregate its name, and with ``_low`` and ``_high`` behind it
        the ends of its interval. Numbers are grouped by their cells. Where columns are asked for together that no table
        has together, the answer is the file's best guess, with all that the tables allow as its interval; a last column
        ``note`` says so, and why an answer is missing.

    Raises
    ------
    RequestError
        When the text is no such question, or the release cannot answer it.

    Examples
    --------
    >>> ask_sql(release, "SELECT sex, COUNT(*) AS n, AVG(age) FROM records GROUP BY sex")  # doctest: +SKIP
    """
    answers = release.asked(level)
    select = _parsed(question)
    groups = [_column(one, "GROUP BY") for one in _inside(select, "group")]
    where = _conditions(answers, select)
    keys: dict[str, str] = {}
    wanted: list[Asked] = []
    for one in select.expressions:
        name, what = (one.alias, one.this) if isinstance(one, exp.Alias) else (one.sql().lower(), one)
        if isinstance(what, exp.Column):
            keys[_column(what, "SELECT")] = one.alias if isinstance(one, exp.Alias) else what.name
        else:
            wanted.append(_aggregate(answers, name, what))
    _check(groups, keys, wanted)
    # Whole cells: a group of these is asked for like any other, and the others are left out of the answer.
    kept = {name: where.pop(name) for name in groups if isinstance(where.get(name), list)}
    frames = [(one.name, _kept(one.answer(groups, where), kept)) for one in wanted]
    frame = _together(groups, keys, frames)
    return _ordered(frame, select)


def _parsed(question: str) -> exp.Select:
    if not isinstance(question, str) or len(question) > LONGEST:
        raise RequestError(f"A question is a text of at most {LONGEST:,} characters.")
    if any(steers(sign) and not sign.isspace() for sign in question):
        raise RequestError("A question has no control or direction characters, as its names are shown in the answer.")
    try:
        statements = sqlglot.parse(question, dialect="duckdb")
    except (sqlglot.errors.SqlglotError, RecursionError):
        raise RequestError(
            f'This is no SQL that could be read (a name that is a word of SQL stands in "quotes"); {CAN_BE_ASKED}.'
        ) from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Select):
        raise RequestError(f"A released file is asked one SELECT at a time; {CAN_BE_ASKED}.")
    select = statements[0]
    beyond = [name for name, value in select.args.items() if value and name not in CLAUSES]
    if beyond:
        raise RequestError(f"{beyond[0].strip('_').upper()} cannot be answered from tables; {CAN_BE_ASKED}.")
    table = select.args.get("from_")
    if table is not None and (not isinstance(table.this, exp.Table) or table.this.args.get("joins")):
        raise RequestError(f"There is one table of records to ask; {CAN_BE_ASKED}.")
    return select


def _inside(select: exp.Select, clause: str) -> list[exp.Expression]:
    found = select.args.get(clause)
    return [] if found is None else list(found.expressions)


def _column(one: exp.Expression, clause: str) -> str:
    if not isinstance(one, exp.Column) or isinstance(one.this, exp.Star):
        raise RequestError(f"{clause} takes names of columns as they are; {CAN_BE_ASKED}.")
    return str(one.name)


def _aggregate(answers: TableAnswers, name: str, what: exp.Expression) -> Asked:
    if isinstance(what, exp.Count) and isinstance(what.this, exp.Star):
        return Asked(name, lambda by, where: _told(answers, [*by, *where]).table(*by, where=where))
    if isinstance(what, exp.Count) and isinstance(what.this, exp.Column):
        counted = _column(what.this, "COUNT")

        def having(by: Sequence[str], where: dict[str, Any]) -> pd.DataFrame:
            where = _with_value(answers, counted, where)
            return _told(answers, [*by, *where]).table(*by, where=where)

        return Asked(name, having)
    share = 0.5
    if isinstance(what, (exp.PercentileCont, exp.Quantile, exp.ApproxQuantile)):
        share = _number(what.args.get("expression") or what.args.get("quantile"))
    elif not isinstance(what, (exp.Avg, exp.Sum, exp.Median)):
        raise RequestError(f"{what.sql()[:40]} cannot be answered from tables; {CAN_BE_ASKED}.")
    column = _column(what.this, "An aggregate")
    if isinstance(what, exp.Avg):
        return Asked(name, lambda by, where: _told(answers, [column, *by, *where]).mean(column, by, where))
    if isinstance(what, exp.Sum):
        return Asked(name, lambda by, where: _told(answers, [column, *by, *where]).sum(column, by, where))
    return Asked(name, lambda by, where: answers.quantile(column, share, by, where))


def _told(answers: TableAnswers, names: Sequence[str]) -> TableAnswers | GuessedAnswers:
    """Who answers about some columns together: a table that has them, or the best guess."""
    together = tuple(sorted(set(places_of(answers.axes, list(dict.fromkeys(names))))))
    measured = together in answers.reading.noise.by_columns
    return answers if measured else GuessedAnswers(answers.reading, answers.level)


def _with_value(answers: TableAnswers, name: str, where: dict[str, Any]) -> dict[str, Any]:
    """A condition that leaves out those who have no value of a column, as far as the release counts them."""
    (place,) = places_of(answers.axes, [name])
    axis = answers.axes[place]
    if not missing_label(axis):
        return where
    there = _null(axis, wanted=False)
    return where | {name: _both(name, where[name], there) if name in where else there}


def _number(value: exp.Expression | None) -> float:
    sign = 1.0
    if isinstance(value, exp.Neg):
        sign, value = -1.0, value.this
    if not isinstance(value, exp.Literal) or value.is_string:
        raise RequestError("Columns of numbers are compared with numbers, written out.")
    number = sign * float(value.this)
    if not math.isfinite(number):
        raise RequestError("A number of the question is beyond any that a computer counts with.")
    return number


def _conditions(answers: TableAnswers, select: exp.Select) -> dict[str, Any]:
    """The conditions of a question by column: categories, or a range of numbers."""
    where = select.args.get("where")
    found: dict[str, Any] = {}
    for part in [] if where is None else where.this.flatten() if isinstance(where.this, exp.And) else [where.this]:
        one, wanted = _unwrapped(cast(exp.Expression, part))
        names = {column.name for column in one.find_all(exp.Column)}
        if len(names) != 1 or not isinstance(one.this, exp.Column):
            raise RequestError(
                f"A condition compares one column with values, texts in single quotes ('red'); {CAN_BE_ASKED}."
            )
        (name,) = names
        (place,) = places_of(answers.axes, [name])
        axis = answers.axes[place]
        if isinstance(one, exp.Is) and isinstance(one.expression, exp.Null):
            said = _null(axis, wanted)
        else:
            said = _categories(axis, one, wanted) if axis.categories else _range(axis, one, wanted)
        found[name] = _both(name, found[name], said) if name in found else said
    return found


def _unwrapped(part: exp.Expression) -> tuple[exp.Expression, bool]:
    """A condition without brackets and NOT before it, and whether it is wanted to hold."""
    wanted = True
    while isinstance(part, (exp.Paren, exp.Not)):
        wanted = wanted != isinstance(part, exp.Not)
        part = part.this
    return part, wanted


def _categories(axis: Axis, one: exp.Expression, wanted: bool) -> list[str]:
    ordered = isinstance(axis.column, Ordered)
    if isinstance(one, exp.In) and one.expressions:
        values = one.expressions
    elif isinstance(one, (exp.EQ, exp.NEQ)):
        values, wanted = [one.expression], wanted != isinstance(one, exp.NEQ)
    elif ordered and isinstance(one, exp.Between):
        values = [one.args["low"], one.args["high"]]
    elif ordered and isinstance(one, SIDES):
        values = [one.expression]
    else:
        ways = "=, <>, IN, <, <=, >, >= and BETWEEN" if ordered else "=, <> and IN"
        raise RequestError(f"The column {axis.name!r} holds categories, which are asked for by {ways}.")
    named = _meant(axis, [str(value.this) for value in values if isinstance(value, exp.Literal)])
    unknown = [name for name in named if name not in axis.categories]
    if len(named) < len(values) or unknown:
        known = listed([shown(category) for category in axis.categories], 8)
        raise RequestError(f"The column {axis.name!r} is asked for its categories, written out; there are {known}.")
    meant = _in_order(axis, one, named) if isinstance(one, (exp.Between, *SIDES)) else named
    return [category for category in axis.categories if (category in meant) == wanted]


def _meant(axis: Axis, named: list[str]) -> list[str]:
    """Categories by what is written for them in the records, too, such as ja for yes."""
    column = axis.column.list if isinstance(axis.column, Ordered) else axis.column
    codes = column.listed(pa.array(named, pa.string())) if isinstance(column, Categorical) else [-1] * len(named)
    return [axis.categories[code] if code >= 0 else name for name, code in zip(named, codes, strict=True)]


def _in_order(axis: Axis, one: exp.Expression, named: list[str]) -> Sequence[str]:
    """The ordered categories from one on, up to another, or between two."""
    places = [axis.categories.index(name) for name in named]
    if isinstance(one, exp.Between):
        return axis.categories[places[0] : places[1] + 1]
    place = places[0] + isinstance(one, (exp.GT, exp.LTE))
    values = [name for name in axis.categories if name != missing_label(axis)]
    return [name for name in values if (axis.categories.index(name) >= place) == isinstance(one, (exp.GT, exp.GTE))]


def _null(axis: Axis, wanted: bool) -> list[str] | Range | None:
    """The condition that a column has no value, or that it has one."""
    chosen(axis, None)  # or else it says why nobody can tell
    label = missing_label(axis)
    if axis.categories:
        return [category for category in axis.categories if (category == label) == wanted]
    return None if wanted else (None, None)


def _range(axis: Axis, one: exp.Expression, wanted: bool) -> Range:
    """The condition that numbers lie from one on, and below another."""
    if isinstance(one, exp.Between) and wanted:
        return _place(axis, one.args["low"]), _after(axis, _place(axis, one.args["high"]))
    if isinstance(one, exp.EQ) and wanted and _step(axis):
        place = _place(axis, one.expression)
        return place, _after(axis, place)
    if not isinstance(one, SIDES):
        raise RequestError(f"The column {axis.name!r} is asked for ranges, by BETWEEN, <, <=, > and >=.")
    place = _place(axis, one.expression)
    if isinstance(one, exp.GT if wanted else exp.LTE):
        return _after(axis, place), None
    if isinstance(one, exp.GTE if wanted else exp.LT):
        return place, None
    return None, _after(axis, place) if isinstance(one, exp.LTE if wanted else exp.GT) else place


def _place(axis: Axis, value: exp.Expression) -> float:
    if isinstance(axis.column, Dates):
        value = value.this if isinstance(value, exp.Cast) else value  # DATE '2024-01-01'
        if isinstance(value, exp.Literal) and value.is_string:
            return float(axis.column.numbers_of([value.this])[0])
    return _number(value)


def _step(axis: Axis) -> float:
    return 1.0 if isinstance(axis.column, Dates) else float(getattr(axis.column, "step", 0.0))


def _after(axis: Axis, place: float) -> float:
    """The end of a range that includes a place: that of its step, where a column has steps."""
    step = _step(axis)
    return place if not step else axis.low + step * (math.floor((place - axis.low) / step + 1e-9) + 1.0)


def _both(name: str, one: Any, other: Any) -> Any:
    """The condition that two conditions on a column hold together."""
    if one is None or other is None:
        if one is not None or other is not None:
            raise RequestError(f"Nobody without a value of {name!r} has one: ask for IS NULL or for values.")
        return None
    if isinstance(one, list):
        return [category for category in one if category in other]
    lows, highs = ([end for end in ends if end is not None] for ends in zip(one, other, strict=True))
    return max(lows, default=None), min(highs, default=None)


def _check(groups: list[str], keys: dict[str, str], wanted: list[Asked]) -> None:
    if not wanted:
        raise RequestError("SELECT needs something to count, such as COUNT(*): single records are not in a release.")
    stray = [name for name in keys if name not in groups]
    if stray:
        raise RequestError(f"The column {stray[0]!r} must stand in GROUP BY too: single records are not in a release.")
    names = [*keys.values(), *(one.name for one in wanted)]
    if len(set(names)) < len(names):
        raise RequestError("Two columns of the answer have the same name; rename one with AS.")


def _kept(frame: pd.DataFrame, wanted: dict[str, list[str]]) -> pd.DataFrame:
    """The groups of an answer whose categories fit what was asked of a column that it is grouped by."""
    for name, categories in wanted.items():
        frame = frame[frame[name].isin(categories)].reset_index(drop=True)
    return frame


def _together(groups: list[str], keys: dict[str, str], found: list[tuple[str, pd.DataFrame]]) -> pd.DataFrame:
    """Several answers as one frame; each has its rows in the order of the groups' cells."""
    first = found[0][1]
    columns = {keys[name]: first[name] for name in groups if name in keys}
    notes = np.full(len(first), "", dtype=object)
    for name, frame in found:
        columns |= {name: frame.estimate, f"{name}_low": frame.low, f"{name}_high": frame.high}
        notes[:] = np.where(frame.estimate.isna(), TOO_FEW, GUESSED if frame.attrs.get("guessed") else notes)
    if notes.any():
        columns[next(name for name in ("note", "note_of_answer", "-") if name not in columns)] = notes
    return pd.DataFrame(columns)


def _sorted_by(values: pd.Series) -> pd.Series:
    categories = values.dtype
    return values.astype(str) if isinstance(categories, pd.CategoricalDtype) and not categories.ordered else values


def _ordered(frame: pd.DataFrame, select: exp.Select) -> pd.DataFrame:
    """The place of a group in the order asked for: categories by their text, ordered ones and cells by their places."""
    names, falling = [], []
    for one in _inside(select, "order"):
        name = one.this.name if isinstance(one.this, exp.Column) else one.this.sql().lower()
        if name not in frame.columns:
            raise RequestError(f"ORDER BY takes a column of the answer; there are {listed(list(frame.columns), 12)}.")
        names.append(name)
        falling.append(bool(one.args.get("desc")))
    if names:
        ascending = [not one for one in falling]
        frame = frame.sort_values(names, ascending=ascending, ignore_index=True, key=_sorted_by)
    limit = select.args.get("limit")
    if limit is None:
        return frame
    most = _number(cast(exp.Limit, limit).expression)
    if most < 0 or most != math.floor(most):
        raise RequestError("LIMIT takes a whole number of rows.")
    return frame.head(int(min(most, len(frame))))
