"""A public encoder: a column of few numbers that a fixed, public map makes of many (RACE, sections 7.1 and 7.2).

The map is learned on public records, or written by hand; it is in the release file as plain numbers, with the digest of
what it was learned on. An encoded column is a column like any other, so every mechanism takes it.

**Privacy is the sketch's.** Let E be the encoder, D the records, and M a mechanism that keeps a promise for every two
neighbouring tables of records inside its bounds. What is released is M(E(D)), with E applied to every record by itself.
D and D' that differ in one record give E(D) and E(D') that differ in the image of that record at most, and all images
lie inside the bounds; so M's inequality for the pair E(D), E(D') is the promise for D, D'. All that E has to keep is:

1. it is fixed before a private record is read: steps are numbers of the file, made from what its owner calls public;
2. the image of a record depends on that record alone, **bit for bit**: matrix products are chains of fused
   multiply-adds in a fixed order (`core.runtime.inner_products`), squares are added one coordinate after the other, and
   functions that are not rounded exactly are called for one number at a time. A library's matrix product rounds a
   record differently in batches of different sizes: then one record more could move others into other cells;
3. every image is inside the bounds exactly: they are finite numbers after every step, and clipped at the end. A length
   of at most 1 holds but for rounding; mechanisms are calibrated to the bounds of the coordinates, which hold exactly.

Neighbours, persons with several records and sensitivities, L1 and L2, are those of the mechanism on the encoded column.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ..errors import RequestError
from ..runtime.counter_tables import Floats
from ..runtime.parameters import check_integer, check_number, check_text, exact_fields
from .column import Mask
from .numeric import MAX_VECTOR, Numeric, Vector

MOST_NUMBERS = 200_000  # Of all steps: five million characters of a file, whose manifest may have eight.
MOST_STEPS = 20
FARTHEST = 1e100  # After each step; then every product, square and sum of the next one is a finite number.
MOST_ENTRY = 1e50  # Of a matrix, a scale or an offset.
Apply = Callable[[Floats], Floats]


def _one_by_one(function: Callable[[float], float]) -> Apply:
    called = np.frompyfunc(function, 1, 1)
    return lambda places: np.asarray(called(places), dtype=np.float64)


# Elementwise functions by name; numbers at which one has no value are moved to the nearest at which it has one.
FUNCTIONS: dict[str, Apply] = {
    "abs": np.abs,
    "square": np.square,
    "sqrt": lambda places: np.sqrt(np.maximum(places, 0.0)),
    "relu": lambda places: np.maximum(places, 0.0),
    "tanh": _one_by_one(math.tanh),
    "exp": _one_by_one(lambda x: math.exp(min(x, 230.0))),
    "log1p": _one_by_one(lambda x: math.log1p(max(x, -1.0 + 2.0**-52))),
    "sin": _one_by_one(math.sin),
    "cos": _one_by_one(math.cos),
}


def _lengths(places: Floats) -> Floats:
    """Lengths of the columns, (n,), of numbers (k, n), with squares added in order."""
    total = np.zeros(places.shape[1])
    for row in places:
        total += row * row
    return np.sqrt(total)


def _array(value: object, what: str, dimensions: int) -> Floats:
    """Finite numbers of a file as float64, none beyond `MOST_ENTRY`."""
    sentence = f"The {what} of an encoder must be numbers between -{MOST_ENTRY:g} and {MOST_ENTRY:g}, in lists."
    if not isinstance(value, (list, tuple, np.ndarray)) or not 1 <= len(value) <= MAX_VECTOR:
        raise RequestError(sentence)
    rows = value if dimensions == 2 else [value]
    for row in rows:
        if not isinstance(row, (list, tuple, np.ndarray)) or len(row) > MAX_VECTOR:
            raise RequestError(sentence)
        if not isinstance(row, np.ndarray) and any(type(one) not in (int, float) for one in row):
            raise RequestError(sentence)
    try:
        made = np.array(value, dtype=np.float64, order="C")
    except (ValueError, TypeError, OverflowError):
        raise RequestError(sentence) from None
    if made.ndim != dimensions or not made.size or not np.all(np.abs(made) <= MOST_ENTRY):  # False for NaN too
        raise RequestError(sentence)
    return made + 0.0


@dataclass(frozen=True, eq=False)
class _Step:
    """One step: as it is written, what it takes (None: any number of coordinates), what it gives, and the map."""

    written: Mapping[str, object]
    takes: int | None
    gives: int | None
    of: Apply  # Of coordinates (d, n), C order.
    numbers: int = 0


def _matrix(facts: dict[str, Any]) -> _Step:
    matrix, offset = _array(facts["matrix"], "matrix", 2), _array(facts["offset"], "offset", 1)
    if len(offset) != len(matrix):
        raise RequestError("An encoder's matrix needs one offset for each of its rows.")

    def of(places: Floats) -> Floats:
        from ..runtime.inner_products import images  # compiled loops, which most commands do without

        return images(matrix, np.ascontiguousarray(places)).T + offset[:, None]

    written = {"matrix": matrix.tolist(), "offset": offset.tolist()}
    return _Step(written, matrix.shape[1], len(matrix), of, matrix.size + offset.size)


def _scale(facts: dict[str, Any]) -> _Step:
    scale, offset = _array(facts["scale"], "scale", 1), _array(facts["offset"], "offset", 1)
    if len(scale) != len(offset):
        raise RequestError("An encoder's scale needs one offset for each of its numbers.")
    written = {"scale": scale.tolist(), "offset": offset.tolist()}
    size = len(scale)
    return _Step(written, size, size, lambda places: places * scale[:, None] + offset[:, None], 2 * size)


def _function(facts: dict[str, Any]) -> _Step:
    name = facts["function"]
    if not isinstance(name, str) or name not in FUNCTIONS:
        raise RequestError(f"A function of an encoder must be one of {', '.join(FUNCTIONS)}.")
    return _Step({"function": name}, None, None, FUNCTIONS[name])


def _clip(facts: dict[str, Any]) -> _Step:
    ends = facts["clip"]
    if not isinstance(ends, (list, tuple)) or len(ends) != 2:
        raise RequestError("An encoder clips between two numbers.")
    low, high = (check_number(end, "An end of a clip") for end in ends)
    if not low < high:
        raise RequestError("An encoder clips between a smaller and a larger number.")
    return _Step({"clip": [low, high]}, None, None, lambda places: np.clip(places, low, high))


def _ball(facts: dict[str, Any]) -> _Step:
    radius = check_number(facts["ball"], "The radius of an encoder's ball")
    if not 0.0 < radius <= FARTHEST:
        raise RequestError("The radius of an encoder's ball must be above 0.")
    return _Step({"ball": radius}, None, None, lambda places: places * (radius / np.maximum(_lengths(places), radius)))


def _sphere(facts: dict[str, Any]) -> _Step:
    radius = check_number(facts["sphere"], "The radius of an encoder's sphere")
    if not 0.0 < radius <= FARTHEST:
        raise RequestError("The radius of an encoder's sphere must be above 0.")

    def of(places: Floats) -> Floats:
        lengths = _lengths(places)
        return places * np.divide(radius, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)

    return _Step({"sphere": radius}, None, None, of)


_STEPS: dict[str, tuple[tuple[str, ...], Callable[[dict[str, Any]], _Step]]] = {
    "matrix": (("matrix", "offset"), _matrix),
    "scale": (("scale", "offset"), _scale),
    "function": (("function",), _function),
    "clip": (("clip",), _clip),
    "ball": (("ball",), _ball),
    "sphere": (("sphere",), _sphere),
}


def _step(value: object) -> _Step:
    kind = next((name for name in _STEPS if isinstance(value, dict) and name in value), None)
    if kind is None:
        raise RequestError(f"A step of an encoder must be one of {', '.join(_STEPS)}.")
    known, make = _STEPS[kind]
    return make(exact_fields(value, f"{kind} of an encoder", known))


@dataclass(frozen=True, eq=False)
class Encoder(Vector):
    """A column of ``length`` numbers between two bounds that public steps make of other columns.

    Parameters
    ----------
    reads : tuple[Numeric | Vector, ...]
        The columns of the source, with public bounds; values outside are moved to them before the first step.
    steps : tuple[Mapping, ...]
        In order, each one of: ``matrix`` (rows of numbers) with ``offset``; ``scale`` with ``offset``, of each
        coordinate; ``function``, a name of `FUNCTIONS`; ``clip``, two ends; ``ball``, the length that longer ones are
        shortened to; ``sphere``, the length that all get.
    origin : str
        Where it came from, in words.
    sample : str
        SHA-256 of the public records that it was learned on, 64 hexadecimal digits; "" where there were none.
    """

    reads: tuple[Numeric | Vector, ...] = ()
    steps: tuple[Any, ...] = ()
    origin: str = ""
    sample: str = ""
    kind: ClassVar[str] = "encoded"

    def __post_init__(self) -> None:
        super().__post_init__()
        reads, steps = self.reads, self.steps
        if (
            not isinstance(reads, (tuple, list))
            or not all(type(one) in (Numeric, Vector) for one in reads)
            or not reads
        ):
            raise RequestError(f"The encoder {self.name!r} must read columns of numbers or vectors.")
        names = [one.name for one in reads]
        if len({*names, self.name}) <= len(names):
            raise RequestError(f"The columns that the encoder {self.name!r} reads need names of their own.")
        if not isinstance(steps, (tuple, list)) or not 1 <= len(steps) <= MOST_STEPS:
            raise RequestError(f"An encoder has 1 to {MOST_STEPS} steps.")
        made = tuple(map(_step, steps))
        if sum(step.numbers for step in made) > MOST_NUMBERS:
            raise RequestError(f"An encoder may have {MOST_NUMBERS:,} numbers, as every release file holds them.")
        given = check_integer(sum(one.width for one in reads), "The numbers that an encoder takes", 1, MAX_VECTOR)
        for number, step in enumerate(made, start=1):
            if step.takes not in (None, given):
                raise RequestError(f"Step {number} of an encoder takes {step.takes:,} numbers and is given {given:,}.")
            given = given if step.gives is None else step.gives
        if given != self.length:
            raise RequestError(f"The steps of an encoder give {given:,} numbers, and it says {self.length:,}.")
        if self.origin != "":
            check_text(self.origin, "Where an encoder came from")
        if self.sample != "" and (
            not isinstance(self.sample, str) or len(self.sample) != 64 or set(self.sample) - set("0123456789abcdef")
        ):
            raise RequestError("The digest of an encoder's sample must be 64 hexadecimal digits.")
        object.__setattr__(self, "reads", tuple(reads))
        object.__setattr__(self, "steps", tuple(step.written for step in made))
        object.__setattr__(self, "_made", made)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoder) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<Encoder {self.name!r}: {self.summary}>"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that it says, which tells it from any other."""
        reads = [[one.kind, asdict(one)] for one in self.reads]
        ends = [self.name, self.length, self.low, self.high, self.unit]
        written = json.dumps([ends, reads, self.steps, self.origin, self.sample], sort_keys=True, allow_nan=False)
        return hashlib.sha256(written.encode()).hexdigest()

    @property
    def summary(self) -> str:
        """What it makes of what, and where it came from, for a label."""
        taken = sum(one.width for one in self.reads)
        came = f", {self.origin}" if self.origin else ""
        return f"{self.length:,} of {taken:,} numbers{came}; digest {self.digest[:16]}"

    @property
    def characters(self) -> int:
        return super().characters + len(self.origin) + sum(one.characters for one in self.reads)

    def rows(self, array: pa.Array, clamp: bool) -> np.ndarray | None:
        """None: nothing lies in memory as it is encoded."""
        return None

    def encode_into(self, out: Floats, given: Mapping[str, pa.Array], amplitude: float, asked: bool) -> Mask:
        """Write the images of records into ``out`` (n, length), inside the bounds; return those that miss a value.

        `given`: Values of the columns that are read, by name. `asked`: Whether they are queries, which are moved to the
        bounds as records are.
        """
        missing: Mask = None
        blocks = []
        for column in self.reads:
            block = np.empty((len(out), column.width), order="F")
            into = column.ask_into if asked else column.read_into
            misses, _ = into(block, given[column.name], amplitude)
            if misses is not None:
                missing = misses if missing is None else missing | misses
            blocks.append(np.clip(block.T, *column.bounds(amplitude)))
        out[:] = self.images(np.concatenate(blocks)).T
        if missing is not None:
            out[missing] = np.nan
        return missing

    def images(self, places: Floats) -> Floats:
        """The images of coordinates of the columns that are read, float64 (d, n), as float64 (length, n)."""
        places = np.where(np.isnan(places), 0.0, places)
        for step in self._made:  # type: ignore[attr-defined]
            places = np.clip(step.of(np.ascontiguousarray(places)), -FARTHEST, FARTHEST)
        return np.clip(places, self.low, self.high) + 0.0


def arrays_read(reads: Sequence[Numeric | Vector], array: np.ndarray) -> dict[str, pa.Array]:
    """An array (n, d) of the columns that encoders read, in order, as Arrow by name."""
    found, start = {}, 0
    for column in reads:
        block = np.ascontiguousarray(array[:, start : start + column.width], dtype=np.float64)
        flat = pa.array(block.reshape(-1))
        found[column.name] = (
            flat
            if column.width == 1 and type(column) is Numeric
            else pa.FixedSizeListArray.from_arrays(flat, column.width)
        )
        start += column.width
    return found
