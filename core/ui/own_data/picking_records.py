"""Where the records come from: a bundled sample, a dropped file, or a path or database table."""

from base64 import b64encode
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path, PurePath
from typing import Any

import streamlit as st

from ...errors import RequestError
from ...figures.drawings import group_picture, picture_address
from ...formatting.escapes import in_markdown
from ...sources import Source, Upload, open_source
from ...sources.copies import ENCODINGS
from ...sources.databases import is_database, tables_of
from ...sources.frames_and_arrays import ArraySource
from ...sources.public_tables import bundled_releases, sample, samples
from ...sources.source_opening import FILE_TYPES, Found, named_files
from ..frame.marks import note, refusals
from ..frame.session import OwnData, Records, Session
from ..frame.visiting import places, stranger
from ..serving.owners import ADDRESS, check_found, check_named

FIELD, TABLE = "data-path", "data-table"
# Session state: the database whose tables are offered, and their names; None when no database was named.
DATABASE = "data-database"
WANTED = "data-wanted"  # Session state: what is to be opened in this run; a click sets it before the page is drawn.
HOW = """
One file: `/data/visits.parquet`, also CSV, TSV, Arrow, Feather or NumPy.

Many files as one table: `/data/visits/*.parquet`, or `/data/**/*.csv` with all folders below.

A database: `/data/clinic.duckdb` or `/data/shop.sqlite`, whose tables you then pick from; or right away
`/data/clinic.duckdb::patients`.

Parquet in an object store: `s3://bucket/visits.parquet`.
"""


def pick_path() -> str | None:
    """Let the owner name data; what is to be opened now, or None."""
    with st.form("data-path-form", border=False, enter_to_submit=True):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            st.text_input(
                "Path, pattern or database table",
                key=FIELD,
                persist_state="session",
                help=HOW,
                placeholder="/data/visits/*.parquet or /data/clinic.duckdb",
            )
            st.form_submit_button("Open", on_click=_named)
    note(
        "It is read where it lies, in small pieces: nothing is copied or loaded, and it may be larger than memory. "
        "Until you release something, only the names and kinds of its columns are looked at."
    )
    if st.session_state.get(DATABASE) is not None:
        _pick_table(*st.session_state[DATABASE])
    return st.session_state.pop(WANTED, None)


def _pick_table(path: str, tables: tuple[str, ...]) -> None:
    st.selectbox(
        f"Which of the {len(tables):,} tables of {in_markdown(PurePath(path).name)}?"
        if len(tables) > 1
        else f"The table of {in_markdown(PurePath(path).name)}",
        tables,
        index=None,
        key=f"{TABLE}-{path}",
        placeholder="pick a table",
        on_change=_picked,
        args=(path,),
        persist_state="session",
        format_func=in_markdown,
    )


def _named() -> None:
    name = tidied(st.session_state[FIELD])
    if not may_name(name):  # what the page shows was decided in an earlier run
        st.session_state[DATABASE], st.session_state[WANTED] = None, name or None
        return
    st.session_state[DATABASE], st.session_state[WANTED] = None, name or None
    try:
        if name and is_database(path := Path(name).expanduser()):
            st.session_state[DATABASE], st.session_state[WANTED] = (name, tables_of(path)), None
    except (RequestError, OSError, RuntimeError):  # the last of a home that is nobody's
        return  # opening it says what is wrong


def _picked(path: str) -> None:
    if not may_name(path):
        return
    table = st.session_state[f"{TABLE}-{path}"]
    st.session_state[WANTED] = f"{path}::{table}" if table else None


def may_name(name: str) -> bool:
    """Whether the visitor may have this file of the server looked at."""
    try:
        check_place(name)
    except RequestError:
        return False
    return True


def check_place(name: str, files: Collection[str] | None = None) -> None:
    """Refuse what the visitor may not read on the server: by its name, and by the files that it has led to.

    RequestError the same for what is elsewhere and for what is not there.
    """
    allowed = places()
    if allowed is None:
        return
    check_named(name, allowed)
    if files is None and not ADDRESS.match(name):
        files = [name.partition("::")[0]]
    check_found(files or (), allowed)


