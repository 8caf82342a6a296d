"""Sets of items, back to back: what a record is when it is a basket, a list of tags, or a person's friends.

The key of an item is one stable 64-bit word for every value that can stand in a set. It depends on the value alone, and
is the same for ever and on every platform, as release files are asked for ever. A whole number is its own key, whether
it was written as an integer, as floating point or as text: 7, 7.0 and "7" are one item (`core.domain.written` states
the rule). Every other text has the XXH64 hash of its UTF-8 bytes (Collet's specification, seed 0): anyone can compute
it, and two texts share a key by an accident of one in 2^64 only. Keys are public names of items, nothing more: they
hide nothing, and every sketch mixes them with its own public seed before it hashes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import RequestError
from ..runtime.compiled_code import njit
from ..runtime.counter_tables import Integers, Truths, Words
from .written import is_number, whole_numbers

Bytes = npt.NDArray[np.uint8]

_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(prime)
    for prime in (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
)
_MOST = np.uint64((1 << 63) - 1)


@njit(nogil=True, cache=True, inline="always")
def _turn(word: np.uint64, by: int) -> np.uint64:
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))


@njit(nogil=True, cache=True, inline="always")
def _word(data: Bytes, at: int, length: int) -> np.uint64:
    """The little-endian number in ``length`` bytes."""
    word = np.uint64(0)
    for k in range(length):
        word |= np.uint64(data[at + k]) << np.uint64(8 * k)
    return word


@njit(nogil=True, cache=True, inline="always")
def _round(lane: np.uint64, word: np.uint64) -> np.uint64:
    return _turn(lane + word * _P2, 31) * _P1


@njit(nogil=True, cache=True)
def _xxh64(data: Bytes, start: int, stop: int) -> np.uint64:
    """XXH64 with seed 0 of the bytes from ``start`` to ``stop``."""
    at = start
    if stop - start >= 32:
        a, b, c, d = _P1 + _P2, _P2, np.uint64(0), np.uint64(0) - _P1
        while at + 32 <= stop:
            a = _round(a, _word(data, at, 8))
            b = _round(b, _word(data, at + 8, 8))
            c = _round(c, _word(data, at + 16, 8))
            d = _round(d, _word(data, at + 24, 8))
            at += 32
        key = _turn(a, 1) + _turn(b, 7) + _turn(c, 12) + _turn(d, 18)
        for lane in (a, b, c, d):
            key = (key ^ _round(np.uint64(0), lane)) * _P1 + _P4
    else:
        key = _P5
    key += np.uint64(stop - start)
    while at + 8 <= stop:
        key = _turn(key ^ _round(np.uint64(0), _word(data, at, 8)), 27) * _P1 + _P4
        at += 8
    if at + 4 <= stop:
        key = _turn(key ^ (_word(data, at, 4) * _P1), 23) * _P2 + _P3
        at += 4
    while at < stop:
        key = _turn(key ^ (np.uint64(data[at]) * _P5), 11) * _P1
        at += 1
    key = (key ^ (key >> np.uint64(33))) * _P2
    key = (key ^ (key >> np.uint64(29))) * _P3
    return key ^ (key >> np.uint64(32))


@njit(nogil=True, cache=True)
def _text_key(data: Bytes, start: int, stop: int) -> np.uint64:
    """The integer that the bytes spell as Python would print it, where it fits into 64 bits; otherwise their hash."""
    at = start
    negative = at < stop and data[at] == 45
    if negative:
        at += 1
    digits = stop - at
    if not 1 <= digits <= 19 or (data[at] == 48 and (digits > 1 or negative)):
        return _xxh64(data, start, stop)
    value = np.uint64(0)
    for place in range(at, stop):
        digit = data[place]
        if not 48 <= digit <= 57:
            return _xxh64(data, start, stop)
        value = value * np.uint64(10) + np.uint64(digit - 48)
    # Nineteen digits are less than 2**64, so nothing has wrapped around yet.
    if value > _MOST + np.uint64(negative):
        return _xxh64(data, start, stop)
    return np.uint64(0) - value if negative else value


@njit(nogil=True, cache=True)
def _text_keys(offsets: Integers, data: Bytes, out: Words) -> None:
    for i in range(len(out)):
        out[i] = _text_key(data, offsets[i], offsets[i + 1])


def item_keys(array: pa.Array, what: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Keys of the values of an Arrow array.

    `array`: Texts, numbers, booleans or bytes, or a dictionary of them. `what`: How a refusal names them, such as "The
    column 'tags'".

    Returns uint64 (n,), and bool (n,) that is True where there is a value; None instead says that all are there. A
    missing value, and NaN, has no key: what stands in its place means nothing.
    """
    kind = array.type
    if pa.types.is_dictionary(kind):
        keys, present = item_keys(array.dictionary, what)
        places = pc.fill_null(array.indices, 0).to_numpy(zero_copy_only=False).astype(np.int64)
        known = _present(array.indices)
        if not len(keys):
            return np.zeros(len(places), np.uint64), np.zeros(len(places), np.bool_)
        if present is not None:
            known = present[places] if known is None else known & present[places]
        return keys[places], known
    if pa.types.is_null(kind):
        return np.zeros(len(array), np.uint64), np.zeros(len(array), np.bool_)
    if pa.types.is_boolean(kind):
        array = pc.cast(array, pa.large_string())
    if is_number(kind):
        array = whole_numbers(array, what)
    kind = array.type
    if pa.types.is_integer(kind):
        return _integer_keys(array), _present(array)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _keys_of_bytes(pc.cast(array, pa.large_string())), _present(array)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return _keys_of_bytes(pc.cast(array, pa.large_binary())), _present(array)
    raise RequestError(f"{what} holds values of type {kind}, which cannot be items of a set: use texts or numbers.")


