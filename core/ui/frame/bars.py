"""Bars with words: one share of a whole, or several."""

from __future__ import annotations

from collections.abc import Sequence

from .markup import draw, escape


def bar(shares: Sequence[float], words: str, left: str, right: str) -> None:
    """A bar filled by shares of it, from the left; the first is dark, those after it lighter.

    Parameters
    ----------
    shares : Sequence[float]
        Each between 0 and 1; what goes past the end is cut off.
    words : str
        The bar for those who do not see it.
    left, right : str
        What its two ends mean.
    """
    spans = "".join(f'<span style="width:{100 * max(0.0, min(1.0, share)):.2f}%"></span>' for share in shares)
    draw(
        f'<div class="fg-bar" role="img" aria-label="{escape(words)}">{spans}</div>'
        f'<div class="fg-scale"><span>{escape(left)}</span><span>{escape(right)}</span></div>'
    )


def budget_bar(spent: float, price: float, total: float) -> None:
    """A budget: what earlier releases spent, what the next one would cost, and what then is left (all in ε)."""
    left = max(0.0, total - spent - price)
    words = f"Of a budget of {total:.3g}, {spent:.3g} is spent, this release takes {price:.3g}, and {left:.3g} is left."
    shares = [spent / total, price / total]
    bar(shares, words, f"spent {spent:.3g}, this {price:.3g}", f"left {left:.3g} of {total:.3g}")
