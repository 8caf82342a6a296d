"""The page Release as a test visits it, and small data to release there."""

from pathlib import Path

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from core.domain import Domain
from core.sources import open_source
from core.ui.frame.session import DESK, KEY, OwnData, Session

APP = str(Path(__file__).parents[3] / "app.py")
PATIENCE = 180
"""Seconds that a page may take on a busy machine; nothing here measures speed."""
DOMAIN = Domain.of(x=(0, 100))
RECORDS = pd.DataFrame({"x": np.linspace(0, 100, 500), "y": np.linspace(0, 5, 500), "who": np.arange(500) // 2})
PRESS = "release"
LABELLED = pd.DataFrame({"x": np.linspace(0, 100, 600), "kind": np.repeat(["old", "new"], 300)})


def visit(domain=DOMAIN, title="visits", frame=RECORDS, sample=None):
    """The page as an owner finds it who has described a data set."""
    at = AppTest.from_file(APP, default_timeout=PATIENCE)
    session = Session()
    source = open_source(frame)
    session.pick(title, source, sample)
    session.own = OwnData(title, source, domain, sample)
    at.session_state[KEY] = session
    at.switch_page("pages/release.py").run()
    assert not at.exception
    return at


def with_total(at, total=3.0):
    return at.number_input(key="release-total-1").set_value(total).run()


def press(at):
    return at.button(key=PRESS).click().run()


def confirmed(at):
    """Press, say yes, and let the work be done."""
    press(at)
    at.button(key="release-yes").click().run()
    while "Making the release" in [one.value for one in at.header]:
        assert at.session_state[DESK].making.wait(60)
        at.run()
    return at


def paid(ledger):
    """What was bought of the visits, in order, and the ε of all of it."""
    bought = ledger.status("visits").releases
    return [one.note["mechanism"] for one in bought], sum(one.cost.epsilon for one in bought)


def words(at):
    return " ".join(one.value for one in at.markdown)


def being_made(gated):
    """The page while half of the records are read."""
    at = press(with_total(visit(frame=gated)))
    at.button(key="release-yes").click().run()
    assert gated.waiting.wait(60)
    return at.run()


def ask(at, question):
    return at.radio(key="release-question").set_value(question).run()


def of_sample(one):
    at = visit(one.domain, title=one.name, frame=one.path, sample=one.name)
    question = at.radio(key="release-question")
    return at if question.value == "density" else question.set_value("density").run()


def kernel_of(at):
    """The kernel of the order that a press asks about."""
    press(at)
    return at.session_state[DESK].asked.sketch.kernel
