"""Questions of one name and numbers behind it have one range: that which all their noisy votes together say.

Of sixty questions that are answered from 0 to 6, where one to three in a hundred say 0, no column's own votes show the
0, but their mean does: its noise is a sixtieth of one column's in variance. So how many records have each whole number
near 0 is told from all votes that a number has, its cell's, its octave's and, for 0, that of zeros; the mean over the
columns is taken without the columns that differ most, as some may be no such question; and a range is chosen among all
short ones by how well it explains the means and by how common it is, which is public. A number far from all others
that repeats 7, 8 or 9, such as 99, stands for no answer, and is declared so.

Questions that are answered in words have one list likewise: those alike, by their names and by what a first look has
found (`columns_alike`), are looked at together in the second, for which `partition_selection` has the proof; and a word
that is found in one of them is public, and may be said of all (`words_alike`). How often a column has a word that was
found in all of them together is not known, and is left to the release.

All else is computed of what was released with noise, and costs nothing.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..domain.columns import stem_of
from ..privacy.choosing.partition_selection import ValueSelection
from ..runtime.counter_tables import Floats, Integers, Truths
from .discovery_reading import COARSE, COARSELY, DOUBTFUL, STEPS, SURE, Scale
from .found import LEAST_FOUND, OCCUPIED, FoundColumn, Measured, found_category
from .found_ends import FAR, RARE, Seen

FARTHEST = 15
"""Whole numbers of either sign have cells of their own up to here."""
NUMBERS, ALL = np.arange(-FARTHEST, FARTHEST + 1), np.arange(2 * COARSE + 1)
"""Those, and the coarse cells."""
LAST = 12
"""The farthest end of a range of answers, and so many words."""
UNTOLD = 5
"""Words that may be found in one column each though all have one list."""
COMMON = {
    **{(1, 5): 8.0, (0, 1): 6.0, (0, 10): 4.0, (1, 4): 4.0, (1, 7): 4.0, (0, 4): 3.0, (1, 3): 3.0, (1, 10): 3.0},
    **{(0, 3): 3.0, (1, 2): 3.0, (0, 2): 2.0, (0, 5): 2.0, (0, 6): 2.0, (1, 6): 2.0, (-2, 2): 2.0, (-3, 3): 2.0},
    **{(-1, 1): 1.0, (-5, 5): 1.0, (1, 9): 1.0, (1, 8): 0.5, (0, 7): 0.5, (0, 8): 0.5},
}
UNCOMMON = 0.02
"""How common each range of answers is; and any other one."""
HELD, EMPTY, NOBODY = {0.005: 0.05, 0.015: 0.1, 0.05: 0.25, 0.15: 0.4, 0.4: 0.2}, 0.03, 0.001
"""Shares of the records that a number within the range may have, and how likely each is; how likely it has none; and up
to which share there is none."""
OTHERS, WITHIN = 0.1, 0.9
"""Shares: of the columns, that may differ from the rest in either direction; and of a column's records, that have such
a number."""
WHOLE = STEPS.index(1.0) + 1
"""Steps, of multiples of which all are whole numbers."""
CODES = {
    sign * int(str(digit) * length): often
    for sign in (1, -1)
    for digit, often in ((9, 0.7), (8, 0.2), (7, 0.1))
    for length in (2, 3, 4)
}
"""Numbers that stand for no answer, and how common each is among those with as many digits."""
BESIDE = {99: (97, 98), 999: (997, 998), 9999: (9997, 9998)}
"""Those that often stand beside one; they have the same cell."""
SURELY = 0.9
"""How likely one of the codes in an octave must be."""


class Answers(NamedTuple):
    """What questions of one name are answered with: whole numbers between two, and codes for no answer."""

    low: int
    high: int
    codes: tuple[int, ...]


def questions_alike(seen: Sequence[Seen]) -> Iterator[tuple[list[int], Answers]]:
    """Places of columns of one name and numbers behind it, and what they are answered with, where votes tell that."""
    alike = defaultdict(list)
    for place, one in enumerate(seen):
        if one.kind == "number" and (stem := stem_of(one.scale.name)):
            alike[stem, one.scale.format and one.scale.format.name].append(place)
    for places in alike.values():
        if len(places) > 1 and (answers := _answers([seen[place] for place in places])):
            yield places, answers


def columns_alike(first: Mapping[str, Collection[str]]) -> list[tuple[str, ...]]:
    """Columns of categories, each with those that have one list with it, as names and a first look say; most are apart.

    Of one name are alike those of which half of the words were found in others, too; if that are many words, half of
    each column's in the one with most of them. Those in which nothing was found are alike where most others are. Where
    no word was found twice, all are if so few words are no wonder.
    """
    named, groups = defaultdict(list), list[tuple[str, ...]]()
    for name in first:
        named[stem_of(name) or (name,)].append(name)
    for names in named.values():
        shown = sorted(filter(first.__getitem__, names), key=lambda one: (-len(first[one]), one))
        often = Counter(word for one in shown for word in first[one])
        shared = {word for word, columns in often.items() if columns > 1}
        those = [one for one in shown if 2 * len(shared & set(first[one])) >= len(first[one])]
        if len(often) > LAST and those:
            those = [one for one in those if 2 * len(set(first[those[0]]) & set(first[one])) >= len(first[one])]
        hidden = [one for one in names if not first[one]] if 2 * (len(shown) - len(those)) <= len(names) else []
        if not those:
            those, hidden = (shown, hidden) if len(often) <= UNTOLD and len(shown) <= len(hidden) else ([], [])
        together = {*those, *hidden}
        groups += [tuple(one for one in names if one in together)] if together else []
        groups += [(one,) for one in names if one not in together]
    return groups


def found_categories(
    first: Mapping[str, dict[str, int]],
    rare: Mapping[tuple[str, ...], dict[str, int]],
    looks: Sequence[ValueSelection],
    records: Measured,
    missing: Mapping[str, Measured],
) -> list[FoundColumn]:
    """Columns of categories by what each look has shown, of each or of those alike, and by what is found of others."""
    own, pooled = {name: [values] for name, values in first.items()}, dict[str, tuple[str, ...]]()
    for names, values in rare.items():
        for name in names:
            own[name].append({} if names[1:] else values)
        often = Counter(word for name in names for word in first[name])
        least = LEAST_FOUND if max(often.values(), default=0) > 1 else _if_alike(len(values), len(names), len(first))
        if names[1:] and sum(values.values()) >= least * records.count * looks[1].weight:
            pooled |= {name: tuple(one for one in [*often, *values] if one not in first[name]) for name in names}
    also, found = pooled, list[FoundColumn]()
    for _ in range(2):
        found = [
            found_category(name, shown, looks, records, missing[name], also.get(name, ()))
            for name, shown in own.items()
        ]
        also = pooled | words_alike(found, pooled)
    return found


def _if_alike(words: int, columns: int, all_columns: int) -> float:
    """What so many words weigh in a record at least, half of what they do where each is in a list of all these columns.

    Of columns with lists of their own, all of which are found now and then, a record has a part of the words alone.
    """
    had = min(words, columns)
    return 0.5 * had / math.sqrt(max(1, had + all_columns - columns)) if words <= 2 * LAST else math.inf


def words_alike(found: Sequence[FoundColumn], pooled: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
    """By column of categories, words of other questions of its name, those first that most of them have.

    Of questions at least half of whose words are found in half of them; of a longer list only such words. `pooled`:
    Words that were found in columns alike, of each.
    """
    alike, more = defaultdict(list), {}
    for one in found:
        if one.column is not None and (stem := stem_of(one.name)):
            alike[stem].append((one.name, [*one.values, *pooled.get(one.name, ())]))
    for columns in alike.values():
        often = Counter(word for _, its in columns for word in its)
        usual = {word for word, columns_with in often.items() if columns_with >= max(2.0, len(columns) / 2.0)}
        those = {name: its for name, its in columns if 2 * len(usual & set(its)) >= len(its)}
        words = {word for its in those.values() for word in its}
        words = words if len(words) <= LAST else usual
        for name, its in those.items():
            own = pooled.get(name, ())
            more[name] = (*own, *sorted(words - set(its), key=lambda word: (-often[word], word)))
    return more


def answered(seen: Seen) -> tuple[Floats, Floats]:
    """About how many records have each of `NUMBERS`, if all have a whole number, and the standard deviations of that.

    The votes of an octave tell the sum of its numbers with a quarter of a single one's variance: least squares.
    """
    scale, error = seen.scale, seen.error
    counts, variances = np.zeros(len(NUMBERS)), np.zeros(len(NUMBERS))
    cells = _places(scale, NUMBERS)
    octaves = cells // scale.parts
    for octave in np.unique(octaves):
        its = octaves == octave
        fine = seen.votes[scale.fine][cells[its]].astype(float)
        rest = seen.votes[octave] / COARSELY - fine.sum()
        part = 1.0 / (COARSELY**-2 + its.sum())
        counts[its], variances[its] = fine + part * rest, error**2 * (1.0 - part)
    zero, weight = FARTHEST, COARSELY**2 + 1
    counts[zero] = (counts[zero] * weight + float(seen.votes[-1])) / (weight + 1)
    variances[zero] = error**2 / (weight + 1)
    return counts, np.sqrt(variances)


def contradicted(seen: Seen, own: tuple[float, float] | None, usual: Answers) -> bool:
    """Whether a column's votes say that its numbers lie elsewhere, or hardly any where it has none by itself."""
    counts, spreads = answered(seen)
    inside = (usual.low <= NUMBERS) & (usual.high >= NUMBERS)
    least = RARE * seen.records
    away, places = _octaves_away(seen.scale), _places(seen.scale, usual.codes) // seen.scale.parts
    elsewhere = [*(counts - np.maximum(least, FAR * spreads))[~inside]]
    elsewhere += [*(seen.cells - max(least, FAR * math.sqrt(seen.variance)))[away & ~np.isin(ALL, places)]]
    if max(elsewhere) > 0.0 or not _mostly_near(seen):
        return True
    if own is None:
        return False
    beyond = inside & ((own[0] > NUMBERS) | (own[1] < NUMBERS))
    sure = SURE * math.sqrt(float((spreads[beyond] ** 2).sum()))
    return bool(beyond.any() and sure < least and counts[beyond].sum() < min(sure, least - sure))


