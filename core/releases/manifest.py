"""The manifest of a release: everything public about it but its numbers, as a value and as text for JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from ..domain import Categorical, Domain
from ..errors import ReleaseFileError, RequestError
from ..formatting.escapes import steers
from ..formatting.numbers import day, listed
from ..privacy.budget import Budget
from ..privacy.record import BoughtCount, PrivacyRecord, both
from ..runtime import archives
from ..runtime.parameters import check_choice, check_integer, check_text, exact_fields
from ..sketches.linear import LinearSketch
from ..sketches.registry import has_format, sketch_from_parameters

FORMAT = "frostglass-release"
FORMAT_VERSION = 1
LARGE_FORMAT_VERSION = 2
PARTS_FORMAT_VERSION = 3
LOCAL_FORMAT_VERSION = 4
VERSIONS = (FORMAT_VERSION, LARGE_FORMAT_VERSION, PARTS_FORMAT_VERSION, LOCAL_FORMAT_VERSION)
MAX_MANIFEST = 8_000_000  # Characters of a manifest; a domain's names and categories take a million at most.
FIELDS = ("format", "format_version", "mechanism", "parameters", "domain", "privacy", "private", "created", "software")
# Fields that files have only where there is something to say: a number of records that was bought before the table,
# what was found out of the columns before it, how it was made of others, of which living release it adds up periods,
# whether its mechanism chose under noise.
BOUGHT, FOUND, COMBINED, RUN_OF, CHOSE = "counted_before", "found_before", "combined", "run_of", "chose"
FURTHER = (BOUGHT, FOUND, COMBINED, RUN_OF, CHOSE)

MOST_FOUND = 1_000_000  # Values that a file says were found.
CHANGED = 4.0
"""Standard deviations by which two counts of the same records hardly ever differ."""
LATER = {"sure": {}, "sure_error": 0.0}
"""Fields of what was found that files have only where there is something to say, and what they are without."""


@dataclass(frozen=True)
class Finding:
    """What a release file says of what was found before it: which columns, for how much, and how many records."""

    price: str  # In words.
    columns: tuple[str, ...]  # Of which something was found.
    # How many records there are, with its standard deviation; 0 where they are not all in the release.
    records: float
    records_error: float
    # By column, the noisy counts of the values that were found; those of the domain that are not here were not.
    values: Mapping[str, Mapping[str, float]]
    # The largest standard deviation of these counts, before they were seen to be above the threshold.
    values_error: float
    # By column, values so frequent that no luck had a part in their being found, and the standard deviation of their
    # counts, which enter what the release says of these columns. See `found.SURELY`.
    sure: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sure_error: float = 0.0

    @property
    def of_some(self) -> Finding:
        """The same where only some of the records are left: what was found, without what it says of their numbers."""
        return replace(self, records_error=0.0, sure={}, sure_error=0.0)

    def is_of(self, domain: Domain, records: float, error: float) -> bool:
        """Whether a release of this domain and of so many records counts those of which all this was found.

        It does where nobody can be left out, and each record is one person's: of persons with several rows each reading
        draws other ones. A number that can hardly be the same says that the table has changed since.
        """
        if not self.records_error or abs(records - self.records) > CHANGED * math.hypot(error, self.records_error):
            return False
        everyone = all(getattr(column, "missing_category", "") for column in domain.columns)
        return everyone and domain.unit.column is None and domain.outside == "clamp"

    def beside(self, known: float, error: float) -> tuple[float, float]:
        """A number of the same records that is known otherwise, and that which was found: mean and deviation."""
        return both(known, error, self.records, self.records_error**2)

    def counts_in(self, domain: Domain) -> dict[str, dict[str, float]]:
        """By column of a domain, the earlier counts of those categories that are read as they were found."""
        as_found = [column for column in domain.columns if isinstance(column, Categorical) and not column.written]
        return {
            column.name: {
                value: self.values[column.name][value]
                for value in self.sure[column.name]
                if value not in (*column.missing, column.missing_category, column.unknown_category)
            }
            for column in as_found
            if column.name in self.sure and column.field == column.name
        }

    @property
    def sentence(self) -> str:
        """For a report and a label."""
        names = listed([repr(name) for name in self.columns])
        return f"Formats, values or ranges of {names} were found under the promise, for {self.price}."

    def to_dict(self) -> dict[str, object]:
        """A value for JSON."""
        return {
            "price": self.price,
            "columns": list(self.columns),
            "records": self.records,
            "records_error": self.records_error,
            "values": {name: dict(values) for name, values in self.values.items()},
            "values_error": self.values_error,
        } | (
            {"sure": {name: list(sure) for name, sure in self.sure.items()}, "sure_error": self.sure_error}
            if self.sure
            else {}
        )

    @classmethod
    def from_dict(cls, value: object) -> Finding:
        """What `to_dict` wrote; ReleaseFileError on anything else."""
        names = ("price", "columns", "records", "records_error", "values", "values_error")
        try:
            later = tuple(LATER) if isinstance(value, dict) and "sure" in value else ()
            facts: dict[str, Any] = LATER | exact_fields(value, "finding", (*names, *later))
            check_text(facts["price"], "A price")
            columns = facts["columns"]
            if not isinstance(columns, list) or len(columns) > MOST_FOUND:
                raise ValueError("no list of columns")
            for name in columns:
                check_text(name, "A column name")
            numbers = [facts[name] for name in ("records", "records_error", "values_error", "sure_error")]
            for name, counts in facts["values"].items():
                if name not in columns or len(counts) > MOST_FOUND:
                    raise ValueError("values of no column that was found")
                for text in counts:
                    check_text(text, "A value")
                numbers += counts.values()
            for name, sure in facts["sure"].items():
                if not isinstance(sure, list) or not facts["values"].get(name, {}).keys() >= set(sure):
                    raise ValueError("values that are sure and were not found")
            if facts["sure"] and not facts["sure_error"] > 0:
                raise ValueError("counts without noise")
            if not all(type(one) in (int, float) and math.isfinite(one) and abs(one) < 1e18 for one in numbers):
                raise ValueError("no numbers")
        except (RequestError, ValueError, TypeError, AttributeError):
            raise ReleaseFileError("What the file says was found before the release makes no sense.") from None
        sure = {name: tuple(values) for name, values in facts["sure"].items()}
        return cls(**facts | {"columns": tuple(columns), "sure": sure})


@dataclass(frozen=True)
class Combined:
    """How several owners made a release together; see `core.releases.rounds.round_plan`."""

    way: str  # How they shared the noise: "full", "shared" or "masked".
    owners: int  # How many had agreed on the plan.
    honest: int  # How many of those in the sum must be honest for the promise to hold.
    shares: int  # How many are in the sum.
    round: str  # The digest of the plan, hexadecimal.

    @property
    def sentence(self) -> str:
        """For a report and a label."""
        trust = {
            "full": "each of whom added all of the noise, so nobody was trusted",
            "shared": f"each of whom added a part of the noise; the promise holds if {self.honest:,} of them and "
            "whoever added up their shares kept to the plan",
            "masked": f"each of whom added a part of the noise under masks, so that nobody saw anything but the sum; "
            f"the promise holds if {self.honest:,} of them kept to the plan",
        }
        return (
            f"{self.shares:,} of {self.owners:,} owners made it together, {trust[self.way]}. Someone in the records of "
            "several of them has the promise once for each."
        )

    def to_dict(self) -> dict[str, object]:
        """A value for JSON."""
        return {
            "way": self.way,
            "owners": self.owners,
            "honest": self.honest,
            "shares": self.shares,
            "round": self.round,
        }

    @classmethod
    def from_dict(cls, value: object) -> Combined:
        """What `to_dict` wrote; ReleaseFileError on anything else."""
        try:
            facts = exact_fields(value, "combination", ("way", "owners", "honest", "shares", "round"))
            check_choice(facts["way"], "A way", ("full", "shared", "masked"))
            check_integer(facts["owners"], "Owners", 2, 1 << 30)
            check_integer(facts["shares"], "Shares", 1, facts["owners"])
            check_integer(facts["honest"], "Honest owners", 1, facts["shares"])
            if not isinstance(facts["round"], str) or len(bytes.fromhex(facts["round"])) != 32:
                raise ValueError("no digest")
        except (RequestError, ValueError):
            raise ReleaseFileError("How the file says that several owners made it makes no sense.") from None
        return cls(**facts)


@dataclass(frozen=True)
class Averaged:
    """Of which releases of the same records a release is made; see `core.releases.topping_up`."""

    releases: tuple[tuple[str, str, str], ...]  # When each was made, with its ε and δ.
    parts: tuple[str, ...] = ()  # Digests of all that is in it, hexadecimal; files of earlier versions have none.
    way: str = "average"  # Or "less_noise", where the last has less noise, and says all that those before it said.

    @property
    def sentence(self) -> str:
        """For a report and a label."""
        made = [
            f"one of {day(created)} for epsilon {epsilon}" + (f" and delta {delta}" if delta != "0" else "")
            for created, epsilon, delta in self.releases
        ]
        if self.way == "less_noise":
            more = made[-1].removeprefix("one of ")
            return f"It is {listed(made[:-1])} with less noise since {more} more; whoever has all has its promise."
        return f"It is the average of {listed(made)}, weighted by how exact each is."

    def to_dict(self) -> dict[str, object]:
        """A value for JSON."""
        told: dict[str, object] = {"releases": [list(one) for one in self.releases]}
        if self.parts:
            told["parts"] = list(self.parts)
        return told if self.way == "average" else told | {"way": self.way}

    @classmethod
    def from_dict(cls, value: object) -> Averaged:
        """What `to_dict` wrote; ReleaseFileError on anything else."""
        try:
            later = {"parts": [], "way": "average"} | (value if isinstance(value, dict) else {})
            facts = exact_fields(later, "average", ("releases", "parts", "way"))
            made, parts = facts["releases"], facts["parts"]
            check_choice(facts["way"], "A way", ("average", "less_noise"))
            if not (isinstance(made, list) and isinstance(parts, list) and 2 <= len(made) <= MOST_FOUND >= len(parts)):
                raise ValueError("no list of releases or of parts")
            if any(len(bytes.fromhex(part)) != 32 for part in parts):
                raise ValueError("no digest")
            for created, epsilon, delta in made:
                if datetime.fromisoformat(created).tzinfo is None:
                    raise ValueError("no time with its zone")
                Budget(epsilon, delta)
        except (RequestError, ValueError, TypeError):
            raise ReleaseFileError("What the file says it is the average of makes no sense.") from None
        return cls(tuple((one, str(epsilon), str(delta)) for one, epsilon, delta in made), tuple(parts), facts["way"])


def _combined(value: object) -> Combined | Averaged:
    return Averaged.from_dict(value) if isinstance(value, dict) and "releases" in value else Combined.from_dict(value)


@dataclass(frozen=True)
class Manifest:
    """What a release is, without its numbers."""

    sketch: LinearSketch  # The linear sketch: mechanism, parameters and domain.
    privacy: PrivacyRecord  # The promise.
    private: bool  # False for anything made with seeded noise, for teaching and tests only.
    created: str  # Time of release, ISO 8601, UTC.
    software: str  # Name and version of the program that made it.
    counted_before: BoughtCount | None = None  # How many records there are, where that was bought first.
    finding: Finding | None = None  # What was found out of the columns, likewise.
    # How several owners made it together, or of which releases of the same records it is the average, if so.
    combined: Combined | Averaged | None = None
    run_of: str = ""  # The seed of the living release whose periods it adds up, hexadecimal, where it does.
    chose: bool | None = None  # See `Release.chose`.

    def to_dict(self, version: int) -> dict[str, object]:
        """A value for JSON, for a file of one version of the format."""
        if not has_format(self.sketch):
            raise RequestError(f"A release of the mechanism {self.sketch.name!r} has no file format.")
        bought: dict[str, object] = {} if self.counted_before is None else {BOUGHT: self.counted_before.to_dict()}
        bought |= {} if self.finding is None else {FOUND: self.finding.to_dict()}
        bought |= {} if self.combined is None else {COMBINED: self.combined.to_dict()}
        bought |= {RUN_OF: self.run_of} if self.run_of else {}
        bought |= {} if self.chose is None else {CHOSE: self.chose}
        return {
            "format": FORMAT,
            "format_version": version,
            "mechanism": self.sketch.name,
            "parameters": self.sketch.parameters(),
            "domain": self.sketch.domain.to_dict(),
            "privacy": self.privacy.to_dict(),
            "private": self.private,
            "created": self.created,
            "software": self.software,
            **bought,
        }

    @classmethod
    def from_dict(cls, facts: dict[str, Any], sketch: LinearSketch) -> Manifest:
        """The manifest that `to_dict` wrote, of the sketch that it describes; RequestError on anything else."""
        privacy = PrivacyRecord.from_dict(facts["privacy"])
        if FOUND in facts and privacy.releases == 1:  # until December 2026 some said what all purchases add up to here
            privacy = replace(privacy, overlap_epsilon=privacy.epsilon, overlap_delta=privacy.delta)
        if privacy.unit != sketch.domain.unit:
            raise ReleaseFileError("The promise of the file protects another unit than its columns say.")
        relation = privacy.neighbours
        if not privacy.is_kept(sketch.sensitivities(relation), sketch.count_sensitivities(relation)):
            raise ReleaseFileError("The noise that the file states does not keep the promise that it states.")
        if privacy.local != (facts["format_version"] == LOCAL_FORMAT_VERSION):
            raise ReleaseFileError("The file has the format of local reports, and its noise is none, or the other way.")
        bought = None if BOUGHT not in facts else BoughtCount.from_dict(facts[BOUGHT])
        found = None if FOUND not in facts else Finding.from_dict(facts[FOUND])
        combined = None if COMBINED not in facts else _combined(facts[COMBINED])
        run_of = facts.get(RUN_OF, "")
        if RUN_OF in facts and not (isinstance(run_of, str) and re.fullmatch("[0-9a-f]{32}", run_of)):
            raise ReleaseFileError("The file does not say of which living release it adds up periods.")
        chose = facts.get(CHOSE)
        if CHOSE in facts and type(chose) is not bool:
            raise ReleaseFileError("The file does not say whether its mechanism chose anything under noise.")
        return cls(sketch, privacy, *_origin(facts), bought, found, combined, run_of, chose)


def check_describable(sketch: LinearSketch) -> None:
    """RequestError when no file could hold a release of a sketch, or none could be read back; for before paying."""
    if not has_format(sketch):
        raise RequestError(f"A release of the mechanism {sketch.name!r} has no file format.")
    for name in sketch.domain.names:
        if any(steers(sign) for sign in name):
            raise RequestError(
                f"The name of the column {name!a} has a character in it that is not drawn but steers what is drawn "
                "(a control character, a line's end or a mark of direction), which would do so for everyone who reads "
                "the file; rename the column."
            )
    sketch_from_parameters(sketch.name, sketch.domain, sketch.parameters())
    check_length(archives.dumps([sketch.parameters(), sketch.domain.to_dict()]))


def check_length(text: str) -> None:
    """RequestError when a manifest is longer than a file may have it."""
    if len(text) > MAX_MANIFEST:
        raise RequestError(
            f"The public facts of the release take {len(text):,} characters, and a file may have {MAX_MANIFEST:,}."
        )


def described_sketch(facts: dict[str, Any]) -> LinearSketch:
    """The sketch that a manifest describes; RequestError when there is none."""
    sketch = sketch_from_parameters(facts["mechanism"], Domain.from_dict(facts["domain"]), facts["parameters"])
    if bool(sketch.parts) != (facts["format_version"] == PARTS_FORMAT_VERSION):
        raise ReleaseFileError("The file has the format of releases of several parts, and is none, or the other way.")
    return sketch


def parse(text: str) -> dict[str, Any]:
    """The fields of a manifest's text; a stranger may have written it."""
    try:
        manifest = archives.loads(text)
    except ValueError:
        raise ReleaseFileError("The manifest of the file is not JSON of the kind that a release has.") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ReleaseFileError("The file is an archive of NumPy arrays, but not a release.")
    version = manifest.get("format_version")
    if type(version) is int and version > VERSIONS[-1]:
        raise ReleaseFileError(
            f"The release was made by a newer version of Frostglass, in format {version}, and this one reads formats "
            f"up to {VERSIONS[-1]}; install the newer version to open it."
        )
    if type(version) is not int or version not in VERSIONS:
        raise ReleaseFileError("The file states no version of the release format that was ever made.")
    try:
        return exact_fields(manifest, "release", (*FIELDS, *(name for name in FURTHER if name in manifest)))
    except RequestError as problem:
        raise ReleaseFileError(str(problem)) from None


def _origin(facts: dict[str, Any]) -> tuple[bool, str, str]:
    """Whether the release is private, when it was made, and by which software."""
    private, created, software = facts["private"], facts["created"], facts["software"]
    if type(private) is not bool:
        raise ReleaseFileError("The file does not say whether its release is private.")
    check_text(software, "The name of the software")
    check_text(created, "The time of release")
    try:
        moment = datetime.fromisoformat(created)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ReleaseFileError("The time of release in the file is not a time with its zone in ISO 8601.")
    return private, created, software
