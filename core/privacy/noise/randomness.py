"""Random bits: the only raw material of noise.

A stream of bits is the key stream of AES-256 in counter mode (NIST SP 800-38A, section 6.5). Keyed by the operating
system, it cannot be told from independent fair coins by anyone who cannot break AES; everything that is built on it
in this folder is exact, so this is the one computational assumption of every release.
"""

import hashlib
import os
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

KEY_BYTES = 32
# What is encrypted to get the bare key stream; longer requests go over it several times.
_ZEROS = memoryview(bytes(1 << 18))
# `update_into` asks for room of one block less a byte beyond the data.
_SPARE_WORDS = 2


class Stream(Protocol):
    """Independent fair random bits that are used up front to back."""

    def words(self, count: int) -> np.ndarray:
        """Return the next `count` words, uint64 (count,)."""


class Source(Protocol):
    """Where streams come from.

    Attributes
    ----------
    private : bool
        Whether nobody can know or repeat the bits; only then may a release call itself private.
    """

    private: bool

    def stream(self) -> Stream:
        """Return a new stream, independent of every other."""


class CipherStream:
    """The AES-256-CTR key stream of one key.

    Parameters
    ----------
    key : bytes
        32 bytes, used for this one stream and never again.
    """

    def __init__(self, key: bytes):
        self._cipher = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def words(self, count: int) -> np.ndarray:
        """Return the next `count` words, uint64 (count,)."""
        words = np.empty(count + _SPARE_WORDS, np.uint64)
        room = words.view(np.uint8).data
        for start in range(0, 8 * count, len(_ZEROS)):
            length = min(len(_ZEROS), 8 * count - start)
            self._cipher.update_into(_ZEROS[:length], room[start:])
        return words[:count]


class SystemSource:
    """Streams keyed by the operating system: the source of every release.

    It holds nothing at all, neither key nor position, so it cannot be seeded, copied, saved or inherited by a forked
    process: each stream asks the system for a new key.
    """

    __slots__ = ()
    private = True

    def stream(self) -> CipherStream:
        """Return a new stream under a fresh key of the operating system."""
        return CipherStream(os.urandom(KEY_BYTES))


class SeededSource:
    """Streams that anyone can repeat from a seed, for tests and teaching alone; what they make is not private.

    Parameters
    ----------
    seed : int
        Any whole number. The n-th stream of equal seeds is the same on every machine.
    """

    private = False

    def __init__(self, seed: int):
        self._seed = int(seed)
        self._streams = 0

    def stream(self) -> CipherStream:
        """Return the next stream of this seed."""
        label = f"Frostglass teaching noise, seed {self._seed}, stream {self._streams}"
        self._streams += 1
        return CipherStream(hashlib.sha256(label.encode()).digest())