def keys_of_values(values: Sequence[object], what: str) -> np.ndarray:
    """Keys of Python values, which may be of several types, uint64 (n,)."""
    keys = np.zeros(len(values), np.uint64)
    kinds = np.array([_family(value) for value in values], dtype=object)
    for kind in set(kinds):
        places = np.flatnonzero(kinds == kind)
        try:
            array = pa.array([values[place] for place in places.tolist()])
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            # Whole numbers beyond 64 bits are what their digits say; anything else is no item.
            if kind is not int:
                raise RequestError(f"{what} holds something that cannot be an item of a set.") from None
            array = pa.array([str(values[place]) for place in places.tolist()])
        found, present = item_keys(array, what)
        if present is not None and not present.all():
            raise RequestError(f"{what} holds a missing value, which is no item of a set.")
        keys[places] = found
    return keys


def _family(value: object) -> type:
    """The type by which Arrow tells a value's kind; NumPy's own numbers belong to Python's."""
    for family in (bool, np.bool_, int, np.integer, float, np.floating, str, bytes):
        if isinstance(value, family):
            return {np.bool_: bool, np.integer: int, np.floating: float}.get(family, family)
    return type(value)


def _present(array: pa.Array) -> Truths | None:
    present: Truths | None = pc.is_valid(array).to_numpy(zero_copy_only=False) if array.null_count else None
    return present


def _integer_keys(array: pa.Array) -> Words:
    values: np.ndarray = (pc.fill_null(array, 0) if array.null_count else array).to_numpy(zero_copy_only=False)
    if values.dtype != np.uint64:
        signed: Integers = values.astype(np.int64, copy=False)
        return signed.view(np.uint64)
    beyond = values > _MOST
    if beyond.any():  # no signed number: what its digits say, as their text does
        values = values.copy()
        values[beyond] = _keys_of_bytes(pc.cast(pa.array(values[beyond]), pa.large_string()))
    return values


def _keys_of_bytes(array: pa.Array) -> np.ndarray:
    """Keys of a large string or binary array, straight from its buffers."""
    keys = np.empty(len(array), np.uint64)
    _, offsets, data = array.buffers()
    if offsets is not None:
        places = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        _text_keys(_frozen(places), _frozen(np.frombuffer(b"" if data is None else data, np.uint8)), keys)
    return keys


def _frozen(array: np.ndarray) -> np.ndarray:
    """A read-only view, as Arrow's buffers are: compiled loops then exist once and not once a kind of array."""
    view = array.view()
    view.flags.writeable = False
    return view


# Encoded records or queries: an array float64 (n, d), or `Sets` where a domain holds them, as only its user knows.
Encoded = Any


