"""From the options that were typed to a mechanism: which one is meant, which options it has, and the sketch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import RequestError
from . import notation
from .output import say
from .shared_options import DataOptions, GuessOptions, refuse_typed, typed
from .sketch_options import ClassOptions, SketchOptions

if TYPE_CHECKING:
    from ..domain import Domain
    from ..geometry.kernels import Gaussian, Kernel
    from ..privacy.budget import Budget
    from ..releases.forecast.recommendation import Question
    from ..sketches.adaptive import Adaptive
    from ..sketches.linear import LinearSketch
    from ..sketches.mechanism_spec import MechanismSpec

# Options of the choice by forecast.
AUTO = frozenset({"--kernel", "--bandwidth", "--power", "--norm", "--radius", "--seed"})
COMMON = {"--mechanism", "--label", "--classes", "--like", "--part"}  # Those that all have.
OTHERWISE = "gaussian"


def declared_mechanism(
    shape: SketchOptions, domain: Domain, budget: Budget, guess: GuessOptions | None = None
) -> LinearSketch | Adaptive:
    """The sketch that was typed.

    `domain`: All columns, that of the classes included. `guess`: Public guesses, where the mechanism is to be chosen by
    forecast; None where that cannot be.
    """
    from ..sketches.classes import Classes
    from ..sketches.registry import card

    name = mechanism_name(shape, domain.holds_sets)
    check_options(shape, name)
    if name == "auto":
        if guess is None:
            raise RequestError(
                "--mechanism auto cannot be given here, as there is nothing to forecast; name a mechanism."
            )
        best, sentences = recommended(shape, domain, budget, guess)
        for sentence in sentences:
            say(sentence)
        return best
    made = _made(card(name), shape, domain if shape.label is None else domain.without(shape.label), budget)
    if shape.label is None:
        return made
    if made.chooses:
        raise RequestError(f"--label cannot be given here, as the mechanism {name} makes no table a class.")
    return Classes.of(domain, shape.label, made)


def mechanism_name(shape: SketchOptions, sets: bool = False) -> str:
    """The mechanism that was named, or the one that other options imply; ``sets`` says that records are sets."""
    from ..geometry.kernels import KERNELS
    from ..sketches.registry import card, hashed

    if (named := shape.mechanism) is not None:
        return (shape.kernel == "jaccard" and named != "auto" and card(named).of_sets) or named
    if (implied := _implied(shape)) is not None:
        return implied
    if shape.kernel == "jaccard" or (sets and shape.kernel is None):
        return "minhash"
    kernel: Callable[..., Kernel] = KERNELS[shape.kernel or card("race").kernel]
    return "race" if hashed(kernel() if shape.kernel == "angular" else kernel(1.0)) else "features"


def _implied(shape: SketchOptions) -> str | None:
    """The mechanism that a typed option belongs to alone, rivals apart; RequestError where options contradict it."""
    given = [option for option in typed(shape) if option not in COMMON]
    alone = {option: owners[0] for option in given if len(owners := _owners(option)) == 1}
    if not alone:
        return None
    (first, name), *others = alone.items()
    for option, other in others:
        if other != name:
            raise RequestError(
                f"{option} cannot be given beside {first}, as the one belongs to the mechanism {other} and the other "
                f"to {name}."
            )
    strange = [option for option in given if option not in options_of(name)]
    if strange and shape.norm is None:  # distances are asked for by a norm, and say so themselves
        raise RequestError(
            f"{first} cannot be given here, as it belongs to the mechanism {name}, and {strange[0]} does not."
        )
    return name


def options_of(name: str) -> frozenset[str]:
    """The options that a mechanism has, beside those that all have."""
    from ..sketches.registry import card

    return AUTO if name == "auto" else card(name).options


def check_typed(shape: SketchOptions) -> None:
    """Refuse what a named mechanism or kernel has not, before anything is opened, bought or said.

    Without a name the columns decide, which are declared later; parts are checked one by one, and --like by its file.
    """
    if (shape.mechanism or shape.kernel) and not shape.part and shape.like is None:
        check_options(shape, mechanism_name(shape))


def check_options(shape: SketchOptions, name: str) -> None:
    """Refuse options that another mechanism has, and this one not."""
    own = options_of(name)
    for option in typed(shape):
        if option not in own | COMMON:
            owners = " or ".join(_owners(option))
            owner = f"the mechanism {owners}" if owners else "the rivals from papers"
            raise RequestError(f"{option} cannot be given here, as it belongs to {owner}, and this is {name}.")
    if shape.project is None:
        refuse_typed([option for option in typed(shape) if option == "--projection"], "--project says no dimensions")
        if name not in ("distance", "auto") and shape.radius is not None:
            raise RequestError("--radius cannot be given here, as it needs --project, or the norm l2 or squared.")
        if "--project" in own and "--kernel" not in own:
            refuse_typed(["--seed"] if shape.seed is not None else [], f"{name} are random only with --project")
    check_classes(shape)


def _owners(option: str) -> list[str]:
    """The mechanisms that have an option, rivals apart."""
    from ..sketches.registry import cards

    return [card.name for card in cards().values() if card.command and not card.rival and option in card.options]


def check_classes(shape: ClassOptions) -> None:
    """Refuse classes without a column that says them."""
    if shape.label is None:
        refuse_typed(["--classes"] if shape.classes is not None else [], "--label does not say which column holds them")


def declared_kernel(shape: SketchOptions, domain: Domain, otherwise: str = OTHERWISE) -> Kernel:
    """The kernel, with one bandwidth or one a column."""
    from ..geometry.kernels import KERNELS, Angular, Jaccard

    name = shape.kernel or otherwise
    kind = KERNELS[name]
    if kind is Jaccard:
        if shape.bandwidth is not None or shape.power != 1:
            raise RequestError("The jaccard kernel has no bandwidth and no power: it is the share of common items.")
        return Jaccard()
    if kind is Angular:
        if shape.bandwidth is not None:
            raise RequestError("The angular kernel has no bandwidth, as angles need no unit; raise its --power.")
        return Angular(shape.power)
    if shape.bandwidth is None:
        raise RequestError(
            f"The {name} kernel needs a --bandwidth: the distance at which closeness fades, in the units of the "
            "columns; with --mechanism auto the gaussian one needs none."
        )
    made: Callable[..., Kernel] = kind
    return made(notation.parse_bandwidth(shape.bandwidth, domain.names), shape.power)


def seed_of(shape: SketchOptions) -> int | None:
    """The public seed that was typed, if any."""
    return None if shape.seed is None else notation.parse_seed(shape.seed)


def _made(card: MechanismSpec, shape: SketchOptions, domain: Domain, budget: Budget) -> LinearSketch | Adaptive:
    """The mechanism of a card, from what was typed."""
    from ..sketches import registry
    from ..sketches.mechanism_spec import PublicInputs

    kernel = _kernel_of(card, shape, domain) if "--kernel" in card.options else None
    facts = PublicInputs(
        domain,
        budget,
        kernel,
        shape.norm,
        shape.rows if "--rows" in card.options else shape.size,
        seed_of(shape),
        shape.radius,
        shape.width,
        shape.groups,
        shape.project,
        shape.projection,
        shape.scheme,
        shape.longest,
        shape.halvings,
        "pairs" if shape.tables is None else notation.parse_tables(shape.tables),
        () if shape.by is None else notation.parse_names(shape.by),
        shape.cut_for or "questions",
    )
    if "--norm" not in card.options:
        return card.made_from(facts)
    if shape.norm is None:
        raise RequestError(
            f"The mechanism {card.name} needs a --norm: l1, l2, squared, lp:P, capped:C, above or below."
        )
    return registry.candidates(facts)[0].made_from(facts)  # the norm decides which one is meant


def _kernel_of(card: MechanismSpec, shape: SketchOptions, domain: Domain) -> Kernel:
    """The kernel that was typed, or the mechanism's usual one; without a bandwidth it has no other."""
    if "--bandwidth" not in card.options and shape.kernel not in (None, card.kernel):
        raise RequestError(f"The mechanism {card.name} is for the kernel {card.kernel}, and this is {shape.kernel}.")
    return declared_kernel(shape, domain, card.kernel)


