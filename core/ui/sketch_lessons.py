"""Lessons on sketches: what one is, and where its rows and cells come from."""

import numpy as np
import streamlit as st

from ..errors import RequestError
from ..figures.lesson_figures import curve_figure, curve_in_words, plane_figure, plane_in_words
from ..formatting.escapes import in_html, in_markdown
from ..formatting.numbers import rounded, significant
from ..lab.crowd_lessons import AMPLE, MOST, RowErrors, curve
from ..lab.release_lessons import DRAWS, MOST_PEOPLE, ROWS, Plane, in_text, places
from ..releases.release import Release
from .frame.marks import BARE, Visibility, choose_one, draw, mark, note
from .lesson import EPSILONS, advance, choose_epsilon, picture, play_button, playing, say, slide

# Keys of the controls, and their names in the address.
PEOPLE, ASKED, COUNTED, CLICK, CROWD, NOISE, CUTS = "people", "ask", "rows", "click", "crowd", "noise", "cuts"
CHART = "learn-plane"
START = "1.5 2, 2 3, 2.5 2.5, 2.75 3.5, 3.5 2.25, 3 3, 6.5 7, 7 6.25, 7.25 7.5, 7.5 6.75, 8 7.25, 8.5 4"
NONE = "none"
ADDS, ASKS = "adds a person", "asks there"
PLANE_CROWDS = (1, 10, 100)


def cells_experiment() -> None:
    st.fragment(_experiment, run_every=playing(COUNTED))()


def _experiment() -> None:
    plane_side, table_side = st.columns(2, gap="large")
    with table_side:
        counted = _rows_counted()
    with plane_side, st.container(horizontal=True, gap="medium"):
        choose_one("A click on the plane", [ADDS, ASKS], CLICK, ADDS, linked=True)
        crowd = choose_one("People per dot", PLANE_CROWDS, CROWD, 1, linked=True)
    plane, asked = _plane(crowd)
    with plane_side:
        row = counted - 1 if counted else None
        figure = plane_figure(plane, row, asked, counted)
        st.plotly_chart(
            figure,
            key=CHART,
            config=BARE,
            selection_mode="points",
            on_select=_clicked,
            alt=plane_in_words(plane, row, asked),
        )
        note("Lines are the cuts of the row counted last. Shaded are the cells that the question, ×, falls in.")
    with table_side:
        epsilon = _noise()
        made = plane.released(epsilon, 1) if epsilon != NONE and len(plane.people) else None
        _table(plane, counted, asked, made)
        _answer(plane, counted, asked, made)


def _rows_counted() -> int:
    steps = list(range(ROWS + 1))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        play_button(COUNTED, steps)
        advance(COUNTED, steps)
        return st.slider("Rows counted", 0, ROWS, key=COUNTED, bind="query-params")


def _noise() -> str:
    return st.select_slider(
        "Noise on every count, by ε", (NONE, *reversed(EPSILONS)), value=NONE, key=NOISE, bind="query-params"
    )


def _plane(crowd: int) -> tuple[Plane, tuple[float, float] | None]:
    """Who is on the plane and where it is asked; what cannot be read is said, and left out."""
    with st.expander("Type places instead of clicking, or change the cuts"):
        people = st.text_input(
            "People, as x y, x y …", _start(PEOPLE, START), key=PEOPLE, bind="query-params", max_chars=800
        )
        asked = st.text_input("Ask at, as x y", _start(ASKED, "2.5 3"), key=ASKED, bind="query-params", max_chars=40)
        cuts = st.number_input("Which random cuts (1 to 99)", 1, DRAWS, 1, key=CUTS, bind="query-params")
    where = _read(asked or "", 1)
    return Plane(_read(people or "", MOST_PEOPLE), cuts, crowd), tuple(map(float, where[0])) if len(where) else None


def _read(text: str, most: int) -> np.ndarray:
    try:
        return places(text, most)
    except RequestError as error:
        st.error(in_markdown(error))
        return np.empty((0, 2))


def _clicked() -> None:
    points = st.session_state[CHART].selection.points
    if not points:
        return
    place = in_text(np.array([[points[0]["x"], points[0]["y"]]]))
    before = (st.session_state.get(PEOPLE) or "").strip().rstrip(",")
    if st.session_state.get(CLICK, ADDS) == ASKS:
        _set(ASKED, place)
    elif before.count(",") + 1 < MOST_PEOPLE:
        _set(PEOPLE, f"{before}, {place}" if before else place)


def _set(key: str, text: str) -> None:
    st.session_state[key] = text
    st.session_state[f"set-{key}"] = True


