"""Baskets: columns of lists of any kind, or texts that are cut, from every source; alone or by person."""

from __future__ import annotations

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from core.domain import Domain, Items, PrivacyUnit
from core.domain.item_sets import Sets
from core.errors import RequestError
from core.sources import open_source
from tests.depth import crossed

LISTS = [[1, 2], [3, 3], None, [], [4, 5, 6], [None, 7]]
EXPECTED = [{1, 2}, {3}, {4, 5, 6}, {7}]
TEXTS = [None if items is None else [None if item is None else str(item) for item in items] for items in LISTS]
COLUMNS = {
    "lists": pa.array(LISTS, pa.list_(pa.int32())),
    "large lists": pa.array(LISTS, pa.large_list(pa.uint64())),
    "fixed lists": pa.array([[1, 2], [3, 3], None, None, None, [None, 7]], pa.list_(pa.int64(), 2)),
    "texts": pa.array(TEXTS, pa.list_(pa.string())),
    "large texts": pa.array(TEXTS, pa.large_list(pa.large_string())),
    "dictionaries": pa.array(TEXTS, pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    "cut": pa.array([None if items is None else ";".join(filter(None, items)) for items in TEXTS]),
}


def domain_of(kind, records=0, missing="drop"):
    unit = PrivacyUnit("id", records) if records else PrivacyUnit()
    return Domain((Items("basket", separator=";" if kind == "cut" else None),), missing=missing, unit=unit)


def sets_of(source, domain):
    batches = list(open_source(source).batches(domain, 2))
    assert all(len(batch) <= 2 for batch in batches)
    return [set(items.tolist()) for batch in batches for items in domain.encode(batch)]


def stored(table, form, folder):
    """The table in one of the forms that sources have."""
    path = folder / f"baskets.{form}"
    if form == "parquet":
        pq.write_table(table, path, row_group_size=4)
    elif form == "feather":
        pyarrow.feather.write_feather(table, path, chunksize=4)
    elif form == "duckdb":
        with duckdb.connect(str(path)) as session:
            session.register("given", table)
            session.execute("CREATE TABLE baskets AS FROM given")
        return f"{path}::baskets"
    else:
        return table if form == "table" else table.to_pandas()
    return path


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("form", "kind"), crossed(["parquet", "table", "frame", "feather", "duckdb"], sorted(COLUMNS, reverse=True))
)
def test_columns_of_lists(form, kind, tmp_path):
    source = stored(pa.table({"id": [1, 1, 2, 2, 3, 3], "basket": COLUMNS[kind]}), form, tmp_path)
    expected = [items for items in EXPECTED if kind != "fixed lists" or len(items) < 3]
    assert sets_of(source, domain_of(kind)) == expected
    # One set of each person who has any; the empty ones of person 2 are like nothing.
    kept = sets_of(source, domain_of(kind, records=1))
    assert len(kept) <= 2 and all(items in expected for items in kept)
    everything = sets_of(source, domain_of(kind, records=2))
    assert sorted(map(sorted, everything)) == sorted(map(sorted, expected))


@pytest.mark.thorough
def test_texts_in_a_file_are_cut_whatever_one_of_them_holds(tmp_path):
    path = tmp_path / "baskets.csv"
    path.write_text('id,basket\n1,7\n1,8\n2,"a; b ;;a"\n3,\n4,;\n5,"[1,2]"\n')
    expected = [sorted(items.tolist()) for items in Sets.of([[7], [8], ["a", "b"], ["[1,2]"]]).distinct()]
    assert [sorted(items) for items in sets_of(path, domain_of("cut"))] == expected
    # Without 1, a person's only set, the numbers of the others are still texts to be cut.
    assert len(sets_of(path, domain_of("cut", records=1))) == 3
    with pytest.raises(RequestError, match="holds text where lists of items are expected; where a row holds one"):
        sets_of(path, domain_of("lists"))


def test_sets_of_a_frame_may_be_python_sets():
    frame = pd.DataFrame({"basket": [{1, 2}, set(), (3,), None]})
    assert sets_of(frame, domain_of("lists")) == [{1, 2}, {3}]


@pytest.mark.parametrize("empty", [None, []])
def test_a_missing_set_is_refused_before_anything_is_chosen_by_person(empty):
    table = pa.table({"id": [1, 1, 1], "basket": [[1], [2], empty]})
    for records, where in ((0, "row 3 "), (1, "row 3 of the table")):
        with pytest.raises(RequestError, match=where):
            sets_of(table, domain_of("lists", records, "refuse"))
