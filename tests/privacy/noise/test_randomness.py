import os
import random

import numpy as np
import pytest

from core.privacy.noise.randomness import CipherStream, SeededSource, SystemSource, hidden_order
from tests.privacy.noise.scripted import ScriptedStream


def test_words_are_the_aes_256_ctr_key_stream():
    # AES-256 of the zero block under the zero key, the first block of the counter.
    assert CipherStream(bytes(32)).words(2).tobytes().hex() == "dc95c078a2408989ad48a21492842087"


def test_words_do_not_depend_on_how_many_are_asked_for_at_once():
    at_once, in_pieces = CipherStream(bytes(32)), CipherStream(bytes(32))
    pieces = [in_pieces.words(count) for count in (1, 0, 7, 40_000, 70_003)]
    assert np.array_equal(at_once.words(sum(map(len, pieces))), np.concatenate(pieces))


def test_every_bit_is_a_fair_coin():
    words = SeededSource(1).stream().words(200_000)
    shares = np.unpackbits(words.view(np.uint8)).reshape(-1, 64).mean(axis=0)
    assert np.abs(shares - 0.5).max() < 7 * 0.5 / np.sqrt(200_000)  # 64 bits beyond 7 sigma: below 2e-10


def test_a_seed_repeats_its_streams_and_no_stream_repeats_another():
    first, again, other = SeededSource(5), SeededSource(5), SeededSource(6)
    streams = [source.stream().words(4).tolist() for source in (first, again, first, again, other)]
    assert streams[0] == streams[1] and streams[2] == streams[3]
    assert streams[0] != streams[2] and streams[4] not in streams[:4]


def test_the_seeded_source_says_that_it_is_not_private():
    assert SystemSource().private is True
    assert SeededSource(1).private is False


def test_the_system_source_cannot_be_seeded():
    with pytest.raises(TypeError):
        SystemSource(1)
    with pytest.raises(AttributeError):
        SystemSource().seed = 1
    drawn = []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002 - the global generator is what must have no influence
        drawn.append(SystemSource().stream().words(4).tolist())
    assert drawn[0] != drawn[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_draws_other_words():
    source = SystemSource()
    source.stream().words(1)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, source.stream().words(2).tobytes())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(reader, 16) != source.stream().words(2).tobytes()
    os.close(reader)
    os.close(writer)


def test_all_hidden_orders_are_equally_likely_whatever_the_records_are():
    """Chi-square on the 24 orders of four records; 49.7 is passed with probability 0.001 by fair ones."""
    source, times = SeededSource(3), 4_800
    for records in (np.zeros((4, 1)), np.arange(8).reshape(4, 2)):
        found = [tuple(hidden_order(records, source)) for _ in range(times)]
        counts = np.unique(np.array(found) @ 4 ** np.arange(4), return_counts=True)[1]
        assert len(counts) == 24 and ((counts - times / 24) ** 2).sum() / (times / 24) < 49.7
    assert hidden_order(np.zeros((0, 3)), source).tolist() == []


def test_records_that_drew_the_same_do_not_keep_the_order_of_their_lines():
    class Tied:
        private = False

        def stream(self):
            return ScriptedStream(bulk=[7, 9, 7])

    rest = SeededSource(99).stream()
    rest.words(3)
    assert hidden_order(np.zeros((3, 1)), Tied()).tolist() == np.argsort(rest.words(3)).tolist()
