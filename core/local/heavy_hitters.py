"""What every search is: reports of texts, and from them the most frequent ones with estimates and intervals.

Whoever is picked for a large estimate was partly picked for the luck in it. So an item's
estimate never hangs on what it was picked for: it is by reports of people who had no part in the search, or such that
it is uncorrelated with what was picked by, or by reports of their own coins, with intervals that hold for all
candidates at once, whichever of them is then picked.

Texts over a public alphabet, padded or cut to one length, as numbers.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd

from ..errors import RequestError
from ..geometry.uniforms import PublicRandom
from ..privacy.budget import decimal_below
from ..privacy.noise.randomness import Source, SystemSource
from ..privacy.noise.responses import told
from ..runtime.counter_tables import Array, Floats, Integers, Words
from ..runtime.parameters import Described, Seed, Text, Validated, Whole, parameter
from .oracles.counting import Reported
from .oracles.local_hashing import OptimalHashing
from .oracles.oracle import LocalEpsilon

MOST_CODES = 1 << 62
KEYS = 1 << 32
FAMILY = 0x535452


@dataclass(frozen=True)
class Alphabet(Validated):
    """The characters of texts, and how many of them count."""

    described = "alphabet"

    characters: str = parameter(Text("The alphabet"))  # Each once; a text may have no others.
    # Longer texts are cut to it, shorter ones are filled up.
    length: int = parameter(Whole("The length of texts", 2, 62))
    # Public; by it texts become keys of 32 bits where they are more.
    seed: int = parameter(Seed("The seed of the keys"), None)

    def _check(self) -> None:
        if len(set(self.characters)) < len(self.characters):
            raise RequestError("The alphabet has a character twice.")
        if self.base**self.length > MOST_CODES:
            raise RequestError(
                f"Texts of {self.length} characters of {len(self.characters)} are too many for numbers of 62 bits; "
                "take fewer."
            )

    @property
    def base(self) -> int:
        """Digits that a character may be, with that of what is not there."""
        return len(self.characters) + 1

    @cached_property
    def _digits(self) -> dict[str, int]:
        return {character: place + 1 for place, character in enumerate(self.characters)}

    def codes(self, texts: Sequence[str]) -> Integers:
        """Texts as numbers, int64 (n,); RequestError where a character is not of the alphabet."""
        distinct: dict[str, int] = {}
        for text in texts:
            if text not in distinct:
                distinct[text] = self._code(text)
        return np.array([distinct[text] for text in texts], np.int64)

    def _code(self, text: str) -> int:
        code = 0
        try:
            for character in text[: self.length]:
                code = code * self.base + self._digits[character]
        except KeyError:
            raise RequestError("A text has a character that is not in the survey's alphabet.") from None
        return int(code * self.base ** max(self.length - len(text), 0))

    def text(self, code: int, length: int | None = None) -> str:
        """The text of a number of so many characters."""
        found = []
        for _ in range(self.length if length is None else length):
            code, digit = divmod(code, self.base)
            found.append(self.characters[digit - 1] if digit else "")
        return "".join(reversed(found))

    def ends_once(self, code: int) -> bool:
        """Whether a number is that of a text: after its end there is nothing but its end."""
        return self._code(self.text(code)) == code

    def prefixes(self, codes: Integers, length: int) -> Integers:
        """The first characters of texts, as numbers."""
        found: Integers = codes // self.base ** (self.length - length)
        return found

    def extended(self, prefixes: Integers, length: int, further: int) -> Integers:
        """All texts that go on for so many characters; after the end of a text there is nothing but its end."""
        endings = np.arange(self.base**further)
        ended = _with_gap(endings, self.base, further)
        every: Integers = (prefixes[:, np.newaxis] * self.base**further + endings)[:, ~ended]
        closed = prefixes % self.base == 0 if length else np.zeros(len(prefixes), np.bool_)
        every[closed] = (prefixes[closed] * self.base**further)[:, np.newaxis]
        return np.unique(every)

    def keys(self, codes: Integers, length: int) -> Integers:
        """Numbers of so many characters as keys of 32 bits: themselves, or hashed by public words."""
        if self.base**length <= KEYS:
            return codes
        low, high, add = PublicRandom(self.seed, FAMILY, length).words(3)
        words = codes.astype(np.uint64)
        lower = words & np.uint64(KEYS - 1)
        keys: Integers = ((low * lower + high * (words >> np.uint64(32)) + add) >> np.uint64(32)).astype(np.int64)
        return keys


def _with_gap(endings: Integers, base: int, further: int) -> np.ndarray:
    """Which endings have a character after nothing."""
    gap, nothing = np.zeros(len(endings), np.bool_), np.zeros(len(endings), np.bool_)
    for place in reversed(range(further)):
        digit = endings // base**place % base
        gap |= nothing & (digit > 0)
        nothing |= digit == 0
    return gap


MOST_CANDIDATES = 1 << 20
IN_SECONDS = 100_000  # Candidates that a collector looks at in seconds.
USUALLY_KEPT = 60  # Prefixes that are extended where twenty texts are wanted.


def step_for(alphabet: Alphabet) -> int:
    """By how many characters a search goes on best: in the fewest rounds, each of which has the more people for it.

    Only steps whose continuations a collector looks at in seconds: 3 for digits, 2 for the letters of a language.
    """
    longest = next((k for k in range(8, 1, -1) if USUALLY_KEPT * alphabet.base**k <= IN_SECONDS), 1)
    return min(range(1, longest + 1), key=lambda step: (-(-alphabet.length // step), step))


@dataclass(frozen=True)
class Finder(Reported, Validated):
    """A search for texts."""

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    described: ClassVar[str] = "search"
    report_words: ClassVar[int]

    alphabet: Alphabet = parameter(Described("The alphabet", Alphabet))  # Which texts there are.
    # The promise to whoever reports once, for all that the report holds together.
    epsilon: Decimal = parameter(LocalEpsilon())
    step: int = parameter(Whole("The step", 1, 8), 2)  # By how many characters the search goes on at a time.

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the prefixes that are searched for, the whole text last."""
        return (*range(self.step, self.alphabet.length, self.step), self.alphabet.length)

    @abstractmethod
    def privatise(self, texts: Sequence[str], source: Source | None = None) -> Words:
        """The reports of people with these texts: uint64 (n, `report_words`)."""

    @property
    def reach(self) -> tuple[float, float]:
        """By how much one report, whatever it says, lowers and raises the estimate of any text that was found."""
        return self.hashing.reach

    @abstractmethod
    def find(self, reports: Array, top: int = 20, level: float = 0.95) -> pd.DataFrame:
        """The most frequent texts, at most `top`: value, estimate, low, high; the most frequent first."""

    @cached_property
    def hashing(self) -> OptimalHashing:
        """How a prefix and a whole text are reported: each with half of ε, as two reports of one person share it."""
        return OptimalHashing(2, decimal_below(Fraction(self.epsilon) / 2))

    def _grouped(self, codes: Integers, lengths: Sequence[int], drawn: Source) -> tuple[Words, Integers]:
        """Which of these lengths each person drew, evenly, and the key of their text's prefix of that length."""
        group, keys = told(len(lengths), len(codes), drawn), np.empty(len(codes), np.int64)
        for place, length in enumerate(lengths):
            mine = group == place
            keys[mine] = self.alphabet.keys(self.alphabet.prefixes(codes[mine], length), length)
        return group, keys


