"""Exact noise against OpenDP's exact samplers, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.metadata import version

import opendp.prelude as opendp

from core.privacy.noise import discrete_gaussian, discrete_laplace, warm

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
    laplaces = (lambda: discrete_laplace(draws, Fraction(SCALE)), lambda: laplace(zeros))
    gaussians = (lambda: discrete_gaussian(draws, Fraction(SCALE) ** 2), lambda: gaussian(zeros))
    yield _compared("discrete Laplace", draws, *laplaces, settings.repeats(5))
    yield _compared("discrete Gaussian", draws, *gaussians, settings.repeats(5))


def _compared(name: str, draws: int, ours: Callable, theirs: Callable, repetitions: int) -> Comparison:
    seconds = in_turn({"ours": ours, "theirs": theirs}, repetitions)
    rival = Rival(f"OpenDP {version('opendp')}", tuple(SHARE * one for one in seconds["theirs"]))
    found = Comparison(f"{draws:,} exact draws of {name}, scale {SCALE:,}", seconds["ours"], rivals=(rival,))
    faster = Target("times as fast as OpenDP", found.ratio(rival), 60.0, at_least=True)
    return Comparison(
        found.work,
        found.values,
        rivals=found.rivals,
        targets=(faster,),
        facts={"ns a draw": found.median / draws * 1e9},
    )
