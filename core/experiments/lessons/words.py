"""Finding the frequent words of a public text by local reports: everyone has one word of it."""

from __future__ import annotations

from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd

from ...errors import RequestError
from ...local.hitters.strings import Alphabet
from ...local.hitters.table import FINDERS
from ...machine.installation import APP

TEXT = APP / "sample_data" / "texts" / "whale.parquet"
TITLE = "Moby-Dick"
LETTERS, LENGTH = "abcdefghijklmnopqrstuvwxyz", 6
"""Of a word, its first six letters count."""
TOP = 20


@cache
def counted_words() -> tuple[np.ndarray, np.ndarray]:
    """The words of the text, cut to their length, and how often each is there.

    Raises
    ------
    RequestError
        When the installation has no sample data.
    """
    if not TEXT.exists():
        raise RequestError("This installation has no sample data, so there is no text to search.")
    table = pd.read_parquet(TEXT)
    counts = table["count"].groupby(table["word"].str[:LENGTH]).sum()
    return counts.index.to_numpy(str), counts.to_numpy(np.int64)


def searched(search: str, people: int, epsilon: str) -> pd.DataFrame:
    """What a search finds when so many people report a word each, drawn from the text as often as it is there.

    Parameters
    ----------
    search : str
        The name of a search in `core.local.hitters.table`.
    people, epsilon : int, str
        How many report, and the promise to each.

    Returns
    -------
    pd.DataFrame
        One row a word found, the most frequent first: value, estimate, low, high, and truth, how many really had it.
    """
    words, counts = counted_words()
    said = np.random.default_rng().choice(len(words), people, p=counts / counts.sum())
    finder = FINDERS[search](Alphabet(LETTERS, LENGTH), Decimal(epsilon))
    found = finder.find(finder.privatise(words[said].tolist()), TOP)
    really = dict(zip(words.tolist(), np.bincount(said, minlength=len(words)).tolist(), strict=True))
    return found.assign(truth=[really.get(value, 0) for value in found["value"]])


def most_frequent() -> list[str]:
    """The words that are there most often."""
    words, counts = counted_words()
    return [str(word) for word in words[np.argsort(-counts, kind="stable")[:TOP]]]