@dataclass(frozen=True, eq=False)
class Sets:
    """n sets, one after the other in one array.

    Both arrays are made read-only, so that sets can be shared by threads and slices cost nothing.

    Examples
    --------
    >>> sets = Sets.of([["milk", "bread"], [7, 7.0, "7"]])
    >>> len(sets), sets.sizes.tolist(), sets[1:].distinct().elements.tolist()
    (2, [2, 3], [7])
    """

    first: np.ndarray  # int64 (n + 1,), where each set begins; the last entry is where the last one ends.
    # Uint64 (first[-1],), the keys of the items (`core.domain.item_sets`). A set may hold an item more than once: it is
    # the same set then.
    elements: np.ndarray

    def __post_init__(self) -> None:
        first = np.asarray(self.first, dtype=np.int64).view()
        elements = np.asarray(self.elements, dtype=np.uint64).view()
        if first.ndim != 1 or elements.ndim != 1 or not len(first) or first[0] != 0 or first[-1] != len(elements):
            raise ValueError("Sets are given by n + 1 places that begin at 0 and end at the number of elements.")
        for name, given in (("first", first), ("elements", elements)):
            array: np.ndarray = np.ascontiguousarray(given).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def of(cls, sets: Iterable[Iterable[object]]) -> Sets:
        """Sets of Python values: texts, numbers, booleans, bytes, of several types if need be."""
        if isinstance(sets, Sets):
            return sets
        try:
            lists = [_listed(one) for one in sets]
        except TypeError:
            raise RequestError("Sets must be given as lists of items, one list a set.") from None
        first = _places_of(np.array([len(one) for one in lists], dtype=np.int64))
        return cls(first, keys_of_values([item for one in lists for item in one], "A set"))

    @classmethod
    def of_sizes(cls, sizes: np.ndarray, elements: np.ndarray) -> Sets:
        """Sets from the number of elements of each."""
        return cls(_places_of(sizes), elements)

    def __len__(self) -> int:
        return len(self.first) - 1

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.elements[start:stop] for start, stop in zip(self.first[:-1], self.first[1:], strict=True))

    def __getitem__(self, chosen: slice | np.ndarray) -> Sets:
        """Some of the sets: a slice without steps, which copies nothing, or an array of places or of truth values."""
        if isinstance(chosen, slice):
            start, stop, step = chosen.indices(len(self))
            if step == 1:
                first = self.first[start : max(start, stop) + 1]
                return Sets(first - first[0], self.elements[first[0] : first[-1]])
            chosen = np.arange(start, stop, step)
        chosen = np.asarray(chosen)
        places = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen.astype(np.int64)
        first = _places_of(self.sizes[places])
        elements = np.empty(first[-1], np.uint64)
        _copy(self.first, self.elements, places, first, elements)
        return Sets(first, elements)

    @property
    def sizes(self) -> np.ndarray:
        """int64 (n,), elements of each set, repeated ones counted again."""
        return np.diff(self.first)

    def distinct(self) -> Sets:
        """The same sets with every element once, in ascending order."""
        return self.least(self.elements)

    def least(self, words: np.ndarray, most: int | None = None) -> Sets:
        """Of every set the ``most`` different elements with the least words, in the order of the words.

        `words`: uint64 (elements,), different for different elements and equal for equal ones. `most`: None for all of
        them.
        """
        owner = np.repeat(np.arange(len(self)), self.sizes)
        order = np.lexsort((words, owner))
        words = words[order]
        new = np.append(True, (words[1:] != words[:-1]) | (owner[1:] != owner[:-1]))[: len(order)]
        if most is not None:
            different = np.cumsum(new)
            before = np.concatenate([np.zeros(1, np.int64), different])[self.first[:-1]]
            new &= different - before[owner] <= most
        return Sets.of_sizes(np.bincount(owner[new], minlength=len(self)), self.elements[order[new]])


def _places_of(sizes: np.ndarray) -> np.ndarray:
    """Where sets of these sizes begin, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _listed(items: object) -> list[object]:
    if isinstance(items, np.ndarray):
        return list(items.tolist())
    if isinstance(items, (str, bytes)):
        raise TypeError("a text is an item, not a set of them")
    if not isinstance(items, Iterable):
        raise TypeError("nothing to go through")
    return list(items)


@njit(nogil=True, cache=True)
def _copy(first: Integers, elements: Words, places: Integers, new_first: Integers, out: Words) -> None:
    for i in range(len(places)):
        out[new_first[i] : new_first[i + 1]] = elements[first[places[i]] : first[places[i] + 1]]
