"""How far apart records are: what it costs, how far one record moves it, and that it is about right."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from core import Budget, Domain
from core.domain import PrivacyUnit
from core.errors import RequestError
from core.privacy.accounting import Cost, Gaussian, PureParts
from core.privacy.budget import Sensitivity
from core.privacy.calibration import calibrate, largest_rho
from core.privacy.ledger.ledger import Ledger
from core.privacy.noise.randomness import SeededSource
from core.releases.discovery_stage import Discovery
from core.releases.fitting import Fitting
from core.releases.payment import LedgerAccount
from core.releases.purchase_plan import PurchasePlan, Purchasing
from core.releases.stages import MOST, UNIT, Count, Known, Pairs, Spread
from core.sources import open_source
from core.sources.frames_and_arrays import Drawn

BOX = Domain.of(**{f"x{place}": (0, 10) for place in range(5)}, scale="box")


def records(spread, count=4000):
    """Bells in the middle of the bounds, of so large a share of them."""
    random = np.random.default_rng(0)
    points = np.clip(random.normal(5, 10 * spread, (count, 5)), 0, 10)
    return Drawn.of(open_source({name: points[:, place] for place, name in enumerate(BOX.names)}), BOX, 10**6)


def priced(known):
    """A table that takes what is left."""
    moved = Sensitivity(1, 1)
    epsilon = known.left.epsilon
    return SimpleNamespace(cost=Cost.of([(moved, calibrate(moved, Fraction(epsilon)))], epsilon), known=known)


def spread_first(source, budget, count, payer, made, noise_source=None):
    """What is known once how far they lie apart was bought, where it was."""
    plan = PurchasePlan([Spread(BOX)], Known(budget, count), made)
    return Purchasing(plan, source, payer, noise_source).run().known


def offered(budget, count):
    return Spread(BOX).offered(Known(budget, count))


def summed(points, drawn, cut=0, buckets=None):
    """Of records that are read in two batches."""
    pairs = Pairs(buckets or int(max(drawn, default=0)) + 1, points.shape[1])
    drawn = np.asarray(drawn, np.uint64)
    pairs.add(points[:cut], drawn[:cut])
    pairs.add(points[cut:], drawn[cut:])
    return pairs.sum()


@pytest.mark.parametrize("spread", [0.04, 0.1, 0.25])
def test_it_is_about_what_it_is(spread):
    found = spread_first(records(spread), Budget(1), 4000, None, priced, SeededSource(2))
    assert found.spread == pytest.approx(spread, abs=0.4 * max(spread, 0.1))  # noise hides what is narrower
    assert found.left.epsilon + found.costs[0].epsilon == 1 and found.costs[0].epsilon <= MOST


def test_one_record_more_moves_the_sum_by_one_pair_at_most_and_some_by_all_of_it():
    """Adversarial neighbours: corners and ties, at every place in the file and in every bucket."""
    random = np.random.default_rng(2)
    widest = 0
    for _ in range(60):
        count, buckets = int(random.integers(0, 12)), int(random.integers(1, 5))
        points = random.choice([0.0, 0.3, 1.0], (count + 1, 3))
        drawn = random.integers(0, buckets, count + 1)
        whole = summed(points, drawn)
        for place in range(count + 1):
            less = abs(whole - summed(np.delete(points, place, 0), np.delete(drawn, place)))
            other = points.copy()
            other[place] = 1.0 - other[place]
            widest = max(widest, less, abs(whole - summed(other, drawn)))
    assert widest == UNIT


def test_a_count_is_public_only_where_a_neighbour_replaces_a_record_and_none_is_left_out():
    kept = replace(BOX, outside="clamp", missing="refuse")
    leaves_out = replace(BOX, missing="drop")
    cases = ((kept, "replace_one", True), (kept, "add_remove", False), (leaves_out, "replace_one", False))
    for domain, relation, public in cases:
        offer = Count(domain).offered(Known(Budget(1, 0, relation), 1.0))
        assert (offer.cost is None) == (offer.noise is None) == public and domain.keeps_every_record == (domain is kept)


def test_noise_of_a_count_is_for_all_records_that_one_person_may_have():
    for most in (1, 3):
        offer = Count(replace(BOX, unit=PrivacyUnit("id", most))).offered(Known(Budget(1), 1.0))
        assert offer.noise.parameter >= most / Fraction(offer.cost.epsilon)


def test_noise_of_the_spread_is_for_all_pairs_that_one_person_may_move():
    for most in (1, 3):
        domain = replace(BOX, unit=PrivacyUnit("id", most))
        offer = Spread(domain).offered(Known(Budget(4), 10_000))
        assert offer.noise.parameter >= most * UNIT / Fraction(offer.cost.epsilon)


def test_who_is_a_pair_does_not_hang_on_the_order_in_which_records_are_read():
    """A changed value may move all records of a table: shuffled, and in two batches, with draws that tie and do not."""
    random = np.random.default_rng(4)
    for most in (5, 40, 1 << 62):
        points, drawn = random.random((60, 3)), random.integers(0, most, 60)
        sums = set()
        for _ in range(8):
            order = random.permutation(60)
            sums.add(summed(points[order], drawn[order], int(random.integers(0, 61)), 5))
        assert len(sums) == 1


def test_a_pair_counts_the_same_whoever_else_is_there():
    random = np.random.default_rng(3)
    points = random.random((500, 7))
    drawn = np.repeat(np.arange(250), 2)
    one_by_one = sum(summed(points[at : at + 2], drawn[at : at + 2]) for at in range(0, 500, 2))
    assert summed(points, drawn) == summed(points, drawn, 173) == one_by_one


def test_nothing_is_bought_where_it_would_say_too_little_or_the_ledger_has_no_room(tmp_path):
    assert offered(Budget(1), 150) is None and offered(Budget("0.01"), 10_000) is None
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.register("people", "0.99")
    payer = LedgerAccount(ledger, "people", Budget(1), "record")
    known = spread_first(records(0.1), Budget(1), 4000, payer, priced)
    assert known.spread is None and known.left == Budget(1) and not ledger.status("people").releases


def test_what_suits_a_spread_but_not_the_total_is_made_for_ordinary_records(tmp_path):
    """After Gaussian noise a total has room for pure noise in many parts, and not for as much of it in one."""
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.register("people", 1, "3e-7")
    before = Cost((Gaussian(Fraction(largest_rho(0.5, 1e-7))),), "0.5", "1e-7")
    ledger.spend("people", before, {"mechanism": "other"})

    def made(known):
        parts = 400 if known.spread is None else 1
        cost = Cost((PureParts(Fraction(known.left.epsilon) / parts, parts),), known.left.epsilon)
        return SimpleNamespace(cost=cost)

    payer = LedgerAccount(ledger, "people", Budget("0.8"), "record")
    known = spread_first(records(0.1), Budget("0.8"), 4000, payer, made)
    assert known.spread is None and len(known.costs) == 1 and payer.has_room_for(made(known).cost)
    assert payer.spent is False and payer.gone == payer.before == known.costs[0].epsilon


def test_what_others_spent_while_records_were_read_left_no_room_and_nothing_is_bought_for_it(tmp_path):
    """Room is asked for again after the reading: a spread beside which the table has no room is money for nothing."""
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.register("people", "1.5")
    payer = LedgerAccount(ledger, "people", Budget(1), "record")
    buying = Purchasing(PurchasePlan([Spread(BOX)], Known(Budget(1), 4000), priced), records(0.1), payer)
    for _ in buying:
        pass
    assert buying.buys
    moved = Sensitivity(1, 1)
    ledger.spend("people", Cost.of([(moved, calibrate(moved, Fraction("0.7")))], "0.7"), {"mechanism": "other"})
    known = buying.finish().known
    assert known.spread is None and not known.costs and len(ledger.status("people").releases) == 1


def test_no_stage_is_bought_of_files_that_changed_while_they_were_read(tmp_path):
    path, known = tmp_path / "people.csv", Known(Budget(1), 100.0)
    path.write_text("x,y\n" + "1,2\n" * 100)
    domain, source = Domain.of(x=(0, 10), y=(0, 10)), open_source(path)
    for stage in (Count(domain), Spread(domain), Fitting(domain), Discovery.of_source(source, Budget(1))):
        steps = stage.read(known, source, SeededSource(1))
        next(steps)
        path.write_text(path.read_text() + "3,4\n")
        with pytest.raises(RequestError, match="changed while it was read"):
            list(steps)
