"""Bars with words: one share of a whole, or several."""

from __future__ import annotations

from collections.abc import Sequence

from ...words.escapes import in_html
from ...words.numbers import left_in_words, significant
from .markup import draw


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
        f'<div class="fg-bar" role="img" aria-label="{in_html(words)}">{spans}</div>'
        f'<div class="fg-scale"><span>{in_html(left)}</span><span>{in_html(right)}</span></div>'
    )


def budget_bar(spent: float, price: float, total: float) -> None:
    """A budget: what earlier releases spent, what the next one would cost, and what then is left (all in ε)."""
    left = max(0.0, total - spent - price)
    was, this, rest, whole = (significant(epsilon, 3) for epsilon in (spent, price, left, total))
    rest = left_in_words(left, rest)
    words = f"Of a budget of {whole}, {was} is spent, this release takes {this}, and {rest} is left."
    bar([spent / total, price / total], words, f"spent {was}, this {this}", f"left {rest} of {whole}")
