"""Processes of a round that are killed (kill -9) before and after whatever they do to a disk, and begin again.

Nothing is paid for twice, nothing that was handed out changes, and no exact number is on a disk.
"""

import os
import shutil
import signal
import sys

import numpy as np
import pytest

from core.errors import RequestError
from core.privacy.ledger.ledger import Ledger
from core.releases.release import load
from core.releases.rounds.convenor_steps import ask_to_unmask, put_round_together
from core.releases.rounds.coordinator import Coordinator, Stage
from core.releases.rounds.owner_steps import kept_hello, unmask
from core.releases.rounds.round_plan import RoundPlan
from tests.depth import draws
from tests.releases.owners_for_tests import DOMAIN, Owners

STEPS = {"commit", "fsync", "open", "replace", "unlink", "write"}  # Of the disk, as C functions are called.
NAME = "owner 0"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills real processes")


def was_killed(action, at):
    """Whether a process of its own was killed at a step, from 0: before every call of `STEPS`, and behind it."""
    child = os.fork()
    if not child:
        passed = iter(range(at))

        def watch(frame, event, called):
            if event in ("c_call", "c_return") and called.__name__ in STEPS and next(passed, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(watch)
        try:
            action()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def every_kill(tmp_path, before, action):
    """Folders in which the action was killed at one step after the other: some of them, or in deep tests all."""
    at = 0
    while True:
        now = tmp_path / f"killed {at}"
        shutil.copytree(before, now)
        if not was_killed(lambda now=now: action(now), at):
            assert at > 3
            return
        yield now
        shutil.rmtree(now)
        at += draws(32, 1)


def no_exact_number(owners, folder):
    """Whether no file has a row of the exact table, as any type of whole numbers."""
    table = owners.plan.sketch.zeros()
    owners.plan.sketch.add(table, DOMAIN.encode_queries(owners.records(NAME), owners.plan.sketch.metric))
    needles = [row.astype(kind).tobytes() for row in table for kind in ("<i8", "<i4", "<i2")]
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return files and not any(needle in content for needle in needles for content in files)


@pytest.mark.few(1)
@pytest.mark.parametrize("way", ["full", "masked"])
def test_an_owner_killed_at_every_step_pays_twice_or_shows_a_second_share(tmp_path, way):
    owners, before = Owners(tmp_path, way), tmp_path / "before"
    before.mkdir()
    Ledger(before / "ledger.sqlite").register(NAME, 1)
    another = Owners(tmp_path, way)

    def share(folder):
        return owners.share(NAME, ledger=str(folder / "ledger.sqlite"))

    for now in every_kill(tmp_path, before, share):
        assert no_exact_number(owners, now)
        left = [path.read_bytes() for path in now.rglob("*.share")]
        made = share(now)
        assert left in ([], [made]) and share(now) == made
        assert len(Ledger(now / "ledger.sqlite").entries(NAME)) == 1
        assert no_exact_number(owners, now)
        with pytest.raises(RequestError, match="made for another round"):
            put_round_together(another.plan, [*another.hellos.values(), made])


@pytest.mark.thorough
def test_an_owner_killed_while_it_says_hello_or_answers_tells_two_stories(tmp_path):
    owners, before = Owners(tmp_path, count=5, said={"least": 4, "honest": 3}), tmp_path / "before"
    before.mkdir()
    Ledger(before / "ledger.sqlite").register(NAME, 1)
    hellos, shares, key = list(owners.hellos.values()), owners.shares(), owners.keys[NAME]
    one, two = (
        ask_to_unmask(owners.plan, [*hellos, *(share for name, share in shares.items() if name != gone)])
        for gone in ("owner 3", "owner 4")
    )

    def told(folder, request=one):
        ledger = Ledger(folder / "ledger.sqlite")
        return kept_hello(owners.plan, key, ledger), unmask(owners.plan, key, request, hellos, ledger=ledger)

    for now in every_kill(tmp_path, before, told):
        left = {path.suffix: path.read_bytes() for path in now.rglob("round-*") if path.suffix in (".hello", ".unmask")}
        hello, answer = told(now)
        assert left.get(".hello", hello) == hello and left.get(".unmask", answer) == answer
        with pytest.raises(RequestError, match="has answered another request"):
            told(now, two)


@pytest.mark.thorough
def test_a_convenor_killed_at_every_step_leaves_half_a_file(tmp_path):
    owners, before = Owners(tmp_path, "full"), tmp_path / "before"
    before.mkdir()
    shares = list(owners.shares().values())

    def together(folder):
        if not (folder / "plan.json").exists():
            owners.plan.save(folder / "plan.json")
        put_round_together(RoundPlan.load(folder / "plan.json"), shares).save(folder / "all.npz")
        return np.asarray(load(folder / "all.npz").counters)

    once = together(tmp_path)
    for now in every_kill(tmp_path, before, together):
        for path in now.glob("*.npz"):
            assert np.array_equal(load(path).counters, once)
        for path in now.glob("*.json"):
            assert RoundPlan.load(path).digest == owners.plan.digest
        assert np.array_equal(together(now), once) and no_exact_number(owners, now)
        assert not list(now.glob(".*"))  # what was half written is swept


@pytest.mark.thorough
def test_a_coordinator_killed_at_every_step_goes_on_with_the_same_round(tmp_path):
    owners, before = Owners(tmp_path, count=3), tmp_path / "before"
    before.mkdir()
    shares = owners.shares()
    answers = dict(zip(owners.keys, owners.answers([*owners.hellos.values(), *shares.values()]), strict=True))

    def coordinate(folder):
        coordinator = Coordinator(owners.plan, folder)
        for kind, messages in (("hello", owners.hellos), ("share", shares), ("unmask", answers)):
            for name, message in messages.items():
                coordinator.take(name, kind, message)
        return coordinator.stage()

    for now in every_kill(tmp_path, before, coordinate):
        left = {path.name: path.read_bytes() for path in now.iterdir() if not path.name.startswith(".")}
        assert coordinate(now) == Stage.DONE
        assert all((now / name).read_bytes() == content for name, content in left.items())
        assert load(now / "release.npz").combined.shares == 3 and no_exact_number(owners, now)
