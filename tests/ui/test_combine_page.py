"""The page Combine without a browser: an owner's share, paid once, and the release of all shares."""

from html import unescape
from pathlib import Path
from time import monotonic

import pytest
from streamlit.testing.v1 import AppTest

from core.privacy.ledger.ledger import Ledger
from core.releases.rounds import live
from core.releases.rounds.coordinator import Coordinator
from core.releases.rounds.owner_steps import kept_hello
from core.releases.rounds.round_messages import OwnerKey
from core.releases.rounds.round_plan import RoundPlan
from core.sources import open_source
from core.ui import combine_steps
from core.ui.combine_steps import LIVE, PLAN
from core.ui.frame.navigation import COMBINE
from core.ui.frame.session import KEY, Session
from tests.releases.owners_for_tests import Owners
from tests.releases.test_live_rounds import SECRET, URL, called, everyone, rounds_of
from tests.ui.explore.visiting import field, labels, shown

ROOT = Path(__file__).parents[2]


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setenv("FROSTGLASS_ALLOW_PATHS", "1")
    monkeypatch.setattr("core.ui.combine_steps.user_data_path", lambda *_, **__: tmp_path)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.session_state[KEY] = Session()
    return app.switch_page(COMBINE.path).run()


def drop(app, label: str, *files: tuple[str, bytes]):
    widget = field(app.file_uploader, label)
    files = [(name, content, "application/octet-stream") for name, content in files]
    widget.set_value(files if len(files) > 1 else files[0])
    app.run()
    assert not app.exception
    return app


def plan_file(owners: Owners, folder: Path) -> tuple[str, bytes]:
    owners.plan.save(folder / "plan.json")
    return "plan.json", (folder / "plan.json").read_bytes()


def test_a_share_is_made_and_paid_once_by_an_owner_who_has_read_what_it_asks(page, tmp_path):
    owners = Owners(tmp_path, "full", 2)
    owners.keys["owner 0"].save(tmp_path / "owner.key")
    drop(page, "The plan of the round", plan_file(owners, tmp_path))
    for sentence in owners.plan.describe():
        assert sentence in unescape(shown(page))
    button = field(page.button, "Pay ε = 1 and make my share")
    assert button.disabled and "your records" in shown(page)
    page.session_state[KEY].pick("mine", open_source(owners.records("owner 0")))
    page.run()
    field(page.button, "Pay ε = 1 and make my share").click().run()
    assert not page.exception and not page.error
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    assert len(ledger.status("owner 0").releases) == 1
    page.run()
    assert "made and paid for once" in shown(page) and "Pay ε = 1 and make my share" not in labels(page.button)
    (kept,) = (tmp_path / "ledger.sqlite.releases").glob("*.share")
    assert kept.read_bytes() == owners.share("owner 0") and len(ledger.status("owner 0").releases) == 1


def test_records_that_do_not_fit_the_plan_are_refused_and_cost_nothing_and_a_hello_is_the_same_after_a_reload(
    page, tmp_path
):
    """A hello says when it was made, so one that is saved a second time would belong to other masks."""
    owners, ledger = Owners(tmp_path), Ledger(str(tmp_path / "ledger.sqlite"))
    owners.keys["owner 0"].save(tmp_path / "owner.key")
    drop(page, "The plan of the round", plan_file(owners, tmp_path))
    (kept,) = (tmp_path / "ledger.sqlite.releases").glob("*.hello")
    first = kept.read_bytes()
    page.session_state[KEY].pick("mine", open_source({"y": [1.0, 2.0]}))
    drop(page, "Hellos of all owners", *((name, content) for name, content in owners.hellos.items()))
    field(page.button, "Pay ε = 1 and make my share").click().run()
    assert not page.exception and len(page.error) == 1 and ledger.names() == []
    assert kept.read_bytes() == first == kept_hello(owners.plan, owners.keys["owner 0"], ledger)