def recommended(
    shape: SketchOptions, domain: Domain, budget: Budget, guess: GuessOptions
) -> tuple[LinearSketch, list[str]]:
    """The first choice of the recommendation, and what is to be said of it."""
    from ..releases.forecast.recommendation import recommend

    asked, how_finely = question(shape, domain, budget, guess)
    sample = guess.public_sample(domain if shape.label is None else domain.without(shape.label))
    best = recommend(
        domain,
        guess.records,
        budget,
        asked,
        label=shape.label,
        density=guess.density,
        sample=sample,
        set_size=guess.set_size,
    )[0]
    if best.sketch is None:
        raise RequestError(f"No mechanism fits: {best.reason}")
    return best.sketch, [*how_finely, best.reason]


def leaves_bandwidth(shape: SketchOptions, domain: Domain) -> bool:
    """Whether the bandwidth is left to what follows from public facts and the promise, or is bought."""
    return (
        shape.mechanism == "auto"
        and shape.norm is None
        and shape.bandwidth is None
        and shape.kernel in (None, OTHERWISE)
        and shape.power == 1
        and not domain.holds_sets
    )


def needs_spread(shape: SketchOptions, domain: Domain) -> bool:
    """Whether the bandwidth is left out, and columns are too many for a grid whose readers choose it."""
    from ..releases.forecast.scales import has_scales

    compared = domain if shape.label is None else domain.without(shape.label)
    return leaves_bandwidth(shape, domain) and not has_scales(compared)


def supposing(shape: SketchOptions, domain: Domain, guess: GuessOptions) -> GuessOptions:
    """The guesses with the usual spread, where one is needed and nobody said or bought it."""
    from ..releases.forecast.reference_population import DEFAULT_SPREAD

    known = guess.spread is not None or not needs_spread(shape, domain)
    return guess if known else replace(guess, spread=DEFAULT_SPREAD)