def _start(key: str, text: str) -> str | None:
    """What a field starts with: nothing just after a click wrote into it, as Streamlit would warn of two values."""
    return None if st.session_state.pop(f"set-{key}", False) else text


def _table(plane: Plane, counted: int, asked: tuple[float, float] | None, made: Release | None) -> None:
    """The counts row by row, those that the question meets framed; rows that are not counted yet are empty."""
    table = plane.table if made is None else made.counters
    met = None if asked is None else plane.fallen(asked)
    columns = int(plane.cells.max())
    lines = []
    for row in range(ROWS):
        line = [f'<th scope="row">Row {row + 1}</th>']
        for cell in range(columns):
            if cell >= plane.cells[row]:
                line.append("<td></td>")
                continue
            framed = row < counted and met is not None and met[row] == cell
            value = in_html(f"{int(table[row, cell]):,}".replace("-", "\N{MINUS SIGN}")) if row < counted else "·"
            line.append(f'<td class="fg-one{" fg-met" if framed else ""}">{value}</td>')
        now = ' class="fg-now"' if row == counted - 1 else ""
        lines.append(f"<tr{now}>{''.join(line)}</tr>")
    if made is None:
        mark(Visibility.PRIVATE, "Exact counts: still private")
    else:
        mark(Visibility.PUBLIC, "Counts with noise: may be handed out")
    kind = "private" if made is None else "public"
    # A caption out of sight would count as the first row, whose cells set the widths of all columns.
    draw(
        f'<table class="fg-counts fg-counts-{kind}" aria-label="How many people fell into each cell, row by row">'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _answer(plane: Plane, counted: int, asked: tuple[float, float] | None, made: Release | None) -> None:
    """The average of the framed counts, beside what it estimates."""
    if asked is None:
        note("Ask at a place to see which counts answer.")
        return
    if not counted:
        say("Nobody is counted yet.", "Press Play, or move the slider to count the first row.")
        return
    table = plane.table if made is None else made.counters
    met = table[np.arange(counted), plane.fallen(asked)[:counted]]
    terms = " + ".join(f"{value:,}" if value >= 0 else f"(\N{MINUS SIGN}{-value:,})" for value in met.tolist())
    error = 0.1 if made is None else max(0.1, (made.privacy.counter_variance / counted) ** 0.5)
    meaning = f"({terms}) / {counted} is the average of the framed counts. " if counted > 1 else ""
    meaning += f"Counting everyone by how close they are gives {rounded(plane.exact(asked), 0.1)}."
    say(f"About {rounded(float(met.mean()), error)} people are near {asked[0]:g}, {asked[1]:g}.", meaning)


ROWS_PEOPLE, NEARBY, WIDTH = "records", "nearby", "width"
CROWDS = (100, 300, 1000, 3000)
HOURS = {"15 minutes": 0.25, "30 minutes": 0.5, "an hour": 1.0, "two hours": 2.0, "four hours": 4.0}
WIDTHS = (2, 4, 8, 16, AMPLE)


def rows_experiment() -> None:
    controls, drawn = st.columns([1, 2], gap="large")
    with controls:
        epsilon = choose_epsilon()
        people = slide("People in the data", CROWDS, 1000, ROWS_PEOPLE)
        nearby = slide("Near means within about", list(HOURS), "an hour", NEARBY)
        width = slide("Columns W", WIDTHS, AMPLE, WIDTH)
        note(
            "R is the number of rows: how many times everyone is cut into cells. W is how many counts a row may keep; "
            "with too few, strangers have to share them."
        )
    found = curve(epsilon, people, HOURS[nearby], width)
    with drawn:
        say(*rows_findings(found))
        picture(curve_figure(found), "rows", curve_in_words(found))


def rows_findings(found: RowErrors) -> tuple[str, str]:
    """Where the least error is; what columns have to do with it where they are few, and else what the paper says."""
    typical, error = significant(found.typical, 2), significant(found.error_with(found.best), 2)
    rows = f"{found.best:,} rows" + (" or more" if found.best >= MOST else "")
    finding = f"Best with {rows}: about {error} people off, where the truth is {typical}."
    if found.width < AMPLE:
        return finding, (
            f"With {found.width} columns, about {significant(found.strangers, 2)} people from far away share a column "
            "with those who are near. So many are subtracted, but luck decides how many there were. With "
            f"{AMPLE} columns (the thin teal line) the best is {significant(found.least_if_ample, 2)} people off."
        )
    return finding, (
        f"The paper on RACE has the rule R = f̃ε/√2, here {found.rule:,}; f̃ adds up the square roots of how close "
        "everyone is. It is the best for a bound (the thin line) that is on the safe side. Dots are real sketches."
    )
