"""Texts as the whole numbers of 32 bits that sketches hash: the same on every device, in any language.

The key of a text is the first four bytes, the highest first, of SHA-256 over the survey's seed (sixteen bytes, the
highest first) and the text in UTF-8. It is public and depends on nobody else's text. Two texts share a key with
probability 2^-32, and are then counted together.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import numpy as np

from ...runtime.array_types import Integers

KEY_BYTES = 4
SEED_BYTES = 16


def text_keys(texts: Iterable[str], seed: int) -> Integers:
    """The keys of texts, int64 (n,)."""
    begun = sha256(seed.to_bytes(SEED_BYTES, "big"))
    known: dict[str, int] = {}
    keys = []
    for text in texts:
        key = known.get(text)
        if key is None:
            one = begun.copy()
            one.update(text.encode())
            key = known[text] = int.from_bytes(one.digest()[:KEY_BYTES], "big")
        keys.append(key)
    return np.array(keys, np.int64)
