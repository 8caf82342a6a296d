"""What is guessed about the data from public knowledge."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from .panels import GUESS

if TYPE_CHECKING:
    import pyarrow as pa

    from ...domain import Domain


@dataclass(frozen=True)
class GuessOptions:
    """What is guessed about the data from public knowledge; it moves rows and forecasts, never the promise."""

    records: Annotated[
        float | None,
        Option(
            metavar="NUMBER",
            help="How many records there are at least, from public knowledge; forecasts need it, and a release "
            "without it buys a count with a share of its budget first.",
            rich_help_panel=GUESS,
        ),
    ] = None
    density: Annotated[
        float | None,
        Option(
            metavar="SHARE",
            help="Average closeness of two records, between 0 and 1; without it, records spread "
            "over a sixth of the bounds, in several ways.",
            rich_help_panel=GUESS,
        ),
    ] = None
    set_size: Annotated[
        float | None,
        Option(
            metavar="ITEMS",
            help="About how many items a set has on average; 4, 12 and 36 are tried without it.",
            rich_help_panel=GUESS,
            show_default=False,
        ),
    ] = None
    spread: Annotated[
        float | None,
        Option(
            metavar="SHARE",
            help="How far records lie from the middle of them all in a typical column, as a share of its bounds: a "
            "standard deviation. It decides the bandwidth where that is left out and there are more than three "
            "columns; a release without it buys it with 2 to 5% of epsilon.",
            rich_help_panel=GUESS,
            show_default=False,
        ),
    ] = None
    sample: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="A public table that lies as the private one is thought to, at least 200 records; sharpens the "
            "forecast.",
            rich_help_panel=GUESS,
            show_default=False,
        ),
    ] = None

    def public_sample(self, domain: Domain) -> pa.Table | None:
        """What the public sample says of the domain's columns, in a random order."""
        from ..reading import shuffled

        return None if self.sample is None else shuffled(self.sample, domain)
