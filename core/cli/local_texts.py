"""`local texts`: a survey that is answered by any text, reported by a sketch that is asked about texts afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from ..errors import RequestError
from .output import check_writable, say


def texts(
    question: Annotated[str, Option(help="As people will read it.", show_default=False)],
    epsilon: Annotated[str, Option(help="The promise to whoever reports.", show_default=False)],
    out: Annotated[Path, Option(metavar="FILE", help="The survey file to write, JSON.", show_default=False)],
    sketch: Annotated[str, Option(metavar="NAME", help="count-min, cms, hcms, count-sketch or rappor.")] = "count-min",
    people: Annotated[int, Option(help="How many will report, for the forecast; a rough number will do.")] = 10_000,
    alike: Annotated[
        float, Option(help="Probability that two people answer alike, for the forecast: a guess from public facts.")
    ] = 0.01,
    rows: Annotated[int | None, Option(help="Rows of a sketch of cells; 32 unless you say.")] = None,
    width: Annotated[int | None, Option(help="Cells of a row, or bits of a filter; 1,024 and 128.")] = None,
    oracle: Annotated[
        str | None, Option(metavar="NAME", help="How a cell is reported; of count-min, the best in few bits.")
    ] = None,
    hashes: Annotated[int | None, Option(help="Hashes of rappor; 2.")] = None,
    cohorts: Annotated[int | None, Option(help="Cohorts of rappor; 64.")] = None,
    one_sent: Annotated[
        float | None, Option(help="How often rappor sends a bit that is kept as one as one, each time; 1.")
    ] = None,
    zero_sent: Annotated[
        float | None, Option(help="How often rappor sends a bit that is kept as zero as one, each time; 0.")
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Write a survey that any text answers: nobody needs a list, and any text can be asked later how many gave it.

    Reports are of a sketch: rows of cells (count-min, cms, hcms, count-sketch), or filters whose devices may report
    again and again at no further cost (rappor).
    """
    from ..local.choosing import outlooks, recommended
    from ..local.sketches import table
    from ..local.survey import OpenSurvey

    check_writable(out, overwrite)
    if people < 1 or not 0 <= alike <= 1:
        raise RequestError("A forecast is for at least one person, and a probability lies between 0 and 1.")
    given = {
        "rows": rows, "width": width, "oracle": oracle, "hashes": hashes, "cohorts": cohorts, "one_sent": one_sent,
        "zero_sent": zero_sent,
    }  # fmt: skip
    settings = {name: value for name, value in given.items() if value is not None}
    if sketch == "count-min" and oracle is None:
        settings["oracle"] = recommended(
            outlooks(max(1024 if width is None else width, 2), people, epsilon)
        ).oracle.name
    survey = OpenSurvey(question, table.sketch(sketch, epsilon, **settings))
    one = survey.oracle
    reach = 1.96 * one.typical_variance(people, 0.0, alike) ** 0.5
    say(
        f"Reports are of {one.oracle_title}, {one.bits:,} bits each. With {people:,} people, an answer is known to ± "
        f"{reach:,.0f} of them."
    )
    out.write_text(survey.text, encoding="utf-8")
