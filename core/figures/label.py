"""The privacy label: what was released and under which promise, as facts and in plain words.

Like the label on food, it says the same things in the same order for every release, so that two can be compared.
Everything on it is public: it is read off the release and nothing else.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from hashlib import sha256
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np

from ..formatting.numbers import count, day, listed, percent, rounded, shown, significant
from ..privacy.calibration import NoiseScale
from ..privacy.composition import event_of, pure_sum
from ..releases.file import facts_of
from ..releases.forecast.whole_table import cell_error
from ..releases.release import Release
from ..runtime.counter_tables import Table
from . import meaning
from .meaning import choice

MAX_COLUMNS_DESCRIBED = 24  # Columns that get a sentence each.


@dataclass(frozen=True)
class ColumnFacts:
    """One column: its name, and in words what anyone could have in it."""

    name: str
    values: str


@dataclass(frozen=True)
class PartFacts:
    """One part of a release of several, in words."""

    name: str  # The owner's words for it.
    share: float  # Of the budget: of ε under pure noise, and of ρ under Gaussian noise.
    columns: tuple[str, ...]  # Those that it uses.
    sentences: tuple[str, ...]  # What it holds, what it is measured by, its noise and what that does to an answer.


@dataclass(frozen=True)
class PrivacyLabel:
    """What a release says of itself."""

    private: bool
    protected: str
    hidden: str
    one_record: str  # What one record is, where it is not a row, and what that leaves open; "" otherwise.
    promise: str
    odds: float  # Best success probability, 0.5 to 1, of a guesser who starts from a coin flip about one of them.
    odds_in_words: str  # The same as a sentence.
    slack: str  # What δ means; "" when there is none.
    overlap: str  # The promise to whoever is in several of the merged parts; "" when nothing was merged.
    noise: tuple[str, ...]  # The noise of the counters, a sentence a merged part and kind.
    theorem: str
    audited: str  # What an exact audit of such releases showed, and of which version; "" for kinds that had none.
    records: str  # Number of records, rounded to what its noise supports.
    records_source: str  # Where that number comes from.
    counted: str  # What a kernel sum counts: "people", "records" or "sets".
    # Standard deviation of an answer, a sum, by privacy noise alone; infinite where no formula knows it.
    answer_noise: float
    answer_noise_in_words: str  # The same as a sentence.
    columns: tuple[ColumnFacts, ...]
    found: str  # Of which columns something was found under the promise, and its price; "" where all was said.
    left_out: str
    # The sketch, and the size of its table.
    mechanism: str
    table: str
    # "Closeness" or "Distance", and in words what it is measured by.
    asked: str
    measured: str
    classes: str  # The public list of classes, as a sentence; "" when there are none.
    clipped: str  # What was done with records beyond a public radius or length; "" when there is none.
    chosen: str  # What was chosen under noise, as a sentence; "" when nothing was.
    # When (ISO 8601) and by which program it was made.
    created: str
    software: str
    # SHA-256 of the file, in hexadecimal; None where a mapped table would have to be read for it.
    fingerprint: str | None
    # The questions that a release of several answers, each with its own noise; what is said of one table, answer and
    # measure above is "" then.
    parts: tuple[PartFacts, ...] = ()


def privacy_label(release: Release, file: bytes | mmap | None = None) -> PrivacyLabel:
    """The label of a release.

    `file`: Contents of its file, in memory or mapped, for the fingerprint. Where they are not at hand the file is
    written anew for it, unless the table is mapped.
    """
    privacy, sketch = release.privacy, release.sketch
    about = rounded(release.records, release.records_error)
    chosen = choice(release)
    asked = release.run() if sketch.asked_for == "periods" else release  # of a living release, all periods until now
    answer_noise = math.inf if release.parts else _answer_noise(asked)
    return PrivacyLabel(
        private=release.private,
        protected=meaning.protected(release.domain),
        hidden=meaning.hidden(privacy.neighbours, release.domain),
        one_record=meaning.one_record(release.domain),
        promise=meaning.promise(privacy.epsilon, privacy.delta),
        odds=min(1.0, privacy.budget.odds),
        odds_in_words=meaning.odds(privacy.budget, release.domain),
        slack=_slack(release),
        overlap=_overlap(release),
        noise=() if release.parts else _noise_of(release),
        theorem=" ".join([privacy.theorem, *([] if chosen is None else [chosen.theorem])]),
        audited=_audited(release),
        records=about if release.count_is_public else f"about {about}",
        records_source=release.records_source if release.count_is_public else f"known from {release.records_source}",
        counted=meaning.counted(release.domain),
        answer_noise=answer_noise,
        answer_noise_in_words="" if release.parts else meaning.noise_in_answer(asked, answer_noise),
        columns=tuple(
            ColumnFacts(shown(column.name), meaning.column_values(column)) for column in release.domain.columns
        ),
        found=" ".join(one.sentence for one in (release.finding, release.combined) if one is not None),
        left_out=meaning.left_out(release.domain, release.sketch.keeps_gaps),
        mechanism=sketch.name,
        table=_several(release) if release.parts else meaning.table(sketch),
        asked="Several questions" if release.parts else meaning.asked(asked.sketch),
        measured="" if release.parts else meaning.measured(asked.sketch),
        classes="" if release.parts else meaning.classes(sketch),
        clipped="" if release.parts else meaning.clipped(sketch),
        chosen="" if chosen is None else chosen.sentence,
        created=release.created,
        software=shown(release.software),
        fingerprint=_fingerprint(release, file),
        parts=tuple(_parts(release)) if release.parts else (),
    )


@cache
def _verdicts() -> dict[str, Any]:
    """What `python -m benchmarks.audited` found for the version that the file names."""
    found: dict[str, Any] = json.loads(Path(__file__).with_name("audited.json").read_text(encoding="utf-8"))
    return found


def _audited(release: Release) -> str:
    kind = f"{release.privacy.neighbours} {'delta' if release.privacy.delta else 'pure'}"
    verdict = _verdicts()["mechanisms"].get(release.sketch.name, {}).get(kind)
    if verdict is None or not release.private:
        return ""
    return (
        f"Releases of this mechanism were audited exactly with {_verdicts()['by']}: in {verdict['replays']} replays, "
        "with one made-up person more, fewer or replaced and the same draws of noise, nothing came out without noise, "
        f"and at most {percent(verdict['used'], 3)} of the promised ε was used up."
    )


def _answer_noise(release: Release) -> float:
    """Of what people ask for: of tables the count in an average cell of one column, as forecasts say."""
    one, variance = meaning.one_class(release.sketch), release.privacy.counter_variance
    if one.asked_for == "tables":
        return cell_error(one, variance, one.layout.singles)[0]  # type: ignore[attr-defined]
    return float(np.sqrt(one.noise_variance(variance)))


def _noise_of(release: Release) -> tuple[str, ...]:
    """The noise of a table, a sentence a merged release and kind."""
    scales = dict.fromkeys(release.privacy.noise)
    return tuple(_noise(scale, release.privacy.releases, release.sketch.largest_entry) for scale in scales)


def _several(release: Release) -> str:
    """The names of the parts, as they go on after "it holds"."""
    return f"{count(len(release.parts), 'part')}: {listed([shown(name) for name in release.parts])}"


def _parts(release: Release) -> Iterator[PartFacts]:
    """The parts of a release, with what each spends of the budget."""
    for (name, part), share in zip(release.parts.items(), shares(release), strict=True):
        one, about = part.sketch, rounded(part.records, part.records_error)
        known = "public" if part.count_is_public else f"about {about}, known from {part.records_source}"
        sentences = (
            f"It holds {meaning.table(one)}.",
            f"{meaning.asked(one)} is measured by {meaning.measured(one)}.",
            meaning.clipped(one),
            meaning.classes(one),
            *_noise_of(part),
            meaning.noise_in_answer(part, _answer_noise(part)),
            f"The number of its records is {known}.",
        )
        yield PartFacts(shown(name), share, one.domain.names, tuple(sentence for sentence in sentences if sentence))


def shares(release: Release) -> list[float]:
    """What every part of a release spends: of ε where its noise is pure, and else of ρ, which shares what is left of ε.

    What is short of one went to numbers of records. Of merged releases the first one's are given.
    """
    sketch, privacy = release.sketch, release.privacy
    tables = zip(sketch.sensitivities(privacy.neighbours), privacy.noise, strict=False)
    counts = zip(sketch.count_sensitivities(privacy.neighbours), privacy.count_noise, strict=False)
    events = [event_of(moved, noise) for moved, noise in [*tables, *counts]]
    pure, rho = sum(pure_sum([event]) or 0 for event in events), sum(e.rho for e in events if pure_sum([e]) is None)
    whole = pure if not rho else Fraction(privacy.epsilon)
    paid = [pure_sum([event]) for event in events]
    costs = [event.rho / rho * (whole - pure) if own is None else own for own, event in zip(paid, events, strict=True)]
    return [float(cost / whole) for cost in costs[: privacy.tables]]


def _fingerprint(release: Release, file: bytes | mmap | None) -> str | None:
    if file is None and isinstance(release.counters, Table):
        return None
    return sha256(release.to_bytes(teaching=True) if file is None else file).hexdigest()


def describe(release: Release, file: bytes | mmap | None = None, label: PrivacyLabel | None = None) -> list[str]:
    """What a release is and promises, in sentences; `label`: its own, where it is at hand, as one may take a second."""
    label = privacy_label(release, file) if label is None else label
    what = "private release" if label.private else "teaching file"
    made_from = "sets" if release.domain.holds_sets else "records"
    names = listed([column.name for column in label.columns])
    if label.private:
        promised = [
            f"It protects {label.protected}, with {label.promise}.",
            f"It hides {label.hidden}.",
            label.one_record,
            f"{label.odds_in_words} That is the worst case.",
            label.slack,
            label.overlap,
        ]
    else:
        promised = [
            f"Its noise can be repeated, so it protects nobody; private noise like it would have {label.promise}."
        ]
    further = len(label.columns) - MAX_COLUMNS_DESCRIBED
    sentences = [
        f"This is a {what} of {names}, made on {day(label.created)} by {label.software}.",
        *promised,
        f"It holds {label.table}.",
        label.chosen,
        label.classes,
        *label.noise,
        f"It was made from {label.records} {made_from} ({label.records_source}).",
        label.answer_noise_in_words,
        f"{label.asked} is measured by {label.measured}." if label.measured else "",
        label.clipped,
        *(f"{_heading(part)}: {' '.join(part.sentences)}" for part in label.parts),
        *(f"The column {column.name} may hold {column.values}." for column in label.columns[:MAX_COLUMNS_DESCRIBED]),
        f"There are {further:,} further columns." if further > 0 else "",
        label.found,
        label.left_out,
        f"The file's fingerprint (SHA-256) is {label.fingerprint}." if label.fingerprint else "",
    ]
    return [sentence for sentence in sentences if sentence]


def _heading(part: PartFacts) -> str:
    """A part's name, columns and share, to begin its sentences with."""
    return (
        f"“{part.name}” ({listed([shown(name) for name in part.columns], 4)}; {percent(part.share, 2)} of the budget)"
    )


