"""Which files an owner who has signed in may name."""

import pytest

from core.errors import RequestError
from core.serving.places import REFUSED, check_found, check_named

PLACES = ("/srv/ann", "s3://bucket/ann/")


@pytest.mark.parametrize(
    "name",
    ["/srv/ann/a.csv", "/srv/ann/*/b.parquet", "/srv/ann/x.duckdb::t", "s3://bucket/ann/a.parquet", "/srv/ann//a.csv"],
)
def test_what_lies_inside_may_be_named(name):
    check_named(name, PLACES)


@pytest.mark.parametrize(
    "name",
    [
        "/srv/ann/../eve/a.csv",
        "/srv/annabel/a.csv",
        "/srv/*/a.csv",
        "/etc/passwd",
        "~/a.csv",
        "a.csv",
        "/srv/ann/a\n.csv",
        "s3://bucket/annabel/a.parquet",
        "s3://bucket/ann/../eve/a.parquet",
        "s3://bucket/ann/%2e%2e/a.parquet",
        "s3://bucket/ann/a.parquet?x=s3://other",
        "S3://bucket/ann/a.parquet",
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
        "",
    ],
)
def test_all_else_is_refused_by_the_same_sentence(name):
    with pytest.raises(RequestError, match=REFUSED):
        check_named(name, PLACES)
    with pytest.raises(RequestError, match=REFUSED):
        check_named(name, ())


def test_a_link_out_of_a_place_is_refused(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir(), outside.mkdir()
    (outside / "secret.csv").write_text("x\n1\n")
    (inside / "own.csv").write_text("x\n1\n")
    (inside / "link.csv").symlink_to(outside / "secret.csv")
    (inside / "folder").symlink_to(outside)
    check_found([str(inside / "own.csv")], [str(inside)])
    for name in ("link.csv", "folder/secret.csv"):
        with pytest.raises(RequestError, match=REFUSED):
            check_found([str(inside / "own.csv"), str(inside / name)], [str(inside)])
