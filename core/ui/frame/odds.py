"""ε in plain words: how far a guess about one person can rise."""

from __future__ import annotations

import math

from ...words.escapes import in_html
from ...words.numbers import percent
from .bars import bar
from .markup import draw


def best_guess(epsilon: float, delta: float = 0.0) -> float:
    """How often the best possible guesser is right about one person, who started from a fair coin.

    Telling two equally likely neighbouring data sets apart from an (ε, δ)-private release succeeds with probability
    at most ``(e^ε + δ) / (1 + e^ε)``: one half plus half the largest total variation distance that (ε, δ) allows.

    References
    ----------
    Kairouz, Oh and Viswanath (2015), The composition theorem for differential privacy, theorem 2.1.
    """
    return min(1.0, (1.0 + delta * math.exp(-epsilon)) / (1.0 + math.exp(-epsilon)))


def odds_sentence(epsilon: float, delta: float = 0.0, protected: str = "person") -> str:
    """The promise in one sentence; ``protected`` is "person" or "record", whatever the release protects."""
    most = percent(best_guess(epsilon, delta), 3)
    return f"A coin-flip (50%) guess about one {protected} can rise to at most {most}."


def odds(epsilon: float, delta: float = 0.0, protected: str = "person") -> None:
    """The promise as a sentence with a bar from a coin flip to certainty."""
    share = best_guess(epsilon, delta)
    before, after = odds_sentence(epsilon, delta, protected).rsplit(" ", 1)
    draw(
        f"""<p class="fg-odds">{in_html(before)} <strong>{in_html(after)}</strong> That is the worst case:
        a guesser who knows everyone else and has all the time in the world.</p>"""
    )
    bar([2 * share - 1], f"{percent(share, 3)} on a scale from 50% to 100%", "50% a coin flip", "100% certain")
