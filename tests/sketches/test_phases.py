"""The public tables of integers: exact entry by entry, bounded, and unbiased however coarse."""

import hashlib
from decimal import Decimal, localcontext

import numpy as np
import pytest

from core.sketches.phases import AMPLITUDE, STEPS, Waves, waves


def exact_octant() -> list[tuple[Decimal, Decimal]]:
    """A cos and A sin of m/M turns for the first eighth, by Taylor's series with 50 digits each."""
    with localcontext() as context:
        context.prec = 50
        pi = Decimal("3.14159265358979323846264338327950288419716939937510582")
        points = []
        for m in range(STEPS // 8 + 1):
            angle = 2 * pi * m / STEPS
            square, term, cosine, sine = angle * angle, Decimal(1), Decimal(0), Decimal(0)
            for n in range(0, 36, 2):
                cosine += term
                sine += term * angle / (n + 1)
                term *= -square / ((n + 1) * (n + 2))
            points.append((AMPLITUDE * cosine, AMPLITUDE * sine))
        return points


@pytest.mark.thorough
def test_every_entry_of_the_circle_is_cut_exactly_and_none_is_near_a_tie():
    table = waves("circle").points
    for m, exact in enumerate(exact_octant()):
        for entry, value in zip(table[m], exact, strict=True):
            if m:
                assert abs(value - value.to_integral_value()) > Decimal(2) ** -60
            assert entry == int(value + Decimal(10) ** -40)
    c, s = table.T
    quarter, eighth = STEPS // 4, STEPS // 8
    assert (table[np.arange(1, eighth + 1)] == table[quarter - np.arange(1, eighth + 1)][:, ::-1]).all()
    assert (np.roll(c, -quarter) == -s).all() and (np.roll(s, -quarter) == c).all()


def test_the_circle_is_the_same_for_ever():
    """If this fails, files released earlier can no longer be read rightly."""
    digest = hashlib.sha256(waves("circle").points.astype("<i8").tobytes()).hexdigest()
    assert digest == KNOWN_CIRCLE


KNOWN_CIRCLE = "4da0c8b60589ffc8b72995bd26c4379ddc9174b7f27e5bbf837538318655e000"


def test_bounds_hold_for_every_entry_and_are_reached():
    circle, quadrant = waves("circle"), waves("quadrant")
    assert circle.l1 == int(np.sqrt(2.0) * AMPLITUDE) and circle.l2_squared == AMPLITUDE**2
    assert (circle.largest, quadrant.l1, quadrant.l2_squared, quadrant.largest) == (AMPLITUDE, 1, 1, 1)
    for table in (circle, quadrant):
        opposite = np.roll(table.points, table.steps // 2, axis=0)
        moved = table.points - opposite
        assert np.abs(moved).sum(axis=1).max() == 2 * table.l1
        assert (moved**2).sum(axis=1).max() == 4 * table.l2_squared


@pytest.mark.deep
@pytest.mark.parametrize("name", ["circle", "quadrant"])
def test_a_random_phase_leaves_no_bias(name):
    """The average over a million phases, which is the integral but for the ends of the table's steps."""
    table = waves(name)
    b = (np.arange(1 << 20) + 0.5) / (1 << 20)
    for u, v in ((0.0, 0.0), (0.13, 0.13), (0.2, 0.9), (0.7, 0.45)):
        entries = table.points[np.floor((u + b) % 1.0 * table.steps).astype(int) % table.steps]
        angle = 2.0 * np.pi * (v + b - table.delay)
        mean = np.mean(entries[:, 0] * np.cos(angle) + entries[:, 1] * np.sin(angle))
        assert mean / table.gain == pytest.approx(np.cos(2.0 * np.pi * (u - v)), abs=1e-5)


def test_gains_are_what_the_noise_is_divided_by():
    assert waves("circle").gain == pytest.approx(AMPLITUDE, rel=3e-5)
    assert waves("quadrant").gain == pytest.approx(2.0 * np.sqrt(2.0) / np.pi)


@pytest.mark.parametrize("name", ["circle", "quadrant"])
def test_packed_entries_come_apart_again(name):
    table: Waves = waves(name)
    low = table.packed.astype(np.uint64).astype(np.uint32).astype(np.int32)
    assert (low == table.points[:, 0]).all() and ((table.packed - low) >> 32 == table.points[:, 1]).all()
