"""`declare` and `discover`: a draft of what is publicly known of a table, and what is found out under a promise."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from ..errors import RequestError
from ..formatting.numbers import count, listed
from . import notation
from .declaring import FileOptions
from .output import check_writable, reading, say
from .shared_options import DataOptions, LedgerOptions, refuse_typed, typed
from .sketch_options import SketchOptions
from .spending import SourceArgument, billed, dataset_name, warn_of_total

if TYPE_CHECKING:
    from ..domain.declarations import Declaration
    from ..domain.drafts import Entry
    from ..privacy.budget import Budget
    from ..releases.discovery_stage import Discovery
    from ..releases.found import Discovered
    from ..sources import Source

discovery_option = partial(Option, rich_help_panel="Finding out")

MOST_SAID = 6  # columns of a declaration that are still to be finished, by name


LabelsOption = Annotated[
    bool,
    discovery_option(
        "--labels",
        help="What labels in a file of SPSS or Stata say is public: somebody wrote them beforehand. Labels that "
        "a program made of the answers, as factors of R are, would show what one person alone has said.",
    ),
]


@dataclass(frozen=True)
class DraftOptions:
    """What a declaration is made of besides the table, and where it goes."""

    codebook: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="A public data dictionary: CSV or TSV with a line for each column (name, type, min, max, values, "
            "missing, unit …), YAML, CSV on the Web, a Frictionless schema, or a file of SPSS or Stata, of which the "
            "labels are read. Never one that was made of the records.",
        ),
    ] = None
    out: Annotated[Path | None, Option(metavar="FILE", help="The YAML file to write; without it, standard output.")] = (
        None
    )
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False

    def entries(self, source: str, opened: Source, guessed: bool) -> list[Entry]:
        """What the table's types and a codebook say of each column, with a guess of how it is written where asked."""
        from ..domain.codebooks import codebook_in
        from ..domain.drafts import drafted
        from ..releases.discovery_stage import typed_columns

        if self.out is not None:
            check_writable(self.out, self.overwrite)
        if self.codebook is not None and self.codebook.resolve() == Path(source).resolve():
            raise RequestError("--codebook names the private file itself; name a public description of its columns.")
        known = (
            labels_of(source) if self.codebook is None else codebook_in(self.codebook.name, _content_of(self.codebook))
        )
        told = [(one.name, one.kind, one.format) for one in opened.columns] if guessed else typed_columns(opened)
        return drafted(told, known)

    @property
    def paid(self) -> str:
        """What the codebook says that finding it out has cost, where it is a declaration that was found out."""
        from ..domain.codebooks import paid_in
        from ..releases.found import paid_pairs

        said = "" if self.codebook is None else paid_in(_content_of(self.codebook))
        return said if paid_pairs(said) else ""

    def write(self, text: str) -> None:
        """Write the declaration."""
        if self.out is None:
            print(text, end="", file=sys.stdout)
        else:
            self.out.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class FindingOptions:
    """The promise under which something is found out, a share of which pays for it."""

    share: Annotated[
        str | None,
        discovery_option(metavar="SHARE", help="Part of the promise that is spent; without it 0.1, or by --records."),
    ] = None
    records: Annotated[
        float | None,
        discovery_option(
            metavar="NUMBER", help="About how many there are, where anybody may know: it decides how much is spent."
        ),
    ] = None
    epsilon: Annotated[
        str | None, discovery_option(metavar="NUMBER", help="The whole promise, of which a release keeps the rest.")
    ] = None
    delta: Annotated[
        str,
        discovery_option(metavar="NUMBER", help="Probability with which it may fail; without one no values are found."),
    ] = "0"
    neighbours: Annotated[
        Literal["add_remove", "replace_one"], discovery_option(help="What is hidden, as of `release`.")
    ] = "add_remove"
    unit: Annotated[
        str | None, discovery_option(metavar="COLUMN:RECORDS", help="Who one person is, as of `release`.")
    ] = None
    dataset: Annotated[
        str | None, discovery_option(metavar="NAME", help="The data set in the ledger; without it, the name of SOURCE.")
    ] = None
    labels: LabelsOption = False

    def bought(self, source: str, books: LedgerOptions, file: FileOptions, draft: DraftOptions) -> str:
        """The declaration of what was found out, which is spent."""
        from ..domain import PrivacyUnit
        from ..privacy.budget import Budget
        from ..releases.discovery_stage import Discovery

        opened = file.open(source)
        # What is found out under a promise owes nothing to a guess that nobody paid for.
        entries = draft.entries(source, opened, guessed=False)
        if self.epsilon is None:
            raise RequestError(
                "What is found out takes a share of a promise: say --epsilon, and --delta where values are found."
            )
        said = _told(entries, draft.paid) if draft.codebook is not None else _labelled(entries, self.labels)
        promise = Budget(self.epsilon, self.delta, self.neighbours)
        who = None if self.unit is None else PrivacyUnit(*notation.parse_unit(self.unit))
        asked = shared(Discovery.of_source(opened, promise, self.share, who, said), self.share, self.records)
        return _bought(asked, opened, books, self.dataset or dataset_name(source, books.names())).text()


