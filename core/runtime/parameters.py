"""Parameters that a class declares once: each field says what it may be, and everything else follows.

    @dataclass(frozen=True)
    class Tree(Declared):
        described = "tree"
        levels: Settled[int] = parameter(Whole("The number of levels", 1, 20), None, settled="how many levels it has")

From the declarations follow what a constructor refuses and how it converts (`Validated.__post_init__`), what is written
to JSON (`written`), and what is taken from a stranger's file (`read`). What must hold between several fields is said in
the class's own `_check`. A field without a declaration is neither checked nor written.

What people and files give beside them is checked here too, with one sentence each.
"""

import inspect
import math
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cached_property
from importlib import import_module
from numbers import Integral, Real
from pkgutil import iter_modules
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from ..errors import RequestError

MAX_TEXT = 1_000


def check_text(text: object, what: str) -> None:
    """Refuse a name that is empty, too long, or cannot be written to a file."""
    if not isinstance(text, str) or not 1 <= len(text) <= MAX_TEXT:
        raise RequestError(f"{what} must be a text of 1 to {MAX_TEXT:,} characters.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise RequestError(f"{what} holds half a character, which no file can store.") from None


def check_integer(value: object, what: str, least: int, greatest: int) -> int:
    """The value as a Python integer inside the limits."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or not least <= int(value) <= greatest:
        raise RequestError(f"{what} must be a whole number from {least:,} to {greatest:,}.")
    return int(value)


def check_number(value: object, what: str) -> float:
    """The value as a finite Python float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise RequestError(f"{what} must be a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RequestError(f"{what} must be a finite number.")
    return number


def seed_from_digits(value: object, what: str) -> int:
    """A public seed of 128 bits from the 32 hexadecimal digits that files hold, as JSON has no such whole numbers."""
    if not isinstance(value, str) or len(value) != 32 or not set(value) <= set("0123456789abcdef"):
        raise RequestError(f"{what} must be written as 32 hexadecimal digits.")
    return int(value, 16)


def check_choice(value: object, what: str, choices: Sequence[str]) -> None:
    """Refuse a word that is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        raise RequestError(f"{what} must be {' or '.join(map(repr, choices))}.")


def exact_fields(value: object, what: str, expected: Sequence[str]) -> dict[str, Any]:
    """A copy of a JSON object that has the expected fields and no others."""
    if not isinstance(value, dict) or set(value) != set(expected):
        raise RequestError(f"The description of a {what} must have the fields {', '.join(expected)} and no others.")
    return dict(value)


def field_names(kind: type) -> list[str]:
    """Names of the fields of a dataclass, in order."""
    return [field.name for field in fields(kind)]


SEED_BITS = 128
T = TypeVar("T")


class Resolved(Generic[T]):
    """The type of a field that may be left out, as it follows from other fields, a forecast or chance.

    A constructor takes None for it, and whoever reads it reads a value: a class says what works before it is there.
    """

    def __get__(self, owner: object, kind: object = None) -> T:
        """What is read; for type checkers alone, as no such object is ever made."""
        raise NotImplementedError

    def __set__(self, owner: object, value: T | None) -> None:
        """What is given; likewise."""
        raise NotImplementedError


class Kind(ABC):
    """What a parameter may be."""

    settled: ClassVar[str] = ""
    """As of `parameter`, where it is the same for all of a kind."""

    def otherwise(self) -> Any:
        """What None stands for where it is the default: None, unless there is something to be drawn."""
        return None

    @abstractmethod
    def checked(self, value: object) -> Any:
        """The value as it is kept; RequestError, in one sentence, when it is not of this kind."""

    def written(self, value: Any) -> Any:
        """A checked value for JSON."""
        return value

    def read(self, value: object) -> Any:
        """What `written` wrote down, for `checked`; RequestError on JSON that it never writes."""
        return value


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number inside limits."""

    what: str
    least: int
    greatest: int

    def checked(self, value: object) -> int:
        return check_integer(value, self.what, self.least, self.greatest)


@dataclass(frozen=True)
class Number(Kind):
    """A finite number inside limits; ``why`` ends the sentence that refuses another one."""

    what: str
    least: float = -math.inf
    greatest: float = math.inf
    why: str = ""

    def checked(self, value: object) -> float:
        number = check_number(value, self.what)
        if not self.least <= number <= self.greatest:
            reason = f", {self.why}" if self.why else ""
            raise RequestError(f"{self.what} must lie between {self.least:g} and {self.greatest:g}{reason}.")
        return number


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few words."""

    what: str
    choices: tuple[str, ...]

    def checked(self, value: object) -> str:
        check_choice(value, self.what, self.choices)
        return str(value)


@dataclass(frozen=True)
class Text(Kind):
    """A text that a file can store, and not empty."""

    what: str

    def checked(self, value: object) -> Any:
        check_text(value, self.what)
        return value

    def read(self, value: object) -> Any:
        return self.checked(value)


@dataclass(frozen=True)
class Seed(Kind):
    """A public seed of 128 bits; a fresh one is drawn for None where that is the default. Files hold its digits."""

    what: str
    settled: ClassVar[str] = "its seed"

    def otherwise(self) -> int:
        return secrets.randbits(SEED_BITS)

    def checked(self, value: object) -> int:
        return check_integer(value, self.what, 0, (1 << SEED_BITS) - 1)

    def written(self, value: int) -> str:
        return f"{value:032x}"

    def read(self, value: object) -> int:
        return seed_from_digits(value, self.what)


@dataclass(frozen=True)
class Several(Kind):
    """A list of values of one kind, kept as a tuple. How many there must be often depends on other fields."""

    what: str
    kind: Kind
    least: int = 0
    greatest: int | None = None

    def checked(self, value: object) -> tuple[Any, ...]:
        return tuple(self.kind.checked(one) for one in self._sized(value, (tuple, list)))

    def written(self, value: tuple[Any, ...]) -> list[Any]:
        return [self.kind.written(one) for one in value]

    def read(self, value: object) -> list[Any]:
        return [self.kind.read(one) for one in self._sized(value, (list,))]

    def _sized(self, value: object, types: tuple[type[Sequence[object]], ...]) -> Sequence[object]:
        """The values, before any of them is looked at; RequestError unless there are so many."""
        if isinstance(value, np.ndarray) and tuple in types:
            value = value.tolist()
        if not isinstance(value, types):
            raise RequestError(f"{self.what} must be a list.")
        if not self.least <= len(value) <= (len(value) if self.greatest is None else self.greatest):
            most = f"at least {self.least:,}" if self.greatest is None else f"from {self.least:,} to {self.greatest:,}"
            raise RequestError(f"{self.what} must be {most}, not {len(value):,}.")
        return cast(Sequence[Any], value)


@dataclass(frozen=True)
class Described(Kind):
    """A value of a class of ours that describes itself with `to_dict`; its owner or a subclass reads it back."""

    what: str
    type: type

    def checked(self, value: object) -> Any:
        if not isinstance(value, self.type):
            raise RequestError(f"{self.what} must be a {self.type.__name__}.")
        return value

    def written(self, value: Any) -> dict[str, object]:
        facts: dict[str, object] = value.to_dict()
        return facts


def parameter(kind: Kind, default: object = MISSING, *, settled: str = "", kw_only: bool = False) -> Any:
    """A field that holds a value of the kind, or None where that is the default.

    `kind`: What it may be. `default`: None means that the value follows from other fields or a forecast, or for a seed,
    that it is drawn. `settled`: What a release must say of it, as in "how many rows it has", so that no file leaves it
    None. `kw_only`: As for a field: fields are written in the order of the class, which may not be that of positional
    arguments.
    """
    return field(default=default, kw_only=kw_only, metadata={"kind": kind, "settled": settled or kind.settled})


@dataclass(frozen=True)
class Validated:
    """A frozen value whose fields say what they may be."""

    described: ClassVar[str]
    """What it is called where something about it is refused."""

    def __post_init__(self) -> None:
        for one in declared(type(self)):
            kind, value = one.metadata["kind"], getattr(self, one.name)
            optional = value is None and one.default is None
            self._settle(**{one.name: kind.otherwise() if optional else kind.checked(value)})
        self._check()

    def _check(self) -> None:
        """Refuse fields that do not go together; called when each is checked by itself."""

    def _settle(self, **values: object) -> None:
        """Give fields the values that follow from others, while the value is made."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def written(self) -> dict[str, Any]:
        """The declared fields for JSON, in order."""
        values = {one.name: (one.metadata["kind"], getattr(self, one.name)) for one in declared(type(self))}
        return {name: None if value is None else kind.written(value) for name, (kind, value) in values.items()}

    @classmethod
    def read(cls, value: object) -> dict[str, Any]:
        """What `written` wrote down, as arguments for the class.

        RequestError when there are not exactly these fields, one that must be settled is None, or one is no JSON of its
        kind.
        """
        facts = exact_fields(value, cls.described, [one.name for one in declared(cls)])
        for one in declared(cls):
            kind, settled, fact = one.metadata["kind"], one.metadata["settled"], facts[one.name]
            if fact is None and settled:
                raise RequestError(f"A released {cls.described} must say {settled}.")
            facts[one.name] = None if fact is None and one.default is None else kind.read(fact)
        return facts


def declared(owner: type) -> Sequence[Field[Any]]:
    """The fields of a class that say what they may be, in order."""
    return [one for one in fields(owner) if "kind" in one.metadata]


class Registry(Mapping[str, type[T]], Generic[T]):
    """Classes of one kind that are chosen by name, found where they lie: a new one is a file of a package.

    A class is listed where it says a `name` of its own and is not abstract, and says otherwise by `listed = False`;
    ``rank`` is its place, small ones first. Files are imported when somebody asks for the first time.

    `package`: Where the files are, each directly inside, or the one file that has all of them. `kind`: What all of them
    are. `what`: What one of them is called where another name is refused.
    """

    def __init__(self, package: str, kind: type[T], what: str) -> None:
        self._package, self._kind, self._what = package, kind, what
        self._registered: list[type[T]] = []

    @cached_property
    def _found(self) -> tuple[type[T], ...]:
        place = import_module(self._package)
        folder = getattr(place, "__path__", ())
        inside = [import_module(f"{self._package}.{one.name}") for one in iter_modules(folder) if not one.ispkg]
        modules = inside or [place]
        return tuple(one for module in modules for one in vars(module).values() if self._lists(one, module.__name__))

    def _lists(self, one: object, module: str) -> bool:
        return (
            isinstance(one, type)
            and issubclass(one, self._kind)
            and one.__module__ == module
            and "name" in vars(one)
            and vars(one).get("listed", True)
            and not inspect.isabstract(one)
        )

    @property
    def _known(self) -> dict[str, type[T]]:
        every: list[Any] = [*self._found, *self._registered]
        return {one.name: one for one in sorted(every, key=lambda one: (getattr(one, "rank", 0), one.name))}

    def __getitem__(self, name: str) -> type[T]:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def named(self, name: object) -> Any:
        """The class of a name, to be called; RequestError where there is none."""
        check_choice(name, self._what, tuple(self))
        return self._known[str(name)]

    def read(self, facts: object) -> T:
        """What `described` wrote down; RequestError on anything else, as the file may come from a stranger."""
        given = exact_fields(facts, self._what.removeprefix("The "), ("name", "parameters"))
        kind = self.named(given["name"])
        made: T = kind(**kind.read(given["parameters"]))
        return made

    def register(self, one: type[T]) -> None:
        """Make a class of another module known to this process; ValueError where its name is taken."""
        if getattr(one, "name") in self:  # noqa: B009 (which not every type has)
            raise ValueError(f"There is one of the name {one.name!r} already.")  # type: ignore[attr-defined]
        self._registered.append(one)

    def unregister(self, one: type[T]) -> None:
        """Forget a class that `register` made known."""
        self._registered.remove(one)


def described(one: Any) -> dict[str, object]:
    """A value of a class that is chosen by name, for JSON."""
    return {"name": one.name, "parameters": one.written()}
