"""Damaged, hostile and mistaken files: one sentence, nothing spent, nothing left behind; odd ones simply work."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import load
from tests.cli.conftest import SKETCH, people, refused
from tests.depth import crossed

SECRET = "4711secret"


def released(command, name, *more):
    return command("release", name, *SKETCH, "--epsilon", "1", "--out", "out.npz", *more)


def check_refused(command, ledger, tmp_path, name, *more) -> str:
    """Refuse to release a file, spend nothing, and leave nothing."""
    before = {path.name for path in tmp_path.iterdir()}
    sentence = refused(released(command, name, *more))
    assert SECRET not in sentence
    assert "nothing was spent" in sentence
    assert {path.name for path in tmp_path.iterdir()} - before <= {"ledger.sqlite"}
    assert not ledger.exists() or command("ledger", "list", "--json").stdout == "[]\n"
    return sentence


def npy(kind: str, shape: tuple[int, ...], content: bytes = b"") -> bytes:
    """A .npy file that says anything."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


PICKLED = npy("|O", (1,), pickle.dumps(np.array([SECRET], dtype=object)))


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.csv", b"", "nothing in"),
        ("mixed.csv", f"x,y\n1,2\n{SECRET},3\n".encode(), "row 2"),
        ("dates.csv", b"x,y\n2026-01-01,2\n2026-01-02,3\n", "dates"),
        ("latin.csv", f"x,y\n1,2\n{SECRET}\u00fc,3\n".encode("latin-1"), "row 2"),
        ("ragged.csv", f"x,y\n1,2\n3,4,{SECRET}\n".encode(), "Line 3"),
        ("quote.csv", f'x,y\n1,"{SECRET}\n3,4\n'.encode(), "quoted"),
        ("other.csv", b"a,b\n1,2\n", "no column 'x'"),
        ("noise.parquet", bytes(range(256)) * 30, "cannot be read"),
        ("noise.npy", bytes(range(256)) * 30, "never loaded"),
        ("pickle.npy", PICKLED, "Python objects"),
        ("table.xlsx", b"PK", "damaged"),
    ],
)
def test_files_that_cannot_be_released(command, ledger, tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    assert sentence in check_refused(command, ledger, tmp_path, name)


@pytest.mark.parametrize("name", ["absent.csv", "absent*.csv", ".", "absent.duckdb::t", "ftp://host/x.csv"])
def test_sources_that_are_not_there(command, ledger, tmp_path, name):
    check_refused(command, ledger, tmp_path, name)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_parquet_cut_short(command, ledger, tmp_path, share):
    people().to_parquet(tmp_path / "people.parquet")
    content = (tmp_path / "people.parquet").read_bytes()
    (tmp_path / "people.parquet").write_bytes(content[: int(share * len(content))])
    check_refused(command, ledger, tmp_path, "people.parquet")


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["x,y\n1,\n2,3\n", "x,y\nNaN,1\n2,3\n"])
def test_missing_values_can_be_refused(command, ledger, tmp_path, text):
    (tmp_path / "gaps.csv").write_text(text)
    assert "row 1" in check_refused(command, ledger, tmp_path, "gaps.csv", "--missing", "refuse")
    assert released(command, "gaps.csv").exit_code == 0


@pytest.mark.thorough
def test_a_fault_far_down_spends_nothing(command, ledger, tmp_path):
    (tmp_path / "long.csv").write_text("x,y\n" + "1,2\n" * 200_000 + f"{SECRET},2\n")
    assert "row 200,001" in check_refused(command, ledger, tmp_path, "long.csv")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "text",
    [
        "x,y\n1,2\n" + "inf,-inf\n" * 20,
        "x,y\n" + "5,5\n" * 20,
        "x,y\n1,2\n",
        "x,y\n1e300,-1e300\n0.1,0.2\n",
        "x,y\n,\n,\n",
    ],
    ids=["infinite", "constant", "one record", "far outside", "nothing but gaps"],
)
def test_odd_records_are_released_like_any_others(command, tmp_path, text):
    """How many records fit their bounds, or whether there are any, is private and must not be refused."""
    (tmp_path / "odd.csv").write_text(text)
    result = released(command, "odd.csv")
    assert result.exit_code == 0, result.output
    assert np.isfinite(load("out.npz").records)


@pytest.mark.thorough
def test_unseen_categories_are_left_out_or_refused(command, ledger, tmp_path):
    pd.DataFrame({"c": ["a", "b", SECRET] * 5}).to_csv(tmp_path / "cities.csv", index=False)
    options = ("--categories", "c=a,b", "--bandwidth", "1", "--rows", "20", "--width", "16", "--epsilon", "1")
    result = command("release", "cities.csv", *options, "--missing", "refuse", "--out", "c.npz")
    assert SECRET not in refused(result)
    assert not ledger.exists() or command("ledger", "list", "--json").stdout == "[]\n"
    assert command("release", "cities.csv", *options, "--out", "c.npz").exit_code == 0


def hostile(content: bytes, kind: str) -> bytes:
    """A release file with one thing wrong."""
    if kind == "cut":
        return content[: len(content) // 2]
    if kind == "flipped":
        flipped = bytearray(content)
        flipped[len(content) // 2] ^= 0x55
        return bytes(flipped)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if kind == "pickle":
        members["table.npy"] = PICKLED
    elif kind == "huge":
        members["table.npy"] = npy("<i8", (1 << 40, 1 << 20))
    elif kind == "without table":
        del members["table.npy"]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return made.getvalue()


@pytest.mark.parametrize(
    ("use", "kind"),
    crossed(
        ["inspect", "query", "modes", "sample", "merge", "like"], ["flipped", "cut", "pickle", "huge", "without table"]
    ),
)
def test_release_files_of_a_stranger(command, source, tmp_path, ledger, kind, use, released: Path):
    (tmp_path / "bad.npz").write_bytes(hostile(released.read_bytes(), kind))
    arguments = {
        "inspect": ("inspect", "bad.npz"),
        "query": ("query", "bad.npz", source),
        "modes": ("modes", "bad.npz"),
        "sample": ("sample", "bad.npz", "--out", "drawn.csv"),
        "merge": ("merge", released, "bad.npz", "--out", "c.npz"),
        "like": ("release", source, "--like", "bad.npz", "--epsilon", "1", "--out", "c.npz"),
    }[use]
    assert SECRET not in refused(command(*arguments))
    assert {path.name for path in tmp_path.iterdir()} == {"bad.npz", "people.parquet"}
