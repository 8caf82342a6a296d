"""A million devices with one record each: parts of noise, added up in a tree, beside one trusted owner's release.

    python -m benchmarks.population [--devices 1000000] [--counters 100] [--group 1000] [--honest 0.9]

Every device adds its t-th part of discrete Laplace noise (`divided_noise`) to a table in which it moves one counter by
one, aggregators add up `--group` devices each, and the root adds up aggregators; the workers of `--engine dask` are the
aggregators. t counts honest devices among *all*: the parts of any t make up the noise of the root's sum, in whatever
order they were added. It is not so of an aggregator's sum: with h honest devices in a group it has h/t of the noise
only, so aggregators must see no sums in the clear. Either masks are those of one ring of all devices: whoever sees
every share learns nothing but the sum of all (`masking`, with its limits), so aggregators, who see some shares, learn
no more, and the tree is addition modulo 2^b in another order. Or every group is a round by itself with t honest
devices of its own: then each group's sum is private by itself, and the total has the noise of all groups,
√(devices / t) times one owner's, t of one group.

Noise and sums are those of all devices. Masks are measured in one group whose ring is closed, where they must cancel;
keys, their agreement and messages are not part of it, nor are Shamir's shares.
"""

from __future__ import annotations

import argparse
import math
import secrets
from fractions import Fraction
from time import perf_counter, process_time

import numpy as np

from core.privacy.calibration import NoiseScale
from core.privacy.noise.discrete_samplers import LaplaceSampler
from core.privacy.noise.divided_noise import LaplacePart, reach
from core.privacy.noise.randomness import SystemSource
from core.releases.engine.cluster import connected
from core.releases.rounds.masking import PART_BYTES, add_stream, neighbourhood
from core.releases.rounds.round_plan import WRAPS

SCALE = NoiseScale("discrete_laplace", Fraction(1))  # ε = 1: a device more or less moves one counter by one.


def aggregate(first: int, devices: int, counters: int, honest: int) -> tuple[np.ndarray, float]:
    """The sum of one group's shares, and the seconds of processor time it took."""
    began = process_time()
    part = LaplacePart(LaplaceSampler.of(SCALE.parameter, signed=False), honest)
    drawn = part.draw(devices * counters, SystemSource().stream())
    for index, number in drawn.exact.items():  # the few that the fast draw leaves to whole numbers of any length
        drawn.values[index] = number
    shares = drawn.values.reshape(devices, counters)
    shares[np.arange(devices), np.arange(first, first + devices) % counters] += 1
    return shares.sum(axis=0), process_time() - began


def mask_group(devices: int, counters: int, degree: int) -> float:
    """Seconds of processor time for a device's masks; AssertionError where those of a closed ring do not cancel."""
    began, total = process_time(), np.zeros(counters, np.uint32)
    pairs = {
        (i, (i + step) % devices): secrets.token_bytes(32) for i in range(devices) for step in range(1, degree // 2 + 1)
    }
    shares = np.zeros((devices, counters), np.uint32)
    for (one, other), secret in pairs.items():
        add_stream(shares[one], secret, 1)
        add_stream(shares[other], secret, -1)
    total = shares.sum(axis=0, dtype=np.uint32)
    assert shares.any(axis=1).all() and not total.any(), "masks do not cancel"
    return (process_time() - began) / devices


def on_paper(devices: int, counters: int, share: float) -> str:
    """What follows for so many devices: a share is honest; half of the others may never send, half be dishonest."""
    honest, least = int(share * devices), int((1 + share) / 2 * devices)
    degree, threshold = neighbourhood(devices, honest, least)
    most = devices + reach(SCALE, devices, honest, WRAPS / counters)
    bits = next(b for b in (32, 64) if most < 1 << b - 1)
    sent = counters * bits // 8 + 3 * degree * PART_BYTES  # a hello has two a neighbour, an unmask one
    return (
        f"{devices:,} devices: {bits} bits cannot wrap (|sum| <= {most:,}), {degree} neighbours of whom {threshold} "
        f"recover a mask, {sent:,} bytes of table and parts of secrets sent a device, "
        f"{devices * counters:.2g} additions, noise {math.sqrt(devices / honest):.3f} x one owner's if all send "
        f"and {math.sqrt(least / honest):.3f} x if "
        f"{devices - least:,} do not"
    )


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--devices", type=int, default=1_000_000)
    parser.add_argument("--counters", type=int, default=100)
    parser.add_argument("--group", type=int, default=1000)
    parser.add_argument("--honest", type=float, default=0.9)
    asked = parser.parse_args()
    honest, began = int(asked.honest * asked.devices), perf_counter()
    starts = range(0, asked.devices, asked.group)
    sizes = [min(asked.group, asked.devices - start) for start in starts]
    with connected(None) as client:
        ready = perf_counter()
        groups = client.gather(
            client.map(aggregate, starts, sizes, counters=asked.counters, honest=honest, pure=False, batch_size=50)
        )
        seconds = perf_counter() - ready
    total = np.sum([group for group, _ in groups], axis=0)
    exact = np.bincount(np.arange(asked.devices) % asked.counters, minlength=asked.counters)
    q = math.exp(-1 / float(SCALE.parameter))
    trusted = math.sqrt(2 * q) / (1 - q)
    error = float(np.sqrt(np.mean((total - exact) ** 2.0)))
    print(
        f"error {error:.3f} a counter; one trusted owner's {trusted:.3f}, times "
        f"{math.sqrt(asked.devices / honest):.3f} foretold "
        f"(measured over {asked.counters} counters, so to about {100 / math.sqrt(asked.counters):.0f}%)"
    )
    spent = sum(used for _, used in groups)
    print(f"{seconds:.1f} s for all sums, {spent:.1f} s of processor time, {ready - began:.1f} s to start workers")
    degree, _ = neighbourhood(asked.devices, honest, int((1 + asked.honest) / 2 * asked.devices))
    masks = mask_group(max(asked.group, degree + 2), asked.counters, degree)
    print(f"masks: {1e3 * masks:.2f} ms of processor time a device")
    for devices in (asked.devices, 1_000_000_000):
        print(on_paper(devices, asked.counters, asked.honest))


if __name__ == "__main__":
    main()
