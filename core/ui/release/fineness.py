"""Step 3 of a release: how fine it is, and what is guessed about the data to forecast with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...analysis.density import grid
from ...domain import Coordinate, Domain, Numeric
from ...figures.bandwidth_figures import kernel_figure, kernel_in_words, smoothing_figure, smoothing_in_words
from ...figures.release_pictures import in_words, picture_figure
from ...formatting.escapes import in_markdown
from ...formatting.numbers import significant
from ...geometry.kernels import (
    MAX_POWER,
    Angular,
    Bandwidth,
    Euclidean,
    Exponential,
    Gaussian,
    Kernel,
    Laplacian,
    Manhattan,
    Smooth,
    SmoothL1,
    SmoothSquared,
    Stationary,
)
from ...lab.release_lessons import SIZE, of_made_up
from ...privacy.ledger.ledger import Ledger
from ...releases.forecast.draft import Draft
from ...releases.forecast.kernel_choice import (
    DEFAULT_SHARE,
    FACTORS,
    SHARES,
    distance_words,
    factor_words,
    kernel_at,
    stretched,
    suggested_kernel,
)
from ...releases.forecast.scales import Scales, chosen_scales, has_scales
from ...sources.public_tables import Sample
from ..frame.marks import note, show
from ..frame.visiting import turn
from ..released.chosen_view import drawable
from .bought_first import can_find, finding_first, supposed
from .several import added

AUTOMATIC, BY_HAND = "Automatic", "By hand"
KERNELS: dict[str, type[Kernel]] = {
    "Gaussian": Gaussian,
    "Exponential": Exponential,
    "Laplacian": Laplacian,
    "Euclidean": Euclidean,
    "Manhattan": Manhattan,
    "Smooth": Smooth,
    "Smooth, squared": SmoothSquared,
    "Smooth, city blocks": SmoothL1,
    "Angular": Angular,
}
FALLING = {
    "Gaussian": "Distance in a straight line. Closeness falls like a bell: far records hardly count.",
    "Exponential": "Distance in a straight line. Closeness falls fast at first, then evenly.",
    "Laplacian": "Differences of all columns added up. Closeness falls off fast and evenly.",
    "Euclidean": "Distance in a straight line. At power 1, closeness falls off slowly: far records count too.",
    "Manhattan": "Differences of all columns added up. At power 1, closeness falls off slowly.",
    "Smooth": "Distance in a straight line. Closeness falls off slowly, like one over the distance.",
    "Smooth, squared": "Distance in a straight line. Closeness is broad near by, and falls like one over its square.",
    "Smooth, city blocks": "Differences of all columns added up. Closeness falls off slowly, like one over them.",
    "Angular": "The angle between two records, seen from zero: for directions and profiles, not for places.",
}
NEARNESS = "Within about this distance people count as close. Nearer shows more detail, and drowns sooner in noise."
# Coarse on purpose: an exact number of records would be a private fact.
RECORDS = tuple(digit * 10**zeros for zeros in range(2, 10) for digit in (1, 3))
DENSITIES = (0.003, 0.01, 0.03, 0.1, 0.3)
DENSITY_WORDS = {None: "I cannot say", 0.003: "3 in 1,000", 0.03: "3 in 100", 0.3: "3 in 10"}


def choose_scale(draft: Draft, number: int) -> Draft:
    """Whether columns are compared in their own units, or so that all of them count the same."""
    if len(draft.domain.columns) == 1:
        return draft
    key = f"release-box-{number}"
    st.session_state.setdefault(key, draft.domain.scale == "box")
    box = st.toggle(
        "Let every column count the same, whatever its unit",
        key=key,
        persist_state="session",
        wrap=True,
        help="From bound to bound is then equally far in every column. Off, a metre counts like a year, and the column "
        "of the largest numbers decides who is close. It uses the bounds you typed and nothing of the data.",
    )
    return replace(draft, domain=replace(draft.domain, scale="box" if box else "none"))


def choose_fineness(
    draft: Draft, number: int, sample: Sample | None, ledger: Ledger, detail: DeltaGenerator
) -> tuple[Draft, bool, Callable[[Draft], Draft] | None]:
    """Kernel and bandwidth, whether the owner settles the size by hand, and what settles the rest once the budget is.

    A sample starts with the kernel that suits it. Where distances are asked for there is nothing to choose: how finely
    they are told apart follows from the budget. Of more columns than a grid is for, the release finds the distance
    unless its owner says it. What may be changed is drawn in ``detail``, and what follows from it in view.
    """
    if not draft.measures_closeness:
        return draft, False, None
    domain = draft.compared
    suggested = None if sample is None else suggested_kernel(domain, sample)
    how = detail.segmented_control(
        "How fine", [AUTOMATIC, BY_HAND], required=True, default=AUTOMATIC, key="release-how", persist_state="session"
    )
    if how == AUTOMATIC and suggested is None:
        kernel, settling = _by_forecast(draft, number, ledger, detail)
        return replace(draft, kernel=kernel), False, settling
    if how == AUTOMATIC:
        with detail:
            kernel = _suggested_nearness(suggested, number)
        _draw(domain, kernel)
        return replace(draft, kernel=kernel), False, None
    with detail:
        kernel = _kernel(domain, number, suggested or kernel_at(domain, DEFAULT_SHARE))
    note("Set by hand, under Fine-tune.")
    _draw(domain, kernel)
    return replace(draft, kernel=kernel), True, None


def _by_forecast(
    draft: Draft, number: int, ledger: Ledger, detail: DeltaGenerator
) -> tuple[Kernel, Callable[[Draft], Draft] | None]:
    """A kernel to begin with, and what settles it once the budget is; nothing, where the owner says the distance."""
    usual = kernel_at(draft.compared, DEFAULT_SHARE)
    if follows_budget(draft):
        return usual, chosen_by_forecast
    found = can_find(draft, number)
    with detail:
        if found and _finds(number):
            return usual, lambda known: finding_first(known, ledger)
        share = _nearness(draft.compared, number, (DEFAULT_SHARE,) if found else ())
    if share is None:
        return usual, supposed
    kernel = kernel_at(draft.compared, share)
    _draw(draft.compared, kernel)
    return kernel, None


def _finds(number: int) -> bool:
    """Whether the release should find the distance by itself, which it does unless its owner says otherwise."""
    return st.toggle(
        "Let the release find the distance, for a few percent of ε",
        True,
        key=f"release-finds-{number}",
        persist_state="session",
        wrap=True,
        help="Which distance counts as close decides what can be seen, and it depends on how far the records lie "
        "apart, which nobody may look up. Off, you say the distance from public knowledge, and nothing is paid for it.",
    )


def follows_budget(draft: Draft) -> bool:
    """Whether how finely people can look follows from the budget, and they choose the distance themselves."""
    return draft.measures_closeness and has_scales(draft.compared)


def chosen_by_forecast(draft: Draft) -> Draft:
    """The draft of a settled budget, as fine as its noise allows; what will be seen, and the curve behind it."""
    groups = 1 if draft.label is None else len(draft.domain.categories_of(draft.label))
    with turn():
        scales = chosen_scales(draft.compared, draft.promise, draft.records / groups)
    usual = scales.in_words(scales.bandwidth)
    if draft.label is None:
        st.markdown("**Whoever has the file chooses how closely to look.**")
        note(scales.detail)
    else:
        st.markdown("**How near counts as close follows from the noise.**")
        note(
            f"A new record is compared with the {draft.counted} of each group within about {usual}, and with hardly "
            f"any beyond three times that. {scales.detail}"
        )
    show(smoothing_figure(scales), "release-smoothing-figure", smoothing_in_words(scales))
    if draft.label is None:
        _preview(draft, scales)
    note(
        f"The grid is released once, with its noise; smoothing it costs nothing. Answers are given at a bandwidth of "
        f"{usual} where nobody chooses another."
    )
    return replace(draft, kernel=scales.kernel, finest=scales.finest)


def _preview(draft: Draft, scales: Scales) -> None:
    """A map of made-up people, as this budget would show them: whether places are told apart is seen before paying."""
    columns = draft.compared.columns
    if len(columns) != 2 or not all(isinstance(column, (Numeric, Coordinate)) for column in columns):
        return
    if st.toggle("See it on made-up people", key="release-preview", persist_state="session"):
        with turn():
            made = of_made_up(scales.sketch, draft.promise, draft.records)
            x, y = drawable(made.domain)
            picture = grid(made, x, y, size=SIZE)
        show(picture_figure(made, picture), "release-preview-figure", in_words(made, picture))
        note("They are in five places, each a twentieth of the bounds wide. Yours are not looked at.")


def _nearness(domain: Domain, number: int, instead: Sequence[float]) -> float | None:
    """The distance that the owner says, as a share of the widest bounds; None leaves it to what is usual.

    `instead`: Where the slider begins, where it has to be said.
    """
    return st.select_slider(
        f"How near is “here”? Each {domain.one_record} counts half at a distance of",
        SHARES if instead else (None, *SHARES),
        *instead,
        key=f"release-share-{number}",
        format_func=lambda share: "what suits ordinary records" if share is None else distance_words(domain, share),
        persist_state="session",
        help=NEARNESS,
    )


def _suggested_nearness(suggested: Kernel, number: int) -> Kernel:
    factor = st.select_slider(
        "How near is “here”? The sample comes with a distance that suits it",
        FACTORS,
        1.0,
        key=f"release-factor-{number}",
        format_func=factor_words,
        persist_state="session",
        help=NEARNESS,
    )
    return stretched(suggested, factor)


def _kernel(domain: Domain, number: int, start: Stationary) -> Kernel:
    """A kernel by hand; it starts as ``start``, and has one bandwidth a column where that one has."""
    named, sharp = st.columns([2.4, 0.8], gap="medium")
    kinds = list(KERNELS)
    name = named.selectbox(
        "Kernel",
        kinds,
        list(KERNELS.values()).index(type(start)),
        key=f"release-kernel-{number}",
        persist_state="session",
    )
    power = sharp.number_input(
        "Power",
        1,
        MAX_POWER,
        start.power,
        key=f"release-power-{number}",
        persist_state="session",
        help="How many hashes must agree in a row: the more, the less do far records count.",
    )
    if KERNELS[name] is Angular:
        note(FALLING[name])
        return Angular(power)
    bandwidth = _bandwidth(domain, number, start.bandwidth)
    note(FALLING[name])
    return KERNELS[name](bandwidth, power)


def _bandwidth(domain: Domain, number: int, start: Bandwidth) -> Bandwidth:
    """One number, or one a column in the order of the domain."""
    unit = "where 1 is from bound to bound" if domain.scale == "box" else "in the unit of the columns"

    def field(label: str, name: str, value: float) -> float:
        key = f"release-bandwidth-{number}-{domain.scale}{name}"
        st.session_state.setdefault(key, value)
        return st.number_input(
            label,
            1e-12,
            1e12,
            step=None,
            format="%.12g",
            key=key,
            persist_state="session",
            width=150,
            help=f"The distance at which closeness fades, {unit}.",
        )

    if not isinstance(start, tuple):
        return field("Bandwidth", "", start)
    with st.container(horizontal=True, gap="small"):
        pairs = zip(domain.names, start, strict=True)
        return tuple(field(f"Bandwidth of {in_markdown(name)}", f"-{name}", value) for name, value in pairs)


def _draw(domain: Domain, kernel: Kernel) -> None:
    words = kernel_in_words(domain, kernel)
    show(kernel_figure(domain, kernel), "release-kernel-figure", words)
    note(words)


def choose_records(draft: Draft, number: int, sample: Sample | None, by_hand: bool = False) -> Draft:
    """How many there are: a public guess, by which is forecast, and by which is released where its owner says so.

    A sample has its own. Otherwise a release whose size follows from their number counts its records first, unless it
    is made by hand or of several questions.
    """
    if sample is not None:
        draft = replace(draft, records=sample.records_guess)
    can_count = sample is None and draft.has_places and not by_hand and not added(number)
    said = not can_count or st.toggle(
        "Say how many records there are, as it is no secret",
        key=f"release-records-said-{number}",
        persist_state="session",
        wrap=True,
        help="Off, the release counts its records first, with noise, for a fiftieth of ε, and the size of the file "
        "follows from that. On, it follows from what you say, and nothing is paid for it.",
    )
    records = st.select_slider(
        "How many records there are at least" if said else "About how many records there may be, for this forecast",
        sorted({*RECORDS, draft.records}),
        draft.records,
        format_func=lambda records: f"{records:,}",
        key=f"release-records-{number}",
        persist_state="session",
        help="Say what anyone may know, and do not count your records for it: what you choose here shapes the forecast "
        "and may shape the file, and is no secret. Nobody looks at the data for it.",
    )
    return replace(draft, records=records, records_said=said)


def choose_density(draft: Draft, number: int, sample: Sample | None) -> Draft:
    """A public guess of how many records are near a typical one, where that matters; a sample comes with its own."""
    if not (draft.measures_closeness and draft.has_places):
        return replace(draft, density=None)
    start = draft.density if sample is None else sample.density_guess
    density = st.select_slider(
        "Of all records, how many are near a typical one?",
        [None, *sorted({*DENSITIES, start} - {None})],
        start,
        format_func=_near_words,
        key=f"release-density-{number}",
        persist_state="session",
        help="It moves the forecast and the size of the file, and no answer: the more are near, the larger a typical "
        "count is beside its noise. Who cannot say gets a forecast for people spread over a sixth of the bounds.",
    )
    return replace(draft, density=density)


def _near_words(density: float | None) -> str:
    """A step of how many records are near a typical one."""
    return DENSITY_WORDS.get(density) or f"{significant(100 * density, 3)} in 100"
