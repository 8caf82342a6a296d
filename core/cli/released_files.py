"""What is done with released files as wholes: `inspect`, `merge`, `compare`, `share`, `ask` and `sample`."""

from __future__ import annotations

import os
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from typer import Argument, Option

from ..errors import RequestError
from ..formatting.numbers import listed
from .asked_release import (
    AlikeOption,
    AtOption,
    BandwidthOption,
    ClassOption,
    LevelOption,
    PartOption,
    PopulationOption,
    ReleaseArgument,
    TableOption,
    WhomOptions,
    of_whom,
    opened,
    read_places,
    read_queries,
)
from .output import (
    cells_as_texts,
    check_table,
    check_writable,
    content_of,
    print_json,
    say,
    spinner,
    write_file,
    write_table,
)
from .shared_options import refuse_typed

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from ..analysis.sampling import Sample
    from ..releases.comparison import Comparison


LicenceOption = Annotated[
    str, Option("--licence", "--license", metavar="WORDS", help="Terms of use, or their address.")
]


def inspect(
    release: ReleaseArgument,
    json: Annotated[bool, Option("--json", help="Print the manifest and the same facts as JSON.")] = False,
    verify: Annotated[
        bool,
        Option(
            "--verify", help="Read all of a large release's table too, compare its checksum and give the fingerprint."
        ),
    ] = False,
    program: Annotated[
        bool, Option("--program", help="Print a Python program that makes the release once more, of other records.")
    ] = False,
) -> None:
    """Say what a release or a model is, what it promises to whom, and what noise was added."""
    import mmap

    from ..figures.label import describe, to_json
    from ..releases.release import load
    from ..runtime.counter_tables import Table

    if release.open("rb").read(1) == b"{":  # a model, whose file is text
        from ..models.linear_models import load_model

        given = (("--json", json), ("--verify", verify), ("--program", program))
        refuse_typed([name for name, one in given if one], "a model is text that says all of it")
        model = load_model(release)
        print("\n".join([*model.card(), *model.warnings]))
        return
    opened = load(release, verify=verify)
    if program:
        from ..figures.programs import command_for, program_for

        print(program_for(opened), end="")
        say(f"The same by a command, beside the file: {command_for(opened, release.name)}")
        return
    # A file that is read through for its fingerprint need not be in memory for that.
    with release.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        content = None if isinstance(opened.counters, Table) and not verify else mapped
        if json:
            print_json(to_json(opened, content))
        else:
            print("\n".join(describe(opened, content)))
    if verify:
        say("The whole file was read, and its checksum is right.")


def merge(
    releases: Annotated[
        list[Path],
        Argument(
            metavar="RELEASE RELEASE...",
            help="Two release files or more, of different people, made with the same public "
            "parameters (see release --like).",
        ),
    ],
    out: Annotated[Path, Option(metavar="FILE", help="The release file to write.")],
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
    same_records: Annotated[
        bool, Option("--same-records", help="They are of the same people: average them, as `top-up` does.")
    ] = False,
) -> None:
    """Add up releases: the result answers for all their records together, and costs no privacy."""
    from ..formatting.numbers import rounded
    from ..releases.release import Release, load
    from ..releases.topping_up import averaged

    if len(releases) < 2:
        raise RequestError("Merging needs two release files or more.")
    check_writable(out, overwrite)
    together = averaged if same_records else Release.merged
    merged = reduce(lambda total, path: together(total, load(path)), releases[1:], load(releases[0]))
    merged.save(out, teaching=not merged.private)
    about = rounded(merged.records, merged.records_error)
    _write_down(releases, out)
    say(f"Wrote {out}: {max(len(releases), merged.privacy.releases):,} releases, about {about} records together.")


def _write_down(releases: list[Path], out: Path) -> None:
    """Have the log say so, where this user has a ledger; whoever merges the releases of others need not have one."""
    from ..privacy.ledger.ledger import Ledger
    from ..privacy.ledger.ledger_store import default_place
    from ..privacy.ledger.log import Did

    where = os.environ.get("FROSTGLASS_LEDGER") or str(default_place())
    if "://" in where or Path(where).expanduser().exists():
        book = Ledger(where, os.environ.get("FROSTGLASS_WITNESS", ""))
        book.log.write(book.who, Did.MERGED, {"files": [path.name for path in releases], "file": out.name})


