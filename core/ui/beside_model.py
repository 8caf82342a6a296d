"""Which group a place is like: by a file with groups, by a model, or by both about the same places side by side."""

from collections.abc import Callable
from typing import cast

import numpy as np
import streamlit as st

from ..analysis.classification import Classification, DecisionMap, Rate, classify, label_codes
from ..domain import Domain
from ..figures.class_figures import decision_figure, decision_in_words, probability_figure, probability_in_words
from ..figures.figure_axes import View
from ..formatting.escapes import in_markdown
from ..formatting.numbers import listed, percent, plural
from ..models.judging import model_map, probabilities_in_order, unlike
from ..models.linear_models import LinearModel, NumberModel
from ..privacy.budget import Budget, decimal_text
from ..releases.release import Release
from ..sketches.classes import Classes
from ..sources.public_tables import bundled_groups
from .asked_groups import choose_decision, has_map, map_view, no_points_yet, points_view, rate_words
from .frame.marks import Visibility, choose_one, facts, mark, note, rail, refusals, show
from .frame.session import Opened, Session
from .released.asked_points import dropped_table, read_table, say, value_field
from .released.chosen_view import choose_two, drawable, grouped
from .released.kept_files import MODEL
from .released.opened_model import judge_view, open_model, warn_of
from .released.opening_files import drop_zone, where_it_goes
from .released.public_answers import RESOLUTION, at_place, drawn_map

PLACES, POINTS, BESIDE = "One place", "Your points", "Beside a model"


def groups_view(asked: Opened, beside: Callable[[], None] = lambda: None) -> None:
    """Which group a place is like: on a map, of a table of points, or beside a model.

    `asked`: a question that tells groups apart. `beside`: what else stands in the line of controls.
    """
    with st.container(horizontal=True, gap="small"):
        # A vector has no axes to draw a map on, so a file of vectors begins with points.
        views = [PLACES, POINTS, BESIDE] if has_map(asked.release) else [POINTS, BESIDE]
        key = "classify-view" if PLACES in views else "classify-view-of-vectors"
        view = choose_one("Places", views, key, views[0], silent=True, persist_state="session")
        rule, level = choose_decision(asked.release)
        st.space("stretch")
        beside()
    if view == PLACES:
        map_view(asked, rule, level)
        no_points_yet()
    elif view == BESIDE:
        beside_view(asked, rule, level)
        no_points_yet()
    else:
        points_view(asked, rule, level)


def open_model_here(key: str) -> LinearModel | None:
    """The model that is open, as on the page Train; a drop zone for another one."""
    model = _of_classes()
    open_model(f"classify-{key}")
    if model is not None and st.button("Close the model", key=f"classify-{key}-close", type="tertiary"):
        del st.session_state[MODEL]
        st.rerun()
    return model


def _of_classes() -> LinearModel | None:
    """The model that is open, if it tells groups apart."""
    model = st.session_state.get(MODEL)
    if isinstance(model, NumberModel):
        note(in_markdown(f"The model that is open predicts {model.named}, a number: see it on the page Train."))
    return model if isinstance(model, LinearModel) else None


def model_alone(model: LinearModel) -> None:
    """A map of the model's answers and what it says of one place, where no file with groups is open."""
    with rail(Visibility.PUBLIC, "model", "The model that is open"):
        facts((sentence, "") for sentence in model.card()[:2])
    warn_of(model)
    place = _place(model.features)
    if place is None:
        return
    _model_side(model, model.categories, place)
    st.header("On a public test file", anchor=False)
    judge_view(model, "classify-alone")


def beside_view(opened: Opened, rule: str, level: float) -> None:
    model = _of_classes()
    if model is None:
        note("Open a model that was trained for the same groups by the same columns, and see where they differ.")
        open_model_here("beside")
        return
    with st.expander("Open another model"):
        open_model_here("beside")
    release = opened.release
    why = unlike(model, release)
    if why:
        st.info(in_markdown(why))
        return
    classes = cast(Classes, release.sketch).categories
    note(_promises(model, release))
    warn_of(model)
    place = _place(release.sketch.query_domain)
    if place is not None:
        left, right = st.columns(2, gap="large")
        with left:
            _sketch_side(opened, place, rule, level)
        with right:
            _model_side(model, classes, place)
    _points(release, model, rule, level)


def _promises(model: LinearModel, release: Release) -> str:
    """Whether both keep the same promise: the one that spends more has less noise."""
    mine, theirs = model.budget, release.privacy
    if mine == Budget(theirs.epsilon, theirs.delta, theirs.neighbours):
        return f"Both keep the same promise, ε = {decimal_text(mine.epsilon)}: what differs is the method."
    return (
        f"The file keeps ε = {decimal_text(theirs.epsilon)}, δ = {decimal_text(theirs.delta)}; the model "
        f"ε = {decimal_text(mine.epsilon)}, δ = {decimal_text(mine.delta)}. Some of what differs is that."
    )


def _place(domain: Domain) -> tuple[tuple[str, str], dict[str, object]] | None:
    """The two columns of the maps, and a value for every column; None where there is nothing to draw."""
    names = drawable(domain)
    if len(names) < len(domain.columns) or len(names) < 2:
        note("There is no map, which needs two columns and no vectors.")
        return None
    x, y = choose_two(domain)
    fields = st.columns(3, gap="medium")
    values: dict[str, object] = {}
    for number, column in enumerate(domain.columns):
        with fields[number % 3]:
            values[column.name] = value_field(column, f"classify-beside-{column.name}")
    return (x, y), values