@pytest.mark.thorough
def test_the_convenor_asks_for_masks_to_be_taken_off_and_the_release_opens(page, tmp_path):
    owners = Owners(tmp_path)
    field(page.segmented_control, "View").set_value("Put shares together").run()
    drop(page, "The plan of the round", plan_file(owners, tmp_path))
    sent = [*owners.hellos.values(), *owners.shares().values()]
    label = "Shares, and of a masked round hellos and answers"
    drop(page, label, *((f"{place}", content) for place, content in enumerate(sent[:-1])))
    assert "there is none of 'owner 3'" in page.error[0].value
    drop(page, label, *((f"{place}", content) for place, content in enumerate(sent)))
    assert not page.error and "everyone whose share came" in shown(page)
    page.query_params["combine-view"] = "Put shares together"  # which a browser has in its address
    field(page.button, "Put the shares together").click().run()
    assert "cannot be unmasked yet" in page.error[0].value and page.session_state[KEY].shown is None
    every = [*sent, *owners.answers(sent)]
    drop(page, label, *((f"{place}", content) for place, content in enumerate(every)))
    field(page.button, "Put the shares together").click().run()
    opened = page.session_state[KEY].shown
    assert not page.exception and opened is not None and opened.release.combined.sentence.startswith("4 of 4 owners")


def test_a_key_is_made_on_this_computer_and_a_file_that_is_no_plan_is_refused_in_a_sentence(page, tmp_path):
    field(page.button, "Make the key").click().run()
    assert not page.exception and OwnerKey.load(tmp_path / "owner.key") and not (tmp_path / "ledger.sqlite").exists()
    drop(page, "The plan of the round", ("plan.json", b"\xff{"))
    assert [error.value for error in page.error] == ["The file is no plan of a round."]


def test_strangers_take_no_part(page, tmp_path, monkeypatch):
    monkeypatch.setenv("FROSTGLASS_ALLOW_PATHS", "0")
    page.run()
    assert not page.exception and field(page.button, "Make my share").disabled and not page.text_input


DECLARED = "columns:\n  x: {kind: number, low: 0, high: 8, step: 1}\n  y: {kind: category, values: [a, b]}\n"
KEYS = [OwnerKey(bytes([place]) * 32) for place in range(1, 4)]


def fill_in(page, noise: str):
    """The form of a plan of three owners, all but the button."""
    page.query_params["combine-view"] = "Write the plan"  # which a browser has in its address
    field(page.segmented_control, "View").set_value("Write the plan").run()
    drop(page, "A declaration of the columns, as the Data page saves it", ("declaration.yaml", DECLARED.encode()))
    button = field(page.button, "Write the plan")
    assert button.disabled and "the public keys of two owners or more" in shown(page)
    drop(page, "Public keys of the owners", *((f"owner-{key.secret[0]}.pub", key.public.written) for key in KEYS[:2]))
    field(page.text_area, "A name and a key in every line").set_value(f"west wing {KEYS[2].public.text}").run()
    field(page.radio, "What should people be able to ask?").set_value("table").run()
    field(page.number_input, "How many records each owner has at most").set_value(1_000).run()
    field(page.radio, "How is the noise shared?").set_value(noise).run()
    assert not page.exception
    return page


@pytest.mark.thorough
def test_a_plan_is_written_with_what_each_way_costs_and_whom_it_trusts_before_anything_is_read(page):
    fill_in(page, "masked")
    captions = field(page.radio, "How is the noise shared?").proto.captions
    assert all("records" in caption and "one trusted owner" in caption for caption in captions)
    assert "1.73 times" in captions[2]
    field(page.number_input, "Owners you count on to keep to the plan").set_value(1).run()
    assert "Masks hide shares only" in page.error[0].value and field(page.button, "Write the plan").disabled
    field(page.number_input, "Owners you count on to keep to the plan").set_value(2).run()
    field(page.button, "Write the plan").click().run()
    assert not page.exception and not page.error
    _, plan = page.session_state[PLAN]
    assert plan.owners == dict(zip(("owner-1", "owner-2", "west wing"), (key.public for key in KEYS), strict=True))
    assert (plan.way, plan.least, plan.honest, plan.records, plan.bits) == ("masked", 3, 2, 1_000, 32)
    assert plan.sketch.domain.names == ("x", "y") and str(plan.budget.epsilon) == "1" and not plan.budget.delta
    assert RoundPlan.of_text(plan.text) == plan and plan.fingerprint in unescape(shown(page))
    field(page.button, "Write the plan").click().run()
    assert page.session_state[PLAN][1].digest != plan.digest  # another round, whose shares do not count in the first


