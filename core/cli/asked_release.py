"""What the commands that ask a release share: the release file, places to ask about, and where answers go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

from typer import Argument, Option

from ..errors import RequestError
from . import notation
from .output import check_there

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from ..domain import Domain
    from ..releases.release import Release

ReleaseArgument = Annotated[Path, Argument(metavar="RELEASE", help="A release file.", callback=check_there)]
QueriesArgument = Annotated[
    str,
    Argument(
        metavar="QUERIES",
        help="A table with the release's columns, in any format that SOURCE may have; further columns are handed on.",
    ),
]
TableOption = Annotated[
    Path | None,
    Option(
        "--out", metavar="FILE", help="Write to a .csv, .tsv or .parquet file; without it, CSV goes to standard output."
    ),
]
LevelOption = Annotated[float, Option("--level", help="Probability with which an interval holds the exact sum.")]
# Columns that every table of answers has; the last one is the average, see `average`.
ANSWERS = ("estimate", "low", "high")
ClassOption = Annotated[
    str | None, Option("--class", metavar="NAME", help="Ask one class of a release that tells classes apart.")
]
PartOption = Annotated[
    str | None,
    Option("--part", metavar="NAME", help="Ask one part of a release of several questions; 'inspect' lists them."),
]
SUITED = "auto"
BandwidthOption = Annotated[
    str | None,
    Option(
        "--bandwidth",
        metavar="NUMBER|auto",
        help="Read a released histogram with another bandwidth, at no cost: a number, one a column such as R=5,G=10, "
        "or auto for the one that suits its noisy counts. Without it, the release's own.",
    ),
]
# Kinds of columns whose values are written as numbers; those of others are texts, such as dates.
NUMBERS = ("numeric", "coordinate", "text_length")
MOST_QUERIES = 100_000_000
PopulationOption = Annotated[
    bool,
    Option(
        "--population",
        help="Make bands hold for the population that the records were drawn from at random, and not for the records "
        "alone: they have the luck of the draw besides the noise.",
    ),
]
AlikeOption = Annotated[
    float,
    Option(
        "--alike",
        metavar="CORRELATION",
        help="With --population, how alike two records of one person are, where a person has several; 1 is as alike "
        "as can be.",
    ),
]


@dataclass(frozen=True)
class WhomOptions:
    """Whom a release is asked about, and with which bandwidth it is read."""

    of_class: ClassOption = None
    part: PartOption = None
    bandwidth: BandwidthOption = None
    population: PopulationOption = False
    alike: AlikeOption = 1.0

    def opened(self, path: Path) -> Release:
        """The release in a file, as these say."""
        return opened(path, self.of_class, self.part, self.bandwidth, population=self.population, alike=self.alike)


AtOption = Annotated[
    list[str] | None,
    Option("--at", metavar="COLUMN=VALUE", help="Hold a column at a value; repeat it for each column."),
]


def opened(
    path: Path,
    of_class: str | None,
    part: str | None = None,
    bandwidth: str | None = None,
    together: bool = False,
    population: bool = False,
    alike: float = 1.0,
) -> Release:
    """The release in a file, or one of its parts, or that of one of its classes, read with a bandwidth.

    Where parts can be asked ``together``, a file of several is as it is unless something is said of one.
    """
    from ..releases.release import load

    release = of_whom(load(path), population, alike)
    if together and (of_class, part, bandwidth) == (None, None, None) and len(release.parts) > 1:
        return release
    release = release.part(part)
    release = release if of_class is None else release.of_class(of_class)
    if bandwidth is None:
        return release
    wanted = None if bandwidth == SUITED else notation.parse_bandwidth(bandwidth, release.sketch.query_domain.names)
    return release.smoothed(wanted)


def of_whom(release: Release, population: bool, alike: float) -> Release:
    """The release with bands for its records, or for the population that they were drawn from."""
    from ..analysis.beyond_records import for_population

    if not population and alike != 1.0:
        raise RequestError("--alike cannot be given here, as it says how records were drawn: it needs --population.")
    return for_population(release, alike) if population else release


def average(release: Release) -> str:
    """What the answer divided by the number of records is called: "density", or the "mean" distance."""
    return "density" if release.sketch.answers == "closeness" else "mean"


class Dense(Protocol):
    """Answers at places, or along a picture."""

    @property
    def density(self) -> np.ndarray: ...


def answer_columns(release: Release, answers: Dense, *further: str) -> dict[str, np.ndarray]:
    """Answers by the names that they have in a table, flattened; attributes ``further`` come after them."""
    import numpy as np

    columns = {name: np.ravel(getattr(answers, name)) for name in ANSWERS}
    columns[average(release)] = np.ravel(answers.density)
    return columns | {name: np.ravel(getattr(answers, name)) for name in further}


def read_queries(name: str, domain: Domain) -> pa.Table:
    """All columns of a file of queries, those of the domain first; see `core.sources.public_tables`."""
    from ..sources import open_source, public_tables

    return public_tables.read_queries(open_source(name), domain, MOST_QUERIES)


def shuffled(name: Path, domain: Domain) -> pa.Table:
    """A public file's columns of the domain, in a random order that is always the same: files may be sorted."""
    import numpy as np

    table = read_queries(str(name), domain)
    return table.take(np.random.default_rng(0).permutation(table.num_rows))


def read_places(texts: Sequence[str] | None, domain: Domain) -> dict[str, object]:
    """Values by column from texts such as ``G=120``: numbers for numeric columns, texts for categories."""
    columns = {column.name: column for column in domain.columns}
    places: Mapping[str, str] = notation.parse_places(texts or ())
    notation.check_known(places, domain.names)
    return {
        name: notation.parse_number(value, f"The value of {name!r}") if columns[name].kind in NUMBERS else value
        for name, value in places.items()
    }