def question(shape: SketchOptions, domain: Domain, budget: Budget, guess: GuessOptions) -> tuple[Question, list[str]]:
    """What is asked, for the recommendation; without a bandwidth, it follows from public facts, as is said."""
    from ..releases.forecast.recommendation import Closeness, Distances
    from ..releases.forecast.scales import chosen_scales
    from ..sketches.mechanism_spec import KERNEL_OPTIONS

    if shape.norm is not None:
        refuse_typed([option for option in typed(shape) if option in KERNEL_OPTIONS], "--norm asks for distances")
        return Distances(shape.norm, shape.radius, seed_of(shape)), []
    compared = domain if shape.label is None else domain.without(shape.label)
    if needs_spread(shape, domain) and guess.spread is not None:
        suited, said = _kernel_of_spread(shape, domain, compared, budget, guess)
        return Closeness(suited, shape.radius, seed_of(shape)), [said]
    if leaves_bandwidth(shape, domain) and not needs_spread(shape, domain):
        classes = 1 if shape.label is None else len(domain.categories_of(shape.label))
        scales = chosen_scales(compared, budget, guess.records and guess.records / classes)
        return Closeness(scales.kernel, shape.radius, seed_of(shape), finest=scales.finest), [scales.sentence]
    kernel = declared_kernel(shape, compared, "jaccard" if domain.holds_sets else OTHERWISE)
    return Closeness(kernel, shape.radius, seed_of(shape)), []


def _kernel_of_spread(
    shape: SketchOptions, domain: Domain, compared: Domain, budget: Budget, guess: GuessOptions
) -> tuple[Gaussian, str]:
    """The kernel that suits how far records lie apart, and what is to be said of it."""
    from ..formatting.numbers import percent
    from ..models.prospects import class_kernel
    from ..releases.forecast.kernel_choice import kernel_apart
    from ..releases.forecast.one_trial import checked_records, checked_spread

    spread = checked_spread(guess.spread or 0.0)
    if shape.label is None:
        made, why = kernel_apart(compared, spread), "half of how far two records are then typically apart"
    else:
        made = class_kernel(domain, shape.label, budget, checked_records(guess.records), spread)
        why = "which tells made-up classes apart best that are spread as widely"
    return made, (
        f"A typical value is taken to lie {percent(spread, 2)} of its column's bounds from the middle of all; the "
        f"bandwidth is {_in_words(made, compared)}, {why}."
    )


def _in_words(kernel: Gaussian, domain: Domain) -> str:
    """The bandwidth in the unit of the columns, such as km, or the shortest and the longest of theirs."""
    from ..formatting.numbers import significant

    each, units = kernel.bandwidth, {getattr(column, "measure", "") for column in domain.columns}
    unit = f" {units.pop()}".rstrip() if len(units) == 1 and domain.scale != "box" else ""
    if not isinstance(each, tuple):
        return f"{significant(each, 3)}{unit}"
    return f"from {significant(min(each), 3)} to {significant(max(each), 3)}{unit} by column"


def _scales(data: DataOptions) -> tuple[str | None, tuple[str, ...]]:
    """What ``--scale`` says of all columns, and the columns that it calls amounts."""
    return (None, ()) if data.scale is None else notation.parse_scale(data.scale)


def evenly_compared(data: DataOptions, domain: Domain, norm: str | None, radius: float | None) -> Domain:
    """The domain for sums of distances: columns of very different ranges are compared as shares of their bounds.

    Not where ``--scale`` or a declaration says how they compare, nor where a length is typed in the columns' own units.
    """
    from ..domain.domain import evenly_scaled, unlike_widths

    widths = unlike_widths(domain)
    said = _scales(data)[0] is not None or data.declaration is not None or radius is not None
    if widths is None or said or norm is None or norm.startswith("capped"):
        return domain
    say(
        f"The range of {widths.widest!r} is {widths.times:,.3g} times that of {widths.narrowest!r}, so each column is "
        "compared as a share of its bounds, and distances are in such shares; --scale none keeps their own units."
    )
    return evenly_scaled(domain)


def warn_of_wide_column(data: DataOptions, domain: Domain, bandwidth: str | None = None) -> None:
    """Say where one column's range makes up nearly all of every distance, and nothing was said about it.

    Bandwidths of their own say how columns compare, and so does ``--scale``.
    """
    from ..domain.domain import unlike_widths

    widths = unlike_widths(domain)
    if widths is None or _scales(data)[0] is not None or "=" in (bandwidth or ""):
        return
    say(
        f"The range of {widths.widest!r} is {widths.times:,.3g} times that of {widths.narrowest!r}, so nearly all "
        f"distance is along it, and noise that suits it drowns {widths.narrowest!r}: --scale box compares each column "
        "as a share of its bounds, and --scale none keeps their own units without this warning."
    )
