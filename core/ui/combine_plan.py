"""Writing the plan of a round: what is asked, how much privacy, who takes part, and how the noise is shared."""

import secrets
from dataclasses import replace
from datetime import date, timedelta
from hashlib import sha256
from pathlib import PurePath
from typing import Any

import streamlit as st

from ..domain.declarations import Declaration
from ..errors import RequestError
from ..formatting.escapes import in_markdown
from ..formatting.numbers import listed, significant
from ..privacy.budget import Budget
from ..releases.forecast.draft import Draft
from ..releases.forecast.kernel_choice import DEFAULT_SHARE, SHARES, distance_words, kernel_at
from ..releases.forecast.scales import chosen_scales, has_scales
from ..releases.found import paid_before, refuse_paid_for
from ..releases.rounds.round_messages import PUBLIC, PublicKey
from ..releases.rounds.round_plan import RoundPlan, WayForecast, ways
from ..runtime import environment
from ..runtime.parameters import SEED_BITS
from ..sources.public_tables import sample
from .combine_steps import PLAN
from .frame.marks import Visibility, facts, main_action, note, offer, rail, refusals
from .frame.navigation import DATA
from .frame.session import Session
from .frame.visiting import turn
from .own_data.paying import SLACK, choose_epsilon, choose_relation, choose_slack
from .own_data.release_questions import choose_aim, possible_ways, title

NAMED = 30  # Owners up to which each name can be typed; with more, files are named after their owners.
WRITTEN = "written"  # In place of an upload's number: the plan that is open was written here.
NOISE = {
    "masked": "Everyone adds a part, under masks",
    "shared": "Everyone adds a part, for the convenor",
    "full": "Everyone adds all of it",
}
NO_OWNER = "Somebody without records"


