"""What a server's log says of a fault holds no value of the data, whoever writes the log."""

import errno
import io
import logging
import subprocess
import sys
from threading import ExceptHookArgs, Thread

import pyarrow as pa
import pytest

from core import load
from core.errors import ReleaseFileError, RequestError
from core.runtime import archives, faults
from core.sources.duck import plain_sentences
from tests.releases_for_tests import small_release

SECRET = "the patient in row 7"


def failing():
    try:
        raise KeyError(SECRET)
    except KeyError as first:
        raise ValueError(f"cannot read {SECRET}") from first


@pytest.fixture
def log():
    """A log of what is written through the factory of records, and its stream."""
    written, logger = io.StringIO(), logging.getLogger("a library")
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(message)s"))
    before = logging.getLogRecordFactory()
    logging.setLogRecordFactory(faults._silent(before))
    logger.addHandler(handler)
    yield logger, written
    logging.setLogRecordFactory(before)
    logger.removeHandler(handler)


def test_a_fault_is_told_by_types_and_places():
    with pytest.raises(ValueError) as caught:
        failing()
    words = faults.told(caught.value)
    assert "ValueError" in words and "KeyError" in words and "in failing" in words and "test_faults.py" in words
    assert SECRET not in words


def test_causes_that_go_round_in_a_circle_come_to_an_end():
    one, other = ValueError(SECRET), KeyError(SECRET)
    one.__cause__, other.__cause__ = other, one
    assert faults.told(one) == "ValueError\nwhile handling KeyError"


@pytest.mark.parametrize(
    "write",
    [
        lambda log, fault: log.exception("It failed"),
        lambda log, fault: log.error("It failed", exc_info=fault),
        lambda log, fault: log.error("It failed: %s", fault),
        lambda log, fault: log.error("It failed: %(why)s", {"why": fault}),
        lambda log, fault: log.error("It failed: %r %d", fault, 3, exc_info=True),
        lambda log, fault: log.error("It failed") or log.error(fault),
    ],
)
def test_no_log_repeats_what_an_exception_says(log, write):
    logger, written = log
    try:
        failing()
    except ValueError as fault:
        write(logger, fault)
    assert "It failed" in written.getvalue() and "ValueError" in written.getvalue()
    assert SECRET not in written.getvalue()


def test_a_thread_that_ends_in_a_fault_says_of_which_type(log, caplog):
    try:
        failing()
    except ValueError as fault:
        faults._ended(ExceptHookArgs((ValueError, fault, fault.__traceback__, Thread(name="reader"))))
    assert "ended reader" in caplog.text and "ValueError" in caplog.text and SECRET not in caplog.text


PROGRAM = """
import threading
from core.runtime.faults import keep_values_out_of_logs
keep_values_out_of_logs()
keep_values_out_of_logs()
def work():
    raise ValueError("the patient in row 7")
thread = threading.Thread(target=work, name="frostglass-release")
thread.start()
thread.join()
"""


@pytest.mark.parametrize("debug", ["", "1"])
def test_in_a_process_of_its_own_words_are_shown_only_to_who_asks_for_them(debug, monkeypatch):
    monkeypatch.setenv(faults.DEBUG, debug)
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    assert "ValueError" in ended.stderr and "frostglass-release" in ended.stderr
    assert (SECRET in ended.stderr) == (debug == "1")


def lacking(*_, **__):
    raise MemoryError


def refusing_to_map(*_, **__):
    raise OSError(errno.ENOMEM, "Cannot allocate memory")


@pytest.fixture
def path(tmp_path):
    small_release().save(tmp_path / "people.npz")
    return tmp_path / "people.npz"


@pytest.mark.parametrize("given", [lambda path: path, lambda path: path.read_bytes()], ids=["path", "bytes"])
@pytest.mark.parametrize("fault", [lacking, refusing_to_map])
def test_a_release_that_memory_does_not_do_for_is_not_called_damaged(path, monkeypatch, given, fault):
    monkeypatch.setattr(archives.zipfile.ZipExtFile, "read", fault)
    file = given(path)
    with pytest.raises(RequestError, match="not enough memory on this computer to open the release") as caught:
        load(file)
    assert not isinstance(caught.value, ReleaseFileError) and "damaged" not in str(caught.value)


def test_a_large_release_that_cannot_be_mapped_is_not_called_damaged(tmp_path, monkeypatch):
    small_release().save(tmp_path / "people.npz", large=0)
    monkeypatch.setattr(archives.mmap, "mmap", refusing_to_map)
    with pytest.raises(RequestError, match="not enough memory"):
        load(tmp_path / "people.npz")


@pytest.mark.parametrize("problem", [MemoryError(), OSError(errno.ENOMEM, "no"), pa.ArrowMemoryError("malloc of 9")])
def test_a_source_that_memory_does_not_do_for_is_told_from_one_that_cannot_be_read(problem):
    with pytest.raises(RequestError, match=r"^There is not enough memory on this computer to read the table"):
        with plain_sentences("the table"):
            raise problem
