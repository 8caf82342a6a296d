"""Texts over a public alphabet, padded or cut to one length, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...errors import RequestError
from ...geometry.hashing.uniforms import PublicRandom
from ...parameters import Seed, Text, Validated, Whole, parameter
from ...runtime.array_types import Integers

MOST_CODES = 1 << 62
KEYS = 1 << 32
FAMILY = 0x535452


@dataclass(frozen=True)
class Alphabet(Validated):
    """The characters of texts, and how many of them count.

    Attributes
    ----------
    characters : str
        Each once; a text may have no others.
    length : int
        Longer texts are cut to it, shorter ones are filled up.
    seed : int
        Public; by it texts become keys of 32 bits where they are more.
    """

    described = "alphabet"

    characters: str = parameter(Text("The alphabet"))
    length: int = parameter(Whole("The length of texts", 2, 62))
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
