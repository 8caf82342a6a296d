"""Numba's compiler, keeping what it compiles for whoever runs the same loops on this kind of processor again.

Every compiled version of a loop is a file of its own in the user's cache folder, whichever checkout or environment it
came from; `NUMBA_CACHE_DIR` is heeded. Where no such folder can be written to, as in a locked-down container, a folder
of this process alone takes its place: its owner's only, as whoever can write to it could run code here, and gone when
the process ends.

A file's name is a digest of all that the machine code was made of: types, processor, versions of the libraries, and the
code and constants, as they are in memory, of the loop and of every loop that is compiled into it. So a file is found
where it is right, in another checkout too, and nowhere else; that of changed code is found no more, and goes in time.
Files come into being whole, so two processes that compile the same at once do each other no harm. (Numba's own cache
knows a loop by its own file only, keeps stale code of what it calls, and numbers versions in a list that two processes
which write at once leave wrong.)
"""

import atexit
import hashlib
import logging
import os
import pickle
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

import llvmlite
import numba
import numpy as np
from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

try:
    import fcntl
except ImportError:  # Windows, where two processes may compile the same, each for itself
    fcntl = None  # type: ignore[assignment]  # as there is no such module, its absence is what is looked for

SUFFIX = ".loop"
UNUSED_DAYS = 60  # After which a compiled version is removed that nobody has loaded.
VERSIONS = (sys.version, platform.machine(), numba.__version__, llvmlite.__version__, np.__version__)
LIBRARY = __name__.partition(".")[0] + "."
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

Compiled = TypeVar("Compiled", bound=Callable[..., Any])


def njit(**options: Any) -> Callable[[Compiled], Compiled]:
    """``numba.njit`` with these options, for a function of this library, whose compiled versions are kept."""

    def compiled(function: Compiled) -> Compiled:
        loop: Any = numba.njit(**options | {"cache": False})(function)
        if options.get("cache"):
            loop._cache = Kept(loop)
        return loop  # type: ignore[no-any-return]  # of Numba no type is known

    return compiled


class Kept(NullCache):  # type: ignore[misc]  # of Numba no type is known
    """What `Dispatcher` asks before it compiles, and tells what it has compiled."""

    def __init__(self, loop: Dispatcher) -> None:
        self._loop = loop

    @property
    def cache_path(self) -> str:
        """Where compiled versions lie."""
        return str(folder())

    @cached_property
    def _meaning(self) -> str:
        return meaning(self._loop)

    def _file(self, types: object, machine: object) -> Path:
        made_of = repr((types, machine, VERSIONS, self._meaning))
        return folder() / (hashlib.sha256(made_of.encode()).hexdigest() + SUFFIX)

    def load_overload(self, types: object, context: Any) -> object:
        """The compiled version for some types; None where there is none yet."""
        context.refresh()
        file = self._file(types, context.codegen().magic_tuple())
        try:
            # In a folder that nobody else can write to (`folder`), so what is unpickled is what this user has kept.
            kept = CompileResult._rebuild(context, *pickle.loads(file.read_bytes()))
            os.utime(file)
        except Exception:  # not there, or damaged, which raises whatever its bytes happen to say: it is compiled anew
            _say_that_it_compiles()
            return None
        return kept

    def save_overload(self, types: object, version: Any) -> None:
        """Keep a compiled version, unless it holds addresses of this process, or there is no room."""
        if version.library.has_dynamic_globals or any(not part.can_cache for part in version.lifted):
            return
        keep(self._file(types, version.codegen.magic_tuple()), dumps(version._reduce()))


def keep(file: Path, content: bytes) -> None:
    """Write a file whole, or, where that is not possible, not at all."""
    with suppress(OSError), tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as draft:
        try:
            draft.write(content)
            draft.close()
            Path(draft.name).replace(file)
        except OSError:
            Path(draft.name).unlink()


@cache
def _say_that_it_compiles() -> None:
    logging.getLogger(__name__).info(
        "Compiling what is used for the first time with these versions on this machine; it is kept for the next time."
    )


def meaning(loop: Dispatcher) -> str:
    """A digest of what a loop does: its code, what it refers to by name, and the same of every function it calls.

    Nothing is asked of the source files, which may have changed since this process read them.
    """
    first: Any = loop.py_func
    parts: list[object] = [(name, _content(value)) for name, value in loop.targetoptions.items()]
    functions, known = [first], set()
    while functions:
        function = functions.pop()
        if function in known:
            continue
        known.add(function)
        parts.append((function.__module__, function.__qualname__, _code(function.__code__)))
        for name, value in _named(function):
            called = getattr(value, "py_func", getattr(value, "_defn", value))  # of a loop, or of an intrinsic
            if isinstance(called, FunctionType):
                functions.append(called)
            else:
                parts.append((name, _content(value)))
    return hashlib.sha256(repr(sorted(map(repr, parts))).encode()).hexdigest()


def _code(code: CodeType) -> object:
    """What code does, wherever it stands."""
    constants = [_code(part) if isinstance(part, CodeType) else _content(part) for part in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return (
        code.co_code,
        code.co_exceptiontable,
        constants,
        names,
        code.co_argcount,
        code.co_kwonlyargcount,
        code.co_flags,
    )


def _named(function: FunctionType) -> Iterator[tuple[str, object]]:
    """The values outside a function that its code, or code within it, names."""
    codes: list[CodeType] = [function.__code__]
    for code in codes:
        codes += [part for part in code.co_consts if isinstance(part, CodeType)]
        for name in code.co_names:
            if name in function.__globals__:
                yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    yield "defaults", function.__defaults__


def _content(value: object) -> object:
    """What there is to a value that machine code may hold, the same in every process."""
    if isinstance(value, ModuleType):  # of other libraries the versions are known; here nobody knows what is read
        return os.urandom(16) if value.__name__.startswith(LIBRARY) else value.__name__
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest()
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    return _ADDRESS.sub("", repr(value))


@cache
def folder() -> Path:
    """Where compiled loops are kept."""
    from platformdirs import user_cache_path

    place = Path(config.CACHE_DIR or user_cache_path("frostglass")) / "loops"
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(place, os.W_OK) and _ours_alone(place):
            return place
    except OSError:  # nothing can be made there
        pass
    place = Path(tempfile.mkdtemp(prefix="frostglass-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


def _ours_alone(place: Path) -> bool:
    """Whether nobody else can put code there that would run here."""
    found = place.stat()
    return os.name != "posix" or (found.st_uid == os.geteuid() and not found.st_mode & 0o022)


@contextmanager
def compiling_all() -> Iterator[None]:
    """Only one process at a time is in here, with those that it has started; others wait, as it works for them."""
    with (folder() / "turn").open("wb") as turn:
        if fcntl is not None:
            fcntl.flock(turn, fcntl.LOCK_EX)
        yield


def mark_of_all() -> Path:
    """The file that says, where it exists, that every loop of this library as it is now has been compiled here."""
    library = Path(__file__).parents[1]
    sources = [(str(file.relative_to(library)), file.read_bytes()) for file in sorted(library.rglob("*.py"))]
    machine = cpu_target.target_context.codegen().magic_tuple()
    return folder() / (hashlib.sha256(repr((sources, machine, VERSIONS)).encode()).hexdigest() + ".all")


def remove_unused() -> None:
    """Remove what nobody has loaded for long: compiled from code, or for libraries, that are no more."""
    latest = time.time() - UNUSED_DAYS * 86_400
    for file in folder().iterdir():
        with suppress(OSError):
            if file.stat().st_mtime < latest:
                file.unlink()