def discover(
    source: SourceArgument, books: LedgerOptions, file: FileOptions, draft: DraftOptions, finding: FindingOptions
) -> None:
    """Find out under a promise what nobody has said of a table, and write it as a declaration.

    Formats, values of categories, ranges and how many records there are; what a codebook says is not bought again.
    --declaration of the other commands takes the file.
    """
    draft.write(finding.bought(source, books, file, draft))


def declare(
    source: SourceArgument,
    books: LedgerOptions,
    file: FileOptions,
    draft: DraftOptions,
    finding: FindingOptions,
    discover: Annotated[bool, discovery_option("--discover", help="The same as the command `discover`.")] = False,
) -> None:
    """Draft a declaration from the names and types of a table's columns, a codebook and common knowledge.

    No value of the table is in it. How its columns are written is a guess from the first rows, to be looked through;
    `discover` finds it out under a promise. The labels in a file of SPSS or Stata are a codebook: take away what was
    made of the answers. What is not known stands behind a #, to be finished by hand; --declaration of the other
    commands takes the file.
    """
    from ..domain.drafts import draft_text

    if discover:
        draft.write(finding.bought(source, books, file, draft))
        return
    given = (("epsilon", finding.epsilon), ("unit", finding.unit), ("share", finding.share), ("labels", finding.labels))
    refuse_typed([f"--{name}" for name, one in (*given, ("records", finding.records)) if one], "--discover is not")
    entries = draft.entries(source, file.open(source), guessed=True)
    draft.write(draft_text(entries, draft.paid))
    unfinished = [entry.name for entry in entries if entry.unknown]
    say(f"{len(entries) - len(unfinished):,} of {len(entries):,} entries are whole.")
    if unfinished:
        more = f" and {len(unfinished) - MOST_SAID:,} more" if len(unfinished) > MOST_SAID else ""
        say(f"Still to be finished: {', '.join(unfinished[:MOST_SAID])}{more}.")


def _content_of(path: Path) -> bytes:
    try:
        return path.expanduser().read_bytes()
    except OSError:
        raise RequestError(f"There is no codebook at {str(path)!r}.") from None


def labels_of(source: str) -> dict[str, dict[str, Any]]:
    """What a file of SPSS or Stata says itself of its columns; nothing of other files."""
    from ..domain.codebooks import codebook_in, is_labelled

    path = Path(source)
    return codebook_in(path.name, _content_of(path)) if is_labelled(source) and path.is_file() else {}


def _told(entries: Sequence[Entry], paid: str = "") -> Declaration | None:
    """The columns of which a codebook says enough, with what that has cost."""
    from ..domain.declarations import Declaration
    from ..domain.drafts import draft_text

    told = [entry for entry in entries if entry.because.startswith("from the codebook") and not entry.unknown]
    return Declaration.of(draft_text(told, paid)) if told else None


def _labelled(entries: Sequence[Entry], public: bool) -> Declaration | None:
    """The columns of which labels inside the file say enough, where its owner says that they are public."""
    said = _told(entries)
    if said is None:
        return None
    names = listed([repr(one) for one in said.domain.names])
    if public:
        say(f"The labels of the file say what {names} may hold.")
        return said
    say(
        f"The file has labels of {names}, which are not taken, as they may have been made of the answers: if somebody "
        "wrote them beforehand, --labels takes them as public."
    )
    return None


