"""A small file that would decode to more than fits into memory is refused, or read in pieces that do."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.domain import Categorical, Domain, Numeric, Vector
from core.errors import RequestError
from core.sources import open_source, parquet

TEXTS, NUMBERS = Domain((Categorical("t", ("a", "b")),)), Domain((Vector("v", 500, 0, 1),))


def repeated(path, text, rows):
    """A text that is written once, and pointed to by every row."""
    values = pa.DictionaryArray.from_arrays(pa.array(np.arange(rows, dtype=np.int32) % 2), pa.array([text, "b"]))
    pq.write_table(pa.table({"t": values}), path, compression="zstd", store_schema=False)
    return str(path)


def read(path, domain, rows=65_536):
    return list(open_source(path).batches(domain, rows))


def test_a_long_text_that_every_row_points_to_is_refused(tmp_path):
    path = repeated(tmp_path / "t.parquet", "a" * 1_000_000, 3_000)
    with pytest.raises(RequestError, match=r"would grow from 1,000,001 bytes to 1,500,001,500 when read"):
        read(path, TEXTS)


def test_long_texts_are_spelt_out_in_pieces(tmp_path, monkeypatch):
    path = repeated(tmp_path / "t.parquet", "a" * 1_000, 400)
    (whole,) = read(path, TEXTS)
    monkeypatch.setattr(parquet, "DECODED_BYTES", 20_000)
    pieces = read(path, TEXTS)
    assert max(map(len, pieces)) == 20
    assert pa.Table.from_batches(pieces).column("t").to_pylist() == whole.column("t").to_pylist()
    assert pieces[0].schema.field("t").type == whole.schema.field("t").type


def test_a_file_that_says_that_it_grows_beyond_measure_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "MOST_DECODED", 1 << 20)
    for name, values, domain in (("text", ["x" * 100_000] * 30, TEXTS), ("lists", [[0.0] * 500] * 800, NUMBERS)):
        path = tmp_path / f"{name}.parquet"
        table = pa.table({domain.names[0]: values})
        pq.write_table(table, path, compression="zstd", use_dictionary=name == "lists")
        with pytest.raises(RequestError, match=r"A column of the file '\w+.parquet' would grow from [\d,]+ bytes to"):
            read(str(path), domain)


def test_long_lists_are_read_a_few_rows_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "DECODED_BYTES", 60_000)
    pq.write_table(pa.table({"v": [[0.5] * 500] * 45}), tmp_path / "v.parquet")
    pieces = read(str(tmp_path / "v.parquet"), NUMBERS)
    assert [len(piece) for piece in pieces] == [10, 10, 10, 10, 5]


def test_what_is_no_attack_is_read_as_ever(tmp_path):
    path = repeated(tmp_path / "t.parquet", "a", 1_000)
    assert [len(piece) for piece in read(path, TEXTS)] == [1_000]


def test_a_text_table_of_very_many_columns_is_refused(tmp_path):
    path = tmp_path / "wide.csv.gz"
    path.write_bytes(gzip.compress((",".join(["c"] * 200_000) + "\n").encode() * 2, 1))
    with pytest.raises(RequestError, match=r"The first line of the file 'wide.csv.gz' has more than 20,000 fields"):
        open_source(str(path)).check_columns(Domain((Numeric("c", 0, 1),)))
