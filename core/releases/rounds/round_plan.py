"""The plan of a round: what is released, what it promises, who takes part, and how the noise is shared.

Everybody has the same file, and its digest, which two people can compare by telephone, is in everything that is made
for the round. Three ways to share the noise:

full    Everyone adds all of it, so everyone's share is a release by itself, and nobody is trusted. Of k owners the sum
        has k times the variance.
shared  Everyone adds a part of it (`privacy.noise.divided_noise`), so that the parts of any t owners are the noise. Who
        sees one share by itself sees it under a part alone: shares are encrypted for the convenor, who is trusted to
        look at nothing but their sum. Of k owners the sum has k/t times the variance.
masked  The same parts, and masks that cancel in the sum (`masking`), so the convenor sees nothing but the sum either.

*Whom it protects.* For a person in the records of one owner, the sum is that owner's table plus noise and numbers that
do not depend on the person. With t honest owners or more among those whose shares are in the sum, the one of the person
among them, their parts alone are the noise that the promise needs, and all else post-processes. At least `least` shares
are summed, so up to `least` - t owners may be dishonest and tell the others, or the convenor, what they added.

*The sum cannot wrap.* Counters are summed modulo 2^b. Each owner moves counters beyond ±L to ±L before noise is added;
that moves no two tables of neighbours further apart in any counter, so the sensitivity stays. With N so large that the
noise of all owners passes it in any counter with a probability of 2^-40 at most, k L + N < 2^(b-1), so the sum is read
back exactly. Should noise pass N all the same, the sum is off, and no more is told: a number modulo 2^b is made from
the number.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...formatting.numbers import count as counted_words
from ...formatting.numbers import listed, significant
from ...privacy.accounting import RARE, Cost
from ...privacy.budget import Budget, decimal_text
from ...privacy.calibration import NoiseScale
from ...privacy.noise.divided_noise import check_parts, failure_of_parts, reach, summed
from ...privacy.noise.noise import check_drawable
from ...runtime import archives
from ...runtime.parameters import check_choice, check_integer, check_text, exact_fields
from ...runtime.transient import unfinished
from ...sketches.adaptive import Adaptive
from ...sketches.linear import LinearSketch
from ...sketches.plan import JointPlan, Planned, planned_for
from ...sketches.registry import sketch_from_parameters
from ..forecast.forecast import forecast
from ..forecast.sketch_sizes import ANY_RECORDS
from ..kind import with_chosen_size
from ..manifest import Combined, check_describable
from .round_messages import PublicKey, in_fours

FORMAT, VERSION = "frostglass-round", 1
WAYS = ("full", "shared", "masked")
TRUSTED = {
    "full": "nobody is trusted: every share is a release by itself",
    "shared": "the convenor is trusted to look at nothing but the sum of all shares",
    "masked": "the convenor sees nothing but the sum, as long as not too many owners tell it what they added",
}
MOST_OWNERS = 10_000
MAX_PLAN = 16_000_000  # Characters of a plan.
WRAPS = 2.0**-40  # Chance that the noise of any counter passes what the modulus has room for.
MARK_BYTES = 16
TAG_BYTES = 16  # Of what is encrypted (ChaCha20-Poly1305).
FIELDS = (
    "format",
    "format_version",
    "mechanism",
    "parameters",
    "domain",
    "epsilon",
    "delta",
    "neighbours",
    "noise",
    "owners",
    "honest",
    "least",
    "records",
    "bits",
    "closes",
    "convenor",
    "mark",
)


@dataclass(frozen=True)
class RoundPlan:
    """What everybody in a round has agreed on.

    Attributes
    ----------
    sketch : LinearSketch
        What every owner's records are summed to, of a settled size and with its public seeds.
    budget : Budget
        The promise, which every owner pays from a ledger of their own.
    way : str
        How the noise is shared: "full", "shared" or "masked".
    owners : dict[str, PublicKey]
        Who takes part, by name, in order.
    honest : int
        t: how many honest owners suffice. 1 where everyone adds all noise.
    least : int
        How many shares there must be.
    records : int | None
        How many records each owner has at most; counters beyond that are moved to it.
    closes : str
        ISO 8601 with its zone: shares made later are not taken. "" is never.
    convenor : PublicKey | None
        For whom shares are encrypted, where that is needed.
    mark : str
        Random digits, so that no two rounds are the same.
    """

    sketch: LinearSketch
    budget: Budget
    way: str
    owners: dict[str, PublicKey]
    honest: int
    least: int
    records: int | None = None
    closes: str = ""
    convenor: PublicKey | None = None
    mark: str = field(default_factory=lambda: secrets.token_hex(MARK_BYTES))

    @classmethod
    def of(
        cls,
        sketch: LinearSketch | Adaptive,
        budget: Budget,
        owners: dict[str, PublicKey],
        noise: str = "masked",
        *,
        honest: int | None = None,
        least: int | None = None,
        records: int | None = None,
        closes: str = "",
        convenor: PublicKey | None = None,
    ) -> RoundPlan:
        """A plan; without `honest` and `least` all owners are honest and take part.

        RequestError where the mechanism is no plain sum, or the owners are too few.
        """
        if sketch.chooses:
            raise RequestError(
                f"A round releases sums of counters with noise, and {sketch.name!r} chooses what it measures by the "
                "records: take a mechanism of one table, such as race, histogram, tables or distance."
            )
        sized = with_chosen_size(sketch, budget, float(records or ANY_RECORDS) * len(owners))
        least = len(owners) if least is None else least
        honest = 1 if noise == "full" else least if honest is None else honest
        return cls(cast(LinearSketch, sized), budget, noise, dict(owners), honest, least, records, closes, convenor)

    def __post_init__(self) -> None:
        check_choice(self.way, "The noise of a round", WAYS)
        owners = len(self.owners)
        if not 2 <= owners <= MOST_OWNERS:
            raise RequestError(f"A round has 2 to {MOST_OWNERS:,} owners, and this one has {owners:,}.")
        if len({key.text for key in self.owners.values()}) < owners:
            raise RequestError("Two owners of the round have the same key, and would be one.")
        for name in self.owners:
            check_text(name, "The name of an owner")
        check_integer(self.least, "The least number of shares", 1, owners)
        check_integer(self.honest, "The number of honest owners", 1, self.least)
        if self.records is not None:
            check_integer(self.records, "The number of records of an owner", 1, 1 << 40)
        if self.closes and _moment(self.closes) is None:
            raise RequestError("A round closes at a time with its zone in ISO 8601, such as 2026-03-01T12:00:00+01:00.")
        if self.way == "full" and self.honest != 1:
            raise RequestError("Where everyone adds all noise, one honest owner suffices, the person's own.")
        if (self.way == "shared") != (self.convenor is not None):
            raise RequestError("Shares are encrypted for a convenor where they have parts of the noise, and only then.")
        if self.way == "masked" and (self.honest < 2 or self.least + self.honest < owners + 2):
            raise RequestError(
                f"Masks hide shares only where fewer are dishonest or late: of {owners:,} owners, least shares and "
                f"honest owners together must be at least {owners + 2:,} (they are {self.least:,} and "
                f"{self.honest:,}), and two of them honest."
            )
        check_describable(self.sketch)
        _ = self.cost, self.bits

    # What it costs.

    @cached_property
    def planned(self) -> Planned:
        """How the promise becomes noise, as one trusted owner of all records would draw it."""
        planned = planned_for(self.sketch, self.budget)
        scales = [scale for scale in (*planned.noises, *planned.count_noises) if scale is not None]
        if any(scale.local for scale in scales):
            raise RequestError("Local reports are made by people's own devices, and need no round.")
        check_drawable(*scales)
        if self.way != "full":
            check_parts(scales, self.honest)
        return planned

    @cached_property
    def cost(self) -> Cost:
        """What every owner pays: the price of the noise that the honest parts add up to."""
        planned, budget = self.planned, self.budget
        if self.way == "full":
            return planned.cost
        drawn = [scale for scale in planned.count_noises if scale is not None]
        counts = zip(self.sketch.count_sensitivities(budget.neighbours), drawn, strict=False)
        tables = zip(self.sketch.sensitivities(budget.neighbours), planned.noises, strict=True)
        moved = [*tables, *counts]
        failures = failure_of_parts(moved, self.honest, Fraction(budget.delta), RARE)
        return replace(planned.cost, events=(*planned.cost.events, *failures)) if failures else planned.cost

    def of_sum(self, shares: int) -> JointPlan:
        """The noise of a sum of so many shares, each with a part of the noise."""

        def total(scale: NoiseScale | None) -> NoiseScale | None:
            return None if scale is None else summed(scale, shares, self.honest)

        noises = tuple(summed(scale, shares, self.honest) for scale in self.planned.noises)
        return JointPlan(noises, tuple(map(total, self.planned.count_noises)), (), self.cost)

    # How numbers are laid out, and what they may be.

    @cached_property
    def segments(self) -> tuple[tuple[int, NoiseScale | None], ...]:
        """Lengths of the pieces of a share, in order, with the noise that all owners' parts of each are."""
        sizes = [part.size for part in self.sketch.split(np.zeros(self.sketch.shape, np.int8))]
        counts = np.zeros(math.prod(self.sketch.count_shape), np.int64)
        counted = self.sketch.split_count(counts) if self.planned.count_noises else ()
        sizes += [piece.size for piece in counted]
        return tuple(zip(sizes, (*self.planned.noises, *self.planned.count_noises), strict=True))

    @property
    def length(self) -> int:
        """Numbers in a share."""
        return sum(size for size, _ in self.segments)

    @property
    def share_bytes(self) -> int:
        """Bytes of the numbers of a share as they travel."""
        each = self.bits // 8 if self.way == "masked" else 8
        return each * self.length + (TAG_BYTES if self.way == "shared" else 0)

    def flat(self, table: np.ndarray, records: int | np.ndarray) -> np.ndarray:
        """The numbers of a share, int64, each within ±`limit`, of an exact table and its number of records."""
        pieces = [part.reshape(-1) for part in self.sketch.split(table)]
        if self.planned.count_noises:
            pieces += [one.reshape(-1) for one in self.sketch.split_count(np.array(records, np.int64).reshape(-1))]
        return np.clip(np.concatenate(pieces).astype(np.int64, copy=False), -self.limit, self.limit)

    def shaped(self, numbers: np.ndarray) -> tuple[np.ndarray, int | np.ndarray | None]:
        """Table and number of records of what `flat` wrote, with noise or added up."""
        table, counts = np.zeros(self.sketch.shape, np.int64), np.zeros(math.prod(self.sketch.count_shape), np.int64)
        places = [*self.sketch.split(table), *(self.sketch.split_count(counts) if self.planned.count_noises else ())]
        start = 0
        for place in places:
            place[...] = numbers[start : start + place.size].reshape(place.shape)
            start += place.size
        if not self.planned.count_noises:
            return table, None
        counts = counts.reshape(self.sketch.count_shape)
        return table, counts if self.sketch.count_shape else int(counts)

    @cached_property
    def limit(self) -> int:
        """L: how large a counter of one owner may be."""
        if self.records is None:
            return (1 << 62) // len(self.owners)
        return min(self.records * self.sketch.largest_entry, (1 << 62) // len(self.owners))

    def noise_within(self, shares: int) -> int:
        """N for so many shares."""
        parts = 1 if self.way == "full" else self.honest
        scales = {scale for _, scale in self.segments if scale is not None}
        chance = WRAPS / self.length
        return max(
            (
                shares * (1 << 62)
                if scale.block is not None  # noise for vectors is only ever added whole, where nothing wraps
                else reach(scale, shares, parts, chance)
                for scale in scales
            ),
            default=0,
        )

    @cached_property
    def bits(self) -> int:
        """b: the least of 32 and 64 in which no sum can wrap."""
        owners = len(self.owners)
        if self.way == "full":
            return 64
        most = owners * self.limit + self.noise_within(owners)
        for bits in (32, 64):
            if most < 1 << bits - 1:
                return bits
        raise RequestError(
            "The sum of all owners may not fit into 64 bits; say by --records how many records each of them has at "
            "most."
        )

    # What it says.

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything in it."""
        return hashlib.sha256(archives.dumps(self.to_dict()).encode()).hexdigest()

    @property
    def fingerprint(self) -> str:
        """The beginning of the digest, for two people to compare."""
        return in_fours(self.digest)

    @property
    def variance_factor(self) -> float:
        """How many times the variance of one trusted owner's noise the sum of all shares has."""
        return len(self.owners) / self.honest

    def is_late(self, moment: str) -> bool:
        """Whether something made at a time came after the round had closed."""
        closes, made = _moment(self.closes), _moment(moment)
        return closes is not None and (made is None or made > closes)

    def combined(self, shares: int) -> Combined:
        """What the release of so many shares says of how it was made."""
        return Combined(self.way, len(self.owners), self.honest, shares, self.digest)

    def describe(self) -> list[str]:
        """What it asks of an owner, in plain words, a sentence each."""
        budget, owners = self.budget, len(self.owners)
        promise = f"epsilon {decimal_text(budget.epsilon)}" + (
            "" if budget.pure else f" and delta {decimal_text(budget.delta)}"
        )
        hides = "whether someone is in your records" if budget.neighbours == "add_remove" else "what your records say"
        factor, name = math.sqrt(self.variance_factor), self.sketch.name
        times = "" if factor == 1 else f"{significant(factor, 3)} times "
        named = "" if name in self.sketch.described else f" ({name})"
        noise = {
            "full": "You add all of the noise, so your share is safe by itself.",
            "shared": f"You add one part in {self.honest:,} of the noise, and your share is encrypted for the "
            "convenor.",
            "masked": f"You add one part in {self.honest:,} of the noise and masks that cancel in the sum alone.",
        }
        sentences = [
            f"{counted_words(owners, 'owner')} make one release together: {listed(list(self.owners))}.",
            f"It is a {self.sketch.described}{named} of the columns "
            f"{listed(list(self.sketch.domain.names))}, {self.length:,} numbers.",
            f"It promises {promise}, which hides {hides}; your ledger pays that, and so does everyone else's.",
            noise[self.way],
            f"Whom you trust: {TRUSTED[self.way]}.",
            f"At least {counted_words(self.least, 'share')} must come"
            + ("." if self.way == "full" else f", of which {self.honest:,} from owners who keep to this plan.")
            + (f" It closes at {self.closes}." if self.closes else ""),
            f"Noise is {times}that of one trusted owner of all records.",
        ]
        if self.records is not None:
            sentences.append(f"Everyone has at most {self.records:,} records; counters beyond that are moved to it.")
        return [*sentences, f"The fingerprint of this plan is {self.fingerprint}; compare it with the others'."]

    def to_dict(self) -> dict[str, Any]:
        """A value for JSON."""
        return {
            "format": FORMAT,
            "format_version": VERSION,
            "mechanism": self.sketch.name,
            "parameters": self.sketch.parameters(),
            "domain": self.sketch.domain.to_dict(),
            "epsilon": decimal_text(self.budget.epsilon),
            "delta": decimal_text(self.budget.delta),
            "neighbours": str(self.budget.neighbours),
            "noise": self.way,
            "owners": {name: key.text for name, key in self.owners.items()},
            "honest": self.honest,
            "least": self.least,
            "records": self.records,
            "bits": self.bits,
            "closes": self.closes,
            "convenor": None if self.convenor is None else self.convenor.text,
            "mark": self.mark,
        }

    @property
    def text(self) -> str:
        """What stands in its file."""
        return f"{archives.dumps(self.to_dict())}\n"

    def save(self, path: str | Path) -> None:
        """Write it to a file."""
        try:
            with unfinished(Path(path)) as file:
                file.write(self.text.encode())
        except OSError as problem:
            raise RequestError(f"The plan cannot be written to {str(path)!r}: {problem.strerror}.") from None

    @classmethod
    def load(cls, path: str | Path) -> RoundPlan:
        """The plan in a file."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise RequestError(f"There is no plan of a round in {str(path)!r}.") from None
        return cls.of_text(text)

    @classmethod
    def of_text(cls, text: str) -> RoundPlan:
        """The plan that a text holds, of which a stranger may have written it; RequestError on anything else."""
        try:
            if len(text) > MAX_PLAN:
                raise ValueError("too long")
            facts = archives.loads(text)
        except ValueError:
            raise RequestError("The file is no plan of a round.") from None
        if not isinstance(facts, dict) or (facts.get("format"), facts.get("format_version")) != (FORMAT, VERSION):
            raise RequestError("The file is no plan of a round that this version knows.")
        known = exact_fields(facts, "round", FIELDS)
        if not isinstance(known["owners"], dict) or not isinstance(known["closes"], str):
            raise RequestError("The plan of the round does not say who takes part until when.")
        mark = known["mark"]
        if not isinstance(mark, str) or len(mark) != 2 * MARK_BYTES or set(mark) - set("0123456789abcdef"):
            raise RequestError("The plan of the round has no mark of its own.")
        plan = cls(
            sketch_from_parameters(known["mechanism"], Domain.from_dict(known["domain"]), known["parameters"]),
            Budget(known["epsilon"], known["delta"], known["neighbours"]),
            known["noise"],
            {name: PublicKey.of_text(key) for name, key in known["owners"].items()},
            known["honest"],
            known["least"],
            known["records"],
            known["closes"],
            None if known["convenor"] is None else PublicKey.of_text(known["convenor"]),
            mark,
        )
        if known["bits"] != plan.bits:
            raise RequestError(
                f"The plan sums modulo 2^{known['bits']}, and {plan.bits} bits are what this sum fits into for "
                "certain; it was altered, or another program has made it."
            )
        return plan


@dataclass(frozen=True)
class WayForecast:
    """What one way to share the noise costs, beforehand."""

    way: str
    times: float  # Times the standard deviation of the noise of one trusted owner of all records.
    error: float | None  # Standard deviation of one answer; None where nobody said how many records there are.
    trusted: str  # Whom one trusts, in words.
    words: str = ""  # The error with its unit.


def ways(
    sketch: LinearSketch, budget: Budget, owners: int, honest: int | None = None, records: float | None = None
) -> Sequence[WayForecast]:
    """What each way would cost, by the forecast of the product.

    `sketch`: Of a settled size. `owners`, `honest`: How many take part, and how many of them are honest at least; all
    when None. `records`: How many there are of all owners together.
    """
    expected = None if records is None else forecast(sketch, budget, records)
    found = []
    for way in WAYS:
        times = math.sqrt(owners if way == "full" else owners / (honest or owners))
        error, words = None, ""
        if expected is not None:
            error = math.hypot(expected.sampling_error, times * expected.noise_error)
            words = replace(expected, standard_error=error).answer_words
        found.append(WayForecast(way, times, error, TRUSTED[way], words))
    return found


def _moment(text: str) -> datetime | None:
    """A time with its zone; None where a text is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