def write_plan_view(visitor: Session) -> None:
    """The convenor's first step: everything that all owners then agree on, and its file."""
    note("The plan is what all owners agree on before anybody reads a record. It costs nothing, and is no secret.")
    st.header("1 · What should people be able to ask?", anchor=False)
    draft = _asked(visitor)
    st.header("2 · How much privacy?", anchor=False)
    note("Every owner pays this from a ledger of their own.")
    epsilon, slack = choose_epsilon(), choose_slack()
    with st.expander("What stays hidden", type="compact"):
        relation = choose_relation(None)
    st.header("3 · Who takes part?", anchor=False)
    owners = _owners() or {}
    records, closes = _records_and_end()
    st.header("4 · How is the noise shared?", anchor=False)
    needed = (
        ("a privacy loss ε", epsilon),
        ("the public keys of two owners or more", len(owners) > 1),
        ("how many records each owner has at most", records),
    )
    missing = [*(["the columns"] if draft is None else draft.missing), *(what for what, have in needed if not have)]
    plan = None
    if missing:
        note("What each way costs is forecast here once all of the above is said.")
    else:
        with refusals():
            budget = Budget(epsilon, SLACK if slack else 0, relation)
            plan = _planned(replace(draft, budget=budget, records=records * len(owners)), owners, records, closes)
        missing = [] if plan is not None else ["a way to share the noise that there is"]
    if main_action("Write the plan", missing, "combine-write", "It then goes to every owner.") and plan is not None:
        # Two plans are never alike: each has a mark and random numbers of its own.
        fresh = plan.sketch.reseeded(secrets.randbits(SEED_BITS))
        st.session_state[PLAN] = WRITTEN, replace(plan, sketch=fresh, mark=secrets.token_hex(len(plan.mark) // 2))
    number, written = st.session_state.get(PLAN, ("", None))
    if number == WRITTEN:
        _show(written)


def _show(plan: RoundPlan) -> None:
    with rail(Visibility.PUBLIC, "combine-written", "This file goes to every owner"):
        offer("Save the plan", plan.text, "plan.json", "combine-save-plan", type="primary")
        facts((sentence, "") for sentence in plan.describe())
        note("It is open in the other views of this page, too: take part, or put the shares together once they came.")


@refusals()
def _columns(visitor: Session) -> tuple[Any, int, Any] | None:
    """The columns with a number that tells them from others, and the sample that they are of; a file goes first."""
    dropped = st.file_uploader(
        "A declaration of the columns, as the Data page saves it", ["yaml", "yml"], key="combine-columns"
    )
    if dropped is not None:
        content = dropped.getvalue()
        said = Declaration.of(content.decode("utf-8-sig", "replace"))
        refuse_paid_for(paid_before(said.paid)[0], "a round")
        return said.domain, int(sha256(content).hexdigest()[:8], 16), None
    own = visitor.own
    if own is None or visitor.records is None:
        return None
    refuse_paid_for(own.costs, "a round")
    note(f"Without one, the columns that you declared on the Data page are taken: {listed(list(own.domain.names))}.")
    return own.domain, visitor.records.number, None if own.sample is None else sample(own.sample)


def _asked(visitor: Session) -> Draft | None:
    """What is asked of which columns; None where there are none."""
    found = _columns(visitor)
    if found is None:
        note("It says what anyone may know of the columns that all owners have, and no more.")
        st.page_link(DATA.path, label="Declare them on the Data page")
        return None
    domain, number, known = found
    seed = st.session_state.setdefault("combine-seed", secrets.randbits(SEED_BITS))
    draft = choose_aim(Draft(domain, seed), number, known)
    near = draft.measures_closeness and draft.has_places
    if draft.missing or not near or has_scales(draft.compared):
        return draft
    share = st.select_slider(
        f"How near is “here”? Each {domain.one_record} counts half at a distance of",
        SHARES,
        DEFAULT_SHARE,
        key=f"combine-share-{number}",
        format_func=lambda share: distance_words(draft.compared, share),
    )
    return replace(draft, kernel=kernel_at(draft.compared, share))


@refusals()
def _owners() -> dict[str, PublicKey] | None:
    """Names and keys, of files and of what was pasted."""
    dropped = st.file_uploader(
        "Public keys of the owners", PUBLIC.lstrip("."), accept_multiple_files=True, key="combine-publics"
    )
    keys = [(PurePath(file.name).stem, PublicKey.of_file(file.getvalue(), file.name)) for file in dropped]
    with st.expander("Paste keys instead", type="compact"):
        pasted = st.text_area("A name and a key in every line", key="combine-pasted", placeholder="north 3f0c…")
    keys += [_pasted(line) for line in (pasted or "").splitlines() if line.strip()]
    keys = list({key.text: (name, key) for name, key in reversed(keys)}.values())[::-1]
    owners: dict[str, PublicKey] = {}
    if not keys:
        note("Each owner makes a key under “Take part”, and sends you its public half.")
    for name, key in keys:
        name = _name(name, key) if len(keys) <= NAMED else name
        if not name or name in owners:
            raise RequestError("Every owner needs a name, and no two of them the same one.")
        owners[name] = key
    return owners


def _name(name: str, key: PublicKey) -> str:
    typed = st.text_input(
        f"Owner of the key {key.fingerprint}", name, key=f"combine-owner-{key.text[:16]}", max_chars=60, width=420
    )
    return " ".join((typed or "").split())


def _pasted(line: str) -> tuple[str, PublicKey]:
    name, _, key = line.strip().rpartition(" ")
    return name.strip(), PublicKey.of_text(key)


def _records_and_end() -> tuple[int | None, str]:
    most, last = st.columns(2, gap="medium")
    records = most.number_input(
        "How many records each owner has at most",
        1,
        1 << 40,
        None,
        key="combine-records",
        persist_state="session",
        placeholder="such as 50000",
        help="Say it generously: counters beyond what so many records can make are moved to it. It says how large the "
        "file is, and what the sum must have room for. It is no secret.",
    )
    day = last.date_input(
        "Last day for shares, if any",
        None,
        min_value=environment.utc().date(),
        key="combine-closes",
        help="Shares that are made after the end of that day, by world time, are not taken.",
    )
    return records, f"{day + timedelta(days=1)}T00:00:00+00:00" if isinstance(day, date) else ""


def _planned(draft: Draft, owners: dict[str, PublicKey], records: int, closes: str) -> RoundPlan:
    """The plan as it stands; RequestError where it cannot be kept."""
    if draft.measures_closeness and draft.has_places and draft.kernel is None:
        groups = 1 if draft.label is None else len(draft.domain.categories_of(draft.label))
        with turn():
            scales = chosen_scales(draft.compared, draft.promise, draft.records / groups)
        draft = replace(draft, kernel=scales.kernel, finest=scales.finest)
    possible = {one.name: one for one in possible_ways(draft) if one.sketch is not None}
    name = st.selectbox(
        "Made with", list(possible), format_func=lambda name: in_markdown(title(name)), key="combine-made-with"
    )
    sketch = possible[name].answering
    least, honest = _counted(len(owners))
    costs = {one.way: one for one in ways(sketch, draft.promise, len(owners), honest, draft.records)}
    way = st.radio(
        "How is the noise shared?",
        list(NOISE),
        key="combine-noise",
        persist_state="session",
        horizontal=True,
        format_func=NOISE.__getitem__,
        captions=[in_markdown(_in_words(costs[way])) for way in NOISE],
        label_visibility="collapsed",
        width="stretch",
    )
    convenor = _convenor(owners) if way == "shared" else None
    said = {"honest": None if way == "full" else honest, "least": least, "records": records, "closes": closes}
    return RoundPlan.of(sketch, draft.promise, owners, way, **said, convenor=convenor)


def _in_words(cost: WayForecast) -> str:
    """What a way costs, and whom one trusts."""
    noise = "as much noise as" if cost.times == 1 else f"{significant(cost.times, 3)} times the noise of"
    return f"{cost.words}, with {noise} one trusted owner. {cost.trusted[0].upper()}{cost.trusted[1:]}."


def _counted(owners: int) -> tuple[int, int]:
    """How many shares must come, and of how many of them the parts of noise must suffice."""
    left, right = st.columns(2, gap="medium")
    least = left.number_input(
        "Shares that must come",
        1,
        owners,
        owners,
        key=f"combine-least-{owners}",
        help="With fewer the round fails. Who never sends one does not hold up the others.",
    )
    honest = right.number_input(
        "Owners you count on to keep to the plan",
        1,
        least,
        least,
        key=f"combine-honest-{owners}-{least}",
        help="So many parts of noise keep the promise, whatever the others do. Fewer mean more noise.",
    )
    return least, honest


def _convenor(owners: dict[str, PublicKey]) -> PublicKey:
    """For whom shares are encrypted."""
    name = st.selectbox(
        "Who puts the shares together, and can open each of them?", [*owners, NO_OWNER], key="combine-convenor"
    )
    if name != NO_OWNER:
        return owners[name]
    dropped = st.file_uploader("The convenor's public key", PUBLIC.lstrip("."), key="combine-convenor-key")
    if dropped is None:
        raise RequestError("The convenor's public key is missing, for which the shares are encrypted.")
    return PublicKey.of_file(dropped.getvalue(), dropped.name)