def listed(alphabet: Alphabet, codes: Integers, estimate: Floats, reach: Floats, top: int) -> pd.DataFrame:
    """The texts of the largest estimates, with intervals that reach so far to both sides."""
    order = np.argsort(-estimate, kind="stable")[:top]
    values = [alphabet.text(int(codes[place])) for place in order]
    middle, far = estimate[order], reach[order]
    return pd.DataFrame({"value": values, "estimate": middle, "low": middle - far, "high": middle + far})


def source_or_system(source: Source | None) -> Source:
    """The system's coins, unless others are given."""
    return SystemSource() if source is None else source


def estimated(one: OptimalHashing, reports: Array, keys: Integers) -> tuple[Floats, Floats]:
    """How many of those who reported have each key, and the standard deviation of each, by the coins alone."""
    p, q = (float(chance) for chance in one.chances)
    estimate = (one.supported(reports, keys).astype(np.float64) - len(reports) * q) / (p - q)
    variance = len(reports) * q * (1 - q) / (p - q) ** 2 + np.maximum(estimate, 0.0) * (1 - p - q) / (p - q)
    return estimate, np.sqrt(np.maximum(variance, 0.0))


def strongest(codes: Integers, estimate: Floats, most: int) -> Integers:
    """The codes with the largest estimates above zero."""
    order = np.argsort(-estimate, kind="stable")[:most]
    return codes[order[estimate[order] > 0]]