def _bought(asked: Discovery, source: Source, books: LedgerOptions, name: str) -> Discovered:
    """What is found out by itself, paid for by a data set."""
    from ..releases.discovery import bought_alone
    from ..releases.payment import LedgerAccount, unit_words

    with billed() as bill:
        payer = bill.payer = LedgerAccount(books.open(), name, asked.budget, unit_words(asked.unit))
        with reading("Reading records", None) as show:
            found = bought_alone(asked, source, payer, show)
    whole = f"ε = {asked.budget.epsilon:f}" + ("" if asked.budget.pure else f" with δ = {asked.budget.delta:f}")
    warn_of_total(payer, whole, "this and one release spend")
    say_found(found)
    rest = math.floor(found.left.epsilon * 1000) / 1000
    left = f"--epsilon {rest:g}" + ("" if found.left.pure else f" --delta {found.left.delta:f}")
    say(f"Of {whole} of the data set {name!r} one release of this declaration may spend {left}.")
    return found


def say_found(found: Discovered) -> None:
    """What was found, for how much, and what was not: columns that are left out for one reason in one line."""
    say(f"Found out for {found.price}; the table has {found.records.text} records.")
    from ..domain.columns import stem_of

    lost: dict[str, list[str]] = {}
    together = [column for column in found.columns if column.together]
    for _, alike in groupby(together, lambda column: stem_of(column.name)):
        first, *others = alike
        more = f" and {len(others)} more of this name" if others else ""
        say(f"{first.name!r}{more}: {count(first.together, 'value')}, found in all of them together.")
    for column in found.columns:
        if column.column is None:
            lost.setdefault(column.why, []).append(repr(column.name))
        elif column.other is not None and column.values:
            values = count(len(column.values), "value")
            say(f"{column.name!r}: {values}; {column.other.text} records have another one.")
    for why, names in lost.items():
        say(f"{listed(names)} {'is' if len(names) == 1 else 'are'} left out. {why}")
    for line in (*found.heaps, found.beyond):
        if line:
            say(line)


def shared(asked: Discovery, share: str | None, records: float | None, followed: bool = False) -> Discovery:
    """For the share that is said, or that a first look settles where a release follows, or by the number of records."""
    from ..releases.discovery import by_forecast, format_words, loss_words, share_words

    found = asked if followed and asked.open else replace(by_forecast(asked, share, records), open=False)
    if share is None:
        say(share_words(found, records))
    for words in filter(None, (loss_words(found, records), format_words(found, records))):
        say(words)
    return found


def asked_of(
    name: str,
    source: Source,
    data: DataOptions,
    shape: SketchOptions,
    budget: Budget,
    share: str | None,
    records: float | None,
    labels: bool = False,
) -> Discovery:
    """What a release finds out first: what its declaration does not say, or labels of SPSS or Stata that are public."""
    from ..domain import PrivacyUnit
    from ..domain.declarations import Declaration
    from ..domain.drafts import drafted
    from ..releases.discovery_stage import Discovery, typed_columns

    known = ("--declaration", "--columns", "--unit")
    refuse_typed([one for one in typed(data) if one not in known], "--discover finds it out; a declaration may say it")
    refuse_typed(["--like"] if shape.like is not None else [], "--discover finds out the columns")
    refuse_typed(["--part"] if shape.part else [], "--discover is for a release of one question")
    columns = None if data.columns is None else notation.parse_names(data.columns)
    unit = None if data.unit is None else PrivacyUnit(*notation.parse_unit(data.unit))
    if data.declaration is not None:
        said: Declaration | None = Declaration.load(data.declaration)
    else:
        used = [one for one in typed_columns(source) if unit is None or one[0] != unit.column]
        used = [one for one in used if columns is None or one[0] in columns]
        said = _labelled(drafted(used, labels_of(name)), labels)
    asked = Discovery.of_source(source, budget, share, unit, said, columns)
    return shared(asked, share, records, followed=True)
