"""Exact noise against OpenDP's exact samplers, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version

import opendp.prelude as opendp

from core.privacy.noise.noise import discrete_gaussian, discrete_laplace, warm
from core.privacy.noise.randomness import Source

from .limits import CountingSource, key_stream
from .measuring import Comparison, Rival, Settings, Target
from .timing import in_turn

SCALE = 1000
SHARE = 10
"""OpenDP takes the same time for every draw, so a tenth of them is timed, and ten times that is written down."""


def run(settings: Settings) -> Iterator[Comparison]:
    """A million draws of each distribution."""
    draws = settings.size(1_000_000, 20_000)
    opendp.enable_features("contrib")
    domain = opendp.vector_domain(opendp.atom_domain(T=int))
    zeros = [0] * (draws // SHARE)
    laplace = opendp.m.make_laplace(domain, opendp.l1_distance(T=int), scale=float(SCALE))
    gaussian = opendp.m.make_gaussian(domain, opendp.l2_distance(T=float), scale=float(SCALE))
    warm()

    def draw_laplace(source: Source | None = None) -> None:
        discrete_laplace(draws, Fraction(SCALE), source)

    def draw_gaussian(source: Source | None = None) -> None:
        discrete_gaussian(draws, Fraction(SCALE) ** 2, source)

    yield _compared("discrete Laplace", draws, draw_laplace, lambda: laplace(zeros), settings.repeats(5))
    yield _compared("discrete Gaussian", draws, draw_gaussian, lambda: gaussian(zeros), settings.repeats(5))


def _compared(name: str, draws: int, ours: Callable, theirs: Callable, repetitions: int) -> Comparison:
    counting = CountingSource()
    ours(counting)
    words = counting.words
    seconds = in_turn({"ours": ours, "theirs": theirs, "bits": lambda: key_stream(words)}, repetitions)
    rival = Rival(f"OpenDP {version('opendp')}", tuple(SHARE * one for one in seconds["theirs"]))
    limit = Rival(f"the AES key stream alone, {64 * words / draws:.0f} bits a draw", seconds["bits"])
    work = f"{draws:,} exact draws of {name}, scale {SCALE:,}"
    found = Comparison(work, seconds["ours"], rivals=(rival,), limits=(limit,))
    faster = Target("times as fast as OpenDP", found.ratio(rival), 60.0, at_least=True)
    return replace(found, targets=(faster,), facts={"ns a draw": found.median / draws * 1e9})
