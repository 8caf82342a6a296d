"""Too little memory is called so, wherever it is met, and never damage."""

import errno

import pyarrow as pa
import pytest

from core import load
from core.errors import ReleaseFileError, RequestError
from core.machine.files import archive
from core.sources.duck import plain_sentences
from tests.releases_for_tests import small_release


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
    monkeypatch.setattr(archive.zipfile.ZipExtFile, "read", fault)
    file = given(path)
    with pytest.raises(RequestError, match="not enough memory on this computer to open the release") as caught:
        load(file)
    assert not isinstance(caught.value, ReleaseFileError) and "damaged" not in str(caught.value)


def test_a_large_release_that_cannot_be_mapped_is_not_called_damaged(tmp_path, monkeypatch):
    small_release().save(tmp_path / "people.npz", large=0)
    monkeypatch.setattr(archive.mmap, "mmap", refusing_to_map)
    with pytest.raises(RequestError, match="not enough memory"):
        load(tmp_path / "people.npz")


@pytest.mark.parametrize("problem", [MemoryError(), OSError(errno.ENOMEM, "no"), pa.ArrowMemoryError("malloc of 9")])
def test_a_source_that_memory_does_not_do_for_is_told_from_one_that_cannot_be_read(problem):
    with pytest.raises(RequestError, match=r"^There is not enough memory on this computer to read the table"):
        with plain_sentences("the table"):
            raise problem
