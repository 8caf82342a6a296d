"""A live round on the page Combine: an invitation, the records, one price, and this computer does the other steps.

The round goes on in a thread of the app, whichever page is open; no thread calls Streamlit, the page looks at it. After
a restart the same button goes on with what is kept beside the ledger, and pays for nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

import streamlit as st

from ...errors import RequestError
from ...privacy.ledger.ledger import Ledger
from ...releases.release import Release
from ...releases.rounds.live import Invitation, Participant, join
from ...releases.rounds.owner_steps import HELLO, SHARE, UNMASK, exact_of, kept_share, payer_of_round
from ...releases.rounds.round_messages import OwnerKey
from ...releases.rounds.round_plan import RoundPlan
from ..frame.marks import Visibility, main_action, note, offer, rail, refusals
from ..frame.navigation import CLASSIFY, EXPLORE
from ..frame.session import Session
from ..own_data.picking_records import pick_records
from ..released.kept_files import open_any

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

    Parameters
    ----------
    begin : Callable[[], Participant]
        Reads the records, and is ready to call.
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
    visitor: Session,
    plan: RoundPlan,
    joined: dict[tuple[str, str, str], Joining],
    round_of: tuple[str, str, str],
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
