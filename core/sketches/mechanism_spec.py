"""What everyone else knows of a mechanism: its card, which lies in the mechanism's own file.

Lists, the command line, recommendations, comparisons, labels and warming read cards and know no mechanism by name. A
new mechanism is a file with a card, and its test: see `core.sketches.registry` for how cards are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import RequestError
from ..formatting.numbers import count

if TYPE_CHECKING:
    from ..domain import Domain
    from ..geometry.kernels import Kernel
    from ..privacy.budget import Budget
    from .adaptive import Adaptive
    from .linear import LinearSketch

KERNEL_OPTIONS = frozenset({"--kernel", "--bandwidth", "--power"})  # Options that say what closeness is.
PROJECTION_OPTIONS = frozenset({"--project", "--projection", "--radius"})
# Questions that mechanisms are recommended and compared for, in words.
ANSWERED = {"closeness": "closeness, and not of distances", "distance": "distances, and not of closeness"}
# Norms that are the L1 distance: of one column, the straight line too.
L1_NORMS = {False: ("l1", "lp:1"), True: ("l1", "lp:1", "l2")}
LAST = 100


@dataclass(frozen=True)
class PublicInputs:
    """The public facts that a mechanism is made from: what is asked, under which promise, and what else was said."""

    domain: Domain  # The columns that are compared.
    budget: Budget  # The promise, by which some details are chosen.
    kernel: Kernel | None = None  # What closeness is; None where distances are asked for.
    norm: str | None = None  # What distance is: "l1", "l2", "squared", "lp:P", "capped:C", "above" or "below".
    size: int | None = None  # What the card's `size` counts; None leaves it to the forecast or to public facts.
    seed: int | None = None  # Of public random numbers; fresh when None.
    # Records farther than this from the middle of the bounds are moved towards it, where a mechanism can.
    radius: float | None = None
    # Of tables of rows; None takes what is usual.
    width: int | None = None
    groups: int | None = None
    # Dimensions that points are projected to first, if they are, and how.
    project: int | None = None
    projection: str = "fast"
    # How sets are hashed, and how many items of one count at most.
    scheme: str = "classic"
    longest: int | None = None
    # How often bins are halved where a column is alone, and which columns are counted together: "singles", "pairs",
    # "chosen" for pairs that are chosen under noise, or their names.
    halvings: int | None = None
    tables: str | tuple[tuple[str, ...], ...] = "pairs"
    by: tuple[str, ...] = ()  # Columns by which the others are counted: then pairs without one of them are not.
    cut_for: str = "questions"  # Or "samples": what numbers in tables are cut for.
    # Down to which share of the kernel's bandwidth readers may choose another, where a mechanism lets them.
    finest: float = 1.0

    @property
    def closeness(self) -> Kernel:
        """The kernel, for what is only made of one; RequestError where distances are asked for."""
        if self.kernel is None:
            raise RequestError("Closeness needs a kernel, and the question is about distances.")
        return self.kernel

    @property
    def distance(self) -> str:
        """The norm, for what is only made of one; RequestError where closeness is asked for."""
        if self.norm is None:
            raise RequestError("Distances need a norm, and the question is about closeness.")
        return self.norm

    @property
    def compares_sets(self) -> bool:
        """Whether records are sets, and so is what they are compared by."""
        return self.domain.holds_sets and self.kernel is not None and self.kernel.of_sets


@dataclass(frozen=True)
class PrivateChoice:
    """What a mechanism chooses under noise before it measures."""

    what: str  # A few words that begin a sentence.
    theorem: str  # Why that keeps the promise.
    made: Callable[[Any], bool] = lambda sketch: True  # Whether a sketch of the mechanism may come from such a choice.

    @property
    def sentence(self) -> str:
        """For a person who wants to know what the promise is about."""
        return f"{self.what} was chosen under the same promise."


EXPONENTIAL = (
    "Choices are those of the exponential mechanism (McSherry, Talwar 2007), with a part of epsilon of their own; the "
    "counters have the rest."
)


@dataclass(frozen=True, eq=False)
class MechanismSpec:
    """A mechanism as others know it.

    Name, rank and command are written as constants: they are read without the rest of the file.
    """

    name: str  # On the command line, in release files and in lists.
    title: str  # For people.
    paper: str  # Whose idea it is, and of which year.
    idea: str = ""  # How it works, in one plain sentence.

    # How it is made, and who may ask for it.

    # What a release file of this name holds; None where files have another name.
    sketch: type[LinearSketch] | None = None
    # The mechanism from public facts, RequestError where it cannot answer; None where it is only made in Python.
    make: Callable[[PublicInputs], LinearSketch | Adaptive] | None = None
    # What it is asked: "closeness", sums of a kernel; "distance", sums of distances; else what recommendations and
    # comparisons have no question for.
    answers: str = "closeness"
    sets: bool = False  # Whether its records are sets.
    of_sets: str = ""  # The mechanism that its name means where records are sets, if that is another one.
    # Whether `recommend` may choose it. One that is never recommended is a rival, to compare with.
    recommended: bool = False
    kernel: str = "gaussian"  # The kernel when none is named.
    size: str | None = None  # What its one setting counts, if it has one.
    sizes: tuple[int, ...] = ()  # Settings worth trying, coarse to fine.
    # On the command line, beside those that all have.
    options: frozenset[str] = None  # type: ignore[assignment]
    command: bool = True  # Whether it has a name on the command line; others are meant by the options of one that has.

    # Where it has no part.

    most_dimensions: int | None = None  # Beyond these it is out of reach; None where there is no limit.
    needs_delta: bool = False  # Whether it only exists under (epsilon, delta).
    # Why it has no part in a question of its kind, in one sentence; None where it has. Nothing is made for it.
    limit: Callable[[PublicInputs], str | None] = lambda facts: None
    check: Callable[[Any], None] = lambda sketch: None  # Refuses what it could do but nobody should be advised to.

    # What people read of it.

    rank: int = LAST  # Its place in lists, small ones first.
    called: str = ""  # In a sentence; the title when empty.
    several: bool = False  # Whether that is plural.
    plainly: str = ""  # What it does, in a few words with its name beside it; the title when empty.
    because: Callable[[Any], str] = lambda sketch: "by its forecast"  # Why a sketch of it is the best, as a clause.
    otherwise: str = "what its grid is too coarse for"  # What its error comes from where it is not noise.
    # What a sketch of it holds; fits after "it holds".
    holds: Callable[[Any], str] = lambda sketch: f"{sides(sketch.shape)} counters"
    # What a sketch of it measures by; fits after "is measured by". None where its kernel says that, or the L1 distance.
    measure: Callable[[Any], str] | None = None
    choice: PrivateChoice | None = None  # What it chooses under noise.

    # What is tried with it.

    # Small columns that an audit attacks, as options of the command line.
    example: Mapping[str, object] = field(default_factory=lambda: {"bounds": ["x=0:1"]})
    # Small ones that use every compiled loop of the file.
    warm: Callable[[], Iterable[LinearSketch | Adaptive]] = tuple

    def __post_init__(self) -> None:
        if self.options is None:
            usual = frozenset({"--size", "--seed"})
            object.__setattr__(self, "options", usual | KERNEL_OPTIONS if self.answers == "closeness" else usual)
        for name, otherwise in (("called", self.title), ("plainly", self.title)):
            object.__setattr__(self, name, getattr(self, name) or otherwise)

    @property
    def rival(self) -> bool:
        """Whether it is there to compare with: it can be asked what others are asked, and is never recommended."""
        return self.make is not None and self.answers in ANSWERED and not self.recommended

    def made_from(self, facts: PublicInputs) -> LinearSketch | Adaptive:
        """The mechanism from public facts; RequestError where it cannot answer, or is only made in Python."""
        if self.make is None:
            raise RequestError(f"{self.title} is only made in Python.")
        return self.make(facts)

    def refusal(self, facts: PublicInputs) -> str | None:
        """Why it has no part in a question, from public facts and without making anything; None where it has."""
        asked = "distance" if facts.kernel is None else "closeness"
        if self.answers != asked:
            return f"{self.title} answers sums of {ANSWERED.get(self.answers, self.answers)}."
        if self.sets != facts.compares_sets:
            return f"{self.title} compares {'sets' if self.sets else 'points and no sets'}."
        if self.most_dimensions is not None and facts.domain.dimensions > self.most_dimensions:
            return (
                f"{self.title} is out of reach beyond {self.most_dimensions:,} dimensions, and there are "
                f"{facts.domain.dimensions:,}."
            )
        if self.needs_delta and facts.budget.pure:
            return f"{self.title} only exists under (ε, δ), and δ is 0."
        return self.limit(facts)


def only_l1(title: str) -> Callable[[PublicInputs], str | None]:
    """The limit of a mechanism for sums of L1 distances alone."""

    def limit(facts: PublicInputs) -> str | None:
        if facts.norm in L1_NORMS[facts.domain.dimensions == 1]:
            return None
        return f"{title} answers sums of L1 distances, and the question is {facts.norm}."

    return limit


def only_where(title: str, fits: Callable[[PublicInputs], bool]) -> Callable[[PublicInputs], str | None]:
    """The limit of a mechanism for some distances alone."""
    return lambda facts: None if fits(facts) else f"{title} answers another distance than {facts.norm}."


def columns(sketch: LinearSketch) -> str:
    """How much there is to compare, in words."""
    domain, dimensions = sketch.domain, sketch.domain.dimensions
    alone = dimensions == 1 or (len(domain.columns) == 1 and domain.circles)
    return "one column" if alone else f"{dimensions:,} dimensions"


def sides(shape: Sequence[int]) -> str:
    """The shape of a table in words."""
    return " by ".join(f"{side:,}" for side in shape)


def trees(coordinates: int, holding: str) -> str:
    """A tree for every coordinate, in words."""
    return f"a tree for each of {count(coordinates, 'coordinate')}, of {holding}"
