"""Every registered mechanism is replayed through the front door, under every promise that it can keep."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

import core
from benchmarks.audited import FILE
from core.auditing.trials import BUDGETS, CLOSE, examine, mechanisms, of_mechanism
from core.errors import RequestError
from core.runtime.environment import SOFTWARE
from core.sketches.registry import cards
from tests.depth import draws

CORNERS = (BUDGETS[0], BUDGETS[-1])
"""Pure and somebody is there or not; with a delta and somebody is replaced: either kind of noise and of neighbours."""


DEAR = ("aim", "distance", "minhash", "projected-distance")
"""Those whose replay takes seconds: wherever anything was changed."""


def _cases():
    for name, card in cards().items():
        if card.make is not None:
            yield pytest.param(name, marks=pytest.mark.thorough if name in DEAR else ())


@pytest.mark.few(6)
@pytest.mark.parametrize("name", list(_cases()))
def test_every_mechanism_is_replayed(name):
    """Nothing registered is left out but what is only made of other mechanisms."""
    trials = list(mechanisms(draws(CORNERS, BUDGETS), [name]))
    assert trials
    for trial in trials:
        verdict = examine(trial, draws(2, None), turned=draws(False, True))
        assert verdict.passed, verdict.sentence


@pytest.mark.thorough
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_prices_are_reached_or_the_slack_is_explained(budget):
    for name in draws(("race", "histogram", "distance"), tuple(cards())):
        try:
            trial = of_mechanism(cards()[name], budget)
        except RequestError:
            continue
        if trial is not None:
            verdict = examine(trial, draws(1, 3))
            assert verdict.reached >= CLOSE * float(budget.epsilon) or verdict.slack, name


PYTHONS_OWN = ("auditing/replaying.py", "privacy/ledger/ledger_store.py")
"""What replaces the bytes of the system in an audit, and how long a ledger waits for another process."""


@cache
def texts():
    room = Path(core.__file__).parent
    return {str(path.relative_to(room)): path.read_text(encoding="utf-8") for path in room.rglob("*.py")}


def test_who_takes_private_bits_puts_what_they_become_on_the_tape():
    """A file that opens a stream of random bits and knows no law of what it draws cannot be replayed."""
    for where, text in texts().items():
        drawing = text.replace("request.stream()", "")  # what comes over a network
        if ".stream()" in drawing and not where.startswith("privacy/replay/"):
            assert "replay.tape import" in text, where


@pytest.mark.thorough
def test_no_randomness_but_from_the_source():
    """NumPy's generators have public seeds but for made-up people, and the system's bytes are read in one file."""
    for where, text in texts().items():
        if not re.search(r"import .*\brandom\b|urandom|np\.random\.|default_rng", text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                assert "random" not in [name.name for name in node.names] or where in PYTHONS_OWN, where
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                called = ast.unparse(node.func)
                assert called != "os.urandom" or where.endswith(("randomness.py", "compiled_code.py")), where
                assert not called.startswith(("np.random.seed", "np.random.normal", "np.random.laplace")), where
                if called.endswith("default_rng") and not where.startswith("lab/"):
                    assert node.args or node.keywords, where


def test_reports_quote_an_audit_of_this_version_and_of_every_mechanism():
    """`python -m benchmarks.audited` writes what they quote; nothing may have cost more than was promised."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    assert found["by"] == SOFTWARE
    assert set(found["mechanisms"]) == {name for name, card in cards().items() if card.make is not None}
    assert all(0 < one["used"] <= 1 for verdicts in found["mechanisms"].values() for one in verdicts.values())


@pytest.mark.deep
def test_reports_quote_an_audit_under_every_promise_that_a_mechanism_can_keep():
    found = json.loads(FILE.read_text(encoding="utf-8"))
    kinds = {}
    for trial in mechanisms():
        kind = f"{trial.budget.neighbours} {'delta' if trial.budget.delta else 'pure'}"
        kinds.setdefault(trial.name.split(",")[0], set()).add(kind)
    assert {name: set(verdicts) for name, verdicts in found["mechanisms"].items()} == kinds