def tidied(name: str) -> str:
    """A name as it was copied from somewhere: without quotes around it, and without what makes a path an address."""
    name = name.strip()
    if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'":
        name = name[1:-1].strip()
    return name.removeprefix("file://")


def title_of(name: str) -> str:
    """What named data is called on the page and, unless the owner says otherwise, in the ledger."""
    name = name.split("?")[0] if "://" in name else name
    path = PurePath(name)
    return f"{path.parent.name}/{path.name}" if any(sign in path.name for sign in "*?[") else path.name


PICKED = "data-sample"  # Session state of the picked sample's name.
CARDS = f".st-key-{PICKED} [data-testid='stRadioGroup']"
LOOK = f"""
{CARDS} {{ display: grid; width: 100%; gap: 0.7rem; align-items: stretch;
  grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); }}
{CARDS} > div {{ position: relative; margin: 0; padding: 0.8rem 0.9rem 0.8rem 6.6rem; min-height: 6.6rem;
  border: 1px solid var(--hairline); border-radius: 0.5rem; }}
{CARDS} > div::before {{ content: ""; position: absolute; left: 0.7rem; top: 0.8rem; width: 5.2rem; height: 5.2rem;
  background: center / contain no-repeat; }}
{CARDS} > div:hover {{ border-color: var(--faint); }}
{CARDS} > div[data-selected] {{ border-color: var(--amber-shape); box-shadow: inset 0 0 0 1px var(--amber-shape); }}
{CARDS} > div:has(:focus-visible) {{ outline: 2px solid var(--ink); outline-offset: 2px; }}
{CARDS} [data-testid="stRadioOption"] {{ margin: 0; }}
{CARDS} [data-testid="stRadioOption"]::after {{ content: ""; position: absolute; inset: 0; cursor: pointer; }}
{CARDS} [data-testid="stRadioOption"] p {{ font-weight: 600; }}
{CARDS} [data-testid="stRadioCaption"] {{ margin: 0; padding: 0; }}
"""


def pick_sample() -> str | None:
    """Let the visitor pick a sample; its name."""
    known = {one.name: one for one in samples()}
    st.html(f"<style>{_style()}</style>")
    return st.radio(
        "Sample",
        list(known),
        index=None,
        format_func=lambda name: known[name].title,
        captions=[one.told for one in known.values()],
        key=PICKED,
        persist_state="session",
    )


@cache
def _style() -> str:
    """The look of the cards; a picture is inside it, as a style sheet cannot name a file of the library."""
    pictures = {one.name: path.with_suffix(".png") for one, path in bundled_releases()}
    shown = [
        f"{CARDS} > div:nth-child({place})::before {{ background-image: {_address(pictures.get(one.name))}; }}"
        for place, one in enumerate(samples(), 1)
    ]
    return LOOK + "\n".join(shown)


def _address(picture: Path | None) -> str:
    """The picture of a sample's release; of many columns, of which there is none, that of telling groups apart."""
    if picture is None or not picture.is_file():
        return picture_address(group_picture())
    return f"url(data:image/png;base64,{b64encode(picture.read_bytes()).decode()})"


ORIGIN = "data-origin"  # Session state of the choice between the three; Home sets it to `SAMPLE` behind its third door.
SAMPLE, FILE, PATH = "A sample", "My file", "A path or database"
OWN_FILE = "data-file"  # Session state of the private file as it was dropped.
MOST_UNNAMED = 24  # Columns without names that are still shown one by one.
DECLARED = "Everyone may know every row of this file"  # What an owner says of a public file, before it is read.


def pick_records(visitor: Session) -> Records | None:
    """Let the visitor pick records; what was picked last, or None."""
    why, allowed = stranger(), places()
    origins = [SAMPLE, FILE] if allowed == () else [SAMPLE, FILE, PATH]
    if st.session_state.setdefault(ORIGIN, FILE) not in origins:
        st.session_state[ORIGIN] = FILE
    origin = st.segmented_control("Where are the records?", origins, required=True, key=ORIGIN, persist_state="session")
    if why is not None:
        note(f"Others may reach this app ({why}), so it opens no paths and no databases of the computer it runs on.")
    {SAMPLE: _pick_sample, FILE: _pick_file, PATH: _pick_path}[origin](visitor)
    return visitor.records