def to_json(release: Release, file: bytes | mmap | None = None) -> dict:
    """What a release is and promises, as a value for JSON: its manifest, what its numbers say, and the sentences."""
    label = privacy_label(release, file)
    parts = {"parts": [asdict(part) for part in label.parts]} if label.parts else {}
    return (
        facts_of(release.manifest, release.counters.size)
        | parts
        | {
            "fingerprint": label.fingerprint,
            "shape": list(release.sketch.shape),
            "records": {
                "estimate": release.records,
                "standard_error": release.records_error,
                "source": release.records_source,
            },
            "answer_noise": label.answer_noise if math.isfinite(label.answer_noise) else None,
            "odds": label.odds,
            "in_words": describe(release, file, label),
        }
    )


def _noise(scale: NoiseScale, parts: int, largest: int) -> str:
    sentence = scale.describe()
    if largest > 1:  # counters in fixed point, where the noise's own number means nothing to a person
        deviation = math.sqrt(scale.variance)
        share = f"{significant(deviation / largest, 2)} times the most that one record adds to a counter"
        sentence = share.join(sentence.rsplit(significant(deviation, 4), 1))
    return sentence if parts == 1 else f"In one or more of its parts, {sentence[0].lower()}{sentence[1:]}"


def _slack(release: Release) -> str:
    if release.privacy.pure:
        return ""
    chance = 1 / float(release.privacy.delta)
    return f"With a probability of at most one in {rounded(chance, chance / 100)} the promise may fail."


def _overlap(release: Release) -> str:
    privacy = release.privacy
    if privacy.releases == 1:
        return ""
    budget = meaning.promise(privacy.overlap_epsilon, privacy.overlap_delta)
    return f"It is merged of {privacy.releases:,} releases; whoever is in all of them is promised {budget} only."
