"""The page Combine: take part in a round with one's own records, live or not, or put the shares of all owners together.

A live round is an invitation, the records, one price, and this computer does the other steps. It goes on in a thread of
the app, whichever page is open; no thread calls Streamlit, the page looks at it. After a restart the same button goes
on with what is kept beside the ledger, and pays for nothing twice.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import streamlit as st
from platformdirs import user_data_path

from ..errors import RequestError
from ..formatting.numbers import size
from ..privacy.ledger.ledger import Ledger
from ..releases.release import Release
from ..releases.rounds.convenor_steps import ask_to_unmask, put_round_together
from ..releases.rounds.live import Invitation, Participant, join
from ..releases.rounds.owner_steps import (
    HELLO,
    SHARE,
    UNMASK,
    exact_of,
    kept_hello,
    kept_share,
    make_share,
    my_name,
    payer_of_round,
    unmask,
)
from ..releases.rounds.round_messages import PUBLIC, OwnerKey
from ..releases.rounds.round_plan import RoundPlan
from .frame.marks import Visibility, choose_one, facts, main_action, note, offer, rail, refusals
from .frame.navigation import CLASSIFY, EXPLORE
from .frame.session import Session
from .frame.visiting import stranger, visitor_now
from .own_data.paying import open_ledger
from .own_data.picking_records import pick_records
from .released.kept_files import open_any

LOOK_EVERY = 1.0  # Seconds.
PATIENCE = 86_400.0  # Seconds that a coordinator who cannot be reached is tried.
# What has been sent, the last of them first, and what is waited for then.
STAGES = (
    (UNMASK, "Your answer is there. Waiting for the others' answers, and for the release."),
    (SHARE, "Your share is there, and paid for. Waiting for the shares of the others."),
    (HELLO, "Your hello is there. Waiting for the hellos of the others."),
)


class Joining:
    """Taking part in one round, in a thread.

    `begin`: Reads the records, and is ready to call.
    """

    def __init__(self, begin: Callable[[], Participant]):
        self.problem = self.trouble = ""  # Why it has ended, and why the last call failed; each one sentence.
        self.release: Release | None = None
        self._owner: Participant | None = None
        self._stop = Event()
        self._thread = Thread(target=self._run, args=(begin,), daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it still goes on."""
        return self._thread.is_alive()

    @property
    def stage(self) -> str:
        """How far it is, in words."""
        if self._owner is None:
            return "Reading the records, before anybody is called."
        sent = set(self._owner.sent)
        return next((words for kind, words in STAGES if kind in sent), "Calling the coordinator.")

    def stop(self) -> None:
        """Call no more; the round can be gone on with."""
        self._stop.set()
        self._thread.join(10)

    def _run(self, begin: Callable[[], Participant]) -> None:
        try:
            self._owner = begin()
            with self._owner.client:
                self.release = join(self._owner, PATIENCE, self._tell, self._pause)
        except RequestError as problem:
            self.problem = str(problem)

    def _tell(self, sentence: str) -> None:
        self.trouble = sentence

    def _pause(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise RequestError("You have stopped taking part; the round can be gone on with while it lasts.")


@st.cache_resource
def _joined() -> dict[tuple[str, str, str], Joining]:
    """Rounds that this app takes part in, by plan, owner and ledger: they go on when a page is closed."""
    return {}


def take_part_live(visitor: Session, plan: RoundPlan, key: OwnerKey, name: str, ledger: Ledger) -> None:
    """Everything from the invitation to the release."""
    round_of, joined = (plan.digest, name, ledger.where), _joined()
    if round_of in joined:
        _look(visitor, plan, joined, round_of)
        return
    dropped = st.file_uploader("Your invitation, a file from the coordinator", "invitation", key="combine-invitation")
    invitation = None
    if dropped is not None:
        with refusals():
            invitation = Invitation.of_text(dropped.getvalue().decode("utf-8", "replace"), repr(dropped.name))
            note(f"Calls go to {invitation.url} and nowhere else.")
    paid = kept_share(plan, key, ledger) is not None
    records = None if paid else pick_records(visitor)
    payer = st.text_input("Who pays in your ledger", visitor.dataset or name, key="combine-payer").strip()
    needed = (
        ("your invitation", invitation),
        ("your records", paid or records is not None),
        ("the name of a data set", payer),
    )
    label = "Go on with the round" if paid else f"Pay {plan.cost.describe()} and take part"
    said = "Your share is made and paid for." if paid else "It is paid when everybody's hellos are there."
    if main_action(label, [what for what, have in needed if not have], "combine-share", said) and invitation:
        account, source = payer_of_round(plan, ledger, payer), None if records is None else records.source
        client = invitation.client()

        def begin() -> Participant:
            return Participant(plan, key, account, client, lambda: exact_of(plan, source, lambda rows: None))

        joined[round_of] = Joining(begin)
        st.rerun()


def _look(
    visitor: Session, plan: RoundPlan, joined: dict[tuple[str, str, str], Joining], round_of: tuple[str, str, str]
) -> None:
    """How far a round is, looked at again and again; and the release, once there is one."""
    joining = joined[round_of]
    if joining.running:
        _watched(joining)
        if st.button("Stop taking part", key="combine-stop"):
            joining.stop()
            st.rerun()
        return
    if joining.release is None:
        with refusals():
            del joined[round_of]
            raise RequestError(joining.problem or "The round ended by a fault of the program; it can be gone on with.")
        st.button("Try again", key="combine-again")
        return
    made, content = joining.release, joining.release.to_bytes()
    with rail(Visibility.PUBLIC, "combine-made", "The release of the round"):
        note("" if made.combined is None else made.combined.sentence)
        offer("Save the release", content, f"together-{plan.digest[:8]}.npz", "combine-live-save")
    if main_action("Open the release", [], "combine-open", "It opens in Explore."):
        open_any(visitor, f"together-{plan.digest[:8]}.npz", content)
        st.switch_page(CLASSIFY.path if made.sketch.classes else EXPLORE.path, query_params={})


@st.fragment(run_every=LOOK_EVERY)
def _watched(joining: Joining) -> None:
    """The last that is known; when it has ended, the page is drawn again."""
    if not joining.running:
        st.rerun()
    with rail(Visibility.PRIVATE, "combine-live", "Taking part"):
        note(joining.stage)
        if joining.trouble:
            note(f"{joining.trouble} It is tried again until you stop.")
        note("You may leave this page; closing the app ends it, and pressing the same button then goes on.")


# Session state: the plan that is open with the number of its upload, and the last answer.
PLAN, ANSWER = "combine-plan", "combine-answered"
FILES, LIVE = "By files", "To a coordinator, by an invitation"


def take_part_view(visitor: Session) -> None:
    """An owner's side: key, plan, hello, share and answer, in the order in which they are needed."""
    if stranger() is not None or visitor_now() is not None:
        note("An owner's key and shares are kept on the computer that runs the app, so only its owner can take part.")
        main_action("Make my share", ["the owner of this computer"], "combine-share")
        return
    st.header("1 · Your key", anchor=False)
    key = _own_key()
    st.header("2 · What you are asked for", anchor=False)
    plan = _open_plan()
    if plan is None or key is None:
        missing = [what for what, have in (("your key", key), ("the plan", plan)) if have is None]
        main_action("Make my share", missing, "combine-share")
        return
    with refusals():
        _share_by(visitor, plan, key, my_name(plan, key))


def _share_by(visitor: Session, plan: RoundPlan, key: OwnerKey, name: str) -> None:
    ledger, hellos = open_ledger(visitor), list[bytes]()
    way = choose_one("How messages go", (FILES, LIVE), "combine-how", FILES)
    if way == LIVE:
        st.header("3 · Take part", anchor=False)
        take_part_live(visitor, plan, key, name, ledger)
        return
    if plan.way == "masked":
        st.header("3 · Hellos", anchor=False)
        offer("Save my hello", kept_hello(plan, key, ledger), f"{name}.hello", "combine-hello")
        note("Send it to everybody; your own belongs to those that you open here, too.")
        hellos = _dropped("Hellos of all owners", "combine-heard")
    st.header(f"{4 if plan.way == 'masked' else 3} · Your share", anchor=False)
    made = kept_share(plan, key, ledger)
    if made is None:
        _make_share(visitor, plan, key, name, ledger, hellos)
        return
    with rail(Visibility.PUBLIC, "combine-made", "This file goes to the convenor"):
        offer("Save my share", made, f"{name}.share", "combine-save", type="primary")
        note(f"{size(len(made))}. It was made and paid for once, and stays the same however often you save it.")
    if plan.way == "masked":
        st.header("5 · Help to take the masks off", anchor=False)
        _answer(plan, key, name, ledger, hellos)


def put_together_view(visitor: Session) -> None:
    """The convenor's side: what came, the request that a masked round needs, and the release."""
    note("Who puts shares together needs no records.")
    plan = _open_plan()
    messages = _dropped("Shares, and of a masked round hellos and answers", "combine-messages")
    missing = [what for what, have in (("the plan", plan), ("what the owners sent", messages)) if not have]
    key = None
    if plan is not None and plan.way == "shared":
        if stranger() is not None or visitor_now() is not None:
            missing.append("the convenor's own computer, where the key is")
        else:
            key = _own_key()
            missing += ["the key that shares are encrypted for"] if key is None else []
    if plan is not None and messages and plan.way == "masked":
        request = None
        with refusals():
            request = ask_to_unmask(plan, messages)
        if request is None:
            missing.append("shares and hellos that fit together")
        else:
            offer("Save the request to unmask", request, "request.json", "combine-request")
            note("It goes to everyone whose share came; open their answers here with all else.")
    if main_action("Put the shares together", missing, "combine-sum", "The release opens in Explore."):
        with refusals(), st.spinner("Adding up"):
            made = put_round_together(plan, messages, key)
            open_any(visitor, f"together-{plan.digest[:8]}.npz", made.to_bytes())
            st.switch_page(CLASSIFY.path if made.sketch.classes else EXPLORE.path, query_params={})


@refusals()
def _own_key() -> OwnerKey | None:
    """The owner's key in a file of this computer, which a button makes where there is none."""
    usual = user_data_path("frostglass", appauthor=False) / "owner.key"
    typed = st.text_input(
        "Your key, a file on this computer", str(usual), key="combine-key", persist_state="session"
    ).strip()
    path = Path(typed)
    if not typed or not typed.isprintable():
        return None
    if not _is_there(path):
        note("There is no key yet. It is made once for all rounds, and never leaves this computer.")
        if not st.button("Make the key", key="combine-make-key"):
            return None
        if path == usual:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        OwnerKey.new().save(path)
    key = OwnerKey.load(path)
    offer("Save my public key", key.public.written, path.with_suffix(PUBLIC).name, "combine-public")
    note(f"Whoever writes the plan needs it. Compare by telephone that they got this one: {key.public.fingerprint}.")
    return key


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as problem:
        raise RequestError(f"The file {str(path)!r} cannot be read: {problem.strerror}.") from None


@refusals()
def _open_plan() -> RoundPlan | None:
    """The plan that was opened last, in plain words; it stays open when the view changes."""
    dropped = st.file_uploader("The plan of the round", "json", key="combine-plan-file")
    number, plan = st.session_state.get(PLAN, ("", None))
    if dropped is not None and dropped.file_id != number:
        st.session_state.pop(PLAN, None)
        plan = RoundPlan.of_text(dropped.getvalue().decode("utf-8", "replace"))
        st.session_state[PLAN] = dropped.file_id, plan
    if plan is not None:
        with rail(Visibility.PUBLIC, "combine-asked", "What the plan asks of every owner"):
            facts((sentence, "") for sentence in plan.describe())
    return plan


def _dropped(label: str, key: str) -> list[bytes]:
    return [one.getvalue() for one in st.file_uploader(label, accept_multiple_files=True, key=key)]


def _make_share(
    visitor: Session, plan: RoundPlan, key: OwnerKey, name: str, ledger: Ledger, hellos: list[bytes]
) -> None:
    """Records, who pays, and the button with the price on it."""
    records = pick_records(visitor)
    payer = st.text_input("Who pays in your ledger", visitor.dataset or name, key="combine-payer").strip()
    note("A data set that the ledger does not know yet is promised exactly this price, and can pay for nothing more.")
    needed = (
        ("your records", records),
        ("the name of a data set", payer),
        ("everybody's hellos", hellos or plan.way != "masked"),
    )
    missing = [what for what, have in needed if not have]
    label = f"Pay {plan.cost.describe()} and make my share"
    if main_action(label, missing, "combine-share", "What is spent cannot be had back.") and records is not None:
        account = payer_of_round(plan, ledger, payer)
        with st.spinner("Reading the records"):
            make_share(plan, records.source, key, dataset=payer, hellos=hellos, account=account)
        st.rerun()


def _answer(plan: RoundPlan, key: OwnerKey, name: str, ledger: Ledger, hellos: list[bytes]) -> None:
    """The one answer to the convenor's request."""
    asked = st.file_uploader("The convenor's request", "json", key="combine-asked")
    missing = [what for what, have in (("the request", asked), ("everybody's hellos", hellos)) if not have]
    if main_action("Answer the request", missing, "combine-answer-it", "You answer one request of a round, no other."):
        text = asked.getvalue().decode("utf-8", "replace")
        st.session_state[ANSWER] = plan.digest, unmask(plan, key, text, hellos, ledger=ledger)
    whose, answer = st.session_state.get(ANSWER, ("", b""))
    if whose == plan.digest:
        offer("Save my answer", answer, f"{name}.unmask", "combine-answer")