def _held(place: tuple[tuple[str, str], dict[str, object]]) -> dict[str, object]:
    (x, y), values = place
    return {name: value for name, value in values.items() if name not in (x, y)}


def _sketch_side(opened: Opened, place: tuple[tuple[str, str], dict[str, object]], rule: str, level: float) -> None:
    st.header("The file", anchor=False)
    view = View(place[0], tuple(_held(place).items()))
    drawn = drawn_map(opened.identity, opened.release, view, rule, level)
    found = at_place(opened.release, place[1], rule, level)
    _draw("file", drawn, opened.release.sketch.query_domain, place, found.probabilities[0], bool(found.certain[0]))


def _model_side(model: LinearModel, classes: tuple[str, ...], place: tuple[tuple[str, str], dict[str, object]]) -> None:
    st.header("The model", anchor=False)
    drawn = model_map(model, *place[0], _held(place), RESOLUTION, classes)
    asked = {name: [value] for name, value in place[1].items()}
    _draw("model", drawn, model.features, place, probabilities_in_order(model, asked, classes)[0], True)


def _draw(
    which: str,
    drawn: DecisionMap,
    domain: Domain,
    place: tuple[tuple[str, str], dict[str, object]],
    shares: np.ndarray,
    certain: bool,
) -> None:
    """A map with the place on it, and the probabilities at the place."""
    (x, y), values = place
    words = decision_in_words(f"What the {which} says over {listed((x, y))}", drawn)
    show(decision_figure(drawn, domain, (values[x], values[y])), f"classify-beside-map-{which}", words)
    likeliest, share = drawn.classes[int(shares.argmax())], percent(float(shares.max()))
    doubt = "" if certain else ", but the noise may have decided that"
    say(f"Most like **{likeliest}**: {share} likely{doubt}.")
    bars = probability_figure(drawn.classes, shares, certain)
    show(bars, f"classify-beside-bars-{which}", probability_in_words(drawn.classes, shares, certain))


@refusals()
def _points(release: Release, model: LinearModel, rule: str, level: float) -> None:
    """A table of places: how often both say the same, and how often each is right where a column tells."""
    st.header("Your points", anchor=False)
    mark(Visibility.PRIVATE, "Your points stay in this session; they are compared with both, never added to them")
    sketch = cast(Classes, release.sketch)
    dropped = dropped_table("points", sketch.query_domain.names, "classify-beside-points")
    if dropped is None:
        note(f"With a column {in_markdown(sketch.label)} of the true groups you see how often each of them is right.")
        return
    table = read_table(dropped, sketch.query_domain)
    found = classify(release, table, rule, level)
    codes = probabilities_in_order(model, table.to_pandas(), sketch.categories).argmax(axis=1)
    truth = label_codes(sketch, table.column(sketch.label)) if sketch.label in table.column_names else None
    for sentence in compared_in_words(found, codes, truth):
        st.markdown(sentence)
    if truth is not None:
        st.info(
            "Compare with a truth that is public, or with people who are in neither: figures made from private records "
            "tell about them, and no promise here covers that."
        )


def compared_in_words(found: Classification, codes: np.ndarray, truth: np.ndarray | None) -> list[str]:
    """How often file and model say the same of the places, and how often each is right, in Markdown."""
    count, same = len(codes), int((found.codes == codes).sum())
    said = [f"They say the same of **{same:,} of {count:,}** {plural(count, 'point')}."]
    if truth is None or not count:
        return said
    for name, own in (("file", found.codes), ("model", codes)):
        rate = Rate.of(int((own == truth).sum()), count, 0.95)
        said.append(f"The {name} is right in **{rate_words(rate)}** of them.")
    return said


PICTURE = 176  # Pixels of a side of the picture of a file.
WHAT_IT_SHOWS = (
    ("A table for every group", "Made once from labelled private records: who is healthy and who is ill, say."),
    ("Where each group lives", "Ask any place which group it is like. No answer costs anyone any more privacy."),
    ("When it does not know", "Where the noise could have turned the answer round, it says so."),
)


def open_groups(visitor: Session) -> None:
    """What the page shows while no file with groups is open."""
    drop, what = st.columns([1.2, 1], gap="large")
    with drop:
        if visitor.shown is not None:
            st.info(in_markdown(f"{visitor.shown.name} tells no groups apart: its records were released without them."))
        drop_zone(visitor, "classify-file")
        note(where_it_goes())
        _opened_before(visitor)
        open_model_here("first")
    with what, rail(Visibility.PUBLIC, "groups", "What a file with groups is"):
        facts(WHAT_IT_SHOWS)
    st.space("medium")
    st.header("Or look at one of these", anchor=False)
    bundled = bundled_groups()
    for place, (one, path) in zip(st.columns(max(1, len(bundled)), gap="medium"), bundled, strict=False):
        with place:
            picture = path.with_suffix(".png")
            if picture.is_file():  # lists of numbers have none
                st.image(picture, width=PICTURE, alt=f"Map of groups of {one.title}: {listed(one.label.categories)}")
            if st.button(in_markdown(one.title), key=f"classify-open-{one.name}", type="tertiary"):
                visitor.open(path.name, path.read_bytes())
                st.rerun()
            note(f"{one.story} Groups: {', '.join(one.label.categories)}.")


def _opened_before(visitor: Session) -> None:
    for name, opened in reversed(visitor.opened.items()):
        if grouped(opened) and st.button(f"Open {in_markdown(name)}", key=f"classify-again-{name}"):
            visitor.current = name
            st.rerun()
