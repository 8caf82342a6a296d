import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RequestError
from core.local.heavy_hitters import Alphabet
from core.local.oracles.local_hashing import OptimalHashing
from core.local.survey import FINDERS, described_search, finder_from
from core.local.text_searches import PrivTrie
from core.privacy.noise.randomness import SeededSource
from tests.depth import draws
from tests.local.oracles.written_out import below_e_to

LETTERS = Alphabet("abcdefghij", 5, seed=1)
WORDS = {"abcde": 0.3, "abc": 0.2, "jihg": 0.15, "bad": 0.15, "cafe": 0.1}


def texts(people: int, seed: int = 1) -> list[str]:
    random = np.random.default_rng(seed)
    rare = ["".join(random.choice(list("abcdefghij"), 5)) for _ in range(500)]
    rest = 1 - sum(WORDS.values())
    return random.choice([*WORDS, *rare], people, p=[*WORDS.values(), *[rest / 500] * 500]).tolist()


@given(word=st.text("abcdefghij", max_size=9))
def test_texts_become_numbers_and_come_back(word):
    code = int(LETTERS.codes([word])[0])
    assert LETTERS.text(code) == word[:5]
    for length in range(1, 6):
        assert LETTERS.text(int(LETTERS.prefixes(np.array([code]), length)[0]), length) == word[:length]


def test_continuations_are_those_of_texts():
    start = LETTERS.prefixes(LETTERS.codes(["ab", "a", ""]), 2)
    found = {LETTERS.text(int(code), 3) for code in LETTERS.extended(start, 2, 1)}
    assert found == {"a", "", "ab", *(f"ab{last}" for last in "abcdefghij")}
    assert len(LETTERS.extended(np.zeros(1, np.int64), 0, 2)) == 1 + 10 + 100


def test_long_texts_have_keys_of_32_bits():
    long = Alphabet("abcdefghijklmnopqrstuvwxyz", 12, seed=3)
    codes = long.codes(["frostglass", "frostglassy", "x"])
    keys = long.keys(codes, 12)
    assert (keys < 1 << 32).all() and len(set(keys.tolist())) == 3
    for wrong in (("aa", 3), ("abc", 62)):
        with pytest.raises(RequestError):
            Alphabet(*wrong)
    with pytest.raises(RequestError):
        long.codes(["Ä"])


@pytest.mark.parametrize("name", FINDERS)
def test_frequent_texts_are_found_with_their_counts(name):
    """Of 5 texts with a tenth of all people or more; each within 8 of its standard deviations."""
    one = FINDERS[name](LETTERS, 4)
    people = texts(draws(30_000, 200_000))
    found = one.find(one.privatise(people, SeededSource(3)), top=5).set_index("value")
    assert set(found.index) == set(WORDS)
    for word in WORDS:
        truth = people.count(word)
        spread = (found.loc[word, "high"] - found.loc[word, "low"]) / 3.9
        assert abs(found.loc[word, "estimate"] - truth) < 8 * spread
    assert found["estimate"].is_monotonic_decreasing


@pytest.mark.parametrize("name", FINDERS)
def test_nobody_is_found_where_nobody_is(name):
    one = FINDERS[name](LETTERS, 1)
    assert len(one.find(one.privatise([], SeededSource(1)))) == 0
    few = one.find(one.privatise(texts(50), SeededSource(1)), top=3)
    assert (few["low"] <= 50).all()


@pytest.mark.parametrize("name", FINDERS)
def test_what_no_device_sends_is_refused(name):
    one = FINDERS[name](LETTERS, 1)
    reports = one.privatise(texts(40), SeededSource(1))
    assert one.fits(reports).all() and finder_from(described_search(one)) == one
    for column in (0, one.report_words - 1):
        bad = reports.copy()
        bad[3, column] = 2**64 - 1
        assert not one.fits(bad)[3]
        with pytest.raises(RequestError):
            one.find(bad)
    with pytest.raises(RequestError):
        one.fits(reports[:, 1:])


@pytest.mark.parametrize("name", ["sfp", "treehist"])
@pytest.mark.parametrize("epsilon", ["1", "0.333333333333", "7"])
def test_two_reports_share_the_promise(name, epsilon):
    one = FINDERS[name](LETTERS, epsilon)
    odds = [one.hashing.odds, one.fragments.odds if name == "sfp" else one.hashing.odds]
    assert odds[0] * odds[1] <= below_e_to(epsilon)
    assert isinstance(one.hashing, OptimalHashing)


def test_a_trie_asks_nobody_twice_and_stops_when_it_knows():
    one = PrivTrie(LETTERS, 4, threshold=0.05)
    codes, at, asked = LETTERS.codes(people := texts(30_000)), 0, []

    def ask(length, count):
        nonlocal at
        mine = codes[at : at + count]
        at += len(mine)
        asked.append(len(mine))
        return one.report(mine, length, SeededSource(at))

    found = one.find(ask, len(codes), top=5).set_index("value")
    assert set(found.index) == set(WORDS) and at <= len(codes) and asked[-1] > len(codes) * 0.25
    for word in WORDS:
        spread = (found.loc[word, "high"] - found.loc[word, "low"]) / 3.9
        assert abs(found.loc[word, "estimate"] - people.count(word)) < 8 * spread
    with pytest.raises(RequestError):
        one.find(ask, 3)
