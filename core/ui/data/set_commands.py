"""How records that are sets are released: by the command line, with the commands to do it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import streamlit as st

from ...runtime.environment import PROGRAM
from ...sources import ColumnInfo
from ..frame.marks import note
from ..frame.session import Records

TITLE = "Is each record a set: a basket, tags, or whom someone follows?"
LISTS = "lists of items, see below"


def offer_commands(records: Records) -> None:
    """Say that sets are released by the command line, and with which words."""
    with st.expander(TITLE, type="compact"):
        note(
            "A set has no columns with bounds; its question is how many others overlap with it. The command line "
            "releases sets, and the page Explore asks the file that it makes."
        )
        note("Each row holds a whole set, in a list or in a text that is cut, say at every “;” with --separator ';'.")
        st.code(basket_command(records.title, records.columns), language=None, wrap_lines=True)
        if len(records.columns) > 1:
            note("Each row says who and what, as the edges of a graph do; all rows of one person are one set.")
            st.code(edges_command(records.title, records.columns), language=None, wrap_lines=True)


def basket_command(title: str, columns: Sequence[ColumnInfo]) -> str:
    """The command that releases a column of whole sets: the first one with lists, where there is one."""
    lists = [column.name for column in columns if column.lists]
    return _command(title, f"--items {shlex.quote((lists or [columns[0].name])[0])}")


def edges_command(title: str, columns: Sequence[ColumnInfo]) -> str:
    """The command that gathers sets from two columns, the first ones of those that there are."""
    who, what = (column.name for column in columns[:2])
    return _command(title, f"--items {shlex.quote(what)} --gathered --unit {shlex.quote(f'{who}:1')}")


def _command(title: str, items: str) -> str:
    return f"{PROGRAM} release {shlex.quote(title)} {items} --epsilon 1 --out sets.npz"
