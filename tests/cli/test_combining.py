"""Several owners make one release by files: every step a command, each in a folder and with a ledger of its own."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import Ledger, load

OWNERS = ("north", "south", "west")
SKETCH = (
    *("--bounds", "x=0:8", "--epsilon", "1", "--mechanism", "race", "--kernel", "laplacian", "--bandwidth", "2"),
    *("--rows", "8", "--width", "16", "--seed", "1"),
)


@pytest.fixture
def step(command, tmp_path):
    """Run a command; standard error is given back, and exit codes other than 0 fail unless they are expected."""

    def run(*arguments, code=0):
        result = command("combine", *arguments)
        assert result.exit_code == code, result.output
        return result.stdout + result.stderr

    for name in OWNERS:
        run("key", "--out", f"{name}.key")
        random = np.random.default_rng(len(name))
        pd.DataFrame({"x": random.uniform(0, 8, 500)}).to_csv(f"{name}.csv", index=False)
    return run


def share(step, plan, name, *more, **expected):
    own = ("--key", f"{name}.key", "--as", name, "--ledger", f"{name}.sqlite", "--out", f"{name}.share")
    return step("share", plan, f"{name}.csv", *own, *more, **expected)


@pytest.mark.thorough
def test_three_owners_make_a_masked_release_of_which_one_never_sends_its_share(step):
    said = step(
        *("plan", "--owners", ",".join(OWNERS), *SKETCH, "--records", "1000"),
        *("--least", "2", "--honest", "2", "--out", "plan.json"),
        code=2,
    )
    assert "must be at least 5" in said  # a convenor could have both secrets of one owner
    step(
        *("plan", "--owners", ",".join(OWNERS), *SKETCH, "--records", "1000"),
        *("--least", "3", "--honest", "2", "--out", "plan.json"),
    )
    told = step("show", "plan.json")
    assert "epsilon 1" in told and "your ledger pays that" in told and "fingerprint" in told
    for name in OWNERS:
        own = ("--key", f"{name}.key", "--ledger", f"{name}.sqlite", "--out", f"{name}.hello")
        step("hello", "plan.json", *own)
        first = Path(f"{name}.hello").read_bytes()
        step("hello", "plan.json", *own)  # each hello says when it was made: a second one would undo the masks
        assert Path(f"{name}.hello").read_bytes() == first
    hellos = [part for name in OWNERS for part in ("--hello", f"{name}.hello")]
    for name in OWNERS:
        assert "has paid" in share(step, "plan.json", name, *hellos)
    made = [*(f"{name}.hello" for name in OWNERS), *(f"{name}.share" for name in OWNERS)]
    assert "2 shares" not in step("sum", "plan.json", *made, "--request", "request.json")
    for name in OWNERS:
        own = ("--key", f"{name}.key", "--ledger", f"{name}.sqlite", "--out", f"{name}.unmask")
        step("unmask", "plan.json", "request.json", *(f"{one}.hello" for one in OWNERS), *own)
    said = step("sum", "plan.json", *made, *(f"{name}.unmask" for name in OWNERS), "--out", "all.npz")
    assert "3 of 3 owners made it together" in said
    release = load("all.npz")
    assert abs(release.records - 1_500) < 200 and release.private and release.combined.way == "masked"
    for name in OWNERS:
        assert Ledger(f"{name}.sqlite").status(name).spent == pytest.approx(1)


@pytest.mark.thorough
def test_a_share_that_is_asked_for_again_is_the_same_file_and_costs_nothing_more(step):
    step("plan", "--owners", "north,south", *SKETCH, "--noise", "full", "--out", "p.json")
    share(step, "p.json", "north")
    first = Path("north.share").read_bytes()
    share(step, "p.json", "north")
    assert Path("north.share").read_bytes() == first and len(Ledger("north.sqlite").status("north").releases) == 1
    assert "There are 1 shares" in step("sum", "p.json", "north.share", "--out", "r.npz", code=2)
    share(step, "p.json", "south")
    step("sum", "p.json", "north.share", "south.share", "--out", "r.npz")
    assert load("r.npz").combined.sentence.startswith("2 of 2 owners")


def test_a_key_a_plan_or_a_file_that_is_none_is_refused_in_a_sentence(step):
    assert "no public key" in step("plan", "--owners", "north,nobody", *SKETCH, "--out", "p.json", code=2)
    step("plan", "--owners", "north,south", *SKETCH, "--out", "p.json")
    said = step("hello", "p.json", "--key", "west.key", "--out", "west.hello", code=2)
    assert "does not know this key" in said
    assert "already" in step("plan", "--owners", "north,south", *SKETCH, "--out", "p.json", code=2)


@pytest.mark.thorough
def test_a_coordinator_whose_invitation_address_or_certificate_is_none(step):
    step("plan", "--owners", "north,south", *SKETCH, "--noise", "full", "--out", "p.json")
    serve = ("serve", "p.json", "--folder", "F")
    assert "which 'http://x' is not" in step(*serve, "--url", "http://x", code=2)
    assert "or neither" in step(*serve, "--certificate", "tls.pem", code=2)
    assert "each for its owner alone" in step(*serve, "--invite", "--url", "https://127.0.0.1:9")
    own = ("--key", "north.key", "--ledger", "north.sqlite", "--out", "north.npz", "--patience", "0")
    assert "no invitation" in step("join", "p.json", "p.json", "north.csv", *own, code=2)
    assert "cannot be reached" in step("join", "p.json", "F/1-north.invitation", "north.csv", *own, code=2)
    assert not Ledger("north.sqlite").names()
