"""What someone asked a released file: a list of steps that can be asked again, and written down as a program.

A step is a call of a public function with plain values. Asking it and writing it down start from the same call, so a
script cannot say anything else than what was done.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

import numpy as np
import pandas as pd

from ..analysis.anomalies import SHARE, AnomalyScores, score
from ..analysis.centres import Centre, find_centres
from ..analysis.density import Curve, Heatmap, Volume, marginal_grid, marginal_line, marginal_volume
from ..analysis.modes import Mode, find_modes
from ..analysis.sampling import Sample, sample
from ..errors import RequestError
from ..releases.release import Release
from ..sketches.answers import Answers

ANSWERS = ("estimate", "low", "high", "density", "standard_error")
SCORES = ("density", "low", "high", "score", "anomalous", "certain")
PEAKS = ("estimate", "low", "high", "density", "prominence", "prominence_error", "significant")
FIGURES = ("share", "mean", "mean_low", "mean_high")

Answer = Answers | AnomalyScores | Curve | Heatmap | Volume | Sample | Sequence[Mode] | Sequence[Centre]


def table_of(answer: Answer, places: Mapping[str, Sequence] | None = None) -> pd.DataFrame:
    """Places and what a release says about them, side by side.

    Returns the columns of the release, then those of the answer; one whose name is taken is called ``answer_NAME``.
    """
    if isinstance(answer, Sample):
        return answer.points
    if isinstance(answer, Curve):
        return _beside({answer.column: answer.values}, answer, ANSWERS)
    if isinstance(answer, Heatmap):
        across = np.tile(answer.x_values, len(answer.y_values))
        up = np.repeat(answer.y_values, len(answer.x_values))
        return _beside({answer.x: across, answer.y: up}, answer, ANSWERS)
    if isinstance(answer, Volume):
        up, back, across = (part.ravel() for part in np.meshgrid(*reversed(answer.places), indexing="ij"))
        return _beside({answer.x: across, answer.y: back, answer.z: up}, answer, ANSWERS)
    if isinstance(answer, (Answers, AnomalyScores)):
        return _beside(places or {}, answer, ANSWERS if isinstance(answer, Answers) else SCORES)
    if answer and isinstance(answer[0], Centre):
        return _of_centres(answer)
    positions = pd.DataFrame([mode.position for mode in answer])
    peaks = {name: [getattr(mode, name) for mode in answer] for name in PEAKS}
    return pd.concat([positions, pd.DataFrame(_renamed(peaks, positions.columns))], axis=1)


def _of_centres(centres: Sequence[Centre]) -> pd.DataFrame:
    """A row a centre: every column with the ends of its interval, then what is known of the records around it."""
    places: dict[str, Sequence] = {}
    for name in centres[0].position:
        # A vector as a list: an array would be written with its middle left out.
        places[name] = [np.asarray(centre.position[name]).tolist() for centre in centres]
    for name in centres[0].low:
        places |= _renamed(
            {f"{name}_{end}": [getattr(centre, end)[name] for centre in centres] for end in ("low", "high")}, places
        )
    figures = {name: np.array([getattr(centre, name) for centre in centres]) for name in FIGURES}
    known = {name: values for name, values in figures.items() if not np.isnan(values).any()}
    return pd.DataFrame(places | _renamed(known, places))


def _beside(places: Mapping[str, Sequence], answer: object, names: Sequence[str]) -> pd.DataFrame:
    values = {name: np.ravel(getattr(answer, name)) for name in names}
    return pd.DataFrame({**places, **_renamed(values, places)})


def _renamed(values: Mapping[str, Sequence], taken) -> dict[str, Sequence]:
    return {f"answer_{name}" if name in taken else name: column for name, column in values.items()}


LEVEL = 0.95
# Places that a step may ask at; a program with more of them in its text would be no program any more.
MAX_PLACES = 10_000
# Modes that are looked for: more than can be told apart on a picture, so that none that stands out is left out.
MOST_MODES = 100


@dataclass(frozen=True)
class Call:
    """A function of a release, and its further arguments by name: plain values, see `plain_value`."""

    function: Callable
    arguments: Mapping[str, object]

    def of(self, release: Release) -> object:
        """What the function answers of a release."""
        return self.function(release, **self.arguments)


class Step(ABC):
    """One question that was asked of a release."""

    kind: ClassVar[str]  # A word for the step, fit for the name of a file.
    function: ClassVar[Callable]  # What answers it from the fields of the step, where these are its arguments.

    @property
    @abstractmethod
    def title(self) -> str:
        """What is asked, in words that hold no names."""

    @property
    def call(self) -> Call:
        """The function and the arguments that answer the question."""
        return Call(type(self).function, dict(vars(self)))

    @property
    def places(self) -> Mapping[str, Sequence] | None:
        """The places that were asked at, values by column; None when the step chooses them itself."""
        return None

    def table(self, release: Release) -> pd.DataFrame:
        return table_of(self.call.of(release), self.places)


@dataclass(frozen=True)
class Density(Step):
    """The density along one column or over two.

    `at`: values of the columns that are held; the others are averaged over. `size`: places along a column of numbers.
    `level`: Probability with which each interval holds the exact kernel sum.
    """

    columns: tuple[str, ...]
    at: Mapping[str, object]
    size: int = 100
    level: float = LEVEL
    kind: ClassVar[str] = "density"

    def __post_init__(self) -> None:
        if len(self.columns) not in (1, 2):
            raise RequestError("A density is drawn along one column or over two.")

    @property
    def title(self) -> str:
        return "Density along one column" if len(self.columns) == 1 else "Density over two columns"

    @property
    def call(self) -> Call:
        further = {"at": dict(self.at), "level": self.level}
        if len(self.columns) == 1:
            return Call(marginal_line, {"column": self.columns[0], "points": self.size, **further})
        return Call(marginal_grid, {"x": self.columns[0], "y": self.columns[1], "size": self.size, **further})


@dataclass(frozen=True)
class Dense(Step):
    """The density over three columns, with values of those that are held; the others are averaged over."""

    columns: tuple[str, str, str]
    at: Mapping[str, object]
    size: int = 24
    level: float = LEVEL
    kind: ClassVar[str] = "density"
    title: ClassVar[str] = "Density over three columns"

    @property
    def call(self) -> Call:
        further = {"at": dict(self.at), "size": self.size, "level": self.level}
        return Call(marginal_volume, dict(zip("xyz", self.columns, strict=True)) | further)


@dataclass(frozen=True)
class AtPlaces(Step):
    """A question about some places, values by column."""

    at: Mapping[str, Sequence]

    @property
    def places(self) -> Mapping[str, Sequence]:
        return plain_places(self.at)


@dataclass(frozen=True)
class Points(AtPlaces):
    """The answers at some places."""

    level: float = LEVEL
    kind: ClassVar[str] = "points"
    title: ClassVar[str] = "Answers at points"

    @property
    def call(self) -> Call:
        return Call(Release.answer, {"queries": self.places, "level": self.level})


@dataclass(frozen=True)
class Anomalies(AtPlaces):
    """How unusual some places are."""

    level: float = LEVEL
    threshold: float | None = None
    seed: int = 0
    share: float = SHARE
    kind: ClassVar[str] = "anomalies"
    title: ClassVar[str] = "How unusual points are"

    @property
    def call(self) -> Call:
        further = {"level": self.level, "threshold": self.threshold, "seed": self.seed, "share": self.share}
        return Call(score, {"table": self.places, **further})


@dataclass(frozen=True)
class Modes(Step):
    """Where the density has its peaks."""

    count: int = MOST_MODES
    level: float = LEVEL
    kind: ClassVar[str] = "modes"
    title: ClassVar[str] = "Modes: where the density has its peaks"
    function = staticmethod(find_modes)


@dataclass(frozen=True)
class Centres(Step):
    """Where everyone is least far away."""

    count: int = 1
    level: float = LEVEL
    kind: ClassVar[str] = "centres"
    title: ClassVar[str] = "Centres: where everyone is least far away"
    function = staticmethod(find_centres)


@dataclass(frozen=True)
class Sampled(Step):
    """Synthetic points."""

    n: int
    seed: int = 0
    sharpen: bool = True
    kind: ClassVar[str] = "sample"
    title: ClassVar[str] = "Synthetic points"
    function = staticmethod(sample)


@dataclass(frozen=True)
class Exploration:
    """What was asked of one file."""

    file: str  # Its name, as it will be found beside the program.
    fingerprint: str  # SHA-256 of its contents, in hexadecimal.
    steps: tuple[Step, ...]
    # The calls that make the release that is asked, one after the other: of a file of several questions the part, and
    # of one with classes that of one of them, or of all together.
    parts: tuple[Call, ...] = ()


def plain_places(places: Mapping[str, Sequence]) -> dict[str, list]:
    """Values by column as lists of plain values."""
    columns = {name: [plain_value(value) for value in values] for name, values in places.items()}
    if any(len(values) > MAX_PLACES for values in columns.values()):
        raise RequestError(
            f"A step asks at {MAX_PLACES:,} places at most; ask about more with `query` and a file of them."
        )
    return columns


def plain_value(value: object) -> object:
    """A value that can be written down: text, a finite number, a truth value, None, or lists and mappings of these."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, date):  # a time is one, too
        value = value.isoformat()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain_value(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(part) for part in value]
    if isinstance(value, float) and not np.isfinite(value):
        raise RequestError("A place that is asked about must be made of finite numbers.")
    if value is None or isinstance(value, (bool, int, float, str)):
        return str(value) if isinstance(value, str) else value
    raise RequestError("A place that is asked about must be made of numbers and texts.")
