"""Streams that say what a test wants them to say."""

from dataclasses import dataclass, field

import numpy as np

from core.privacy.noise.randomness import SeededSource


@dataclass
class ScriptedStream:
    """Words given in advance, then seeded ones.

    Attributes
    ----------
    bulk
        Start of the first request of more than one word.
    single
        Answers to requests of one word, in order: how samplers ask when they toss a single coin.
    """

    bulk: list[int] = field(default_factory=list)
    single: list[int] = field(default_factory=list)

    def __post_init__(self):
        self._rest = SeededSource(99).stream()

    def words(self, count: int) -> np.ndarray:
        words = self._rest.words(count)
        script = self.single if count == 1 else self.bulk
        told = min(count, len(script))
        words[:told] = np.array(script[:told], np.uint64)
        del script[:told]
        return words