def compare(
    first: ReleaseArgument,
    second: Annotated[Path, Argument(metavar="RELEASE", help="Another release file.")],
    whom: WhomOptions,
    columns: Annotated[
        str,
        Argument(
            metavar="COLUMNS",
            help="One or two columns to compare along, such as age or age,pay; of tables, those whose cells are "
            "compared. With --queries, none.",
        ),
    ] = "",
    queries: Annotated[
        str | None, Option("--queries", metavar="QUERIES", help="A table of places to compare at.")
    ] = None,
    sums: Annotated[
        bool, Option("--sums", help="Compare sums and numbers of records, and not averages and shares of all.")
    ] = False,
    together: Annotated[
        bool, Option("--together", help="Make bands so long that all of them hold at once with the level.")
    ] = False,
    at: AtOption = None,
    level: LevelOption = 0.95,
    out: TableOption = None,
) -> None:
    """Compare two releases of the same question: the first less the second, with the noise of both in every band.

    The columns are those of the places (or cells), and beside them estimate, low and high of the difference. A band
    that holds 0 says that noise alone may have made the difference. Of a hundred places without a difference, five lie
    outside their bands at the level 0.95; with --together, none does in 95 of 100 pairs of releases.
    """
    from ..releases.comparison import Comparison

    check_table(out)
    wanted = tuple(name.strip() for name in columns.split(",") if name.strip())
    if (queries is None) == (not wanted) or len(wanted) > 2:
        raise RequestError("Say one or two columns to compare along, or --queries with the places to compare at.")
    both = [whom.opened(path) for path in (first, second)]
    compared = Comparison(both[0], both[1], not sums)
    if queries is not None:
        write_table(_at_places(compared, queries, level, together), out)
        return
    write_table(_along(compared, wanted, read_places(at, both[0].domain), level, together), out)


def _at_places(compared: Comparison, queries: str, level: float, together: bool) -> pa.Table:
    from ..sources.public_tables import beside, told_apart

    domain = compared.first.sketch.query_domain
    table = read_queries(queries, domain)
    answers = compared.answer(table, level, together)
    return beside(told_apart(table, domain), {"estimate": answers.estimate, "low": answers.low, "high": answers.high})


def _along(
    compared: Comparison, columns: tuple[str, ...], at: dict[str, object], level: float, together: bool
) -> pa.Table | pd.DataFrame:
    """Along one column, over two, or of the cells of tables."""
    import numpy as np
    import pyarrow as pa

    from ..analysis.density import Curve
    from ..analysis.differences import grid_of_differences, line_of_differences
    from ..sketches.answers import level_of_each

    if compared.first.sketch.asked_for == "tables":
        if together:
            level = level_of_each(level, len(compared.table(*columns, **cast(Any, at))))
        return cells_as_texts(compared.table(*columns, level=level, **cast(Any, at)))

    def picture(each: float):
        if len(columns) == 1:
            return line_of_differences(compared, columns[0], at, level=each)
        return grid_of_differences(compared, columns[0], columns[1], at, level=each)

    drawn = picture(level)
    if together:
        drawn = picture(level_of_each(level, drawn.estimate.size))
    if isinstance(drawn, Curve):
        places = {columns[0]: drawn.values}
    else:
        x, y = np.meshgrid(drawn.x_values, drawn.y_values)
        places = {drawn.x: x.ravel(), drawn.y: y.ravel()}
    values = {name: getattr(drawn, name).ravel() for name in ("estimate", "low", "high")}
    return pa.table({name: pa.array(one) for name, one in (places | values).items()})


def share(
    file: Annotated[Path, Argument(metavar="FILE", help="A release, a model, or counted local reports.")],
    out: Annotated[
        Path | None,
        Option("--out", "-o", metavar="OUT.html", help="Where to; without it, beside the file, under its name."),
    ] = None,
    population: PopulationOption = False,
    alike: AlikeOption = 1.0,
) -> None:
    """Make one HTML file in which anyone can look at a release, ask it and take it along, with no network.

    Whoever has it needs a browser and nothing else: it holds the file itself, what it promises, and a script that
    decodes it. It is as public as the file.
    """
    from ..figures.share.described import read_public
    from ..figures.share.shared_page import share_html
    from ..formatting.numbers import size
    from ..releases.release import Release

    data = content_of(file)
    place = file.with_suffix(".html") if out is None else out
    check_writable(place)
    shared = read_public(data)
    if population or alike != 1.0:
        if not isinstance(shared, Release):
            raise RequestError("--population is for releases; models and local reports have no such bands.")
        shared = of_whom(shared, population, alike)
    with spinner("Drawing"):
        page = share_html(shared, data, file.name).encode()
    write_file(place, lambda written: written.write(page))
    say(f"{place} holds {file.name} and all that is needed to ask it, {size(len(page))}.")


