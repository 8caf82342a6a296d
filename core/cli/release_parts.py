"""Several questions in one release: what `--part` says, and the sketch that it comes to.

    density:age,pay                            the best mechanism by forecast for closeness in two columns
    distance:pay                               distances along one column
    tables:pairs                               counts of all pairs of columns; or singles, or pairs-of=age,pay,sex
    moments                                    sums of all columns and of their products, which say every regression
    features:age,pay                           a mechanism by its name
    "pay by sex=density:pay;label=sex"         with a name of its own, and options as on the command line
    "race:age,pay;bandwidth=0.1;weight=2"      half as much error as a part of weight 1
    "distance:pay;share=0.3"                   three tenths of the budget; the others share the rest by weight

Options that are typed beside the parts hold for every part that has them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from ..errors import RequestError
from . import notation
from .mechanisms import declared_mechanism, mechanism_name, options_of, supposing
from .output import say
from .shared_options import GuessOptions, refuse_typed, typed
from .sketch_options import SketchOptions, mechanisms

if TYPE_CHECKING:
    from ..domain import Domain
    from ..privacy.budget import Budget
    from ..sketches.parts import Parts

DENSITY, DISTANCE, MOMENTS, TABLES = "density", "distance", "moments", "tables"
OF_PARTS = (
    "weight",
    "share",
    "scale",
    "category-distance",
)  # What is said of a part alone, beside the options of a mechanism.
NOT_OF_PARTS = ("mechanism", "like", "part", "classes")
HOW = "[NAME=]WHAT[:COLUMN,COLUMN][;OPTION=VALUE]..., such as density:age,pay or 'pay by sex=density:pay;label=sex'"


@dataclass(frozen=True)
class Asked:
    """One part as it was typed."""

    name: str  # "" where none was typed.
    what: str  # Density, distance, moments, or a mechanism.
    columns: tuple[str, ...]  # None where all are meant.
    options: dict[str, str] = field(default_factory=dict)  # By name, as typed.

    @classmethod
    def of(cls, text: str) -> Asked:
        """What a text says; RequestError when it is not written so."""
        head, *rest = text.split(";")
        before, colon, columns = head.partition(":")
        name, equals, what = before.rpartition("=")
        options: dict[str, str] = {}
        for one in rest:
            option, given, value = (piece.strip() for piece in one.partition("="))
            if not given or not option or not value or option in options:
                raise RequestError(f"The part {text!r} must be written as {HOW}.")
            options[option] = value
        if not what.strip() or (equals and not name.strip()) or (colon and not columns.strip()):
            raise RequestError(f"The part {text!r} must be written as {HOW}.")
        if what.strip() == TABLES and columns.strip() in ("singles", "pairs"):  # of all columns
            options.setdefault("tables", columns.strip())
            colon = ""
        columns = columns.strip().removeprefix("pairs-of=")
        names = notation.parse_names(columns.strip()) if colon else ()
        return cls(name.strip(), what.strip(), names, options)

    def domain_in(self, domain: Domain) -> Domain:
        """The columns of the part, that of its groups last, and how it compares them."""
        label = self.options.get("label")
        round_ones = domain.circles if self.what == MOMENTS else ()  # which have no mean and no product
        names = self.columns or tuple(name for name in domain.names if name != label and name not in round_ones)
        names += () if label is None or label in names else (label,)
        unknown = [name for name in names if name not in domain.names]
        if unknown:
            raise RequestError(
                f"The part {self.what!r} is of a column {unknown[0]!r}, and the columns are {', '.join(domain.names)}."
            )
        by_name = {column.name: column for column in domain.columns}
        own: dict[str, Any] = {"columns": tuple(by_name[name] for name in names)}
        if "scale" in self.options:
            own["scale"] = self.options["scale"]
        if "category-distance" in self.options:
            own["category_distance"] = notation.parse_number(self.options["category-distance"], "The category distance")
        return replace(domain, **own)

    @property
    def weight(self) -> float:
        """How much its answers matter."""
        weight = notation.parse_number(self.options.get("weight", "1"), f"The weight of the part {self.what!r}")
        if weight <= 0:
            raise RequestError(f"The weight of the part {self.what!r} must be above 0, beside 1 for the others.")
        return weight

    @property
    def share(self) -> float | None:
        """Of the budget, where it is fixed."""
        if "share" not in self.options:
            return None
        share = notation.parse_number(self.options["share"], f"The share of the part {self.what!r}")
        if not 0 < share < 1:
            raise RequestError(f"The share of the part {self.what!r} must lie between 0 and 1, as of the whole budget.")
        return share

    def shape(self, beside: SketchOptions) -> SketchOptions:
        """The options of its mechanism: its own, and those that were typed beside the parts where it has them."""
        mechanism = self._mechanism()
        shape = SketchOptions(**self._typed(), mechanism=mechanism)
        if mechanism == DISTANCE and shape.norm is None:
            shape = replace(shape, norm=beside.norm or "l1")
        own = options_of(mechanism_name(shape))
        given = typed(shape)
        common = {
            one.name: getattr(beside, one.name)
            for one in fields(beside)
            if (option := f"--{one.name.replace('_', '-')}") in typed(beside) and option in own and option not in given
        }
        if self.what == DENSITY:
            common.pop("norm", None)
        return replace(shape, **common)

    def _mechanism(self) -> str:
        if self.what == DENSITY:
            sized = {"rows", "width", "size", "groups"} & set(self.options)
            return "race" if sized else "auto"
        if self.what == MOMENTS:
            return "products"
        if self.what not in mechanisms():
            raise RequestError(
                f"There is no part {self.what!r}: it is {DENSITY}, {DISTANCE}, {MOMENTS}, or what --mechanism may name."
            )
        return self.what

    def _typed(self) -> dict[str, Any]:
        """The options as a command would have read them."""
        known = {one.name.replace("_", "-"): one for one in fields(SketchOptions) if one.name not in NOT_OF_PARTS}
        found: dict[str, Any] = {}
        for option, value in self.options.items():
            if option in OF_PARTS:
                continue
            if option not in known:
                raise RequestError(f"A part has no option {option!r}; it may have {', '.join((*OF_PARTS, *known))}.")
            found[known[option].name] = _read(option, value)
        return found


def _read(option: str, value: str) -> object:
    """A value as its option holds it."""
    if option in ("rows", "width", "size", "groups", "project", "longest", "power", "halvings"):
        if not value.isdecimal():
            raise RequestError(f"The option {option!r} of a part must be a whole number.")
        return int(value)
    return notation.parse_number(value, f"The option {option!r} of a part") if option == "radius" else value


def domain_of_chosen(shape: SketchOptions, domain: Domain) -> Domain | None:
    """The columns of all parts, where one of them is chosen by forecast; else None."""
    from ..sketches.part import joined

    asked = [Asked.of(text) for text in shape.part or ()]
    if all(one.shape(shape).mechanism != "auto" for one in asked):
        return None
    return joined([one.domain_in(domain) for one in asked])


def declared_parts(shape: SketchOptions, domain: Domain, budget: Budget, guess: GuessOptions | None) -> Parts:
    """The parts that were typed, without shares yet."""
    from fractions import Fraction

    from ..formatting.numbers import listed
    from ..releases.forecast.forecast_shares import budget_of_share
    from ..sketches.part import Part
    from ..sketches.parts import Parts

    refuse_typed(
        [one for one in typed(shape) if one in ("--mechanism", "--label", "--classes")], "each --part says its own"
    )
    asked = [Asked.of(text) for text in shape.part or ()]
    shapes = [one.shape(shape) for one in asked]
    used = {option for own in shapes for option in typed(own)}
    unused = [option for option in typed(shape) if option not in used and option != "--part"]
    refuse_typed(unused, "no --part has it")
    whole = sum(one.weight for one in asked)
    members = []
    domains = [one.domain_in(domain) for one in asked]
    for one, own, columns in zip(asked, shapes, domains, strict=True):
        if one.what == MOMENTS and not one.columns and domain.circles:
            say(f"The part {one.name or one.what!r} is of all columns but {listed(domain.circles)}, a circle.")
        if own.mechanism == "auto" and (guess is None or guess.records is None):
            raise RequestError(
                f"The part {one.what!r} is chosen by forecast, which needs to know how many records there are at "
                "least: say --records, or name a mechanism in its place."
            )
        share = budget_of_share(budget, Fraction(one.share or one.weight / whole))
        supposed = guess and supposing(own, columns, guess)
        if supposed != guess:
            say(
                f"Nobody said how far records lie apart for the part {one.name or one.what!r}, so a sixth of the "
                "bounds is supposed; --spread says it from public knowledge."
            )
        sketch = declared_mechanism(own, columns, share, supposed)
        if sketch.chooses:
            raise RequestError(f"The mechanism {sketch.name} shares its budget out by itself; release it apart.")
        members.append(Part(sketch, one.name, one.weight, share=one.share))
    return Parts.of(members)


def settled(parts: Parts, budget: Budget, guess: GuessOptions) -> Parts:
    """The parts with sizes and shares by forecast, which is said."""
    from ..formatting.numbers import percent
    from ..releases.forecast.forecast_shares import settle
    from ..sketches.part import joined
    from ..sketches.plan import plan_parts

    if parts.settled:
        return parts
    sample = guess.public_sample(joined([part.sketch.query_domain for part in parts.parts]))
    made = settle(parts, budget, guess.records, guess.density, sample, guess.set_size)
    shares = plan_parts(made, budget).shares
    listed = "; ".join(
        f"{part.name}: {percent(float(share), 2)}" for part, share in zip(made.parts, shares, strict=True)
    )
    rest = "what is left of the budget" if any(part.share is not None for part in made.parts) else "the budget"
    say(f"The forecast shares {rest} so that noise blurs all parts alike: {listed}.")
    return made
