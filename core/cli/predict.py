"""`predict`: what a model says of given records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from .output import check_table, check_writable, say, write_table
from .reading import QueriesArgument, TableOption, read_queries


def predict(
    model: Annotated[Path, Argument(metavar="MODEL", help="A model file.", show_default=False)],
    queries: Annotated[str | None, QueriesArgument.__metadata__[0]] = None,
    coefficients: Annotated[
        bool, Option("--coefficients", help="Write the model's coefficients in the columns' own units instead.")
    ] = False,
    onnx: Annotated[
        Path | None,
        Option("--onnx", metavar="FILE", help="Write the model as an ONNX file instead, for other programs."),
    ] = None,
    out: TableOption = None,
) -> None:
    """Ask a model: the columns of QUERIES, and what it predicts: a number, or a class with the probability of each.

    With --coefficients, the model itself as a table: a score is the intercept, the row without a column, and each
    number times its coefficient, and the coefficient of each category.
    """
    import pyarrow as pa

    from ..errors import RequestError
    from ..machine.transient import unfinished
    from ..models.onnx_export import to_onnx
    from ..models.opening import load_model
    from ..sources.public_tables import beside

    check_table(out)
    opened = load_model(model)
    for sentence in opened.warnings:
        say(sentence)
    if coefficients:
        write_table(pa.Table.from_pandas(opened.coefficients(), preserve_index=False), out)
        return
    if onnx is not None:
        check_writable(onnx, overwrite=False)
        content = to_onnx(opened)
        with unfinished(onnx) as file:
            file.write(content)
        say(f"Wrote {onnx}, with an input for each column: {', '.join(opened.features.names)}.")
        return
    if queries is None:
        raise RequestError("Say which records are asked about, as QUERIES, or take --coefficients or --onnx.")
    table = read_queries(queries, opened.features)
    answers = opened.predict(table)
    write_table(beside(table, {name: answers[name].to_numpy() for name in answers}), out)