def publish(
    folder: Annotated[
        Path, Argument(metavar="FOLDER", help="Whose releases, models and counted reports are published.")
    ],
    out: Annotated[Path, Option("--out", "-o", metavar="SITE", help="Where to: another folder.")],
    title: Annotated[str, Option(metavar="WORDS", help="The heading of the gallery.")] = "Releases",
    curator: Annotated[str, Option(metavar="NAME", help="Who publishes it.")] = "",
    licence: LicenceOption = "",
) -> None:
    """Make a folder of pages that any static server can hand out: a gallery of released files.

    An index with small pictures and a search; of each file its page, the file itself, its passport and how it is
    cited; and llms.txt, which says the same to programs. Every file of FOLDER must be one that may be public.
    """
    from ..figures.share.gallery import publish as made

    with spinner("Drawing"):
        written = made(folder, out, title=title, curator=curator, licence=licence)
    say(f"{out} holds a gallery of {len(written):,} files; open {out / 'index.html'}.")


def passport(
    file: Annotated[Path, Argument(metavar="FILE", help="A release, a model, or counted local reports.")],
    curator: Annotated[str, Option(metavar="NAME", help="Who publishes it.")] = "",
    kind: Annotated[str, Option(help="What they are: Government, Industry or Nonprofit.")] = "",
    use: Annotated[str, Option(metavar="WORDS", help="What it is to be used for.")] = "",
    region: Annotated[str, Option(metavar="WORDS", help="Where the people live.")] = "",
    licence: LicenceOption = "",
    out: Annotated[
        Path | None,
        Option("--out", "-o", metavar="FOLDER", help="Where to; without it, beside the file, under its name."),
    ] = None,
) -> None:
    """Write the papers that registries, evaluators and archives ask for; five facts are typed, the file says the rest.

    An entry for the registry of deployments of differential privacy (YAML, where who publishes it, what they are, the
    use and the region are typed), the questions of NIST SP 800-226 with what is unknown, Croissant metadata,
    JSON-stat and CSV of released tables, and the variables in CSV on the Web and DDI.
    """
    from ..figures.share.passport import passport as made

    papers = made(file, curator=curator, kind=kind, use=use, region=region, licence=licence)
    place = file.with_suffix(".passport") if out is None else out
    say(f"{place} holds {listed([path.name for path in papers.save(place)], 12)}.")
    if papers.unsaid_in_words:
        say(papers.unsaid_in_words)


def ask(
    release: ReleaseArgument,
    question: Annotated[
        str, Argument(metavar="SQL", help='Such as "SELECT city, COUNT(*) AS n, AVG(age) FROM records GROUP BY city".')
    ],
    out: TableOption = None,
    level: LevelOption = 0.95,
    part: PartOption = None,
    population: PopulationOption = False,
    alike: AlikeOption = 1.0,
) -> None:
    """Ask a release of tables in SQL: one row a group, and for each aggregate its name, NAME_low and NAME_high.

    SELECT takes columns, COUNT(*), SUM, AVG, MEDIAN and QUANTILE(column, share); WHERE takes conditions joined by AND.
    Numbers are grouped by their cells. Of several parts, the one that is tables is asked.
    """

    from ..analysis.sql import ask_sql
    from ..releases.release import load

    check_table(out)
    asked = of_whom(load(release), population, alike)
    living = asked.sketch.asked_for == "periods"
    answer = ask_sql(asked if part is None and not living else asked.part(part), question, level)
    write_table(cells_as_texts(answer), out)


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

    from ..analysis.sampling import not_meant_for
    from ..analysis.sampling import sample as draw

    check_table(out)
    asked = opened(release, of_class, part, bandwidth, together=True)
    drawn = draw(asked, points, seed, sharpen=not smoothed)
    write_table(drawn.points, out)
    say(_trust(drawn))
    caution = not_meant_for(asked, drawn)
    if caution is not None:
        say(caution)


def _trust(drawn: Sample) -> str:
    """How far the records can be trusted to be what they say."""
    if drawn.nearness is not None:
        from ..analysis.sampling import nearness_words

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