def _places(scale: Scale, numbers: Sequence[int] | Integers) -> Integers:
    """The finer cell of each whole number, with that of 0 counted as a coarse one."""
    places = np.searchsorted(scale.edges, numbers, side="right") - 1
    return np.asarray(places + np.where(places > COARSE * scale.parts, scale.parts - 1, 0), np.int64)


def _octaves_away(scale: Scale) -> Truths:
    """Which coarse cells lie beyond all `NUMBERS`."""
    first, last = _places(scale, NUMBERS[[0, -1]]) // scale.parts
    return np.asarray((first > ALL) | (last < ALL), bool)


def _answers(seen: Sequence[Seen]) -> Answers | None:
    """What most of some questions are answered with; None where that is no whole number near 0."""
    those = [one for one in seen if _mostly_near(one)]
    if len(those) < max(2.0, len(seen) / 2.0):
        return None
    told = [answered(one) for one in those]
    shares, spread = _mean(
        np.array([counts / one.records for (counts, _), one in zip(told, those, strict=True)]),
        np.array([spreads / one.records for (_, spreads), one in zip(told, those, strict=True)]),
    )
    if shares.sum() + SURE * math.sqrt(float((spread**2).sum())) < WITHIN:
        return None
    codes = _codes(those)
    return None if codes is None else Answers(*_range(shares, spread), codes)


