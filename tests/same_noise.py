"""The noise of a test follows from its name, so that a test that passed passes again, until what it tests changes.

Releases ask the operating system for keys, and thousands of tests that do so would now and then see what one release
in a million sees. Quick runs answer with keys that follow from the name of the test, or of the fixture that several
tests share; the samplers over them are those of every release. Deep runs ask the system, and so do programs that a test
starts, tapes of `privacy.replay`, and tests that put a source of their own in the system's place.

`FROSTGLASS_TEST_NOISE` is a word that goes into every key: a run with another word is another draw of every test.
"""

import hashlib
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from types import SimpleNamespace

import pytest

from core.privacy.noise import randomness
from core.privacy.replay.tape import rolling
from core.runtime import parameters
from tests.depth import DEEP

WORD = os.environ.get("FROSTGLASS_TEST_NOISE", "")
_SYSTEM = os.urandom


class _Name:
    """Whose noise is drawn at present, how many keys it has had, and in which process."""

    said, keys, process = "", count(), os.getpid()


def begin_here() -> None:
    """Run tests in this process, which was forked from the one that collected them."""
    _Name.process = os.getpid()


@contextmanager
def named(name: str) -> Generator[None]:
    """Give the keys that are asked for meanwhile a name."""
    before = _Name.said, _Name.keys
    _Name.said, _Name.keys = name, count()
    try:
        yield
    finally:
        _Name.said, _Name.keys = before


def keyed(size: int) -> bytes:
    """Bytes in place of the system's, other ones at each call."""
    # A forked process would repeat its parent's; who replaced the system's source wants to be asked.
    if rolling() is not None or os.getpid() != _Name.process or os.urandom is not _SYSTEM:
        return os.urandom(size)
    return hashlib.shake_256(f"{WORD}/{_Name.said}/{next(_Name.keys)}".encode()).digest(size)


def _seed(bits: int) -> int:
    if rolling() is not None:
        return secrets.randbits(bits)
    return int.from_bytes(keyed(bits // 8 + 1)) >> (8 - bits % 8)


class SameNoise:
    """The plugin: draws of a test are named after it, those of a fixture that several tests share after the fixture."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, bool | None, bool | None]:
        """Run a test under its own name."""
        with named(item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        """Make what several tests share under the name of the fixture, whichever test asks for it first."""
        if fixturedef.scope == "function":
            return (yield)
        with named(f"{fixturedef.baseid}::{fixturedef.argname}::{getattr(request, 'param_index', 0)}"):
            return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Put the keys in the system's place, for quick runs."""
    if not DEEP:
        randomness.os = SimpleNamespace(urandom=keyed)  # type: ignore[assignment]
        parameters.secrets = SimpleNamespace(randbits=_seed)  # type: ignore[assignment]
        config.pluginmanager.register(SameNoise(), "same-noise")
