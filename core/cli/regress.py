"""`regress`: any column of a release of products predicted from others."""

from __future__ import annotations

import math
from typing import Annotated

from typer import Option

from ..errors import RequestError
from .output import check_table, say, write_table
from .reading import PartOption, ReleaseArgument, TableOption, read_queries


def regress(
    release: ReleaseArgument,
    target: Annotated[str, Option("--target", metavar="COLUMN", help="The column to predict.", show_default=False)],
    on: Annotated[
        str | None, Option("--on", metavar="A,B,...", help="Columns to predict it from; without it, all others.")
    ] = None,
    category: Annotated[
        str | None, Option("--category", metavar="NAME", help="Of a target with categories, which one's share.")
    ] = None,
    ridge: Annotated[
        str, Option("--ridge", help="A number of records, 0 for least squares, or a rule: least-error, adassp.")
    ] = "least-error",
    predict: Annotated[
        str | None, Option("--predict", metavar="QUERIES", help="Predict the rows of a table, and not coefficients.")
    ] = None,
    about: Annotated[
        str, Option("--about", help="What intervals hold: what the records give, or with sampling the population.")
    ] = "records",
    level: Annotated[float, Option("--level", help="Probability with which an interval holds what it is for.")] = 0.95,
    part: PartOption = None,
    out: TableOption = None,
) -> None:
    """Predict any column of a release of products from any others: coefficients, or predictions, with intervals.

    One release answers every regression at no further cost. The ridge is chosen from what was released.
    """
    import pyarrow as pa

    from ..releases.release import load
    from ..sources.public_tables import beside
    from ..tasks.regression import regression

    check_table(out)
    asked = load(release)
    asked = asked if part is None else asked.part(part)
    try:
        strength: float | str = float(ridge)
    except ValueError:
        strength = ridge
    if "," in target:
        raise RequestError("One column is predicted at a time.")
    found = regression(asked, target, None if on is None else on.split(","), category, strength)
    if predict is None:
        write_table(pa.Table.from_pandas(found.coefficients(level, about), preserve_index=False), out)
        say(f"The intercept is {found.intercept:.6g}.")
    else:
        domain = found.domain
        table = read_queries(predict, domain)
        answers = found.predict(table, level, about)
        write_table(beside(table, {name: answers[name].to_numpy() for name in answers}), out)
    say(
        f"It explains about {found.explained:.0%} of the variance of {found.name}; a record is "
        f"{found.residual_deviation:.3g} from its prediction (root mean square). {of_ridge(found.ridge)}"
    )


def of_ridge(ridge: float) -> str:
    """What the ridge is, and what an infinite one means."""
    if math.isinf(ridge):
        return "The mean is predicted, as slopes would say more of the noise than of the records."
    return f"The ridge is {ridge:.4g} records."
