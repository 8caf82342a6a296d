"""Replay finds what it must: small mechanisms with one fault each, and the same without it."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import pandas as pd
import pytest

from core.auditing import replaying
from core.auditing.replaying import Promise, Recorded, _unlike
from core.errors import RequestError
from core.privacy.accounting import Cost
from core.privacy.budget import Sensitivity
from core.privacy.calibration import NoiseScale
from core.privacy.composition import PureParts
from core.privacy.ledger.ledger import Ledger
from core.privacy.noise.divided_noise import add_part
from core.privacy.noise.noise import add_noise
from core.privacy.noise.randomness import SeededSource, SystemSource
from core.privacy.replay.laws import CounterNoise, NoisePart
from core.privacy.replay.tape import Draw, Tape, recording, tossed

LAPLACE = NoiseScale("discrete_laplace", Fraction(1))
DATA, NEIGHBOUR = pd.DataFrame({"x": [1.0, 2.0, 3.0]}), pd.DataFrame({"x": [1.0, 2.0]})
COST = Cost.of([(Sensitivity(1, 1), LAPLACE)], Decimal(1))


def counted(records, source=None, scale=LAPLACE):
    return int(add_noise(np.array([len(records)]), scale, source)[0])


def paying(world):
    ledger = Ledger(world.ledger)
    ledger.register("D", 1)
    return ledger


def found(release, paid=False):
    with Recorded(release, DATA, Promise(Fraction(1), paid=paid)) as recorded:
        return recorded.against(NEIGHBOUR)


def sound(records, world):
    paying(world).spend("D", COST)
    return counted(records)


def test_a_sound_release_passes_and_uses_all_of_its_promise():
    shown = found(sound, paid=True)
    assert shown.passed and shown.reached == 1.0 and shown.draws == 1


@pytest.mark.parametrize(("total", "price", "words"), [("1", "1", ""), ("2", "2", "the ledger has (ε, δ) = (2, 0)")])
def test_a_release_that_is_refused_by_what_it_bought_first_has_paid_for_that_and_no_more(total, price, words):
    """One in two hundred has too few records that fit, by noise alone: the audit missed the rest of its price."""

    def refused(records, world):
        ledger = Ledger(world.ledger)
        ledger.register("D", total)
        ledger.spend("D", Cost.of([(Sensitivity(1, 1), LAPLACE)], Decimal(price)))
        counted(records)
        raise RequestError("Hardly any record fits.")

    with Recorded(refused, DATA, Promise(Fraction(3, 2))) as recorded:
        findings = recorded.against(NEIGHBOUR).findings
    assert all(one.startswith(words) for one in findings) and bool(findings) == bool(words)


@pytest.mark.parametrize(("kept", "words"), [("1", ""), ("0.5", "noise was drawn that hides ε = 1 when 0.5")])
def test_what_is_given_back_of_a_price_leaves_what_was_drawn_of_it(kept, words):
    """An audit counted all that had been written, so that a ledger might forget what was spent of it."""

    def refused(records, world):
        ledger = Ledger(world.ledger)
        ledger.register("D", 2)
        entry = ledger.spend("D", Cost((PureParts(Fraction(3, 2)),), Decimal("1.5")))
        counted(records)
        ledger.give_back("D", entry, Cost((PureParts(Fraction(kept)),), Decimal(kept)))
        raise RequestError("Nothing was found.")

    with Recorded(refused, DATA, Promise(Fraction(3, 2))) as recorded:
        findings = recorded.against(NEIGHBOUR).findings
    assert all(one.startswith(words) for one in findings) and bool(findings) == bool(words)


@pytest.mark.parametrize("drawn", [False, True])
def test_a_release_that_breaks_is_not_taken_for_one_that_keeps_its_promise(drawn):
    """Both ended in the same error, so nothing differed, and nothing after it was looked at."""

    def broken(records, world):
        paying(world).spend("D", COST)
        if drawn:
            counted(records)
        raise TypeError("one argument too many")

    assert "it ended in a TypeError, which is no refusal" in found(broken, paid=True).findings


def exact_beside(records, world):
    return counted(records), float(records.x.sum())


def too_little_noise(records, world):
    return counted(records, scale=NoiseScale("discrete_laplace", Fraction(99, 100)))


def twice_at_one_price(records, world):
    return counted(records), counted(records)


def left_in_a_file(records, world):
    Path(gettempdir(), "rest").write_text(str(len(records)))
    return counted(records)


def printed(records, world):
    print(len(records))
    return counted(records)


def scale_of_the_data(records, world):
    return counted(records, scale=NoiseScale("discrete_laplace", Fraction(len(records))))


def more_draws(records, world):
    return [counted(records) for _ in range(len(records))]


def from_a_seed(records, world):
    return counted(records, SeededSource(0))


def refused_by_size(records, world):
    noisy = counted(records)
    if len(records) > 2:
        raise ValueError("There are too many records.")
    return noisy


def noise_used_again(records, world):
    class Again:
        private = True
        stream_ = None

        def stream(self):
            Again.stream_ = Again.stream_ or SystemSource().stream()
            return Again.stream_

    table, source = np.array([len(records)]), Again()
    return [int(add_noise(table * 0, LAPLACE, source)[0]), int(add_noise(table, LAPLACE, source)[0])]


def outside_of_draws(records, world):
    return int(SystemSource().stream().words(1)[0] % np.uint64(2)) + counted(records)


def float_beside(records, world):
    return counted(records) + 1e-12 * len(records)


@pytest.mark.parametrize(
    "release",
    [
        exact_beside, too_little_noise, twice_at_one_price, left_in_a_file, printed, scale_of_the_data, more_draws,
        from_a_seed, refused_by_size, noise_used_again, outside_of_draws, float_beside,
    ],
)  # fmt: skip
def test_a_leak_is_found(release):
    assert not found(release).passed


def paid_afterwards(records, world):
    ledger, noisy = paying(world), counted(records)
    ledger.spend("D", COST)
    return noisy


def half_paid(records, world):
    half = NoiseScale("discrete_laplace", Fraction(2))
    paying(world).spend("D", Cost.of([(Sensitivity(1, 1), half)], Decimal("0.5")))
    return counted(records)


def not_paid(records, world):
    return counted(records)


@pytest.mark.parametrize("release", [paid_afterwards, half_paid, not_paid])
def test_what_was_not_paid_before_it_was_drawn_is_found(release):
    assert not found(release, paid=True).passed


@pytest.mark.parametrize("law", ["discrete_laplace", "discrete_gaussian"])
def test_a_single_count_whose_noise_happens_to_be_none_was_taken_for_noise_of_another_law(law):
    """One of scale 100 is drawn so in one release of 200; no release of 26 such counters is."""
    scale = Fraction(100 if law == "discrete_laplace" else 10_000)
    for counters, findings in ((1, 0), (26, 1)):
        exact = np.zeros(counters, np.int64)
        tape = Tape()
        tape.draws.append(Draw(CounterNoise(law, scale, exact.shape), exact, exact, 0))
        assert len(list(_unlike(tape))) == findings


@pytest.mark.parametrize(("scale", "owners"), [("0.7", 2), ("8", 2), ("8", 5), ("1000", 5)])
def test_half_a_part_of_noise_that_passes_as_a_whole_one(scale, owners):
    """A sound part is taken for another one with a probability of 1e-12."""
    hidden, b = np.zeros(8_192, np.int64), Fraction(scale)
    law = NoisePart("discrete_laplace", b, Fraction(1, owners), hidden.shape)
    for parts, findings in ((owners, 0), (2 * owners, 1)):
        tape = Tape()
        noise = add_part(hidden, NoiseScale("discrete_laplace", b), parts)
        tape.draws.append(Draw(law, hidden, noise, 0))
        assert len(list(_unlike(tape))) == findings


def test_no_more_is_said_to_be_used_than_was_promised_where_nothing_is_wrong(monkeypatch):
    """Of ε = 6 "at most 6.332 was used": a bound that is loose where many distributions would have to be convolved."""
    monkeypatch.setattr(replaying, "epsilon_of", lambda losses, delta: 1.5)
    assert found(sound, paid=True).reached == 1.0 and found(sound, paid=True).passed
    assert not found(lambda records, world: len(records)).passed


def test_nobody_tosses_coins_where_there_is_nobody():
    """Records of several columns of which nobody is left: the replay itself broke."""

    def heads(number):
        return np.ones(number, dtype=bool)

    with recording(Tape()) as first:
        assert tossed("each by itself", np.ones((1, 3)), heads).tolist() == [True]
    with recording(Tape(first)) as again:
        assert tossed("each by itself", np.ones((0, 3)), heads).tolist() == []
    assert again.lemmas == first.lemmas
