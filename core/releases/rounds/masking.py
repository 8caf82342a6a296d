"""Secure aggregation: masks that cancel in the sum of all shares, and in nothing else.

Bonawitz et al. 2017, "Practical Secure Aggregation for Privacy-Preserving Machine Learning", with keys of owners that
are known beforehand (so two of its four exchanges are one here), and the sparse graph of Bell et al. 2020,
"Secure Single-Server Aggregation with (Poly)Logarithmic Overhead", from `SPARSE` owners on.

Owner i has for the round a mask key (X25519) and the secret of a mask of its own. Its share is

    y_i = x_i + m_i + Σ over neighbours j after i of p_ij - Σ over neighbours j before i of p_ij   modulo 2^b

with m_i and p_ij key streams (ChaCha20) of its own secret and of what i and j agree on. All p_ij cancel in the sum of
all shares. Both secrets of i are shared among its neighbours (Shamir 1979: any T of them have it, fewer learn nothing),
each part encrypted for its holder, in the *hello*. When shares are in, every owner tells its parts of the own masks of
those whose share came, and of the mask keys of those whose share did not (*unmask*): so the masks of the first, and
what the others left uncancelled, are taken away.

*What the convenor sees.* For honest owners who see the same messages as each other (honest-but-curious): nothing but
the sum of the shares that came, for whoever misses m_i of one of them or some p_ij sees uniform numbers (Bonawitz et
al., Theorem 6.5). A *malicious* convenor may tell different owners different stories, to have both secrets of one
owner. Each honest owner answers one request only, and tells one of the two parts of each neighbour. In the complete
graph of k owners, of whom `least` = m must send and c = m - t may be dishonest, T = m - 1, and both secrets need 2 (T -
c) answers of the k - c - 1 other honest owners at least: m + t >= k + 2, which plans must have, makes that impossible,
and c < T. It can always spoil the sum, and so can any owner, by sending other numbers than were agreed; that only
honest numbers are in the sum is nobody's promise but bounds on the opened counters (`convenor_steps`). In the sparse
graph all this holds but for the chances below, if the convenor does not know the order of owners when it chooses whom
to corrupt: it follows from the digest of the plan, so there a convenor is trusted not to have tried many plans.

*The sparse graph.* Owners stand in a ring, in an order that follows from the digest, and each has the g/2 next ones on
either side as neighbours. g and T, a majority of them, are the least for which, with c dishonest and k - m late owners
anywhere:

    some owner has T dishonest neighbours              with probability <= 2^-40 (union bound, hypergeometric tail)
    some owner has 2 T - g of them, where k > m         with probability <= 2^-40, likewise
    some owner has fewer than T neighbours who answer   with probability <= 2^-20: then the round fails
    some g/2 owners in a row are all dishonest or late  with probability <= 2^-40: or else honest ones stay connected

The second is for a convenor who tells two stories: D dishonest neighbours have both parts, and T - D honest ones must
tell one of each secret, of the g - D that there are, so that takes D >= 2 T - g. Where no share may miss there is one
story alone, as requests that name fewer are refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from ...errors import RequestError
from ...privacy.replay.tape import rolling
from .round_messages import SECRET_BYTES, OwnerKey, agreed, derived, public_of
from .round_plan import RoundPlan

SPARSE = 100  # Owners from which not everyone is everyone's neighbour.
SECURE, LOST = 2.0**-40, 2.0**-20
PRIME = (1 << 521) - 1  # Field of the parts of secrets.
PART_BYTES = 66
CHUNK = 1 << 18  # Bytes of a key stream at a time.
_ZEROS = memoryview(bytes(CHUNK))


@dataclass(frozen=True)
class Graph:
    """Who has masks with whom, and how many of them have each other's secrets together."""

    order: tuple[str, ...]  # Names, in their order on the ring.
    degree: int  # Neighbours of each: g.
    threshold: int  # T.

    @classmethod
    def of(cls, plan: RoundPlan) -> Graph:
        """That of a round."""
        names = list(plan.owners)
        degree, threshold = neighbourhood(len(names), plan.honest, plan.least)
        order = sorted(names, key=lambda name: hashlib.sha256(f"{plan.digest} {name}".encode()).digest())
        return cls(tuple(order), degree, threshold)

    @cached_property
    def places(self) -> dict[str, int]:
        """Of the owners on the ring."""
        return {name: place for place, name in enumerate(self.order)}

    def neighbours(self, name: str) -> list[str]:
        """Of one owner."""
        size, place = len(self.order), self.places[name]
        if self.degree == size - 1:
            return [other for other in self.order if other != name]
        steps = range(1, self.degree // 2 + 1)
        return [self.order[(place + step) % size] for both in steps for step in (-both, both)]


@lru_cache(maxsize=64)
def neighbourhood(owners: int, honest: int, least: int) -> tuple[int, int]:
    """How many neighbours each owner has, and how many of them have its secrets together; see the module."""
    whole = owners - 1, least - 1
    if owners < SPARSE:
        return whole
    dishonest, late = least - honest, owners - least
    for degree in range(8, owners - 1, 2):
        if _all_in_a_row(owners, dishonest + late, degree // 2) > SECURE:
            continue
        # The least T of which dishonest neighbours hardly ever have enough, if enough neighbours answer all the same.
        bad = scipy.stats.hypergeom(owners - 1, dishonest, degree)
        majorities = range(degree // 2 + 1, degree)
        threshold = next((t for t in majorities if owners * bad.sf(_enough(t, degree, late) - 1) <= SECURE), degree)
        answering = owners * float(scipy.stats.hypergeom(owners - 1, late, degree).sf(degree - threshold))
        if threshold < degree and (not late or answering <= LOST):
            return degree, threshold
    return whole


def _enough(threshold: int, degree: int, late: int) -> int:
    """How many dishonest neighbours do harm: T have one secret; where shares may miss, 2 T - g can have both told."""
    return 2 * threshold - degree if late else threshold


def _all_in_a_row(owners: int, bad: int, length: int) -> float:
    """A bound of the chance that so many in a row are all among the bad ones, wherever on the ring."""
    if bad < length:
        return 0.0
    logs = np.log(np.arange(bad - length + 1, bad + 1)) - np.log(np.arange(owners - length + 1, owners + 1))
    return float(owners * np.exp(logs.sum()))


@dataclass(frozen=True)
class RoundSecrets:
    """What one owner keeps to itself in one round; it follows from its key, and so is the same after a crash."""

    plan: RoundPlan
    key: OwnerKey
    name: str

    @property
    def mask_key(self) -> bytes:
        """Secret half of the key by which masks with neighbours are agreed on."""
        return self.key.of_round(self.plan.digest, "mask key")

    @property
    def own_mask(self) -> bytes:
        """Secret of the mask that no neighbour has a half of."""
        return self.key.of_round(self.plan.digest, "own mask")

    def parts(self, graph: Graph) -> dict[str, bytes]:
        """For each neighbour its part of both secrets, encrypted for it."""
        polynomials = [
            _polynomial(secret, graph.threshold, self.key.of_round(self.plan.digest, f"parts of {label}"))
            for secret, label in ((self.mask_key, "mask key"), (self.own_mask, "own mask"))
        ]
        told = {}
        for other in graph.neighbours(self.name):
            at = graph.places[other] + 1
            both = b"".join(_value(one, at).to_bytes(PART_BYTES, "big") for one in polynomials)
            told[other] = self.key.encrypt(both, self.plan.owners[other], self.plan.digest, "parts")
        return told

    def part_of(self, other: str, encrypted: str, came: bool) -> str:
        """One part of a neighbour's secrets: of its own mask where its share came, else of its mask key."""
        both = self.key.decrypt(bytes.fromhex(encrypted), self.plan.owners[other], self.plan.digest, "parts")
        if both is None or len(both) != 2 * PART_BYTES:
            raise RequestError(f"What the hello of the owner {other!r} has for {self.name!r} cannot be read.")
        return (both[PART_BYTES:] if came else both[:PART_BYTES]).hex()

    def mask(self, numbers: np.ndarray, graph: Graph, mask_keys: Mapping[str, str]) -> np.ndarray:
        """The numbers of a share modulo 2^b under all masks, of unsigned whole numbers of that width."""
        masked = numbers.astype(unsigned(self.plan.bits))
        _use_once(self.name, self.own_mask)
        add_stream(masked, self.own_mask, 1)
        for other in graph.neighbours(self.name):
            if other in mask_keys:
                common = pair_secret(self.plan, self.mask_key, mask_keys[other])
                _use_once(self.name, common)
                add_stream(masked, common, sign(graph, self.name, other))
        return masked


def unsigned(bits: int) -> np.dtype:
    """The type of numbers modulo 2^b."""
    return np.dtype(f"<u{bits // 8}")


def sign(graph: Graph, name: str, other: str) -> int:
    """With which sign an owner adds the mask that it shares with another."""
    return 1 if graph.places[name] < graph.places[other] else -1


def pair_secret(plan: RoundPlan, mask_key: bytes, public: str) -> bytes:
    """What two neighbours agree on."""
    return agreed(mask_key, public, plan.digest, "pair mask")


def commitment(plan: RoundPlan, own_mask: bytes) -> str:
    """What an owner tells of the secret of its own mask, so that a wrong one is noticed when it is put together."""
    return derived(own_mask, bytes.fromhex(plan.digest), "frostglass commitment").hex()


def add_stream(total: np.ndarray, secret: bytes, times: int) -> None:
    """Add the key stream of a secret to numbers modulo 2^b, in place; or subtract it."""
    cipher = Cipher(algorithms.ChaCha20(secret, bytes(16)), mode=None).encryptor()
    room, step = bytearray(CHUNK), CHUNK // total.itemsize
    for start in range(0, len(total), step):
        piece = total[start : start + step]
        cipher.update_into(_ZEROS[: piece.nbytes], room)
        stream = np.frombuffer(room, total.dtype, len(piece))
        if times > 0:
            piece += stream
        else:
            piece -= stream


def put_together(parts: Mapping[int, str], threshold: int) -> bytes | None:
    """The secret of which these are parts, by where they were taken; None where they are too few, or of no secret."""
    places = tuple(sorted(parts))[:threshold]
    if len(places) < threshold:
        return None
    weights = _weights(places)
    secret = sum(weight * int(parts[place], 16) for place, weight in zip(places, weights, strict=True)) % PRIME
    return secret.to_bytes(SECRET_BYTES, "big") if secret >> (8 * SECRET_BYTES) == 0 else None


def is_of(secret: bytes, public: str) -> bool:
    """Whether a mask key that was put together is that of an owner's hello."""
    return public_of(secret) == public


@lru_cache(maxsize=4096)
def _weights(places: tuple[int, ...]) -> tuple[int, ...]:
    """Lagrange's weights at zero."""
    weights = []
    for place in places:
        above = below = 1
        for other in places:
            if other != place:
                above, below = above * other % PRIME, below * (other - place) % PRIME
        weights.append(above * pow(below, -1, PRIME) % PRIME)
    return tuple(weights)


def _polynomial(secret: bytes, threshold: int, seed: bytes) -> list[int]:
    """Coefficients of a uniform polynomial with the secret at zero, highest first.

    512 uniform bits below 2^521 - 1 would not be uniform in the field, so 640 are taken modulo the prime: off by
    2^-119.
    """
    stream = Cipher(algorithms.ChaCha20(seed, bytes(16)), mode=None).encryptor().update(bytes(80 * (threshold - 1)))
    others = [int.from_bytes(stream[start : start + 80], "big") % PRIME for start in range(0, len(stream), 80)]
    return [*others, int.from_bytes(secret, "big")]


def _value(coefficients: Iterable[int], at: int) -> int:
    value = 0
    for coefficient in coefficients:
        value = (value * at + coefficient) % PRIME
    return value


def _use_once(name: str, secret: bytes) -> None:
    """Tell an audit which mask an owner uses, as the same one over two shares shows their difference."""
    tape = rolling()
    if tape is not None:
        tape.mask(name.encode() + secret)
