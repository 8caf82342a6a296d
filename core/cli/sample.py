"""`sample`: synthetic records from a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from .output import check_table, say, write_table
from .reading import BandwidthOption, ClassOption, PartOption, ReleaseArgument, TableOption, opened

if TYPE_CHECKING:
    from ..tasks.sampling import Sample


def sample(
    release: ReleaseArgument,
    points: Annotated[int, Option("--points", "-n", help="How many records.")] = 1000,
    seed: Annotated[int, Option(help="The same seed draws the same records.")] = 0,
    smoothed: Annotated[
        bool,
        Option(
            "--smoothed",
            help="Draw from the estimate as it stands, which the kernel has smoothed, instead of from a "
            "population that explains it.",
        ),
    ] = False,
    of_class: ClassOption = None,
    part: PartOption = None,
    bandwidth: BandwidthOption = None,
    out: TableOption = None,
) -> None:
    """Make up records that resemble the real ones, at no further cost in privacy.

    Of tables, the records have the released counts as nearly as whole records can; how near is said. A file that has
    tables and densities is drawn from as a whole unless --part names one: counts are those of the tables, and values
    within cells those of the densities. Columns have
    their own types: dates are dates, whole numbers whole, and what was declared missing is missing. In CSV a text that
    begins like a formula (= + - @) gets a quote in front, for spreadsheets; in Parquet it is exact. From 4 dimensions
    on, those of a kernel sketch are not meant for counting or for statistics of single columns.
    """
    import pyarrow as pa

    from ..tasks.sampling import not_meant_for
    from ..tasks.sampling import sample as draw

    check_table(out)
    asked = opened(release, of_class, part, bandwidth, together=True)
    drawn = draw(asked, points, seed, sharpen=not smoothed)
    write_table(pa.Table.from_pandas(drawn.points, preserve_index=False), out)
    say(_trust(drawn))
    caution = not_meant_for(asked, drawn)
    if caution is not None:
        say(caution)


def _trust(drawn: Sample) -> str:
    """How far the records can be trusted to be what they say."""
    if drawn.nearness is not None:
        from ..tasks.sampling import nearness_words

        return nearness_words(drawn.nearness)
    if drawn.misfit is not None:
        return (
            f"The made-up records differ from what the release says by {drawn.misfit:.2g} of its standard errors; up "
            "to 1 or so is agreement."
        )
    if drawn.r_hat is not None:
        return (
            f"The chains drew about {drawn.effective:,.0f} independent records (R-hat {drawn.r_hat:.3f}; above 1.05 "
            "they have not settled)."
        )
    return "The records were drawn from the estimate itself, cell by cell."