def _mostly_near(seen: Seen) -> bool:
    """Whether nearly all numbers of a column may be whole ones that have cells of their own."""
    near, whole = seen.cells[~_octaves_away(seen.scale)], seen.votes[seen.scale.fine.stop :][[*range(WHOLE), -1]]
    return all(
        votes.sum() + max(DOUBTFUL * noise * math.sqrt(len(votes)), (1.0 - WITHIN) * seen.records) >= seen.records
        for votes, noise in ((near, math.sqrt(seen.variance)), (whole, seen.error))
    )


def _mean(shares: Floats, spreads: Floats) -> tuple[Floats, Floats]:
    """Means over the columns, without those that differ most in either direction, and their standard deviations."""
    columns = len(shares)
    apart = math.ceil(OTHERS * columns) if columns > 3 else 0
    kept = np.sort(shares, axis=0)[apart : columns - apart]
    return kept.mean(axis=0), np.sqrt((spreads**2).mean(axis=0) / columns)


def _range(shares: Floats, spread: Floats) -> tuple[int, int]:
    """The ends that are most likely, by the shares of all numbers and how common each range is."""
    variance = spread**2
    none = _likely(shares, variance + NOBODY**2)
    held = sum(often * _likely(shares - one, variance + (one / 2.0) ** 2) for one, often in HELD.items())
    gains = np.log((1.0 - EMPTY) * held + EMPTY * none + 1e-300) - np.log(none + 1e-300)
    sums = np.append(0.0, np.cumsum(gains))
    ends = [(low, high) for low in range(-LAST, LAST) for high in range(low + 1, LAST + 1)]
    return max(
        ends,
        key=lambda one: sums[one[1] + FARTHEST + 1] - sums[one[0] + FARTHEST] + math.log(COMMON.get(one, UNCOMMON)),
    )


def _likely(away: Floats, variance: Floats) -> Floats:
    return np.asarray(np.exp(-0.5 * away**2 / variance) / np.sqrt(variance))


def _codes(seen: Sequence[Seen]) -> tuple[int, ...] | None:
    """Codes for no answer in the mean of all columns; None where other numbers surely are far from all others."""
    scale, found = seen[0].scale, list[int]()
    noise = np.array([[one.error / one.records] for one in seen])
    octaves, spread = _mean(np.array([one.cells / one.records for one in seen]), noise)
    fine, error = _mean(np.array([one.votes[scale.fine] / one.records for one in seen]), noise)
    spread *= math.sqrt(seen[0].variance) / seen[0].error
    codes = np.array(list(CODES))
    places = _places(scale, codes)
    for octave in np.flatnonzero(_octaves_away(scale) & (octaves > np.maximum(OCCUPIED * spread, 3.0 * NOBODY))):
        these = np.flatnonzero(places // scale.parts == octave)
        likely = (
            np.log([CODES[one] for one in codes[these].tolist()]) + fine[places[these]] * octaves[octave] / error**2
        )
        weights = np.exp(likely - likely.max(initial=-math.inf))
        if not len(these) or weights.max() < SURELY * weights.sum():
            return None
        code = int(codes[these[np.argmax(weights)]])
        found += [code, *(int(math.copysign(one, code)) for one in BESIDE.get(abs(code), ()))]
    return tuple(sorted(found))
