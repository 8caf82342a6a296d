"""What of a released file is looked at: which question, which group, which columns, and what happens to the others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...analysis.beyond_records import for_population
from ...domain import Domain, Items, Vector
from ...domain.columns import kind_for
from ...errors import RequestError
from ...figures.answer_sentences import has_groups
from ...figures.exploration import Call
from ...figures.figure_axes import View
from ...formatting.escapes import in_markdown
from ...formatting.numbers import number
from ...geometry.kernels import Bandwidth, Stationary
from ...releases.forecast.scales import closely
from ...releases.release import Release
from ...sketches.classes import Classes
from ...sketches.living import Living
from ..frame.marks import choose_one, note
from ..frame.session import Opened
from . import public_answers
from .asked_points import read_value, value_field

PAIRS, TWO, THREE, ONE = "All pairs", "Two columns", "Three columns", "One column"
# Keys of the choices, and their names in the address.
VIEW, SHOW, ACROSS, UP, DEEP, LAYERS, HELD = "view", "show", "x", "y", "z", "layers", "held"
POPULATION, YES = "population", "yes"  # In the address, where bands are for more than the records.
PART = "part"  # In the address: what is picked in the overview of a table, as `overview.js` writes it.
CHOSEN = "explore-chosen"  # Set in the run after a kind of picture was chosen otherwise than in its field.
FILE = "explore-file-shown"  # The file that the choices were made for.
LAST = "explore-last"  # The last choices by key.
LINKED = "explore-held-linked"  # The file whose columns were last held as the address says.
MOST_PAIRED = 8
FIELD_WIDTH = 180


def drawable(domain: Domain) -> tuple[str, ...]:
    """Columns that can be an axis, numbers and categories; a longitude before its latitude, as maps have them."""
    names = [column.name for column in domain.columns if not isinstance(column, (Items, Vector))]
    held = [kind_for(name) for name in names]
    up, across = ([at for at, kind in enumerate(held) if kind == axis] for axis in ("latitude", "longitude"))
    if len(up) == len(across) == 1 and up < across:
        names[up[0]], names[across[0]] = names[across[0]], names[up[0]]
    return tuple(names)


def choices() -> DeltaGenerator:
    """The line above a picture in which its columns are chosen; a narrow window folds it: its picture comes first."""
    with st.expander("Columns and layers", expanded=True, key="fg-folding"):
        return st.container(horizontal=True, vertical_alignment="center", gap="small", key="fg-choices")


def choose_columns(domain: Domain, three: bool = False) -> tuple[str, ...] | None:
    """Let the visitor pick one or two columns to draw, or ``three``; None asks for the matrix of all pairs."""
    names = drawable(domain)
    if len(names) == 1:
        return names
    shows = [PAIRS, TWO, *[THREE] * three, ONE] if len(names) > 2 else [TWO, ONE]
    _recall(SHOW, shows)
    # A choice that was made already needs no default, and Streamlit would warn that it has two values.
    default = None if st.session_state.pop(CHOSEN, False) else shows[0]
    show = choose_one("Picture of", shows, SHOW, default, linked=True, silent=True)
    _remember(SHOW)
    if show == PAIRS:
        return None
    if show == ONE:
        return (_pick("Column", names, ACROSS),)
    drawn = _pick_two(names)
    return drawn if show == TWO else (*drawn, _pick("And", _without(names, *drawn), DEEP))


def choose_two(domain: Domain) -> tuple[str, ...]:
    """Let the visitor pick the two columns of a map; the only one where there is no second."""
    names = drawable(domain)
    if len(names) <= 2:
        return names
    with choices():
        return _pick_two(names)


def _pick_two(names: tuple[str, ...]) -> tuple[str, str]:
    x = _pick("Across", names, ACROSS)
    return x, _pick("Up", _without(names, x), UP)


def _without(names: tuple[str, ...], *taken: str) -> tuple[str, ...]:
    return tuple(name for name in names if name not in taken)


def _pick(label: str, names: tuple[str, ...], key: str) -> str:
    _recall(key, names)
    name = st.selectbox(label, names, key=key, bind="query-params", width=FIELD_WIDTH)
    _remember(key)
    return name


def _remember(key: str) -> None:
    """Keep a choice for when its field comes back: Streamlit forgets a field, and its address, that is not shown."""
    st.session_state.setdefault(LAST, {})[key] = st.session_state[key]


def _recall(key: str, options: Sequence[str]) -> None:
    """Put back what was chosen when the field was last shown, unless something else is asked for."""
    last = st.session_state.get(LAST, {}).get(key)
    if last in options and key not in st.session_state and key not in st.query_params:
        _choose({key: last})


def hold_others(
    opened: Opened,
    drawn: tuple[str, ...],
    centre: Mapping[str, object] | None = None,
    chosen: Sequence[str] | None = None,
) -> View:
    """Let the visitor hold columns that are not drawn at a value; the rest is averaged over, or held at a centre.

    `centre`: a value for every column, at which those are held that the visitor does not hold; None averages over them.
    `chosen`: the columns to be held, where they were chosen already.
    """
    domain = opened.release.domain
    if chosen is None:
        chosen = choose_held(opened, drawn, centre is None)
    names = [name for name in _without(drawable(domain), *drawn) if name in chosen]
    held = (
        []
        if centre is None
        else [(name, centre[name]) for name in domain.names if name not in drawn and name not in names]
    )
    for place, name in zip(_side_by_side(len(names)), names, strict=True):
        with place:
            column = domain.columns[domain.names.index(name)]
            held.append((name, value_field(column, _field(opened, name), slides=True)))
    said = [f"{name}:{value}" for name, value in held if name in names]
    if said != st.query_params.get_all(HELD):
        st.query_params[HELD] = said
    return View(drawn, tuple(held))


def _field(opened: Opened, name: str) -> str:
    return f"held-{opened.fingerprint[:12]}-{name}"


def _hold_as_linked(opened: Opened, others: Sequence[str], key: str) -> None:
    """Hold the columns that the address names at its values; what makes no sense there is left out."""
    domain, names = opened.release.domain, []
    for said in st.query_params.get_all(HELD)[:MOST_PAIRED]:
        name, _, text = said.rpartition(":")
        if name not in others:
            continue
        column = domain.columns[domain.names.index(name)]
        try:
            value = read_value(column, text)
        except (ValueError, RequestError):
            continue
        names.append(name)
        st.session_state.setdefault(_field(opened, name), value)
    if names:
        st.session_state[key] = names


def choose_held(opened: Opened, drawn: tuple[str, ...], averaged: bool) -> Sequence[str]:
    """Which of the columns that are not drawn the visitor holds; the rest is ``averaged`` over or held at a centre."""
    others = _without(drawable(opened.release.domain), *drawn)
    if not others:
        return ()
    key = f"hold-{opened.fingerprint[:12]}-{'-'.join(drawn)}"
    if st.session_state.get(LINKED) != opened.fingerprint:  # later it is the visitor who says
        st.session_state[LINKED] = opened.fingerprint
        _hold_as_linked(opened, others, key)
    rest = "averaged over all of their values" if averaged else "where everyone is nearest"
    return st.pills(
        "Hold at a value",
        others,
        selection_mode="multi",
        format_func=in_markdown,
        key=key,
        help=f"Columns that are not held are {rest}.",
    )


def _side_by_side(count: int) -> list:
    """Places for that many fields, three in a row."""
    rows = [st.columns(3, gap="large") for _ in range(-(-count // 3))]
    return [place for row in rows for place in row][:count]


def open_picture(columns: tuple[str, ...]) -> None:
    """Choose one or two columns for the visitor, before the next run."""
    st.session_state[SHOW], st.session_state[CHOSEN] = TWO if len(columns) == 2 else ONE, True
    _choose(dict(zip((ACROSS, UP), columns, strict=False)))


def start_with(opened: Opened, view: str) -> None:
    """Begin as if nothing had been chosen, where another file is looked at than before: it has its own best view."""
    before, st.session_state[FILE] = st.session_state.get(FILE), opened.fingerprint
    if before in (None, opened.fingerprint):
        return
    names = drawable(opened.release.domain)
    starts = {VIEW: view}
    if len(names) > 1:
        starts |= {SHOW: PAIRS if len(names) > 2 else TWO, ACROSS: names[0], UP: names[1]}
    st.session_state.pop(LAST, None)
    for name in (POPULATION, PART):  # what was said or picked of the other file means nothing of this one
        st.query_params.pop(name, None)
    for key, start in starts.items():
        st.session_state.pop(key, None)
        if key in st.query_params:
            st.query_params[key] = start


def _choose(chosen: dict[str, str]) -> None:
    """Fill in fields that are not on the page yet; one that starts with a value does not tell the address by itself."""
    st.session_state.update(chosen)
    st.query_params.update(chosen)
    if SHOW in chosen:
        st.session_state[CHOSEN] = True


EVERYONE = ""  # The part of a file with groups that is all of them; no group has an empty name.


def choose_question(opened: Opened) -> Opened:
    """Let the visitor say which question of a file of several is asked; any other file is taken as it is."""
    names = list(opened.release.parts)
    if not names:
        return opened
    name = st.selectbox(
        "Question",
        names,
        format_func=in_markdown,
        key=f"explore-question-{opened.fingerprint[:12]}",
        persist_state="session",
        width=420,
        help="The file answers several questions under one promise; each has its own share of it.",
    )
    return question_of(opened, name)


def choose_run(opened: Opened) -> Opened:
    """Let the visitor say which periods of a living release are added up: a file of its own from there on."""
    release = opened.release
    if release.sketch.asked_for != "periods":
        return opened
    living: Living = release.sketch
    names = living.names[: living.released]
    ends = st.select_slider(
        "Periods",
        names,
        (names[living.first_of_latest], names[-1]),
        key=f"explore-run-{opened.fingerprint[:12]}",
        persist_state="session",
        help="The sum over these periods, from the first to the last, is read off everything that was released so far.",
    )
    try:
        run = release.run(*ends)
    except RequestError as refusal:
        note(str(refusal))
        run = release.run()
    name = "-".join([opened.stem, *dict.fromkeys(ends)])
    return Opened(f"{name}.npz", run.to_bytes(teaching=not run.private), run, title=opened.title)


def question_of(opened: Opened, name: str) -> Opened:
    """One question of a file of several, as a file of its own."""
    return replace(opened, release=opened.release.parts[name], question=name, several=opened.release)


def grouped(opened: Opened) -> list[Opened]:
    """Those questions of a file that tell groups apart; the file itself where it has one question."""
    each = [question_of(opened, name) for name in opened.release.parts] or [opened]
    return [one for one in each if has_groups(one.release)]


def choose_grouped(opened: Opened) -> Opened:
    """The question that tells groups apart; the visitor says which, where there are several."""
    each = {one.question: one for one in grouped(opened)}
    if len(each) < 2:
        return next(iter(each.values()), opened)
    name = st.selectbox(
        "Question",
        list(each),
        format_func=in_markdown,
        key=f"classify-question-{opened.fingerprint[:12]}",
        persist_state="session",
        width=420,
    )
    return each[name]


def choose_part(opened: Opened) -> Opened:
    """Let the visitor say who is explored; a file without groups is taken as it is."""
    if not has_groups(opened.release):
        return opened
    sketch: Classes = opened.release.sketch
    part = st.selectbox(
        "Who",
        (EVERYONE, *sketch.categories),
        format_func=lambda part: in_markdown(part or "Everyone together"),
        key=f"explore-part-{opened.identity}",
        persist_state="session",
        width=260,
    )
    return part_of(opened, part)


def part_of(opened: Opened, part: str) -> Opened:
    """A part of a file with groups as a file of its own: one group, or `EVERYONE`."""
    release = opened.release.of_everyone() if part == EVERYONE else opened.release.of_class(part)
    return replace(opened, release=release, part=part, grouped=opened.release)


def choose_population(opened: Opened) -> Opened:
    """Let the visitor say that the records are a sample of a larger population, which bands then hold for."""
    try:
        wider = for_population(opened.release)
    except RequestError:  # it does not tell how far records vary
        return opened
    return replace(opened, release=wider) if sample_of_more(opened) else opened


def sample_of_more(opened: Opened) -> bool:
    """Whether the visitor, or the link that was followed, says that the records are a sample of a larger population."""
    key = f"explore-population-{opened.fingerprint[:12]}"
    if st.query_params.get(POPULATION) == YES:
        st.session_state.setdefault(key, True)
    chosen = st.toggle(
        "A sample of more",
        key=key,
        persist_state="session",
        help="The records are a random sample of a larger population, which bands are to hold for: they have the luck "
        "of the draw besides the noise.",
    )
    if chosen:
        st.query_params[POPULATION] = YES
    else:
        st.query_params.pop(POPULATION, None)
    return chosen


def of_same_population(opened: Opened, asked: Opened) -> Opened:
    """A file with bands for the population that what is asked of it has bands for."""
    return replace(opened, release=replace(opened.release, population=asked.release.population))


def part_calls(opened: Opened) -> tuple[Call, ...]:
    """How a program gets from the file to the part of it that is asked: the question, and then the group."""
    calls = [] if opened.question is None else [Call(Release.part, {"name": opened.question})]
    if opened.part is not None:
        everyone = opened.part == EVERYONE
        calls.append(Call(Release.of_everyone, {}) if everyone else Call(Release.of_class, {"which": opened.part}))
    if opened.bandwidth is not None:
        calls.append(Call(Release.smoothed, {"bandwidth": opened.bandwidth}))
    if opened.release.population is not None:
        calls.append(Call(for_population, {}))
    return tuple(calls)


def whom(opened: Opened) -> str:
    """Question and group in words, for a heading; "" for a file of one question without groups."""
    group = None if opened.part is None else opened.part or "everyone together"
    return ", ".join(words for words in (opened.question, group) if words)


DETAIL = "detail"  # The bandwidth in the page's address, where it is not the one to begin with: a share of the owner's.
FREE = (
    "The bandwidth: within about this distance people count as close. The counts are in the file with their noise, so "
    "smoothing them more or less costs no privacy, and intervals follow it."
)


def choose_bandwidth(opened: Opened) -> Opened:
    """The file as it is read with the bandwidth that the visitor chose, or that suits what was released."""
    sketch = opened.release.sketch
    kernel = getattr(sketch, "kernel", None)
    if sketch.answers != "closeness" or not isinstance(kernel, Stationary):
        return opened
    if len(sketch.bandwidths) < 2:  # its table was filled for one
        return opened
    with st.popover("Detail"):
        return _chosen(opened, kernel)


def _chosen(opened: Opened, kernel: Stationary) -> Opened:
    """The file with the bandwidth that a slider says."""
    sketch = opened.release.sketch
    factors = sketch.bandwidths
    suited = public_answers.suited(opened.identity, opened.release)
    start = "the one that suits the noisy counts" if sketch.open_bandwidth else "the owner's"
    first, key = _nearest(factors, suited), f"explore-bandwidth-{opened.identity}"
    if key not in st.session_state and (linked := _linked()) is not None:
        first = _nearest(factors, linked)
    chosen = st.select_slider(
        "How closely to look",
        factors,
        first,
        key=key,
        format_func=lambda factor: _in_words(opened, bandwidth_at(kernel, factor), factor),
        persist_state="session",
        width=420,
        help=f"{FREE} It starts at {start}.",
    )
    if chosen != _nearest(factors, suited):
        st.query_params[DETAIL] = f"{chosen:g}"
    else:
        st.query_params.pop(DETAIL, None)
    if chosen == 1.0:
        return opened
    bandwidth = bandwidth_at(kernel, chosen)
    return replace(opened, release=opened.release.smoothed(bandwidth), bandwidth=bandwidth)


def _nearest(factors: Sequence[float], wanted: float) -> float:
    return min(factors, key=lambda factor: abs(factor - wanted))


def _linked() -> float | None:
    """The bandwidth that the page's address names, as a share of the owner's."""
    try:
        return float(st.query_params.get(DETAIL, ""))
    except ValueError:
        return None


def bandwidth_at(kernel: Stationary, factor: float) -> Bandwidth:
    """So many times the bandwidth of a kernel, in four digits."""
    own = kernel.bandwidth
    if isinstance(own, tuple):
        return tuple(float(f"{one * factor:.4g}") for one in own)
    return float(f"{own * factor:.4g}")


def _in_words(opened: Opened, bandwidth: Bandwidth, factor: float) -> str:
    if isinstance(bandwidth, tuple):
        return f"{number(factor)} times the owner's" if factor != 1.0 else "the owner's"
    return closely(opened.release.domain, bandwidth)