@pytest.mark.thorough
def test_a_plan_for_a_convenor_is_encrypted_for_whom_it_names_and_what_is_no_key_is_refused(page):
    fill_in(page, "shared")
    field(page.selectbox, "Who puts the shares together, and can open each of them?").set_value("west wing").run()
    field(page.button, "Write the plan").click().run()
    assert page.session_state[PLAN][1].convenor == KEYS[2].public
    drop(page, "Public keys of the owners", ("north.pub", b"{}"), ("south.pub", KEYS[0].public.written))
    assert "no public key of an owner in 'north.pub'" in page.error[0].value


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """A round of four owners, of which the first is at the page, with a coordinator that its invitation reaches."""
    owners = Owners(tmp_path)
    owners.keys["owner 0"].save(tmp_path / "owner.key")
    (tmp_path / "coordinator").mkdir()
    coordinator = Coordinator(owners.plan, tmp_path / "coordinator")
    monkeypatch.setattr(live.Invitation, "client", lambda invitation: called(owners, coordinator, "owner 0"))
    monkeypatch.setattr(live, "PAUSES", (0.01, 0.05))
    combine_steps._joined().clear()
    yield owners, coordinator
    for one in combine_steps._joined().values():
        one.stop()
    combine_steps._joined().clear()


def take_part(page, owners, tmp_path, records=True):
    drop(page, "The plan of the round", plan_file(owners, tmp_path))
    field(page.segmented_control, "How messages go").set_value(LIVE).run()
    text = live.Invitation(URL, live.token_of(SECRET, owners.plan, "owner 0")).text
    drop(page, "Your invitation, a file from the coordinator", ("0.invitation", text.encode()))
    if records:
        page.session_state[KEY].pick("mine", open_source(owners.records("owner 0")))
        page.run()
    return page


def until(page, words, seconds=30.0):
    """Run the page until it says something."""
    end = monotonic() + seconds
    while words not in unescape(shown(page)):
        assert monotonic() < end and not page.exception, unescape(shown(page))
        page.run()
    return page


@pytest.mark.deep
def test_a_live_round_from_an_invitation_to_the_release_is_paid_once_and_goes_on_after_a_restart(page, tmp_path, calls):
    owners, coordinator = calls
    take_part(page, owners, tmp_path)
    field(page.button, "Pay ε = 1 and take part").click().run()
    until(page, "Your hello is there")
    others = everyone(owners, coordinator, ["owner 0"])
    assert not any(one.step() for one in others.values())
    until(page, "Your share is there")
    field(page.button, "Stop taking part").click().run()
    assert "stopped taking part" in page.error[0].value
    combine_steps._joined().clear()  # as when the app is closed
    take_part(page, owners, tmp_path, records=False)
    field(page.button, "Go on with the round").click().run()
    while coordinator.stage() != "done":
        for one in others.values():
            one.step()
    until(page, "owners made it together")
    assert len(Ledger(str(tmp_path / "ledger.sqlite")).status("owner 0").releases) == 1
    field(page.button, "Open the release").click().run()
    assert not page.exception and page.session_state[KEY].shown.release == rounds_of(others, coordinator)[0]


@pytest.mark.thorough
def test_an_invitation_of_another_round_is_refused_in_a_sentence_and_costs_nothing(page, tmp_path, calls, monkeypatch):
    owners, coordinator = calls
    client = called(owners, coordinator, "owner 0")
    client.headers["Authorization"] = f"Bearer {'00' * 32}"
    monkeypatch.setattr(live.Invitation, "client", lambda invitation: client)
    take_part(page, owners, tmp_path)
    field(page.button, "Pay ε = 1 and take part").click().run()
    for _ in range(50):
        if not page.error:
            page.run()
    assert "does not know this invitation" in page.error[0].value
    assert Ledger(str(tmp_path / "ledger.sqlite")).names() == []
    page.run()
    drop(page, "Your invitation, a file from the coordinator", ("0.invitation", b"no invitation"))
    assert "There is no invitation to a round in '0.invitation'." in page.error[0].value