def _pick_sample(visitor: Session) -> None:
    name = pick_sample()
    picked = visitor.records
    if name is not None and (picked is None or picked.sample != name):
        chosen = sample(name)
        visitor.pick(chosen.title, open_source(chosen.path), sample=name)


def take_sample(visitor: Session, name: str) -> None:
    """Pick a sample and declare it as its catalogue does, so that it can be released at once."""
    chosen = sample(name)
    source = open_source(chosen.path)
    visitor.pick(chosen.title, source, sample=name)
    visitor.own = OwnData(chosen.title, source, chosen.domain, name)
    st.session_state[ORIGIN], st.session_state[PICKED] = SAMPLE, name


def _pick_file(visitor: Session) -> None:
    dropped = st.file_uploader("Your file", type=FILE_TYPES, key=OWN_FILE, on_change=_forget_read_file)
    note("It is kept for this session only.")
    if dropped is None:
        return
    said = _how_read(dropped.name, dropped.file_id)
    # The uploader hands its file over again on every run; it is opened once, and again when it is read otherwise.
    read = (dropped.file_id, *said.values())
    if st.session_state.get("data-file-read") != read:
        _open(visitor, dropped.name, Upload(dropped.name, dropped.getvalue()), said)
        st.session_state["data-file-read"] = read
    if visitor.records is not None and visitor.records.source.remarks:
        note(in_markdown(" ".join(visitor.records.source.remarks)))


AS_IT_SHOWS = "as the file shows"
SHEETS = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"}
MARKS = ("", "comma", "semicolon", "tab", "pipe")
HEADERS = {"in the first line": None, "nowhere: number the columns": False}


def _how_read(name: str, key: str) -> dict[str, Any]:
    """What the visitor says of how a text table or a spreadsheet is read; nothing of any other file."""
    kinds = {suffix.lower() for suffix in PurePath(name).suffixes}
    sheets, texts = kinds & SHEETS, kinds & {".csv", ".tsv", ".txt"}
    if not sheets and not texts:
        return {}
    said: dict[str, Any] = {}
    with st.popover("How it is read"):
        keep = {"persist_state": "session"}
        if texts:
            told = {"format_func": lambda one: one or AS_IT_SHOWS, **keep}
            said["encoding"] = st.selectbox("Letters are in", ("", *ENCODINGS), key=f"data-as-{key}", **told)
            said["sep"] = st.selectbox("Between fields", MARKS, key=f"data-sep-{key}", **told)
        said["header"] = HEADERS[st.selectbox("Names stand", list(HEADERS), key=f"data-names-{key}", **keep)]
        if sheets:
            label, hint = "Sheet", "the first; * is all of them"
            said["sheet"] = st.text_input(label, placeholder=hint, key=f"data-sheet-{key}", **keep).strip()
    return said


def is_own_file(content: bytes) -> bool:
    """Whether this is the private file that was dropped on the Data page."""
    private = st.session_state.get(OWN_FILE)
    return private is not None and private.getvalue() == content


def _forget_read_file() -> None:
    st.session_state.pop("data-file-read", None)


def _pick_path(visitor: Session) -> None:
    name = pick_path()
    if name is not None:
        with st.spinner("Looking at it"):
            _open(visitor, title_of(name), name)


@refusals()
def _open(visitor: Session, title: str, where: str | Upload, said: Mapping[str, Any] | None = None) -> None:
    named = isinstance(where, str)
    if named:
        check_place(where)
        check_place(where, named_files(where))
    source = _named_source(where, said or {})
    found = Found.of(source, named_files(where) if named else (), named and "::" in where)
    visitor.pick(title, source, found=found)


def _named_source(where: str | Upload, said: Mapping[str, Any]) -> Source:
    """The source; an array's columns get the names they are shown by, so that one may use only some of them.

    An array of very many columns that have no names is one of embeddings, spectra or pictures: one vector a row.
    """
    source = open_source(where, **said)
    if isinstance(source, ArraySource) and source.names is None:
        if len(source.columns) > MOST_UNNAMED:
            return source.as_vectors("vector")
        return open_source(where, [column.name for column in source.columns])
    return source
